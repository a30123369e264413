//! Checks as clients ask for them: every field checked, events one after the other.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use check_engine::pipeline::Scope;
use linters::LinterKind;
use overlay::{Revision, WalkOptions};
use scheduler::Class;
use tokio::sync::mpsc;

use super::{
    Daemon, DaemonError,
    ask::Ask,
    events::{Event, Events},
    fields,
    options::{CheckOptions, walk_options},
    target::TargetId,
};

/// Events that may wait for a client before the check waits, too.
pub(super) const CHANNEL_CAPACITY: usize = 16;

const MAX_PATHS: usize = 100_000;
const MAX_SELECTORS: usize = 10_000;
const MAX_KINDS: usize = 100;
/// Bytes; an unknown selector is compared with every rule, which takes time by its length.
const MAX_SELECTOR: usize = 200;

/// Files to check, and options of the check.
#[derive(Debug, Clone, Hash)]
pub struct CheckRequest {
    pub target: TargetId,
    /// Files and directories; everything if there are none.
    pub paths: Vec<String>,
    /// Filter on the files found: only these are checked; no filter if empty.
    pub only_paths: Vec<String>,
    /// An older revision of the branch.
    pub revision: Option<Revision>,
    pub class: Class,
    /// Whether files that use the requested ones are checked, too, by linters that look beyond a file.
    pub dependents: bool,
    /// Only what differs from the parent.
    pub new_only: bool,
    pub select: Vec<String>,
    pub ignore: Vec<String>,
    /// Linters of these kinds only; all if there are none. Others are neither asked nor missed.
    pub kinds: Vec<LinterKind>,
    /// Give this up for a newer revision.
    pub supersede: bool,
    /// The longest that the client waits for the last event.
    pub deadline: Option<Duration>,
    pub options: CheckOptions,
}

/// Events of a check, the summary or an error last. Dropping it ends the check, and stops the linters.
pub type CheckEvents = mpsc::Receiver<Result<Event, DaemonError>>;

impl Daemon {
    /// Starts a check.
    pub fn check(self: &Arc<Self>, request: CheckRequest) -> Result<CheckEvents, DaemonError> {
        if let Some(view) = self.local_view(&request.target) {
            return self.check_view(view, request);
        }
        let deadline = request.deadline;
        let ask = self.ask(request)?;
        let (events, received) = mpsc::channel(CHANNEL_CAPACITY);
        let daemon = Arc::clone(self);
        tokio::spawn(telemetry::in_current_span(async move {
            let check = daemon.run_check(&ask, Events::Check(&events));
            if let Err(error) = within(deadline, check).await {
                let _client_left = events.send(Err(error)).await;
            }
        }));
        Ok(received)
    }

    /// The request, every field checked.
    pub(super) fn ask(&self, request: CheckRequest) -> Result<Ask, DaemonError> {
        request.expect_few()?;
        request.expect_comparable()?;
        let target = self.target(&request.target)?;
        request.ask(target, walk_options())
    }
}

impl CheckRequest {
    /// Everything, by all linters.
    pub fn of(target: TargetId) -> Self {
        Self {
            target,
            paths: Vec::new(),
            only_paths: Vec::new(),
            revision: None,
            class: Class::Agent,
            dependents: false,
            new_only: false,
            select: Vec::new(),
            ignore: Vec::new(),
            kinds: Vec::new(),
            supersede: false,
            deadline: None,
            options: CheckOptions::default(),
        }
    }

    /// The request, every field checked. Files of `target` are found as `walk` and the request's options say.
    pub(super) fn ask<T>(self, target: T, walk: WalkOptions) -> Result<Ask<T>, DaemonError> {
        Ok(Ask {
            target,
            scope: Scope {
                // Each once: a file that is named twice is checked once.
                paths: fields::paths::<BTreeSet<_>>("paths", &self.paths)?.into_iter().collect(),
                only: fields::paths("only_paths", &self.only_paths)?,
                walk: self.options.walk(walk)?,
                configured: !self.options.isolated,
            },
            revision: self.revision,
            class: self.class,
            dependents: self.dependents,
            new_only: self.new_only,
            select: self.select,
            ignore: self.ignore,
            kinds: self.kinds,
            supersede: self.supersede,
            options: self.options.valid()?,
        })
    }

    /// The parent would not have the texts.
    fn expect_comparable(&self) -> Result<(), DaemonError> {
        match self.new_only && !self.options.texts.is_empty() {
            true => Err(DaemonError::invalid("options.texts", "they exclude `new_only`")),
            false => Ok(()),
        }
    }

    fn expect_few(&self) -> Result<(), DaemonError> {
        let longest = self.select.iter().chain(&self.ignore).map(String::len).max().unwrap_or(0);
        let counts = [
            ("paths", self.paths.len(), MAX_PATHS),
            ("only_paths", self.only_paths.len(), MAX_PATHS),
            ("select", self.select.len(), MAX_SELECTORS),
            ("ignore", self.ignore.len(), MAX_SELECTORS),
            ("kinds", self.kinds.len(), MAX_KINDS),
            ("bytes of a selector", longest, MAX_SELECTOR),
        ];
        counts
            .into_iter()
            .try_for_each(|(what, actual, limit)| DaemonError::expect_at_most(limit, actual, what))
    }
}

async fn within(
    deadline: Option<Duration>,
    check: impl Future<Output = Result<(), DaemonError>>,
) -> Result<(), DaemonError> {
    match deadline {
        None => check.await,
        Some(deadline) => {
            tokio::time::timeout(deadline, check).await.unwrap_or(Err(DaemonError::DeadlineExceeded))
        }
    }
}
