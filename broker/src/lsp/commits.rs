//! Commits of files that have unsaved text in the editor. The commit does not write such a file: it leaves it to the editor, which
//! gets the change as an edit that the user can see, undo or save.
//!
//! The branch keeps its edits of a left file until the user has saved them, so that they are not lost if the editor ends.

use std::{cell::RefCell, rc::Rc};

use bytes::Bytes;
use gen_lsp_types::MessageType;
use overlay::{Revision, WorkspacePath};
use tokio::task::spawn_local;
use workspaces::{BranchInfo, EditRequest, ErrorKind, Expected, FileEdit, RebaseRequest, RequestError, Side};

use super::{
    commands::apply,
    document::{Document, State},
    edits,
    folder::Folder,
    server::Server,
    target,
    text::Text,
};

/// Files that commits left to this editor, with their edits applied but not saved yet, by branch.
#[derive(Default)]
pub(super) struct LeftFiles(RefCell<Vec<Left>>);

#[derive(Clone)]
struct Left {
    folder: Rc<Folder>,
    branch: String,
    /// Revision of the branch after the commit. A branch with later edits is not touched.
    revision: Revision,
    /// Path, and a version of its document: any later version has the change.
    paths: Vec<(String, i32)>,
}

impl LeftFiles {
    fn add(&self, folder: &Rc<Folder>, branch: &BranchInfo, path: (String, i32)) {
        let mut all = self.0.borrow_mut();
        match all.iter_mut().find(|it| *it.branch == *branch.id) {
            Some(left) => {
                left.paths.retain(|it| it.0 != path.0);
                left.paths.push(path);
            }
            None => all.push(Left {
                folder: Rc::clone(folder),
                branch: branch.id.to_string(),
                revision: branch.revision,
                paths: vec![path],
            }),
        }
    }

    fn put(&self, it: Left) {
        self.forget(&it.branch);
        self.0.borrow_mut().push(it);
    }

    /// After another commit of the branch, which leaves these files.
    fn go_on(&self, branch: &BranchInfo, left_paths: &[WorkspacePath]) {
        for left in self.0.borrow_mut().iter_mut().filter(|it| *it.branch == *branch.id) {
            left.revision = branch.revision;
            left.paths.retain(|(path, _)| left_paths.iter().any(|it| it.as_str() == path));
        }
    }

    pub(super) fn forget(&self, branch: &str) {
        self.0.borrow_mut().retain(|it| it.branch != branch);
    }

    /// Forgets the branch as it was left at this revision.
    fn forget_at(&self, branch: &str, revision: Revision) {
        self.0.borrow_mut().retain(|it| (&*it.branch, it.revision) != (branch, revision));
    }

    fn of(&self, folder: &Rc<Folder>) -> Vec<Left> {
        self.0.borrow().iter().filter(|it| Rc::ptr_eq(&it.folder, folder)).cloned().collect()
    }
}

impl Server {
    /// Applies a commit to the documents here that have unsaved text.
    pub(super) fn apply_commit(
        self: &Rc<Self>,
        folder: &Rc<Folder>,
        branch: &BranchInfo,
        unsaved: &[WorkspacePath],
        left: &[WorkspacePath],
    ) {
        self.left.go_on(branch, left);
        for path in unsaved.iter().chain(left) {
            let is_left = left.contains(path);
            for document in self.documents_at(folder, path.as_str()) {
                let server = Rc::clone(self);
                let (folder, branch, path) = (Rc::clone(folder), branch.clone(), path.to_string());
                let origin = self.origin(&folder, &document, &branch.id, &path, is_left);
                spawn_local(async move {
                    match server.apply_to_document(&document, origin, &branch, &path).await {
                        Ok(version) if is_left => server.left.add(&folder, &branch, (path, version)),
                        Ok(_) => {}
                        Err(reason) => {
                            let message = not_applied(&path, &branch.name, is_left, &reason);
                            server.peer.show(MessageType::Warning, message);
                        }
                    }
                });
            }
        }
        self.remember_texts_but(&branch.id, folder, left);
    }

    /// The text that the branch's edits of a file are based on: what the editor had at the fork, or when it took an earlier commit.
    /// If it is not known, the file on the disk, which a commit leaves alone if it is left: a merge with that removes nothing that
    /// was typed.
    fn origin(
        &self,
        folder: &Folder,
        document: &Document,
        branch: &str,
        path: &str,
        is_left: bool,
    ) -> Result<Option<Text>, String> {
        if let Some(known) = self.text_at_fork(branch, &document.uri) {
            return Ok(Some(known));
        }
        if !is_left {
            return Ok(None);
        }
        let text = folder.on_disk(path).map_err(|error| format!("the file cannot be read: {error}"))?;
        Ok(Some(Text::new(text, self.traits.encoding)))
    }

    /// Applies the commit of one file. Returns the version of the document after which it has the change.
    async fn apply_to_document(
        self: &Rc<Self>,
        document: &Rc<Document>,
        origin: Result<Option<Text>, String>,
        branch: &BranchInfo,
        path: &str,
    ) -> Result<i32, String> {
        let origin = origin?;
        // Read before the commit: since then, the branch may show the editor's text.
        let side = branch.revision.0.checked_sub(1).map_or(Side::Now, |it| Side::Revision(Revision(it)));
        let written = match self.read(&target::branch(&*branch.id), path, side).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Err("it is removed there".to_owned()),
            read => read.map_err(|it| it.sentence)?,
        };
        let state = document.state();
        let text = merged_text(origin.as_ref(), &state, &written)?;
        let edits = state.text.edits_to(&text);
        let mut version = state.version - 1;
        if !edits.is_empty() {
            let edit = edits::of_document(&self.traits, &document.uri, Some(state.version), edits);
            let label = format!("Commit of branch {}", branch.name);
            apply(self, edit, &label).await.map_err(|it| it.message().to_owned())?;
            version = state.version;
        }
        // A branch that keeps its edits goes on from what was applied.
        if let Ok(written) = std::str::from_utf8(&written) {
            let written = Text::new(written, self.traits.encoding);
            self.remember_text(&branch.id, &document.uri, written);
        }
        Ok(version)
    }

    /// Removes edits from branches whose left files have been saved with them.
    pub(super) fn release_saved_files(self: &Rc<Self>, folder: &Rc<Folder>) {
        for left in self.left.of(folder) {
            let server = Rc::clone(self);
            spawn_local(async move {
                let (branch, revision) = (left.branch.clone(), left.revision);
                // The branch was changed or discarded since: keep its edits.
                if server.release(left).await.is_err() {
                    server.left.forget_at(&branch, revision);
                }
            });
        }
    }

    /// Writes the saved texts to the branch and rebases it, after which these files no longer differ from the disk.
    async fn release(&self, left: Left) -> Result<(), RequestError> {
        let saved = |(path, version): &(String, i32)| {
            let state = self.document_at(&left.folder, path)?.state();
            let is_saved = state.saved == Some(state.version) && state.version > *version;
            is_saved.then(|| write(path, state.text.as_str()))
        };
        let (mut kept, mut edits) = (Vec::new(), Vec::new());
        for path in &left.paths {
            match saved(path) {
                Some(edit) => edits.push(edit),
                None => kept.push(path.clone()),
            }
        }
        if edits.is_empty() {
            return Ok(());
        }
        let if_revision = Some(left.revision);
        let request = EditRequest { if_revision, ..EditRequest::of(&left.branch, edits) };
        let written = left.folder.workspaces.edit_files(request).await?;
        let request = RebaseRequest { if_revision: Some(written), ..RebaseRequest::of(&*left.branch) };
        let revision = left.folder.workspaces.rebase_branch(request).await?.revision;
        // If the rebase changed nothing, the daemon has not noticed the saved file yet. Its next change of the base repeats this.
        let paths = if revision > written { kept } else { left.paths.clone() };
        self.left.put(Left { revision, paths, ..left });
        Ok(())
    }
}

fn write(path: &str, text: &str) -> FileEdit {
    let content = Bytes::copy_from_slice(text.as_bytes());
    FileEdit::Write { path: path.to_owned(), content, expected: Expected::Anything }
}

fn not_applied(path: &str, branch: &str, is_left: bool, reason: &str) -> String {
    match is_left {
        true => format!(
            "{path} of branch {branch} is not committed, since it has unsaved text here, and the change cannot be made in it: {reason}; the branch keeps it"
        ),
        false => format!("{path} was committed from branch {branch}, and is not in the editor: {reason}"),
    }
}

/// Three-way merge of the editor's text and the committed one. `origin` is the text that the branch was made from, if it is known.
fn merged_text(origin: Option<&Text>, now: &State, written: &[u8]) -> Result<String, &'static str> {
    const TYPED: &str = "the same lines were changed in the editor since the branch was made";
    let merged = match origin {
        Some(origin) if *origin == now.text => written.to_vec(),
        None => return Err("it was changed in the editor, and what the branch was made of is not known"),
        Some(origin) => {
            let sides = [origin.as_str().as_bytes(), now.text.as_str().as_bytes(), written];
            let [origin, now, written] = sides.map(Bytes::copy_from_slice);
            overlay::merge_texts(&origin, &now, &written).ok_or(TYPED)?.to_vec()
        }
    };
    String::from_utf8(merged).map_err(|_| "it is no UTF-8")
}
