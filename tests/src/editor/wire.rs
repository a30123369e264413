//! A server's process, and the frames on its pipes.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::daemon::TEST_TIMEOUT;

/// A piece of a server's output.
#[derive(Debug)]
pub enum Frame {
    Message(Value),
    /// An invalid frame, with the reason.
    Wrong(String),
    /// End of the output.
    End,
}

/// A server's process. A thread reads its frames.
pub struct Wire {
    pub child: Child,
    input: Option<ChildStdin>,
    frames: Receiver<Frame>,
    log: PathBuf,
}

impl Wire {
    /// Runs a server. Its standard error is appended to `log`.
    pub fn spawn(mut command: Command, log: PathBuf) -> Self {
        let stderr = File::options().create(true).append(true).open(&log).unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, frames) = mpsc::channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let frame = read(&mut output).unwrap_or_else(Frame::Wrong);
                let is_last = !matches!(frame, Frame::Message(_));
                if sender.send(frame).is_err() || is_last {
                    return;
                }
            }
        });
        Self { child, input, frames, log }
    }

    /// Sends a message. `false` if the server has closed its input.
    pub fn send(&mut self, message: &Value) -> bool {
        let body = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) -> bool {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(bytes).and_then(|()| input.flush()).is_ok()
    }

    /// Closes the server's input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the next frame; `None` if there is none by `deadline`.
    pub fn receive(&self, deadline: Instant) -> Option<Frame> {
        match self.frames.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(frame) => Some(frame),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Frame::End),
        }
    }

    /// Waits for the process to end and returns its exit code.
    pub fn exit_code(&mut self) -> Option<i32> {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < deadline, "the server does not end\n{}", self.log());
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// The server's standard error.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

fn read(output: &mut BufReader<ChildStdout>) -> Result<Frame, String> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        output.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if line.is_empty() && length.is_none() {
            return Ok(Frame::End);
        }
        let line = String::from_utf8(line).map_err(|error| error.to_string())?;
        let header = line.strip_suffix("\r\n").ok_or_else(|| format!("a header without CRLF: {line:?}"))?;
        match header.split_once(": ") {
            Some(("Content-Length", it)) => {
                let it = it.parse().map_err(|error| format!("{error}: {line:?}"))?;
                if length.replace(it).is_some() {
                    return Err("two lengths".to_owned());
                }
            }
            Some(("Content-Type", it)) if it.ends_with("charset=utf-8") => {}
            None if header.is_empty() => break,
            _ => return Err(format!("no such header: {line:?}")),
        }
    }
    let mut body = vec![0; length.ok_or("a frame without a length")?];
    output.read_exact(&mut body).map_err(|error| error.to_string())?;
    let shown = || String::from_utf8_lossy(&body).into_owned();
    let message = serde_json::from_slice(&body).map_err(|error| format!("{error}: {}", shown()))?;
    Ok(Frame::Message(message))
}
