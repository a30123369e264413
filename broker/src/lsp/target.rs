//! Targets of requests to the daemon: the base of a workspace, or a branch.

use workspaces::TargetId;

use super::folder::Connection;

pub(super) fn base(connection: &Connection) -> TargetId {
    TargetId::Workspace(connection.workspace.clone())
}

pub(super) fn branch(id: impl Into<String>) -> TargetId {
    TargetId::Branch(id.into())
}
