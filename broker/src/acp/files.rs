//! Files that an agent reads and writes through its client, on the session's branch.

use std::path::{Path, PathBuf};

use overlay::WorkspacePath;
use serde::Deserialize;
use serde_json::{Value, json};
use workspaces::{EditRequest, ErrorKind, Expected, FileEdit, Side, TargetId, Workspaces};

use super::{
    message::Failure,
    session::{Session, failure},
};
use crate::client::path_within;

/// Parameters of `fs/read_text_file` and `fs/write_text_file`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileRequest {
    pub(super) session_id: String,
    pub(super) path: PathBuf,
    /// The first line that is read, from 1.
    line: Option<usize>,
    /// Lines that are read.
    limit: Option<usize>,
    /// Text that is written.
    content: Option<String>,
}

impl FileRequest {
    /// The path in the session's workspace; `None` if it is elsewhere.
    pub(super) fn path_in(&self, session: &Session) -> Option<WorkspacePath> {
        path_in(session, &self.path)
    }

    /// Reads lines of a file as the branch has it.
    pub(super) async fn read(
        &self,
        path: &WorkspacePath,
        session: &Session,
        daemon: &dyn Workspaces,
    ) -> Result<Value, Failure> {
        let target = session.target(daemon).await.map_err(failure)?;
        let file = daemon.read_file(&target, path.as_str(), Side::Now, None).await;
        let file = file.inspect_err(|_| session.reads.forget(path)).map_err(failure)?;
        let text = str::from_utf8(&file.bytes);
        let text = text.map_err(|_| Failure::internal(format!("{path} is not UTF-8")))?;
        let content = lines(text, self.line, self.limit);
        let first = self.line.unwrap_or(1).max(1);
        let numbers = first..=first + count(&content) - 1;
        session.reads.read(path, file.bytes.clone(), numbers, count(text));
        Ok(json!({ "content": content }))
    }

    /// Writes a file on the branch. The agent sends all of a text: what changed since it read the file is merged, or the write is
    /// refused.
    pub(super) async fn write(
        &self,
        path: &WorkspacePath,
        session: &Session,
        daemon: &dyn Workspaces,
    ) -> Result<Value, Failure> {
        let content = self.content.as_deref().ok_or_else(|| Failure::invalid("`content` is missing"))?;
        let branch = session.branch(daemon, &self.session_id).await.map_err(failure)?;
        let target = TargetId::Branch(branch.id.to_string());
        let now = match daemon.read_file(&target, path.as_str(), Side::Now, None).await {
            Ok(file) => Some(file),
            Err(error) if error.kind == ErrorKind::NotFound => None,
            Err(error) => return Err(failure(error)),
        };
        let expected =
            now.as_ref().map_or(Expected::Missing, |it| Expected::Content(it.content_hash.to_string()));
        let merged = session.reads.replace(path, content, now.as_ref().map(|it| &*it.bytes));
        let merged = merged.map_err(|it| Failure::invalid(format!("{path}: {it}. {}", it.advice())))?;
        let edits = vec![FileEdit::Write { path: path.to_string(), content: merged.into(), expected }];
        daemon.edit_files(EditRequest::of(&*branch.id, edits.clone())).await.map_err(failure)?;
        let before = now.map(|it| (path.to_string(), it.bytes)).into_iter().collect();
        session.reads.written(&edits, &before);
        Ok(json!({}))
    }
}

/// The path in the session's workspace; `None` if it is elsewhere.
pub(super) fn path_in(session: &Session, path: &Path) -> Option<WorkspacePath> {
    let within = path.is_absolute().then(|| path_within(&session.root, path))??;
    WorkspacePath::new(within.to_str()?).ok()
}

fn count(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

fn lines(text: &str, first: Option<usize>, limit: Option<usize>) -> String {
    let before = first.unwrap_or(1).saturating_sub(1);
    text.split_inclusive('\n').skip(before).take(limit.unwrap_or(usize::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one() {
        let text = "a\nb\r\nc";
        for (first, limit, want) in [
            (None, None, text),
            (Some(0), None, text),
            (Some(1), Some(1), "a\n"),
            (Some(2), Some(1), "b\r\n"),
            (Some(3), Some(9), "c"),
            (Some(4), None, ""),
            (None, Some(0), ""),
        ] {
            assert_eq!(lines(text, first, limit), want, "{first:?} {limit:?}");
        }
    }
}
