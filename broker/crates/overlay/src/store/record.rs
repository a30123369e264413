//! Records in the file: the store's own types, so that those of the overlay are free to change.
//!
//! A step names its texts by hash. Fields are only ever added with a new schema version.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{BranchRecord, StoreError};
use crate::{ContentHash, NodeRecord, Origin, Permissions, Revision, Step, StepKind, WorkspacePath};

/// The version of everything here.
pub(super) const SCHEMA: u64 = 4;
/// The version before, which is read as well: its steps are a part of those that this one has.
pub(super) const EARLIER: u64 = 3;
/// Start of the log entry of an undo in the earlier version, which does not say so otherwise; the revision follows.
const UNDO: &str = "undo to revision ";

/// Request to the database, encoded by the caller's thread.
pub(super) enum Change {
    Save {
        id: String,
        record: Option<Vec<u8>>,
        steps: Vec<Encoded>,
    },
    Discard {
        id: String,
    },
    /// Replaces a branch's steps. The branch need not exist, since a record is given.
    Replace {
        id: String,
        record: Vec<u8>,
        steps: Vec<Encoded>,
    },
}

/// A step, and the texts it names.
pub(super) struct Encoded {
    pub(super) bytes: Vec<u8>,
    pub(super) texts: Texts,
}

pub(super) type Hash = [u8; 32];
pub(super) type Texts = BTreeMap<Hash, Bytes>;

#[derive(Serialize, Deserialize)]
struct StoredRecord {
    name: String,
    parent: Option<String>,
    created_ms: u64,
    labels: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredStep {
    revision: u64,
    at_ms: u64,
    what: String,
    paths: Vec<String>,
    nodes: Vec<(String, StoredNode)>,
    origins: Vec<(String, Option<StoredOrigin>)>,
    permissions: Vec<(String, StoredPermissions)>,
    fork_point: bool,
    kind: StoredKind,
}

/// In the earlier version a boolean, whether it is a commit: encoded as the first two of these.
#[derive(Serialize, Deserialize)]
enum StoredKind {
    Edit,
    Commit,
    Undo { to: u64 },
}

#[derive(Serialize, Deserialize)]
enum StoredNode {
    File { hash: Hash, executable: bool, came_from: Option<String> },
    Symlink(String),
    Directory { shows_base: bool, came_from: Option<String> },
    Whiteout,
    Absent,
}

#[derive(Serialize, Deserialize)]
struct StoredPermissions {
    mode: u32,
    uid: u32,
    gid: u32,
}

#[derive(Serialize, Deserialize)]
enum StoredOrigin {
    Missing,
    File { hash: Hash, executable: bool },
    Symlink(String),
    Directory,
    Other,
}

impl Change {
    pub(super) fn save(id: &str, record: Option<BranchRecord>, steps: Vec<Step>) -> Result<Self, StoreError> {
        let record = record.map(|it| encode(id, &StoredRecord::of(it))).transpose()?;
        Ok(Self::Save { id: id.to_owned(), record, steps: encode_steps(id, steps)? })
    }

    pub(super) fn replace(id: &str, record: BranchRecord, steps: Vec<Step>) -> Result<Self, StoreError> {
        let record = encode(id, &StoredRecord::of(record))?;
        Ok(Self::Replace { id: id.to_owned(), record, steps: encode_steps(id, steps)? })
    }

    /// About how many bytes it makes the file grow.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Save { steps, .. } | Self::Replace { steps, .. } => {
                steps.iter().map(|it| it.bytes.len() + it.texts.values().map(Bytes::len).sum::<usize>()).sum()
            }
            Self::Discard { .. } => 0,
        }
    }
}

fn encode_steps(id: &str, steps: Vec<Step>) -> Result<Vec<Encoded>, StoreError> {
    let encoded = steps.into_iter().map(|step| {
        let mut texts = Texts::new();
        let bytes = encode(id, &StoredStep::of(step, &mut texts))?;
        Ok(Encoded { bytes, texts })
    });
    encoded.collect()
}

fn encode(id: &str, value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    postcard::to_stdvec(value)
        .map_err(|error| StoreError::Unsavable { id: id.to_owned(), reason: error.to_string() })
}

/// Decodes all of `bytes`; a rest is an error.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes too many", rest.len())),
        Err(error) => Err(error.to_string()),
    }
}

impl StoredRecord {
    fn of(record: BranchRecord) -> Self {
        let BranchRecord { name, parent, created_ms, labels } = record;
        Self { name, parent, created_ms, labels }
    }
}

pub(super) fn decode_record(bytes: &[u8]) -> Result<BranchRecord, String> {
    let StoredRecord { name, parent, created_ms, labels } = decode(bytes)?;
    Ok(BranchRecord { name, parent, created_ms, labels })
}

impl StoredStep {
    fn of(step: Step, texts: &mut Texts) -> Self {
        let text = |path: &WorkspacePath| path.as_str().to_owned();
        Self {
            revision: step.revision.0,
            at_ms: step.at_ms,
            what: step.what,
            paths: step.paths.iter().map(text).collect(),
            nodes: step.nodes.into_iter().map(|(path, it)| (text(&path), node(it, texts))).collect(),
            origins: step
                .origins
                .into_iter()
                .map(|(path, it)| (text(&path), it.map(|it| origin(it, texts))))
                .collect(),
            permissions: step.permissions.iter().map(|(path, it)| (text(path), (*it).into())).collect(),
            fork_point: step.fork_point,
            kind: match step.kind {
                StepKind::Edit => StoredKind::Edit,
                StepKind::Commit => StoredKind::Commit,
                StepKind::Undo(to) => StoredKind::Undo { to: to.0 },
            },
        }
    }

    /// The texts it names, each once.
    pub(super) fn hashes(&self) -> Vec<Hash> {
        let nodes = self.nodes.iter().filter_map(|(_, it)| match it {
            StoredNode::File { hash, .. } => Some(*hash),
            _ => None,
        });
        let origins = self.origins.iter().filter_map(|(_, it)| match it {
            Some(StoredOrigin::File { hash, .. }) => Some(*hash),
            _ => None,
        });
        let mut hashes: Vec<_> = nodes.chain(origins).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// The step again; `text` finds a text by its hash.
    pub(super) fn step(self, mut text: impl FnMut(&Hash) -> Result<Bytes, String>) -> Result<Step, String> {
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes {
            nodes.push((path(&at)?, node.node(&mut text)?));
        }
        let mut origins = Vec::with_capacity(self.origins.len());
        for (at, origin) in self.origins {
            origins.push((path(&at)?, origin.map(|it| it.origin(&mut text)).transpose()?));
        }
        Ok(Step {
            revision: Revision(self.revision),
            at_ms: self.at_ms,
            kind: self.kind.kind(&self.what),
            what: self.what,
            paths: self.paths.iter().map(|it| path(it)).collect::<Result<_, _>>()?,
            nodes,
            origins,
            permissions: (self.permissions.into_iter())
                .map(|(at, it)| Ok((path(&at)?, it.into())))
                .collect::<Result<_, String>>()?,
            fork_point: self.fork_point,
        })
    }
}

impl StoredKind {
    fn kind(self, what: &str) -> StepKind {
        let undone_to = || what.strip_prefix(UNDO)?.parse().ok().map(Revision);
        match self {
            Self::Edit => undone_to().map_or(StepKind::Edit, StepKind::Undo),
            Self::Commit => StepKind::Commit,
            Self::Undo { to } => StepKind::Undo(Revision(to)),
        }
    }
}

fn node(node: NodeRecord, texts: &mut Texts) -> StoredNode {
    match node {
        NodeRecord::File { bytes, hash, executable, came_from } => {
            let came_from = came_from.map(|it| it.as_str().to_owned());
            StoredNode::File { hash: keep(bytes, hash, texts), executable, came_from }
        }
        NodeRecord::Symlink(target) => StoredNode::Symlink(target),
        NodeRecord::Directory { shows_base, came_from } => {
            let came_from = came_from.map(|it| it.as_str().to_owned());
            StoredNode::Directory { shows_base, came_from }
        }
        NodeRecord::Whiteout => StoredNode::Whiteout,
        NodeRecord::Absent => StoredNode::Absent,
    }
}

fn origin(origin: Origin, texts: &mut Texts) -> StoredOrigin {
    match origin {
        Origin::Missing => StoredOrigin::Missing,
        Origin::File { bytes, hash, executable } => {
            StoredOrigin::File { hash: keep(bytes, hash, texts), executable }
        }
        Origin::Symlink(target) => StoredOrigin::Symlink(target),
        Origin::Directory => StoredOrigin::Directory,
        Origin::Other => StoredOrigin::Other,
    }
}

fn keep(bytes: Bytes, hash: ContentHash, texts: &mut Texts) -> Hash {
    texts.insert(*hash.as_bytes(), bytes);
    *hash.as_bytes()
}

impl StoredNode {
    fn node(self, text: &mut impl FnMut(&Hash) -> Result<Bytes, String>) -> Result<NodeRecord, String> {
        Ok(match self {
            Self::File { hash, executable, came_from } => NodeRecord::File {
                bytes: text(&hash)?,
                hash: ContentHash::from_bytes(hash),
                executable,
                came_from: came_from.map(|it| path(&it)).transpose()?,
            },
            Self::Symlink(target) => NodeRecord::Symlink(target),
            Self::Directory { shows_base, came_from } => {
                NodeRecord::Directory { shows_base, came_from: came_from.map(|it| path(&it)).transpose()? }
            }
            Self::Whiteout => NodeRecord::Whiteout,
            Self::Absent => NodeRecord::Absent,
        })
    }
}

impl From<Permissions> for StoredPermissions {
    fn from(Permissions { mode, uid, gid }: Permissions) -> Self {
        Self { mode, uid, gid }
    }
}

impl From<StoredPermissions> for Permissions {
    fn from(StoredPermissions { mode, uid, gid }: StoredPermissions) -> Self {
        Self { mode, uid, gid }
    }
}

impl StoredOrigin {
    fn origin(self, text: &mut impl FnMut(&Hash) -> Result<Bytes, String>) -> Result<Origin, String> {
        Ok(match self {
            Self::Missing => Origin::Missing,
            Self::File { hash, executable } => {
                Origin::File { bytes: text(&hash)?, hash: ContentHash::from_bytes(hash), executable }
            }
            Self::Symlink(target) => Origin::Symlink(target),
            Self::Directory => Origin::Directory,
            Self::Other => Origin::Other,
        })
    }
}

fn path(text: &str) -> Result<WorkspacePath, String> {
    WorkspacePath::new(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_of_the_earlier_version_are_read() {
        let read = |is_commit: bool, what| {
            decode::<StoredKind>(&postcard::to_stdvec(&is_commit).unwrap()).unwrap().kind(what)
        };
        assert_eq!(read(false, "write a"), StepKind::Edit);
        assert_eq!(read(true, "commit"), StepKind::Commit);
        assert_eq!(read(false, "undo to revision 7"), StepKind::Undo(Revision(7)));
        assert_eq!(read(false, "write undo to revision 7"), StepKind::Edit);
    }
}
