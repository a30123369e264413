//! Folders that programs have open in a merged folder: what was in them when they were opened.

use std::{ffi::OsStr, io, time::Duration};

use fuser::{FileAttr, FileHandle, FileType, INodeNo};

use super::{
    node::{Id, os},
    state::State,
};

impl State {
    pub(super) fn open_folder(&mut self, id: Id) -> io::Result<u64> {
        let names = self.tree.list(id)?;
        let number = self.number();
        let above = [".", ".."].map(|it| (id, FileType::Directory, it.into()));
        let names = names.into_iter().map(|(name, (id, kind))| (id, kind, name));
        self.listings.insert(number, above.into_iter().chain(names).collect());
        Ok(number)
    }

    /// Tells names from `offset` on, each with the offset after it, until `add` says that there is no more room.
    pub(super) fn tell_names(
        &self,
        handle: FileHandle,
        offset: u64,
        mut add: impl FnMut(INodeNo, u64, FileType, &OsStr) -> bool,
    ) -> io::Result<()> {
        let names = self.listings.get(&handle.0).ok_or_else(|| os(libc::EBADF))?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (at, (id, kind, name)) in names.iter().enumerate().skip(from) {
            if add(INodeNo(*id), at as u64 + 1, *kind, name) {
                break;
            }
        }
        Ok(())
    }

    /// Like `tell_names`, with what the kernel would ask next of each entry.
    pub(super) fn tell_entries(
        &mut self,
        folder: Id,
        handle: FileHandle,
        offset: u64,
        mut add: impl FnMut(u64, &OsStr, &FileAttr, &Duration) -> bool,
    ) -> io::Result<()> {
        let names = self.listings.remove(&handle.0).ok_or_else(|| os(libc::EBADF))?;
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (at, (id, _, name)) in names.iter().enumerate().skip(from) {
            // The first two are the folder itself and the one above, which the kernel knows.
            let is_new = at >= 2;
            let found = if is_new { self.tree.child(folder, name) } else { Ok(*id) };
            // The entry is gone meanwhile.
            let Ok((all, lives)) = found.and_then(|it| self.shown(it)) else { continue };
            let is_full = add(at as u64 + 1, name, &all, &lives);
            if is_full || !is_new {
                self.tree.forget(all.ino.0, 1);
            }
            if is_full {
                break;
            }
        }
        self.listings.insert(handle.0, names);
        Ok(())
    }
}
