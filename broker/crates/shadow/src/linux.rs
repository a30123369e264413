//! Shadow folders by Linux's overlayfs in namespaces of their own.
//!
//! ```text
//!  the program that opens a Shadow        folder.rs
//!   -> enter.rs   leaves the system's namespaces; waits for the next one; ends with it
//!      -> init.rs   process 1 inside: mounts (root.rs), layer (fill.rs), starts programs, each in a group (group.rs), says what they wrote
//!         -> leader.rs   one for each program: gives up what rights are left, starts it, waits for it
//! ```
//!
//! The first is this program, started again: between a fork and an exec a process with threads may do next to nothing. The
//! others are forked from it, which has no threads, and spare the milliseconds that a start takes; but a process 1 that serves
//! a folder by FUSE has threads, and starts the last.
//! The processes speak over one socket (`wire.rs`). Whichever of them dies, or the program that opened the folder, process 1 dies
//! with it, and then the kernel ends every process inside and frees the mounts.

mod enter;
mod entries;
mod fill;
mod filter;
mod folder;
mod fuse;
mod group;
mod harvest;
mod held;
mod init;
mod keep;
mod landlock;
mod leader;
mod loopback;
mod rename;
mod root;
mod sparse;
mod start;
mod starter;
mod usage;
mod wire;

use std::{
    ffi::{OsStr, OsString},
    process::ExitCode,
};

pub(crate) use self::{
    folder::{Folder, RunningProgram},
    fuse::clear,
    starter::Starter,
};

/// The first argument of a process that is one of those inside.
const ENTER: &str = "shadow-enter";
const LEAD: &str = "shadow-lead";
/// The first argument of process 1 of a folder without namespaces.
const PLAIN: &str = "shadow-plain";
/// The process that unmounts a folder when the one that serves it is gone.
const UNMOUNT: &str = "shadow-unmount";

/// Extended attribute that marks a directory which hides what lies below it, for overlayfs mounted by a user.
const OPAQUE: &str = "user.overlay.opaque";

/// The whole life of a process inside of a folder; `None` if `args`, those after the program's name, ask for something
/// else. To be called by the main thread of a process that has no other.
pub fn inside(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let first = args.into_iter().next()?;
    match first.to_str()? {
        ENTER => Some(enter::enter()),
        LEAD => Some(leader::lead()),
        PLAIN => Some(init::run_plain()),
        UNMOUNT => Some(fuse::unmount_at_the_end()),
        _ => None,
    }
}

/// This program, however it was started.
pub(crate) fn this_program() -> &'static OsStr {
    OsStr::new("/proc/self/exe")
}
