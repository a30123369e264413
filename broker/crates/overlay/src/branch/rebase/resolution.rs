//! Decisions about single conflicts.

use std::str::FromStr;

use bytes::Bytes;

use super::{
    Draft, MergeOptions, OnConflict, RebaseError,
    hunks::chosen,
    merge::{Outcome, merged_bit},
};
use crate::{Origin, WorkspacePath, branch::tree::Node};

/// A decision about the conflict of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// One side for all places that both sides changed.
    All(Side),
    /// One side for each place, in order.
    Each(Vec<Side>),
    /// The text of the file.
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The branch's lines.
    Ours,
    Theirs,
    /// The branch's lines, and the other side's below.
    Both,
    /// The lines before both changes.
    Base,
}

/// Each side by its name.
const SIDES: [(&str, Side); 4] =
    [("ours", Side::Ours), ("theirs", Side::Theirs), ("both", Side::Both), ("base", Side::Base)];

/// A text that names no side.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no side; expected `ours`, `theirs`, `both` or `base`")]
pub struct UnknownSide(String);

impl FromStr for Side {
    type Err = UnknownSide;

    fn from_str(text: &str) -> Result<Self, UnknownSide> {
        SIDES.iter().find(|it| it.0 == text).map(|it| it.1).ok_or_else(|| UnknownSide(text.to_owned()))
    }
}

/// Applies the decision about a path, if there is one, to the conflict of `[ancestor, ours, theirs]`.
pub(super) fn resolved(
    outcome: Outcome,
    path: &WorkspacePath,
    origins: [&Origin; 3],
    options: MergeOptions<'_>,
    draft: &mut Draft,
) -> Result<Outcome, RebaseError> {
    let Outcome::Conflict { hunks, .. } = &outcome else { return Ok(outcome) };
    let Some(resolution) = options.resolutions.and_then(|it| it.get(path)) else { return Ok(outcome) };
    draft.resolved.insert(path.clone());
    let places = hunks.len().max(1);
    let path = path.clone();
    let sides = match resolution {
        Resolution::Text(text) => return Ok(file(text.clone(), origins)),
        Resolution::All(side) => vec![*side; places],
        Resolution::Each(sides) if sides.len() == places => sides.clone(),
        Resolution::Each(sides) => return Err(RebaseError::OtherPlaces { path, given: sides.len(), places }),
    };
    let decided = if hunks.is_empty() { without_lines(&sides) } else { by_lines(&sides, origins) };
    decided.ok_or(RebaseError::NoLines { path })
}

/// The file that takes the place of the branch's in a conflict without a decision; `None` where the branch's stays.
pub(super) fn undecided(
    marked: Option<Node>,
    places: usize,
    origins: [&Origin; 3],
    on_conflict: OnConflict,
) -> Option<Node> {
    match on_conflict {
        OnConflict::Refuse => None,
        OnConflict::Markers => marked,
        // What only the other side changed is not in conflict.
        OnConflict::KeepOurs if places > 0 => match by_lines(&vec![Side::Ours; places], origins)? {
            Outcome::File { bytes, executable, .. } => Some(Node::file(bytes, executable)),
            _ => None,
        },
        OnConflict::KeepOurs => None,
    }
}

fn without_lines(sides: &[Side]) -> Option<Outcome> {
    match sides {
        [Side::Ours] => Some(Outcome::Ours),
        [Side::Theirs] => Some(Outcome::Theirs),
        _ => None,
    }
}

fn by_lines(sides: &[Side], origins: [&Origin; 3]) -> Option<Outcome> {
    let texts = origins.map(text);
    let [ancestor, ours, theirs] = [texts[0].unwrap_or(""), texts[1]?, texts[2]?];
    Some(file(chosen([ancestor, ours, theirs], sides), origins))
}

fn file(text: String, origins: [&Origin; 3]) -> Outcome {
    let bit = |it: &Origin| match it {
        Origin::File { executable, .. } => Some(*executable),
        _ => None,
    };
    let old = bit(origins[0]).unwrap_or(false);
    let executable = match [origins[1], origins[2]].map(bit) {
        [Some(ours), Some(theirs)] => merged_bit(old, ours, theirs),
        [ours, theirs] => ours.or(theirs).unwrap_or(false),
    };
    Outcome::File { bytes: Bytes::from(text), executable, by_syntax: false }
}

fn text(origin: &Origin) -> Option<&str> {
    match origin {
        Origin::File { bytes, .. } => str::from_utf8(bytes).ok(),
        _ => None,
    }
}
