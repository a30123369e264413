//! The database's file, with all writes held back until it is known to be sound.
//!
//! Opening a database repairs it. On a damaged file that would write into what the user may still want to
//! rescue; held back in memory, the writes of a failed opening are simply forgotten.

use std::{collections::BTreeMap, io, ops::Bound, sync::Arc};

use parking_lot::Mutex;
use redb::{BackendError, StorageBackend};

const BLOCK: u64 = 4096;

#[derive(Debug, Clone)]
pub(super) struct Staged {
    file: Arc<dyn StorageBackend>,
    held: Arc<Mutex<Mode>>,
}

#[derive(Debug)]
enum Mode {
    Held(Held),
    Released,
    /// Releasing broke off; the file is as after a crash at that moment.
    Broken,
}

#[derive(Debug)]
struct Held {
    len: u64,
    /// Up to here the file's own bytes count.
    own: u64,
    blocks: BTreeMap<u64, Box<[u8]>>,
    /// Writes in their order, since the database relies on it.
    writes: Vec<Write>,
}

#[derive(Debug)]
enum Write {
    Bytes(u64, Vec<u8>),
    Len(u64),
    Sync,
}

impl Staged {
    pub(super) fn new(file: Arc<dyn StorageBackend>) -> io::Result<Self> {
        let held = Held::new(file.len()?);
        Ok(Self { file, held: Arc::new(Mutex::new(Mode::Held(held))) })
    }

    /// Creates a stage for a file that is made: no write is held back.
    pub(super) fn of_new(file: Arc<dyn StorageBackend>) -> Self {
        Self { file, held: Arc::new(Mutex::new(Mode::Released)) }
    }

    /// Writes what was held back; from now on nothing is.
    pub(super) fn release(&self) -> io::Result<()> {
        let mut mode = self.held.lock();
        let Mode::Held(held) = std::mem::replace(&mut *mode, Mode::Broken) else { return Ok(()) };
        held.write_to(&*self.file)?;
        *mode = Mode::Released;
        Ok(())
    }

    /// Does `held` while writes are held back, else what the file does.
    fn either<T>(
        &self,
        held: impl FnOnce(&mut Held) -> io::Result<T>,
        file: impl FnOnce(&dyn StorageBackend) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut mode = self.held.lock();
        match &mut *mode {
            Mode::Held(it) => held(it),
            Mode::Broken => Err(io::Error::other("an earlier write failed")),
            Mode::Released => {
                drop(mode);
                file(&*self.file)
            }
        }
    }
}

impl Held {
    fn new(len: u64) -> Self {
        Self { len, own: len, blocks: BTreeMap::new(), writes: Vec::new() }
    }

    fn write_to(self, file: &dyn StorageBackend) -> io::Result<()> {
        for write in self.writes {
            match write {
                Write::Bytes(offset, bytes) => file.write(offset, &bytes)?,
                Write::Len(len) => file.set_len(len)?,
                Write::Sync => file.sync_data()?,
            }
        }
        Ok(())
    }

    fn read(&self, file: &dyn StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(out.len() as u64).filter(|end| *end <= self.len);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let own = self.own.clamp(offset, end) - offset;
        let (from_file, zeroes) = out.split_at_mut(own as usize);
        if !from_file.is_empty() {
            file.read(offset, from_file)?;
        }
        zeroes.fill(0);
        for (number, block) in self.blocks.range(offset / BLOCK..end.div_ceil(BLOCK)) {
            let (start, stop) = overlap(*number, offset, end);
            let block = &block[(start - number * BLOCK) as usize..(stop - number * BLOCK) as usize];
            out[(start - offset) as usize..(stop - offset) as usize].copy_from_slice(block);
        }
        Ok(())
    }

    fn write(&mut self, file: &dyn StorageBackend, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset + data.len() as u64;
        self.len = self.len.max(end);
        for number in offset / BLOCK..end.div_ceil(BLOCK) {
            let (start, stop) = overlap(number, offset, end);
            if !self.blocks.contains_key(&number) {
                let mut block = vec![0; BLOCK as usize];
                let there = (self.len - number * BLOCK).min(BLOCK) as usize;
                self.read(file, number * BLOCK, &mut block[..there])?;
                self.blocks.insert(number, block.into());
            }
            if let Some(block) = self.blocks.get_mut(&number) {
                block[(start - number * BLOCK) as usize..(stop - number * BLOCK) as usize]
                    .copy_from_slice(&data[(start - offset) as usize..(stop - offset) as usize]);
            }
        }
        self.writes.push(Write::Bytes(offset, data.to_vec()));
        Ok(())
    }

    fn set_len(&mut self, len: u64) {
        self.own = self.own.min(len);
        // Bytes that are cut off read as zeroes if the file grows again.
        self.blocks.split_off(&len.div_ceil(BLOCK));
        if let Some(last) = self.blocks.get_mut(&(len / BLOCK)) {
            last[(len % BLOCK) as usize..].fill(0);
        }
        self.len = len;
        self.writes.push(Write::Len(len));
    }
}

/// The part of the range from `offset` to `end` that lies in a block.
fn overlap(number: u64, offset: u64, end: u64) -> (u64, u64) {
    ((number * BLOCK).max(offset), ((number + 1) * BLOCK).min(end))
}

impl StorageBackend for Staged {
    fn len(&self) -> io::Result<u64> {
        self.either(|held| Ok(held.len), |file| file.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut mode = self.held.lock();
        match &mut *mode {
            Mode::Held(held) => held.read(&*self.file, offset, out),
            _ => {
                drop(mode);
                self.file.read(offset, out)
            }
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let hold = |held: &mut Held| {
            held.set_len(len);
            Ok(())
        };
        self.either(hold, |file| file.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let hold = |held: &mut Held| {
            held.writes.push(Write::Sync);
            Ok(())
        };
        self.either(hold, |file| file.sync_data())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.either(|held| held.write(&*self.file, offset, data), |file| file.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}

/// A file whose writes reach it when it is synced, and not before: the disk under a cache that a power cut empties.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Unsynced {
    file: redb::backends::FileBackend,
    held: Mutex<Held>,
}

#[cfg(test)]
impl Unsynced {
    pub(super) fn new(file: redb::backends::FileBackend) -> Self {
        let held = Mutex::new(Held::new(file.len().unwrap()));
        Self { file, held }
    }

    pub(super) fn file(&self) -> &redb::backends::FileBackend {
        &self.file
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        Ok(self.held.lock().len)
    }

    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.held.lock().read(&self.file, offset, out)
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.held.lock().write(&self.file, offset, data)
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        self.held.lock().set_len(len);
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        let mut held = self.held.lock();
        let len = held.len;
        std::mem::replace(&mut *held, Held::new(len)).write_to(&self.file)
    }
}
