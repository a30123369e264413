//! A branch as a real folder: programs run in it at the workspace's own path, and what they write stays in memory.
//!
//! [`Shadow::open`] makes the folder, of a workspace on the disk and a [`Layer`] with what a view shows otherwise;
//! [`Shadow::run`] starts a program in it, isolated as the [`Sandbox`] says; [`Shadow::harvest`] says what programs
//! wrote. A [`ReadOnly`] shows the workspace itself to programs that stay. When a [`Shadow`] is dropped, or the process that holds it dies in whatever way, the kernel ends all programs
//! and takes the folder away: nothing of it is on a disk.
//!
//! Start reading at `linux/init.rs`, the first process inside of a folder.
//!
//! Left out: no daemon, no branch by name, no command line, no reading of what programs print.

mod backend;
mod caches;
mod copy;
mod defaults;
mod error;
mod kernel;
mod layer;
mod links;
#[cfg(target_os = "linux")]
mod merged;
mod programs;
#[cfg(target_os = "linux")]
mod read_only;
mod removal;
mod sandbox;
mod scan;
mod secrets;
#[cfg(target_os = "linux")]
mod shadow;
mod spec;
mod storage;
mod stores;
mod system;
mod toolchains;
mod warm;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub use self::linux::inside;
#[cfg(target_os = "linux")]
pub use self::read_only::{ReadOnly, temporary_folder};
#[cfg(target_os = "linux")]
pub use self::shadow::{Launcher, Running, Shadow};
pub use self::{
    backend::{Backend, Choice, Isolation},
    caches::{is_cache_file, is_cache_folder, is_cache_mark},
    defaults::{environment, folders, is_of_git, is_told, stores},
    error::OpenError,
    kernel::landlock_version,
    layer::{Entry, EntryKind, Layer},
    links::{leads_through, links_to},
    sandbox::{Limits, Network, Sandbox},
    spec::{Ended, Exit, Program, Stopped, TerminalSize},
    storage::{Cleaned, Extent, Storage, StorageKind},
    toolchains::{Toolchains, toolchains},
};
