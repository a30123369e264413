//! The handle of a shadow folder, whatever it is made by.

use std::{
    collections::HashMap,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    Backend, Choice, Ended, Entry, Isolation, Layer, OpenError, Program, Sandbox, Storage,
    copy::{Copy, Paths, Relay},
    linux::{Folder, RunningProgram, Starter, this_program},
    merged::Merged,
    stores::Stores,
    warm::Warm,
};

/// Launcher of the first process of folders: a program that begins with [`inside`](crate::inside). Clones share what was found
/// out about backends.
#[derive(Debug, Clone)]
pub struct Launcher {
    pub(crate) starter: Starter,
    storage: Option<Storage>,
    /// Whether overlayfs is tried at all.
    only_copies: bool,
    /// Backends that made a folder of a workspace, by its root and whether programs were to be isolated.
    tried: Arc<Mutex<HashMap<(PathBuf, bool), Choice>>>,
}

/// A folder in which programs run. When it is dropped they are ended.
pub struct Shadow {
    folder: Folder,
    choice: Choice,
    /// Copy of the workspace, where the folder is one. Let go of after all that ran in it.
    copy: Option<Arc<Copy>>,
    /// Folder merged by FUSE, where it is one; let go of likewise.
    merged: Option<Merged>,
    /// Caches that earlier runs left, and what is needed to keep those that this one leaves.
    warm: Option<Warm>,
    /// Caches outside of the workspace that earlier runs left.
    stores: Option<Stores>,
}

const COPY_PLAIN: Choice = Choice { backend: Backend::Copy, isolated: false };
const MERGED: Choice = Choice { backend: Backend::Fuse, isolated: false };
const COPY_SHOWN: Choice = Choice { backend: Backend::Copy, isolated: true };

/// A program that runs in a folder.
pub struct Running {
    pub(crate) program: RunningProgram,
    /// Hand on its outputs, if they name another place than the workspace's.
    pub(crate) relays: Vec<Relay>,
    pub(crate) copy: Option<Arc<Copy>>,
    /// The other side of its terminal, if it has one.
    pub terminal: Option<OwnedFd>,
}

impl Launcher {
    /// This very program, which must begin with [`inside`](crate::inside).
    pub fn this_program() -> Self {
        Self::new(this_program())
    }

    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            starter: Starter::new(program.into()),
            storage: None,
            only_copies: false,
            tried: Arc::default(),
        }
    }

    /// Sets a place for copies of workspaces. Without one there are none.
    pub fn with_storage(self, storage: Storage) -> Self {
        Self { storage: Some(storage), ..self }
    }

    /// Returns how folders of this workspace are made, which is tried unless it is known. Fails where they cannot be made as
    /// `sandbox` asks.
    pub fn choose(&self, root: &Path, sandbox: &Sandbox) -> Result<Choice, OpenError> {
        let cold = Sandbox { warm: false, ..sandbox.clone() };
        match (sandbox.isolation, self.known(root, sandbox.isolation)) {
            (Isolation::Off, _) if self.storage.is_none() => Err(OpenError::NoStorage),
            (_, Some(choice)) => Ok(choice),
            // Nor is a copy made for that.
            (Isolation::Off, None) => {
                let opened = Shadow::open_merged(self, root, &Layer::default(), &cold);
                let choice = opened.map_or(COPY_PLAIN, |it| it.choice);
                self.remember(root, choice);
                Ok(choice)
            }
            // A copy that isolates is not made for this.
            (_, None) => match Shadow::open_overlayfs(self, root, &Layer::default(), &cold) {
                Ok(shadow) => {
                    self.remember(root, shadow.choice);
                    Ok(shadow.choice)
                }
                Err(OpenError::Overlayfs { .. }) if self.storage.is_some() => Ok(COPY_SHOWN),
                Err(error) => Err(error),
            },
        }
    }

    /// Has a process wait for the next folder once one was closed, which spares a few milliseconds then: for a program that opens
    /// many. It ends with the last clone of this, or with the program.
    pub fn with_spare(self) -> Self {
        Self { starter: self.starter.with_spare(), ..self }
    }

    /// Makes copies also where there is overlayfs or FUSE.
    pub fn with_copies_only(self) -> Self {
        Self { only_copies: true, ..self }
    }

    fn known(&self, root: &Path, isolation: Isolation) -> Option<Choice> {
        let is_isolated = isolation != Isolation::Off;
        if self.only_copies {
            return Some(if is_isolated { COPY_SHOWN } else { COPY_PLAIN });
        }
        let tried = self.tried.lock();
        tried.get(&(root.to_owned(), is_isolated)).copied()
    }

    fn remember(&self, root: &Path, choice: Choice) {
        self.tried.lock().insert((root.to_owned(), choice.isolated), choice);
    }
}

impl Shadow {
    /// Makes a folder that shows `layer` over the folder on the disk at `root`, which is absolute and free of links, and
    /// shows it there. The folder was written to and read back when this returns.
    pub fn open(
        launcher: &Launcher,
        root: &Path,
        layer: &Layer,
        sandbox: &Sandbox,
    ) -> Result<Self, OpenError> {
        let known = launcher.known(root, sandbox.isolation);
        match (sandbox.isolation, known) {
            (Isolation::Off, Some(COPY_PLAIN)) => Self::open_copy(launcher, root, layer, sandbox, false),
            (Isolation::Off, _) => Self::open_merged(launcher, root, layer, sandbox)
                .or_else(|_| Self::open_copy(launcher, root, layer, sandbox, false)),
            (_, Some(COPY_SHOWN)) => Self::open_copy(launcher, root, layer, sandbox, true),
            _ => match Self::open_overlayfs(launcher, root, layer, sandbox) {
                Err(OpenError::Overlayfs { .. }) if known.is_none() && launcher.storage.is_some() => {
                    Self::open_copy(launcher, root, layer, sandbox, true)
                }
                opened => opened,
            },
        }
        .inspect(|it| launcher.remember(root, it.choice))
    }

    fn open_overlayfs(
        launcher: &Launcher,
        root: &Path,
        layer: &Layer,
        sandbox: &Sandbox,
    ) -> Result<Self, OpenError> {
        let storage = launcher.storage.as_ref().filter(|_| sandbox.warm);
        let warm = storage.map(|it| Warm::open(it, root, layer)).transpose().map_err(OpenError::Caches)?;
        let stores = storage.map(|it| Stores::open(it, root, &sandbox.stores)).transpose();
        let stores = stores.map_err(OpenError::Caches)?;
        let folder = Folder::open(&launcher.starter, root, layer, (warm.as_ref(), stores.as_ref()), sandbox)?;
        let choice = Choice { backend: Backend::Overlayfs, isolated: true };
        Ok(Self { folder, choice, copy: None, merged: None, warm, stores })
    }

    fn open_merged(
        launcher: &Launcher,
        root: &Path,
        layer: &Layer,
        sandbox: &Sandbox,
    ) -> Result<Self, OpenError> {
        let storage = launcher.storage.as_ref().ok_or(OpenError::NoStorage)?;
        let merged = Merged::new(storage, root)?;
        let folder = Folder::open_merged(&launcher.starter, root, layer, merged.places(), sandbox)?;
        Ok(Self { folder, choice: MERGED, copy: None, merged: Some(merged), warm: None, stores: None })
    }

    fn open_copy(
        launcher: &Launcher,
        root: &Path,
        layer: &Layer,
        sandbox: &Sandbox,
        isolated: bool,
    ) -> Result<Self, OpenError> {
        let storage = launcher.storage.as_ref().ok_or(OpenError::NoStorage)?;
        let copy = Copy::open(storage, root, layer, sandbox.warm, isolated).map_err(OpenError::Copy)?;
        let tree = copy.paths().tree();
        let folder = if isolated {
            Folder::open_copy(&launcher.starter, root, tree, sandbox)?
        } else {
            Folder::open_plain(&launcher.starter, tree, sandbox)?
        };
        let choice = Choice { backend: Backend::Copy, isolated };
        Ok(Self { folder, choice, copy: Some(Arc::new(copy)), merged: None, warm: None, stores: None })
    }

    /// Returns how this folder was made.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Starts a program with these as its standard input, output and error, or with a terminal.
    pub fn run(&self, program: Program, files: Option<[BorrowedFd<'_>; 3]>) -> Result<Running, OpenError> {
        self.warm.iter().for_each(Warm::begin_run);
        if let Some(copy) = &self.copy {
            copy.begin_run().map_err(OpenError::Copy)?;
        }
        let started = match self.elsewhere() {
            Some((paths, temporary)) => self.run_elsewhere(paths, &temporary, program, files),
            None => {
                self.folder.run(program, files).map(|(program, terminal)| (program, terminal, Vec::new()))
            }
        };
        let (program, terminal, relays) = started.inspect_err(|_| {
            // Nothing ran. If that cannot be noted, its caches count as half written.
            let _ = self.copy.as_ref().map(|it| it.end_run(true));
        })?;
        Ok(Running { program, relays, copy: self.copy.clone(), terminal })
    }

    /// Returns the paths of the folder if programs do not see it at the workspace's path, and their place for temporary files.
    fn elsewhere(&self) -> Option<(&Paths, PathBuf)> {
        let copy = self.copy.as_ref().filter(|_| !self.choice.isolated);
        let copy = copy.map(|it| (it.paths(), it.temporary()));
        copy.or_else(|| self.merged.as_ref().map(|it| (it.paths(), it.temporary())))
    }

    fn run_elsewhere(
        &self,
        paths: &Paths,
        temporary: &Path,
        program: Program,
        files: Option<[BorrowedFd<'_>; 3]>,
    ) -> Result<(RunningProgram, Option<OwnedFd>, Vec<Relay>), OpenError> {
        let program = paths.program(program, temporary);
        let Some([input, output, errors]) = files else {
            let (program, terminal) = self.folder.run(program, None)?;
            return Ok((program, terminal, Vec::new()));
        };
        let (output, first) = paths.relay(output)?;
        let (errors, second) = paths.relay(errors)?;
        let (program, terminal) = self.folder.run(program, Some([input, output.as_fd(), errors.as_fd()]))?;
        Ok((program, terminal, vec![first, second]))
    }

    /// Shows these entries, too, while programs run: they see them as a new file in the place of the old one.
    pub fn apply(&self, layer: &Layer) -> Result<(), OpenError> {
        match &self.copy {
            Some(copy) => copy.apply(layer).map_err(OpenError::Copy),
            None => self.folder.apply(layer),
        }
    }

    /// Returns what programs wrote to the folder so far. An entry that is a directory shows nothing that stood there before.
    pub fn harvest(&self) -> Result<Vec<Entry>, OpenError> {
        let mut entries = Vec::new();
        self.harvest_some(|_, _| true, |it| entries.push(it))?;
        Ok(entries)
    }

    /// Passes on what programs wrote, entry by entry; of files, those that `wants` accepts by path and size. No others are read.
    pub fn harvest_some(
        &self,
        wants: impl FnMut(&Path, u64) -> bool,
        each: impl FnMut(Entry),
    ) -> Result<(), OpenError> {
        match &self.copy {
            Some(copy) => copy.harvest(wants, each).map_err(OpenError::Copy),
            None => self.folder.harvest(wants, each),
        }
    }
}

impl Shadow {
    /// Keeps what programs wrote to caches such as `target`, and to those of [`Sandbox::stores`], for the next folder of this workspace, of whatever branch. To be called
    /// when all programs have ended; nothing is kept if one of them did not come to its end by itself. Says how many bytes are kept;
    /// `None` if nothing is, or if they are kept anyway, as in a copy.
    pub fn keep_caches(&self) -> Result<Option<u64>, OpenError> {
        match (&self.warm, &self.stores) {
            (Some(warm), Some(stores)) => self.folder.keep_caches(warm, stores),
            _ => Ok(None),
        }
    }
}

impl Running {
    /// Waits until the program has ended.
    pub fn wait(&mut self) -> Ended {
        let ended = self.program.wait();
        self.relays.drain(..).for_each(Relay::finish);
        if let Some(copy) = self.copy.take() {
            // If this cannot be noted, its caches count as half written.
            let _ = copy.end_run(ended.is_whole());
        }
        ended
    }

    /// A handle that sends signals to the program and the processes of its group.
    pub fn signals(&self) -> impl Fn(i32) -> std::io::Result<()> + Send + Sync + use<> {
        self.program.signals()
    }
}
