//! Servers that are asked for what they find: when they have finished loading, and again if they have not settled
//! meanwhile.

use std::time::Instant;

use lint::Cancel;
use lsp_client::{Call, RequestError, ServerStatus};
use overlay::WorkspacePath;
use serde_json::json;

use super::{AskError, Process, ROUNDS, Settled, tsserver};
use crate::{Barrier, actor::convert::Report};

pub(super) const PULL: &str = "textDocument/diagnostic";

/// Call for one document's diagnostics, under way.
pub(super) enum PendingReport {
    Pull(Call<Report>),
    Tsserver(tsserver::PendingReport),
}

impl Process {
    /// Asks for these open documents, in this order, and again if the server has not settled meanwhile.
    pub(super) fn pull(
        &mut self,
        units: &[&WorkspacePath],
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(Vec<Result<Report, RequestError>>, Settled), AskError> {
        let mut round = 1;
        loop {
            self.wait_for_rest(deadline, cancel)?;
            let reports = self.pull_once(units, deadline, cancel)?;
            self.listen();
            let settled = self.settled()?;
            let is_late = reports.iter().any(|it| matches!(it, Err(RequestError::TimedOut)));
            if round == ROUNDS || is_late || cancel.is_cancelled() || !matches!(settled, Settled::No) {
                // An answer ends a row of failures.
                self.failures = if is_late { self.failures } else { 0 };
                return Ok((reports, settled));
            }
            round += 1;
        }
    }

    fn pull_once(
        &mut self,
        units: &[&WorkspacePath],
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Vec<Result<Report, RequestError>>, AskError> {
        if self.documents()?.0.lacks_something() {
            return self.pull_one_by_one(units, deadline, cancel);
        }
        let calls: Vec<Result<PendingReport, _>> =
            units.iter().map(|it| self.call(it, deadline, cancel)).collect::<Result<_, AskError>>()?;
        let wait = |it: Result<PendingReport, _>| it.and_then(|it| it.wait(deadline, cancel));
        let reports: Vec<_> = calls.into_iter().map(wait).collect();
        self.check_alive()?;
        Ok(reports)
    }

    fn pull_one_by_one(
        &mut self,
        units: &[&WorkspacePath],
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Vec<Result<Report, RequestError>>, AskError> {
        let mut reports = Vec::new();
        for unit in units {
            self.remove_for(Some(unit), deadline, cancel)?;
            let asked = self.call(unit, deadline, cancel)?;
            reports.push(asked.and_then(|it| it.wait(deadline, cancel)));
            self.check_alive()?;
        }
        Ok(reports)
    }

    pub(super) fn call(
        &mut self,
        unit: &WorkspacePath,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Result<PendingReport, RequestError>, AskError> {
        let uri = self.uris.of(unit);
        let barrier = self.setup.profile.barrier;
        let running = self.running()?;
        running.is_refreshed = false;
        Ok(if barrier == Barrier::Tsserver {
            tsserver::ask(&running.client, &uri, deadline, cancel).map(PendingReport::Tsserver)
        } else {
            let params = json!({ "textDocument": { "uri": uri } });
            running.client.call(PULL, &params, deadline, cancel).map(PendingReport::Pull)
        })
    }

    /// A server that says when it has finished loading is not asked before.
    pub(super) fn wait_for_rest(&mut self, deadline: Instant, cancel: &Cancel) -> Result<(), AskError> {
        self.listen();
        while self.is_loading()? {
            let Some(event) = self.events.next(deadline, cancel) else {
                return Err(AskError::Pending("the server is still loading".to_owned()));
            };
            self.notice(event);
            self.check_alive()?;
        }
        Ok(())
    }

    fn is_loading(&mut self) -> Result<bool, AskError> {
        let tells = self.setup.profile.barrier == Barrier::PullWhenQuiescent;
        Ok(tells && !self.running()?.status.as_ref().is_some_and(|it| it.quiescent))
    }

    pub(super) fn settled(&mut self) -> Result<Settled, AskError> {
        if self.is_loading()? || self.running()?.is_refreshed {
            return Ok(Settled::No);
        }
        let unwell = self.running()?.status.as_ref().and_then(ServerStatus::unwell);
        let advice = self.setup.profile.when_unwell.as_ref();
        let advised = |it: String| advice.map_or_else(|| it.clone(), |advice| format!("{it}; {advice}"));
        Ok(unwell.map_or(Settled::Yes, |it| Settled::Ill(advised(it))))
    }
}

impl PendingReport {
    pub(super) fn wait(self, deadline: Instant, cancel: &Cancel) -> Result<Report, RequestError> {
        match self {
            Self::Pull(call) => call.wait(deadline, cancel),
            Self::Tsserver(asked) => asked.wait(deadline, cancel),
        }
    }
}
