//! What programs in a shadow folder may reach, and how much they may use.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::Isolation;

/// What programs may reach besides the folder itself, which they may read and write.
///
/// The rest of the system can be read and not written; `/tmp`, `/var/tmp`, `/run`, `/dev/shm` and the home folders are
/// empty, and what is written there is gone with the shadow folder. Paths are absolute and free of links.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sandbox {
    /// Whether all of this may be left out. Nothing is left out where it is not off.
    pub isolation: Isolation,
    /// The user's own, which is hidden.
    pub home: Option<PathBuf>,
    /// Hidden as well: folders with what is no program's business.
    pub hidden: Vec<PathBuf>,
    /// Shown although they lie in a hidden place. What is written to them goes to memory.
    pub read: Vec<PathBuf>,
    /// Caches outside of the workspace that name what is in them by what it was made of, as Go's does: shown like those of `read`, with
    /// what earlier runs wrote to them. They need not be there.
    pub stores: Vec<PathBuf>,
    /// Shown, and written to for real.
    pub write: Vec<PathBuf>,
    pub network: Network,
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
            stores: Vec::new(),
            write: Vec::new(),
            network: Network::None,
            warm: true,
            space: 4 << 30,
            processes: 4096,
        }
    }
}

/// Empty inside, but for what a sandbox shows in them.
/// Besides those of users: where other disks and other projects are, and what services keep.
pub(crate) const EMPTY: [&str; 18] = [
    "/tmp",
    "/var/tmp",
    "/run",
    "/home",
    "/root",
    "/mnt",
    "/media",
    "/srv",
    "/data",
    "/workspaces",
    "/var/backups",
    "/var/lib/cloud",
    "/var/lib/docker",
    "/var/lib/jenkins",
    "/var/lib/kubelet",
    "/var/lib/sss",
    "/var/mail",
    "/var/spool",
];

/// Made anew inside: devices, memory that programs share, and processes.
const OWN: [&str; 2] = ["/dev", "/proc"];

impl Sandbox {
    /// Whether programs see a path only if it is named by `read` or `write`.
    pub fn hides(&self, path: &Path) -> bool {
        let mut own = self.home.iter().chain(&self.hidden);
        let mut always = EMPTY.iter().chain(&OWN);
        own.any(|it| path.starts_with(it)) || always.any(|it| path.starts_with(it))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Network {
    /// A loopback of its own and nothing else.
    #[default]
    None,
    /// That of the system.
    Host,
}

/// How much one program with all that it starts may use.
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
