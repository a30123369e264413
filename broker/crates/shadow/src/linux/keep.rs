//! Keeps what programs wrote to caches: a layer of a run, on the disk, of the layer that was shown and what lies over it.
//!
//! No program runs meanwhile, and all paths here lead through real directories.

#![expect(clippy::disallowed_methods, reason = "what programs wrote, and Broker's own cache folder")]

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File, FileTimes, Metadata},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, chown, symlink},
    },
    path::{Path, PathBuf},
};

use overlay::ContentHash;
use rustix::fs::{CWD, FileType, Mode, XattrFlags, makedev, mknodat, setxattr};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::{OPAQUE, harvest::is_opaque, sparse};
use crate::{
    caches,
    removal::remove_all,
    scan::Stamp,
    warm::{Content, FILES, Shown},
};

/// Survey of what programs wrote, as far as caches are concerned.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Survey {
    /// The outermost caches, by their names.
    pub(super) groups: BTreeMap<String, Vec<String>>,
    /// All else.
    pub(super) written: Vec<(String, Shown)>,
    /// Entries of the folders of caches outside of the workspace that were written to.
    pub(super) stores: Vec<Vec<String>>,
}

/// Size of a group that was kept.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    /// The latest time of a file, in nanoseconds since 1970.
    pub(crate) newest: i64,
}

fn path_of(file: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Layers with what was written, and those that they lie over.
pub(super) struct Layers<'a> {
    pub(super) written: &'a File,
    /// Layers of the branch and the disk below it, without caches.
    pub(super) below: &'a [File],
    /// Folder in which all layers are shown.
    pub(super) root: &'a Path,
    /// Layers with what was written to caches outside of the workspace.
    pub(super) stores: &'a [Option<File>],
}

impl Layers<'_> {
    /// A folder of the workspace is a cache only if it was one before: a program may leave a sign of one anywhere.
    fn is_cache(&self, folder: &Path, name: &str) -> bool {
        let below: Vec<_> = self.below.iter().map(|it| path_of(it).join(folder)).collect();
        caches::is_folder(&self.root.join(folder), name)
            && (below.iter().all(|it| !it.join(name).is_dir())
                || below.iter().any(|it| caches::is_folder(it, name)))
    }
}

/// Looks through what was written.
pub(super) fn survey(layers: &Layers<'_>) -> io::Result<Survey> {
    let mut survey = Survey::default();
    survey.below(&path_of(layers.written), layers, Path::new(""))?;
    survey.stores = layers
        .stores
        .iter()
        .map(|it| it.as_ref().map_or(Ok(Vec::new()), names))
        .collect::<io::Result<_>>()?;
    Ok(survey)
}

/// Names of what lies in a folder, as far as they are in UTF-8.
fn names(folder: &File) -> io::Result<Vec<String>> {
    let name = |it: io::Result<fs::DirEntry>| it.map(|it| it.file_name().into_string().ok()).transpose();
    fs::read_dir(path_of(folder))?.filter_map(name).collect()
}

impl Survey {
    fn below(&mut self, written: &Path, layers: &Layers<'_>, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(written.join(folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            // Names that are not UTF-8 are neither in a branch nor kept.
            let (Some(text), Some(name)) = (path.to_str(), path.file_name().and_then(|it| it.to_str()))
            else {
                continue;
            };
            let metadata = entry.metadata()?;
            let is_folder = metadata.is_dir() || is_whiteout(&metadata);
            if is_folder && layers.is_cache(folder, name) {
                self.groups.entry(name.to_owned()).or_default().push(text.to_owned());
            } else if !metadata.is_dir() && caches::is_file(name) {
                self.groups.entry(FILES.to_owned()).or_default().push(text.to_owned());
            } else {
                let content = content(&written.join(&path), &metadata)?;
                let modified = Stamp::of(&metadata).modified;
                self.written.extend(content.map(|content| (text.to_owned(), Shown { content, modified })));
                if metadata.is_dir() {
                    self.below(written, layers, &path)?;
                }
            }
        }
        Ok(())
    }
}

fn is_whiteout(it: &Metadata) -> bool {
    it.file_type().is_char_device() && it.rdev() == 0
}

/// `None` for a directory with the contents that it had, and for what no view has.
fn content(at: &Path, metadata: &Metadata) -> io::Result<Option<Content>> {
    let hash = |bytes: &[u8]| *ContentHash::of(bytes).as_bytes();
    Ok(match metadata.file_type() {
        _ if is_whiteout(metadata) => Some(Content::Removed),
        kind if kind.is_dir() => is_opaque(at).then_some(Content::Folder),
        kind if kind.is_symlink() => {
            Some(Content::Link(hash(fs::read_link(at)?.as_os_str().as_encoded_bytes())))
        }
        kind if kind.is_file() => {
            let executable = metadata.permissions().mode() & 0o111 != 0;
            let hash = sparse::hash(&File::open(at)?, metadata.size())?;
            Some(Content::File { hash: *hash.as_bytes(), executable })
        }
        _ => None,
    })
}

/// Fills the folder `new` with `old`, the layer that was shown, and what was written to these caches.
pub(super) fn keep(
    written: &File,
    root: &Path,
    paths: &[String],
    new: &OwnedFd,
    old: Option<&OwnedFd>,
) -> io::Result<Size> {
    let mut keeper = Keeper {
        written: path_of(written),
        root: root.to_owned(),
        new: path_of(new),
        linked: HashMap::new(),
    };
    if let Some(old) = old {
        link_all(&path_of(old), &keeper.new)?;
    }
    for path in paths {
        keeper.parents(Path::new(path))?;
        keeper.add(Path::new(path))?;
    }
    let mut size = Size::default();
    measure(&keeper.new, &mut size)?;
    Ok(size)
}

/// Shares the files of two layers, neither of which is ever changed.
fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let metadata = entry.metadata()?;
        if metadata.is_dir() {
            fs::create_dir(&to)?;
            if is_opaque(&from) {
                setxattr(&to, OPAQUE, b"y", XattrFlags::empty())?;
            }
            link_all(&from, &to)?;
            dress_folder(&to, &metadata)?;
        } else {
            fs::hard_link(&from, &to)?;
        }
    }
    Ok(())
}

/// Bytes of a block, whatever the file system's are.
const BLOCK: u64 = 512;

fn measure(folder: &Path, size: &mut Size) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        // Holes take nothing.
        size.bytes += metadata.size().min(metadata.blocks().saturating_mul(BLOCK));
        if metadata.is_dir() {
            measure(&entry.path(), size)?;
        } else if metadata.is_file() {
            size.newest = size.newest.max(Stamp::of(&metadata).modified);
        }
    }
    Ok(())
}

struct Keeper {
    written: PathBuf,
    root: PathBuf,
    new: PathBuf,
    /// Files that have several names, by device and number.
    linked: HashMap<(u64, u64), PathBuf>,
}

impl Keeper {
    /// The directories above a cache show their own mode and time in the merged folder: those that they have there.
    fn parents(&self, path: &Path) -> io::Result<()> {
        let Some(parent) = path.parent().filter(|it| !it.as_os_str().is_empty()) else { return Ok(()) };
        self.parents(parent)?;
        let to = self.new.join(parent);
        if !to.is_dir() {
            fs::create_dir(&to)?;
        }
        match fs::metadata(self.root.join(parent)) {
            Ok(shown) => dress_folder(&to, &shown),
            Err(_) => Ok(()),
        }
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        let (from, to) = (self.written.join(path), self.new.join(path));
        let metadata = fs::symlink_metadata(&from)?;
        if !metadata.is_dir() || is_opaque(&from) || !to.is_dir() {
            remove(&to)?;
        }
        if metadata.is_dir() {
            if !to.is_dir() {
                fs::create_dir(&to)?;
            }
            if is_opaque(&from) {
                setxattr(&to, OPAQUE, b"y", XattrFlags::empty())?;
            }
            for entry in fs::read_dir(&from)? {
                self.add(&path.join(entry?.file_name()))?;
            }
            dress_folder(&to, &metadata)
        } else if is_whiteout(&metadata) {
            Ok(mknodat(CWD, &to, FileType::CharacterDevice, Mode::empty(), makedev(0, 0))?)
        } else if metadata.is_symlink() {
            symlink(fs::read_link(&from)?, &to)
        } else if metadata.is_file() {
            self.add_file(&from, &to, &metadata)
        } else {
            Ok(())
        }
    }

    fn add_file(&mut self, from: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
        let number = (metadata.dev(), metadata.ino());
        if let Some(first) = self.linked.get(&number) {
            return fs::hard_link(first, to);
        }
        if metadata.nlink() > 1 {
            self.linked.insert(number, to.to_owned());
        }
        copy(from, to, metadata)
    }
}

fn copy(from: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
    let mut file = File::create_new(to)?;
    sparse::copy(&File::open(from)?, &mut file, metadata.size())?;
    own(to, metadata)?;
    file.set_times(FileTimes::new().set_modified(metadata.modified()?))?;
    file.set_permissions(fs::Permissions::from_mode(metadata.mode() & 0o777))
}

fn dress_folder(folder: &Path, like: &Metadata) -> io::Result<()> {
    own(folder, like)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(like.mode() & 0o777 | 0o700))?;
    File::open(folder)?.set_modified(like.modified()?)
}

/// Only an administrator's programs may be of another user.
fn own(path: &Path, like: &Metadata) -> io::Result<()> {
    if geteuid().is_root() { chown(path, Some(like.uid()), Some(like.gid())) } else { Ok(()) }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(it) if it.is_dir() => remove_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}
