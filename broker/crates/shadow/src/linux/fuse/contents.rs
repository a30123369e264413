//! Reads and writes of files that programs have open in a merged folder.

use std::{fs::File, io, os::unix::fs::FileExt as _, sync::Arc};

use fuser::FileHandle;
use rustix::fs::{FallocateFlags, fallocate};

use super::{
    node::Id,
    state::{State, drop_rights},
};

impl State {
    /// Writes to a file, and if so, takes the rights away that it gives to who executes it.
    pub(super) fn write(
        &mut self,
        id: Id,
        handle: FileHandle,
        data: &[u8],
        offset: u64,
        drops_rights: bool,
    ) -> io::Result<()> {
        let file = Arc::clone(&self.handle(handle)?.file);
        self.tree.write(id, &file, data, offset)?;
        if drops_rights {
            drop_rights(self.tree.own(id)?);
        }
        Ok(())
    }

    pub(super) fn allocate(
        &mut self,
        id: Id,
        handle: FileHandle,
        mode: FallocateFlags,
        offset: u64,
        length: u64,
    ) -> io::Result<()> {
        let file = Arc::clone(&self.handle(handle)?.file);
        if !mode.contains(FallocateFlags::PUNCH_HOLE) {
            self.tree.expect_space(length)?;
        }
        fallocate(&*file, mode, offset, length)?;
        self.tree.count(id, &file)?;
        self.tree.modify(id)
    }
}

/// Up to so many bytes; fewer at the end.
pub(super) fn read_at(file: &File, offset: u64, size: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; size];
    let mut length = 0;
    while length < size {
        match file.read_at(&mut bytes[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}
