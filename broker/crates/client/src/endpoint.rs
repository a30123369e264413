//! Address of a daemon, and the lock that makes it the only one there.
//!
//! The folder belongs to the user alone. The process that holds the lock owns the socket beside it: a socket without a
//! lock is left over from a daemon that was killed.

use std::{
    cell::Cell,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use overlay::expect_private;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use tokio::net::UnixListener;

use workspaces::RequestError;

use crate::error::unreachable;

/// Time without a client after which a daemon ends, unless it is told otherwise.
pub const IDLE_EXIT: Duration = Duration::from_secs(1800);

/// A daemon's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub socket: PathBuf,
}

/// The right to be the daemon at an address; held as long as it lives.
pub struct Claim {
    endpoint: Endpoint,
    lock: File,
    /// Whether the socket is this daemon's.
    made_socket: Cell<bool>,
    /// Whether the token file is this daemon's.
    wrote_token: Cell<bool>,
}

/// Outcome of an attempt to become the daemon.
pub enum Claimed {
    Ours(Claim),
    /// Another process is, with this number if it said so.
    Taken {
        pid: Option<u32>,
    },
}

impl Endpoint {
    /// The user's one daemon.
    pub fn of_user() -> Self {
        Self { socket: config::folders::runtime_dir().join("broker.sock") }
    }

    fn lock_file(&self) -> PathBuf {
        self.socket.with_extension("lock")
    }

    /// The secret for connections over TCP.
    pub fn token_file(&self) -> PathBuf {
        self.socket.with_extension("token")
    }

    /// Path of the log of a daemon that was started in the background.
    pub fn log_file(&self) -> PathBuf {
        self.socket.with_extension("log")
    }

    /// Pointer to that file, for errors.
    pub fn log_hint(&self) -> String {
        format!("what it had to say is in {}", self.log_file().display())
    }

    /// The process that holds the lock, if one does.
    #[expect(clippy::disallowed_methods, reason = "the daemon's own folder is no workspace")]
    pub fn holder(&self) -> Option<u32> {
        let mut lock = OpenOptions::new().read(true).open(self.lock_file()).ok()?;
        match flock(&lock, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {
                release(&lock);
                None
            }
            Err(_) => read_pid(&mut lock),
        }
    }

    fn folder(&self) -> &Path {
        self.socket.parent().unwrap_or(Path::new("/"))
    }

    /// Makes the folder if it is missing; fails if it is not the user's alone.
    pub fn make_folder(&self) -> Result<(), RequestError> {
        let folder = self.folder();
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.and_then(|()| expect_private(folder)).map_err(|error| self.not_ours(&error))
    }

    /// Whether the folder is there; fails if it is not the user's alone, as then anybody may listen in it.
    pub fn has_folder(&self) -> Result<bool, RequestError> {
        match expect_private(self.folder()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.not_ours(&error)),
        }
    }

    fn not_ours(&self, why: &io::Error) -> RequestError {
        let error = unreachable(format!("cannot use {}: {why}", self.folder().display()));
        error.hint("set BROKER_RUNTIME_DIR to a folder of your own")
    }

    /// Becomes the daemon of this address, unless another process is.
    #[expect(clippy::disallowed_methods, reason = "the daemon's own folder is no workspace")]
    pub fn claim(&self) -> Result<Claimed, RequestError> {
        self.make_folder()?;
        let path = self.lock_file();
        let unusable = |error| unreachable(format!("cannot lock {}: {error}", path.display()));
        let mut options = OpenOptions::new();
        let mut lock = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(unusable)?;
        if !take(&lock).map_err(|errno| unusable(errno.into()))? {
            return Ok(Claimed::Taken { pid: read_pid(&mut lock) });
        }
        if !is_ours(&mut lock).map_err(unusable)? {
            return Err(unusable(io::Error::other("it is a file of somebody else")));
        }
        write_pid(&mut lock).map_err(unusable)?;
        Ok(Claimed::Ours(Claim {
            endpoint: self.clone(),
            lock,
            made_socket: Cell::new(false),
            wrote_token: Cell::new(false),
        }))
    }
}

impl Claim {
    /// Opens the socket, in place of one that a killed daemon left behind.
    #[expect(clippy::disallowed_methods, reason = "the daemon's own folder is no workspace")]
    pub fn listen(&self) -> io::Result<UnixListener> {
        let socket = &self.endpoint.socket;
        match fs::symlink_metadata(socket) {
            Ok(it) if it.file_type().is_socket() => fs::remove_file(socket)?,
            Ok(_) => return Err(io::Error::other("something else than a socket is there")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // The folder lets no other user in before the mode is set.
        let listener = UnixListener::bind(socket)?;
        self.made_socket.set(true);
        fs::set_permissions(socket, fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Writes the secret for connections over TCP where only the user can read it.
    #[expect(clippy::disallowed_methods, reason = "the daemon's own folder is no workspace")]
    pub fn write_token(&self, token: &str) -> io::Result<()> {
        let path = self.endpoint.token_file();
        let _old = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
        self.wrote_token.set(true);
        file.write_all(token.as_bytes())
    }
}

/// Whether the lock is this process's now. A daemon holds it alone; a client that looks whether there is a daemon shares
/// it for a moment, and keeps no daemon from it.
fn take(lock: &File) -> Result<bool, Errno> {
    /// More than there are looks by clients that come at once.
    const ATTEMPTS: usize = 2000;
    for _ in 0..ATTEMPTS {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {}
            taken => return taken.map(|()| true),
        }
        match flock(lock, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => return Ok(false),
            shared => shared?,
        }
        release(lock);
        thread::sleep(Duration::from_millis(1));
    }
    Ok(false)
}

/// To close the file is not enough: a child that is just being started has it open, too, until it is another program.
fn release(lock: &File) {
    // A lock that cannot be released was not held.
    let _unlocked = flock(lock, FlockOperation::Unlock);
}

impl Drop for Claim {
    /// While the lock is still held: a daemon that comes after finds nothing of this one.
    #[expect(clippy::disallowed_methods, reason = "the daemon's own folder is no workspace")]
    fn drop(&mut self) {
        if self.made_socket.get() {
            let _gone = fs::remove_file(&self.endpoint.socket);
        }
        if self.wrote_token.get() {
            let _gone = fs::remove_file(self.endpoint.token_file());
        }
        release(&self.lock);
    }
}

/// Whether a lock file holds what a daemon writes there: nothing, or a number.
fn is_ours(lock: &mut File) -> io::Result<bool> {
    let mut text = Vec::new();
    lock.take(32).read_to_end(&mut text)?;
    Ok(text.len() < 32 && text.iter().all(u8::is_ascii_digit))
}

fn read_pid(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    lock.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_pid(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    write!(lock, "{}", std::process::id())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::{
        os::unix::fs::MetadataExt as _,
        sync::atomic::{AtomicBool, Ordering},
    };

    use super::*;

    fn endpoint(folder: &Path) -> Endpoint {
        Endpoint { socket: folder.join("run/broker.sock") }
    }

    #[tokio::test]
    async fn one_holds_the_address_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let here = endpoint(dir.path());
        assert_eq!(here.holder(), None);
        let Claimed::Ours(claim) = here.claim().unwrap() else { panic!("nobody else is there") };
        assert_eq!(here.holder(), Some(std::process::id()));
        let Claimed::Taken { pid } = here.claim().unwrap() else { panic!("it is taken") };
        assert_eq!(pid, Some(std::process::id()));
        let listener = claim.listen().unwrap();
        assert_eq!(fs::metadata(&here.socket).unwrap().mode() & 0o777, 0o600);
        claim.write_token("secret").unwrap();
        assert_eq!(fs::metadata(here.token_file()).unwrap().mode() & 0o777, 0o600);
        drop((listener, claim));
        assert!(!here.socket.exists() && !here.token_file().exists());
        assert_eq!(here.holder(), None);
    }

    #[test]
    fn clients_that_look_keep_no_daemon_from_its_address() {
        let dir = tempfile::tempdir().unwrap();
        let here = endpoint(dir.path());
        here.make_folder().unwrap();
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_done.load(Ordering::Relaxed) {
                        here.holder();
                    }
                });
            }
            let taken = (0..500).filter(|_| matches!(here.claim().unwrap(), Claimed::Taken { .. })).count();
            is_done.store(true, Ordering::Relaxed);
            assert_eq!(taken, 0);
        });
    }

    #[tokio::test]
    async fn a_socket_that_was_left_behind_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let here = endpoint(dir.path());
        here.make_folder().unwrap();
        drop(UnixListener::bind(&here.socket).unwrap());
        assert!(here.socket.exists(), "closing a socket leaves its file");
        let Claimed::Ours(claim) = here.claim().unwrap() else { panic!("nobody is there") };
        let _listener = claim.listen().unwrap();
        tokio::net::UnixStream::connect(&here.socket).await.unwrap();
    }

    #[test]
    fn a_folder_that_others_can_enter_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let here = endpoint(dir.path());
        let folder = here.socket.parent().unwrap();
        fs::create_dir(folder).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        for error in [here.claim().err().unwrap(), here.has_folder().unwrap_err()] {
            assert!(error.sentence.contains("others can enter it"), "{}", error.sentence);
        }
    }

    #[test]
    fn a_client_makes_no_folder_and_follows_no_link_to_one() {
        let dir = tempfile::tempdir().unwrap();
        let here = endpoint(dir.path());
        assert!(!here.has_folder().unwrap() && !here.folder().exists());
        here.make_folder().unwrap();
        assert!(here.has_folder().unwrap());
        std::os::unix::fs::symlink(here.folder(), dir.path().join("link")).unwrap();
        let through_a_link = Endpoint { socket: dir.path().join("link/broker.sock") };
        let error = through_a_link.has_folder().unwrap_err();
        assert!(error.sentence.ends_with("it is a link or a file, not a folder"), "{}", error.sentence);
    }
}
