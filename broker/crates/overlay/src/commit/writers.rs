//! Checks whether some program has a file open for writing: its writes into a file that was replaced meanwhile would
//! be lost with that.
//!
//! Uses a read lease on Linux, which is granted only for a file that no program has open for writing, and given back
//! at once. On other systems, on file systems without leases or on a network, and for files of other users nothing
//! can be learned, and the answer is no; there the stamps and hashes of the replaced file have to do.

use std::fs::File;

#[cfg(target_os = "linux")]
use crate::disk::is_local;

/// `file` must be open for reading only. Waits up to 127 ms for a writer to end.
#[cfg(target_os = "linux")]
pub(super) fn is_open_for_writing(file: &File) -> bool {
    lasts(|| has_writer(file), std::thread::sleep)
}

/// Whether `has_writer` is still so after 127 ms. A process that any program just started has
/// all files of that program open until it loads its own, so a writer may be seen that writes nothing.
#[cfg(target_os = "linux")]
fn lasts(has_writer: impl Fn() -> bool, wait: impl Fn(std::time::Duration)) -> bool {
    let pauses = [1, 2, 4, 8, 16, 32, 64].map(std::time::Duration::from_millis);
    has_writer()
        && pauses.into_iter().all(|it| {
            wait(it);
            has_writer()
        })
}

#[cfg(target_os = "linux")]
fn has_writer(file: &File) -> bool {
    use std::{io, os::fd::AsRawFd as _};

    /// Missing in `libc` for most targets; the same number on all that Rust's standard library knows.
    const F_SETSIG: libc::c_int = 10;

    let set = |command, value: libc::c_int| {
        // SAFETY: with these commands `fcntl` takes two numbers and touches no memory of this process, and
        // the descriptor is open as long as `file` is borrowed.
        #[expect(unsafe_code, reason = "see above")]
        unsafe {
            libc::fcntl(file.as_raw_fd(), command, value)
        }
    };
    // A program that opens the file while the lease is held causes a signal to this process; the one that is
    // sent otherwise would end it, this one is ignored by default.
    if set(F_SETSIG, libc::SIGURG) == -1 {
        return false;
    }
    if set(libc::F_SETLEASE, libc::F_RDLCK) == -1 {
        let is_refused = io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock;
        // NFS and SMB refuse it whenever the server has not delegated the file to this machine, with the same error.
        return is_refused && rustix::fs::fstatfs(file).is_ok_and(|it| is_local(it.f_type));
    }
    set(libc::F_SETLEASE, libc::F_UNLCK);
    false
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_open_for_writing(_: &File) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_ends_is_none() {
        for (looks, expected) in [(0, false), (1, false), (7, false), (8, true), (100, true)] {
            let left = std::cell::Cell::<u32>::new(looks);
            let has_writer = || left.replace(left.get().saturating_sub(1)) > 0;
            assert_eq!(lasts(has_writer, |_| ()), expected, "{looks}");
        }
    }

    #[test]
    fn a_refusal_counts_where_only_a_writer_causes_it() {
        let (nfs, smb, fail_point) = (0x6969, 0xFE53_4D42_u32, 0x6573_5546);
        for kind in [nfs, smb, fail_point] {
            assert!(!is_local(rustix::fs::FsWord::from(kind)), "{kind:x}");
        }
        let file = tempfile::tempfile().unwrap();
        let kind = rustix::fs::fstatfs(&file).unwrap().f_type;
        assert!(is_local(0xEF53), "ext4");
        assert!(is_local(kind) || !is_open_for_writing(&file));
    }
}
