//! A disk that forgets at a power cut whatever was not synced: bytes of files, and names in directories.

use std::{
    io,
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use redb::{BackendError, StorageBackend, backends::FileBackend};

use super::*;
use crate::store::{medium::Medium, staged::Unsynced};

/// The switch. All that was not synced is forgotten when it is turned off, and nothing is written any more.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Power {
    is_off: Arc<AtomicBool>,
    /// Files and folders whose names are not on the disk, in the order in which they came.
    new: Arc<Mutex<Vec<PathBuf>>>,
}

impl Power {
    pub(in crate::store) fn backend(&self, file: FileBackend) -> Arc<dyn StorageBackend> {
        Arc::new(Forgetful { file: Unsynced::new(file), is_off: Arc::clone(&self.is_off) })
    }

    pub(in crate::store) fn came(&self, path: &Path) {
        self.new.lock().push(path.to_owned());
    }

    pub(in crate::store) fn synced(&self, dir: &Path) {
        self.new.lock().retain(|it| it.parent() != Some(dir));
    }

    fn cut(&self) {
        self.is_off.store(true, Ordering::SeqCst);
        for path in self.new.lock().drain(..).rev() {
            match path.is_dir() {
                true => fs::remove_dir_all(path).unwrap(),
                false => fs::remove_file(path).unwrap(),
            }
        }
    }
}

#[derive(Debug)]
struct Forgetful {
    file: Unsynced,
    is_off: Arc<AtomicBool>,
}

impl Forgetful {
    fn powered(&self) -> io::Result<&Unsynced> {
        let is_off = self.is_off.load(Ordering::SeqCst);
        if is_off { Err(io::Error::other("the power is off")) } else { Ok(&self.file) }
    }
}

impl StorageBackend for Forgetful {
    fn len(&self) -> io::Result<u64> {
        self.powered()?.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.powered()?.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.powered()?.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.powered()?.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.powered()?.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.file().close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.file().try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.file().try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.file().lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.file().lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.file().unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.file().query_lock_range(start, end)
    }
}

#[test]
fn the_disk_of_these_tests_forgets() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file");
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    let power = Power::default();
    let medium = Medium { power: Some(power.clone()) };
    let backend = medium.backend(file).unwrap();
    backend.write(0, b"kept").unwrap();
    backend.sync_data().unwrap();
    backend.write(0, b"lost for sure").unwrap();
    let mut seen = [0; 13];
    backend.read(0, &mut seen).unwrap();
    assert_eq!(&seen, b"lost for sure", "it is there until the power goes");
    medium.rename(&path, &folder.path().join("renamed")).unwrap();
    medium.sync_dir(folder.path()).unwrap();
    medium.rename(&folder.path().join("renamed"), &folder.path().join("again")).unwrap();
    fs::copy(folder.path().join("again"), folder.path().join("renamed")).unwrap();
    power.cut();
    backend.sync_data().unwrap_err();
    assert!(!folder.path().join("again").exists());
    assert_eq!(fs::read(folder.path().join("renamed")).unwrap(), b"kept");
}

/// Each round opens the store on such a disk, and takes the power away after the last answer.
#[test]
fn what_was_acknowledged_outlives_a_power_cut() {
    let folder = TempDir::new().unwrap();
    let dir = folder.path().join("state/workspaces/id");
    let mut acknowledged: BTreeMap<String, Vec<Step>> = BTreeMap::new();
    for round in 0..6_u64 {
        let power = Power::default();
        let store = Store::open_on(&dir, Medium { power: Some(power.clone()) }).unwrap();
        for n in 0..=round {
            let (id, step) = (format!("b{}", n % 3), step(round, &format!("{round}.{n}")));
            store.save(&id, Some(record(&id)), vec![step.clone()]).unwrap();
            acknowledged.entry(id).or_default().push(step);
        }
        match round {
            3 => {
                store.discard("b1").unwrap();
                acknowledged.remove("b1");
            }
            4 => {
                replace(&store, "b2", "b2", vec![step(9, "all")]);
                acknowledged.insert("b2".to_owned(), vec![step(9, "all")]);
            }
            _ => {}
        }
        power.cut();
        drop(store);
        let found = all(&Store::open(&dir).unwrap()).into_iter().map(|it| (it.id, it.steps));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), acknowledged, "after round {round}");
    }
}

/// A request that is cut off has no answer, and nothing of it is found.
#[test]
fn what_was_not_acknowledged_is_whole_or_not_there() {
    let folder = TempDir::new().unwrap();
    let power = Power::default();
    let store = Store::open_on(folder.path(), Medium { power: Some(power.clone()) }).unwrap();
    store.save("b", Some(record("b")), vec![step(1, "a")]).unwrap();
    power.cut();
    store.save("b", None, vec![step(2, "b")]).unwrap_err();
    drop(store);
    assert_eq!(all(&Store::open(folder.path()).unwrap())[0].steps, [step(1, "a")]);
}
