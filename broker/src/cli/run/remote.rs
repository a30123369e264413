//! A command that the daemon runs, on a branch or in the background.

use std::{
    ffi::OsStr,
    io::{self, Read as _},
    path::Path,
    thread,
};

use broker_proto::{
    v1 as pb,
    v1::{run_exited::Harvest as Harvested, run_request::Message, run_response::Event},
};
use overlay::Disk;
use shadow::{Isolation, Network, TerminalSize};
use tokio::sync::mpsc::Sender;
use tonic::Status;

use super::{
    Args, Ours, Outcome, Written, permission,
    printed::Printed,
    terminal::{self, Raw},
};
use crate::{
    CliError,
    cli::Session,
    client::{Opened, RunStep, is_gone, of_branch},
    console,
};

/// Bytes that are sent at once.
const PIECE: usize = 64 << 10;

/// Starts a command in the background.
pub(super) fn start(args: &Args, session: &mut Session) -> Result<pb::RunStarted, CliError> {
    let open = session.open()?;
    let (requests, mut parts) = open.client.run(args.start(&open, Ours::Passed)?)?;
    while let Some(part) = open.client.next(&mut parts)? {
        match part.event {
            Some(Event::Started(started)) => return Ok(started),
            Some(Event::PermissionRequest(it)) => permission::answer(&it, &requests, session)?,
            _ => {}
        }
    }
    Err(CliError::files("the daemon does not say whether the command was started"))
}

/// Runs a command to its end.
pub(super) fn run(args: &Args, ours: Ours, session: &mut Session) -> Result<Outcome, CliError> {
    let open = session.open()?;
    let client = &open.client;
    let (requests, mut parts) = client.run(args.start(&open, ours)?)?;
    let mut following =
        Following { ours, run_id: String::new(), raw: None, printed: Default::default(), is_closed: false };
    let mut is_interrupted = false;
    loop {
        match client.next_step(&mut parts, is_interrupted).map_err(|it| gone_with_it(&it))? {
            // The daemon ends what a client leaves.
            RunStep::Interrupted if following.run_id.is_empty() => {
                return Err(Status::cancelled("interrupted").into());
            }
            RunStep::Interrupted => {
                is_interrupted = true;
                if following.run_id.is_empty() {
                    // Leaving is enough: it is not started any more.
                    return Err(CliError::files("interrupted before the command was started"));
                }
                following.signal(&open, console::interrupted_by());
            }
            RunStep::Event(Event::Exited(exited)) => return Ok(following.outcome(exited, args)),
            RunStep::Event(Event::PermissionRequest(it)) => permission::answer(&it, &requests, session)?,
            RunStep::Event(event) => following.heed(event, &open, &requests)?,
            RunStep::End => return Err(gone_with_it(&Status::unavailable(""))),
        }
    }
}

/// Why a run has no more to tell.
fn gone_with_it(status: &Status) -> CliError {
    let error = CliError::from(status.clone());
    if !is_gone(status) {
        return error;
    }
    CliError::files("the daemon was ended, or broke off, and the command with it").maybe_hint(error.hint)
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
    fn heed(
        &mut self,
        event: Event,
        open: &Opened,
        requests: &Sender<pb::RunRequest>,
    ) -> Result<(), CliError> {
        let (bytes, is_stderr) = match event {
            Event::Started(started) => {
                self.run_id = started.run_id;
                return self.begin(requests);
            }
            Event::Stdout(bytes) => (bytes, false),
            Event::Stderr(bytes) => (bytes, true),
            // They are answered, and the last.
            Event::PermissionRequest(_) | Event::Exited(_) => return Ok(()),
        };
        let written = match (self.ours, is_stderr) {
            (Ours::Captured, _) => {
                self.printed[usize::from(is_stderr)].add(&bytes);
                return Ok(());
            }
            _ if self.is_closed => return Ok(()),
            (_, false) => write(&bytes, io::stdout()),
            (_, true) => write(&bytes, io::stderr()),
        };
        match written {
            // As the system does with a command that writes to such a pipe itself.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                self.signal(open, PIPE);
                Ok(())
            }
            written => Ok(written?),
        }
    }

    /// Sends what comes in from now on.
    fn begin(&mut self, requests: &Sender<pb::RunRequest>) -> Result<(), CliError> {
        let send = {
            let requests = requests.clone();
            move |message| requests.blocking_send(pb::RunRequest { message: Some(message) }).is_ok()
        };
        if self.ours != Ours::Terminal {
            thread::spawn(move || pass_input(send));
            return Ok(());
        }
        let cannot = |error| CliError::files(format!("cannot use the terminal: {error}"));
        self.raw = Some(Raw::begin().map_err(cannot)?);
        let resize = send.clone();
        let followed = terminal::follow_size(move |size| _ = resize(Message::Resize(wire_size(size))));
        followed.map_err(cannot)?;
        terminal::pass_typed(move |typed| send(Message::Stdin(typed.to_vec().into())));
        Ok(())
    }

    /// Past what the command has yet to read.
    fn signal(&self, open: &Opened, signal: i32) {
        let request = pb::KillRequest { run_id: self.run_id.clone(), signal, ..Default::default() };
        // A command that is gone has no use for it.
        let _gone = open.client.call_anyway(open.client.runs().kill(request));
    }

    fn outcome(self, exited: pb::RunExited, args: &Args) -> Outcome {
        drop(self.raw);
        let some = |text: String| (!text.is_empty()).then_some(text);
        let was_killed =
            || CliError::files("what was written is not kept: the command did not end by itself");
        let harvest = match exited.harvest {
            Some(Harvested::Written(it)) => Some(Ok(Written {
                changed: it.changed_paths,
                removed: it.removed_paths,
                revision: it.revision,
            })),
            Some(Harvested::HarvestRefused(it)) => Some(Err(CliError::files(it.message))),
            None => args.harvest.is_some().then(|| Err(was_killed())),
        };
        Outcome {
            backend: exited.backend,
            isolated: exited.isolated,
            exit_code: exited.exit_code,
            signal: exited.signal,
            killed: some(exited.killed),
            not_started: some(exited.not_started),
            duration_ms: exited.duration_ms,
            processor_ms: exited.processor_ms,
            peak_memory_bytes: exited.peak_memory_bytes,
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

fn pass_input(send: impl Fn(Message) -> bool) {
    let (mut input, mut buffer) = (io::stdin(), vec![0; PIECE]);
    while let Ok(length @ 1..) = input.read(&mut buffer) {
        if !send(Message::Stdin(buffer[..length].to_vec().into())) {
            return;
        }
    }
    let _over = send(Message::StdinEnd(pb::StdinEnd {}));
}

fn wire_size(size: TerminalSize) -> pb::TerminalSize {
    pb::TerminalSize { rows: size.rows.into(), columns: size.columns.into() }
}

impl Args {
    fn start(&self, open: &Opened, ours: Ours) -> Result<pb::RunStart, CliError> {
        let target = match &self.branch {
            Some(name) => of_branch(&open.branch(name)?.branch_id),
            None => open.base(),
        };
        let command = self.command.iter().map(|it| utf8(it, "an argument")).collect::<Result<_, _>>()?;
        let root = open.workspace.root();
        let allowed = workspaces::run_settings(root, &Disk::new(root)?)?;
        let variables = self.environment(&allowed)?.into_iter().filter_map(|(name, value)| {
            // What is not UTF-8 is left out, as are variables that are not on the list.
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let folder = open.path(Path::new(".")).map(|it| it.as_str().to_owned()).unwrap_or_default();
        let paths = |all| -> Result<Vec<_>, CliError> {
            super::real(all)?.iter().map(|it| utf8(it.as_os_str(), "a path")).collect()
        };
        Ok(pb::RunStart {
            target: Some(target),
            command,
            folder,
            environment: Some(pb::RunEnvironment { variables: variables.collect() }),
            terminal: (ours == Ours::Terminal).then(|| wire_size(terminal::size())),
            sandbox: Some(pb::Sandbox {
                network: match self.network() {
                    Network::None => pb::Network::None.into(),
                    Network::Host => pb::Network::Host.into(),
                },
                read_paths: paths(&self.read)?,
                write_paths: paths(&self.write)?,
                space_bytes: self.space,
                own_folder: self.own_folder,
                isolation: match self.isolation() {
                    Isolation::Required => pb::Isolation::Required.into(),
                    Isolation::Auto => pb::Isolation::Auto.into(),
                    Isolation::Off => pb::Isolation::Off.into(),
                },
                cold: self.cold,
            }),
            limits: Some(pb::RunLimits {
                time_ms: self.timeout.map(super::milliseconds).unwrap_or_default(),
                memory_bytes: self.memory.unwrap_or_default(),
                processes: self.processes,
            }),
            harvest: self.harvest.clone().map(|glob| pb::Harvest { glob }),
            name: self.name.clone().unwrap_or_default(),
            background: self.background,
            request_id: String::new(),
        })
    }
}

fn utf8(text: &OsStr, what: &str) -> Result<String, CliError> {
    let text = text.to_str().map(str::to_owned);
    text.ok_or_else(|| CliError::usage(format!("{what} is not UTF-8, which the daemon does not take")))
}
