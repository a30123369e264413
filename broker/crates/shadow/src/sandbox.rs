//! Limits of what programs in a shadow folder may reach and use.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{Isolation, system};

/// Access that programs have besides the folder itself, which they may read and write.
///
/// The system's toolchains, libraries and the configuration that they read are there, read-only; `/tmp`, `/var/tmp`, `/run`,
/// `/dev/shm` and the home folders are empty, and what is written there is gone with the shadow folder. All else does not exist.
/// Paths are absolute and free of links.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sandbox {
    /// Policy under which all of this may be left out. Nothing is left out where isolation is not off.
    pub isolation: Isolation,
    /// The user's own, which is hidden.
    pub home: Option<PathBuf>,
    /// Hidden as well: folders with what is no program's business.
    pub hidden: Vec<PathBuf>,
    /// Shown although they are no part of what is there. What is written to them goes to memory.
    pub read: Vec<PathBuf>,
    /// Links that lead to what is shown, by names that programs know it by; where nothing else is.
    pub links: Vec<PathBuf>,
    /// Caches outside of the workspace that name what is in them by what it was made of, as Go's does: shown like those of `read`, with
    /// what earlier runs wrote to them. They need not be there.
    pub stores: Vec<PathBuf>,
    /// Shown, and written to for real.
    pub write: Vec<PathBuf>,
    pub network: Network,
    /// Whether programs may make sockets that have names in the file system; else pairs alone. In a folder that shows the disk
    /// itself other programs may have some.
    pub named_sockets: bool,
    /// Whether what earlier runs left in caches is used, and what this one leaves is kept.
    pub warm: bool,
    /// Bytes that all that is written may take together, in memory.
    pub space: u64,
    /// Processes and threads of all programs together. No more can be made, where the kernel counts by namespace.
    pub processes: u32,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self {
            isolation: Isolation::Auto,
            home: None,
            hidden: Vec::new(),
            read: Vec::new(),
            links: Vec::new(),
            stores: Vec::new(),
            write: Vec::new(),
            network: Network::None,
            named_sockets: true,
            warm: true,
            space: 4 << 30,
            processes: 4096,
        }
    }
}

impl Sandbox {
    /// Whether programs see a path only if `read` or `write` names it.
    pub fn hides(&self, path: &Path) -> bool {
        self.is_own(path) || !system::shows(path)
    }

    /// Whether a path is in a place of people or services, which holds more than toolchains.
    pub fn is_private(&self, path: &Path) -> bool {
        self.is_own(path) || system::is_private(path)
    }

    fn is_own(&self, path: &Path) -> bool {
        self.home.iter().chain(&self.hidden).any(|it| path.starts_with(it))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Network {
    /// A loopback of its own and nothing else.
    #[default]
    None,
    /// Network of the system.
    Host,
}

/// Limits of one program with all that it starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub time: Option<Duration>,
    /// Bytes of memory of all its processes together.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Bytes of one file.
    pub file_size: Option<u64>,
}
