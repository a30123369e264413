//! Starts a daemon in the background and waits until it is ready.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader},
    os::{
        fd::{BorrowedFd, RawFd},
        unix::{fs::OpenOptionsExt as _, process::CommandExt as _},
    },
    path::Path,
    process::{Child, Command, Stdio},
};

use config::folders;
use language_servers::Environment;
use rustix::io::{Errno, FdFlags};
use workspaces::RequestError;

use crate::{
    endpoint::{Endpoint, IDLE_EXIT},
    error::unreachable,
};

/// Starts `broker daemon serve` on its own, so that an interrupt of this command is none of the daemon's. If another
/// daemon was faster, that one serves as well.
pub(super) fn start(endpoint: &Endpoint, notify: Option<&dyn Fn(&str)>) -> Result<(), RequestError> {
    let cannot = |error: io::Error| unreachable(format!("cannot start a daemon: {error}"));
    let folder = endpoint.socket.parent().unwrap_or(Path::new("/"));
    endpoint.make_folder()?;
    folders::own_state_dir().map_err(|it| RequestError { hint: it.hint, ..unreachable(it.message) })?;
    let log = log(endpoint).map_err(cannot)?;
    let said_before = log.metadata().map_err(cannot)?.len();
    pass_on_no_open_files().map_err(cannot)?;
    let mut child = command(folder, log).and_then(|mut it| it.spawn()).map_err(cannot)?;
    if !is_ready(&mut child) {
        let ended = child.wait().map_err(cannot)?;
        let said = said_since(endpoint, said_before);
        let error = unreachable(format!("the daemon did not start ({ended}){said}"));
        return Err(error.hint(endpoint.log_hint()));
    }
    let pid = child.id();
    if let Some(notify) = notify
        && endpoint.holder() == Some(pid)
    {
        let minutes = IDLE_EXIT.as_secs() / 60;
        let text =
            format!("started a daemon (process {pid}); it ends after {minutes} minutes without a client");
        notify(&text);
    }
    Ok(())
}

/// Marks all inherited files but the standard ones close-on-exec. The daemon would keep locks and pipes of the shell
/// alive, and count as a writer of workspace files, which no commit replaces. What the daemon itself starts inherits
/// nothing either, since the standard library opens files so.
#[expect(clippy::disallowed_methods, reason = "/dev/fd is no workspace")]
fn pass_on_no_open_files() -> io::Result<()> {
    let about = |error: io::Error| io::Error::new(error.kind(), format!("open files (/dev/fd): {error}"));
    // Collected first: the folder itself is open while it is read.
    let names: Vec<_> =
        fs::read_dir("/dev/fd").map_err(about)?.filter_map(|it| Some(it.ok()?.file_name())).collect();
    let numbers = names.iter().filter_map(|it| it.to_str()?.parse::<RawFd>().ok());
    for number in numbers.filter(|it| *it > 2) {
        // SAFETY: it is borrowed for this one call, which reads and writes nothing; a number that is closed by now, as that
        // of the folder, is an error of the call.
        #[expect(unsafe_code, reason = "see above")]
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        match rustix::io::fcntl_setfd(file, FdFlags::CLOEXEC) {
            Err(Errno::BADF) => {}
            set => set?,
        }
    }
    Ok(())
}

/// The daemon is given the folders as this process understands them: it runs elsewhere. Of this shell's variables it gets
/// those of the user, as it serves other shells, too; a client tells the rest when it opens a workspace.
fn command(runtime_dir: &Path, log: File) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.env_clear().envs(Environment::for_new_daemon());
    command.args(["daemon", "serve"]).current_dir("/").env("BROKER_RUNTIME_DIR", runtime_dir);
    for (name, folder) in [
        ("BROKER_STATE_DIR", folders::state_dir()),
        ("BROKER_CACHE_DIR", folders::cache_dir()),
        ("BROKER_DATA_DIR", folders::data_dir()),
    ] {
        if let Some(folder) = folder {
            command.env(name, folder);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).process_group(0);
    Ok(command)
}

/// Bytes from which on the log is emptied when a daemon is started.
pub const LOG_LIMIT: u64 = 1 << 20;

/// Log of daemons in the background, appended to.
#[expect(clippy::disallowed_methods, reason = "the daemon's log is no workspace file")]
fn log(endpoint: &Endpoint) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).open(endpoint.log_file())?;
    if file.metadata()?.len() > LOG_LIMIT {
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

/// Lines of the log from `start` on, each after a line break. Who shows an error indents and escapes its lines.
fn said_since(endpoint: &Endpoint, start: u64) -> String {
    let log = folders::read(&endpoint.log_file()).unwrap_or_default();
    let said = log.get(usize::try_from(start).unwrap_or_default()..).unwrap_or_default();
    let said = String::from_utf8_lossy(said);
    let lines = said.lines().filter(|it| !it.trim().is_empty());
    lines.map(|it| format!("\n{it}")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn what_a_daemon_said_is_neither_indented_nor_escaped() {
        let dir = tempfile::tempdir().unwrap();
        let endpoint = Endpoint { socket: dir.path().join("broker.sock") };
        assert_eq!(said_since(&endpoint, 0), "", "there is no log");
        fs::write(endpoint.log_file(), "old\nerror: no\n\n  ti\u{1b}p\n").unwrap();
        assert_eq!(said_since(&endpoint, 4), "\nerror: no\n  ti\u{1b}p");
    }
}
