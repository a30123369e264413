//! Lookup of branches and their folders. A branch is given by its id, which tells its workspace, or by its name in a folder.

use std::rc::Rc;

use workspaces::{BranchInfo, BranchRequest, RequestError, TargetId};

use super::{
    branch_uri::BranchFile,
    failure::Failure,
    folder::{Connection, Folder},
    server::Server,
    target,
};

/// The branch that a command is about, with its folder.
pub(super) struct Chosen {
    pub(super) folder: Rc<Folder>,
    pub(super) connection: Connection,
    pub(super) branch: BranchInfo,
}

impl Server {
    /// The folder that a command is about; the first one if it names none.
    pub(super) fn chosen_folder(&self, workspace: Option<&str>) -> Result<Rc<Folder>, Failure> {
        let Some(uri) = workspace else {
            let folders = self.named_folders().into_iter().chain(self.folders());
            return folders.into_iter().next().ok_or_else(|| Failure::failed("no folder is open"));
        };
        let is_it = |it: &Rc<Folder>| it.uri == uri.trim_end_matches('/');
        let folder = self.folders().into_iter().find(is_it);
        // The editor may have opened a subfolder of the workspace.
        let folder =
            folder.or_else(|| self.folder_of(&format!("{}/x", uri.trim_end_matches('/'))).map(|it| it.0));
        folder.ok_or_else(|| Failure::invalid_params(format!("{uri} is no folder of this editor")))
    }

    /// The branch that a command is about, by id or name.
    pub(super) async fn chosen(&self, branch: &str, workspace: Option<&str>) -> Result<Chosen, Failure> {
        let by_handle = self.folder_of_branch(branch).filter(|_| workspace.is_none());
        let (folder, connection) = match by_handle {
            Some(found) => found,
            None => {
                let folder = self.chosen_folder(workspace)?;
                let connection = folder.served().await?;
                (folder, connection)
            }
        };
        let branch = branch_of(&folder, &connection, branch).await?;
        Ok(Chosen { folder, connection, branch })
    }

    /// The folder of a file of a branch: that of the branch's id, or the first one if the branch is given by its name.
    pub(super) fn folder_of_file(&self, file: &BranchFile) -> Option<Rc<Folder>> {
        let by_id = self.folder_of_branch(&file.branch).map(|it| it.0);
        by_id.or_else(|| self.chosen_folder(None).ok())
    }

    /// The branch of a file as the target of a request.
    pub(super) async fn branch_target(
        &self,
        folder: &Folder,
        file: &BranchFile,
    ) -> Result<TargetId, RequestError> {
        if self.folder_of_branch(&file.branch).is_some() {
            return Ok(target::branch(&file.branch));
        }
        let connection = folder.served().await?;
        Ok(target::branch(branch_of(folder, &connection, &file.branch).await?.id.to_string()))
    }
}

/// The branch of a folder with this id or name.
async fn branch_of(
    folder: &Folder,
    connection: &Connection,
    branch: &str,
) -> Result<BranchInfo, RequestError> {
    let request = BranchRequest {
        workspace: Some(connection.workspace.clone()),
        branch: branch.to_owned(),
        with_tree_hash: false,
        with_conflicts: false,
    };
    Ok(folder.workspaces.get_branch(request).await?.info)
}
