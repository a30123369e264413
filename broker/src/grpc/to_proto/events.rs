//! Messages for changes in a workspace.

use broker_proto::{v1 as pb, v1::watch_workspace_response::Event};
use workspaces::{BranchChange, BranchChangeKind, BufferShown, WorkspaceEvent};

use super::{branch, change, paths};

pub(in crate::grpc) fn workspace_event(it: &WorkspaceEvent) -> pb::WatchWorkspaceResponse {
    let event = match it {
        WorkspaceEvent::Started(editor) => {
            Event::Started(pb::WatchStarted { editor_id: editor.0.to_string() })
        }
        WorkspaceEvent::BaseChanged => Event::BaseChanged(pb::BaseChanged {}),
        WorkspaceEvent::Branch(it) => Event::BranchChanged(branch_changed(it)),
        WorkspaceEvent::Buffer(it) => Event::BufferChanged(buffer_changed(it)),
    };
    pb::WatchWorkspaceResponse { event: Some(event) }
}

fn branch_changed(it: &BranchChange) -> pb::BranchChanged {
    let mut told = pb::BranchChanged { branch: Some(branch(it.branch.clone())), ..Default::default() };
    let kind = match &it.kind {
        BranchChangeKind::Forked => pb::BranchChangeKind::Forked,
        BranchChangeKind::Edited => pb::BranchChangeKind::Edited,
        BranchChangeKind::Committed { changes, unsaved, left } => {
            told.changes = changes.iter().map(change).collect();
            (told.unsaved_paths, told.left_paths) = (paths(unsaved), paths(left));
            pb::BranchChangeKind::Committed
        }
        BranchChangeKind::Discarded => pb::BranchChangeKind::Discarded,
    };
    told.set_kind(kind);
    told
}

fn buffer_changed(it: &BufferShown) -> pb::BufferChanged {
    let (client_name, content_hash) = match &it.shown {
        Some(it) => (it.client_name.clone(), it.content.to_string()),
        None => Default::default(),
    };
    pb::BufferChanged { path: it.path.to_string(), client_name, content_hash }
}
