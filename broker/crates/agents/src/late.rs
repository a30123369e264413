//! Answers that come after their call: a check goes on when its answer was due, and the next call of the session has the rest.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use check_engine::Unfinished;
use overlay::Revision;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::{sync::watch, task::AbortHandle, time::timeout};
use workspaces::{Daemon, TargetId};

use crate::{
    findings::{self, Findings, Listed, ShownFinding},
    limits::count,
    question::Question,
    reasons::ReportedReasons,
    reply::ToolError,
};

/// Checks of a session that go on.
#[derive(Default)]
pub(crate) struct BackgroundChecks(Mutex<Vec<Running>>);

/// Check that goes on until this is dropped.
struct Running {
    question: Question,
    revision: Revision,
    /// Findings that the session has.
    told: BTreeSet<String>,
    task: AbortHandle,
    result: watch::Receiver<Option<Result<Findings, ToolError>>>,
}

/// Findings that came after the call that asked for them.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LateFindings {
    revision: u64,
    findings: Vec<ShownFinding>,
    /// Findings that are not listed.
    more: usize,
    /// Hints that are not listed, since there is worse.
    #[serde(skip_serializing_if = "findings::is_zero")]
    hints: usize,
    not_checked: Vec<String>,
    is_new_only: bool,
}

impl BackgroundChecks {
    /// Goes on with a check whose answer was due. What earlier ones still ask about the same target is asked with it.
    pub(crate) fn follow(
        &self,
        daemon: &Arc<Daemon>,
        mut question: Question,
        known: &Findings,
        unfinished: Option<Arc<Unfinished>>,
    ) {
        let mut told: BTreeSet<_> = known.listed.findings.iter().map(ShownFinding::key).collect();
        let mut all = self.0.lock();
        for earlier in all.extract_if(.., |it| it.question.is_alike(&question)).collect::<Vec<_>>() {
            question = question.and(&earlier.question);
            told.extend(earlier.told.iter().cloned());
        }
        all.push(Running::start(daemon, question, Revision(known.revision), told, unfinished));
    }

    /// Forgets what the answer to this question has as well.
    pub(crate) fn settle(&self, question: &Question) {
        self.0.lock().retain(|it| !question.includes(&it.question));
    }

    /// Waits for checks of this revision of the target that go on, so that what they ask is not asked twice.
    pub(crate) async fn join(&self, target: &TargetId, revision: Revision, wait: Duration) {
        let running: Vec<_> = {
            let all = self.0.lock();
            let is_asked = |it: &&Running| it.question.target == *target && it.revision == revision;
            all.iter().filter(is_asked).map(|it| it.result.clone()).collect()
        };
        let ended = async {
            for mut it in running {
                let _given_up = it.wait_for(Option::is_some).await.map(drop);
            }
        };
        let _goes_on = timeout(wait, ended).await;
    }

    /// Takes what has come and still holds. What is outdated is asked again.
    pub(crate) async fn take(&self, daemon: &Arc<Daemon>, told: &ReportedReasons) -> Vec<LateFindings> {
        let ended: Vec<_> = self.0.lock().extract_if(.., |it| it.has_ended()).collect();
        let mut taken = Vec::new();
        for it in ended {
            // A branch that is gone has no findings.
            let Ok((_, revision)) = daemon.view(&it.question.target).await else { continue };
            let result = it.result.borrow().clone();
            match result {
                Some(Ok(found)) if found.revision == revision.0 => {
                    taken.push(LateFindings::of(found, &it.told, told));
                }
                Some(Ok(_)) | None => self.0.lock().push(it.again(daemon, revision)),
                Some(Err(error)) => taken.push(LateFindings::failed(error, revision, &it.question)),
            }
        }
        taken
    }
}

impl Running {
    fn start(
        daemon: &Arc<Daemon>,
        question: Question,
        revision: Revision,
        told: BTreeSet<String>,
        unfinished: Option<Arc<Unfinished>>,
    ) -> Self {
        let (tell, result) = watch::channel(None);
        let (daemon, asked) = (Arc::clone(daemon), question.clone());
        let check = async move {
            let found = findings::whole(&daemon, &asked).await;
            drop(unfinished);
            let _session_has_ended = tell.send(Some(found));
        };
        Self { question, revision, told, task: tokio::spawn(check).abort_handle(), result }
    }

    fn has_ended(&self) -> bool {
        self.result.borrow().is_some() || self.task.is_finished()
    }

    fn again(&self, daemon: &Arc<Daemon>, revision: Revision) -> Self {
        Self::start(daemon, self.question.clone(), revision, self.told.clone(), None)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LateFindings {
    fn of(found: Findings, told: &BTreeSet<String>, reasons: &ReportedReasons) -> Self {
        let found = found.without_reported(reasons);
        let Listed { findings, more, hints } = found.listed;
        let findings = findings.into_iter().filter(|it| !told.contains(&it.key())).collect();
        Self {
            revision: found.revision,
            findings,
            more,
            hints,
            not_checked: found.not_checked,
            is_new_only: found.is_new_only,
        }
    }

    fn failed(error: ToolError, revision: Revision, question: &Question) -> Self {
        let (findings, not_checked) = (Vec::new(), vec![error.message]);
        Self {
            revision: revision.0,
            findings,
            more: 0,
            hints: 0,
            not_checked,
            is_new_only: question.new_only,
        }
    }

    pub(crate) fn text(&self) -> String {
        let Self { revision, findings, more, hints, not_checked, is_new_only } = self;
        let files: BTreeSet<_> = findings.iter().map(|it| it.file.as_str()).collect();
        let files = files.into_iter().collect::<Vec<_>>().join(", ");
        let number = match is_new_only {
            true => count(findings.len(), "new finding", "new findings"),
            false => count(findings.len(), "finding", "findings"),
        };
        let mut text = "since your last call: ".to_owned();
        text.push_str(&match (findings.is_empty(), not_checked.is_empty()) {
            (true, true) => format!("the check has ended, nothing more was found (revision {revision})"),
            (true, false) => format!("the check has ended, not all could be checked (revision {revision})"),
            (false, _) => format!("{number} in {files} (revision {revision}):"),
        });
        findings.iter().for_each(|it| text.push_str(&format!("\n{}", it.text())));
        if *more > 0 {
            text.push_str(&format!("\n… {more} more; check single paths to see them"));
        }
        if *hints > 0 {
            text.push_str(&format!("\n{} not listed", count(*hints, "hint", "hints")));
        }
        not_checked.iter().for_each(|it| text.push_str(&format!("\nnot checked: {it}")));
        text
    }
}
