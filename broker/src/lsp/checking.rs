//! Checks by the daemon, and their collected results.

use std::collections::BTreeMap;

use check_engine::{Incomplete, Subject, Unavailable, pipeline::Reported};
use linters::LinterKind;
use overlay::ContentHash;
use scheduler::Class;
use tokio_stream::StreamExt as _;
use workspaces::{CheckOptions, CheckRequest, ErrorKind, Event, RequestError, TargetId, Workspaces};

/// Result of a check.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Reported>,
    pub(super) incomplete: Vec<Incomplete>,
    /// Linters that are configured and cannot run.
    pub(super) unavailable: Vec<Unavailable>,
    /// Names of the linters that ran.
    pub(super) linters: Vec<String>,
}

/// Runs a check and collects its result. Dropping the future cancels the check.
pub(super) async fn check(workspaces: &dyn Workspaces, request: CheckRequest) -> Result<Found, RequestError> {
    let mut found = Found::default();
    stream(workspaces, request, |event| found.add(event)).await?;
    Ok(found)
}

/// Runs a check and passes on its events. Dropping the future cancels the check.
pub(super) async fn stream(
    workspaces: &dyn Workspaces,
    request: CheckRequest,
    mut take: impl FnMut(Event),
) -> Result<(), RequestError> {
    let mut events = workspaces.check(request).await?;
    let mut is_whole = false;
    while let Some(event) = events.next().await {
        let event = event?;
        is_whole = matches!(event, Event::Summary(_));
        take(event);
    }
    // Without a summary, the findings may be incomplete.
    let broke_off = || RequestError::new(ErrorKind::Unavailable, client::DAEMON_GONE, "the answer broke off");
    is_whole.then_some(()).ok_or_else(broke_off)
}

/// Request for the check of one file by linters of these kinds.
pub(super) fn about(target: TargetId, path: &str, kinds: &[LinterKind]) -> CheckRequest {
    CheckRequest {
        paths: vec![path.to_owned()],
        class: Class::Interactive,
        options: CheckOptions { force_exclude: true, ..CheckOptions::default() },
        kinds: kinds.to_vec(),
        ..CheckRequest::of(target)
    }
}

/// The file of an incomplete answer; empty if it concerns all files.
pub(super) fn path_of(it: &Incomplete) -> &str {
    match &it.subject {
        Subject::Everything => "",
        Subject::Argument(given) => given,
        Subject::Path(path) => path.as_str(),
    }
}

impl Found {
    pub(super) fn add(&mut self, event: Event) {
        match event {
            Event::Files(files) => self.findings.extend(files.into_iter().flat_map(|it| it.findings)),
            Event::Incomplete(all) => self.incomplete.extend(all),
            Event::Summary(it) => {
                self.linters = it.linters.into_iter().map(|it| it.linter.name).collect();
                self.unavailable = it.unavailable;
            }
            Event::Started(_) | Event::Excluded(_) => {}
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.incomplete.extend(other.incomplete);
    }

    /// Whether all findings are about these contents of their file, and not about an earlier or later one.
    pub(super) fn is_about(&self, contents: &[u8]) -> bool {
        let hash = ContentHash::of(contents);
        self.findings.iter().all(|it| it.0.file.content.is_none_or(|it| it == hash))
    }

    /// Splits the result into that of the file at `path`, and those of other files by path.
    pub(super) fn split(self, path: &str) -> (Self, BTreeMap<String, Self>) {
        let own = Self { linters: self.linters, ..Self::default() };
        let (mut own, mut others) = (own, BTreeMap::<String, Self>::new());
        for it in self.findings {
            let at = it.0.file.path.as_str();
            if at == path { &mut own } else { others.entry(at.to_owned()).or_default() }.findings.push(it);
        }
        for it in self.incomplete {
            let at = path_of(&it);
            // An entry without a path concerns all files.
            let is_own = at == path || at.is_empty();
            if is_own { &mut own } else { others.entry(at.to_owned()).or_default() }.incomplete.push(it);
        }
        (own, others)
    }
}
