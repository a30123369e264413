//! What a command wrote, as an edit of its branch.

use std::sync::Arc;

use broker_proto::{v1 as pb, v1::file_edit::Edit};
use lint::printable;
use overlay::{Branch, ContentHash, FileKind, View, WalkOptions, WorkspacePath, walk};
use serde::Serialize;
use shadow::{Entry, EntryKind};

use super::folder::{Folder, OpenBranch};
use crate::{CliError, client::BranchViews};

/// What became of the branch.
#[derive(Serialize)]
pub(super) struct Written {
    /// Paths that are new or have another content.
    changed: Vec<String>,
    removed: Vec<String>,
    /// The branch's new revision; `None` if nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

impl Written {
    pub(super) fn describe(&self) -> String {
        match self.revision {
            Some(revision) => {
                format!("{} changed, {} removed: revision {revision}", self.changed.len(), self.removed.len())
            }
            None => "nothing was written".to_owned(),
        }
    }
}

/// Folders, and files in the place of them, by which version control knows its own.
const VERSION_CONTROL: [&str; 5] = [".git", ".hg", ".svn", ".jj", ".bzr"];

pub(super) fn harvest(folder: &Folder, glob: &str) -> Result<Written, CliError> {
    let Some(branch) = &folder.branch else { return Err(CliError::usage("--harvest needs a branch")) };
    let mut entries = folder.shadow.harvest().map_err(|error| CliError::files(error.to_string()))?;
    // No branch has what version control keeps.
    entries.retain(|it| !it.path.components().any(|it| VERSION_CONTROL.contains(&it)));
    let before: Arc<dyn View> = Arc::new(branch.view.clone());
    let after = applied(&before, &entries)
        .map_err(|error| CliError::files(format!("cannot keep what was written: {error}")))?;
    let chosen = Chosen::new(glob, &*before, &*after)?;
    let mut changes = Vec::new();
    differences(&*before, &*after, &entries, &mut changes);
    changes.retain(|it| chosen.holds(it));
    changes.sort();
    changes.dedup();
    branch.keep(&*before, &*after, &changes)
}

/// `before` with the entries.
fn applied(before: &Arc<dyn View>, entries: &[Entry]) -> Result<Arc<dyn View>, overlay::EditError> {
    let mut branch = Branch::new(Arc::clone(before));
    for Entry { path, kind } in entries {
        let now = branch.snapshot().metadata(path).ok().map(|it| it.kind);
        let is_file = matches!(kind, EntryKind::File { .. });
        if now.is_some() && !(is_file && now == Some(FileKind::File)) {
            branch.remove(path)?;
        }
        match kind {
            EntryKind::Removed => {}
            EntryKind::Directory => _ = branch.create_dir(path)?,
            EntryKind::Link(to) => _ = branch.symlink(path, to)?,
            EntryKind::File { bytes, executable } => {
                branch.write(path, bytes.clone())?;
                branch.set_executable(path, *executable)?;
            }
        }
    }
    Ok(Arc::new(branch.snapshot()))
}

/// Files and links at or below the entries that the two have otherwise.
fn differences(before: &dyn View, after: &dyn View, entries: &[Entry], changes: &mut Vec<WorkspacePath>) {
    let mut paths = Vec::new();
    for entry in entries {
        files_below(before, &entry.path, &mut paths);
        files_below(after, &entry.path, &mut paths);
    }
    changes.extend(paths.into_iter().filter(|it| state(before, it) != state(after, it)));
}

fn files_below(view: &dyn View, path: &WorkspacePath, paths: &mut Vec<WorkspacePath>) {
    match view.metadata(path).map(|it| it.kind) {
        Ok(FileKind::Directory) => {
            let entries = view.list(path).map(|it| it.entries).unwrap_or_default();
            entries.iter().for_each(|it| files_below(view, &path.child(&it.name), paths));
        }
        Ok(_) => paths.push(path.clone()),
        Err(_) => {}
    }
}

/// What stands at a path, and below it.
fn all_at(view: &dyn View, path: &WorkspacePath) -> Vec<(WorkspacePath, Option<State>)> {
    let mut paths = Vec::new();
    files_below(view, path, &mut paths);
    paths.into_iter().map(|it| (it.clone(), state(view, &it))).collect()
}

type State = (FileKind, bool, Option<ContentHash>, Option<String>);

/// All that tells what stands at a path from something else.
fn state(view: &dyn View, path: &WorkspacePath) -> Option<State> {
    let it = view.metadata(path).ok()?;
    Some((it.kind, it.executable, view.hash(path).ok(), view.read_link(path).ok()))
}

/// Understands a glob, or says what is wrong with it.
pub(super) fn matcher(glob: &str) -> Result<globset::GlobMatcher, CliError> {
    let glob = globset::GlobBuilder::new(glob).literal_separator(true).build();
    Ok(glob.map_err(|error| CliError::usage(format!("--harvest: {error}")))?.compile_matcher())
}

/// Which of what was written is meant.
enum Chosen {
    Glob(globset::GlobMatcher),
    /// What a walk finds in either view: what is not ignored.
    Found(std::collections::BTreeSet<WorkspacePath>),
}

impl Chosen {
    fn new(glob: &str, before: &dyn View, after: &dyn View) -> Result<Self, CliError> {
        if !glob.is_empty() {
            return Ok(Self::Glob(matcher(glob)?));
        }
        let options = WalkOptions { default_excludes: false, ..WalkOptions::default() };
        let found = [before, after]
            .into_iter()
            .flat_map(|view| walk(view, &[WorkspacePath::root()], &options).collect::<Vec<_>>());
        Ok(Self::Found(found.collect()))
    }

    fn holds(&self, path: &WorkspacePath) -> bool {
        match self {
            Self::Glob(glob) => glob.is_match(path.as_str()),
            Self::Found(found) => found.contains(path),
        }
    }
}

impl OpenBranch {
    /// Makes these paths of the branch as `after` has them, unless it was edited there meanwhile.
    fn keep(
        &self,
        before: &dyn View,
        after: &dyn View,
        changes: &[WorkspacePath],
    ) -> Result<Written, CliError> {
        if changes.is_empty() {
            return Ok(Written { changed: Vec::new(), removed: Vec::new(), revision: None });
        }
        let revision = self.open.branch(&self.id)?.revision;
        let now = BranchViews::fetch(&self.open, &self.id, &self.disk, false)?.view;
        let moved: Vec<_> = changes.iter().filter(|it| all_at(before, it) != all_at(&now, it)).collect();
        if !moved.is_empty() {
            let names: Vec<_> = moved.iter().map(|it| printable(it.as_str()).into_owned()).collect();
            let message = format!(
                "what was written is not kept: the branch was edited meanwhile: {}",
                names.join(", ")
            );
            return Err(CliError::files(message).hint("run the command again"));
        }
        let mut edits = Vec::new();
        // What stood below something that is no directory any more goes with the directory.
        let is_gone_with_another =
            |it: &WorkspacePath| it.ancestors().skip(1).any(|above| changes.contains(&above));
        for path in changes.iter().filter(|it| after.metadata(it).is_ok() || !is_gone_with_another(it)) {
            edits.extend(edits_of(&now, after, path)?);
        }
        let request = pb::EditFilesRequest {
            branch_id: self.id.clone(),
            edits: edits.into_iter().map(|it| pb::FileEdit { edit: Some(it) }).collect(),
            if_revision: Some(revision),
            ..pb::EditFilesRequest::default()
        };
        let answer = self.open.client.call(self.open.client.files().edit_files(request))?;
        let (removed, changed): (Vec<_>, Vec<_>) = changes.iter().partition(|it| after.metadata(it).is_err());
        let names = |all: Vec<&WorkspacePath>| all.into_iter().map(ToString::to_string).collect();
        Ok(Written { changed: names(changed), removed: names(removed), revision: Some(answer.revision) })
    }
}

/// What makes a path of `now` as `after` has it.
fn edits_of(now: &dyn View, after: &dyn View, path: &WorkspacePath) -> Result<Vec<Edit>, CliError> {
    let unreadable =
        |error: std::io::Error| CliError::files(format!("cannot read what was written: {error}"));
    let (is, will_be) = (now.metadata(path).ok(), after.metadata(path).ok());
    let path_text = path.to_string();
    let mut edits = Vec::new();
    let Some(will_be) = will_be else {
        return Ok(vec![Edit::Remove(pb::RemovePath { path: path_text })]);
    };
    if is.is_some_and(|it| it.kind != will_be.kind || it.kind == FileKind::Symlink) {
        edits.push(Edit::Remove(pb::RemovePath { path: path_text.clone() }));
    }
    match will_be.kind {
        FileKind::Symlink => {
            let link_target = after.read_link(path).map_err(unreadable)?;
            edits.push(Edit::CreateSymlink(pb::CreateSymlink { path: path_text, link_target }));
        }
        FileKind::File => {
            let content = after.read(path).map_err(unreadable)?;
            let write = pb::WriteFile { path: path_text.clone(), content, ..pb::WriteFile::default() };
            edits.push(Edit::Write(write));
            let executable = will_be.executable;
            if is.is_some_and(|it| it.executable) != executable {
                edits.push(Edit::SetExecutable(pb::SetExecutable { path: path_text, executable }));
            }
        }
        FileKind::Directory | FileKind::Other => {}
    }
    Ok(edits)
}
