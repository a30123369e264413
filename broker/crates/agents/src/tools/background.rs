//! Commands in the background: what they printed, and their end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::{LogEvent, RunId, RunInfo, RunOutput, RunResult};

use super::branches::Nothing;
use crate::{
    context::Context,
    limits,
    reply::{Answer, ToolError},
};

pub(super) const LIST: &str = "List commands in the background.";
pub(super) const OUTPUT: &str = "What a command in the background printed, and its state.";
pub(super) const KILL: &str = "End a command in the background.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    run: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Runs {
    runs: Vec<Listed>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    run: String,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    state: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Printed {
    run: String,
    state: String,
    output: String,
    /// Bytes of the output that are not shown.
    left_out: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Killed {
    run: String,
    state: String,
}

pub(super) async fn list(context: Context, _: Nothing) -> Result<Runs, ToolError> {
    let runs = context.daemon.runs(Some(&context.workspace))?;
    Ok(Runs { runs: runs.into_iter().filter(|it| it.background).map(Listed::of).collect() })
}

pub(super) async fn output(context: Context, Named { run }: Named) -> Result<Printed, ToolError> {
    let mut events = context.daemon.read_log(&id(&context, &run), 0, false)?;
    let (mut output, mut dropped, mut ended) = (RunOutput::within(limits::OUTPUT), 0, None);
    while let Some(event) = events.recv().await {
        match event {
            LogEvent::Output { bytes, .. } => output.add(&bytes),
            LogEvent::Dropped(bytes) => dropped += bytes,
            LogEvent::End { result, .. } => ended = result,
        }
    }
    let (output, left_out) = output.finish();
    Ok(Printed { run, state: state(ended.as_deref()), output, left_out: dropped + left_out as u64 })
}

pub(super) async fn kill(context: Context, Named { run }: Named) -> Result<Killed, ToolError> {
    let result = context.daemon.kill(&id(&context, &run), None).await?;
    Ok(Killed { run, state: state(result.as_deref()) })
}

fn id(context: &Context, run: &str) -> RunId {
    RunId { workspace: Some(context.workspace.clone()), run: run.to_owned() }
}

fn state(result: Option<&RunResult>) -> String {
    match result {
        None => "runs".to_owned(),
        Some(RunResult { not_started: Some(why), .. }) => format!("could not be started: {why}"),
        Some(RunResult { killed: Some(why), .. }) => format!("ended: {why}"),
        Some(RunResult { signal: Some(signal), .. }) => format!("ended by signal {signal}"),
        Some(it) => format!("ended with exit code {}", it.exit_code),
    }
}

impl Listed {
    fn of(it: RunInfo) -> Self {
        Self {
            run: it.name,
            command: it.command.join(" "),
            branch: it.branch.map(|(_, name)| name),
            state: state(it.result.as_deref()),
        }
    }
}

impl Answer for Runs {
    fn text(&self) -> String {
        let line = |it: &Listed| {
            let branch = it.branch.as_deref().map(|it| format!(" on branch {it}")).unwrap_or_default();
            format!("{}{branch}: {} ({})", it.run, it.command, it.state)
        };
        match self.runs.as_slice() {
            [] => "no commands in the background".to_owned(),
            all => all.iter().map(line).collect::<Vec<_>>().join("\n"),
        }
    }
}

impl Answer for Printed {
    fn text(&self) -> String {
        let left_out = match self.left_out {
            0 => String::new(),
            bytes => format!("\n… {bytes} bytes are left out"),
        };
        format!("{} {}{left_out}\n{}", self.run, self.state, self.output)
    }
}

impl Answer for Killed {
    fn text(&self) -> String {
        format!("{} {}", self.run, self.state)
    }
}
