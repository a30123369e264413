//! Removal of folders in which programs may run: by handles, so that no link which is put in the place of a folder is followed.

use std::{
    ffi::{CStr, CString},
    io,
    os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, chmod, fstat, openat, renameat_with, statat,
        unlinkat,
    },
    io::Errno,
    path::Arg,
};

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes a folder with all in it, also what programs made unwritable, or deeper than a path or a stack can be: what lies two folders
/// down is moved up before it is removed.
pub(crate) fn remove_all(folder: &Path) -> io::Result<()> {
    Ok(remove_folder(CWD, folder, &mut 0)?)
}

fn remove_folder(parent: BorrowedFd<'_>, name: impl Arg + Copy, moved: &mut u64) -> rustix::io::Result<()> {
    let Some(folder) = unless_gone(open_writable(parent, name))? else { return Ok(()) };
    while remove_entries(folder.as_fd(), moved)? {}
    unless_gone(unlinkat(parent, name, AtFlags::REMOVEDIR)).map(|_| ())
}

/// Removes the entries of a folder, but for the folders in its folders, which become entries of it. Tells whether it had any.
fn remove_entries(folder: BorrowedFd<'_>, moved: &mut u64) -> rustix::io::Result<bool> {
    let entries = names(folder)?;
    for name in &entries {
        if !is_folder(folder, name) {
            unless_gone(unlinkat(folder, name, AtFlags::empty()))?;
            continue;
        }
        let Some(opened) = unless_gone(open_writable(folder, name))? else { continue };
        for inner in names(opened.as_fd())? {
            if is_folder(opened.as_fd(), &inner) {
                move_up(opened.as_fd(), &inner, folder, moved)?;
            } else {
                unless_gone(unlinkat(&opened, &inner, AtFlags::empty()))?;
            }
        }
        unless_gone(unlinkat(folder, name, AtFlags::REMOVEDIR))?;
    }
    Ok(!entries.is_empty())
}

fn move_up(
    from: BorrowedFd<'_>,
    name: &CStr,
    folder: BorrowedFd<'_>,
    moved: &mut u64,
) -> rustix::io::Result<()> {
    unless_gone(open_writable(from, name))?;
    loop {
        *moved += 1;
        let to = format!(".broker-moved-{moved}");
        match renameat_with(from, name, folder, &*to, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => {}
            Ok(()) => return Ok(()),
            // Folders that a lower layer of an overlay has cannot be moved.
            Err(_) => return remove_folder(from, name, moved),
        }
    }
}

/// Opens a folder, and has its user write to it.
fn open_writable(parent: BorrowedFd<'_>, name: impl Arg) -> rustix::io::Result<OwnedFd> {
    let handle = openat(parent, name, FOLDER | OFlags::PATH, Mode::empty())?;
    let mode = Mode::from_raw_mode(fstat(&handle)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        set_mode(handle.as_fd(), Mode::RWXU)?;
    }
    openat(&handle, c".", FOLDER, Mode::empty())
}

/// Sets the mode of what a handle leads to, also of one that can be used for nothing else.
pub(crate) fn set_mode(handle: BorrowedFd<'_>, mode: Mode) -> rustix::io::Result<()> {
    chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), mode)
}

/// Names of what is in a folder.
pub(crate) fn names(folder: BorrowedFd<'_>) -> rustix::io::Result<Vec<CString>> {
    let names = Dir::read_from(folder)?.map(|it| it.map(|it| it.file_name().to_owned()));
    names.filter(|it| !matches!(it.as_deref(), Ok(it) if it == c"." || it == c"..")).collect()
}

fn is_folder(parent: BorrowedFd<'_>, name: &CStr) -> bool {
    statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_dir())
}

/// `None` where another process was faster.
fn unless_gone<T>(done: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match done {
        Err(Errno::NOENT) => Ok(None),
        done => done.map(Some),
    }
}

/// Makes a folder in which others lie in each other.
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test's own folder")]
pub(crate) fn make_deep(folder: &Path, depth: usize) {
    use std::fs;
    let outer = folder.with_extension("outer");
    fs::create_dir(folder).unwrap();
    for _ in 0..depth {
        fs::create_dir(&outer).unwrap();
        fs::rename(folder, outer.join("inner")).unwrap();
        fs::rename(&outer, folder).unwrap();
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test's own folders")]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    use super::*;

    #[test]
    fn folders_deeper_than_a_path_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (deep, kept) = (folder.path().join("deep"), folder.path().join("kept"));
        fs::create_dir(&kept).unwrap();
        make_deep(&deep, 5000);
        fs::write(kept.join("file"), "").unwrap();
        symlink(&kept, deep.join("link")).unwrap();
        remove_all(&deep).unwrap();
        assert!(!deep.exists());
        assert!(kept.join("file").exists(), "no link is followed");
        remove_all(&deep).unwrap();
    }

    #[test]
    fn a_link_that_takes_the_place_of_a_folder_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let (outside, link) = (folder.path().join("outside"), folder.path().join("link"));
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "").unwrap();
        fs::set_permissions(&outside, fs::Permissions::from_mode(0o500)).unwrap();
        symlink(&outside, &link).unwrap();
        // Simulates a look that still showed a folder.
        assert_eq!(open_writable(CWD, &*link).unwrap_err(), Errno::NOTDIR);
        remove_all(&link).unwrap_err();
        assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o500);
        assert!(outside.join("file").exists());
    }

    #[test]
    fn the_mode_goes_to_what_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        let mode = |name| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
        for name in ["opened", "outside"] {
            fs::create_dir(at(name)).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o500)).unwrap();
        }
        let handle = openat(CWD, at("opened"), FOLDER | OFlags::PATH, Mode::empty()).unwrap();
        fs::rename(at("opened"), at("moved")).unwrap();
        symlink(at("outside"), at("opened")).unwrap();
        set_mode(handle.as_fd(), Mode::RWXU).unwrap();
        assert_eq!((mode("moved"), mode("outside")), (0o700, 0o500));
    }

    #[test]
    fn what_cannot_be_written_to_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        fs::create_dir_all(top.join("a/b/c")).unwrap();
        fs::write(top.join("a/b/c/file"), "").unwrap();
        for path in ["a/b/c", "a/b", "a", ""] {
            fs::set_permissions(top.join(path), fs::Permissions::from_mode(0o0)).unwrap();
        }
        remove_all(&top).unwrap();
        assert!(!top.exists());
    }
}
