//! What the command line says of a session.

use std::path::PathBuf;

/// What the command line says of a session.
pub(crate) struct Options {
    /// Whether the project's language servers are asked, whatever the editor sets.
    pub(crate) servers: bool,
    pub(crate) home: Option<PathBuf>,
    /// The folder of an editor that names none.
    pub(crate) workspace: Option<PathBuf>,
}
