//! A branch as a real folder: programs run in it at the workspace's own path, and what they write stays in memory.
//!
//! [`Shadow::open`] makes the folder, of a workspace on the disk and a [`Layer`] with what a view shows otherwise;
//! [`Shadow::run`] starts a program in it, isolated as the [`Sandbox`] says; [`Shadow::harvest`] says what programs
//! wrote. When a [`Shadow`] is dropped, or the process that holds it dies in whatever way, the kernel ends all programs
//! and takes the folder away: nothing of it is on a disk.
//!
//! Start reading at `linux/init.rs`, the first process inside of a folder.
//!
//! Left out: no daemon, no branch by name, no command line, no reading of what programs print.

mod defaults;
mod layer;
mod sandbox;
mod spec;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub use self::linux::{Launcher, OpenError, Running, Shadow, inside};
pub use self::{
    defaults::{environment, folders},
    layer::{Entry, EntryKind, Layer},
    sandbox::{Limits, Network, Sandbox},
    spec::{Ended, Exit, Program, Stopped},
};
