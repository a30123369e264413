//! Storage beneath a store: files, their names, and when both are on the disk.
//!
//! In the program this is the system. In tests it may be one that forgets at a power cut what was not synced.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
};

use redb::{StorageBackend, backends::FileBackend};

/// Cloning it gives another handle of the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Medium {
    #[cfg(test)]
    pub(super) power: Option<super::tests::power::Power>,
}

impl Medium {
    /// The file's bytes, as the database uses them.
    pub(super) fn backend(&self, file: File) -> io::Result<Arc<dyn StorageBackend>> {
        let file = FileBackend::new(file).map_err(io::Error::other)?;
        #[cfg(test)]
        if let Some(power) = &self.power {
            return Ok(power.backend(file));
        }
        Ok(Arc::new(file))
    }

    /// Gives a file another name in its directory. On the disk only once that is synced.
    #[expect(clippy::disallowed_methods, reason = "the state folder lies outside the workspace")]
    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        #[cfg(test)]
        self.came(to);
        Ok(())
    }

    /// Makes a folder for this user alone, if it is missing, and those above it; all of them are on the disk
    /// when this returns. One that is there must be this user's, and no other user may have written into it; if
    /// others could look into it, they cannot any more.
    pub(super) fn private_folder(&self, dir: &Path) -> io::Result<()> {
        let dir = std::path::absolute(dir)?;
        let is_missing = |it: &&Path| fs::symlink_metadata(it).is_err();
        let missing: Vec<&Path> = dir.ancestors().take_while(is_missing).collect();
        for folder in missing.into_iter().rev() {
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(folder) {
                // Another process made it just now.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
            #[cfg(test)]
            self.came(folder);
            self.sync_dir(folder.parent().unwrap_or(folder))?;
        }
        close(&dir)?;
        expect_private(&dir)
    }

    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "a folder outside the workspace")]
    pub(super) fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()?;
        #[cfg(test)]
        if let Some(power) = &self.power {
            power.synced(dir);
        }
        Ok(())
    }

    /// Elsewhere a folder cannot be opened to be synced.
    #[cfg(not(unix))]
    pub(super) fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    #[cfg(test)]
    fn came(&self, path: &Path) {
        if let Some(power) = &self.power {
            power.came(path);
        }
    }
}

/// Keeps others from reading in a folder of this user in which they cannot write.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the state folder lies outside the workspace")]
fn close(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let metadata = fs::symlink_metadata(dir)?;
    let is_own = metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw();
    if is_own && metadata.mode() & 0o077 != 0 && metadata.mode() & 0o022 == 0 {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn close(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// Fails unless `dir` is a folder of this user that no other user can enter: what is found in it is believed.
#[cfg(unix)]
pub fn expect_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::symlink_metadata(dir)?;
    if !metadata.is_dir() {
        return Err(io::Error::other("it is a link or a file, not a folder"));
    }
    expect_owner(&metadata)?;
    if metadata.mode() & 0o077 != 0 {
        return Err(io::Error::other("others can enter it (chmod 700 would keep them out)"));
    }
    Ok(())
}

/// Fails if `path`, which may be a link, leads to what is another user's or what others can write to.
#[cfg(unix)]
pub fn expect_own(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::metadata(path)?;
    expect_owner(&metadata)?;
    if metadata.mode() & 0o022 != 0 {
        return Err(io::Error::other("others can write to it (chmod go-w would keep them out)"));
    }
    Ok(())
}

#[cfg(not(unix))]
pub fn expect_own(path: &Path) -> io::Result<()> {
    fs::metadata(path).map(drop)
}

#[cfg(unix)]
fn expect_owner(metadata: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let (own, owner) = (rustix::process::geteuid().as_raw(), metadata.uid());
    if owner != own {
        return Err(io::Error::other(format!("it belongs to another user (uid {owner}; yours is {own})")));
    }
    Ok(())
}

/// Other systems have no such owners and modes.
#[cfg(not(unix))]
pub fn expect_private(dir: &Path) -> io::Result<()> {
    if fs::metadata(dir)?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_private_folder_is_the_users_and_nobody_elses() {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("a/b/c");
        let folder = |path: &Path| Medium::default().private_folder(path).map_err(|it| it.to_string());
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        folder(&made).unwrap();
        assert_eq!(["a", "a/b", "a/b/c"].map(|it| mode(&dir.path().join(it))), [0o700; 3]);
        set(&made, 0o755);
        folder(&made).unwrap();
        assert_eq!(mode(&made), 0o700, "others cannot look into it any more");
        for writable in [0o777, 0o720] {
            set(&made, writable);
            let refused = folder(&made).unwrap_err();
            assert_eq!(refused, "others can enter it (chmod 700 would keep them out)");
            assert_eq!(mode(&made), writable, "what they have put there is for the user to judge");
        }
        let link = dir.path().join("link");
        symlink(dir.path().join("a"), &link).unwrap();
        assert_eq!(folder(&link).unwrap_err(), "it is a link or a file, not a folder");
        let own = |path: &Path| expect_own(path).map_err(|it| it.to_string());
        let refused = "others can write to it (chmod go-w would keep them out)";
        for (allowed, its_mode) in [(false, 0o777), (false, 0o720), (true, 0o755), (true, 0o700)] {
            set(&made, its_mode);
            assert_eq!(own(&made), if allowed { Ok(()) } else { Err(refused.to_owned()) });
        }
        assert_eq!(own(&link), Ok(()));
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&made, Some(65_534), None).unwrap();
            let refused = folder(&made).unwrap_err();
            assert_eq!(refused, "it belongs to another user (uid 65534; yours is 0)");
            assert_eq!(own(&made), Err(refused));
        }
    }
}
