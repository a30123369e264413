//! The file itself. The only place that calls the database, and that catches its panics.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File},
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use redb::{ReadableDatabase as _, ReadableTable, ReadableTableMetadata as _, Table, TableDefinition};

use super::{
    Loaded, SavedBranch, StoreError, StoreStats,
    medium::Medium,
    patiently,
    record::{Change, EARLIER, Encoded, Hash, SCHEMA, StoredStep, decode, decode_record},
    staged::Staged,
};
use crate::{ContentHash, Step};

const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
const BRANCHES: TableDefinition<&str, &[u8]> = TableDefinition::new("branches");
/// Steps by branch, in the order in which they were saved.
const STEPS: TableDefinition<(&str, u64), &[u8]> = TableDefinition::new("steps");
const TEXTS: TableDefinition<&Hash, &[u8]> = TableDefinition::new("texts");
/// Number of steps that name a text. Apart from the texts, so that counting does not write them anew.
const USES: TableDefinition<&Hash, u64> = TableDefinition::new("uses");

const SCHEMA_KEY: &str = "schema";
/// The texts are held in memory by the branches already.
const CACHE: usize = 8 << 20;

pub(super) struct Database {
    path: PathBuf,
    medium: Medium,
    /// `None` after an error: the database does not go on then, it is opened anew at the next request.
    open: Option<redb::Database>,
}

type Answer<T> = Result<T, redb::Error>;

impl Database {
    /// Opens the file in `dir`, or makes it.
    pub(super) fn open(dir: &Path, medium: Medium) -> Result<Self, StoreError> {
        let path = dir.join("branches.redb");
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => create(dir, &path, &medium)?,
            Err(error) => return Err(StoreError::io(&path, "look at", error)),
            Ok(_) => {}
        }
        let open = open_again(&path, &medium)?;
        Ok(Self { path, medium, open: Some(open) })
    }

    /// Makes all changes in one transaction. Its failure is that of every request; a missing branch only that of its own.
    pub(super) fn change(&mut self, changes: &[Change]) -> Vec<Result<(), StoreError>> {
        match self.with("write", |database| transact(database, changes)) {
            Ok(results) => results,
            Err(error) => changes.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    pub(super) fn load(&mut self) -> Result<Loaded, StoreError> {
        let path = self.path.clone();
        self.with("read", |database| load(database, &path))
    }

    pub(super) fn stats(&mut self) -> Result<StoreStats, StoreError> {
        let bytes = fs::metadata(&self.path).map(|it| it.len());
        let bytes = bytes.map_err(|source| StoreError::io(&self.path, "look at", source))?;
        self.with("read", |database| {
            let tables = database.begin_read()?;
            let branches = tables.open_table(BRANCHES)?.len()?;
            Ok(StoreStats { bytes, branches, blobs: tables.open_table(TEXTS)?.len()? })
        })
    }

    fn with<T>(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&redb::Database) -> Answer<T>,
    ) -> Result<T, StoreError> {
        let database = match self.open.take() {
            Some(database) => database,
            None => open_again(&self.path, &self.medium)?,
        };
        let result = guarded(&self.path, || {
            let result = work(&database);
            (result, database)
        });
        match result? {
            (Ok(value), database) => {
                self.open = Some(database);
                Ok(value)
            }
            (Err(error), database) => {
                // Closing writes as well, and may meet the same trouble; the error is told already.
                _ = guarded(&self.path, || drop(database));
                Err(StoreError::redb(&self.path, doing, error))
            }
        }
    }
}

/// The database panics on some damaged files, where it should return an error.
fn guarded<T>(path: &Path, work: impl FnOnce() -> T) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        StoreError::Corrupt { path: path.to_owned(), reason: format!("the database gave up: {text}") }
    })
}

/// Makes an empty store under another name first, so that there is never half of one.
#[expect(clippy::disallowed_methods, reason = "the state folder lies outside the workspace")]
fn create(dir: &Path, path: &Path, medium: &Medium) -> Result<(), StoreError> {
    let unfinished = dir.join("branches.redb.new");
    let failed = |source| StoreError::io(path, "make", source);
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&unfinished);
    let backend = Staged::of_new(medium.backend(file.map_err(failed)?).map_err(failed)?);
    let make = || -> Answer<()> {
        let database = redb::Builder::new().create_with_backend(backend)?;
        let transaction = database.begin_write()?;
        transaction.open_table(META)?.insert(SCHEMA_KEY, SCHEMA)?;
        transaction.open_table(BRANCHES)?;
        transaction.open_table(STEPS)?;
        transaction.open_table(TEXTS)?;
        transaction.open_table(USES)?;
        transaction.commit()?;
        Ok(database.close()?)
    };
    guarded(path, make)?.map_err(|error| StoreError::redb(path, "make", error))?;
    medium.rename(&unfinished, path).and_then(|()| medium.sync_dir(dir)).map_err(failed)
}

fn open_again(path: &Path, medium: &Medium) -> Result<redb::Database, StoreError> {
    let is_locked = |error: &StoreError| matches!(error, StoreError::InUse { .. });
    patiently(|| guarded(path, || open_existing(path, medium))?, is_locked)
}

/// Checks every byte before the first one is written.
#[expect(clippy::disallowed_methods, reason = "the state folder lies outside the workspace")]
fn open_existing(path: &Path, medium: &Medium) -> Result<redb::Database, StoreError> {
    let failed = |source| StoreError::io(path, "open", source);
    let file = File::options().read(true).write(true).open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() == 0 {
        // Which the database would take for a new one.
        return Err(StoreError::Corrupt { path: path.to_owned(), reason: "it is empty".to_owned() });
    }
    let backend = medium.backend(file).and_then(Staged::new).map_err(failed)?;
    let mut builder = redb::Builder::new();
    builder.set_cache_size(CACHE).set_check_integrity_on_open(true);
    let opened = builder.create_with_backend(backend.clone());
    let database = opened.map_err(|error| match redb::Error::from(error) {
        // Cut short. Nothing else can be read past its end.
        redb::Error::Io(error) if is_cut_short(&error) => {
            StoreError::Corrupt { path: path.to_owned(), reason: "it is cut short".to_owned() }
        }
        error => StoreError::redb(path, "open", error),
    })?;
    match read_schema(&database).map_err(|error| StoreError::redb(path, "read", error))? {
        Some(SCHEMA | EARLIER) => {}
        Some(found) => {
            return Err(StoreError::OtherVersion { path: path.to_owned(), found, known: SCHEMA });
        }
        None => {
            let reason = "it does not say which version wrote it".to_owned();
            return Err(StoreError::Corrupt { path: path.to_owned(), reason });
        }
    }
    backend.release().map_err(|source| StoreError::io(path, "write", source))?;
    Ok(database)
}

fn is_cut_short(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData)
}

fn read_schema(database: &redb::Database) -> Answer<Option<u64>> {
    match database.begin_read()?.open_table(META) {
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        table => Ok(table?.get(SCHEMA_KEY)?.map(|it| it.value())),
    }
}

fn transact(database: &redb::Database, changes: &[Change]) -> Answer<Vec<Result<(), StoreError>>> {
    let transaction = database.begin_write()?;
    let mut results = Vec::with_capacity(changes.len());
    {
        // From the first write on it is for this version alone.
        let mut meta = transaction.open_table(META)?;
        let found = meta.get(SCHEMA_KEY)?.map(|it| it.value());
        if found != Some(SCHEMA) {
            meta.insert(SCHEMA_KEY, SCHEMA)?;
        }
        let mut tables = Tables {
            branches: transaction.open_table(BRANCHES)?,
            steps: transaction.open_table(STEPS)?,
            texts: transaction.open_table(TEXTS)?,
            uses: transaction.open_table(USES)?,
        };
        for change in changes {
            results.push(tables.change(change)?);
        }
    }
    transaction.commit()?;
    Ok(results)
}

struct Tables<'t> {
    branches: Table<'t, &'static str, &'static [u8]>,
    steps: Table<'t, (&'static str, u64), &'static [u8]>,
    texts: Table<'t, &'static Hash, &'static [u8]>,
    uses: Table<'t, &'static Hash, u64>,
}

impl Tables<'_> {
    fn change(&mut self, change: &Change) -> Answer<Result<(), StoreError>> {
        match change {
            Change::Save { id, record, steps } => {
                if let Some(record) = record {
                    self.branches.insert(&**id, &**record)?;
                } else if self.branches.get(&**id)?.is_none() {
                    return Ok(Err(StoreError::NoSuchBranch { id: id.clone() }));
                }
                self.add(id, steps)?;
            }
            Change::Discard { id } => {
                self.branches.remove(&**id)?;
                self.remove(id)?;
            }
            Change::Replace { id, record, steps } => {
                self.branches.insert(&**id, &**record)?;
                // In this order texts that stay are not removed in between.
                let old = self.last(id)?;
                self.add(id, steps)?;
                self.remove_up_to(id, old)?;
            }
        }
        Ok(Ok(()))
    }

    /// The number of a branch's last step.
    fn last(&self, id: &str) -> Answer<Option<u64>> {
        let last = self.steps.range((id, 0)..=(id, u64::MAX))?.next_back().transpose()?;
        Ok(last.map(|(key, _)| key.value().1))
    }

    fn add(&mut self, id: &str, steps: &[Encoded]) -> Answer<()> {
        let next = self.last(id)?.map_or(0, |last| last + 1);
        for (number, step) in (next..).zip(steps) {
            self.steps.insert((id, number), &*step.bytes)?;
            for (hash, text) in &step.texts {
                let uses = self.uses.get(hash)?.map_or(0, |it| it.value());
                if uses == 0 {
                    self.texts.insert(hash, &**text)?;
                }
                self.uses.insert(hash, uses + 1)?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, id: &str) -> Answer<()> {
        let last = self.last(id)?;
        self.remove_up_to(id, last)
    }

    /// The texts of a step that cannot be read are unknown; they stay.
    fn remove_up_to(&mut self, id: &str, last: Option<u64>) -> Answer<()> {
        let Some(last) = last else { return Ok(()) };
        let mut unused: BTreeMap<Hash, u64> = BTreeMap::new();
        for step in self.steps.extract_from_if((id, 0)..=(id, last), |_, _| true)? {
            if let Ok(step) = decode::<StoredStep>(step?.1.value()) {
                step.hashes().into_iter().for_each(|it| *unused.entry(it).or_default() += 1);
            }
        }
        for (hash, n) in &unused {
            let uses = self.uses.get(hash)?.map_or(0, |it| it.value());
            if uses > *n {
                self.uses.insert(hash, uses - n)?;
            } else {
                self.uses.remove(hash)?;
                self.texts.remove(hash)?;
            }
        }
        Ok(())
    }
}

fn load(database: &redb::Database, path: &Path) -> Answer<Loaded> {
    let transaction = database.begin_read()?;
    let branches = transaction.open_table(BRANCHES)?;
    let steps = transaction.open_table(STEPS)?;
    let mut texts = KnownTexts { table: transaction.open_table(TEXTS)?, known: HashMap::new() };
    let mut loaded = Loaded::default();
    for branch in branches.iter()? {
        let (id, record) = branch?;
        let id = id.value();
        let mut numbered = Vec::new();
        for step in steps.range((id, 0)..=(id, u64::MAX))? {
            numbered.push(texts.step(step?.1.value())?);
        }
        let steps: Result<Vec<_>, _> = numbered.into_iter().collect();
        match decode_record(record.value()).and_then(|record| Ok((record, steps?))) {
            Ok((record, steps)) => loaded.branches.push(SavedBranch { id: id.to_owned(), record, steps }),
            Err(reason) => {
                let reason = format!("branch `{id}`: {reason}");
                loaded.damaged.push((id.to_owned(), StoreError::Corrupt { path: path.to_owned(), reason }));
            }
        }
    }
    Ok(loaded)
}

/// Texts that were read, each once, and checked against their hash.
struct KnownTexts<T> {
    table: T,
    known: HashMap<Hash, Bytes>,
}

impl<T: ReadableTable<&'static Hash, &'static [u8]>> KnownTexts<T> {
    fn step(&mut self, bytes: &[u8]) -> Answer<Result<Step, String>> {
        let stored: StoredStep = match decode(bytes) {
            Ok(stored) => stored,
            Err(reason) => return Ok(Err(reason)),
        };
        for hash in stored.hashes() {
            if !self.known.contains_key(&hash)
                && let Some(text) = self.table.get(&hash)?
                && ContentHash::of(text.value()).as_bytes() == &hash
            {
                self.known.insert(hash, Bytes::copy_from_slice(text.value()));
            }
        }
        let missing = |hash: &Hash| format!("the text {} is lost", ContentHash::from_bytes(*hash));
        Ok(stored.step(|hash| self.known.get(hash).cloned().ok_or_else(|| missing(hash))))
    }
}
