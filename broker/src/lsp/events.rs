//! Events of a folder: changes of its base and branches, commits, buffers of other editors, connections.

use std::rc::Rc;

use gen_lsp_types::MessageType;
use serde_json::{Value, json};
use workspaces::{BranchChange, BranchChangeKind, BranchInfo, BufferShown};

use super::{
    branches::{branch_json, change_json},
    document::{Document, DocumentLocation},
    folder::{Folder, FolderEvent},
    rounds,
    server::Server,
};

impl Server {
    pub(super) fn on_event(self: &Rc<Self>, folder: &Rc<Folder>, event: FolderEvent) {
        match event {
            FolderEvent::Connected => {
                self.rules.forget(folder);
                self.refresh_diagnostics();
                // Branches may have changed without an event.
                self.refresh_lenses();
                let of_branches = self.documents().into_iter().filter(|it| is_of_branch(it, folder));
                of_branches.for_each(|it| self.refresh_content(it.uri.clone()));
            }
            FolderEvent::Lost { reason, is_lasting } => {
                let message = format!("{} is not served: {reason}", folder.root.display());
                self.peer.log(MessageType::Warning, message.clone());
                if is_lasting {
                    let documents = self.documents();
                    let is_there = |it: &&Rc<Document>| it.folder().is_some_and(|it| Rc::ptr_eq(it, folder));
                    documents
                        .iter()
                        .filter(is_there)
                        .for_each(|it| rounds::deliver_unserved(self, it, &message));
                }
            }
            // Tasks of open documents and waiting `workspace/diagnostic` requests notice the change themselves.
            FolderEvent::BaseChanged => self.release_saved_files(folder),
            FolderEvent::Branch(it) => self.branch_changed(folder, &it),
            FolderEvent::Buffer(it) => self.buffer_changed(folder, &it),
        }
    }

    fn branch_changed(self: &Rc<Self>, folder: &Rc<Folder>, it: &BranchChange) {
        let branch = &it.branch;
        if self.traits.branch_events {
            self.peer.notify_by_name("broker/branchChanged", branch_event(folder, it));
        }
        self.refresh_lenses();
        // A discarded branch has no content to refresh.
        let is_gone = it.kind == BranchChangeKind::Discarded;
        for document in self.documents().into_iter().filter(|_| !is_gone) {
            if is_of(&document, folder, branch) {
                self.refresh_content(document.uri.clone());
            }
        }
        match &it.kind {
            BranchChangeKind::Discarded => {
                self.forget_branch(&branch.id);
                self.left.forget(&branch.id);
            }
            BranchChangeKind::Committed { unsaved, left, .. } => {
                self.apply_commit(folder, branch, unsaved, left);
            }
            // A branch of another branch shows that one's texts.
            BranchChangeKind::Forked if branch.parent.is_none() => {
                self.remember_texts_but(&branch.id, folder, &[]);
            }
            BranchChangeKind::Forked | BranchChangeKind::Edited => {}
        }
    }

    /// Warns if the base shows another editor's text of a file that is open here.
    fn buffer_changed(self: &Rc<Self>, folder: &Rc<Folder>, it: &BufferShown) {
        let Some(shown) = it.shown.as_ref().filter(|it| !it.client_name.is_empty()) else { return };
        if self.document_at(folder, it.path.as_str()).is_none() {
            return;
        }
        let message = format!(
            "{} is open in {} as well, where it was changed last: that text counts until you change yours",
            it.path, shown.client_name
        );
        self.peer.show(MessageType::Warning, message);
    }
}

fn is_of_branch(document: &Document, folder: &Rc<Folder>) -> bool {
    matches!(&document.place, DocumentLocation::Branch(of, _) if Rc::ptr_eq(of, folder))
}

/// Whether a document is a file of this branch, by the branch's id or name.
fn is_of(document: &Document, folder: &Rc<Folder>, branch: &BranchInfo) -> bool {
    let names_it = |it: &str| *it == *branch.id || it == branch.name;
    matches!(&document.place, DocumentLocation::Branch(of, file) if Rc::ptr_eq(of, folder) && names_it(&file.branch))
}

fn branch_event(folder: &Folder, it: &BranchChange) -> Value {
    let (kind, changes) = match &it.kind {
        BranchChangeKind::Forked => ("forked", &[][..]),
        BranchChangeKind::Edited => ("edited", &[][..]),
        BranchChangeKind::Committed { changes, .. } => ("committed", &changes[..]),
        BranchChangeKind::Discarded => ("discarded", &[][..]),
    };
    let files = changes.iter().filter(|it| !it.is_directory);
    let changes: Vec<_> = files.map(|change| change_json(folder, &it.branch.id, change)).collect();
    json!({"kind": kind, "branch": branch_json(folder, &it.branch), "changes": changes})
}
