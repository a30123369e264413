//! Request to run a command, from the command line.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use config::RunSettings;
use overlay::Disk;
use shadow::{Isolation, Network};
use workspaces::{RunLimits, RunRequest, SandboxRequest};

use super::{Args, Net, SandboxMode, StdioMode, host::Host, terminal};
use crate::{CliError, cli::Session};

impl Args {
    pub(super) fn request(
        &self,
        host: &Host,
        mode: StdioMode,
        session: &Session,
    ) -> Result<RunRequest, CliError> {
        let root = host.workspace().root();
        let allowed = workspaces::run_settings(root, &Disk::new(root)?)?;
        Ok(RunRequest {
            target: host.target(self.branch.as_deref())?,
            command: self.command.clone(),
            folder: host.folder(session)?,
            environment: Some(self.environment(&allowed)?),
            terminal: (mode == StdioMode::Terminal).then(terminal::size),
            sandbox: self.sandbox()?,
            limits: RunLimits { time: self.timeout, memory: self.memory, processes: Some(self.processes) },
            harvest: self.harvest.clone(),
            name: self.name.clone().unwrap_or_default(),
            background: self.background,
            request_id: None,
        })
    }

    pub(super) fn stdio_mode(&self) -> Result<StdioMode, CliError> {
        let are_terminals =
            [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()];
        match are_terminals {
            _ if self.json => Ok(StdioMode::Captured),
            _ if self.background => Ok(StdioMode::Passed),
            [true, true, true] => Ok(StdioMode::Terminal),
            [true, true, _] if self.interactive => Ok(StdioMode::Terminal),
            _ if self.interactive => Err(CliError::usage("--interactive needs a terminal")),
            _ => Ok(StdioMode::Passed),
        }
    }

    /// The variables of a list, and those of `--env`.
    fn environment(&self, allowed: &RunSettings) -> Result<BTreeMap<OsString, OsString>, CliError> {
        let mut environment: BTreeMap<_, _> =
            shadow::environment(|name| env::var_os(name)).into_iter().collect();
        environment.extend(allowed.env.iter().filter_map(|it| Some((it.into(), env::var_os(it)?))));
        for given in &self.env {
            let (name, value) = match given.split_once('=') {
                Some((name, value)) => (name, Some(value.into())),
                None => (given.as_str(), env::var_os(given)),
            };
            let value = value.ok_or_else(|| CliError::usage(format!("the variable {name} is not set")))?;
            environment.insert(name.into(), value);
        }
        Ok(environment)
    }

    fn sandbox(&self) -> Result<SandboxRequest, CliError> {
        Ok(SandboxRequest {
            isolation: match self.sandbox {
                SandboxMode::Required => Isolation::Required,
                SandboxMode::Auto => Isolation::Auto,
                SandboxMode::Off => Isolation::Off,
            },
            cold: self.cold,
            network: match self.net {
                Net::None => Network::None,
                Net::Host => Network::Host,
            },
            read: real(&self.read)?,
            write: real(&self.write)?,
            space: Some(self.space),
            own_folder: self.own_folder,
        })
    }
}

/// Paths as they were named, absolute and without links.
fn real(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let real = |path: &PathBuf| {
        fs::canonicalize(path)
            .map_err(|error| CliError::usage(format!("cannot use {}: {error}", path.display())))
    };
    paths.iter().map(real).collect()
}
