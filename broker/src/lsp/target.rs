//! Targets of requests to the daemon: the base of a workspace, or a branch.

use broker_proto::{v1 as pb, v1::target::Target};

use super::folder::Connection;

pub(super) fn base(connection: &Connection) -> pb::Target {
    pb::Target { target: Some(Target::WorkspaceId(connection.workspace.clone())) }
}

pub(super) fn branch(id: impl Into<String>) -> pb::Target {
    pb::Target { target: Some(Target::BranchId(id.into())) }
}
