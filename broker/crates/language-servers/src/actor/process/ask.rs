//! Questions to a process that has been switched to a view's state.

use std::{collections::BTreeMap, mem, sync::Arc, time::Instant};

use lint::Cancel;
use lsp_client::{RequestError, TICK, sleep};
use overlay::{View, WorkspacePath};
use serde_json::{Value, json};

use super::{AskError, Process, ROUNDS, SYMBOLS, Settled};
use crate::{
    NoAnswer, Profile, QueryResult, Question,
    profile::{Searches, Symbols},
    query::Asker,
};

type Answered = Result<QueryResult, NoAnswer>;

impl Process {
    /// Asks when the server has finished loading, and again if it has not settled meanwhile. A server that
    /// publishes when it likes has first published all about these documents.
    pub(in crate::actor) fn put(
        &mut self,
        question: &Question,
        documents: &[WorkspacePath],
        view: &Arc<dyn View>,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(Answered, Settled), AskError> {
        if !self.setup.profile.barrier.is_pull() {
            let open: Vec<_> = documents.iter().filter(|it| self.is_open(it)).collect();
            self.published(&open)?;
        }
        let mut round = 1;
        loop {
            self.wait_for_rest(deadline, cancel)?;
            self.wait_for_open_files(question, deadline, cancel)?;
            if matches!(question, Question::FindSymbols { .. }) {
                self.wait_for_list_of_files(deadline, cancel)?;
                self.load_packages(deadline, cancel)?;
            }
            let open = documents.iter().find(|it| self.is_open(it));
            self.remove_for(open, deadline, cancel)?;
            let answer = self.put_once(question, view, deadline, cancel)?;
            self.check_alive()?;
            self.listen();
            let settled = self.settled()?;
            let is_late = matches!(answer, Err(NoAnswer::Pending(_)));
            if round == ROUNDS || is_late || cancel.is_cancelled() || !matches!(settled, Settled::No) {
                self.failures = if is_late { self.failures } else { 0 };
                return Ok((answer, settled));
            }
            round += 1;
        }
    }

    fn put_once(
        &mut self,
        question: &Question,
        view: &Arc<dyn View>,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Answered, AskError> {
        let (setup, uris) = (Arc::clone(&self.setup), self.uris.clone());
        let running = self.running()?;
        running.is_refreshed = false;
        let client = running.client.clone();
        let open = |path| running.documents.document(path).map(|it| it.bytes.clone());
        let document = question.path().and_then(|it| Some((it.clone(), open(it)?)));
        let heard = question.path().and_then(|it| running.heard.get(it));
        // Diagnostics that cannot be parsed are reported in the answer to a check.
        let published = heard.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default();
        let mut wanted = || {
            self.listen();
            self.running.as_mut().map_or_else(Vec::new, |it| mem::take(&mut it.wanted))
        };
        let (uris, profile, wanted) = (&uris, &setup.profile, &mut wanted);
        let mut asker = Asker { client, uris, profile, view, document, published, deadline, cancel, wanted };
        let answer = question.ask(&mut asker);
        Ok(answer)
    }

    /// A server that says when it knows which files there are finds nothing in others before.
    fn wait_for_list_of_files(&mut self, deadline: Instant, cancel: &Cancel) -> Result<(), AskError> {
        let late = || AskError::Pending("the server is still looking which files there are".to_owned());
        while !self.has_listed_files()? {
            sleep(TICK, deadline, cancel).map_err(|_| late())?;
            self.check_alive()?;
        }
        Ok(())
    }

    fn has_listed_files(&mut self) -> Result<bool, AskError> {
        self.learn();
        Ok(self.running()?.has_listed_files)
    }

    /// A server that finds symbols only in packages that it has loaded is asked for the findings of an open file of
    /// each folder before, which it cannot tell without.
    fn load_packages(&mut self, deadline: Instant, cancel: &Cancel) -> Result<(), AskError> {
        if self.setup.profile.symbols != Symbols::Loaded {
            return Ok(());
        }
        let running = self.running()?;
        let mut by_folder = BTreeMap::new();
        for path in running.documents.all_open() {
            by_folder.entry(path.parent()).or_insert_with(|| path.clone());
        }
        for path in by_folder.values() {
            let asked = self.call(path, deadline, cancel)?;
            match asked.and_then(|it| it.wait(deadline, cancel)) {
                Ok(_) | Err(RequestError::Refused(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// A server that looks only into open files has to have read them: what it answers of each proves it.
    fn wait_for_open_files(
        &mut self,
        question: &Question,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(), AskError> {
        let Profile { searches, symbols, .. } = &self.setup.profile;
        let is_search = *searches == Searches::OpenFiles && question.searched().is_some();
        let is_symbols = *symbols == Symbols::OpenFiles && matches!(question, Question::FindSymbols { .. });
        if !is_search && !is_symbols {
            return Ok(());
        }
        let uris = self.uris.clone();
        let running = self.running()?;
        let params = |path| json!({ "textDocument": { "uri": uris.of(path) } });
        let ask = |path| running.client.call::<_, Value>(SYMBOLS, &params(path), deadline, cancel);
        let calls: Vec<_> = running.documents.all_open().map(ask).collect::<Result<_, RequestError>>()?;
        for call in calls {
            // A document that the server cannot read is no worse than a missing one.
            match call.wait(deadline, cancel) {
                Ok(_) | Err(RequestError::Refused(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
