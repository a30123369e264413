//! Findings that an agent's edit brings.

use std::{sync::Arc, time::Duration};

use agents::{Call, Preview, PreviewEdit, Reply, Tools};
use bytes::Bytes;
use overlay::WorkspacePath;
use serde_json::{Value, json};
use workspaces::{ErrorKind, Expected, FileEdit, RequestError, Side, TargetId, Workspaces};

use super::{files::path_in, session::Session, tool_calls::FileDiff};

/// Seconds after which a check answers with what is known.
const WAIT: u64 = 5;

/// The longest that all checks of one tool call take.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// Lines of what is found.
const MAX_LINES: usize = 20;

/// Asks about edits of one session.
#[derive(Clone)]
pub(super) struct Checker {
    pub(super) daemon: Arc<dyn Workspaces>,
    pub(super) tools: Arc<dyn Tools>,
}

/// State of an edit that a diff shows.
enum Edit {
    /// It is on the branch.
    OnBranch(WorkspacePath),
    /// It is on the disk: the texts of the file before and now.
    OnDisk { path: WorkspacePath, before: Option<String>, now: String },
}

impl Checker {
    /// Text about the edits that are made; `None` if there is nothing to say.
    pub(super) async fn findings(&self, session: &Session, diffs: &[FileDiff]) -> Option<String> {
        let said = tokio::time::timeout(LIMIT, self.of_diffs(session, diffs)).await;
        let said = said.unwrap_or_else(|_| Ok(Some("Broker: the edit is still being checked".to_owned())));
        said.unwrap_or_else(|error| Some(format!("Broker: the edit is not checked: {error}")))
    }

    async fn of_diffs(&self, session: &Session, diffs: &[FileDiff]) -> Result<Option<String>, RequestError> {
        let target = session.target(&*self.daemon).await?;
        let (mut on_branch, mut said) = (Vec::new(), Vec::new());
        for diff in diffs {
            match self.edit(session, &target, diff).await? {
                Some(Edit::OnBranch(path)) => on_branch.push(path),
                Some(Edit::OnDisk { path, before, now }) => {
                    let found = shown(self.preview(session, &path, before, now).await?);
                    said.extend(found.map(|it| format!("Broker: this edit of the disk brought\n{it}")));
                }
                None => {}
            }
        }
        if !on_branch.is_empty() {
            let found = shown(self.check(session, &on_branch).await?);
            let name = &session.branch;
            said.extend(found.map(|it| {
                format!(
                    "Broker: with this edit, branch `{name}` has\n{it}\n`broker branch commit {name}` writes the branch to the disk"
                )
            }));
        }
        Ok((!said.is_empty()).then(|| said.join("\n")))
    }

    /// The edit of a diff; `None` if it is elsewhere, or not made yet.
    async fn edit(
        &self,
        session: &Session,
        target: &TargetId,
        diff: &FileDiff,
    ) -> Result<Option<Edit>, RequestError> {
        let Some(path) = path_in(session, &diff.path) else { return Ok(None) };
        let now = self.text(target, &path, Side::Now).await?;
        let Some(now) = now.filter(|it| it.contains(&diff.new_text)) else { return Ok(None) };
        let parent = match target {
            TargetId::Branch(_) => self.text(target, &path, Side::Parent).await?,
            TargetId::Workspace(_) => Some(now.clone()),
        };
        if parent.as_deref() != Some(&*now) {
            return Ok(Some(Edit::OnBranch(path)));
        }
        Ok(before(&now, diff).map(|before| Edit::OnDisk { path, before, now }))
    }

    /// `None` if there is no such text.
    async fn text(
        &self,
        target: &TargetId,
        path: &WorkspacePath,
        side: Side,
    ) -> Result<Option<String>, RequestError> {
        match self.daemon.read_file(target, path.as_str(), side, None).await {
            Ok(file) => Ok(String::from_utf8(file.bytes.into()).ok()),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn check(&self, session: &Session, paths: &[WorkspacePath]) -> Result<Reply, RequestError> {
        let paths: Vec<_> = paths.iter().map(WorkspacePath::as_str).collect();
        let arguments = json!({ "paths": paths, "wait": WAIT });
        let call = Call {
            workspace: session.workspace.clone(),
            session: session.branch.clone(),
            branch: Some(session.branch.clone()),
            tool: "check".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            deadline: None,
            traceparent: None,
        };
        self.tools.call_tool(call).await
    }

    async fn preview(
        &self,
        session: &Session,
        path: &WorkspacePath,
        before: Option<String>,
        now: String,
    ) -> Result<Reply, RequestError> {
        let write = |text: String| FileEdit::Write {
            path: path.to_string(),
            content: Bytes::from(text),
            expected: Expected::Anything,
        };
        let before = before.map_or_else(|| FileEdit::Remove { path: path.to_string() }, write);
        let preview = Preview {
            workspace: session.workspace.clone(),
            before: vec![PreviewEdit::File(before)],
            edits: vec![PreviewEdit::File(write(now))],
            deadline: Some(Duration::from_secs(WAIT)),
        };
        self.tools.preview_edits(preview).await
    }
}

/// The text before an edit, which is `None` for a new file; no answer where another text could have been the one before, too.
fn before(now: &str, diff: &FileDiff) -> Option<Option<String>> {
    match &diff.old_text {
        None if now == diff.new_text => Some(None),
        None => None,
        Some(_) if diff.new_text.is_empty() || now.matches(&diff.new_text).count() != 1 => None,
        // The edit may be yet to be made.
        Some(old) if now.contains(old) && !diff.new_text.contains(old) => None,
        Some(old) => Some(Some(now.replacen(&diff.new_text, old, 1))),
    }
}

/// `None` if all was checked and nothing was found.
fn shown(reply: Reply) -> Option<String> {
    let answer = Value::Object(reply.structured);
    let is_clean = answer["ok"] == true && answer["since_last_call"].is_null();
    (!is_clean).then(|| first_lines(reply.text.trim_end()))
}

fn first_lines(text: &str) -> String {
    let more = text.lines().count().saturating_sub(MAX_LINES);
    let mut first = text.lines().take(MAX_LINES).collect::<Vec<_>>().join("\n");
    if more > 0 {
        first.push_str(&format!("\n… {more} more lines; `broker check --branch` shows all"));
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_certain_text_is_the_one_before() {
        let before = |now: &str, old: Option<&str>, new: &str| {
            let (path, old_text, new_text) = ("/a".into(), old.map(str::to_owned), new.to_owned());
            before(now, &FileDiff { path, old_text, new_text })
        };
        assert_eq!(before("a b c", Some("x"), "b"), Some(Some("a x c".to_owned())));
        assert_eq!(before("a b b", Some("x"), "b"), None);
        assert_eq!(before("a", Some("x"), ""), None);
        assert_eq!(before("x b", Some("x"), "b"), None);
        assert_eq!(before("x b", Some("x"), "x b"), Some(Some("x".to_owned())));
        assert_eq!(before("a", None, "a"), Some(None));
        assert_eq!(before("a b", None, "a"), None);
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(first_lines("a\nb"), "a\nb");
        let cut = first_lines(&"x\n".repeat(MAX_LINES + 2));
        assert_eq!(cut.lines().count(), MAX_LINES + 1);
        assert!(cut.contains("… 2 more lines"), "{cut}");
    }
}
