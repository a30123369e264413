//! Checks of tool calls, and the ends of turns that wait for them.

use std::collections::HashMap;

use tokio::task::{self, AbortHandle, JoinError, JoinSet};

use super::{
    findings::Checker,
    message::update,
    session::Session,
    tool_calls::{CallKey, CallToCheck, ToolCalls, UpdateParams},
};

/// Turns of all sessions.
#[derive(Default)]
pub(super) struct Turns {
    calls: ToolCalls,
    checks: JoinSet<(CallToCheck, Option<String>)>,
    running: HashMap<task::Id, (CallKey, AbortHandle)>,
    /// Responses that end turns, with their sessions.
    held: Vec<(String, Vec<u8>)>,
}

/// Check that has ended or was aborted.
pub(super) type Ended = Result<(task::Id, (CallToCheck, Option<String>)), JoinError>;

/// Result of a check.
pub(super) struct Checked {
    pub(super) session: String,
    /// Message for the client, if there is something to say.
    pub(super) shown: Option<Vec<u8>>,
}

impl Turns {
    /// Takes an update in, and checks its tool call if the edit may have been made. A check of the same call is given up.
    pub(super) fn update(
        &mut self,
        params: UpdateParams,
        session: impl FnOnce(&str) -> Option<Session>,
        checker: Checker,
    ) {
        let Some(call) = self.calls.update(params) else { return };
        let Some(session) = session(&call.key.0) else { return };
        self.abort(|key| *key == call.key);
        let key = call.key.clone();
        let check = self.checks.spawn(async move {
            let found = checker.findings(&session, &call.diffs).await;
            (call, found)
        });
        self.running.insert(check.id(), (key, check));
    }

    /// The next check that has ended; `None` if none is running.
    pub(super) async fn next(&mut self) -> Option<Ended> {
        self.checks.join_next_with_id().await
    }

    /// The result of a check; `None` if it was aborted.
    pub(super) fn checked(&mut self, ended: Ended) -> Option<Checked> {
        let id = ended.as_ref().map_or_else(JoinError::id, |it| it.0);
        let (key, _) = self.running.remove(&id)?;
        let found = ended.ok().and_then(|(_, (call, text))| self.calls.with_text(&call, &text?));
        Some(Checked { shown: found.map(|it| update(&key.0, &it)), session: key.0 })
    }

    /// Gives up the checks of a session.
    pub(super) fn cancel(&mut self, session: &str) {
        self.abort(|key| key.0 == session);
    }

    fn abort(&mut self, is_over: impl Fn(&CallKey) -> bool) {
        let over = self.running.extract_if(|_, (key, _)| is_over(key));
        over.for_each(|(_, (_, check))| check.abort());
    }

    /// Keeps the response that ends a session's turn.
    pub(super) fn hold(&mut self, session: String, line: Vec<u8>) {
        self.held.push((session, line));
    }

    /// Takes the response that ends a session's turn, unless checks of the session go on.
    pub(super) fn take_ended(&mut self, session: &str) -> Option<Vec<u8>> {
        if self.running.values().any(|it| it.0.0 == session) {
            return None;
        }
        let at = self.held.iter().position(|it| it.0 == session)?;
        self.calls.forget(session);
        Some(self.held.remove(at).1)
    }

    /// Gives up all checks; returns the responses that wait.
    pub(super) fn end(self) -> Vec<Vec<u8>> {
        self.held.into_iter().map(|it| it.1).collect()
    }
}
