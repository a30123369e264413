//! A command that this process runs by itself, on the files as they are on the disk.

use std::{env, ffi::OsString, path::PathBuf, time::Instant};

use config::{RunSettings, root::WorkspaceRoot};
use overlay::Disk;
use shadow::{Exit, Isolation, Layer, Limits, Program, Shadow};
use workspaces::{DaemonError, RunLimits, SandboxRequest};

use super::{Args, Ours, Outcome, output::Output};
use crate::{CliError, cli::Session};

pub(super) fn run(args: &Args, ours: Ours, session: &mut Session) -> Result<Outcome, CliError> {
    let (root, current) = places(session)?;
    let allowed = workspaces::run_settings(&root, &Disk::new(&root)?)?;
    let environment = args.environment(&allowed)?;
    let variable = |name: &str| environment.iter().find(|(it, _)| it == name).map(|(_, value)| value.clone());
    let request = SandboxRequest {
        isolation: args.isolation(),
        cold: args.cold,
        network: args.network(),
        read: shown(args, &allowed)?,
        write: super::real(&args.write)?,
        space: Some(args.space),
        own_folder: true,
    };
    let limits = RunLimits { processes: Some(args.processes), ..RunLimits::default() };
    let sandbox = workspaces::sandbox(&root, &request, &limits, variable).map_err(|it| refused(&it))?;
    let shadow = Shadow::open(&super::launcher(), &root, &Layer::default(), &sandbox);
    let shadow = shadow.map_err(|it| refused(&workspaces::no_folder(&it)))?;
    let output = Output::new(ours)?;
    let start = Instant::now();
    let mut running = output.start(&shadow, args.program(environment, current))?;
    let (ended, printed) = output.follow(&mut running, &session.process_context.cancel)?;
    if let Err(error) = shadow.keep_caches() {
        session.messages.warning(&format!("what was written to caches is not kept: {error}"));
    }
    Ok(Outcome {
        backend: shadow.choice().backend.name().to_owned(),
        isolated: shadow.choice().isolated,
        exit_code: ended.exit.code(),
        signal: match ended.exit {
            Exit::Signal(signal) => Some(signal),
            Exit::Code(_) | Exit::NotStarted { .. } => None,
        },
        killed: ended.stopped.map(|it| it.to_string()),
        not_started: match ended.exit {
            Exit::NotStarted { error } => Some(std::io::Error::from_raw_os_error(error).to_string()),
            Exit::Code(_) | Exit::Signal(_) => None,
        },
        duration_ms: super::milliseconds(start.elapsed()),
        processor_ms: super::milliseconds(ended.processor_time),
        peak_memory_bytes: ended.memory,
        printed,
        harvest: None,
    })
}

/// Returns the hidden paths that the command is shown.
fn shown(args: &Args, allowed: &RunSettings) -> Result<Vec<PathBuf>, CliError> {
    let mut read = super::real(&args.read)?;
    if args.isolation() != Isolation::Off {
        read.extend(workspaces::shown_paths(allowed));
    }
    Ok(read)
}

/// The workspace's root, and where the command starts.
fn places(session: &Session) -> Result<(PathBuf, PathBuf), CliError> {
    let (cwd, home) = (session.cwd()?, session.process_context.home.as_deref());
    let found = WorkspaceRoot::of_paths(&cwd, &[PathBuf::from(".")], home)?;
    let root = found.workspace.root().to_owned();
    let current = if cwd.starts_with(&root) { cwd } else { root.clone() };
    Ok((root, current))
}

fn refused(error: &DaemonError) -> CliError {
    CliError::files(error.to_string()).maybe_hint(error.hint().map(str::to_owned))
}

impl Args {
    fn program(&self, environment: Vec<(OsString, OsString)>, folder: PathBuf) -> Program {
        let limits = Limits {
            time: self.timeout,
            memory: self.memory,
            processes: Some(self.processes.into()),
            file_size: None,
        };
        Program { command: self.command.clone(), environment, folder, terminal: None, limits }
    }

    /// The variables of a list, and those of `--env`.
    pub(super) fn environment(&self, allowed: &RunSettings) -> Result<Vec<(OsString, OsString)>, CliError> {
        let mut environment = shadow::environment(|name| env::var_os(name));
        environment.extend(allowed.env.iter().filter_map(|it| Some((it.into(), env::var_os(it)?))));
        for given in &self.env {
            let (name, value) = match given.split_once('=') {
                Some((name, value)) => (name, Some(value.into())),
                None => (given.as_str(), env::var_os(given)),
            };
            let value = value.ok_or_else(|| CliError::usage(format!("the variable {name} is not set")))?;
            environment.retain(|(it, _)| it != name);
            environment.push((name.into(), value));
        }
        Ok(environment)
    }
}
