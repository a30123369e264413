//! A folder that the daemon serves, as seen from the current folder.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Component, Path, PathBuf},
};

use config::{Configs, closest, root::WorkspaceRoot};
use language_servers::Environment;
use lint::printable;
use linters::trust::Trusted;
use overlay::{Disk, WorkspacePath};
use plugin_host::Capability;
use workspaces::{
    BranchInfo, BranchRequest, BranchState, FileContent, PageRequest, RequestError, Side, TargetId,
};

use super::Client;
use crate::{CliError, console::Messages};

/// The workspace that holds the current folder, open in the daemon.
pub(crate) struct Opened {
    pub(crate) client: Client,
    pub(crate) workspace: WorkspaceRoot,
    /// The daemon's handle.
    pub(crate) id: String,
    cwd: PathBuf,
}

/// Number of items in the largest page that the daemon returns.
const PAGE: u32 = 1000;

impl Opened {
    /// Opens the workspace; tells of branches that were kept and cannot be read.
    pub(crate) fn open(
        client: Client,
        cwd: &Path,
        home: Option<&Path>,
        messages: &Messages,
    ) -> Result<Self, CliError> {
        let workspace = WorkspaceRoot::of_paths(cwd, &[PathBuf::from(".")], home)?.workspace;
        let cwd = fs::canonicalize(cwd)
            .map_err(|error| CliError::files(format!("cannot use {}: {error}", cwd.display())))?;
        let root = workspace.root().to_owned();
        let environment = environment_for_daemon(&root);
        let opened = client.wait(client.daemon().open_workspace(root, Some(environment)))?;
        for reason in &opened.unreadable {
            messages.warning(&printable(reason));
        }
        Ok(Self { client, workspace, id: opened.info.id.to_string(), cwd })
    }

    /// The workspace path of what the user calls `given`, which need not be on the disk.
    pub(crate) fn path(&self, given: &Path) -> Result<WorkspacePath, CliError> {
        let unusable = |why: &str| CliError::usage(format!("cannot use {}: {why}", given.display()));
        let inside = path_within(self.workspace.root(), &self.cwd.join(given)).ok_or_else(|| {
            let root = self.workspace.root().display();
            unusable("it lies outside of the workspace").hint(format!("the workspace is {root}"))
        })?;
        let inside = inside.to_str().ok_or_else(|| unusable("its name is not UTF-8"))?;
        WorkspacePath::new(inside).map_err(|error| unusable(&error.to_string()))
    }

    /// A workspace path as the user would name it.
    pub(crate) fn display(&self, path: &str) -> String {
        let shown = WorkspacePath::new(path).map(|it| self.workspace.display(&it));
        printable(&shown.unwrap_or_else(|_| path.to_owned())).into_owned()
    }

    /// The base, as the target of a request.
    pub(crate) fn base(&self) -> TargetId {
        TargetId::Workspace(self.id.clone())
    }

    /// The base, or the branch with this name or handle.
    pub(crate) fn target(&self, branch: Option<&str>) -> Result<TargetId, CliError> {
        match branch {
            Some(branch) => Ok(TargetId::Branch(self.branch(branch)?.id.to_string())),
            None => Ok(self.base()),
        }
    }

    /// The branch with this name or handle.
    pub(crate) fn branch(&self, name: &str) -> Result<BranchInfo, CliError> {
        self.get_branch(name, false).map(|it| it.info)
    }

    /// State of the branch as from [`branch`](Self::branch), with the paths that a commit would refuse.
    pub(crate) fn look(&self, name: &str) -> Result<BranchState, CliError> {
        self.get_branch(name, true)
    }

    fn get_branch(&self, name: &str, with_conflicts: bool) -> Result<BranchState, CliError> {
        let request = BranchRequest {
            workspace: Some(self.id.clone()),
            branch: name.to_owned(),
            with_tree_hash: false,
            with_conflicts,
        };
        let found = self.client.wait(self.client.daemon().get_branch(request));
        found.map_err(|error| self.no_branch(name, error))
    }

    /// A slip is met with what was meant.
    fn no_branch(&self, name: &str, error: RequestError) -> CliError {
        let is_unknown = error.reason == "NOT_FOUND";
        let error = CliError::from(error);
        if !is_unknown {
            return error;
        }
        let branches = self.all_branches().unwrap_or_default();
        let names = || branches.iter().map(|it| it.name.as_str());
        error.hint(match closest(name, names()) {
            Some(close) => format!("did you mean `{}`?", printable(close)),
            None if branches.is_empty() => "make one with `broker branch fork`".to_owned(),
            None => "see `broker branch list`".to_owned(),
        })
    }

    /// Every branch of the workspace, by name.
    pub(crate) fn all_branches(&self) -> Result<Vec<BranchInfo>, CliError> {
        let mut branches = Vec::new();
        let mut page = PageRequest { size: PAGE, token: String::new() };
        loop {
            let found = self.client.wait(self.client.daemon().list_branches(&self.id, &page))?;
            branches.extend(found.items);
            page.token = found.next_token;
            if page.token.is_empty() {
                return Ok(branches);
            }
        }
    }

    /// A file of a branch.
    pub(crate) fn read(&self, branch: &str, path: &str, side: Side) -> Result<FileContent, RequestError> {
        let target = TargetId::Branch(branch.to_owned());
        self.client.wait(self.client.daemon().read_file(&target, path, side, None))
    }
}

/// Variables of this shell that the daemon is sent: no more than the servers and plugins of the workspace may have.
pub(crate) fn environment_for_daemon(root: &Path) -> BTreeMap<String, String> {
    let mut variables = Environment::to_tell();
    if !Trusted::of_user().is_some_and(|it| it.holds(root)) {
        return variables;
    }
    // Errors in the configuration are reported when it is used.
    let Ok(disk) = Disk::new(root) else { return variables };
    let settings = Configs::new(&disk).workspace().map(|it| it.plugins()).unwrap_or_default();
    let granted = settings.into_values().filter_map(|it| it.grants).flatten();
    variables.extend(
        granted.filter_map(|Capability::Environment(name)| Some((name.clone(), env::var(name).ok()?))),
    );
    variables
}

/// The path as seen from a folder that holds it, by its names or once links are followed. It need not exist.
pub(crate) fn path_within(folder: &Path, absolute: &Path) -> Option<PathBuf> {
    let absolute = normal(absolute);
    let within = absolute.strip_prefix(folder).map(Path::to_owned);
    within.or_else(|_| real(&absolute).strip_prefix(folder).map(Path::to_owned)).ok()
}

/// The path without `.` and `..`, whatever is on the disk.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = normal.pop(),
            part => normal.push(part),
        }
    }
    normal
}

/// The path with the links followed that are on the disk, however much of it is.
fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|it| Some((it, fs::canonicalize(it).ok()?)));
    match there {
        Some((there, real)) => {
            path.strip_prefix(there).map_or_else(|_| path.to_owned(), |rest| real.join(rest))
        }
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn paths_need_not_exist() {
        assert_eq!(normal(Path::new("/a/b/../c/./d")), Path::new("/a/c/d"));
        assert_eq!(normal(Path::new("/../a")), Path::new("/a"));
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(root.join("there")).unwrap();
        std::os::unix::fs::symlink(root.join("there"), root.join("link")).unwrap();
        assert_eq!(real(&root.join("link/new/file")), root.join("there/new/file"));
    }
}
