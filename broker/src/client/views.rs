//! A branch as a view in this process: the disk, under the unsaved texts and the changes that the daemon has.
//!
//! Only what differs from the disk is fetched, so that the disk is to be the one that the daemon serves.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use broker_proto::v1::{self as pb, DiffAgainst, FileKind, diff_branch_response::Part};
use overlay::{Branch, EditError, Snapshot, View, WorkspacePath};

use super::{Opened, of_branch};
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
        for buffer in self.open.buffers()? {
            let path = path(&buffer.path)?;
            base.write(&path, self.open.read_base(&buffer.path)?.into()).map_err(|it| unusable(&it))?;
        }
        let base: Arc<dyn View> = Arc::new(base.snapshot());
        let own = self.differences(DiffAgainst::Base)?;
        let view = self.side(&base, &own, false)?;
        if !with_parent {
            return Ok(BranchViews { view, parent: None });
        }
        let changed = self.differences(DiffAgainst::Parent)?;
        let mut all = [&own[..], &changed].concat();
        all.sort();
        all.dedup();
        let parent = Parent { view: self.side(&base, &all, true)?, changed };
        Ok(BranchViews { view, parent: Some(parent) })
    }

    /// The paths where the branch differs, above what is below them.
    fn differences(&self, against: DiffAgainst) -> Result<Vec<WorkspacePath>, CliError> {
        let request = pb::DiffBranchRequest {
            branch_id: self.branch.to_owned(),
            against: against.into(),
            changes_only: true,
            ..pb::DiffBranchRequest::default()
        };
        let client = &self.open.client;
        let mut parts = client.call(client.branches().diff_branch(request))?;
        let mut paths = Vec::new();
        while let Some(part) = client.next(&mut parts)? {
            let Some(Part::Changes(some)) = part.part else { continue };
            for change in some.changes {
                paths.push(path(&change.path)?);
                if !change.from_path.is_empty() {
                    paths.push(path(&change.from_path)?);
                }
            }
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// `base` with those of the paths as the branch, or its parent, has them.
    fn side(
        &self,
        base: &Arc<dyn View>,
        paths: &[WorkspacePath],
        of_parent: bool,
    ) -> Result<Snapshot, CliError> {
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
                folders.insert(folder.clone(), self.list(&folder, of_parent)?);
            }
            let entry = folders[&folder].iter().find(|it| Some(it.name.as_str()) == path.file_name());
            self.lay(&mut side, path, entry, of_parent)?;
            if entry.is_some_and(|it| it.kind() != FileKind::Directory) {
                no_folders.insert(path.clone());
            }
        }
        Ok(side.snapshot())
    }

    fn lay(
        &self,
        side: &mut Branch,
        path: &WorkspacePath,
        entry: Option<&pb::DirectoryEntry>,
        of_parent: bool,
    ) -> Result<(), CliError> {
        let now = side.snapshot().metadata(path).ok().map(|it| it.kind);
        let wanted = entry.map(pb::DirectoryEntry::kind);
        let stays = match (now, wanted) {
            (None, _) => true,
            (Some(overlay::FileKind::File), Some(FileKind::File)) => true,
            (Some(overlay::FileKind::Directory), Some(FileKind::Directory)) => return Ok(()),
            _ => false,
        };
        if !stays {
            side.remove(path).map_err(|it| unusable(&it))?;
        }
        match (wanted, entry) {
            (Some(FileKind::File), _) => {
                let (info, text) = self.open.read_side(self.branch, path.as_str(), of_parent)?;
                side.write(path, text.into()).map_err(|it| unusable(&it))?;
                side.set_executable(path, info.executable).map_err(|it| unusable(&it))?;
            }
            (Some(FileKind::Symlink), Some(entry)) => {
                side.symlink(path, &entry.link_target).map_err(|it| unusable(&it))?;
            }
            (Some(FileKind::Directory), _) => _ = side.create_dir(path).map_err(|it| unusable(&it))?,
            _ => {}
        }
        Ok(())
    }

    /// Nothing, if the folder is not there.
    fn list(&self, folder: &WorkspacePath, of_parent: bool) -> Result<Vec<pb::DirectoryEntry>, CliError> {
        let client = &self.open.client;
        let mut entries = Vec::new();
        let mut page_token = String::new();
        loop {
            let request = pb::ListDirectoryRequest {
                target: Some(of_branch(self.branch)),
                path: folder.as_str().to_owned(),
                page_size: 10_000,
                page_token,
                of_parent,
            };
            let page = match client.call(client.files().list_directory(request)) {
                Err(status) if NO_FOLDER.contains(&super::reason(&status).as_str()) => return Ok(entries),
                page => page?,
            };
            entries.extend(page.entries);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(entries);
            }
        }
    }
}

fn path(text: &str) -> Result<WorkspacePath, CliError> {
    WorkspacePath::new(text)
        .map_err(|error| CliError::files(format!("the daemon names the path `{text}`: {error}")))
}

fn unusable(error: &EditError) -> CliError {
    CliError::files(format!("the branch cannot be laid over the disk: {error}"))
}
