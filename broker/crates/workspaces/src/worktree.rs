//! Folders whose git repository lies elsewhere: linked worktrees and submodules.

use std::path::Path;

/// Warning after a command in such a folder.
pub const NOT_KEPT_ELSEWHERE: &str = "the repository lies outside of the workspace, so that what git writes (commits, staged files) is not kept; work in the repository's own folder for that";

/// Whether git's folder of the workspace at `root` lies outside of it.
pub fn is_repository_elsewhere(root: &Path) -> bool {
    root.join(".git").is_file()
}
