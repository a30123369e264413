//! The folders of which the user has said that programs may run code of theirs: as the user's own programs, or confined.
//!
//! A plugin reaches nothing but the files it is shown. A language server is a program of the user's own that may
//! run code of the workspace: plugins it names, its build configuration, its interpreter. So it is asked only in a
//! workspace that the user trusts, as editors have it, unless it can be confined. Nothing in a workspace can say so.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use config::folders;

/// The list of folders that are trusted, each with all below it.
#[derive(Debug, Clone)]
pub struct Trusted {
    file: PathBuf,
}

impl Trusted {
    /// `None` for a user without a home.
    pub fn of_user() -> Option<Self> {
        folders::state_dir().map(|it| Self { file: it.join("trusted.json") })
    }

    /// The list of folders in which all tools may run confined.
    pub fn to_confine() -> Option<Self> {
        folders::state_dir().map(|it| Self { file: it.join("confined.json") })
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the workspace lies in a trusted folder. With a list that cannot be read, none is trusted.
    pub fn holds(&self, root: &Path) -> bool {
        self.list().is_ok_and(|all| all.iter().any(|it| root.starts_with(it)))
    }

    pub fn list(&self) -> io::Result<Vec<PathBuf>> {
        let read = || {
            overlay::expect_own(self.folder()).map_err(|why| named(self.folder(), &why))?;
            overlay::expect_own(&self.file)?;
            folders::read(&self.file)
        };
        match read() {
            Ok(text) => serde_json::from_slice(&text).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Adds the workspace; returns whether it is new.
    pub fn add(&self, root: &Path) -> io::Result<bool> {
        let _one_at_a_time = self.lock()?;
        let mut all = self.list()?;
        if all.iter().any(|it| root.starts_with(it)) {
            return Ok(false);
        }
        all.retain(|it| !it.starts_with(root));
        all.push(root.to_owned());
        self.write(&all).map(|()| true)
    }

    /// Takes back what was said of the folder, and of those below it.
    pub fn remove(&self, root: &Path) -> io::Result<bool> {
        let _one_at_a_time = self.lock()?;
        let mut all = self.list()?;
        let before = all.len();
        all.retain(|it| !it.starts_with(root));
        if all.len() == before {
            return Ok(false);
        }
        self.write(&all).map(|()| true)
    }

    /// Waits until no other process changes the list; held until the file is closed.
    #[expect(clippy::disallowed_methods, reason = "the user's own list is no workspace file")]
    fn lock(&self) -> io::Result<File> {
        overlay::private_folder(self.folder())?;
        let name = self.file.with_extension("lock");
        let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(name)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(lock)
    }

    /// The whole list or none of it is there, also if this is interrupted.
    #[expect(clippy::disallowed_methods, reason = "the user's own list is no workspace file")]
    fn write(&self, all: &[PathBuf]) -> io::Result<()> {
        let new = self.file.with_extension("new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&serde_json::to_vec_pretty(all)?)?;
        file.sync_all()?;
        fs::rename(&new, &self.file)?;
        overlay::sync_folder(self.folder())
    }

    fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("/"))
    }
}

/// The error with what it is about.
fn named(path: &Path, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn a_folder_is_trusted_with_all_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let trusted = Trusted { file: folder.path().join("state/trusted.json") };
        let holds = |path: &str| trusted.holds(Path::new(path));
        assert!(!holds("/a"));
        assert!(trusted.add(Path::new("/a/b")).unwrap());
        assert!(!trusted.add(Path::new("/a/b/c")).unwrap(), "it is trusted already");
        assert!(holds("/a/b") && holds("/a/b/c") && !holds("/a") && !holds("/a/bc"));
        assert!(trusted.add(Path::new("/a")).unwrap());
        assert_eq!(trusted.list().unwrap(), [Path::new("/a")]);
        assert!(!trusted.remove(Path::new("/b")).unwrap());
        assert!(trusted.remove(Path::new("/a")).unwrap() && !holds("/a/b"));
    }

    #[test]
    fn many_at_a_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let trusted = Trusted { file: folder.path().join("trusted.json") };
        std::thread::scope(|scope| {
            for index in 0..20 {
                let trusted = &trusted;
                scope.spawn(move || trusted.add(Path::new(&format!("/w{index}"))).unwrap());
            }
        });
        assert_eq!(trusted.list().unwrap().len(), 20);
    }

    #[test]
    fn a_list_that_others_could_write_trusts_nothing() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let trusted = Trusted { file: folder.path().join("state/trusted.json") };
        trusted.add(Path::new("/a")).unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        for (path, open, closed) in [(trusted.file(), 0o666, 0o600), (trusted.folder(), 0o777, 0o700)] {
            set(path, open);
            assert!(!trusted.holds(Path::new("/a")));
            let error = trusted.list().unwrap_err().to_string();
            assert!(error.contains("others can write to it (chmod go-w would keep them out)"), "{error}");
            assert!(trusted.add(Path::new("/b")).is_err());
            set(path, closed);
            assert!(trusted.holds(Path::new("/a")) && !trusted.holds(Path::new("/b")));
        }
    }

    #[test]
    fn what_cannot_be_read_trusts_nothing_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let trusted = Trusted { file: folder.path().join("trusted.json") };
        fs::write(&trusted.file, "[\"/a\"").unwrap();
        assert!(!trusted.holds(Path::new("/a")));
        assert!(trusted.add(Path::new("/a")).is_err());
    }
}
