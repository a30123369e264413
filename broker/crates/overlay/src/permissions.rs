//! Who may do what with a file or directory: what no view tells of, and a commit has to put back.

/// As a Unix system has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions {
    /// Without the kind of the file.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
}
