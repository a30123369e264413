//! A command that the daemon runs, on a branch or in the background.

use std::{
    ffi::OsStr,
    io::{self, Read as _},
    path::Path,
    thread,
};

use ::client::{Endpoint, is_ended};
use overlay::{Disk, WorkspacePath};
use tokio::sync::mpsc::Sender;
use workspaces::{
    OutputStream, RequestError, Run, RunEvent, RunId, RunInput, RunLimits, RunRequest, RunResult, RunStarted,
    SandboxRequest,
};

use super::{
    Args, Ours, Outcome, Written, permission,
    printed::Printed,
    terminal::{self, Raw},
};
use crate::{
    CliError,
    cli::Session,
    client::{Opened, Step},
    console,
};

/// Bytes that are sent at once.
const PIECE: usize = 64 << 10;

/// Starts a command in the background.
pub(super) fn start(args: &Args, session: &mut Session) -> Result<RunStarted, CliError> {
    let open = session.open()?;
    let Run { inputs, mut events } =
        open.client.wait(open.client.daemon().run(args.request(&open, Ours::Passed)?))?;
    while let Some(event) = open.client.next(&mut events)? {
        match event {
            RunEvent::Started(started) => return Ok(started),
            RunEvent::Permission(wanted) => permission::answer(&wanted, &inputs, session)?,
            RunEvent::Output(..) | RunEvent::Exited(_) => {}
        }
    }
    Err(CliError::files("the daemon does not say whether the command was started"))
}

/// Runs a command to its end.
pub(super) fn run(args: &Args, ours: Ours, session: &mut Session) -> Result<Outcome, CliError> {
    let open = session.open()?;
    let client = &open.client;
    let Run { inputs, mut events } = client.wait(client.daemon().run(args.request(&open, ours)?))?;
    let mut following =
        Following { ours, run_id: String::new(), raw: None, printed: Default::default(), is_closed: false };
    let mut is_interrupted = false;
    loop {
        match client.next_step(&mut events, is_interrupted).map_err(gone_with_it)? {
            // Leaving is enough: the daemon ends what a client leaves, and does not start it any more.
            Step::Interrupted if following.run_id.is_empty() => {
                return Err(::client::interrupted().into());
            }
            Step::Interrupted => {
                is_interrupted = true;
                following.signal(&open, console::interrupted_by());
            }
            Step::Part(RunEvent::Exited(exited)) => return Ok(following.outcome(&exited, args)),
            Step::Part(RunEvent::Permission(wanted)) => permission::answer(&wanted, &inputs, session)?,
            Step::Part(RunEvent::Started(started)) => following.begin(&started, &inputs)?,
            Step::Part(RunEvent::Output(stream, bytes)) => following.print(stream, &bytes, &open)?,
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

struct Following {
    ours: Ours,
    run_id: String,
    /// While the command has our terminal.
    raw: Option<Raw>,
    printed: [Printed; 2],
    /// Whether the reader of our output has closed it.
    is_closed: bool,
}

impl Following {
    fn print(&mut self, stream: OutputStream, bytes: &[u8], open: &Opened) -> Result<(), CliError> {
        let is_stderr = stream == OutputStream::Stderr;
        let written = match (self.ours, is_stderr) {
            (Ours::Captured, _) => {
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
                self.signal(open, PIPE);
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
        if self.ours != Ours::Terminal {
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
    fn signal(&self, open: &Opened, signal: i32) {
        let id = RunId { workspace: None, run: self.run_id.clone() };
        // A command that is gone has no use for it.
        let _gone = open.client.wait_anyway(open.client.daemon().kill(&id, Some(signal)));
    }

    fn outcome(self, exited: &RunResult, args: &Args) -> Outcome {
        drop(self.raw);
        let texts = |all: &[WorkspacePath]| all.iter().map(ToString::to_string).collect();
        let was_killed =
            || CliError::files("what was written is not kept: the command did not end by itself");
        let harvest = match &exited.harvest {
            Some(Ok(it)) => Some(Ok(Written {
                changed: texts(&it.changed),
                removed: texts(&it.removed),
                repository: it.repository,
                revision: it.revision.map(|it| it.0),
            })),
            Some(Err(refused)) => Some(Err(CliError::files(refused.message.clone()))),
            None => args.harvest.is_some().then(|| Err(was_killed())),
        };
        Outcome {
            backend: exited.backend.clone(),
            isolated: exited.isolated,
            exit_code: exited.exit_code,
            signal: exited.signal,
            killed: exited.killed.clone(),
            not_started: exited.not_started.clone(),
            duration_ms: super::milliseconds(exited.duration),
            processor_ms: super::milliseconds(exited.processor_time),
            peak_memory_bytes: exited.peak_memory,
            printed: self.printed,
            harvest,
        }
    }
}

/// SIGPIPE.
const PIPE: i32 = 13;

fn write(bytes: &[u8], mut to: impl io::Write) -> io::Result<()> {
    to.write_all(bytes).and_then(|()| to.flush())
}

fn pass_input(send: impl Fn(RunInput) -> bool) {
    let (mut input, mut buffer) = (io::stdin(), vec![0; PIECE]);
    while let Ok(length @ 1..) = input.read(&mut buffer) {
        if !send(RunInput::Stdin(buffer[..length].to_vec().into())) {
            return;
        }
    }
    let _over = send(RunInput::StdinEnd);
}

impl Args {
    fn request(&self, open: &Opened, ours: Ours) -> Result<RunRequest, CliError> {
        let command = self.command.iter().map(|it| utf8(it, "an argument")).collect::<Result<_, _>>()?;
        let root = open.workspace.root();
        let allowed = workspaces::run_settings(root, &Disk::new(root)?)?;
        let variables = self.environment(&allowed)?.into_iter().filter_map(|(name, value)| {
            // Variables that are not UTF-8, or not on the list, are left out.
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Ok(RunRequest {
            target: open.target(self.branch.as_deref())?,
            command,
            folder: open.path(Path::new(".")).map(|it| it.as_str().to_owned()).unwrap_or_default(),
            environment: Some(variables.collect()),
            terminal: (ours == Ours::Terminal).then(terminal::size),
            sandbox: SandboxRequest {
                isolation: self.isolation(),
                cold: self.cold,
                network: self.network(),
                read: super::real(&self.read)?,
                write: super::real(&self.write)?,
                space: (self.space > 0).then_some(self.space),
                own_folder: self.own_folder,
            },
            limits: RunLimits { time: self.timeout, memory: self.memory, processes: Some(self.processes) },
            harvest: self.harvest.clone(),
            name: self.name.clone().unwrap_or_default(),
            background: self.background,
            request_id: None,
        })
    }
}

fn utf8(text: &OsStr, what: &str) -> Result<String, CliError> {
    let text = text.to_str().map(str::to_owned);
    text.ok_or_else(|| CliError::usage(format!("{what} is not UTF-8, which the daemon does not take")))
}
