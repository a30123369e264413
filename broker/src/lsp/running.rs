//! `broker.runInBranch`: runs a command in a branch and returns its output.

use std::time::Duration;

use broker_proto::{v1 as pb, v1::run_response::Event};
use serde_json::{Value, json};
use tokio_stream::wrappers::ReceiverStream;

use super::{failure::Failure, link::Link, target};

/// Limit on the output that is returned, in bytes. The end is kept.
const MAX_OUTPUT: usize = 1 << 20;

/// Capacity of the channel to the daemon.
const QUEUE: usize = 4;

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
    let (requests, sent) = tokio::sync::mpsc::channel(QUEUE);
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
            // There is no dialog for permissions: `[run]` in broker.toml grants them.
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
            output.add(&vec![b'a'; MAX_OUTPUT]);
        }
        output.add(b"end");
        let told = output.ended(&pb::RunExited::default());
        assert_eq!(told["truncated"], true);
        let text = told["output"].as_str().unwrap();
        assert!(text.len() == MAX_OUTPUT && text.ends_with("aend"));
        assert_eq!(told["exitCode"], 0);
    }
}
