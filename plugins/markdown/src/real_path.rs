//! `realpath` for a C library without one, as the one for wasm is that Debian ships; the standard library wants it
//! for `std::fs::canonicalize`, which rumdl asks for every file. Where there is one, this takes its place.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Limit on the links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// The absolute path without links, `.` and `..`.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut links = 0;
    let mut found = PathBuf::from("/");
    // The next component last.
    let mut rest = components(&std::path::absolute(path)?);
    while let Some(component) = rest.pop() {
        if component == Path::new("..") {
            found.pop();
            continue;
        }
        found.push(&component);
        if !found.symlink_metadata()?.is_symlink() {
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(io::Error::other("too many symbolic links"));
        }
        let target = found.read_link()?;
        found.pop();
        if target.is_absolute() {
            found = PathBuf::from("/");
        }
        rest.extend(components(&target));
    }
    Ok(found)
}

/// In reverse order.
fn components(path: &Path) -> Vec<PathBuf> {
    let known = |it: Component| match it {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(known).collect()
}

/// The C library's function.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "a function of the C library")]
mod c {
    use std::ffi::{CStr, c_char};
    use std::path::Path;
    use std::ptr;

    /// # Safety
    ///
    /// `path` is a string of C; `resolved` is null or has room for a path.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn realpath(path: *const c_char, resolved: *mut c_char) -> *mut c_char {
        // SAFETY: what the caller promises.
        let path = unsafe { CStr::from_ptr(path) }.to_str();
        // The error stays where the failed call left it, in `errno`. All names in a workspace are UTF-8.
        let found = path.ok().and_then(|it| super::resolve(Path::new(it)).ok());
        let Some(bytes) = found.as_deref().and_then(|it| Some(it.to_str()?.as_bytes())) else {
            return ptr::null_mut();
        };
        // SAFETY: the length is not zero; the caller frees what was allocated.
        let target =
            if resolved.is_null() { unsafe { libc::malloc(bytes.len() + 1) }.cast() } else { resolved };
        if !target.is_null() {
            // SAFETY: there is room for as many bytes and the end, and no two regions overlap.
            unsafe {
                ptr::copy_nonoverlapping(bytes.as_ptr().cast(), target, bytes.len());
                target.add(bytes.len()).write(0);
            }
        }
        target
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_same_as_the_systems() {
        let root = tempfile::tempdir().unwrap();
        let at = |it: &str| root.path().join(it);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/file"), "").unwrap();
        symlink("a/b", at("link")).unwrap();
        symlink("../link/../b/file", at("a/file")).unwrap();
        symlink(at("a"), at("absolute")).unwrap();
        symlink("loop", at("loop")).unwrap();
        for path in ["a/b/file", "link/file", "a/./b/../file", "absolute/b", "absolute/file", ".", "/"] {
            assert_eq!(resolve(&at(path)).unwrap(), fs::canonicalize(at(path)).unwrap(), "{path}");
        }
        for path in ["missing", "loop", "a/b/file/x", "link/missing"] {
            assert!(resolve(&at(path)).is_err() && fs::canonicalize(at(path)).is_err(), "{path}");
        }
    }
}
