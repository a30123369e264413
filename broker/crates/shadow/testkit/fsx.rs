//! Random operations on one file, each done to a model in memory, too, and compared: what `fsx` is for file systems.

use std::{
    fs::{File, OpenOptions},
    io,
    os::{fd::AsRawFd as _, unix::fs::FileExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{FallocateFlags, copy_file_range, fallocate};

/// The most bytes of the file, and of one operation.
const MAX_FILE_BYTES: usize = 128 << 10;
const LONGEST: usize = 16 << 10;

#[derive(Debug, Clone, Copy)]
enum Operation {
    Read,
    /// Reads by a handle that was opened before the first write.
    ReadEarly,
    ReadMapped,
    Write,
    WriteMapped,
    Truncate,
    Punch,
    Allocate,
    CopyRange,
    Reopen,
}

use Operation::{
    Allocate, CopyRange, Punch, Read, ReadEarly, ReadMapped, Reopen, Truncate, Write, WriteMapped,
};

const OPERATIONS: [Operation; 10] =
    [Read, ReadEarly, ReadMapped, Write, WriteMapped, Truncate, Punch, Allocate, CopyRange, Reopen];

struct Fsx {
    path: PathBuf,
    file: File,
    early: File,
    model: Vec<u8>,
    random: Random,
}

/// Does so many operations and says what the file has at the end.
pub(crate) fn run(path: &Path, seed: u64, operations: usize) -> io::Result<Vec<u8>> {
    let early = File::open(path)?;
    let mut model = vec![0; usize::try_from(early.metadata()?.len()).map_err(io::Error::other)?];
    early.read_exact_at(&mut model, 0)?;
    let mut fsx = Fsx { path: path.to_owned(), file: open(path)?, early, model, random: Random(seed) };
    for number in 0..operations {
        let operation = OPERATIONS[fsx.random.below(OPERATIONS.len())];
        fsx.step(operation).map_err(|error| {
            io::Error::other(format!("seed {seed}, step {number}, {operation:?}: {error}"))
        })?;
    }
    fsx.file = open(path)?;
    fsx.compare(&fsx.file, 0..fsx.model.len())?;
    Ok(fsx.model)
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

impl Fsx {
    fn step(&mut self, operation: Operation) -> io::Result<()> {
        match operation {
            Read => {
                let range = self.range_within();
                self.compare(&self.file, range)
            }
            ReadEarly => {
                let range = self.range_within();
                self.compare(&self.early, range)
            }
            ReadMapped => {
                let range = self.range_within();
                let mapped = Mapped::of(&self.file, self.model.len())?;
                same(&mapped.bytes()[range.clone()], &self.model[range])
            }
            Write => self.write(),
            WriteMapped => {
                let range = self.range_within();
                let bytes = self.random.bytes(range.len());
                Mapped::of(&self.file, self.model.len())?.bytes_mut()[range.clone()].copy_from_slice(&bytes);
                self.model[range].copy_from_slice(&bytes);
                Ok(())
            }
            Truncate => {
                let length = self.random.below(MAX_FILE_BYTES);
                self.model.resize(length, 0);
                self.file.set_len(length as u64)
            }
            Punch => self.punch(),
            Allocate => {
                let range = self.range();
                self.model.resize(self.model.len().max(range.end), 0);
                Ok(fallocate(&self.file, FallocateFlags::empty(), range.start as u64, range.len() as u64)?)
            }
            CopyRange => self.copy(),
            Reopen => {
                self.file = open(&self.path)?;
                Ok(())
            }
        }?;
        let length = self.file.metadata()?.len();
        if length == self.model.len() as u64 { Ok(()) } else { Err(differs("the length", length)) }
    }

    fn write(&mut self) -> io::Result<()> {
        let range = self.range();
        let bytes = self.random.bytes(range.len());
        self.model.resize(self.model.len().max(range.end), 0);
        self.model[range.clone()].copy_from_slice(&bytes);
        self.file.write_all_at(&bytes, range.start as u64)
    }

    fn punch(&mut self) -> io::Result<()> {
        let range = self.range();
        let end = range.end.min(self.model.len());
        self.model[range.start.min(end)..end].fill(0);
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(fallocate(&self.file, flags, range.start as u64, range.len() as u64)?)
    }

    /// Copies a part of the first half into the second one.
    fn copy(&mut self) -> io::Result<()> {
        let half = self.model.len() / 2;
        let length = self.random.below(half.min(LONGEST) + 1);
        let from = self.random.below(half - length + 1);
        let to = half + self.random.below(half + 1);
        self.model.resize(self.model.len().max(to + length), 0);
        self.model.copy_within(from..from + length, to);
        let (mut from, mut to, mut left) = (from as u64, to as u64, length);
        while left > 0 {
            match copy_file_range(&self.file, Some(&mut from), &self.file, Some(&mut to), left)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                copied => left -= copied,
            }
        }
        Ok(())
    }

    fn compare(&self, file: &File, range: std::ops::Range<usize>) -> io::Result<()> {
        let mut bytes = vec![0; range.len()];
        file.read_exact_at(&mut bytes, range.start as u64)?;
        same(&bytes, &self.model[range])
    }

    /// A range that may go beyond the end, and is not empty.
    fn range(&mut self) -> std::ops::Range<usize> {
        let start = self.random.below(MAX_FILE_BYTES - LONGEST);
        start..start + 1 + self.random.below(LONGEST)
    }

    /// A range of what is there.
    fn range_within(&mut self) -> std::ops::Range<usize> {
        let start = self.random.below(self.model.len() + 1);
        let length = self.random.below(LONGEST);
        start..(start + length).min(self.model.len())
    }
}

fn same(found: &[u8], expected: &[u8]) -> io::Result<()> {
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        Some(at) => Err(differs("a byte of the range", at as u64)),
        None => Ok(()),
    }
}

fn differs(what: &str, number: u64) -> io::Error {
    io::Error::other(format!("{what} differs: {number}"))
}

/// The SplitMix64 generator: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        // The remainder is below a number of this type.
        (self.next() % most as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.next().to_le_bytes());
        words.flatten().take(count).collect()
    }
}

/// A file's bytes as memory that is shared with it.
struct Mapped {
    start: *mut u8,
    length: usize,
}

#[expect(unsafe_code, reason = "nothing safe maps memory that others may write")]
impl Mapped {
    fn of(file: &File, length: usize) -> io::Result<Self> {
        if length == 0 {
            return Ok(Self { start: std::ptr::NonNull::dangling().as_ptr(), length });
        }
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: the kernel chooses the place, where nothing else is.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { start: start.cast(), length })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are mapped while this lives, and no other process has the file.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and it is borrowed as a whole.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: it was mapped by `of`, and nothing borrows it any more.
            #[expect(unsafe_code, reason = "as above")]
            let _ = unsafe { libc::munmap(self.start.cast(), self.length) };
        }
    }
}
