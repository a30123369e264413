//! Servers that publish when they like. What is asked about is told once more, and what is published about that
//! is the answer.
//!
//! Once something was sent, this goes on until all that it brings about has come, even if the asker has gone
//! meanwhile: so nothing of an older state is under way when the next is told. A server that takes too long is
//! ended, which also drops what it would have said.

use std::{collections::BTreeSet, time::Instant};

use lint::Cancel;
use lsp_client::{ProtocolError, RequestError};
use overlay::WorkspacePath;
use serde_json::{Value, json, value::RawValue};

use super::{AskError, Process, Settled};
use crate::{
    Barrier,
    actor::convert::{Item, Report},
};

const PUBLISH: &str = "textDocument/publishDiagnostics";

/// A method that no server has, and so refuses after all that it said before.
const FENCE: &str = "broker/fence";

impl Process {
    /// Waits for the diagnostics that are published for these open documents.
    pub(super) fn published(
        &mut self,
        units: &[&WorkspacePath],
    ) -> Result<(Vec<Result<Report, RequestError>>, Settled), AskError> {
        let deadline = Instant::now() + self.setup.limits.publish;
        let awaited = self.touch(units)?;
        self.await_all(&awaited, deadline)?;
        self.fence(deadline)?;
        self.failures = 0;
        let running = self.running()?;
        running.documents.forget_news();
        let reports = units.iter().map(|it| report(running.heard.get(*it).map(|it| &**it))).collect();
        Ok((reports, Settled::Yes))
    }

    /// Waits for outstanding diagnostics before anything else is sent: those of documents that were sent for a question
    /// that then was not asked.
    pub(super) fn make_quiet(&mut self) -> Result<(), AskError> {
        self.listen();
        let is_owed = self.running()?.documents.news().next().is_some();
        if is_owed && self.setup.profile.barrier == Barrier::NextPublish {
            self.published(&[])?;
        }
        let running = self.running()?;
        running.heard.clear();
        running.documents.forget_news();
        Ok(())
    }

    /// Waits until it publishes something where there surely is something. It may have published before that
    /// there is nothing.
    pub(super) fn await_canary(
        &mut self,
        path: &WorkspacePath,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(), AskError> {
        self.listen();
        while self.running()?.heard.get(path).is_none_or(|it| it.get() == "[]") {
            let Some(event) = self.events.next(deadline, cancel) else {
                return Err(AskError::Pending("the server does not find anything yet".to_owned()));
            };
            self.notice(event);
            self.check_alive()?;
        }
        Ok(())
    }

    /// Keeps published diagnostics if they are for the document's current version, as the barrier requires.
    pub(super) fn hear(&mut self, uri: &str, version: Option<i64>, diagnostics: Box<RawValue>) {
        let barrier = self.setup.profile.barrier;
        let (Some(path), Some(running)) = (self.uris.path(uri), self.running.as_mut()) else { return };
        let current = running.documents.version(&path);
        let counts = match barrier {
            Barrier::Pull | Barrier::PullWhenQuiescent | Barrier::Tsserver => false,
            Barrier::Version | Barrier::Reopen => version.is_some() && version == current,
            Barrier::NextPublish => current.is_some() && version.is_none_or(|it| Some(it) == current),
        };
        if counts {
            running.heard.insert(path, diagnostics);
        }
    }

    /// Returns the documents about which something is published now.
    fn touch(&mut self, units: &[&WorkspacePath]) -> Result<BTreeSet<WorkspacePath>, AskError> {
        let barrier = self.setup.profile.barrier;
        let (documents, listener) = self.documents()?;
        for unit in units {
            if barrier == Barrier::Reopen {
                documents.reopen(unit, &listener)?;
            } else if !documents.is_news(unit) {
                documents.touch(unit, &listener)?;
            }
        }
        let units = units.iter().copied().cloned();
        Ok(match barrier {
            Barrier::NextPublish => units.chain(documents.news().cloned()).collect(),
            _ => units.collect(),
        })
    }

    fn await_all(&mut self, awaited: &BTreeSet<WorkspacePath>, deadline: Instant) -> Result<(), AskError> {
        self.listen();
        while !self.has_heard_of_all(awaited)? {
            let Some(event) = self.events.next(deadline, &self.stop) else { return Err(self.give_up()) };
            self.notice(event);
            self.check_alive()?;
        }
        Ok(())
    }

    fn has_heard_of_all(&mut self, awaited: &BTreeSet<WorkspacePath>) -> Result<bool, AskError> {
        let heard = &self.running()?.heard;
        Ok(awaited.iter().all(|it| heard.contains_key(it)))
    }

    /// Waits until the server has sent all earlier output, such as empty findings of a closed document, or the rest of
    /// findings in parts.
    fn fence(&mut self, deadline: Instant) -> Result<(), AskError> {
        let stop: Cancel = self.stop.clone();
        let answer = self.running()?.client.request::<_, Value>(FENCE, &json!({}), deadline, &stop);
        self.listen();
        match answer {
            Ok(_) | Err(RequestError::Refused(_)) => Ok(()),
            Err(RequestError::TimedOut | RequestError::Cancelled) => Err(self.give_up()),
            Err(other) => Err(other.into()),
        }
    }

    fn give_up(&mut self) -> AskError {
        if let Some(running) = &self.running {
            running.client.kill();
        }
        AskError::Pending("the server published nothing in time, and is started again".to_owned())
    }
}

fn report(heard: Option<&RawValue>) -> Result<Report, RequestError> {
    let heard = heard.ok_or(RequestError::TimedOut)?;
    let items: Vec<Item> = serde_json::from_str(heard.get())
        .map_err(|it| ProtocolError::BadAnswer { method: PUBLISH.to_owned(), reason: it.to_string() })?;
    Ok(Report::Full { items })
}
