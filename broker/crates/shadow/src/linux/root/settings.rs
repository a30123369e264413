//! The parts of the system that are there for programs: folders as a whole, and copies of configuration.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::{MetadataExt as _, symlink},
    path::{Path, PathBuf},
};

use rustix::mount::mount_bind_recursive;

use super::{
    During as _, Result,
    places::{in_new, in_old, make_all, temporary},
};
use crate::system::{SETTINGS, SETTINGS_FOLDERS, SHOWN};

/// Folders whose links are there, wherever they lead: they give folders of the system other names.
const LINKED: [&str; 2] = ["/", "/var"];

/// Bytes of a file of configuration. A larger one is data.
const LARGEST: u64 = 4 << 20;

/// Shows the parts in the new root, which is empty.
pub(super) fn show_system() -> Result<()> {
    for folder in LINKED.map(Path::new) {
        let links = entries(folder).into_iter().filter(|it| in_old(it).is_symlink());
        links.collect::<Vec<_>>().iter().try_for_each(|it| show_link(it))?;
    }
    SHOWN.map(Path::new).into_iter().try_for_each(show_folder)?;
    SETTINGS_FOLDERS.map(Path::new).into_iter().try_for_each(show_settings)
}

/// Makes a link where nothing is, as the system has it.
pub(super) fn show_link(path: &Path) -> Result<()> {
    let (from, to) = (in_old(path), in_new(path));
    let (Ok(target), Err(_)) = (fs::read_link(from), fs::symlink_metadata(&to)) else { return Ok(()) };
    to.parent().map_or(Ok(()), make_all)?;
    symlink(target, &to).during(|| format!("cannot show the link {}", path.display()))
}

fn show_folder(path: &Path) -> Result<()> {
    let (from, to) = (in_old(path), in_new(path));
    let is_folder = fs::symlink_metadata(&from).is_ok_and(|it| it.is_dir());
    if !is_folder || to.is_symlink() {
        return Ok(());
    }
    make_all(&to)?;
    mount_bind_recursive(&from, &to).during(|| format!("cannot show {}", path.display()))
}

/// Copies what of a folder of configuration is on the list.
fn show_settings(folder: &Path) -> Result<()> {
    let to = in_new(folder);
    let all = entries(folder);
    if to.exists() {
        // The path lies in a folder that is shown as a whole.
        temporary(&to, "size=16m,mode=0755")?;
    } else {
        make_all(&to)?;
    }
    let listed = SETTINGS.iter().flat_map(|name| matching(&all, folder, name));
    for path in listed {
        // Settings that are not there, or cannot be read here, are not there for programs either.
        let _ = show_setting(&path);
    }
    Ok(())
}

fn show_setting(path: &Path) -> io::Result<()> {
    let (from, to) = (in_old(path), in_new(path));
    fs::symlink_metadata(&from)?;
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    copy(&from, &to)
}

/// The paths in a folder, which need not be there.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(in_old(folder)).into_iter().flatten().flatten();
    all.map(|it| folder.join(it.file_name())).collect()
}

/// The paths in `folder` by a name of the list.
fn matching(all: &[PathBuf], folder: &Path, name: &str) -> Vec<PathBuf> {
    let Some(start) = name.strip_suffix('*') else { return vec![folder.join(name)] };
    let begins =
        |it: &&PathBuf| it.file_name().and_then(OsStr::to_str).is_some_and(|it| it.starts_with(start));
    all.iter().filter(begins).cloned().collect()
}

/// Copies what anyone may read.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(from)?;
    if metadata.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if metadata.is_dir() && metadata.mode() & 0o005 == 0o005 {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            let _ = copy(&from.join(&name), &to.join(&name));
        }
    } else if metadata.is_file() && metadata.mode() & 0o004 != 0 && metadata.len() <= LARGEST {
        fs::copy(from, to)?;
        fs::File::open(to)?.set_modified(metadata.modified()?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_anyone_may_read_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("closed")).unwrap();
        for (name, mode) in [("a", 0o644), ("secret", 0o640), ("closed/b", 0o644)] {
            fs::write(from.join(name), name).unwrap();
            fs::set_permissions(from.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(from.join("closed"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("/nowhere", from.join("link")).unwrap();
        copy(&from, &to).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(&to).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["a", "link"]);
        let time = |it: &Path| fs::metadata(it.join("a")).unwrap().modified().unwrap();
        assert_eq!(time(&from), time(&to));
    }

    #[test]
    fn a_star_is_any_end_of_a_name() {
        let all = ["/etc/java-17", "/etc/java", "/etc/jar"].map(PathBuf::from);
        assert_eq!(matching(&all, Path::new("/etc"), "java*"), all[..2]);
        assert_eq!(matching(&all, Path::new("/etc"), "ssl/certs"), [PathBuf::from("/etc/ssl/certs")]);
    }
}
