//! What a check can see: a workspace's files, with a branch's edits laid over them.
//!
//! [`View`] is the one read trait. [`Disk`] and [`Memory`] are bases, a [`Snapshot`] is a branch's
//! edits over a base, and [`Traced`] records everything that was read through it.
//!
//! This crate is the only door to workspace files. It writes nothing to the disk, spawns no
//! process and knows nothing of linters.

mod branch;
mod disk;
mod hash;
mod memory;
mod path;
mod trace;
mod view;
mod walk;

pub use branch::{Branch, EditError, Revision, Snapshot};
pub use disk::Disk;
pub use hash::ContentHash;
pub use memory::Memory;
pub use path::{PathError, WorkspacePath};
pub use trace::{Observation, Read, ReadSet, Traced};
pub use view::{Entry, FileKind, Listing, Metadata, Skipped, View};
pub use walk::{Walk, WalkOptions, walk};
