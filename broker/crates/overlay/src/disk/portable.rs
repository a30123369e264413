//! Everywhere else: each component is looked at before it is passed.
//!
//! Someone who swaps a directory for a link between look and step can defeat this. It guards against
//! links that are there, not against an enemy with write access to the workspace.

use std::{
    fs::{self, File},
    io,
    path::{Component, Path, PathBuf},
};

use bytes::Bytes;

use super::{Door, Stamp, Stamped};
use crate::{ContentHash, Entry, FileKind, Listing, Metadata, View, WorkspacePath};

pub(super) struct Portable {
    root: PathBuf,
}

impl Portable {
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        if !fs::metadata(root)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { root: root.to_owned() })
    }

    /// The path on the disk and what stands there; everything on the way is a real directory.
    fn look_at(&self, path: &WorkspacePath) -> io::Result<(PathBuf, fs::Metadata)> {
        let mut place = self.root.clone();
        let mut metadata = fs::symlink_metadata(&place)?;
        for name in path.components() {
            if !metadata.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            push_plain(&mut place, name)?;
            let length = place.as_os_str().len();
            let look = fs::symlink_metadata(&place);
            metadata = look.map_err(|error| super::with_long_names_missing(error, length))?;
        }
        Ok((place, metadata))
    }

    fn open_file(&self, path: &WorkspacePath) -> io::Result<File> {
        let (place, metadata) = self.look_at(path)?;
        match super::stamp::kind(metadata.file_type()) {
            FileKind::File => File::open(place),
            FileKind::Directory => Err(io::ErrorKind::IsADirectory.into()),
            FileKind::Symlink => Err(io::ErrorKind::NotADirectory.into()),
            FileKind::Other => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// On Windows a name such as `C:` or `a\b` is more than a name.
fn push_plain(place: &mut PathBuf, name: &str) -> io::Result<()> {
    let mut parts = Path::new(name).components();
    let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    place.push(name);
    Ok(())
}

impl Door for Portable {
    fn stamp(&self, path: &WorkspacePath) -> io::Result<Stamp> {
        Ok(Stamp::of(&self.look_at(path)?.1))
    }

    fn read_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Bytes>> {
        let file = self.open_file(path)?;
        let look = || file.metadata().map(|it| Stamp::of(&it));
        super::stamped(look, |metadata| super::read_regular(&file, metadata))
    }

    fn hash_stamped(&self, path: &WorkspacePath, largest: u64) -> io::Result<Stamped<ContentHash>> {
        let file = self.open_file(path)?;
        let look = || file.metadata().map(|it| Stamp::of(&it));
        super::stamped(look, |metadata| super::hash_regular(&file, metadata, largest, &mut Vec::new()))
    }

    /// Not every system can list an open directory, so the path is looked at instead.
    fn list_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Listing>> {
        let before = self.stamp(path)?;
        let value = self.list(path)?;
        Ok(Stamped { value, before, after: self.stamp(path)? })
    }
}

impl View for Portable {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        let file = self.open_file(path)?;
        super::read_regular(&file, Stamp::of(&file.metadata()?).metadata())
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        Ok(self.stamp(path)?.metadata())
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        let (place, metadata) = self.look_at(path)?;
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut listing = Listing::default();
        for entry in fs::read_dir(place)? {
            let entry = entry?;
            match entry.file_name().into_string() {
                Ok(name) => {
                    listing.entries.push(Entry { name, kind: super::stamp::kind(entry.file_type()?) })
                }
                Err(_) => listing.not_utf8 += 1,
            }
        }
        listing.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        let (place, metadata) = self.look_at(path)?;
        if !metadata.is_symlink() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        super::link_text(fs::read_link(place)?.into_os_string().into_encoded_bytes())
    }
}
