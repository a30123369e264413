//! Merged folders by FUSE, for systems where namespaces are forbidden: the workspace, which is only read, under what the branch and
//! programs put in its place.
//!
//! `node.rs` and `tree.rs` are what stands where, `change.rs` names that come and go, `files.rs` contents, `branch.rs` the way in
//! and out for entries; `serve.rs` answers the kernel from what `state.rs` holds, and `mount.rs` sees to it that no mount is left.

mod branch;
mod change;
mod contents;
mod extended;
mod files;
mod listings;
mod mount;
mod node;
mod serve;
mod state;
mod tree;

use std::{
    io,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

pub(crate) use self::mount::{clear, unmount_at_the_end};
use self::{mount::Mount, state::Served, tree::Tree};
use super::{root, wire::Failure};
use crate::{
    copy::{Paths, show},
    layer::Header,
};

/// A merged folder that is served by threads of this process.
pub(super) struct Merged {
    // Unmounted before anything else goes.
    mount: Mount,
    served: Served,
    paths: Paths,
    /// Limit of files that programs may have open.
    pub(super) files: Rlimit,
}

/// The parts of a merged folder that is not mounted yet.
pub(super) struct Parts {
    tree: Tree,
    paths: Paths,
    kept: PathBuf,
}

impl Parts {
    /// The workspace at `root`, to be mounted at `at`. What is written is stored in `kept`.
    pub(super) fn new(root: &Path, at: &Path, kept: PathBuf, space: u64) -> io::Result<Self> {
        let paths = Paths::new(root, at);
        let store = kept.join("store");
        overlay::private_folder(&store)?;
        Ok(Self { tree: Tree::new(paths.clone(), store, space)?, paths, kept })
    }

    pub(super) fn add(&mut self, header: &Header, bytes: &[u8]) -> io::Result<()> {
        self.tree.place(header, bytes)
    }

    /// Mounts the folder, writes to it and reads that back.
    pub(super) fn mount(self) -> Result<Merged, Failure> {
        let at = self.paths.tree().to_owned();
        let files =
            raise_limit().map_err(|it| Failure::new("cannot open as many files as may be needed", &it))?;
        let served = Served::new(self.tree);
        let mount = mount::mount(served.clone(), &at, &self.kept)
            .map_err(|it| Failure::new("cannot mount a folder by FUSE", &it))?;
        root::try_out(&at)?;
        Ok(Merged { mount, served, paths: self.paths, files })
    }
}

impl Merged {
    /// The process that unmounts the folder.
    pub(super) fn watcher(&self) -> Pid {
        self.mount.watcher()
    }

    /// Shows an entry while programs run, as one of them would write it: those that watch the folder are told.
    pub(super) fn apply(&self, header: &Header, bytes: &[u8]) -> io::Result<()> {
        let entry = header.clone().into_entry(bytes.to_owned());
        show(&self.paths, &entry.ok_or(io::ErrorKind::InvalidInput)?)
    }

    pub(super) fn tell(&self, tell: &mut dyn FnMut(Header, &[u8]) -> io::Result<()>) -> io::Result<()> {
        self.served.0.lock().tree.tell(tell)
    }
}

/// Each file that a program has open is open in this process, too. Gives the limit that was.
fn raise_limit() -> io::Result<Rlimit> {
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: before.maximum, maximum: before.maximum })?;
    Ok(before)
}
