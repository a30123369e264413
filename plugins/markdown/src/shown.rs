//! Links that hold where a symbolic link shows their file: of `packages/a/README.md`, which `README.md` leads to, hosts show
//! the text in the root, and its links lead on from there.
//!
//! Symbolic links are looked for in the folders near the root, and once for all files.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

/// Depth below the root up to which symbolic links are looked for.
const DEEPEST: usize = 3;

/// Limit on the folders that are looked into.
const MAX_FOLDERS: usize = 400;

/// The folders that show a file, by its path.
#[derive(Default)]
pub(crate) struct Shown(Option<FxHashMap<PathBuf, Vec<PathBuf>>>);

impl Shown {
    /// Whether a broken link of `file` is right in a folder where the file is shown.
    pub(crate) fn holds(&mut self, file: &Path, link: &str, root: &Path) -> bool {
        let path = link.split(['#', '?']).next().unwrap_or_default();
        let folders = self.0.get_or_insert_with(|| find(root)).get(file);
        folders.into_iter().flatten().any(|it| !path.is_empty() && it.join(path).exists())
    }
}

/// All Markdown that symbolic links lead to.
#[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
fn find(root: &Path) -> FxHashMap<PathBuf, Vec<PathBuf>> {
    let mut found: FxHashMap<PathBuf, Vec<PathBuf>> = FxHashMap::default();
    let mut open = VecDeque::from([(root.to_path_buf(), 0)]);
    let mut left = MAX_FOLDERS;
    while let Some((folder, depth)) = open.pop_front().filter(|_| left > 0) {
        left -= 1;
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut entries: Vec<_> = entries.filter_map(|it| Some((it.path(), it.file_type().ok()?))).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (path, kind) in entries {
            if kind.is_dir() && depth < DEEPEST && is_looked_into(&path) {
                open.push_back((path, depth + 1));
            } else if kind.is_symlink()
                && let Some(target) = target(&path)
            {
                found.entry(target).or_default().push(folder.clone());
            }
        }
    }
    found
}

fn is_looked_into(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    !name.starts_with('.') && !matches!(name, "node_modules" | "target" | "vendor")
}

/// The file that a symbolic link to a document leads to.
fn target(link: &Path) -> Option<PathBuf> {
    let to = fs::read_link(link).ok()?;
    rumdl_lib::discovery::has_markdown_extension(&to)
        .then(|| rumdl_lib::workspace_index::normalize_relative_path(&link.with_file_name(to)))
}
