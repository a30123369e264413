//! Life cycle of a process: started when it is needed, again after it died, and ready only when its answers count.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lint::Cancel;
use lsp_client::{
    Broken, Client, EditPolicy, Epoch, Initialize, Limits, Options, PositionEncoding, RequestError, TICK,
    WorkspaceFolder, sleep, uri::of_folder,
};
use overlay::WorkspacePath;
use serde_json::Value;

use super::{AskError, Process, Running, pull::PULL, tsserver};
use crate::{
    Barrier, Ending,
    actor::{SHUTDOWN_TIMEOUT, Setup, convert::Report},
    profile::fill,
};

const LONGEST_PAUSE: Duration = Duration::from_secs(30);

impl Process {
    /// Returns the name and version that it has.
    pub(in crate::actor) fn start(
        &mut self,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Option<String>, AskError> {
        self.listen();
        self.bury();
        if self.running.is_none() {
            self.wait_for_another(deadline, cancel)?;
            let is_wanted = || !cancel.is_cancelled() && !self.stop.is_cancelled();
            self.status.admit(deadline, &is_wanted).map_err(AskError::Pending)?;
            self.epoch += 1;
            // The request that waits for it may be given up: the next one finds it started.
            match Client::start(&self.options(), &self.sink, &self.stop) {
                Ok(client) => {
                    let told = || self.setup.profile.version_in(&client.messages());
                    let version = client.server().map(str::to_owned).or_else(told);
                    self.status.started(&client, version);
                    self.running = Some(Running::new(client, self.watched.begin()));
                }
                Err(error) => {
                    self.status.not_started(Epoch(self.epoch), &error);
                    self.unable = Some(error.to_string());
                    self.fail();
                    return Err(AskError::Failed(error.to_string()));
                }
            }
            self.unable = None;
        }
        Ok(self.status.version())
    }

    /// Starts the process if needed, and waits until its answers count.
    pub(in crate::actor) fn make_ready(
        &mut self,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(), AskError> {
        self.start(deadline, cancel)?;
        if self.running()?.is_ready {
            return Ok(());
        }
        let setup = Arc::clone(&self.setup);
        for method in self.method().into_iter().chain(setup.profile.registers.as_deref()) {
            self.running()?.client.wait_for(method, deadline, cancel).map_err(|error| match error {
                RequestError::TimedOut => {
                    AskError::Pending(format!("the server does not offer `{method}` yet"))
                }
                other => other.into(),
            })?;
        }
        self.send_canary(deadline, cancel)?;
        self.running()?.is_ready = true;
        Ok(())
    }

    /// Method that the server must support before it is asked.
    fn method(&self) -> Option<&'static str> {
        match self.setup.profile.barrier {
            Barrier::Pull | Barrier::PullWhenQuiescent => Some(PULL),
            Barrier::Tsserver => Some(tsserver::METHOD),
            Barrier::Version | Barrier::NextPublish | Barrier::Reopen => None,
        }
    }

    /// Waits until it finds something where there surely is something.
    fn send_canary(&mut self, deadline: Instant, cancel: &Cancel) -> Result<(), AskError> {
        let setup = Arc::clone(&self.setup);
        let Some(canary) = &setup.profile.canary else { return Ok(()) };
        let path = WorkspacePath::new(&canary.path).map_err(|it| AskError::Failed(it.to_string()))?;
        let (documents, listener) = self.documents()?;
        if documents.document(&path).is_none() {
            documents.open_text(&path, &canary.text, &listener)?;
        }
        if !setup.profile.barrier.is_pull() {
            self.await_canary(&path, deadline, cancel)?;
        }
        let mut pause = TICK;
        while setup.profile.barrier.is_pull() && !self.finds_something(&path, deadline, cancel)? {
            sleep(pause, deadline, cancel)
                .map_err(|_| AskError::Pending("the server does not find anything yet".to_owned()))?;
            pause *= 2;
        }
        let (documents, listener) = self.documents()?;
        Ok(documents.close(&path, &listener)?)
    }

    fn finds_something(
        &mut self,
        path: &WorkspacePath,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<bool, AskError> {
        let report = self.call(path, deadline, cancel)??.wait(deadline, cancel)?;
        self.listen();
        Ok(matches!(report, Report::Full { items } if !items.is_empty()))
    }

    /// Returns the reason for which a process has died, and accounts for its death.
    pub(in crate::actor) fn bury(&mut self) -> Option<Broken> {
        self.running.as_ref().inspect(|it| it.client.stop_if_it_hangs());
        let reason = self.running.as_ref().and_then(|it| it.client.broken())?;
        // The process may still run, with a broken connection.
        let _ = self.running.take().map(|it| it.client.kill());
        self.fail();
        self.status.died(reason.to_string());
        Some(reason)
    }

    /// Ends the process without counting a failure: the next one is started as soon as it is needed.
    pub(in crate::actor) fn end(&mut self, grace: Duration, why: Ending) {
        if let Some(running) = self.running.take() {
            running.client.shutdown(grace.min(SHUTDOWN_TIMEOUT));
            self.status.ended(why);
        }
    }

    /// Waits for the pause after a crash; a server that cannot be started is not tried each time.
    fn wait_for_another(&self, deadline: Instant, cancel: &Cancel) -> Result<(), AskError> {
        let left = self.not_before.map(|it| it.saturating_duration_since(Instant::now()));
        let Some(pause) = left.filter(|it| !it.is_zero()) else { return Ok(()) };
        if let Some(reason) = &self.unable {
            return Err(AskError::Failed(reason.clone()));
        }
        let late = |_| AskError::Pending("the server died, and is started again later".to_owned());
        sleep(pause, deadline, cancel).map_err(late)
    }

    fn fail(&mut self) {
        let pause = self.setup.pause.saturating_mul(1 << self.failures.min(16));
        self.failures += 1;
        self.not_before = Some(Instant::now() + pause.min(LONGEST_PAUSE));
    }

    fn options(&self) -> Options {
        let Setup { profile, root, launch, limits, .. } = &*self.setup;
        let name = root.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
        let folder = WorkspaceFolder { uri: of_folder(root), name };
        let mut initialize = Initialize::new(vec![folder]);
        // Encoding of all editors, so that a server's answers can be passed to one unchanged.
        initialize.encodings = vec![PositionEncoding::Utf16];
        initialize.options = fill(&profile.options, root);
        initialize.capabilities = profile.capabilities.clone();
        let settings: Value = fill(&profile.settings, root);
        Options {
            launch: launch.clone(),
            initialize,
            settings,
            edits: EditPolicy::Refuse,
            epoch: Epoch(self.epoch),
            limits: Limits { cancels: profile.cancels, ..limits.clone() },
        }
    }
}
