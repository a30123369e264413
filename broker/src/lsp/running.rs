//! `broker.runInBranch`: runs a command in a branch and returns its output.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_stream::StreamExt as _;
use workspaces::{Run, RunEvent, RunInput, RunLimits, RunRequest, RunResult, TargetId, Workspaces};

use super::failure::Failure;

/// Limit on the output that is returned, in bytes. The end is kept.
const MAX_OUTPUT: usize = 1 << 20;

pub(super) async fn run(
    workspaces: &dyn Workspaces,
    branch: TargetId,
    command: Vec<String>,
    timeout_seconds: Option<u32>,
) -> Result<Value, Failure> {
    let time = timeout_seconds.filter(|it| *it > 0).map(|it| Duration::from_secs(it.into()));
    let limits = RunLimits { time, ..RunLimits::default() };
    let request = RunRequest { limits, ..RunRequest::of(branch, command) };
    let Run { inputs, mut events } = workspaces.run(request).await?;
    let _ended_meanwhile = inputs.send(RunInput::StdinEnd).await;
    let mut output = Output::default();
    while let Some(event) = events.next().await {
        match event? {
            RunEvent::Output(_, it) => output.add(&it),
            // There is no dialog for permissions: `[run]` in broker.toml grants them.
            RunEvent::Permission(_) => _ = inputs.send(RunInput::Permission(false)).await,
            RunEvent::Exited(it) => return Ok(output.ended(&it)),
            RunEvent::Started(_) => {}
        }
    }
    Err(Failure::failed("the run broke off"))
}

/// The last [`MAX_OUTPUT`] bytes of a command's output.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    is_truncated: bool,
}

impl Output {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Cutting only at twice the limit keeps the cost of moving bytes linear.
        if self.bytes.len() > 2 * MAX_OUTPUT {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.bytes.len() > MAX_OUTPUT {
            self.bytes.drain(..self.bytes.len() - MAX_OUTPUT);
            self.is_truncated = true;
        }
    }

    fn ended(mut self, exited: &RunResult) -> Value {
        self.cut();
        let why = exited.killed.as_ref().or(exited.not_started.as_ref());
        let is_code = exited.signal.is_none() && exited.not_started.is_none();
        json!({
            "exitCode": is_code.then_some(exited.exit_code),
            "signal": exited.signal,
            "reason": why,
            "output": String::from_utf8_lossy(&self.bytes),
            "truncated": self.is_truncated,
            "seconds": exited.duration.as_secs_f64(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_output_is_kept() {
        let mut output = Output::default();
        for _ in 0..3 {
            output.add(&vec![b'a'; MAX_OUTPUT]);
        }
        output.add(b"end");
        let told = output.ended(&RunResult {
            exit_code: 0,
            signal: None,
            killed: None,
            not_started: None,
            backend: String::new(),
            isolated: true,
            duration: Duration::ZERO,
            processor_time: Duration::ZERO,
            peak_memory: 0,
            caches_error: None,
            harvest: None,
        });
        assert_eq!(told["truncated"], true);
        let text = told["output"].as_str().unwrap();
        assert!(text.len() == MAX_OUTPUT && text.ends_with("aend"));
        assert_eq!(told["exitCode"], 0);
    }
}
