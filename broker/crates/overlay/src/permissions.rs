//! Permissions of files and directories: not part of any view, but put back by commits.

/// Mode and owner of a file or directory on a Unix system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions {
    /// Permission bits, without the kind of the file.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
}
