//! Journal of a commit, kept outside the workspace until the commit is done.
//!
//! A journal is one file, which never changes once it is written; the progress of the commit is given by the file's
//! name, since a rename is atomic. The file begins with a hash of the rest.

#![allow(clippy::disallowed_methods, reason = "it lies outside the workspace")]

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{
    CommitError,
    action::{Action, Change, Plan},
    fail_point::FailPoint,
    look::{Stamp, State},
};
use crate::{ContentHash, WorkspacePath};

const MAGIC: &[u8] = b"broker commit 3\n";
/// Magic of the same records by a version that hard-linked the replaced file under a second name: see `earlier`.
const LINKED_MAGIC: &[u8] = b"broker commit 2\n";
/// Common beginning of the journals of all versions.
const ANY_MAGIC: &[u8] = b"broker commit ";
/// The journal while it is written; not valid yet.
const UNFINISHED: &str = "commit.unfinished";

/// Progress of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Texts may have been laid beside their targets; nothing has been put in place.
    Intent,
    /// All texts are there. From here on the commit is finished, or taken back as a whole.
    Decided,
    /// The commit failed, and is being taken back.
    Undoing,
    /// The commit was taken back; hidden files may be left.
    TakenBack,
    /// Everything is in place; hidden files may be left.
    Done,
}

const STAGES: [Stage; 5] = [Stage::Intent, Stage::Decided, Stage::Undoing, Stage::TakenBack, Stage::Done];

/// Method of putting a new text in the place of the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replacing {
    /// The two change places.
    ByExchange,
    /// The old text gets its second name as a hard link, then the new text is renamed over it.
    ByLink,
}

pub(super) struct Journal {
    dir: PathBuf,
    stage: Stage,
    fail_point: FailPoint,
}

#[derive(Serialize, Deserialize)]
struct Record {
    path: String,
    new: String,
    old: String,
    before: State,
    change: Change,
    stamp: Option<Stamp>,
}

impl Stage {
    fn file_name(self) -> &'static str {
        match self {
            Self::Intent => "commit.intent",
            Self::Decided => "commit.decided",
            Self::Undoing => "commit.undoing",
            Self::TakenBack => "commit.taken-back",
            Self::Done => "commit.done",
        }
    }
}

impl Journal {
    pub(super) fn new(dir: &Path, fail_point: FailPoint) -> Self {
        Self { dir: dir.to_owned(), stage: Stage::Intent, fail_point }
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir.join(self.stage.file_name())
    }

    /// The journal that an interrupted commit left, if there is one.
    pub(super) fn pending(&mut self) -> Result<Option<PathBuf>, CommitError> {
        for stage in STAGES {
            let path = self.dir.join(stage.file_name());
            match fs::symlink_metadata(&path) {
                Ok(_) => {
                    self.stage = stage;
                    return Ok(Some(path));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(CommitError::journal(&path, "look at", source)),
            }
        }
        Ok(None)
    }

    /// Notes down the plan, durably, before anything is written into the workspace.
    pub(super) fn begin(&mut self, plan: &Plan) -> Result<(), CommitError> {
        let bytes = encode(plan).map_err(|source| CommitError::journal(&self.path(), "encode", source))?;
        let unfinished = self.dir.join(UNFINISHED);
        self.write(&unfinished, &bytes)
            .map_err(|source| CommitError::journal(&unfinished, "write", source))?;
        self.rename(&unfinished, Stage::Intent)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.fail_point.step()?;
        fs::write(path, bytes)?;
        self.fail_point.sync(File::open(path)?)
    }

    /// Durable when it returns. Of `TakenBack` and `Done` this matters, too: what a user writes from then on
    /// is not to be taken for a part of the commit.
    pub(super) fn enter(&mut self, stage: Stage) -> Result<(), CommitError> {
        if stage == self.stage { Ok(()) } else { self.rename(&self.path(), stage) }
    }

    fn rename(&mut self, from: &Path, stage: Stage) -> Result<(), CommitError> {
        let to = self.dir.join(stage.file_name());
        self.fail_point
            .step()
            .and_then(|()| fs::rename(from, &to))
            .map_err(|source| CommitError::journal(from, "rename", source))?;
        self.stage = stage;
        self.sync_dir()
    }

    /// Removes the journal, if there is one.
    pub(super) fn end(&mut self) -> Result<(), CommitError> {
        for path in [self.path(), self.dir.join(UNFINISHED)] {
            let removed = self.fail_point.step().and_then(|()| fs::remove_file(&path));
            match removed {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(|source| CommitError::journal(&path, "remove", source))?,
            }
        }
        self.sync_dir()
    }

    fn sync_dir(&self) -> Result<(), CommitError> {
        let sync = File::open(&self.dir).and_then(|it| self.fail_point.sync(it));
        sync.map_err(|source| CommitError::journal(&self.dir, "sync", source))
    }

    /// The plan of the pending commit, without its texts, and how it replaces files.
    pub(super) fn read(&self) -> Result<(Plan, Replacing), CommitError> {
        let path = self.path();
        let bytes = fs::read(&path).map_err(|source| CommitError::journal(&path, "read", source))?;
        if is_of_another_version(&bytes) {
            return Err(CommitError::OtherVersion { journal: path });
        }
        decode(&bytes).map_err(|reason| CommitError::Damaged { journal: path, reason })
    }
}

fn encode(plan: &Plan) -> io::Result<Vec<u8>> {
    let records: Vec<_> = plan.actions.iter().map(Record::of).collect();
    let payload = postcard::to_stdvec(&records).map_err(io::Error::other)?;
    Ok([MAGIC, ContentHash::of(&payload).as_bytes(), &payload].concat())
}

fn decode(bytes: &[u8]) -> Result<(Plan, Replacing), String> {
    let exchanging = bytes.strip_prefix(MAGIC).map(|rest| (rest, Replacing::ByExchange));
    let linking = || bytes.strip_prefix(LINKED_MAGIC).map(|rest| (rest, Replacing::ByLink));
    let (rest, replacing) = exchanging.or_else(linking).ok_or("it is no journal")?;
    let (hash, payload) = rest.split_first_chunk::<32>().ok_or("it is cut short")?;
    if ContentHash::of(payload).as_bytes() != hash {
        return Err("its checksum does not fit".to_owned());
    }
    let records: Vec<Record> = postcard::from_bytes(payload).map_err(|error| error.to_string())?;
    let actions = records.into_iter().map(Record::action).collect::<Result<Vec<_>, _>>()?;
    let texts = vec![Bytes::new(); actions.len()];
    Ok((Plan { actions, texts }, replacing))
}

fn is_of_another_version(bytes: &[u8]) -> bool {
    bytes.len() >= MAGIC.len()
        && bytes.starts_with(ANY_MAGIC)
        && ![MAGIC, LINKED_MAGIC].iter().any(|it| bytes.starts_with(it))
}

impl Record {
    fn of(action: &Action) -> Self {
        let text = |path: &WorkspacePath| path.as_str().to_owned();
        Self {
            path: text(&action.path),
            new: text(&action.new),
            old: text(&action.old),
            before: action.before.clone(),
            change: action.change.clone(),
            stamp: action.stamp,
        }
    }

    fn action(self) -> Result<Action, String> {
        let path = |text: &str| WorkspacePath::new(text).map_err(|error| error.to_string());
        Ok(Action {
            path: path(&self.path)?,
            new: path(&self.new)?,
            old: path(&self.old)?,
            before: self.before,
            change: self.change,
            stamp: self.stamp,
        })
    }
}
