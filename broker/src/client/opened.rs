//! A folder that the daemon serves, as seen from the current folder.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Component, Path, PathBuf},
};

use broker_proto::v1 as pb;
use config::{Configs, closest, root::WorkspaceRoot};
use language_servers::Environment;
use lint::printable;
use linters::trust::Trusted;
use overlay::{Disk, WorkspacePath};
use plugin_host::Capability;
use tonic::Status;

use super::{Client, error::is_unknown_handle};
use crate::{CliError, console::Messages};

/// The workspace that holds the current folder, open in the daemon.
pub(crate) struct Opened {
    pub(crate) client: Client,
    pub(crate) workspace: WorkspaceRoot,
    /// The daemon's handle.
    pub(crate) id: String,
    cwd: PathBuf,
}

/// As many as the daemon gives at once.
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
        let root = workspace.root().to_str().ok_or_else(|| {
            CliError::files(format!("the name of {} is not UTF-8", workspace.root().display()))
        })?;
        let environment = Some(pb::Environment {
            variables: environment_for_daemon(workspace.root()).into_iter().collect(),
        });
        let request = pb::OpenWorkspaceRequest { root: root.to_owned(), environment };
        let answer = client.call(client.workspaces().open_workspace(request))?;
        for reason in &answer.unreadable {
            messages.warning(&printable(reason));
        }
        let id = answer.workspace.map(|it| it.workspace_id).unwrap_or_default();
        Ok(Self { client, workspace, id, cwd })
    }

    /// The workspace path of what the user calls `given`, which need not be on the disk.
    pub(crate) fn path(&self, given: &Path) -> Result<WorkspacePath, CliError> {
        let unusable = |why: &str| CliError::usage(format!("cannot use {}: {why}", given.display()));
        let absolute = normal(&self.cwd.join(given));
        let inside = absolute.strip_prefix(self.workspace.root()).map(Path::to_owned);
        let inside =
            inside.or_else(|_| real(&absolute).strip_prefix(self.workspace.root()).map(Path::to_owned));
        let inside = inside.map_err(|_| {
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

    /// The base, as what a question is about.
    #[cfg(target_os = "linux")]
    pub(crate) fn base(&self) -> pb::Target {
        pb::Target { target: Some(pb::target::Target::WorkspaceId(self.id.clone())) }
    }

    /// The branch with this name or handle.
    pub(crate) fn branch(&self, name: &str) -> Result<pb::Branch, CliError> {
        self.get_branch(name, true).map(|it| it.branch.unwrap_or_default())
    }

    /// As [`branch`](Self::branch), with the paths that a commit would refuse.
    pub(crate) fn look(&self, name: &str) -> Result<pb::GetBranchResponse, CliError> {
        self.get_branch(name, false)
    }

    fn get_branch(&self, name: &str, without_conflicts: bool) -> Result<pb::GetBranchResponse, CliError> {
        let request = pb::GetBranchRequest {
            branch_id: name.to_owned(),
            workspace_id: self.id.clone(),
            with_tree_hash: false,
            without_conflicts,
        };
        let found = self.client.call(self.client.branches().get_branch(request));
        found.map_err(|status| self.no_branch(name, status))
    }

    /// A slip is met with what was meant.
    fn no_branch(&self, name: &str, status: Status) -> CliError {
        let is_unknown = is_unknown_handle(&status);
        let error = CliError::from(status);
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
    pub(crate) fn all_branches(&self) -> Result<Vec<pb::Branch>, CliError> {
        let mut branches = Vec::new();
        let mut page_token = String::new();
        loop {
            let request =
                pb::ListBranchesRequest { workspace_id: self.id.clone(), page_size: PAGE, page_token };
            let page = self.client.call(self.client.branches().list_branches(request))?;
            branches.extend(page.branches);
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return Ok(branches);
            }
        }
    }

    /// A file of a branch as it is, or was at `revision`.
    pub(crate) fn read(&self, branch: &str, path: &str, revision: Option<u64>) -> Result<Vec<u8>, Status> {
        let target = Some(of_branch(branch));
        let request = pb::ReadFileRequest { target, path: path.to_owned(), revision, of_parent: false };
        self.read_parts(request).map(|(_, bytes)| bytes)
    }

    /// A file of a branch, or of its parent, with what it is.
    pub(crate) fn read_side(
        &self,
        branch: &str,
        path: &str,
        of_parent: bool,
    ) -> Result<(pb::FileInfo, Vec<u8>), Status> {
        let target = Some(of_branch(branch));
        self.read_parts(pb::ReadFileRequest { target, path: path.to_owned(), revision: None, of_parent })
    }

    /// A file of the base.
    pub(crate) fn read_base(&self, path: &str) -> Result<Vec<u8>, Status> {
        let target = pb::target::Target::WorkspaceId(self.id.clone());
        let target = Some(pb::Target { target: Some(target) });
        let request = pb::ReadFileRequest { target, path: path.to_owned(), revision: None, of_parent: false };
        self.read_parts(request).map(|(_, bytes)| bytes)
    }

    /// The texts that editors have not saved.
    pub(crate) fn buffers(&self) -> Result<Vec<pb::Buffer>, Status> {
        let request = pb::ListBuffersRequest { workspace_id: self.id.clone() };
        self.client.call(self.client.files().list_buffers(request)).map(|it| it.buffers)
    }

    fn read_parts(&self, request: pb::ReadFileRequest) -> Result<(pb::FileInfo, Vec<u8>), Status> {
        let mut parts = self.client.call(self.client.files().read_file(request))?;
        let (mut info, mut bytes) = (pb::FileInfo::default(), Vec::new());
        while let Some(part) = self.client.next(&mut parts)? {
            match part.part {
                Some(pb::read_file_response::Part::Info(it)) => info = it,
                Some(pb::read_file_response::Part::Content(piece)) => bytes.extend_from_slice(&piece),
                None => {}
            }
        }
        Ok((info, bytes))
    }
}

/// Variables of this shell that the daemon is sent: no more than the servers and plugins of the workspace may have.
pub(crate) fn environment_for_daemon(root: &Path) -> BTreeMap<String, String> {
    let mut variables = Environment::to_tell();
    if !Trusted::of_user().is_some_and(|it| it.holds(root)) {
        return variables;
    }
    // What is wrong with the configuration is reported when it is used.
    let Ok(disk) = Disk::new(root) else { return variables };
    let settings = Configs::new(&disk).workspace().map(|it| it.plugins()).unwrap_or_default();
    let granted = settings.into_values().filter_map(|it| it.grants).flatten();
    variables.extend(
        granted.filter_map(|Capability::Environment(name)| Some((name.clone(), env::var(name).ok()?))),
    );
    variables
}

/// What a question about a branch is about.
pub(crate) fn of_branch(id: &str) -> pb::Target {
    pb::Target { target: Some(pb::target::Target::BranchId(id.to_owned())) }
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
