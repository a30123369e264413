//! Workspace files as checks see them: with a branch's edits laid over them.
//!
//! [`View`] is the one read trait. [`Disk`] and [`Memory`] are bases, [`Base`] is a folder under an editor's
//! unsaved texts, a [`Snapshot`] is a branch's edits over a base, and [`Traced`] records everything that was
//! read through it. A [`Committer`] writes a set of changes into the workspace's own folder, all or none.
//!
//! A [`Store`] keeps branches over restarts, outside the workspace.
//!
//! This crate is the only door to workspace files, and nothing but a commit writes to them. It spawns no
//! process and knows nothing of linters.

mod base;
mod branch;
#[cfg(unix)]
mod commit;
mod disk;
mod extensions;
mod file_op;
mod hash;
mod memory;
mod merkle;
mod path;
mod permissions;
mod reason;
mod regular;
mod store;
mod trace;
mod version_control;
mod view;
mod walk;

pub use base::{
    Base, BaseOptions, BufferChange, BufferError, BufferText, Changes, ClosedBuffer, Degraded, EditorId,
    SetBuffer, SettleError, ShownText, Watch, WatchError,
};
pub use branch::{
    Branch, Change, ChangeKind, ChangedLines, CommitPlan, Conflict, ConflictHunk, ConflictKind, ConflictSide,
    EditError, FileState, KEPT_STEPS, LogEntry, MAX_PATCH, MergeOptions, Merged, MovedHunk, NodeRecord,
    OnConflict, Origin, PatchApplied, PatchError, PlanError, RebaseError, RebaseOnto, Rebased, Resolution,
    RestoreError, Revision, Snapshot, Step, StepKind, SyntaxMerge, TextEdit, UnknownSide, changed_lines,
    marked_lines, merge_texts, unified,
};
#[cfg(unix)]
pub use commit::{
    CommitError, Committed, Committer, Conflict as CommitConflict, DiskState, Leftover, LeftoverText,
    Outcome, Recovered, first_of_files, prune_kept,
};
pub use disk::Disk;
pub use extensions::Extensions;
pub use file_op::{Expected, FileOp};
pub use hash::ContentHash;
pub use memory::Memory;
pub use merkle::{TreeHash, tree_hash};
pub use path::{PathError, WorkspacePath};
pub use permissions::Permissions;
pub use reason::io_reason;
pub use regular::{open_regular, read_regular};
pub use store::{
    BranchRecord, Loaded, SavedBranch, Store, StoreError, StoreStats, expect_own, expect_private,
    private_folder, sync_folder,
};
pub use trace::{Observation, Read, ReadSet, Traced};
pub use version_control::is_inside as is_of_version_control;
pub use view::{
    ChangeLog, Entry, FileHash, FileKind, Listing, Look, Metadata, Moment, Skipped, Tracked, View,
};
pub use walk::{GitIgnores, KeptWalk, Walk, WalkOptions, folder_walk, kept_walk, walk};
