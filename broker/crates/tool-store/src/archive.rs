//! Unpacking of packages. A file is written where its name says below one folder, and nothing else is made: no link, no device, no
//! owner, no time, and no more than a package of its size may hold.

mod zip;

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;
use tar::EntryType;

use crate::package::is_relative;

/// Least limit of a package's unpacked bytes, and limit per packed byte.
const SMALLEST_LIMIT: u64 = 64 << 20;
const LIMIT_BY_SIZE: u64 = 25;

/// Files of the largest package.
const MAX_FILES: u32 = 50_000;

/// Reason for which a package is not unpacked.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Something in the archive.
    Archive(String),
    Io(PathBuf, io::Error),
}

/// Folder in which a package is unpacked.
pub(crate) struct Unpacker<'u> {
    folder: &'u Path,
    /// Bytes and files that may still come.
    bytes: u64,
    files: u32,
    room: &'u mut Room,
}

/// Budget of bytes to write; tests set one to act as a full disk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room(pub(crate) u64);

impl<'u> Unpacker<'u> {
    /// For a package of this size.
    pub(crate) fn new(folder: &'u Path, size: usize, room: &'u mut Room) -> Self {
        let bytes = SMALLEST_LIMIT.max(LIMIT_BY_SIZE.saturating_mul(size as u64));
        Self { folder, bytes, files: MAX_FILES, room }
    }

    /// Unpacks a tarball of npm, whose files lie in one folder.
    pub(crate) fn tarball(mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let mut archive = tar::Archive::new(GzDecoder::new(bytes));
        for entry in archive.entries().map_err(damaged)? {
            let mut entry = entry.map_err(damaged)?;
            let name = entry.path().map_err(damaged)?.into_owned();
            match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous => {}
                EntryType::Directory | EntryType::XGlobalHeader => continue,
                kind => return Err(refused(&name, kind_of_entry(kind))),
            }
            expect_inside(&name)?;
            let below: PathBuf = name.components().skip(1).collect();
            if below.as_os_str().is_empty() {
                return Err(refused(&name, "lies beside the package"));
            }
            let is_program = entry.header().mode().map_err(damaged)? & 0o111 != 0;
            self.write(&below, is_program, &mut entry)?;
        }
        Ok(())
    }

    /// Unpacks a wheel as pip lays it out: scripts in `scripts`, data in `data`.
    pub(crate) fn wheel(mut self, bytes: &[u8]) -> Result<(), Refusal> {
        for entry in zip::entries(bytes).map_err(damaged)? {
            let name = PathBuf::from(entry.name);
            match entry.mode & 0o170_000 {
                0 | 0o100_000 if !entry.is_folder() => {}
                0 | 0o100_000 | 0o040_000 => continue,
                0o120_000 => return Err(refused(&name, "is a link")),
                _ => return Err(refused(&name, "is no regular file")),
            }
            expect_inside(&name)?;
            let (place, is_script) = place_of(&name);
            self.write(&place, is_script || entry.mode & 0o111 != 0, &mut entry.reader().map_err(damaged)?)?;
        }
        Ok(())
    }

    /// Writes a file; one of another package at the same place is replaced, as by pip.
    #[expect(clippy::disallowed_methods, reason = "the store is no workspace folder")]
    fn write(&mut self, below: &Path, is_program: bool, from: &mut dyn Read) -> Result<(), Refusal> {
        let path = self.folder.join(below);
        let failed = |error| Refusal::Io(path.clone(), error);
        self.files = self.files.checked_sub(1).ok_or_else(|| too_much("files"))?;
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        let mode = if is_program { 0o755 } else { 0o644 };
        let options = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).to_owned();
        let mut file = options.open(&path).map_err(failed)?;
        let mut piece = vec![0; 64 << 10];
        loop {
            let length = from.read(&mut piece).map_err(damaged)?;
            if length == 0 {
                return Ok(());
            }
            self.bytes = self.bytes.checked_sub(length as u64).ok_or_else(|| too_much("bytes"))?;
            self.room.take(length as u64).and_then(|()| file.write_all(&piece[..length])).map_err(failed)?;
        }
    }
}

impl Room {
    fn take(&mut self, bytes: u64) -> io::Result<()> {
        self.0 = self.0.checked_sub(bytes).ok_or(io::ErrorKind::StorageFull)?;
        Ok(())
    }
}

/// Place of a wheel's file, and whether it lies among the scripts.
fn place_of(name: &Path) -> (PathBuf, bool) {
    let mut parts = name.components().map(|it| it.as_os_str());
    let is_data = parts.next().and_then(|it| it.to_str()).is_some_and(|it| it.ends_with(".data"));
    let kind = parts.next().filter(|_| is_data).and_then(|it| it.to_str());
    let rest: PathBuf = parts.collect();
    match kind {
        Some("purelib" | "platlib") => (rest, false),
        Some("scripts") => (Path::new("scripts").join(rest), true),
        Some("data") => (Path::new("data").join(rest), false),
        _ => (name.to_owned(), false),
    }
}

fn expect_inside(name: &Path) -> Result<(), Refusal> {
    match is_relative(name) && !name.as_os_str().as_encoded_bytes().contains(&0) {
        true => Ok(()),
        false => Err(refused(name, "leads out of the package")),
    }
}

fn kind_of_entry(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink | EntryType::Link => "is a link",
        EntryType::Char | EntryType::Block => "is a device",
        EntryType::Fifo => "is a pipe",
        _ => "is of an unknown kind",
    }
}

fn refused(name: &Path, why: &str) -> Refusal {
    Refusal::Archive(format!("`{}` in it {why}", name.display().to_string().escape_debug()))
}

fn too_much(of: &str) -> Refusal {
    Refusal::Archive(format!("it holds more {of} than a package of its size may"))
}

fn damaged(error: impl std::fmt::Display) -> Refusal {
    Refusal::Archive(format!("it is damaged: {error}"))
}

#[cfg(test)]
mod tests;
