//! Commits whose power goes, on a disk that keeps nothing but what was synced: the contents of files, and the
//! names in directories.

use std::{
    collections::HashMap,
    fs,
    os::fd::{AsRawFd as _, BorrowedFd},
};

use super::{
    faults::{before_and_after, steps},
    *,
};

/// Contents that a disk has for sure: every file and directory as it was when it was last synced.
#[derive(Default)]
pub(in crate::commit) struct Synced {
    /// Files and directories by inode.
    things: HashMap<u64, Thing>,
}

enum Thing {
    File(Vec<u8>, u32),
    Directory(Vec<(String, Name)>, u32),
}

/// Entry of a directory for a name.
struct Name {
    inode: u64,
    is_directory: bool,
    mode: u32,
    /// Target of a link, whose text is on the disk with its name.
    target: Option<PathBuf>,
}

impl Synced {
    /// A disk that has all of these folders.
    fn with(folders: [&Path; 2]) -> Self {
        let mut disk = Self::default();
        let mut pending: Vec<PathBuf> = folders.map(Path::to_owned).into();
        while let Some(path) = pending.pop() {
            disk.take_path(&path);
            if path.is_dir() {
                let entries = fs::read_dir(&path).unwrap().map(|it| it.unwrap().path());
                pending.extend(entries.filter(|it| !it.is_symlink()));
            }
        }
        disk
    }

    pub(in crate::commit) fn take(&mut self, file: BorrowedFd<'_>) {
        self.take_path(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())));
    }

    fn take_path(&mut self, path: &Path) {
        let metadata = fs::metadata(path).unwrap();
        let mode = metadata.mode() & 0o7777;
        let thing = match metadata.is_dir() {
            true => {
                Thing::Directory(fs::read_dir(path).unwrap().map(|it| name(&it.unwrap())).collect(), mode)
            }
            false => Thing::File(fs::read(path).unwrap(), mode),
        };
        self.things.insert(metadata.ino(), thing);
    }

    /// Makes at `path` what the disk has of the file or directory `inode`. What was never synced is empty.
    fn restore(&self, inode: u64, path: &Path) {
        match self.things.get(&inode) {
            Some(Thing::File(bytes, mode)) => {
                fs::write(path, bytes).unwrap();
                set_mode(path, *mode);
            }
            Some(Thing::Directory(names, mode)) => {
                fs::create_dir_all(path).unwrap();
                for (name, it) in names {
                    let path = path.join(name);
                    match (&it.target, it.is_directory && !self.things.contains_key(&it.inode)) {
                        (Some(target), _) => symlink(target, path).unwrap(),
                        (None, true) => {
                            fs::create_dir(&path).unwrap();
                            set_mode(&path, it.mode);
                        }
                        (None, false) => self.restore(it.inode, &path),
                    }
                }
                set_mode(path, *mode);
            }
            None => fs::write(path, "").unwrap(),
        }
    }
}

fn name(entry: &fs::DirEntry) -> (String, Name) {
    let metadata = fs::symlink_metadata(entry.path()).unwrap();
    let target = metadata.is_symlink().then(|| fs::read_link(entry.path()).unwrap());
    let (inode, is_directory, mode) = (metadata.ino(), metadata.is_dir(), metadata.mode() & 0o7777);
    (entry.file_name().into_string().unwrap(), Name { inode, is_directory, mode, target })
}

impl Place {
    fn on_such_a_disk(self) -> Self {
        let (root, journal) = (self.root(), self.folder.path().join("state/journal"));
        *self.committer.folder.fail_point().disk.lock() = Some(Synced::with([&root, &journal]));
        self
    }

    /// Returns the same place on a machine that was started again.
    fn after_a_power_cut(self) -> Self {
        let inode = |path: &str| fs::metadata(self.folder.path().join(path)).unwrap().ino();
        let disk = self.committer.folder.fail_point().disk.lock().take().unwrap();
        let after = Self::new(|root| disk.restore(inode("work"), root));
        let journal = after.folder.path().join("state/journal");
        fs::remove_dir_all(&journal).unwrap();
        disk.restore(inode("state/journal"), &journal);
        after
    }
}

#[test]
fn what_is_committed_outlives_a_power_cut() {
    let place = Place::new(fill).on_such_a_disk();
    place.commit(&changes()).unwrap();
    let want = place.tree();
    let after = place.after_a_power_cut();
    after.committer.recover().unwrap();
    assert_eq!(after.tree(), want);
}

#[test]
fn a_power_cut_at_any_step_leaves_all_or_nothing() {
    let (before, after) = before_and_after();
    let mut outcomes = [0, 0];
    for n in 0..steps() {
        let place = Place::new(fill).on_such_a_disk();
        place.committer.folder.fail_point().set(Some(n), None);
        place.commit(&changes()).unwrap_err();
        let restarted = place.after_a_power_cut();
        restarted.committer.recover().unwrap();
        let tree = restarted.tree();
        assert!(tree == before || tree == after, "step {n}: {tree:#?}");
        outcomes[usize::from(tree == after)] += 1;
    }
    assert!(outcomes.iter().all(|it| *it > 10), "{outcomes:?}");
}

/// An error that takes everything back has it taken back on the disk.
#[test]
fn what_is_taken_back_outlives_a_power_cut() {
    let (before, after) = before_and_after();
    for n in 0..steps() {
        let place = Place::new(fill).on_such_a_disk();
        place.committer.folder.fail_point().set(None, Some(n));
        let done = place.commit(&changes());
        let restarted = place.after_a_power_cut();
        restarted.committer.recover().unwrap();
        assert_eq!(&restarted.tree(), if done.is_ok() { &after } else { &before }, "step {n}: {done:?}");
    }
}
