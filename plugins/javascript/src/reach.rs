//! Reach of deno's walk: `include` and `exclude` of the configuration, and dependencies. Leaves out `.gitignore` (the host
//! decides which files exist) and files that the user named.

use std::path::{Path, PathBuf};

use deno_config::deno_json::ToInvalidConfigError;
use deno_config::glob::{FilePatterns, PathGlobMatch, PathKind, PathOrPattern, PathOrPatternSet};
use deno_config::workspace::WorkspaceDirectory;

/// Whether the way from `named`, a folder, to `file` leads through dependencies.
pub(crate) fn is_dependency(file: &Path, named: &Path) -> bool {
    let below = file.strip_prefix(named).unwrap_or(file);
    below.parent().is_some_and(|it| it.components().any(|it| it.as_os_str() == "node_modules"))
}

/// Patterns of the configuration for the files in and below `named`, a folder.
pub(crate) struct Patterns {
    parts: Vec<FilePatterns>,
    vendored: Option<PathBuf>,
}

impl Patterns {
    pub(crate) fn new(
        config: &WorkspaceDirectory,
        named: &Path,
        root: &Path,
    ) -> Result<Self, ToInvalidConfigError> {
        let mut asked = FilePatterns::new_with_base(named.to_path_buf());
        if named != root && named.starts_with(config.dir_path()) {
            // A folder that is named takes the place of `include`, as with deno.
            asked.include = Some(PathOrPatternSet::new(vec![PathOrPattern::Path(named.to_path_buf())]));
        }
        let mut files = config.to_lint_config(asked)?.files;
        named.clone_into(&mut files.base); // not where the configuration is, if the user chose one for all
        // Patterns that exclude the named folder as a whole do not count.
        files.exclude.inner_mut().retain(|it| it.is_negated() || !leaves_out(it, named));
        let vendored = config.workspace.vendor_dir_path().filter(|it| *it != named).cloned();
        Ok(Self { parts: files.split_by_base(), vendored })
    }

    /// Whether deno's walks, one for each part, lead to `file`. The first that enters a folder decides for all
    /// files in it: the others find it visited.
    pub(crate) fn reach(&self, file: &Path) -> bool {
        let is_vendored = self.vendored.as_ref().is_some_and(|it| file.starts_with(it));
        let takes = |part: &FilePatterns| part.matches_path(file, PathKind::File);
        let is_named = |part: &&FilePatterns| part.base == file && takes(part);
        let enters = |part: &&FilePatterns| file.parent().is_some_and(|it| enters(part, it));
        !is_vendored
            && (self.parts.iter().any(|it| is_named(&it))
                || self.parts.iter().find(enters).is_some_and(takes))
    }
}

fn leaves_out(exclude: &PathOrPattern, named: &Path) -> bool {
    exclude.matches_path(named) == PathGlobMatch::Matched
}

/// Whether the walk from the part's base leads into `dir`.
fn enters(part: &FilePatterns, dir: &Path) -> bool {
    let mut way = dir.ancestors().take_while(|it| it.starts_with(&part.base));
    dir.starts_with(&part.base) && way.all(|it| part.matches_path(it, PathKind::Directory))
}
