//! A branch as data that can be kept: the steps that lead to it, and the way back.
//!
//! A step says what the tree holds, not what was called, so it is replayed without a look at the base,
//! and gives the same tree over any base. How steps are encoded is not known here.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    Branch, History, LogEntry, Origin, Revision, State,
    changes::differing,
    history::{ForkPoint, KeptPermissions, Recorded, StepKind},
    origin::{self, Origins},
    tree::{Directory, File, Node, Tree},
};
use crate::{ContentHash, Permissions, View, WorkspacePath, version_control};

/// Changes of one revision.
///
/// Two steps in a row may have the same revision: the second then goes on from the first, and only where
/// it leads is a state of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub revision: Revision,
    /// Milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Description of the edit, as [`LogEntry::what`].
    pub what: String,
    pub paths: Vec<WorkspacePath>,
    /// In the order in which they are put in place. One for the root itself is always the first, and
    /// means that the step starts from nothing: no edits and no origins.
    pub nodes: Vec<(WorkspacePath, NodeRecord)>,
    /// `None`: the path has no origin any more.
    pub origins: Vec<(WorkspacePath, Option<Origin>)>,
    /// Permissions of the entries that commits removed.
    pub permissions: Vec<(WorkspacePath, Permissions)>,
    /// Whether the tree and origins after this step are the new fork point.
    pub fork_point: bool,
    pub kind: StepKind,
}

/// Content of a branch at one path, whatever the base has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeRecord {
    File {
        bytes: Bytes,
        /// Hash of `bytes`, which is not computed again.
        hash: ContentHash,
        executable: bool,
        /// Path in the base before it was moved; `None`: under the `came_from` of its directory.
        came_from: Option<WorkspacePath>,
    },
    /// The text of the link.
    Symlink(String),
    /// Empty but for what the base shows there; what it holds are records of their own.
    Directory {
        shows_base: bool,
        /// Like `came_from` of a file.
        came_from: Option<WorkspacePath>,
    },
    /// No entry, even if the base has one.
    Whiteout,
    /// The branch says nothing.
    Absent,
}

/// Error of steps that make no branch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    #[error("revision {found} does not follow revision {previous}")]
    Gap { previous: Revision, found: Revision },
    #[error("at revision {revision}, `{path}` lies in a directory that the branch does not hold")]
    NoParent { revision: Revision, path: WorkspacePath },
    #[error("at revision {revision}, the record of the root is not a directory at the beginning")]
    Root { revision: Revision },
    #[error("at revision {revision}, `{path}` lies too many directories deep")]
    TooDeep { revision: Revision, path: WorkspacePath },
}

impl Branch {
    /// Returns all steps that are needed to [`restore`](Self::restore) the branch as it is, its history included.
    pub fn steps(&self) -> Vec<Step> {
        let oldest = self.history.oldest();
        let mut steps = starting_steps(oldest);
        steps.extend(self.steps_since(oldest.entry.revision));
        steps
    }

    /// The steps that lead from `revision` to the present state. If the history does not go back so far,
    /// these are all [`steps`](Self::steps), of which the first starts from nothing.
    pub fn steps_since(&self, revision: Revision) -> Vec<Step> {
        if revision < self.history.oldest().entry.revision {
            return self.steps();
        }
        let steps: Vec<_> = self.history.iter().skip_while(|it| it.entry.revision < revision).collect();
        steps.windows(2).flat_map(|pair| steps_between(&pair[0].state, pair[1])).collect()
    }

    /// The branch that these steps lead to, over `base` as it is now.
    ///
    /// Steps that do not start from nothing start from a branch without edits.
    pub fn restore(base: Arc<dyn View>, steps: impl IntoIterator<Item = Step>) -> Result<Self, RestoreError> {
        let mut branch = Self::starting(State::new(base));
        let mut is_first = true;
        for step in steps {
            let previous = branch.revision();
            let starts_anew = is_first && (step.starts_from_nothing() || step.revision == previous);
            let follows = [previous.0, previous.0.saturating_add(1)].contains(&step.revision.0);
            if !starts_anew && !follows {
                return Err(RestoreError::Gap { previous, found: step.revision });
            }
            let state = replay(branch.state(), &step)?;
            let goes_on = step.revision == previous;
            let entry = step.into_entry();
            match (starts_anew, goes_on) {
                (true, _) => branch.history = History::starting(entry, state),
                (false, true) => branch.history.replace_newest(Recorded { entry, state }),
                (false, false) => branch.history.push(Recorded { entry, state }),
            }
            is_first = false;
        }
        Ok(branch)
    }
}

impl Step {
    fn new(entry: &LogEntry) -> Self {
        Self {
            revision: entry.revision,
            at_ms: entry.at_ms,
            what: entry.what.to_string(),
            paths: entry.paths.to_vec(),
            nodes: Vec::new(),
            origins: Vec::new(),
            permissions: Vec::new(),
            fork_point: false,
            kind: entry.kind,
        }
    }

    /// The texts that it holds, each with its length in bytes; equal ones may come more than once.
    pub fn texts(&self) -> impl Iterator<Item = (ContentHash, usize)> {
        let nodes = self.nodes.iter().filter_map(|(_, it)| match it {
            NodeRecord::File { bytes, hash, .. } => Some((*hash, bytes.len())),
            _ => None,
        });
        let origins = self.origins.iter().filter_map(|(_, it)| match it {
            Some(Origin::File { bytes, hash, .. }) => Some((*hash, bytes.len())),
            _ => None,
        });
        nodes.chain(origins)
    }

    /// Adds the differences of two repositories. Their directories above files of version control are no records.
    fn with_repository(mut self, before: &Tree, after: &Tree) -> Self {
        if !Arc::ptr_eq(&before.root, &after.root) {
            let mut records = Vec::new();
            add_difference(&WorkspacePath::root(), &before.root, &after.root, &mut records);
            self.nodes.extend(records.into_iter().filter(|(path, _)| version_control::is_inside(path)));
        }
        self
    }

    fn into_entry(self) -> LogEntry {
        let Self { revision, at_ms, what, paths, kind, .. } = self;
        LogEntry { revision, at_ms, what: what.into(), paths: paths.into(), kind }
    }

    fn starts_from_nothing(&self) -> bool {
        self.nodes.first().is_some_and(|(path, _)| path.is_root())
    }
}

/// The state at the beginning of a history, from nothing.
fn starting_steps(Recorded { entry, state }: &Recorded) -> Vec<Step> {
    let fork = &state.fork;
    let permissions = told(&state.permissions);
    let is_fork = Arc::ptr_eq(&state.tree.root, &fork.tree.root);
    if is_fork || (fork.tree.is_blank() && fork.origins.is_empty()) {
        let start = whole(entry, &state.tree, &state.origins, is_fork);
        return vec![
            Step { permissions, ..start }.with_repository(&state.repository.blank(), &state.repository),
        ];
    }
    let start = whole(entry, &fork.tree, &fork.origins, true);
    let from_fork = between(entry, (&fork.tree, &fork.origins), (&state.tree, &state.origins));
    vec![
        Step { permissions, ..start },
        from_fork.with_repository(&state.repository.blank(), &state.repository),
    ]
}

fn steps_between(before: &State, Recorded { entry, state: after }: &Recorded) -> Vec<Step> {
    let permissions = added(&before.permissions, &after.permissions);
    let (start, end) = ((&before.tree, &before.origins), (&after.tree, &after.origins));
    let (old, new) = (&before.repository, &after.repository);
    if Arc::ptr_eq(&before.fork, &after.fork) {
        return vec![Step { permissions, ..between(entry, start, end) }.with_repository(old, new)];
    }
    let fork = (&after.fork.tree, &after.fork.origins);
    let to_fork =
        Step { fork_point: true, permissions, ..between(entry, start, fork) }.with_repository(old, new);
    let from_fork = between(entry, fork, end);
    if from_fork.nodes.is_empty() && from_fork.origins.is_empty() {
        return vec![to_fork];
    }
    vec![to_fork, from_fork]
}

fn told(permissions: &KeptPermissions) -> Vec<(WorkspacePath, Permissions)> {
    permissions.iter().map(|(path, it)| (path.clone(), *it)).collect()
}

/// Returns the permissions that are new in `after`. Permissions are never removed.
fn added(before: &KeptPermissions, after: &KeptPermissions) -> Vec<(WorkspacePath, Permissions)> {
    if before.is_empty() && after.is_empty() {
        return Vec::new();
    }
    let is_new = |(path, it): &(&WorkspacePath, &Permissions)| before.get(*path) != Some(*it);
    after.iter().filter(is_new).map(|(path, it)| (path.clone(), *it)).collect()
}

fn whole(entry: &LogEntry, tree: &Tree, origins: &Origins, fork_point: bool) -> Step {
    let mut nodes = Vec::new();
    add_directory(&WorkspacePath::root(), &tree.root, &mut nodes);
    let origins = origin::difference(&Origins::new_sync(), origins);
    // Nothing came before it.
    Step { nodes, origins, fork_point, kind: StepKind::Edit, ..Step::new(entry) }
}

type Side<'a> = (&'a Tree, &'a Origins);

fn between(entry: &LogEntry, before: Side<'_>, after: Side<'_>) -> Step {
    let mut nodes = Vec::new();
    if !Arc::ptr_eq(&before.0.root, &after.0.root) {
        add_difference(&WorkspacePath::root(), &before.0.root, &after.0.root, &mut nodes);
    }
    Step { nodes, origins: origin::difference(before.1, after.1), ..Step::new(entry) }
}

type Records = Vec<(WorkspacePath, NodeRecord)>;

/// Adds the nodes that differ. Both directories must be over the base, or neither.
fn add_difference(at: &WorkspacePath, before: &Directory, after: &Directory, records: &mut Records) {
    for (name, _, _) in differing(before, after) {
        let path = at.child(name);
        match (before.entries.get(name).map(|it| &**it), after.entries.get(name).map(|it| &**it)) {
            (_, None) => records.push((path, NodeRecord::Absent)),
            (Some(Node::Directory(before)), Some(Node::Directory(after)))
                if (before.shows_base, &before.came_from) == (after.shows_base, &after.came_from) =>
            {
                add_difference(&path, before, after, records);
            }
            (Some(before), Some(after))
                if before.is_same(after) && before.came_from() == after.came_from() => {}
            (_, Some(Node::Directory(after))) => add_directory(&path, after, records),
            (_, Some(after)) => records.push((path, record(after))),
        }
    }
}

fn add_directory(at: &WorkspacePath, directory: &Directory, records: &mut Records) {
    records.push((at.clone(), record_directory(directory)));
    for (name, node) in &directory.entries {
        match &**node {
            Node::Directory(directory) => add_directory(&at.child(name), directory, records),
            node => records.push((at.child(name), record(node))),
        }
    }
}

fn record(node: &Node) -> NodeRecord {
    match node {
        Node::File(File { bytes, hash, executable, came_from }) => {
            let (bytes, came_from) = (bytes.clone(), came_from.clone());
            NodeRecord::File { bytes, hash: *hash, executable: *executable, came_from }
        }
        Node::Symlink(target) => NodeRecord::Symlink(target.to_string()),
        Node::Directory(directory) => record_directory(directory),
        Node::Whiteout => NodeRecord::Whiteout,
    }
}

fn record_directory(directory: &Directory) -> NodeRecord {
    NodeRecord::Directory { shows_base: directory.shows_base, came_from: directory.came_from.clone() }
}

/// The node to put in place; `None` where there is none.
fn node(record: NodeRecord) -> Option<Node> {
    Some(match record {
        NodeRecord::File { bytes, hash, executable, came_from } => {
            Node::File(File { bytes, hash, executable, came_from })
        }
        NodeRecord::Symlink(target) => Node::Symlink(target.into()),
        NodeRecord::Directory { shows_base, came_from } => {
            let mut directory = if shows_base { Directory::over() } else { Directory::opaque() };
            directory.came_from = came_from;
            Node::Directory(directory)
        }
        NodeRecord::Whiteout => Node::Whiteout,
        NodeRecord::Absent => return None,
    })
}

fn replay(state: &State, step: &Step) -> Result<State, RestoreError> {
    let revision = step.revision;
    let (mut tree, mut origins) = (state.tree.clone(), state.origins.clone());
    let (mut permissions, mut repository) = (state.permissions.clone(), state.repository.clone());
    for (index, (path, record)) in step.nodes.iter().enumerate() {
        if path.is_root() {
            let is_start = index == 0 && matches!(record, NodeRecord::Directory { shows_base: true, .. });
            if !is_start {
                return Err(RestoreError::Root { revision });
            }
            (tree, origins, repository) = (tree.blank(), Origins::new_sync(), repository.blank());
            continue;
        }
        let path = path.clone();
        let node = node(record.clone());
        let kept = if version_control::is_inside(&path) { &mut repository } else { &mut tree };
        let next = match node {
            Some(node) if version_control::is_inside(&path) => kept.laid(&path, node),
            node => kept.with_entry(&path, node),
        };
        *kept = next.ok_or_else(|| RestoreError::NoParent { revision, path: path.clone() })?;
        if kept.expect_not_too_deep(&path).is_err() {
            return Err(RestoreError::TooDeep { revision, path });
        }
    }
    for (path, origin) in &step.origins {
        match origin {
            Some(origin) => origins.insert_mut(path.clone(), origin.clone()),
            None => drop(origins.remove_mut(path)),
        }
    }
    let fork = if step.fork_point {
        Arc::new(ForkPoint { tree: tree.clone(), origins: origins.clone() })
    } else {
        state.fork.clone()
    };
    for (path, it) in &step.permissions {
        permissions.insert_mut(path.clone(), *it);
    }
    Ok(State { tree, origins, fork, permissions, repository })
}
