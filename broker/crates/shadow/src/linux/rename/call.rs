//! Arguments of a system call, read from the thread that waits in it.

use std::{
    ffi::{CStr, CString, OsStr},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::Path,
};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, StatxFlags, open, openat2, statat, statx,
};

use super::notice::Notice;

/// A rename.
pub(super) struct Call {
    pub(super) old: Name,
    pub(super) new: Name,
    pub(super) flags: RenameFlags,
}

/// A path, and the folder that it begins at if it is relative.
pub(super) struct Name {
    base: Option<OwnedFd>,
    path: CString,
}

/// An entry of a folder, which need not be there.
pub(super) struct Place {
    pub(super) parent: OwnedFd,
    pub(super) name: CString,
}

impl Call {
    /// The call of a notice, if it renames a folder as far as that is seen at a look. `None` as well if it cannot be read, as that of a
    /// program that lets itself not be read, or asks for what is not known here.
    pub(super) fn of_folder(notice: &Notice) -> Option<Self> {
        const HERE: u64 = libc::AT_FDCWD as u64;
        let [a, b, c, d, flags, _] = notice.arguments;
        let (old, new, flags) = match notice.number {
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => ((HERE, a), (HERE, b), 0),
            libc::SYS_renameat => ((a, b), (c, d), 0),
            libc::SYS_renameat2 => ((a, b), (c, d), flags),
            _ => return None,
        };
        let flags = RenameFlags::from_bits(u32::try_from(flags).ok()?)?;
        if !(RenameFlags::NOREPLACE | RenameFlags::EXCHANGE).contains(flags) {
            return None;
        }
        let name = |(base, path)| Name::read(notice.thread, base, path);
        let old = name(old)?;
        let is_folder = old.is_folder();
        if !is_folder && !flags.contains(RenameFlags::EXCHANGE) {
            return None;
        }
        let new = name(new)?;
        (is_folder || new.is_folder()).then_some(Self { old, new, flags })
    }
}

impl Name {
    fn read(thread: u32, base: u64, path: u64) -> Option<Self> {
        let path = read_text(thread, path)?;
        if path.to_bytes().starts_with(b"/") {
            return Some(Self { base: None, path });
        }
        // The kernel takes the lower half.
        let base = match base as u32 as i32 {
            libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
            number => format!("/proc/{thread}/fd/{number}"),
        };
        let base = open(base, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(Self { base: Some(base), path })
    }

    fn is_folder(&self) -> bool {
        let base = self.base.as_ref().map_or(CWD, |it| it.as_fd());
        let facts = statat(base, &self.path, AtFlags::SYMLINK_NOFOLLOW);
        facts.is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_dir())
    }

    /// `None` for what has no name of its own, such as `..`.
    pub(super) fn locate(&self) -> rustix::io::Result<Option<Place>> {
        let Some((parent, name)) = split(&self.path) else { return Ok(None) };
        let base = self.base.as_ref().map_or(CWD, |it| it.as_fd());
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // `/proc/self` is another one for the program.
        let parent = openat2(base, parent, how, Mode::empty(), ResolveFlags::NO_MAGICLINKS)?;
        Ok(Some(Place { parent, name }))
    }
}

impl Place {
    /// Whether both lie in one mount.
    pub(super) fn has_mount_of(&self, other: &Self) -> rustix::io::Result<bool> {
        let mount = |it: &Self| statx(&it.parent, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
        Ok(mount(self)?.stx_mnt_id == mount(other)?.stx_mnt_id)
    }
}

/// The folder of a path, and the name in it.
fn split(path: &CStr) -> Option<(&Path, CString)> {
    let bytes = path.to_bytes();
    let end = bytes.iter().rposition(|it| *it != b'/')? + 1;
    let start = bytes[..end].iter().rposition(|it| *it == b'/').map_or(0, |it| it + 1);
    let (parent, name) = (&bytes[..start], &bytes[start..end]);
    if matches!(name, b"." | b"..") {
        return None;
    }
    let parent = if parent.is_empty() { b"." } else { parent };
    Some((Path::new(OsStr::from_bytes(parent)), CString::new(name).ok()?))
}

/// Bytes of the longest path, with its end.
const LONGEST: usize = libc::PATH_MAX as usize;

/// No page of memory is smaller.
const PAGE: usize = 4096;

/// The text at this place in the memory of another process.
fn read_text(thread: u32, at: u64) -> Option<CString> {
    let (mut at, mut text) = (usize::try_from(at).ok()?, Vec::new());
    while text.len() < LONGEST {
        // The next page may be out of reach.
        let mut piece = [0; PAGE];
        let piece = &mut piece[..PAGE - at % PAGE];
        read_memory(thread, at, piece)?;
        if let Some(end) = piece.iter().position(|it| *it == 0) {
            text.extend(&piece[..end]);
            return CString::new(text).ok();
        }
        text.extend(&*piece);
        at = at.checked_add(piece.len())?;
    }
    None
}

fn read_memory(thread: u32, at: usize, piece: &mut [u8]) -> Option<()> {
    let length = piece.len();
    let to = libc::iovec { iov_base: piece.as_mut_ptr().cast(), iov_len: length };
    let from = libc::iovec { iov_base: std::ptr::without_provenance_mut(at), iov_len: length };
    let thread = libc::pid_t::try_from(thread).ok().filter(|it| *it > 0)?;
    // SAFETY: it writes no more bytes to this process than the piece has.
    #[expect(unsafe_code, reason = "see above")]
    let read = unsafe { libc::process_vm_readv(thread, &raw const to, 1, &raw const from, 1, 0) };
    (usize::try_from(read) == Ok(length)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_folder_and_a_name() {
        let shown = |path: &CStr| {
            let (parent, name) = split(path)?;
            Some(format!("{} {}", parent.display(), name.to_str().ok()?))
        };
        let paths = [c"a", c"a/b//", c"/a", c"../a/./b", c"/", c"", c"a/..", c"."];
        let expected = [Some(". a"), Some("a/ b"), Some("/ a"), Some("../a/./ b"), None, None, None, None];
        assert_eq!(paths.map(shown), expected.map(|it| it.map(str::to_owned)));
    }

    #[test]
    fn a_text_that_goes_on_in_the_next_page_is_read() {
        let text = CString::new(vec![b'x'; LONGEST - 1]).unwrap();
        let at = text.as_ptr().expose_provenance() as u64;
        assert_eq!(read_text(std::process::id(), at), Some(text.clone()));
        assert_eq!(read_text(std::process::id(), 0), None);
        let longer = CString::new(vec![b'x'; 2 * LONGEST]).unwrap();
        assert_eq!(read_text(std::process::id(), longer.as_ptr().expose_provenance() as u64), None);
    }
}
