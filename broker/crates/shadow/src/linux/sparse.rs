//! Files with holes, which take no memory and no time: only the parts between them are read.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    ops::Range,
};

use overlay::ContentHash;
use rustix::{
    fs::{SeekFrom as Place, seek},
    io::Errno,
};

/// The next part at this place or later that is no hole.
fn next_part(file: &File, from: u64) -> io::Result<Option<Range<u64>>> {
    match seek(file, Place::Data(from)) {
        Ok(start) => Ok(Some(start..seek(file, Place::Hole(start))?)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Calls `each` for all parts that are no holes, with their places.
fn parts(file: &File, mut each: impl FnMut(u64, &mut dyn io::Read) -> io::Result<()>) -> io::Result<()> {
    let mut at = 0;
    while let Some(part) = next_part(file, at)? {
        let mut reader = file;
        reader.seek(SeekFrom::Start(part.start))?;
        each(part.start, &mut reader.take(part.end - part.start))?;
        at = part.end;
    }
    Ok(())
}

/// The hash of a file's content. That of a file with holes is of its parts and their places, and no view has it.
pub(super) fn hash(file: &File, size: u64) -> io::Result<ContentHash> {
    match next_part(file, 0)? {
        Some(whole) if whole == (0..size) => {
            let mut reader = file;
            reader.rewind()?;
            ContentHash::of_reader(reader)
        }
        None if size == 0 => Ok(ContentHash::of(b"")),
        _ => {
            let mut text = size.to_le_bytes().to_vec();
            parts(file, |at, part| {
                text.extend(at.to_le_bytes());
                text.extend(ContentHash::of_reader(part)?.as_bytes());
                Ok(())
            })?;
            Ok(ContentHash::of(&text))
        }
    }
}

/// Bytes that are looked at at once for being a hole.
const CHUNK_SIZE: usize = 64 << 10;

/// Copies what is no hole, and no zeros: what takes no memory takes no space on the disk.
pub(super) fn copy(from: &File, to: &mut File, size: u64) -> io::Result<()> {
    let mut piece = vec![0; CHUNK_SIZE];
    parts(from, |at, part| {
        to.seek(SeekFrom::Start(at))?;
        loop {
            let length = part.read(&mut piece)?;
            match &piece[..length] {
                [] => return Ok(()),
                bytes if bytes.iter().all(|it| *it == 0) => {
                    to.seek(SeekFrom::Current(i64::try_from(length).unwrap_or_default()))?;
                }
                bytes => to.write_all(bytes)?,
            }
        }
    })?;
    to.set_len(size)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};

    use super::*;

    #[test]
    fn holes_are_neither_read_nor_copied() {
        const SIZE: u64 = 8 << 40;
        let file = || tempfile::tempfile_in("/dev/shm").unwrap();
        let (from, mut to, dense) = (file(), file(), file());
        from.set_len(SIZE).unwrap();
        let empty = hash(&from, SIZE).unwrap();
        from.write_all_at(b"text", 4 << 30).unwrap();
        assert_ne!(hash(&from, SIZE).unwrap(), empty);
        copy(&from, &mut to, SIZE).unwrap();
        assert_eq!(hash(&from, SIZE).unwrap(), hash(&to, SIZE).unwrap());
        assert!(to.metadata().unwrap().blocks() * 512 < 8 << 20 && to.metadata().unwrap().len() == SIZE);
        dense.write_all_at(b"text", 0).unwrap();
        assert_eq!(hash(&dense, 4).unwrap(), ContentHash::of(b"text"));
        assert_eq!(hash(&file(), 0).unwrap(), ContentHash::of(b""));
    }
}
