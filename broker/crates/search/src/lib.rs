//! Search in a branch.
//!
//! [`grep`] finds lines by a regular expression, in the files that ripgrep would search, with ripgrep's own crates. An
//! [`Index`] of the workspace's folder tells it which files need not be read.
//!
//! [`find_files`] finds files by a part of their path.
//!
//! A [`CodeIndex`] finds functions, classes and sections by the words of their identifiers.
//!
//! Everything is read through a [`View`](overlay::View), so that a branch's edits count and nothing else has to know of
//! branches. Speaks no protocol and waits for nothing but its own threads.

mod code;
mod contents;
mod find;
mod globs;
mod grep;
mod index;
mod options;
mod parallel;
mod plan;
mod store;
mod trigram;

pub use code::{CodeAnswer, CodeIndex, CodeMatch, CodeRequest, Coverage, Scorer};
pub use contents::{IndexOptions, IndexStats, Progress, UpdateError};
pub use find::{FindError, FoundFile, FoundFiles, find_files, match_files};
pub use globs::GlobError;
pub use grep::{Counted, FileMatches, GrepAnswer, GrepError, GrepRequest, Match, count_files, grep};
pub use index::Index;
pub use options::{Cancelled, Options, walk_options};
