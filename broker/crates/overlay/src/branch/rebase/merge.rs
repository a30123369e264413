//! Three-way merge of the contents of a path.

use bytes::Bytes;
use diffy::{ConflictStyle, IncompleteHunkStyle, MergeOptions};

use super::{ConflictHunk, ConflictKind, SyntaxMerge, hunks::conflict_hunks};
use crate::{
    Origin, WorkspacePath,
    branch::{lines::are_too_different, tree::Node},
};

/// Merge result of a path that may have changed on both sides.
pub(in crate::branch) enum Outcome {
    Ours,
    Theirs,
    /// Merge of both sides without a conflict.
    File {
        bytes: Bytes,
        executable: bool,
        /// Whether a merge by lines failed.
        by_syntax: bool,
    },
    Conflict {
        kind: ConflictKind,
        /// A file with both, where both are text.
        marked: Option<Node>,
        hunks: Vec<ConflictHunk>,
    },
}

/// Merges `[ancestor, ours, theirs]` of a path.
pub(in crate::branch) fn merge(
    path: &WorkspacePath,
    [ancestor, ours, theirs]: [&Origin; 3],
    by_syntax: Option<SyntaxMerge>,
) -> Outcome {
    if ours == theirs || ours == ancestor {
        return Outcome::Theirs;
    }
    if theirs == ancestor {
        return Outcome::Ours;
    }
    match (ours, theirs) {
        (
            Origin::File { bytes: ours, executable: our_bit, .. },
            Origin::File { bytes: theirs, executable: their_bit, .. },
        ) => {
            let (old, old_bit) = match ancestor {
                Origin::File { bytes, executable, .. } => (Some(bytes), *executable),
                _ => (None, false),
            };
            let bit = merged_bit(old_bit, *our_bit, *their_bit);
            let merged = files(old, ours, theirs, bit);
            let texts = || Some([old.map_or(Some(""), |it| text(it))?, text(ours)?, text(theirs)?]);
            let by_syntax = || by_syntax?(path, texts()?);
            match merged {
                Outcome::Conflict { .. } => by_syntax().map_or(merged, |text| Outcome::File {
                    bytes: text.into(),
                    executable: bit,
                    by_syntax: true,
                }),
                merged => merged,
            }
        }
        _ => Outcome::Conflict { kind: kind(ours, theirs), marked: None, hunks: Vec::new() },
    }
}

/// The executable bit of a file that both sides have.
pub(super) fn merged_bit(old: bool, ours: bool, theirs: bool) -> bool {
    if ours == old { theirs } else { ours }
}

/// The kind of a conflict between what is not two files.
pub(super) fn kind(ours: &Origin, theirs: &Origin) -> ConflictKind {
    match (ours, theirs) {
        (Origin::Missing, _) => ConflictKind::DeletedHere,
        (_, Origin::Missing) => ConflictKind::DeletedThere,
        (Origin::Symlink(_), Origin::Symlink(_)) => ConflictKind::Content,
        _ => ConflictKind::TypeChanged,
    }
}

/// Merges both changes of a text by line; `None` where they touch the same lines, or a content is no text.
pub fn merge_texts(ancestor: &Bytes, ours: &Bytes, theirs: &Bytes) -> Option<Bytes> {
    match files(Some(ancestor), ours, theirs, false) {
        Outcome::File { bytes, .. } => Some(bytes),
        Outcome::Ours | Outcome::Theirs | Outcome::Conflict { .. } => None,
    }
}

fn files(old: Option<&Bytes>, ours: &Bytes, theirs: &Bytes, executable: bool) -> Outcome {
    if ours == theirs || old == Some(ours) {
        return Outcome::File { bytes: theirs.clone(), executable, by_syntax: false };
    }
    if old == Some(theirs) {
        return Outcome::File { bytes: ours.clone(), executable, by_syntax: false };
    }
    let ancestor = old.map_or(Some(""), |it| text(it));
    let (Some(ancestor), Some(ours), Some(theirs)) = (ancestor, text(ours), text(theirs)) else {
        return Outcome::Conflict { kind: ConflictKind::Binary, marked: None, hunks: Vec::new() };
    };
    if [ours, theirs].into_iter().any(|it| are_too_different(ancestor, it)) {
        return Outcome::Conflict { kind: ConflictKind::Content, marked: None, hunks: Vec::new() };
    }
    let mut options = MergeOptions::new();
    options.set_conflict_style(ConflictStyle::Merge).set_incomplete_hunk_style(IncompleteHunkStyle::Git);
    match options.merge(ancestor, ours, theirs) {
        Ok(text) => Outcome::File { bytes: text.into(), executable, by_syntax: false },
        Err(merged) => Outcome::Conflict {
            kind: if old.is_some() { ConflictKind::Content } else { ConflictKind::BothAdded },
            marked: Some(Node::file(merged.into(), executable)),
            hunks: conflict_hunks(ancestor, ours, theirs),
        },
    }
}

fn text(bytes: &Bytes) -> Option<&str> {
    str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
