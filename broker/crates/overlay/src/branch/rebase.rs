//! Moving a branch onto what its base or parent has become.
//!
//! Texts that both sides changed are merged line by line, as git does, unless they are large and have so
//! little in common that it would take too long. A caller may give a function that merges what that cannot.

mod as_touched;
mod hunks;
pub(super) mod merge;
mod merged;
mod onto_base;
mod onto_parent;
mod resolution;

pub use self::{
    hunks::{ConflictHunk, marked_lines},
    merge::merge_texts,
    merged::Merged,
    resolution::{Resolution, Side, UnknownSide},
};

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use super::{Branch, EditError, Revision, Snapshot, State, origin};
use crate::WorkspacePath;

/// The new base of a branch.
#[derive(Clone, Copy)]
pub enum RebaseOnto<'a> {
    /// The base as it is now. A branch that was forked from a branch is better moved onto that after it.
    Base,
    /// A newer snapshot of the parent that the branch was forked from.
    Parent(&'a Snapshot),
}

/// Behaviour where both sides changed the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing is changed, and the conflicts are the error.
    Refuse,
    /// The branch's side stays, in a text at the places that both sides changed. Refused where that would remove what came into a
    /// directory in whose place the branch has something else.
    KeepOurs,
    /// Texts get git's conflict markers, `ours` being the branch. What is no text stays as with `KeepOurs`.
    Markers,
}

/// Merges `[ancestor, ours, theirs]` of a file by its syntax; `None` if the changes do not go together.
pub type SyntaxMerge = fn(&WorkspacePath, [&str; 3]) -> Option<String>;

/// Treatment of what both sides changed.
#[derive(Debug, Clone, Copy)]
pub struct MergeOptions<'a> {
    pub on_conflict: OnConflict,
    /// Asked where a merge by lines fails.
    pub by_syntax: Option<SyntaxMerge>,
    /// Decisions about conflicts, by path.
    pub resolutions: Option<&'a BTreeMap<WorkspacePath, Resolution>>,
}

impl From<OnConflict> for MergeOptions<'_> {
    fn from(on_conflict: OnConflict) -> Self {
        Self { on_conflict, by_syntax: None, resolutions: None }
    }
}

/// A path at which both sides changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub path: WorkspacePath,
    pub kind: ConflictKind,
    /// The places in a text that both sides changed; none where it is no text, or too different to be compared.
    pub hunks: Vec<ConflictHunk>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// A rebase resolves it by itself. Only [`Branch::conflicts`] tells of these.
    Mergeable,
    /// Different changes of the same lines of a text, or of a link's text.
    Content,
    /// Different changes of what is not UTF-8 text.
    Binary,
    BothAdded,
    /// The branch deleted, or moved, what the other side changed.
    DeletedHere,
    /// The branch changed what the other side deleted.
    DeletedThere,
    /// A file and a directory, or the like.
    TypeChanged,
}

/// Places of one conflict that are described.
const SHOWN_HUNKS: usize = 8;

impl Conflict {
    /// Describes it, with the lines of both sides where it is one of texts.
    pub fn describe(&self) -> String {
        let mut text = self.to_string();
        self.hunks.iter().take(SHOWN_HUNKS).for_each(|it| text.push_str(&format!("\n{it}")));
        if self.hunks.len() > SHOWN_HUNKS {
            text.push_str(&format!("\n… {} more places", self.hunks.len() - SHOWN_HUNKS));
        }
        text
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.kind {
            ConflictKind::Mergeable => "was changed since; a rebase brings both together",
            ConflictKind::Content => "was changed on both sides, at the same place",
            ConflictKind::Binary => "was changed on both sides, and is no text",
            ConflictKind::BothAdded => "was added on both sides",
            ConflictKind::DeletedHere => "was deleted here and changed there",
            ConflictKind::DeletedThere => "was changed here and deleted there",
            ConflictKind::TypeChanged => "became something of another kind",
        };
        write!(f, "`{}` {why}", self.path)
    }
}

/// Result of a rebase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebased {
    /// The new revision; unchanged if there was nothing to do.
    pub revision: Revision,
    /// Files that have the changes of both sides now.
    pub merged: Vec<WorkspacePath>,
    /// Files of `merged` that were merged by syntax, since a merge by lines failed.
    pub merged_by_syntax: Vec<WorkspacePath>,
    /// Edits that are gone because the base has the same now, or because they had been taken back.
    pub dropped: Vec<WorkspacePath>,
    /// Conflicts that were resolved according to [`OnConflict`].
    pub conflicts: Vec<Conflict>,
}

/// Error of a rebase that was refused. The branch is then as it was.
#[derive(Debug, thiserror::Error)]
pub enum RebaseError {
    #[error("both sides changed {} of the same paths, the first is `{}`", .0.len(), .0[0].path)]
    Conflicts(Vec<Conflict>),
    /// A resolution does not fit the conflict; `places` of a text are decided one by one, or all at once.
    #[error("`{path}` has {}, {} given", count(*.places, "conflict"), count(*.given, "decision"))]
    OtherPlaces { path: WorkspacePath, given: usize, places: usize },
    /// A resolution by lines of what has none: no text, or deleted on one side.
    #[error("the conflict of `{path}` has no lines: one of `ours` and `theirs` decides it")]
    NoLines { path: WorkspacePath },
    /// Resolutions of paths that are in no conflict, and the paths that are.
    #[error("{}", no_conflict(paths, conflicts))]
    NoConflict { paths: Vec<WorkspacePath>, conflicts: Vec<WorkspacePath> },
    #[error("the snapshot is not of a branch of the same base")]
    OtherBase,
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Result of a rebase before it is applied.
struct Draft {
    state: State,
    merged: Vec<WorkspacePath>,
    merged_by_syntax: Vec<WorkspacePath>,
    dropped: Vec<WorkspacePath>,
    conflicts: Vec<Conflict>,
    /// Conflicts that only a resolution decides.
    undecidable: Vec<Conflict>,
    /// Paths whose resolution was used.
    resolved: BTreeSet<WorkspacePath>,
}

fn no_conflict(paths: &[WorkspacePath], conflicts: &[WorkspacePath]) -> String {
    let named = |all: &[WorkspacePath]| {
        let shown: Vec<_> = all.iter().take(SHOWN_HUNKS).map(|it| format!("`{it}`")).collect();
        let more = if all.len() > SHOWN_HUNKS { ", …" } else { "" };
        shown.join(", ") + more
    };
    let no = if paths.len() == 1 { "is in no conflict" } else { "are in no conflict" };
    match conflicts.len() {
        0 => format!("{} {no}", named(paths)),
        1 => format!("{} {no}; {} is", named(paths), named(conflicts)),
        _ => format!("{} {no}; {} are", named(paths), named(conflicts)),
    }
}

fn count(number: usize, of: &str) -> String {
    if number == 1 { format!("1 {of}") } else { format!("{number} {of}s") }
}

impl Draft {
    fn new(state: State) -> Self {
        Self {
            state,
            merged: Vec::new(),
            merged_by_syntax: Vec::new(),
            dropped: Vec::new(),
            conflicts: Vec::new(),
            undecidable: Vec::new(),
            resolved: BTreeSet::new(),
        }
    }

    /// Fails if a resolution is of a path that is in no conflict.
    fn expect_all_used(&self, options: MergeOptions<'_>) -> Result<(), RebaseError> {
        let asked = options.resolutions.into_iter().flat_map(BTreeMap::keys);
        let paths: Vec<_> = asked.filter(|it| !self.resolved.contains(*it)).cloned().collect();
        if paths.is_empty() {
            return Ok(());
        }
        let open = self.conflicts.iter().map(|it| it.path.clone());
        Err(RebaseError::NoConflict { paths, conflicts: open.chain(self.resolved.iter().cloned()).collect() })
    }

    fn add_merged(&mut self, path: &WorkspacePath, by_syntax: bool) {
        self.merged.push(path.clone());
        if by_syntax {
            self.merged_by_syntax.push(path.clone());
        }
    }
}

impl Branch {
    /// Brings what the base or the parent changed into the branch, as one revision.
    ///
    /// Onto the base, each touched path whose base is not as it was at the first touch is merged, and the
    /// base of now becomes its origin. Onto the parent, what the parent changed since the fork point is
    /// taken over, and `onto` becomes the fork point.
    pub fn rebase<'o>(
        &mut self,
        onto: RebaseOnto<'_>,
        options: impl Into<MergeOptions<'o>>,
    ) -> Result<Rebased, RebaseError> {
        let options = options.into();
        let snapshot = self.snapshot();
        let (draft, what, is_done) = match onto {
            RebaseOnto::Base => {
                let draft = onto_base::rebase(&snapshot, options)?;
                let origins = &snapshot.state().origins;
                let is_done = origin::difference(origins, &draft.state.origins).is_empty();
                (draft, "rebase onto the base", is_done)
            }
            RebaseOnto::Parent(parent) => {
                if !Arc::ptr_eq(&parent.tree().base, &snapshot.tree().base) {
                    return Err(RebaseError::OtherBase);
                }
                let is_done = Arc::ptr_eq(&parent.tree().root, &snapshot.state().fork.tree.root);
                let draft = onto_parent::rebase(&snapshot.fork_point(), &snapshot, parent, options)?;
                (draft, "rebase onto the parent", is_done)
            }
        };
        draft.expect_all_used(options)?;
        if options.on_conflict == OnConflict::Refuse && !draft.conflicts.is_empty() {
            return Err(RebaseError::Conflicts(draft.conflicts));
        }
        if !draft.undecidable.is_empty() {
            return Err(RebaseError::Conflicts(draft.undecidable));
        }
        let Draft { state, merged, merged_by_syntax, dropped, conflicts, .. } = draft;
        let revision = if is_done {
            self.revision()
        } else {
            let paths = Snapshot::new(state.clone(), self.revision()).changed_paths(&snapshot);
            self.record(state, what, paths)
        };
        Ok(Rebased { revision, merged, merged_by_syntax, dropped, conflicts })
    }

    /// The touched paths at which the base is not any more as it was, nor as the branch has it: what a
    /// commit would overwrite, and so refuses. Sorted. Of these, a rebase with `by_syntax` merges some.
    pub fn conflicts(&self, by_syntax: Option<SyntaxMerge>) -> Result<Vec<Conflict>, EditError> {
        onto_base::conflicts(&self.snapshot(), by_syntax)
    }
}

#[cfg(test)]
mod tests;
