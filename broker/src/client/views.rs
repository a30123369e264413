//! A branch as a view in this process: the disk, under the unsaved texts and the changes that the daemon has.
//!
//! Only what differs from the disk is fetched, so that the disk is to be the one that the daemon serves.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use overlay::{Branch, ChangeKind, EditError, Entry, FileKind, Snapshot, View, WorkspacePath};
use workspaces::{DiffRequest, DiffSide, PageRequest, Side, TargetId};

use super::Opened;
use crate::CliError;

/// A branch, and what it was made from.
pub(crate) struct BranchViews {
    pub(crate) view: Snapshot,
    pub(crate) parent: Option<Parent>,
}

/// The parent as it was at the fork, or at the last rebase.
pub(crate) struct Parent {
    pub(crate) view: Snapshot,
    /// Every path where the branch differs from it.
    pub(crate) changed: Vec<WorkspacePath>,
}

/// So often a branch is fetched anew that is edited meanwhile.
const ATTEMPTS: usize = 5;

impl BranchViews {
    /// Fetches the branch with this handle, over `disk`.
    pub(crate) fn fetch(
        open: &Opened,
        branch: &str,
        disk: &Arc<dyn View>,
        with_parent: bool,
    ) -> Result<Self, CliError> {
        for _ in 0..ATTEMPTS {
            let revision = open.branch(branch)?.revision;
            let views = Fetch { open, branch }.views(disk, with_parent)?;
            if open.branch(branch)?.revision == revision {
                return Ok(views);
            }
        }
        Err(CliError::files("the branch is edited faster than it can be read").hint("try again"))
    }
}

/// The reasons of errors where a folder is not there.
const NO_FOLDER: [&str; 4] = ["FILE_NOT_FOUND", "WRONG_KIND_OF_FILE", "FILE_UNREACHABLE", "FILE_UNREADABLE"];

struct Fetch<'a> {
    open: &'a Opened,
    branch: &'a str,
}

impl Fetch<'_> {
    fn views(&self, disk: &Arc<dyn View>, with_parent: bool) -> Result<BranchViews, CliError> {
        let mut base = Branch::new(Arc::clone(disk));
        let client = &self.open.client;
        for buffer in client.wait(client.daemon().list_buffers(&self.open.id))? {
            let text = self.open.read_base(buffer.path.as_str())?;
            base.write(&buffer.path, text).map_err(|it| unusable(&it))?;
        }
        let base: Arc<dyn View> = Arc::new(base.snapshot());
        let own = self.differences(DiffSide::Base)?;
        let view = self.side(&base, &own, Side::Now)?;
        if !with_parent {
            return Ok(BranchViews { view, parent: None });
        }
        let changed = self.differences(DiffSide::Parent)?;
        let mut all = [&own[..], &changed].concat();
        all.sort();
        all.dedup();
        let parent = Parent { view: self.side(&base, &all, Side::Parent)?, changed };
        Ok(BranchViews { view, parent: Some(parent) })
    }

    /// The paths where the branch differs, above what is below them.
    fn differences(&self, against: DiffSide) -> Result<Vec<WorkspacePath>, CliError> {
        let request = DiffRequest { against, with_patch: false, ..DiffRequest::of(self.branch) };
        let client = &self.open.client;
        let mut paths = Vec::new();
        for change in client.wait(client.daemon().diff_branch(request))?.changes {
            paths.push(change.path);
            if let ChangeKind::Renamed { from } = change.kind {
                paths.push(from);
            }
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// `base` with those of the paths as the branch, or its parent, has them.
    fn side(&self, base: &Arc<dyn View>, paths: &[WorkspacePath], of: Side) -> Result<Snapshot, CliError> {
        let mut side = Branch::new(Arc::clone(base));
        let mut folders = BTreeMap::new();
        // Below a link the daemon would list what is where it leads.
        let mut no_folders = BTreeSet::new();
        for path in paths {
            if path.ancestors().skip(1).any(|it| no_folders.contains(&it)) {
                continue;
            }
            let Some(folder) = path.parent() else { continue };
            if !folders.contains_key(&folder) {
                folders.insert(folder.clone(), self.list(&folder, of)?);
            }
            let entry = folders[&folder].iter().find(|it| Some(it.0.name.as_str()) == path.file_name());
            self.lay(&mut side, path, entry, of)?;
            if entry.is_some_and(|it| it.0.kind != FileKind::Directory) {
                no_folders.insert(path.clone());
            }
        }
        Ok(side.snapshot())
    }

    fn lay(
        &self,
        side: &mut Branch,
        path: &WorkspacePath,
        entry: Option<&Listed>,
        of: Side,
    ) -> Result<(), CliError> {
        let now = side.snapshot().metadata(path).ok().map(|it| it.kind);
        let wanted = entry.map(|it| it.0.kind);
        let stays = match (now, wanted) {
            (None, _) => true,
            (Some(FileKind::File), Some(FileKind::File)) => true,
            (Some(FileKind::Directory), Some(FileKind::Directory)) => return Ok(()),
            _ => false,
        };
        if !stays {
            side.remove(path).map_err(|it| unusable(&it))?;
        }
        match (wanted, entry) {
            (Some(FileKind::File), _) => {
                let file = self.open.read(self.branch, path.as_str(), of)?;
                side.write(path, file.bytes).map_err(|it| unusable(&it))?;
                side.set_executable(path, file.executable).map_err(|it| unusable(&it))?;
            }
            (Some(FileKind::Symlink), Some((_, target))) => {
                let target = target.as_deref().unwrap_or_default();
                side.symlink(path, target).map_err(|it| unusable(&it))?;
            }
            (Some(FileKind::Directory), _) => _ = side.create_dir(path).map_err(|it| unusable(&it))?,
            _ => {}
        }
        Ok(())
    }

    /// Nothing, if the folder is not there.
    fn list(&self, folder: &WorkspacePath, of: Side) -> Result<Vec<Listed>, CliError> {
        let client = &self.open.client;
        let target = TargetId::Branch(self.branch.to_owned());
        let mut entries = Vec::new();
        let mut page = PageRequest { size: 10_000, token: String::new() };
        loop {
            let listed = client.wait(client.daemon().list_directory(&target, folder.as_str(), &page, of));
            let found = match listed {
                Err(error) if NO_FOLDER.contains(&error.reason.as_str()) => return Ok(entries),
                listed => listed?.entries,
            };
            entries.extend(found.items);
            page.token = found.next_token;
            if page.token.is_empty() {
                return Ok(entries);
            }
        }
    }
}

/// An entry of a folder, and the target of a link.
type Listed = (Entry, Option<String>);

fn unusable(error: &EditError) -> CliError {
    CliError::files(format!("the branch cannot be laid over the disk: {error}"))
}
