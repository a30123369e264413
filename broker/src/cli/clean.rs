//! `broker daemon clean`

use std::{fs, path::Path};

use clap::ValueEnum as _;
use client::Endpoint;
use config::folders;
use lint::printable;
use serde::Serialize;
use shadow::{Extent, Storage, StorageKind};
use workspaces::KeptState;

use super::{
    AnswerFormat, Session,
    storage::{self, CacheKind},
    words,
};
use crate::{CliError, Exit};

/// Remove caches that are beyond their limits, or all of them
///
/// Removes what was not used for long, what takes more than a cache may, and indexes of workspaces that are gone. Branches, logs
/// and trusted folders stay. Caches in use by a command are kept and listed. `broker daemon status` shows all folders with
/// their limits. A running daemon may go on; it keeps in memory what it has read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker daemon clean --dry-run                 show what is beyond the limits
  broker daemon clean --all                     remove all caches
  broker daemon clean --all --only run-caches   remove one cache
  broker daemon clean --gone --dry-run          show what is kept of workspaces whose folders are gone")]
pub(super) struct Args {
    /// Remove all of the caches, not only what is beyond their limits
    #[arg(long)]
    all: bool,

    /// Clean only this cache; may be repeated
    #[arg(long, value_enum, value_name = "CACHE")]
    only: Vec<CacheKind>,

    /// Remove what is kept of workspaces whose folders are gone, unless their branches have edits
    #[arg(long)]
    gone: bool,

    /// With `--gone`, remove branches with edits, too: they are lost
    #[arg(long, requires = "gone")]
    force: bool,

    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Serialize)]
struct Report {
    dry_run: bool,
    /// Bytes of all that is removed.
    bytes: u64,
    removed: Vec<Removed>,
    left: Vec<Left>,
}

#[derive(Serialize)]
struct Removed {
    /// Name of the cache, or `workspace`.
    kind: String,
    path: String,
    bytes: u64,
    /// Branches and texts that are lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lost: Vec<String>,
}

/// Folder or file that stays, and the reason.
#[derive(Serialize)]
struct Left {
    path: String,
    why: String,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let mut report = Report { dry_run: args.dry_run, bytes: 0, removed: Vec::new(), left: Vec::new() };
    if args.gone {
        let state_dir = folders::own_state_dir()?;
        let states = state_dir.map(|it| workspaces::kept_states(&it)).unwrap_or_default();
        states.iter().for_each(|it| report.clean_state(it, args));
    }
    let kinds = if args.only.is_empty() { CacheKind::value_variants() } else { args.only.as_slice() };
    if let Some(cache_dir) = &session.process_context.cache_dir {
        kinds.iter().for_each(|it| report.clean_cache(*it, cache_dir, args));
    }
    report.bytes = report.removed.iter().map(|it| it.bytes).sum();
    if args.all
        && !args.dry_run
        && report.bytes > 0
        && let Some(pid) = Endpoint::of_user().holder()
    {
        session.messages.line(&format!("the daemon (process {pid}) keeps what it has read until it ends"));
    }
    session.print(&match args.output_format {
        AnswerFormat::Json => super::json(&report),
        AnswerFormat::Text => report.text(),
    })?;
    Ok(Exit::Clean)
}

impl Report {
    fn clean_cache(&mut self, kind: CacheKind, cache_dir: &Path, args: &Args) {
        match kind.storage() {
            Some(storage) => self.clean_folders(kind, storage, cache_dir, args),
            None => self.clean_files(kind, cache_dir, args),
        }
    }

    fn clean_folders(&mut self, kind: CacheKind, storage: StorageKind, cache_dir: &Path, args: &Args) {
        let extent = if args.all { Extent::All } else { Extent::BeyondLimit };
        match Storage::new(cache_dir).clean(storage, extent, args.dry_run) {
            Ok(cleaned) => {
                let (used, free): (Vec<_>, Vec<_>) = cleaned.into_iter().partition(|it| it.in_use);
                used.iter().for_each(|it| self.leave(&it.folder, "a command uses it"));
                self.removed(kind.name(), &kind.folder(cache_dir), free.iter().map(|it| it.bytes).sum());
            }
            Err(error) => self.leave(&kind.folder(cache_dir), error),
        }
    }

    fn clean_files(&mut self, kind: CacheKind, cache_dir: &Path, args: &Args) {
        let folder = kind.folder(cache_dir);
        let mut files = kind.surplus(cache_dir);
        if args.all {
            files.extend(storage::files(&folder).into_iter().filter(|it| !is_being_written(it)));
            files.sort();
            files.dedup();
        }
        let mut bytes = 0;
        for file in files {
            let size = storage::size(&file);
            let removed = if args.dry_run { Ok(()) } else { remove(&file) };
            match removed {
                Ok(()) => bytes += size,
                Err(error) => self.leave(&file, error),
            }
        }
        self.removed(kind.name(), &folder, bytes);
    }

    fn clean_state(&mut self, state: &KeptState, args: &Args) {
        let Some(root) = &state.root else {
            return self.leave(&state.folder, "its workspace is unknown");
        };
        if !state.is_orphan() {
            return;
        }
        let removed = state.hold(args.force).and_then(|held| {
            // The look at it makes it larger.
            let bytes = storage::size(&state.folder);
            let lost = held.lost.clone();
            let path = root.to_string_lossy().into_owned();
            let removed = Removed { kind: "workspace".to_owned(), path, bytes, lost };
            if args.dry_run { Ok(removed) } else { held.remove().map(|()| removed) }
        });
        match (removed, Endpoint::of_user().holder()) {
            (Ok(removed), _) => self.removed.push(removed),
            (Err(why), Some(pid)) if why.is_in_use() => {
                let text = format!("the daemon (process {pid}) has it open: `broker daemon stop` first");
                self.leave(root, text);
            }
            (Err(why), _) => self.leave(root, why),
        }
    }

    fn removed(&mut self, kind: String, folder: &Path, bytes: u64) {
        let path = folder.to_string_lossy().into_owned();
        self.removed.extend((bytes > 0).then(|| Removed { kind, path, bytes, lost: Vec::new() }));
    }

    fn leave(&mut self, path: &Path, why: impl ToString) {
        self.left.push(Left { path: path.to_string_lossy().into_owned(), why: why.to_string() });
    }

    fn text(&self) -> String {
        let (removed, freed) =
            if self.dry_run { ("would remove", "would free") } else { ("removed", "freed") };
        let mut text = String::new();
        for it in &self.removed {
            let lost =
                if it.lost.is_empty() { String::new() } else { format!(", with {}", it.lost.join(", ")) };
            let (size, path) = (words::bytes(it.bytes), printable(&it.path));
            text += &format!("{removed} {} {path}: {size}{}\n", it.kind, printable(&lost));
        }
        for it in &self.left {
            text += &format!("left {}: {}\n", printable(&it.path), printable(&it.why));
        }
        text + &format!("{freed} {}\n", words::bytes(self.bytes))
    }
}

/// Whether another process may be writing the file, which gets its name when it is done.
fn is_being_written(file: &Path) -> bool {
    file.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"."))
}

#[expect(clippy::disallowed_methods, reason = "the program's own cache folder")]
fn remove(file: &Path) -> std::io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
