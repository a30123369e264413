//! Rules of ignore files, by directory.
//!
//! Order of precedence, as in the `ignore` crate, and so in ripgrep and ruff: `.brokerignore` goes before `.ignore` before
//! `.gitignore` before `.git/info/exclude` before the user's own excludes, and among files of one name
//! the deeper directory goes first. Git's files and the user's own excludes count inside a repository only,
//! and a repository inside a repository does not heed git's files of the outer one.

use std::{io, sync::Arc};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{WalkOptions, patterns::Patterns};
use crate::{ContentHash, Entry, FileKind, Listing, Skipped, View, WorkspacePath};

/// Names of ignore files, in their order of precedence. The last two are git's.
const IGNORE_FILES: [&str; 3] = [".brokerignore", ".ignore", ".gitignore"];
const KINDS: usize = IGNORE_FILES.len() + 1;
const FIRST_OF_GIT: usize = 2;

/// The rules that count in a directory: its own and those above it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Rules {
    /// Patterns that go before all files.
    patterns: Option<Arc<Patterns>>,
    /// `None` if ignore files are not asked for.
    global: Option<Arc<Gitignore>>,
    nearest: Option<Arc<Level>>,
    /// The first of [`IGNORE_FILES`] that counts.
    first: usize,
}

/// A directory that has ignore files or is a repository.
struct Level {
    directory: WorkspacePath,
    matchers: [Gitignore; KINDS],
    /// Hashes of the files that the matchers were made of.
    texts: [ContentHash; KINDS],
    is_repository: bool,
    /// Whether the directory or one above it is a repository.
    in_repository: bool,
    above: Option<Arc<Self>>,
}

impl Rules {
    pub(crate) fn new(options: &WalkOptions) -> Self {
        let text = options.global_excludes.as_deref().unwrap_or_default();
        let global = || Arc::new(matcher(text).unwrap_or_else(|_| Gitignore::empty()));
        let patterns = Patterns::new(options).map(Arc::new);
        Self { patterns, global: options.respect_ignore_files.then(global), nearest: None, first: 0 }
    }

    /// Git's own files only, as git heeds them.
    pub(super) fn of_git(global_excludes: Option<String>) -> Self {
        let options = WalkOptions { global_excludes, ..WalkOptions::default() };
        Self { first: FIRST_OF_GIT, ..Self::new(&options) }
    }

    /// The rules inside of `directory`. Ignore files that cannot be read are reported and count as empty.
    pub(crate) fn enter(
        &self,
        view: &dyn View,
        directory: &WorkspacePath,
        listing: &Listing,
        skipped: &mut Skipped,
    ) -> Self {
        let is_repository = has(listing, ".git") || has(listing, ".jj");
        if self.global.is_none() || !(is_repository || IGNORE_FILES.iter().any(|name| has(listing, name))) {
            return self.clone();
        }
        let mut load = |path: Option<WorkspacePath>| match path.map(|path| (read(view, &path), path)) {
            Some((Ok(read), _)) => read,
            Some((Err(error), path)) => {
                skipped.unreadable.insert(path, error.to_string());
                nothing()
            }
            None => nothing(),
        };
        let own = IGNORE_FILES.map(|name| load(has(listing, name).then(|| directory.child(name))));
        let exclude = load(git_exclude(view, directory, listing));
        let [brokerignore, ignore, gitignore] = own;
        let read = [brokerignore, ignore, gitignore, exclude];
        let level = Level {
            directory: directory.clone(),
            texts: read.each_ref().map(|(_, text)| *text),
            matchers: read.map(|(matcher, _)| matcher),
            is_repository,
            in_repository: is_repository || self.in_repository(),
            above: self.nearest.clone(),
        };
        Self { nearest: Some(Arc::new(level)), ..self.clone() }
    }

    /// Whether both, for the same directory and with the same global excludes, ignore the same paths.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let (mut own, mut others) = (&self.nearest, &other.nearest);
        loop {
            match (own, others) {
                (None, None) => return true,
                (Some(a), Some(b)) if Arc::ptr_eq(a, b) => return true,
                (Some(a), Some(b)) if a.says_same(b) => (own, others) = (&a.above, &b.above),
                _ => return false,
            }
        }
    }

    fn in_repository(&self) -> bool {
        self.nearest.as_ref().is_some_and(|level| level.in_repository)
    }

    /// Whether the entry `path` of the directory that these rules are for is ignored.
    pub(super) fn ignore(&self, path: &WorkspacePath, is_directory: bool) -> bool {
        self.verdict(path, is_directory).unwrap_or(false)
    }

    /// `Some(true)`: ignored, `Some(false)`: named as what is not ignored.
    pub(super) fn verdict(&self, path: &WorkspacePath, is_directory: bool) -> Option<bool> {
        if self.patterns.as_ref().is_some_and(|it| it.leave_out(path, is_directory)) {
            return Some(true);
        }
        let mut verdicts = [None; KINDS];
        let in_repository = self.in_repository();
        let mut heard = if in_repository { KINDS } else { FIRST_OF_GIT };
        let levels = std::iter::successors(self.nearest.as_deref(), |level| level.above.as_deref());
        for level in levels {
            let relative = path.strip_prefix(&level.directory).unwrap_or(path.as_str());
            for (verdict, matcher) in verdicts.iter_mut().zip(&level.matchers).take(heard).skip(self.first) {
                *verdict = verdict.or_else(|| judge(matcher, relative, is_directory));
            }
            if level.is_repository {
                heard = FIRST_OF_GIT;
            }
        }
        let global = self.global.as_deref().filter(|_| in_repository);
        let global = || judge(global?, path.as_str(), is_directory);
        verdicts.into_iter().flatten().next().or_else(global)
    }
}

impl Level {
    fn says_same(&self, other: &Self) -> bool {
        self.directory == other.directory
            && self.texts == other.texts
            && self.is_repository == other.is_repository
    }
}

/// `Some(true)`: ignored, `Some(false)`: included in spite of what others say.
fn judge(matcher: &Gitignore, path: &str, is_directory: bool) -> Option<bool> {
    match matcher.matched(path, is_directory) {
        ignore::Match::None => None,
        ignore::Match::Ignore(_) => Some(true),
        ignore::Match::Whitelist(_) => Some(false),
    }
}

/// The entries of a directory by whose being there its rules may differ from those above it.
pub(crate) fn marks(listing: &Listing) -> Vec<Entry> {
    let is_mark =
        |entry: &&Entry| matches!(&*entry.name, ".git" | ".jj") || IGNORE_FILES.contains(&&*entry.name);
    listing.entries.iter().filter(is_mark).cloned().collect()
}

fn has(listing: &Listing, name: &str) -> bool {
    kind(listing, name).is_some_and(|it| it != FileKind::Directory || name == ".git" || name == ".jj")
}

fn kind(listing: &Listing, name: &str) -> Option<FileKind> {
    let index = listing.entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok()?;
    Some(listing.entries[index].kind)
}

fn read(view: &dyn View, path: &WorkspacePath) -> io::Result<(Gitignore, ContentHash)> {
    match view.open(path) {
        Ok(bytes) => Ok((matcher(&String::from_utf8_lossy(&bytes))?, ContentHash::of(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(nothing()),
        Err(error) => Err(error),
    }
}

/// An ignore file without a pattern, or none.
fn nothing() -> (Gitignore, ContentHash) {
    (Gitignore::empty(), ContentHash::of(b""))
}

/// Patterns are matched against paths as seen from the directory that they stand in, so they need no root.
fn matcher(text: &str) -> io::Result<Gitignore> {
    matcher_of_lines(text.strip_prefix('\u{feff}').unwrap_or(text).lines())
}

pub(super) fn matcher_of_lines<'l>(lines: impl Iterator<Item = &'l str>) -> io::Result<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    for line in lines {
        // A pattern that is none matches nothing, as in git.
        let _ = builder.add_line(None, line);
    }
    builder.build().map_err(io::Error::other)
}

/// The excludes of the repository in `directory`, which a linked worktree shares with the main one.
fn git_exclude(view: &dyn View, directory: &WorkspacePath, listing: &Listing) -> Option<WorkspacePath> {
    let git = directory.child(".git");
    let common = match kind(listing, ".git")? {
        FileKind::File => common_directory(view, directory, &git)?,
        _ => git,
    };
    Some(common.child("info").child("exclude"))
}

/// Returns git's common directory for a `.git` file. One outside of this workspace, as is usual, is not read.
fn common_directory(
    view: &dyn View,
    directory: &WorkspacePath,
    git_file: &WorkspacePath,
) -> Option<WorkspacePath> {
    let own = directory.join(first_line(view, git_file)?.strip_prefix("gitdir: ")?).ok()?;
    own.join(&first_line(view, &own.child("commondir"))?).ok()
}

fn first_line(view: &dyn View, path: &WorkspacePath) -> Option<String> {
    let bytes = view.open(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).lines().next()?.to_owned())
}
