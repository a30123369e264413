//! Ways to make a shadow folder, and what each of them cannot promise.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::kernel::landlock_version;

/// Mechanism by which a folder shows a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Backend {
    /// The branch lies over the workspace by Linux's overlayfs; what programs write stays in memory.
    Overlayfs,
    /// A copy of the workspace in Broker's cache folder, which is kept and brought up to date for each run.
    Copy,
    /// The branch lies over the workspace in a folder mounted by FUSE; what programs write is in Broker's cache folder.
    Fuse,
}

/// Policy for programs without isolation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Isolation {
    /// Never. Without it there is no folder.
    Required,
    /// The same, by whatever backend there is on this system that isolates as well.
    #[default]
    Auto,
    /// Programs have all the rights of the user, the network and the user's home folder. They run in a
    /// folder by FUSE or in a copy.
    Off,
}

/// Mechanism that makes the folders of a workspace on this system, found by trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Choice {
    pub backend: Backend,
    pub isolated: bool,
}

impl Backend {
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlayfs => "overlayfs",
            Self::Copy => "copy",
            Self::Fuse => "fuse",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const OVERLAYFS_LACKS: &[&str] = &[
    "a folder of the workspace is renamed entry by entry, and what has it as its working folder is left in an empty one",
    "a file that is replaced on the disk while a command runs may go on showing its old text",
];

const COPY_LACKS: &[&str] = &[
    "what a command writes is on the disk, in Broker's cache folder, until the next run takes it back",
    "what a command writes is not limited",
    "a change on the disk is seen by the next run, not by a command that runs",
];

const FUSE_LACKS: &[&str] = &[
    "what a command writes is on the disk, in Broker's cache folder, until it ends",
    "nothing of what a command writes to caches is there for the next one",
    "a file that is changed on the disk while a command runs may go on showing its old text for a second",
];

const UNISOLATED_LACKS: &[&str] = &[
    "a command may read and write all that its user may, and has the network",
    "paths of the folder are put right in what a command prints to a pipe, not in files and on terminals",
    "a process that is started while its command is ended may live on",
    "processes live on if all of Broker's own are killed at once",
];

/// Shortcomings of older kernels, by the version of landlock that mended each.
const OF_LANDLOCK: [(u32, &str); 3] = [
    (
        9,
        "a socket that a service opens outside of /run, /tmp and the home folders after the folder was made can be connected to",
    ),
    (6, "with the system's network, abstract sockets of the system can be connected to"),
    (1, "a named pipe outside of the folder can be written to by who may write to it"),
];

fn of_kernel() -> Vec<&'static str> {
    let version = landlock_version();
    OF_LANDLOCK.iter().filter(|(since, _)| version < *since).map(|(_, lack)| *lack).collect()
}

impl Choice {
    /// Returns the guarantees that are missing, as sentences without a full stop.
    pub fn lacks(self) -> Vec<&'static str> {
        let of_backend = match self.backend {
            Backend::Overlayfs => OVERLAYFS_LACKS,
            Backend::Copy => COPY_LACKS,
            Backend::Fuse => FUSE_LACKS,
        };
        let of_isolation = if self.isolated { of_kernel() } else { UNISOLATED_LACKS.to_vec() };
        of_isolation.into_iter().chain(of_backend.iter().copied()).collect()
    }
}
