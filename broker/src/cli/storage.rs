//! Folders that the program keeps for itself: their sizes, their limits, and the files in them that are beyond those.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use clap::ValueEnum;
use client::Endpoint;
use config::folders;
use linters::plugins;
use scheduler::CacheOptions;
use serde::Serialize;
use shadow::{Storage, StorageKind};

use super::words;

/// Caches, each a folder of the cache folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CacheKind {
    /// Machine code of plugins, unpacked or compiled
    MachineCode,
    /// Grammars, unpacked
    Grammars,
    /// Answers of linters
    Answers,
    /// Indexes of agents' searches
    SearchIndexes,
    /// Plugins that were fetched; `broker plugin install` fetches them again
    Plugins,
    /// Caches of tools that commands on branches wrote
    RunCaches,
    /// Copies of workspaces, in which commands run where there is no overlayfs
    RunCopies,
}

/// A folder as the status shows it.
#[derive(Debug, Serialize)]
pub(super) struct FolderStatus {
    name: String,
    path: String,
    bytes: u64,
    /// Limit of all of it; `None` if there is none.
    limit_bytes: Option<u64>,
    /// The limit in words.
    limit: String,
}

/// Limit of a folder.
#[derive(Default)]
struct Limit {
    bytes: Option<u64>,
    unused: Option<Duration>,
    /// Limit of a part, in words.
    of_part: Option<String>,
}

impl CacheKind {
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
    }

    pub(super) fn folder(self, cache_dir: &Path) -> PathBuf {
        cache_dir.join(match self {
            Self::MachineCode => "machine-code",
            Self::Grammars => "grammars",
            Self::Answers => "answers",
            Self::SearchIndexes => "search",
            Self::Plugins => "plugins",
            Self::RunCaches => "caches",
            Self::RunCopies => "copies",
        })
    }

    /// Folders that are locked one by one; `None` for a cache of files.
    pub(super) fn storage(self) -> Option<StorageKind> {
        match self {
            Self::RunCaches => Some(StorageKind::Caches),
            Self::RunCopies => Some(StorageKind::Copies),
            _ => None,
        }
    }

    /// Files that are beyond the limit, of a cache of files.
    pub(super) fn surplus(self, cache_dir: &Path) -> Vec<PathBuf> {
        let folder = self.folder(cache_dir);
        match self {
            Self::MachineCode | Self::Grammars => code_cache::unused(&folder, SystemTime::now()),
            Self::Answers => scheduler::surplus_files(&folder, &CacheOptions::default()),
            Self::Plugins => plugins::Store::in_cache(Some(cache_dir.to_owned())).unused(),
            Self::SearchIndexes => orphaned(&folder).iter().flat_map(|it| files(it)).collect(),
            Self::RunCaches | Self::RunCopies => Vec::new(),
        }
    }

    fn limit(self) -> Limit {
        let storage = Storage::new("");
        match self {
            Self::MachineCode | Self::Grammars => {
                Limit { unused: Some(code_cache::UNUSED), ..Limit::default() }
            }
            Self::Answers => {
                let CacheOptions { disk, max_age, .. } = CacheOptions::default();
                Limit { bytes: Some(disk), unused: Some(DAY * max_age), of_part: None }
            }
            Self::SearchIndexes => Limit::of_part("index", agents::index_limit()),
            Self::Plugins => Limit { unused: Some(plugins::UNUSED), ..Limit::default() },
            Self::RunCaches => Limit::of_all(storage.caches),
            Self::RunCopies => Limit::of_all(storage.copies),
        }
    }

    fn bytes(self, cache_dir: &Path) -> u64 {
        match self.storage() {
            Some(kind) => Storage::new(cache_dir).size(kind).unwrap_or(0),
            None => size(&self.folder(cache_dir)),
        }
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Limit {
    fn of_all(bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..Self::default() }
    }

    fn of_part(part: &str, bytes: u64) -> Self {
        Self { of_part: Some(format!("{} for each {part}", words::bytes(bytes))), ..Self::default() }
    }

    fn text(&self) -> String {
        let bytes = self.bytes.map(words::bytes);
        let unused = self.unused.map(|it| format!("{} without use", words::duration(it)));
        let parts: Vec<_> = bytes.into_iter().chain(unused).chain(self.of_part.clone()).collect();
        if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
    }
}

impl FolderStatus {
    fn new(name: impl Into<String>, path: &Path, bytes: u64, limit: &Limit) -> Self {
        let (path, name) = (path.to_string_lossy().into_owned(), name.into());
        Self { name, path, bytes, limit_bytes: limit.bytes, limit: limit.text() }
    }

    /// `answers            12 MiB  /home/…  (limit: 512 MiB)`
    pub(super) fn line(&self) -> String {
        let size = words::bytes(self.bytes);
        format!("{:<15} {size:>9}  {}  (limit: {})\n", self.name, lint::printable(&self.path), self.limit)
    }
}

/// All folders that are on the disk.
pub(super) fn all(cache_dir: Option<&Path>) -> Vec<FolderStatus> {
    let mut all = Vec::new();
    if let Some(cache_dir) = cache_dir {
        let kinds = CacheKind::value_variants().iter().filter(|it| it.folder(cache_dir).is_dir());
        all.extend(
            kinds.map(|it| {
                FolderStatus::new(it.name(), &it.folder(cache_dir), it.bytes(cache_dir), &it.limit())
            }),
        );
        let known = CacheKind::value_variants().iter().map(|it| it.folder(cache_dir));
        all.extend(others("other-caches", cache_dir, &known.collect::<Vec<_>>()));
    }
    if let Some(data_dir) = folders::data_dir() {
        let tools = data_dir.join(tool_store::FOLDER);
        if tools.is_dir() {
            let limit = Limit { unused: Some(tool_store::KEPT), ..Limit::default() };
            all.push(FolderStatus::new("tools", &tools, size(&tools), &limit));
        }
        all.extend(others("other-data", &data_dir, &[tools]));
    }
    if let Some(state_dir) = folders::state_dir() {
        let (workspaces, log) = (state_dir.join("workspaces"), agents::log_files(&state_dir));
        if workspaces.is_dir() {
            let limit = Limit::of_part("branch", workspaces::MAX_BRANCH);
            all.push(FolderStatus::new("workspaces", &workspaces, size(&workspaces), &limit));
        }
        let logged: u64 = log.iter().map(|it| size(it)).sum();
        if logged > 0 {
            let file = agents::log_file(&state_dir);
            all.push(FolderStatus::new("agents-log", &file, logged, &Limit::of_all(agents::LOG_LIMIT)));
        }
        let known: Vec<_> = log.into_iter().chain([workspaces]).collect();
        all.extend(others("other-state", &state_dir, &known));
    }
    let (runtime_dir, log) = (folders::runtime_dir(), Endpoint::of_user().log_file());
    if log.exists() {
        all.push(FolderStatus::new("daemon-log", &log, size(&log), &Limit::of_all(client::LOG_LIMIT)));
    }
    all.extend(others("other-runtime", &runtime_dir, &[log]));
    all
}

/// Remaining entries of a folder, if any.
fn others(name: &str, folder: &Path, known: &[PathBuf]) -> Option<FolderStatus> {
    let others: Vec<_> = entries(folder).into_iter().filter(|it| !known.contains(it)).collect();
    let bytes = others.iter().map(|it| size(it)).sum();
    (!others.is_empty()).then(|| FolderStatus::new(name, folder, bytes, &Limit::default()))
}

/// Bytes of a file, or of all files below a folder and on its file system.
pub(super) fn size(path: &Path) -> u64 {
    let Ok(metadata) = path.symlink_metadata() else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    // What runs show in a folder is mounted there.
    let is_here = |it: &PathBuf| it.symlink_metadata().is_ok_and(|it| it.dev() == metadata.dev());
    entries(path).iter().filter(|it| is_here(it)).map(|it| size(it)).sum()
}

/// The files below a folder, which is no link.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let below = |path: PathBuf| match path.symlink_metadata() {
        Ok(it) if it.is_dir() => files(&path),
        _ => vec![path],
    };
    entries(folder).into_iter().flat_map(below).collect()
}

#[expect(clippy::disallowed_methods, reason = "the program's own folders")]
fn entries(folder: &Path) -> Vec<PathBuf> {
    if !folder.symlink_metadata().is_ok_and(|it| it.is_dir()) {
        return Vec::new();
    }
    let mut entries: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    entries.sort();
    entries
}

/// Indexes of workspaces that are gone, or of which nothing is kept.
fn orphaned(indexes: &Path) -> Vec<PathBuf> {
    let states = folders::state_dir().map(|it| workspaces::kept_states(&it)).unwrap_or_default();
    let is_of_use = |index: &PathBuf| {
        states.iter().any(|it| it.folder.file_name() == index.file_name() && !it.is_orphan())
    };
    entries(indexes).into_iter().filter(|it| !is_of_use(it)).collect()
}
