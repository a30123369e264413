//! Edits of a branch's files, as one transaction.

use std::sync::Arc;

use bytes::Bytes;
use overlay::{Branch, Revision, TextEdit};

use super::{Daemon, DaemonError, Repeatable, fields, task::run_uncancellable};

const MAX_EDITS: usize = 10_000;

/// Pieces of texts, in all edits of a request.
const MAX_TEXT_EDITS: usize = 100_000;

/// Edits of files that are made one after the other, all or none.
#[derive(Debug, Clone, Hash)]
pub struct EditRequest {
    pub branch: String,
    pub edits: Vec<FileEdit>,
    pub if_revision: Option<Revision>,
    /// With one, the request may be sent again.
    pub request_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FileEdit {
    Write {
        path: String,
        content: Bytes,
        expected: Expected,
    },
    Text {
        path: String,
        edits: Vec<TextEdit>,
        /// Hash of the text that the offsets are into.
        if_content_hash: Option<String>,
    },
    /// A unified diff.
    Patch(String),
    Remove {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
    CreateDirectory {
        path: String,
    },
    Symlink {
        path: String,
        link_target: String,
    },
    SetExecutable {
        path: String,
        executable: bool,
    },
}

/// Condition of a write: what stands at the path before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Expected {
    Anything,
    Missing,
    /// A file with this hash.
    Content(String),
}

impl EditRequest {
    /// Whatever the branch's revision is.
    pub fn of(branch: impl Into<String>, edits: Vec<FileEdit>) -> Self {
        Self { branch: branch.into(), edits, if_revision: None, request_id: None }
    }
}

impl Daemon {
    /// Edits files of a branch. When this returns, the edits are on the disk, in the daemon's own folder.
    pub async fn edit_files(self: &Arc<Self>, request: EditRequest) -> Result<Revision, DaemonError> {
        let (workspace, cell) = self.branch(&request.branch)?;
        if request.edits.is_empty() {
            return Err(DaemonError::invalid("edits", "there is none"));
        }
        expect_few(&request.edits)?;
        workspace.expect_there()?;
        let repeatable = Repeatable::of(&cell.id, request.request_id.as_deref(), &request)?;
        let edits = request.edits;
        let apply = move |branch: &mut Branch| branch.transaction(|it| apply_all(&edits, it)).map(drop);
        let daemon = Arc::clone(self);
        run_uncancellable(async move {
            let edit = async {
                let ((), revision) = daemon.edit(cell, request.if_revision, apply).await?;
                Ok(revision)
            };
            workspace.edits.run(repeatable, edit).await
        })
        .await
    }
}

fn expect_few(edits: &[FileEdit]) -> Result<(), DaemonError> {
    let pieces = edits.iter().map(|it| match it {
        FileEdit::Text { edits, .. } => edits.len(),
        _ => 0,
    });
    DaemonError::expect_at_most(MAX_EDITS, edits.len(), "edits of a request")?;
    DaemonError::expect_at_most(MAX_TEXT_EDITS, pieces.sum(), "edits of texts in a request")
}

fn apply_all(edits: &[FileEdit], branch: &mut Branch) -> Result<(), DaemonError> {
    let apply = |(index, it): (usize, &FileEdit)| it.apply(branch).map_err(|error| error.in_edit(index));
    edits.iter().enumerate().try_for_each(apply)
}

impl FileEdit {
    fn apply(&self, branch: &mut Branch) -> Result<(), DaemonError> {
        use fields::{content_hash, path};
        match self {
            Self::Write { path: at, content, expected } => {
                let at = path("edits.write.path", at)?;
                // A copy of its own: what came in may be a part of a larger buffer, which would live as long.
                let content = Bytes::copy_from_slice(content);
                match expected {
                    Expected::Anything => branch.write(&at, content),
                    Expected::Missing => branch.write_if(&at, None, content),
                    Expected::Content(hash) => {
                        let hash = content_hash("edits.write.if_content_hash", hash)?;
                        branch.write_if(&at, Some(hash), content)
                    }
                }
            }
            Self::Text { path: at, edits, if_content_hash } => {
                let at = path("edits.text.path", at)?;
                match if_content_hash {
                    None => branch.edit_text(&at, edits),
                    Some(hash) => {
                        let hash = content_hash("edits.text.if_content_hash", hash)?;
                        branch.edit_text_if(&at, hash, edits)
                    }
                }
            }
            Self::Patch(patch) => {
                branch.apply_patch(patch)?;
                return Ok(());
            }
            Self::Remove { path: at } => branch.remove(&path("edits.remove.path", at)?),
            Self::Rename { from, to } => {
                branch.rename(&path("edits.rename.from_path", from)?, &path("edits.rename.to_path", to)?)
            }
            Self::CreateDirectory { path: at } => {
                branch.create_dir(&path("edits.create_directory.path", at)?)
            }
            Self::Symlink { path: at, link_target } => {
                branch.symlink(&path("edits.create_symlink.path", at)?, link_target)
            }
            Self::SetExecutable { path: at, executable } => {
                branch.set_executable(&path("edits.set_executable.path", at)?, *executable)
            }
        }?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_edits_are_refused_before_they_are_looked_at() {
        let text = |count| FileEdit::Text {
            // Nothing of it makes sense.
            path: "..".to_owned(),
            edits: vec![TextEdit { start: 2, end: 1, replacement: String::new() }; count],
            if_content_hash: None,
        };
        let half = MAX_TEXT_EDITS / 2;
        expect_few(&[text(half), text(half)]).unwrap();
        let refused = expect_few(&[text(half), text(half), text(1)]).unwrap_err().to_string();
        assert_eq!(refused, "edits of texts in a request: 100001 is more than the limit of 100000");
        let refused = expect_few(&vec![text(0); MAX_EDITS + 1]).unwrap_err().to_string();
        assert_eq!(refused, "edits of a request: 10001 is more than the limit of 10000");
    }
}
