//! Options of `broker lsp`.

use std::path::PathBuf;

/// Options of the command line.
pub(crate) struct Options {
    /// Default of the setting `servers`: whether the project's language servers are asked.
    pub(crate) servers: bool,
    /// The user's home folder, where the search for a workspace's root ends.
    pub(crate) home: Option<PathBuf>,
    /// The folder to serve if the editor names none.
    pub(crate) workspace: Option<PathBuf>,
}
