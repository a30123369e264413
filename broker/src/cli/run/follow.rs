//! A command from its start to its end: its events are shown, and what comes in is sent to it.

use std::{
    io::{self, Read as _},
    sync::Arc,
    thread,
};

use ::client::{Endpoint, is_ended};
use tokio::sync::mpsc::Sender;
use workspaces::{OutputStream, RequestError, Run, RunEvent, RunId, RunInput, RunResult, RunStarted};

use super::{
    Args, StdioMode,
    host::Host,
    permission,
    printed::Printed,
    terminal::{self, Raw},
};
use crate::{CliError, cli::Session, client::Step, console};

/// Bytes that are sent at once.
const CHUNK_BYTES: usize = 64 << 10;

/// State of a command in which it is followed no more.
pub(super) enum Followed {
    /// It runs on in the background.
    Started(RunStarted),
    /// It is over. What it printed is there if it was captured.
    Ended(Arc<RunResult>, [Printed; 2]),
}

/// Runs a command to its end; one in the background is only started.
pub(super) fn run(args: &Args, host: &Host, session: &Session) -> Result<Followed, CliError> {
    let (mode, waiter) = (args.stdio_mode()?, host.waiter());
    let request = args.request(host, mode, session)?;
    let Run { inputs, mut events } = waiter.wait(host.daemon().run(request))?;
    let mut following = Following::new(host, mode);
    let mut is_interrupted = false;
    loop {
        match waiter.next_step(&mut events, is_interrupted).map_err(gone_with_it)? {
            // Leaving is enough: the daemon ends what a client leaves, and does not start it any more.
            Step::Interrupted if following.run_id.is_empty() => {
                return Err(::client::interrupted().into());
            }
            Step::Interrupted => {
                is_interrupted = true;
                following.signal(console::interrupted_by());
            }
            Step::Part(RunEvent::Exited(result)) => return Ok(Followed::Ended(result, following.printed)),
            Step::Part(RunEvent::Permission(wanted)) => permission::answer(&wanted, &inputs, session)?,
            Step::Part(RunEvent::Started(started)) if args.background => {
                return Ok(Followed::Started(started));
            }
            Step::Part(RunEvent::Started(started)) => following.begin(&started, &inputs)?,
            Step::Part(RunEvent::Output(stream, bytes)) => following.print(stream, &bytes)?,
            Step::End => return Err(CliError::files(GONE).hint(Endpoint::of_user().log_hint())),
        }
    }
}

const GONE: &str = "the daemon was ended, or broke off, and the command with it";

/// Converts an error of following a run that is gone.
fn gone_with_it(error: RequestError) -> CliError {
    let is_gone = is_ended(&error);
    let error = CliError::from(error);
    if is_gone { CliError::files(GONE).maybe_hint(error.hint) } else { error }
}

struct Following<'h> {
    host: &'h Host,
    mode: StdioMode,
    run_id: String,
    /// While the command has our terminal.
    raw: Option<Raw>,
    printed: [Printed; 2],
    /// Whether the reader of our output has closed it.
    is_closed: bool,
}

impl<'h> Following<'h> {
    fn new(host: &'h Host, mode: StdioMode) -> Self {
        let (run_id, printed) = (String::new(), Default::default());
        Self { host, mode, run_id, raw: None, printed, is_closed: false }
    }

    fn print(&mut self, stream: OutputStream, bytes: &[u8]) -> Result<(), CliError> {
        let is_stderr = stream == OutputStream::Stderr;
        let written = match (self.mode, is_stderr) {
            (StdioMode::Captured, _) => {
                self.printed[usize::from(is_stderr)].add(bytes);
                return Ok(());
            }
            _ if self.is_closed => return Ok(()),
            (_, false) => write(bytes, io::stdout()),
            (_, true) => write(bytes, io::stderr()),
        };
        match written {
            // The system does the same with a command that writes to such a pipe itself.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                self.signal(PIPE);
                Ok(())
            }
            written => Ok(written?),
        }
    }

    /// Sends what comes in from now on.
    fn begin(&mut self, started: &RunStarted, inputs: &Sender<RunInput>) -> Result<(), CliError> {
        self.run_id = started.id.to_string();
        let send = {
            let inputs = inputs.clone();
            move |input| inputs.blocking_send(input).is_ok()
        };
        if self.mode != StdioMode::Terminal {
            thread::spawn(move || pass_input(send));
            return Ok(());
        }
        let cannot = |error| CliError::files(format!("cannot use the terminal: {error}"));
        self.raw = Some(Raw::begin().map_err(cannot)?);
        let resize = send.clone();
        terminal::follow_size(move |size| _ = resize(RunInput::Resize(size))).map_err(cannot)?;
        terminal::pass_typed(move |typed| send(RunInput::Stdin(typed.to_vec().into())));
        Ok(())
    }

    /// Past what the command has yet to read.
    fn signal(&self, signal: i32) {
        let id = RunId { workspace: None, run: self.run_id.clone() };
        // A command that is gone has no use for it.
        let _gone = self.host.waiter().wait_anyway(self.host.daemon().kill(&id, Some(signal)));
    }
}

/// SIGPIPE.
const PIPE: i32 = 13;

fn write(bytes: &[u8], mut to: impl io::Write) -> io::Result<()> {
    to.write_all(bytes).and_then(|()| to.flush())
}

fn pass_input(send: impl Fn(RunInput) -> bool) {
    let (mut input, mut buffer) = (io::stdin(), vec![0; CHUNK_BYTES]);
    while let Ok(length @ 1..) = input.read(&mut buffer) {
        if !send(RunInput::Stdin(buffer[..length].to_vec().into())) {
            return;
        }
    }
    let _over = send(RunInput::StdinEnd);
}
