//! Checks of a session, with a bound on the wait.

use std::{sync::Arc, time::Duration};

use check_engine::Unfinished;

use crate::{
    context::{BranchRef, Context},
    findings::{self, Findings},
    question::Question,
    reply::ToolError,
};

/// Answers a question of the session within `wait`, with what is known then. The rest comes with its next call.
pub(crate) async fn check(
    context: &Context,
    question: Question,
    wait: Duration,
) -> Result<Findings, ToolError> {
    let (mut found, unfinished) = findings::within(&context.daemon, &question, wait).await?;
    found.is_followed = found.is_late();
    match found.is_followed {
        true => context.session.late.follow(&context.daemon, question, &found, unfinished),
        false => context.session.late.settle(&question),
    }
    Ok(found.without_reported(&context.session.told))
}

/// Check whose answer was due, and its work.
#[derive(Clone)]
pub(crate) struct PendingCheck {
    pub(crate) question: Question,
    pub(crate) unfinished: Option<Arc<Unfinished>>,
}

/// Discards trials, each after its children. A check that goes on is done first, beside its caller: who tries the same again
/// has its answers.
pub(crate) async fn end_trials(context: &Context, trials: Vec<BranchRef>, late: Option<PendingCheck>) {
    let (is_late, context) = (late.is_some(), context.clone());
    let end = async move {
        if let Some(PendingCheck { question, unfinished }) = late {
            // Its answers are kept by their content.
            let _kept = findings::whole(&context.daemon, &question).await;
            drop(unfinished);
        }
        for it in &trials {
            context.discard_trial(it).await;
        }
    };
    match is_late {
        true => drop(tokio::spawn(end)),
        false => end.await,
    }
}
