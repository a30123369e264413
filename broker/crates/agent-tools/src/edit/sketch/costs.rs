//! Costs and gains of an arrangement. A line of eight letters that stands in the file once is worth 300, one that stands
//! there three times 166.

use super::file_lines::Score;

/// For a change or a deletion between a marker and the nearest anchor.
pub(super) const EDGE: Score = 350;

/// For a new line.
pub(super) const INSERT: Score = 15;
pub(super) const INSERT_BLANK: Score = -1;

/// For a new line that the file has once already; more if it stands next to it, or near.
pub(super) const COPY: Score = 150;
pub(super) const COPY_BESIDE: Score = 200;
pub(super) const COPY_NEAR: Score = 300;

/// Lines around a line that stands in the file once where another one of it would be its copy.
pub(super) const NEAR: usize = 10;

/// For a deletion, besides its lines, and more for one at an end of the file.
pub(super) const DELETE: Score = 80;
pub(super) const DELETE_END: Score = 250;

/// For each line that is deleted.
pub(super) const DELETE_LINE: Score = 50;
pub(super) const DELETE_BRACKET: Score = 35;
pub(super) const DELETE_BLANK: Score = 5;

/// More for the head of a definition that the sketch does not name.
pub(super) const DELETE_HEAD: Score = 300;

/// For the head of a definition in its scope, as it is and changed.
pub(super) const HEAD: Score = 200;
pub(super) const CHANGED_HEAD: Score = 300;

/// For another value of what has one value at the margin of the file.
pub(super) const CHANGED_VALUE: Score = 200;

/// For the head of a definition outside of its scope, with another name, and for a second one.
pub(super) const OUT_OF_SCOPE: Score = 400;
pub(super) const RENAMED: Score = 500;
pub(super) const SECOND_HEAD: Score = 500;

/// For a line that gives another value to the same key.
pub(super) const SAME_KEY: Score = 200;
pub(super) const SAME_KEY_OF_DATA: Score = 800;

/// For a definition in the place of one of its name.
pub(super) const REPLACED: Score = 600;

/// For a sketch that has only the first lines of a definition: a marker was left out.
pub(super) const CUT_SHORT: Score = 1200;
pub(super) const OTHER_PARAMETERS: Score = 500;
pub(super) const LOST_MEMBER: Score = 400;

/// For a new definition, or new imports, where such things go.
pub(super) const AT_PLACE: Score = 500;

/// For an end without a marker, beyond which lines of the file stay.
pub(super) const NO_MARKER: Score = 300;

/// For a marker that stands for nothing.
pub(super) const EMPTY_MARKER: Score = 50;

/// For a weak line in the place of an anchor next to a change, and the score from which on it may be one.
pub(super) const WEAK_EDGE: Score = 150;
pub(super) const WORDS: Score = 50;

/// For what is forbidden when a rival is asked for.
pub(super) const FORBIDDEN: Score = 6000;

/// Similarity of two lines from which on one may be the other after a change, in hundredths.
pub(super) const SIMILAR: Score = 40;

/// Similarity from which on a line is likely to be another one after a change, if lines so near are less like it by so much.
pub(super) const ALIKE: Score = 60;
pub(super) const BESIDE: usize = 4;
pub(super) const DISTINCT: Score = 20;
