//! Starts a daemon in the background and waits until it is ready.

use std::{
    env,
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader},
    os::unix::{fs::OpenOptionsExt as _, process::CommandExt as _},
    path::Path,
    process::{Child, Command, Stdio},
};

use config::folders;
use language_servers::Environment;

use crate::{CliError, console::Messages, endpoint::Endpoint};

/// Starts `broker serve` on its own, so that an interrupt of this command is none of the daemon's. If another
/// daemon was faster, that one serves as well.
pub(super) fn start(endpoint: &Endpoint, tell: Option<&Messages>) -> Result<(), CliError> {
    let cannot = |error: io::Error| CliError::files(format!("cannot start a daemon: {error}"));
    let folder = endpoint.socket.parent().unwrap_or(Path::new("/"));
    endpoint.make_folder()?;
    folders::own_state_dir()?;
    let log = log(endpoint).map_err(cannot)?;
    let said_before = log.metadata().map_err(cannot)?.len();
    let mut child = command(folder, log).and_then(|mut it| it.spawn()).map_err(cannot)?;
    if !is_ready(&mut child) {
        let ended = child.wait().map_err(cannot)?;
        let said = said_since(endpoint, said_before);
        let error = CliError::files(format!("the daemon did not start ({ended}){said}"));
        return Err(error.hint(super::log(endpoint)));
    }
    let pid = child.id();
    if let Some(messages) = tell
        && endpoint.holder() == Some(pid)
    {
        let text = format!("started a daemon (process {pid}); it ends after 30 minutes without a client");
        messages.line(&text);
    }
    Ok(())
}

/// The daemon is given the folders as this process understands them: it runs elsewhere. Of this shell's variables it gets
/// those of the user, as it serves other shells, too; a client tells the rest when it opens a workspace.
fn command(runtime_dir: &Path, log: File) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.env_clear().envs(Environment::for_new_daemon());
    command.arg("serve").current_dir("/").env("BROKER_RUNTIME_DIR", runtime_dir);
    for (name, folder) in
        [("BROKER_STATE_DIR", folders::state_dir()), ("BROKER_CACHE_DIR", folders::cache_dir())]
    {
        if let Some(folder) = folder {
            command.env(name, folder);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).process_group(0);
    Ok(command)
}

/// What daemons in the background have to say, one after the other, up to a size that nobody minds.
#[expect(clippy::disallowed_methods, reason = "the daemon's log is no workspace file")]
fn log(endpoint: &Endpoint) -> io::Result<File> {
    const LARGEST: u64 = 1 << 20;
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).open(endpoint.log_file())?;
    if file.metadata()?.len() > LARGEST {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Waits for the line that says so; false if the process ends without it.
fn is_ready(child: &mut Child) -> bool {
    let Some(stdout) = child.stdout.take() else { return false };
    let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
    lines.any(|it| it.starts_with("serving at "))
}

fn said_since(endpoint: &Endpoint, start: u64) -> String {
    let log = folders::read(&endpoint.log_file()).unwrap_or_default();
    let said = log.get(usize::try_from(start).unwrap_or_default()..).unwrap_or_default();
    let said = String::from_utf8_lossy(said);
    let lines = said.lines().filter(|it| !it.trim().is_empty());
    lines.map(|it| format!("\n  {}", lint::printable(it))).collect()
}
