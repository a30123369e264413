//! Checks by the daemon, and their collected results.

use std::collections::BTreeMap;

use broker_proto::{v1 as pb, v1::check_response::Event};
use overlay::ContentHash;
use tonic::Status;

use super::link::Link;

/// Result of a check.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) findings: Vec<pb::Finding>,
    pub(super) incomplete: Vec<pb::Incomplete>,
    /// Linters that are configured and cannot run.
    pub(super) unavailable: Vec<pb::UnavailableLinter>,
    /// Names of the linters that ran.
    pub(super) linters: Vec<String>,
}

/// Runs a check and collects its result. Dropping the future cancels the check.
pub(super) async fn check(link: &Link, request: pb::CheckRequest) -> Result<Found, Status> {
    let mut found = Found::default();
    stream(link, request, |event| match event {
        Event::Findings(it) => found.findings.extend(it.findings),
        Event::Incomplete(it) => found.incomplete.push(it),
        Event::Summary(it) => {
            found.linters = it.linters.into_iter().filter_map(|it| Some(it.linter?.name)).collect();
            found.unavailable = it.unavailable;
        }
        Event::Started(_) | Event::Excluded(_) => {}
    })
    .await?;
    Ok(found)
}

/// Runs a check and passes on its events. Dropping the future cancels the check.
pub(super) async fn stream(
    link: &Link,
    request: pb::CheckRequest,
    mut take: impl FnMut(Event),
) -> Result<(), Status> {
    let mut events = link.checks().check(request).await?.into_inner();
    let mut is_whole = false;
    while let Some(message) = events.message().await? {
        let Some(event) = message.event else { continue };
        is_whole = matches!(event, Event::Summary(_));
        take(event);
    }
    // Without a summary, the findings may be incomplete.
    is_whole.then_some(()).ok_or_else(|| Status::unavailable("the answer broke off"))
}

/// Request for the check of one file by linters of these kinds.
pub(super) fn about(target: pb::Target, path: &str, kinds: &[pb::LinterKind]) -> pb::CheckRequest {
    pb::CheckRequest {
        target: Some(target),
        paths: vec![path.to_owned()],
        priority: pb::Priority::Interactive.into(),
        force_exclude: true,
        kinds: kinds.iter().map(|it| (*it).into()).collect(),
        ..pb::CheckRequest::default()
    }
}

impl Found {
    pub(super) fn extend(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.incomplete.extend(other.incomplete);
    }

    /// Whether all findings are about these contents of their file, and not about an earlier or later one.
    pub(super) fn is_about(&self, contents: &[u8]) -> bool {
        let hash = ContentHash::of(contents).to_string();
        self.findings.iter().all(|it| it.content_hash.is_empty() || it.content_hash == hash)
    }

    /// Splits the result into that of the file at `path`, and those of other files by path.
    pub(super) fn split(self, path: &str) -> (Self, BTreeMap<String, Self>) {
        let own = Self { linters: self.linters, ..Self::default() };
        let (mut own, mut others) = (own, BTreeMap::<String, Self>::new());
        for it in self.findings {
            if it.path == path { &mut own } else { others.entry(it.path.clone()).or_default() }
                .findings
                .push(it);
        }
        for it in self.incomplete {
            // One without a path concerns all files.
            let is_own = it.path == path || it.path.is_empty();
            if is_own { &mut own } else { others.entry(it.path.clone()).or_default() }.incomplete.push(it);
        }
        (own, others)
    }
}
