//! Whether some program has a file open for writing: what it writes into a file that was replaced meanwhile
//! would be lost with it.
//!
//! Found out on Linux by a read lease, which is granted only for a file that no program has open for writing, and
//! given back at once. On other systems, on file systems without leases and for files of other users nothing
//! can be learned, and the answer is no; there the stamps and hashes of what was replaced have to do.

use std::fs::File;

/// `file` must be open for reading only.
#[cfg(target_os = "linux")]
pub(super) fn is_open_for_writing(file: &File) -> bool {
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
        return io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock;
    }
    set(libc::F_SETLEASE, libc::F_UNLCK);
    false
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_open_for_writing(_: &File) -> bool {
    false
}
