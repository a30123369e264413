//! Files of an index in a folder of their own: written once under another name, checked when opened, mapped into memory.
//!
//! A file that is torn, of another version or not of this index is removed and never believed. The folder may be deleted
//! at any time; what is open stays mapped.

#![expect(
    clippy::disallowed_methods,
    reason = "the index lies in a folder of its own, outside of any workspace"
)]

use std::{
    fs::{self, File},
    io::{self, Write as _},
    ops::Range,
    path::{Path, PathBuf},
};

use memmap2::Mmap;

const MAGIC: &[u8; 8] = b"brk-srch";
const HASH: usize = 32;

/// A folder with files of one kind.
pub(crate) struct Store {
    folder: PathBuf,
    /// The ending of its files.
    kind: &'static str,
    version: u32,
}

/// A file of some sections.
pub(crate) struct Mapped {
    map: Mmap,
    path: PathBuf,
    sections: Vec<Range<usize>>,
}

impl Store {
    pub(crate) fn open(folder: &Path, kind: &'static str, version: u32) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), kind, version })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// All files that are whole. Others of this kind are removed, those that a process left unfinished, too.
    pub(crate) fn load(&self) -> io::Result<Vec<Mapped>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            paths.push(entry?.path());
        }
        paths.sort();
        let ending = |it: &PathBuf| it.extension().and_then(|it| it.to_str()).map(str::to_owned);
        let mut found = Vec::new();
        for path in paths {
            let ending = ending(&path);
            if ending.as_deref() == Some(self.kind) {
                match self.map(&path) {
                    Ok(file) => found.push(file),
                    Err(_) => _ = fs::remove_file(&path),
                }
            } else if ending.is_some_and(|it| it == format!("{}-part", self.kind)) {
                let _ = fs::remove_file(&path);
            }
        }
        Ok(found)
    }

    /// Writes a file with these sections. Its name is the hash of its content.
    pub(crate) fn add(&self, sections: &[Vec<u8>]) -> io::Result<Mapped> {
        let mut head = Vec::new();
        head.extend(self.version.to_le_bytes());
        head.extend((sections.len() as u32).to_le_bytes());
        sections.iter().for_each(|it| head.extend((it.len() as u64).to_le_bytes()));
        let mut hasher = blake3::Hasher::new();
        hasher.update(&head);
        for section in sections {
            hasher.update(section);
        }
        let hash = hasher.finalize();
        let name = &hash.to_hex()[..24];
        let path = self.folder.join(format!("{name}.{}", self.kind));
        // The dot says to a clean-up that the file is being written.
        let part = self.folder.join(format!(".{name}.{}-part", self.kind));
        let mut file = File::create(&part)?;
        file.write_all(MAGIC)?;
        file.write_all(hash.as_bytes())?;
        file.write_all(&head)?;
        sections.iter().try_for_each(|it| file.write_all(it))?;
        file.sync_data()?;
        fs::rename(&part, &path)?;
        self.map(&path)
    }

    /// Takes the file from the folder; what is mapped stays.
    pub(crate) fn remove(&self, file: &Mapped) {
        let _ = fs::remove_file(&file.path);
    }

    #[expect(unsafe_code, reason = "mapping a file that may change is unsafe")]
    fn map(&self, path: &Path) -> io::Result<Mapped> {
        let file = File::open(path)?;
        // SAFETY: files of this folder, which is the program's own, are written before they get their name and then
        // never again; they are removed, which leaves what is mapped as it is.
        let map = unsafe { Mmap::map(&file)? };
        let sections = self.check(&map).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Mapped { map, path: path.to_owned(), sections })
    }

    /// Returns the ranges of the sections, if all of the file is as it was written.
    fn check(&self, bytes: &[u8]) -> Option<Vec<Range<usize>>> {
        let (hash, content) = bytes.strip_prefix(MAGIC)?.split_at_checked(HASH)?;
        if blake3::hash(content).as_bytes() != hash {
            return None;
        }
        let number = |at: usize| Some(u32::from_le_bytes(content.get(at..at + 4)?.try_into().ok()?));
        if number(0)? != self.version {
            return None;
        }
        let count = number(4)? as usize;
        let lengths = content.get(8..count.checked_mul(8)?.checked_add(8)?)?.as_chunks::<8>().0;
        let mut end = MAGIC.len() + HASH + 8 + count * 8;
        let mut sections = Vec::new();
        for length in lengths {
            let start = end;
            end = end.checked_add(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            sections.push(start..end);
        }
        (end == bytes.len()).then_some(sections)
    }
}

impl Mapped {
    pub(crate) fn sections(&self) -> usize {
        self.sections.len()
    }

    pub(crate) fn section(&self, index: usize) -> &[u8] {
        &self.map[self.sections[index].clone()]
    }

    /// Bytes of the file.
    pub(crate) fn size(&self) -> u64 {
        self.map.len() as u64
    }
}
