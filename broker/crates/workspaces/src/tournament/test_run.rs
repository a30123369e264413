//! Test command on a candidate, in a folder of its own.

use std::{sync::Arc, time::Duration};

use overlay::Revision;
use tokio::sync::mpsc;

use super::{
    request::TestCommand,
    result::{TestEnd, TestResult},
};
use crate::{
    BranchCell, Daemon, DaemonError, PermissionKind, RunEvent, RunInput, RunLimits, RunOutput, RunRequest,
    RunResult, SandboxRequest, TargetId, memory_of_agents,
};

/// Usual time limit of a test.
pub(super) const TIME: Duration = Duration::from_secs(600);

/// Bytes of the output that are told.
const OUTPUT: usize = 8 << 10;

impl Daemon {
    /// Runs the command on the branch as it is at `revision`.
    pub(super) async fn test(
        self: &Arc<Self>,
        cell: &BranchCell,
        revision: Revision,
        test: &TestCommand,
    ) -> TestResult {
        let run = self.run_test(cell, revision, test).await;
        run.unwrap_or_else(|error| TestResult::not_run(error.sentence()))
    }

    async fn run_test(
        self: &Arc<Self>,
        cell: &BranchCell,
        revision: Revision,
        test: &TestCommand,
    ) -> Result<TestResult, DaemonError> {
        let (inputs, received) = mpsc::channel(2);
        // The end of the input is there from the start.
        let _room_for_two = inputs.try_send(RunInput::StdinEnd);
        let mut events = self.run(request(cell, test), received).await?;
        let (mut output, mut ended, mut shown) = (RunOutput::within(OUTPUT), None, None);
        while let Some(event) = events.recv().await {
            match event? {
                // Folders that the caller's variables name are its own answer, as for `broker run`. Else the refusal says what to
                // allow, and where.
                RunEvent::Permission(wanted) => {
                    let is_said = wanted.iter().all(|it| it.kind == PermissionKind::Read);
                    let _over = inputs.send(RunInput::Permission(is_said)).await;
                }
                RunEvent::Started(started) => shown = Some(started.revision),
                RunEvent::Output(_, bytes) => output.add(&bytes),
                RunEvent::Exited(result) => ended = Some(result),
            }
        }
        let ended = ended.ok_or_else(|| DaemonError::Bug("a run ended without a result".to_owned()))?;
        if shown != Some(revision) || cell.revision() != revision {
            return Ok(TestResult::not_run("the branch was edited before the test was over".to_owned()));
        }
        let (output, left_out) = output.finish();
        Ok(TestResult { end: TestEnd::of(&ended), duration: ended.duration, output, left_out })
    }
}

fn request(cell: &BranchCell, test: &TestCommand) -> RunRequest {
    let target = TargetId::Branch(cell.id.to_string());
    RunRequest {
        sandbox: SandboxRequest { own_folder: true, ..SandboxRequest::default() },
        limits: RunLimits {
            time: Some(test.time.unwrap_or(TIME)),
            memory: memory_of_agents(),
            ..RunLimits::default()
        },
        ..RunRequest::of(target, &test.command)
    }
}

impl TestEnd {
    fn of(it: &RunResult) -> Self {
        let signal = it.signal.map(|it| format!("signal {it}"));
        match (&it.not_started, it.killed.clone().or(signal)) {
            (Some(error), _) => Self::NotRun(error.clone()),
            (None, Some(reason)) => Self::Ended(reason),
            (None, None) => Self::Exited(it.exit_code),
        }
    }
}
