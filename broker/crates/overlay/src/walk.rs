//! Selection of the files that a check visits when it is given directories.
//!
//! Everything is read through the view, so an ignore file that a branch edits counts as edited. What is
//! ignored here can still be read: ignore files decide what is visited, not what may be seen.

mod git;
mod kept;
mod patterns;
mod rules;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Bound,
};

pub use git::GitIgnores;
pub use kept::{KeptWalk, folder_walk, kept_walk};
pub(crate) use rules::{Rules, marks};

use self::patterns::Patterns;
use crate::{Entry, FileKind, Listing, Skipped, View, WorkspacePath};

/// Names that are never visited: version control's own, and the directory in which Broker places files given from elsewhere.
const NEVER_VISITED: [&str; 6] = [".git", ".hg", ".svn", ".jj", ".bzr", ".broker-given"];

/// Dependencies and caches, not visited by default: others wrote them, and they can be vast.
const DEPENDENCIES_AND_CACHES: [&str; 14] = [
    "node_modules",
    ".venv",
    "venv",
    "__pypackages__",
    "site-packages",
    "__pycache__",
    ".tox",
    ".nox",
    ".eggs",
    ".direnv",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".pytype",
];

/// Whether a directory of this name is passed over, unless it is asked for.
pub(crate) fn is_excluded_by_name(name: &str) -> bool {
    NEVER_VISITED.contains(&name) || DEPENDENCIES_AND_CACHES.contains(&name)
}

/// Kinds of names that are passed over without a rule in an ignore file.
#[derive(Clone, Copy)]
pub(crate) struct Excludes {
    dependencies: bool,
    hidden: bool,
}

/// Whether an entry found in a directory with these rules is passed over.
pub(crate) fn is_excluded(rules: &Rules, excludes: Excludes, path: &WorkspacePath, entry: &Entry) -> bool {
    let name = entry.name.as_str();
    // A link of such a name leads to the same kind of things; a file is a file like any other.
    let excluded_by_name = excludes.dependencies && entry.kind != FileKind::File;
    if NEVER_VISITED.contains(&name) || (excluded_by_name && DEPENDENCIES_AND_CACHES.contains(&name)) {
        return true;
    }
    let is_hidden = excludes.hidden && name.starts_with('.');
    rules.verdict(path, entry.kind == FileKind::Directory).unwrap_or(is_hidden)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WalkOptions {
    /// Whether `.ignore` and `.brokerignore` count, and inside a repository `.gitignore`,
    /// `.git/info/exclude` and `global_excludes`.
    pub respect_ignore_files: bool,
    /// Whether directories of dependencies and caches are passed over.
    pub default_excludes: bool,
    /// Whether names that begin with a dot are visited. If not, those still are that an ignore file names with `!`.
    pub hidden: bool,
    /// The text of the user's own gitignore, which lies outside of any view.
    pub global_excludes: Option<String>,
    /// Lines as in a `.gitignore` at the root, which go before all ignore files.
    pub excludes: Vec<String>,
    /// Patterns like `excludes`: of the files that are found, only the matching ones are visited. All if there are none.
    pub includes: Vec<String>,
    /// Whether `excludes` count for roots as well.
    pub force_excludes: bool,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            respect_ignore_files: true,
            default_excludes: true,
            hidden: true,
            global_excludes: None,
            excludes: Vec::new(),
            includes: Vec::new(),
            force_excludes: false,
        }
    }
}

impl WalkOptions {
    pub(crate) fn excludes(&self) -> Excludes {
        Excludes { dependencies: self.default_excludes, hidden: !self.hidden }
    }

    /// The roots that are visited.
    pub fn visited_roots<'r>(&self, roots: &'r [WorkspacePath]) -> impl Iterator<Item = &'r WorkspacePath> {
        let patterns = self.force_excludes.then(|| Patterns::new(self)).flatten();
        roots.iter().filter(move |root| patterns.as_ref().is_none_or(|it| !it.excludes_root(root)))
    }
}

/// The files at and below `roots`, sorted by path, each once.
///
/// - A root that is named is visited even where something excludes it. Excludes apply to what is found
///   below it; those of directories above it count, too.
/// - Hidden files are visited, unless the options say otherwise.
/// - A link to a directory is not followed, unless it is a root: then its files appear under their real
///   paths. A link to a file is visited like a file, as ruff does; one that leads nowhere or out of the
///   workspace is counted as skipped, since many a repository has some and nothing is wrong with it.
/// - A root that is not there, or neither file nor directory, is [`Skipped::unreadable`].
pub fn walk<'v>(view: &'v dyn View, roots: &[WorkspacePath], options: &WalkOptions) -> Walk<'v> {
    let mut walk = Walk {
        view,
        roots: BTreeMap::new(),
        rules: Rules::new(options),
        excludes: options.excludes(),
        pending: Vec::new(),
        skipped: Skipped::default(),
    };
    options.visited_roots(roots).for_each(|root| walk.add_root(root));
    walk.start();
    walk
}

/// An iterator over the files of a walk; see [`walk`].
pub struct Walk<'v> {
    view: &'v dyn View,
    /// The files and directories named by the caller.
    roots: BTreeMap<WorkspacePath, Target>,
    /// Rules at the workspace root.
    rules: Rules,
    excludes: Excludes,
    /// Steps to be visited; the next one last.
    pending: Vec<Step>,
    skipped: Skipped,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    File,
    Directory,
}

enum Step {
    File(WorkspacePath),
    Directory(Stop),
}

/// A directory to visit, with the rules that count for it.
struct Stop {
    path: WorkspacePath,
    rules: Rules,
    /// Whether the directory's files are wanted, or only the roots that lie below it.
    wanted: bool,
}

impl Iterator for Walk<'_> {
    type Item = WorkspacePath;

    fn next(&mut self) -> Option<WorkspacePath> {
        loop {
            match self.pending.pop()? {
                Step::File(path) => return Some(path),
                Step::Directory(stop) => _ = self.visit(stop),
            }
        }
    }
}

impl Walk<'_> {
    /// Returns the entries passed over so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    pub fn into_skipped(self) -> Skipped {
        self.skipped
    }

    fn add_root(&mut self, root: &WorkspacePath) {
        match self.find_root(root) {
            Ok(Some((path, target))) => {
                self.roots.insert(path, target);
            }
            Ok(None) => self.unreadable(root.clone(), &"not a regular file"),
            Err(error) => self.unreadable(root.clone(), &error),
        }
    }

    /// Resolves a root. A link to a file stays the link that was named.
    fn find_root(&self, root: &WorkspacePath) -> io::Result<Option<(WorkspacePath, Target)>> {
        let real = self.view.resolve(root)?;
        Ok(match self.view.metadata(&real)?.kind {
            FileKind::Directory => Some((real, Target::Directory)),
            FileKind::File | FileKind::Symlink => Some((self.view.resolve_parent(root)?, Target::File)),
            FileKind::Other => None,
        })
    }

    /// Roots are reached from the top, so that they come sorted and the rules above them count.
    fn start(&mut self) {
        let (path, rules) = (WorkspacePath::root(), self.rules.clone());
        let wanted = self.roots.contains_key(&path);
        self.pending.push(Step::Directory(Stop { path, rules, wanted }));
    }

    /// Gives the rules that count for what is there; `None` if nothing there is wanted.
    fn visit(&mut self, stop: Stop) -> Option<Rules> {
        let named = self.roots_below(&stop.path);
        let listing = self.list(&stop, &named)?;
        let rules = stop.rules.enter(self.view, &stop.path, &listing, &mut self.skipped);
        let here = Stop { rules, ..stop };
        let mut steps: Vec<_> = named.iter().map(|name| self.step_to_root(&here, name, &listing)).collect();
        if here.wanted {
            self.skipped.not_utf8 += listing.not_utf8;
            let found = listing.entries.iter().filter(|entry| !named.contains(&*entry.name));
            steps.extend(found.filter_map(|entry| self.step_to_found(&here, entry)));
        }
        // Nearly sorted already, which a stable sort makes use of.
        steps.sort_by(|a, b| b.order().cmp(a.order()));
        self.pending.extend(steps);
        Some(here.rules)
    }

    /// The names in `directory` that are roots or lead to one.
    fn roots_below(&self, directory: &WorkspacePath) -> BTreeSet<String> {
        if self.roots.len() == 1 && self.roots.contains_key(&WorkspacePath::root()) {
            return BTreeSet::new();
        }
        let prefix = if directory.is_root() { String::new() } else { format!("{directory}/") };
        let from = (Bound::Excluded(prefix.as_str()), Bound::Unbounded);
        let below =
            self.roots.range::<str, _>(from).map_while(|(root, _)| root.as_str().strip_prefix(&prefix));
        below.filter_map(|rest| rest.split('/').next()).map(str::to_owned).collect()
    }

    /// `None` if there is nothing to do here. A directory on the way is listed for its ignore files alone,
    /// and may well be closed.
    fn list(&mut self, stop: &Stop, named: &BTreeSet<String>) -> Option<Listing> {
        if !stop.wanted && named.is_empty() {
            return None;
        }
        match self.view.list(&stop.path) {
            Ok(listing) => Some(listing),
            Err(error) => {
                if stop.wanted {
                    self.unreadable(stop.path.clone(), &error);
                }
                Some(Listing::default())
            }
        }
    }

    /// The step to a root, or towards one, which nothing excludes.
    fn step_to_root(&self, here: &Stop, name: &str, listing: &Listing) -> Step {
        let path = here.path.child(name);
        let rules = here.rules.clone();
        match self.roots.get(&path) {
            Some(Target::File) => Step::File(path),
            Some(Target::Directory) => Step::Directory(Stop { path, rules, wanted: true }),
            None => {
                let is_listed = listing.entries.iter().any(|entry| entry.name == name);
                let entry = Entry { name: name.to_owned(), kind: FileKind::Directory };
                let wanted = here.wanted && is_listed && !self.is_excluded(here, &path, &entry);
                Step::Directory(Stop { path, rules, wanted })
            }
        }
    }

    /// The step to what was found in a directory that is wanted.
    fn step_to_found(&mut self, here: &Stop, entry: &Entry) -> Option<Step> {
        let path = here.path.child(&entry.name);
        if self.is_excluded(here, &path, entry) {
            return None;
        }
        match entry.kind {
            FileKind::File => Some(Step::File(path)),
            FileKind::Directory => {
                Some(Step::Directory(Stop { path, rules: here.rules.clone(), wanted: true }))
            }
            FileKind::Symlink => self.step_to_link(path),
            FileKind::Other => {
                self.skipped.special += 1;
                None
            }
        }
    }

    fn step_to_link(&mut self, path: WorkspacePath) -> Option<Step> {
        let target = self.view.resolve(&path).and_then(|target| self.view.metadata(&target));
        match target.map(|it| it.kind) {
            Ok(FileKind::Directory) => None,
            Ok(FileKind::Other) => {
                self.skipped.special += 1;
                None
            }
            Ok(FileKind::File | FileKind::Symlink) => Some(Step::File(path)),
            Err(_) => {
                self.skipped.broken_links += 1;
                None
            }
        }
    }

    fn is_excluded(&self, here: &Stop, path: &WorkspacePath, entry: &Entry) -> bool {
        is_excluded(&here.rules, self.excludes, path, entry)
    }

    fn unreadable(&mut self, path: WorkspacePath, reason: &dyn ToString) {
        self.skipped.unreadable.insert(path, reason.to_string());
    }
}

impl Step {
    /// Returns the sort key among siblings that brings the files of the whole walk into order: everything in the
    /// directory `a` stands behind `a/`, and so behind the file `a-b`.
    fn order(&self) -> impl Iterator<Item = u8> + '_ {
        let (path, slash) = match self {
            Self::File(path) => (path, None),
            Self::Directory(stop) => (&stop.path, Some(b'/')),
        };
        path.file_name().unwrap_or_default().bytes().chain(slash)
    }
}

#[cfg(test)]
mod tests;
