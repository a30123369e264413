//! Runs a command on a branch for an editor: what it prints, and how it ended.

use std::time::Duration;

use broker_proto::{v1 as pb, v1::run_response::Event};
use serde_json::{Value, json};
use tokio_stream::wrappers::ReceiverStream;

use super::{failure::Failure, link::Link, target};

/// What is handed on of a command's output, in bytes: the end of it.
const LARGEST: usize = 1 << 20;

/// Messages to the daemon that may wait.
const AHEAD: usize = 4;

pub(super) async fn run(
    link: &Link,
    branch: String,
    command: Vec<String>,
    timeout_seconds: Option<u32>,
) -> Result<Value, Failure> {
    let time_ms = timeout_seconds.map_or(0, |it| u64::from(it) * 1000);
    let start = pb::RunStart {
        target: Some(target::branch(branch)),
        command,
        limits: Some(pb::RunLimits { time_ms, ..Default::default() }),
        ..pb::RunStart::default()
    };
    let (requests, sent) = tokio::sync::mpsc::channel(AHEAD);
    for message in
        [pb::run_request::Message::Start(start), pb::run_request::Message::StdinEnd(pb::StdinEnd {})]
    {
        let _there_is_room = requests.try_send(pb::RunRequest { message: Some(message) });
    }
    let mut events = link.runs().run(ReceiverStream::new(sent)).await?.into_inner();
    let mut output = Output::default();
    while let Some(message) = events.message().await? {
        match message.event {
            Some(Event::Stdout(it) | Event::Stderr(it)) => output.add(&it),
            // No one is asked here: `[run]` in broker.toml allows what all runs may do.
            Some(Event::PermissionRequest(_)) => {
                let answer = pb::run_request::Message::Permission(pb::PermissionAnswer { allowed: false });
                let _ended_meanwhile = requests.send(pb::RunRequest { message: Some(answer) }).await;
            }
            Some(Event::Exited(it)) => return Ok(output.ended(&it)),
            Some(Event::Started(_)) | None => {}
        }
    }
    Err(Failure::failed("the run broke off"))
}

/// The end of what a command prints.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    is_truncated: bool,
}

impl Output {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Seldom, so that each byte is moved a few times at most.
        if self.bytes.len() > 2 * LARGEST {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.bytes.len() > LARGEST {
            self.bytes.drain(..self.bytes.len() - LARGEST);
            self.is_truncated = true;
        }
    }

    fn ended(mut self, exited: &pb::RunExited) -> Value {
        self.cut();
        let why = [&exited.killed, &exited.not_started].into_iter().find(|it| !it.is_empty());
        let is_code = exited.signal.is_none() && exited.not_started.is_empty();
        json!({
            "exitCode": is_code.then_some(exited.exit_code),
            "signal": exited.signal,
            "reason": why,
            "output": String::from_utf8_lossy(&self.bytes),
            "truncated": self.is_truncated,
            "seconds": Duration::from_millis(exited.duration_ms).as_secs_f64(),
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
            output.add(&vec![b'a'; LARGEST]);
        }
        output.add(b"end");
        let told = output.ended(&pb::RunExited::default());
        assert_eq!(told["truncated"], true);
        let text = told["output"].as_str().unwrap();
        assert!(text.len() == LARGEST && text.ends_with("aend"));
        assert_eq!(told["exitCode"], 0);
    }
}
