//! Selection of the files to check.

use std::collections::BTreeSet;

use config::{Configs, FileSettings, Glob};
use lint::Unit;
use overlay::{FileKind, KeptWalk, Skipped, View, WalkOptions, WorkspacePath, kept_walk, walk};

/// The files to check, sorted by path, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    pub units: Vec<Unit>,
    pub skipped: Skipped,
    /// Units that are checked only because they use other ones.
    pub dependents: BTreeSet<WorkspacePath>,
    /// Whether `units` are all files of the workspace.
    pub is_whole: bool,
}

/// Files to check: a list, or the result of a walk.
#[derive(Clone)]
pub enum Wanted {
    Files(Files),
    /// All that a walk finds.
    Walk {
        paths: Vec<WorkspacePath>,
        options: WalkOptions,
        /// Filter on the files found: only these are checked; no filter if empty.
        only: BTreeSet<WorkspacePath>,
        /// Whether the file settings of the view's configuration apply.
        configured: bool,
    },
}

impl Wanted {
    pub fn files(&self, view: &dyn View) -> Files {
        match self {
            Self::Files(files) => files.clone(),
            Self::Walk { paths, options, only, configured } => {
                let options = if *configured { with_file_settings(options, view) } else { options.clone() };
                let mut files = collect(view, paths, &options);
                files.units.retain(|it| only.is_empty() || only.contains(&it.path));
                files.is_whole &= only.is_empty();
                files
            }
        }
    }
}

/// Returns the options with the file settings of the view's configuration. Errors in it are reported by the choice of linters.
pub fn with_file_settings(options: &WalkOptions, view: &dyn View) -> WalkOptions {
    let mut options = options.clone();
    let FileSettings { exclude, include, force_exclude } =
        Configs::new(view).workspace().map(|it| it.files()).unwrap_or_default();
    let lines = |globs: &[Glob]| globs.iter().map(|it| it.as_str().to_owned()).collect::<Vec<_>>();
    // The caller's options come later, and take precedence.
    options.excludes.splice(..0, lines(&exclude));
    options.includes.splice(..0, lines(&include));
    options.force_excludes |= force_exclude;
    options
}

/// The files at and below `paths`, which the user named.
pub fn collect(view: &dyn View, paths: &[WorkspacePath], options: &WalkOptions) -> Files {
    let named: BTreeSet<_> = options.visited_roots(paths).cloned().collect();
    let root = WorkspacePath::root();
    // Linters check a named file even if their own configuration excludes it. With the root as what is named, they leave it out.
    let as_named = |it: &WorkspacePath| if options.force_excludes { root.clone() } else { it.clone() };
    if named.iter().all(|it| is_file(view, it)) {
        let units = named.into_iter().map(|path| Unit { named: as_named(&path), path }).collect();
        return Files { units, ..Files::default() };
    }
    if paths == [root.clone()]
        && let Some(kept) = kept_walk(view, options)
    {
        return Files::of_walk(&kept);
    }
    let mut walk = walk(view, paths, options);
    let unit = |path| Unit { named: as_named(nearest(&named, &path).unwrap_or(&root)), path };
    let units = walk.by_ref().map(unit).collect();
    let is_whole = named.contains(&root);
    Files { units, skipped: walk.into_skipped(), is_whole, ..Files::default() }
}

/// The nearest of `named` that is `path` or holds it. `None` if it was reached through a link.
fn nearest<'n>(named: &'n BTreeSet<WorkspacePath>, path: &WorkspacePath) -> Option<&'n WorkspacePath> {
    // Texts and not paths: there may be 100,000 of them.
    let mut above = std::iter::successors(Some(path.as_str()), |it| {
        let (dir, _) = it.rsplit_once('/').unwrap_or_default();
        (!it.is_empty()).then_some(dir)
    });
    above.find_map(|it| named.get(it))
}

/// Whether the path is a file, so that no walk is needed, which would list the directories on the way.
pub fn is_file(view: &dyn View, path: &WorkspacePath) -> bool {
    view.metadata(path).is_ok_and(|it| it.kind == FileKind::File)
}

impl Files {
    pub(crate) fn of_walk(walk: &KeptWalk) -> Self {
        let root = WorkspacePath::root();
        let unit = |path: &WorkspacePath| Unit { named: root.clone(), path: path.clone() };
        let units = walk.files().map(unit).collect();
        Self { units, skipped: walk.skipped().clone(), is_whole: true, ..Self::default() }
    }

    /// Files that the user named, sorted.
    pub fn of_named(paths: impl IntoIterator<Item = WorkspacePath>) -> Self {
        let units = paths.into_iter().map(|path| Unit { named: path.clone(), path }).collect();
        Self { units, ..Self::default() }
    }
}
