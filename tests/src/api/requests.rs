//! Requests in which only that is set which a test is about.

use overlay::{OnConflict, Revision};
use workspaces::{
    BufferRequest, CheckRequest, CommitRequest, EditRequest, Expected, FileEdit, FixRequest, ForkRequest,
    PageRequest, RebaseRequest, Side, TargetId, Undo, UndoRequest,
};

/// The base of a workspace.
pub fn base(workspace: &str) -> TargetId {
    TargetId::Workspace(workspace.to_owned())
}

/// A branch.
pub fn branch(id: &str) -> TargetId {
    TargetId::Branch(id.to_owned())
}

pub fn fork(parent: TargetId) -> ForkRequest {
    ForkRequest { parent, name: String::new(), labels: [].into(), request_id: None }
}

pub fn edits(branch: &str, edits: Vec<FileEdit>) -> EditRequest {
    EditRequest::of(branch, edits)
}

pub fn undo(branch: &str, to: u64) -> UndoRequest {
    UndoRequest { branch: branch.to_owned(), undo: Undo::To(Revision(to)), if_revision: None }
}

pub fn rebase(branch: &str, on_conflict: OnConflict) -> RebaseRequest {
    RebaseRequest { on_conflict, ..RebaseRequest::of(branch) }
}

pub fn commit(branch: &str) -> CommitRequest {
    CommitRequest::of(branch)
}

/// Asks for `paths` of a target; for everything if there are none.
pub fn ask(target: TargetId, paths: &[&str]) -> CheckRequest {
    let paths = paths.iter().map(|it| (*it).to_owned()).collect();
    CheckRequest { paths, ..CheckRequest::of(target) }
}

/// Makes the safe fixes of `paths`; of everything if there are none.
pub fn fix(branch: &str, paths: &[&str]) -> FixRequest {
    let paths = paths.iter().map(|it| (*it).to_owned()).collect();
    FixRequest::of(CheckRequest { paths, ..CheckRequest::of(self::branch(branch)) })
}

/// An unsaved text that stays until it is closed.
pub fn buffer(workspace: &str, path: &str, content: &str) -> BufferRequest {
    BufferRequest {
        workspace: workspace.to_owned(),
        editor: None,
        path: path.to_owned(),
        content: content.to_owned().into(),
        is_opened: false,
    }
}

/// The page of `size` items that the token is for.
pub fn next(size: u32, token: &str) -> PageRequest {
    PageRequest { size, token: token.to_owned() }
}

pub fn read_of(revision: u64) -> Side {
    Side::Revision(Revision(revision))
}

/// A new content for a file.
pub fn write(path: &str, content: impl Into<Vec<u8>>) -> FileEdit {
    let content: Vec<u8> = content.into();
    FileEdit::Write { path: path.to_owned(), content: content.into(), expected: Expected::Anything }
}

pub fn rename(from: &str, to: &str) -> FileEdit {
    FileEdit::Rename { from: from.to_owned(), to: to.to_owned() }
}

pub fn remove(path: &str) -> FileEdit {
    FileEdit::Remove { path: path.to_owned() }
}

pub fn patch(text: &str) -> FileEdit {
    FileEdit::Patch(text.to_owned())
}
