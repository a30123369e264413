//! The folder with installed tools, each in a folder named by its digest. One that is there is whole: it is made beside, and named last.

mod contents;

use std::{
    cell::Cell,
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use futures_util::StreamExt as _;
use lint::Cancel;
use rustix::{fs::FlockOperation, io::Errno};

use crate::{
    Error,
    archive::{Refusal, Room, Unpacker},
    catalogue::{Catalogue, LockedTool, WHEELS},
    package::{Origin, PackageFile, Platform},
    plan::{Plan, StarterKind, Target},
    registries::Registries,
};

/// Time limit of all downloads of a tool.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Files that are downloaded at once.
const AT_ONCE: usize = 8;

/// Interval of looks at a lock that another process holds.
const LOCK_POLL: Duration = Duration::from_millis(50);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Name of the store in the folder for data.
pub const FOLDER: &str = "tools";

/// Time that a tool is kept which no workspace uses.
pub const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    room: Room,
}

/// Result of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub folder: PathBuf,
    /// Whether it was there before.
    pub was_there: bool,
}

/// Received and total bytes of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub received: u64,
    pub total: u64,
}

impl Store {
    /// Store in the data folder of this program.
    pub fn in_data(folder: &Path) -> Self {
        Self { folder: folder.join(FOLDER), room: Room(u64::MAX) }
    }

    /// The folder with the programs of a tool that a workspace pins, or the reason why there is none. Records the use.
    pub fn programs(&self, pinned: &LockedTool) -> Result<PathBuf, String> {
        let platform = Platform::here().ok_or("no tools are available for this platform")?;
        // Which Python it was installed for is not known without asking one.
        let pythons: BTreeSet<_> = pinned.files.iter().map(|it| it.python.clone()).collect();
        let plan = |python| Plan::of_pinned(pinned, &Target { platform, python });
        Catalogue::own().tool_of(pinned)?;
        let plan = pythons.into_iter().filter_map(|it| plan(it).ok()).find(|it| self.has(it));
        let plan =
            plan.ok_or_else(|| "pinned in broker.lock and not installed: broker server install".to_owned())?;
        self.note_use(&plan, SystemTime::now());
        Ok(self.folder_of(&plan).join("bin"))
    }

    /// Folder with all that is installed.
    pub fn root(&self) -> &Path {
        &self.folder
    }

    pub fn has(&self, plan: &Plan) -> bool {
        self.folder_of(plan).is_dir()
    }

    pub fn folder_of(&self, plan: &Plan) -> PathBuf {
        self.folder.join(&plan.digest)
    }

    /// Installs a tool unless it is there as it was installed, also if another process does so at the same time.
    pub fn install(
        &self,
        plan: &Plan,
        registries: &Registries,
        on_progress: &dyn Fn(Progress),
        cancel: &Cancel,
    ) -> Result<Installed, Error> {
        let folder = self.folder_of(plan);
        overlay::private_folder(&self.folder).map_err(Error::io(&self.folder))?;
        let lock = self.lock(plan, cancel)?;
        lock.set_modified(SystemTime::now()).map_err(Error::io(self.stamp(plan)))?;
        let new = self.folder.join(format!("{}.new", plan.digest));
        // A process that was killed may have left it.
        remove(&new)?;
        if folder.is_dir() {
            if contents::is_whole(&folder) && has_starters(plan, &folder) {
                return Ok(Installed { folder, was_there: true });
            }
            // Named away first: what is removed in part would look like one that is there.
            rename_into_place(&folder, &new)?;
            remove(&new)?;
        }
        let made = self
            .make(plan, &new, registries, on_progress, cancel)
            .and_then(|()| rename_into_place(&new, &folder));
        if let Err(error) = made {
            let _the_first_error_counts = remove(&new);
            return Err(error);
        }
        overlay::sync_folder(&self.folder).map_err(Error::io(&self.folder))?;
        self.prune(SystemTime::now());
        Ok(Installed { folder, was_there: false })
    }

    /// Downloads all files, and unpacks them in their order.
    fn make(
        &self,
        plan: &Plan,
        new: &Path,
        registries: &Registries,
        on_progress: &dyn Fn(Progress),
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let (received, total) = (Cell::new(0), plan.size());
        let on_bytes = |bytes| {
            received.set(received.get() + bytes);
            on_progress(Progress { received: received.get().min(total), total });
        };
        let mut room = self.room;
        // Beforehand, since programs may be asked for them, which no deadline of the downloads ends.
        registries.prepare(plan.files.iter().map(|it| &it.package))?;
        let all = async {
            let downloads = plan.files.iter().map(|it| registries.fetch(it, &on_bytes));
            let mut downloads = futures_util::stream::iter(downloads).buffered(AT_ONCE);
            let mut files = plan.files.iter();
            while let (Some(bytes), Some(file)) = (downloads.next().await, files.next()) {
                self.unpack(file, &bytes?, new, &mut room)?;
            }
            Ok::<_, Error>(())
        };
        download::blocking(all, Instant::now() + DOWNLOAD_TIMEOUT, cancel)?;
        write_starters(plan, new)?;
        contents::write(new).map_err(Error::io(new))?;
        sync(new)
    }

    fn unpack(&self, file: &PackageFile, bytes: &Bytes, new: &Path, room: &mut Room) -> Result<(), Error> {
        let place = match &file.origin {
            Origin::Tarball { at } => new.join(at),
            Origin::Wheel { .. } => new.join(WHEELS),
        };
        let unpacker = Unpacker::new(&place, bytes.len(), room);
        let unpacked = match &file.origin {
            Origin::Tarball { .. } => unpacker.tarball(bytes),
            Origin::Wheel { .. } => unpacker.wheel(bytes),
        };
        unpacked.map_err(|refusal| match refusal {
            Refusal::Archive(why) => Error::Archive { package: file.package.clone(), why },
            Refusal::Io(_, error) if is_full(&error) => {
                Error::NoSpace { package: file.package.clone(), folder: self.folder.clone() }
            }
            Refusal::Io(path, error) => Error::Io { path, error },
        })
    }

    /// Waits until no other process installs the tool; held until the file is closed.
    fn lock(&self, plan: &Plan, cancel: &Cancel) -> Result<File, Error> {
        let path = self.stamp(plan);
        loop {
            let lock = open(&path).map_err(Error::io(&path))?;
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if is_named(&lock, &path) => return Ok(lock),
                // Another process removed it with the tool.
                Ok(()) => continue,
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(Error::io(&path)(error.into())),
            }
            if cancel.wait(Some(Instant::now() + LOCK_POLL)) {
                return Err(download::Interruption::Cancelled.into());
            }
        }
    }

    /// File that is locked while the tool is installed, and whose time says when it was used.
    fn stamp(&self, plan: &Plan) -> PathBuf {
        self.folder.join(format!("{}.lock", plan.digest))
    }

    /// Records a use, at most once a day. A folder that cannot be written keeps what it has.
    fn note_use(&self, plan: &Plan, now: SystemTime) {
        let stamp = self.stamp(plan);
        if age(&stamp, now) > DAY {
            let _as_it_was = open(&stamp).and_then(|it| it.set_modified(now));
        }
    }

    /// Removes the tools that were not used for long, and are not being installed.
    #[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
    fn prune(&self, now: SystemTime) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|it| it.path());
        for stamp in entries.filter(|it| it.extension().is_some_and(|it| it == "lock") && age(it, now) > KEPT)
        {
            let Ok(lock) = open(&stamp) else { continue };
            if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
                // Named away first: what is removed in part would look like one that is there.
                let (tool, going) = (stamp.with_extension(""), stamp.with_extension("new"));
                let _what_stays_is_tried_again = or_gone(fs::remove_dir_all(&going))
                    .and_then(|()| or_gone(fs::rename(tool, &going)))
                    .and_then(|()| or_gone(fs::remove_dir_all(&going)))
                    .and_then(|()| fs::remove_file(&stamp));
            }
        }
    }
}

fn age(file: &Path, now: SystemTime) -> Duration {
    let modified = fs::symlink_metadata(file).and_then(|it| it.modified());
    modified.ok().and_then(|it| now.duration_since(it).ok()).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Whether a path still leads to an open file.
fn is_named(file: &File, path: &Path) -> bool {
    let identity = |it: fs::Metadata| (it.dev(), it.ino());
    let named = fs::symlink_metadata(path).map(identity).ok();
    named.is_some() && named == file.metadata().map(identity).ok()
}

/// Takes a removal of what is gone for a success.
fn or_gone(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

#[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
fn remove(folder: &Path) -> Result<(), Error> {
    or_gone(fs::remove_dir_all(folder)).map_err(Error::io(folder))
}

#[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
fn rename_into_place(new: &Path, folder: &Path) -> Result<(), Error> {
    fs::rename(new, folder).map_err(Error::io(folder))
}

/// Makes what starts the programs, each of which must be there.
#[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
fn write_starters(plan: &Plan, new: &Path) -> Result<(), Error> {
    let bin = new.join("bin");
    fs::create_dir_all(&bin).map_err(Error::io(&bin))?;
    for it in &plan.starters {
        let (target, path) = (new.join(&it.place), bin.join(&it.name));
        let is_there = target.is_file() || target.is_dir() || target.with_extension("py").is_file();
        if !is_there {
            let (tool, program, place) = (plan.name.clone(), it.name.clone(), it.place.clone());
            return Err(Error::NoProgram { tool, program, path: place });
        }
        match &it.kind {
            StarterKind::Link => {
                let program = fs::Permissions::from_mode(0o755);
                fs::set_permissions(&target, program).map_err(Error::io(&target))?;
                std::os::unix::fs::symlink(Path::new("..").join(&it.place), &path)
                    .map_err(Error::io(&path))?;
            }
            StarterKind::Script(text) => {
                fs::write(&path, text).map_err(Error::io(&path))?;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(Error::io(&path))?;
            }
        }
    }
    Ok(())
}

/// Whether there is something behind each name of a program.
fn has_starters(plan: &Plan, folder: &Path) -> bool {
    plan.starters.iter().all(|it| folder.join("bin").join(&it.name).exists())
}

/// Waits until all files are on the disk. One after the other would take seconds.
fn sync(folder: &Path) -> Result<(), Error> {
    #[cfg(target_os = "linux")]
    {
        #[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
        let opened = File::open(folder);
        opened.and_then(|it| Ok(rustix::fs::syncfs(it)?)).map_err(Error::io(folder))?;
    }
    overlay::sync_folder(folder).map_err(Error::io(folder))
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests;
