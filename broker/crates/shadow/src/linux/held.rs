//! Memory that the kernel holds for processes without their having it mapped: files in memory, text in pipes and sockets, and what
//! System V keeps between processes.
//!
//! Each is counted once, however many processes have it open. What is on its way from one process to another inside of a socket is
//! open nowhere, and is not counted.

use std::{
    collections::BTreeMap,
    fs, io,
    os::{
        fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd, RawFd},
        unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    },
    path::{Path, PathBuf},
};

use rustix::process::{ForeignRawFd, Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::usage::unless_gone;

/// Bytes of a block, whatever the file system's are.
const BLOCK: u64 = 512;

/// Memory of files, pipes and sockets that some processes have open.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Bytes of files without a name (`memfd`), by device and number.
    files: BTreeMap<(u64, u64), u64>,
    /// Bytes in pipes, by their numbers.
    pipes: BTreeMap<u64, u64>,
    sockets: BTreeMap<u64, Text>,
}

/// Bytes of text in a socket.
#[derive(Debug, Default, Clone, Copy)]
struct Text {
    /// Charged to this socket: what it sent and was not yet read, or what it received, with the kernel's own part.
    charged: u64,
    /// To be read from it, whose sender may be gone.
    waiting: u64,
}

/// Kind of an open file of a process, by the link in `/proc`.
enum Kind {
    File,
    Pipe(u64),
    Socket(u64),
}

impl Held {
    /// Adds what a process has open.
    #[expect(clippy::disallowed_methods, reason = "the system's list of open files")]
    pub(super) fn add(&mut self, pid: Pid) -> io::Result<()> {
        let folder = PathBuf::from(format!("/proc/{}/fd", pid.as_raw_nonzero()));
        let mut process = None;
        // The open files of a process that may not be looked into are closed to this one: what it maps counts.
        let entries = match unless_gone(fs::read_dir(folder)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            entries => entries?,
        };
        for entry in entries.into_iter().flatten().flatten() {
            let number = entry.file_name().to_str().and_then(|it| it.parse().ok());
            let mut copy =
                || copy(process.get_or_insert_with(|| pidfd_open(pid, PidfdFlags::empty())), number?);
            match kind(&entry.path()) {
                Some(Kind::File) => self.add_file(&entry.path()),
                Some(Kind::Pipe(it)) if !self.pipes.contains_key(&it) => {
                    self.pipes.insert(it, copy().map_or(0, |it| in_pipe(it.as_fd())));
                }
                Some(Kind::Socket(it)) if !self.sockets.contains_key(&it) => {
                    self.sockets.insert(it, copy().map_or_else(Text::default, |it| in_socket(it.as_fd())));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_file(&mut self, link: &Path) {
        if let Ok(it) = fs::metadata(link) {
            self.files.insert((it.dev(), it.ino()), it.blocks() * BLOCK);
        }
    }

    /// Bytes of files, which may be mapped as well.
    pub(super) fn files(&self) -> u64 {
        self.files.values().sum()
    }

    /// Bytes of text. What was sent is charged to its sender while that is open; at least what waits to be read is there.
    pub(super) fn texts(&self) -> u64 {
        let charged: u64 = self.sockets.values().map(|it| it.charged).sum();
        let waiting = self.sockets.values().map(|it| it.waiting).sum();
        self.pipes.values().sum::<u64>() + charged.max(waiting)
    }
}

fn kind(link: &Path) -> Option<Kind> {
    let target = fs::read_link(link).ok()?;
    let name = target.as_os_str().as_bytes();
    if name.starts_with(b"/memfd:") {
        return Some(Kind::File);
    }
    let number = |prefix: &[u8]| {
        let rest = name.strip_prefix(prefix)?.strip_suffix(b"]")?;
        std::str::from_utf8(rest).ok()?.parse().ok()
    };
    number(b"pipe:[").map(Kind::Pipe).or_else(|| number(b"socket:[").map(Kind::Socket))
}

/// Duplicates an open file of a process into this one, for as long as it takes to ask about it.
fn copy(process: &rustix::io::Result<OwnedFd>, number: RawFd) -> Option<OwnedFd> {
    pidfd_getfd(process.as_ref().ok()?, ForeignRawFd::from(number), PidfdGetfdFlags::empty()).ok()
}

/// All that a pipe may hold if it holds something: a page may have one byte in it.
fn in_pipe(pipe: BorrowedFd<'_>) -> u64 {
    match rustix::io::ioctl_fionread(pipe) {
        Ok(waiting) if waiting > 0 => rustix::pipe::fcntl_getpipe_size(pipe).map_or(waiting, |it| it as u64),
        _ => 0,
    }
}

fn in_socket(socket: BorrowedFd<'_>) -> Text {
    Text { charged: charged(socket).unwrap_or(0), waiting: rustix::io::ioctl_fionread(socket).unwrap_or(0) }
}

/// Places in what the kernel says of a socket's memory (`SK_MEMINFO_*`).
const RECEIVED: usize = 0;
const SENT: usize = 2;
const QUEUED: usize = 5;
const PLACES: usize = 9;

fn charged(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut all = [0_u32; PLACES];
    let mut size = libc::socklen_t::try_from(size_of_val(&all)).map_err(io::Error::other)?;
    // SAFETY: the kernel writes no more than `size` bytes to the array, which is there until the call ends.
    #[expect(unsafe_code, reason = "see above")]
    let answer = unsafe {
        let to = all.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, to, &raw mut size)
    };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u64::from(all[RECEIVED]) + u64::from(all[SENT].max(all[QUEUED])))
}

/// Memory that System V's calls keep in this namespace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SystemV {
    /// Bytes of segments, which may be mapped as well.
    pub(super) segments: u64,
    /// Bytes of messages and semaphores.
    pub(super) others: u64,
}

/// Bytes that the kernel takes for a semaphore.
const SEMAPHORE: u64 = 64;

impl SystemV {
    /// Counts what `is_own` says of the processes that made it and used it last, and what has no such process.
    #[expect(clippy::disallowed_methods, reason = "the system's tables")]
    pub(super) fn look(is_own: impl Fn(&[Option<Pid>]) -> bool) -> io::Result<Self> {
        let table = |name: &str| unless_gone(fs::read_to_string(Path::new("/proc/sysvipc").join(name)));
        let sum = |name, bytes: &[&str], users: [&str; 2]| {
            io::Result::Ok(sum(&table(name)?.unwrap_or_default(), bytes, users, &is_own))
        };
        let semaphores = sum("sem", &["nsems"], ["", ""])? * SEMAPHORE;
        Ok(Self {
            segments: sum("shm", &["rss", "swap"], ["cpid", "lpid"])?,
            others: sum("msg", &["cbytes"], ["lspid", "lrpid"])? + semaphores,
        })
    }
}

/// The sum of columns, of the rows whose users are meant.
fn sum(table: &str, columns: &[&str], users: [&str; 2], is_own: impl Fn(&[Option<Pid>]) -> bool) -> u64 {
    let mut lines = table.lines().map(|it| it.split_whitespace().collect::<Vec<_>>());
    let Some(names) = lines.next() else { return 0 };
    let value = |row: &[&str], name: &str| -> Option<u64> {
        row.get(names.iter().position(|it| *it == name)?)?.parse().ok()
    };
    let pid = |row: &[&str], name| Pid::from_raw(i32::try_from(value(row, name)?).ok()?);
    let rows = lines.filter(|row| is_own(&users.map(|it| pid(row, it))));
    rows.map(|row| columns.iter().filter_map(|it| value(&row, it)).sum::<u64>()).sum()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn rows_of_the_tables_are_summed() {
        let table = "       key      shmid perms                  size  cpid  lpid nattch        rss       swap\n\
                              0          3   600              67108864    12    13      0   67108864       4096\n\
                              0          4   600                  8192    99     0      0       4096          0\n";
        let pid = Pid::from_raw;
        let of = |own: i32| sum(table, &["rss", "swap"], ["cpid", "lpid"], |it| it.contains(&pid(own)));
        assert_eq!((of(12), of(13), of(99), of(7)), (67_112_960, 67_112_960, 4096, 0));
        assert_eq!(sum(table, &["none"], ["", ""], |it| it == [None, None]), 0);
        assert_eq!(sum("", &["rss"], ["cpid", "lpid"], |_| true), 0);
    }

    #[test]
    fn text_that_waits_is_counted_once() {
        let (mut sender, receiver) = std::os::unix::net::UnixStream::pair().unwrap();
        sender.write_all(&[0; 50_000]).unwrap();
        let (_reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"x").unwrap();
        let size = rustix::pipe::fcntl_getpipe_size(&writer).unwrap() as u64;
        let text = |it: &std::os::unix::net::UnixStream| in_socket(it.as_fd());
        assert!(text(&sender).charged >= 50_000 && text(&sender).waiting == 0);
        assert!(text(&receiver).charged == 0 && text(&receiver).waiting == 50_000);
        assert_eq!(in_pipe(writer.as_fd()), size);
        let mut held = Held::default();
        held.sockets.extend([(1, text(&sender)), (2, text(&receiver))]);
        assert!((50_000..100_000).contains(&held.texts()));
        drop(sender);
        held.sockets.clear();
        held.sockets.insert(2, text(&receiver));
        assert_eq!(held.texts(), 50_000, "though its sender is gone");
    }
}
