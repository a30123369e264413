//! Checks of a view that a command has made, and runs of other commands in it: of the disk, of what git has in its place, or of either with texts over it.
//!
//! The daemon is a part of the command then: it keeps and watches nothing. The command waits for the whole answer, so that a baseline
//! is compared with all findings at once, and the answer is one report. A request may have any number of paths and selectors.

mod request;

use std::sync::Arc;

use linters::Catalogs;
use overlay::WalkOptions;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::{
    CheckEvents, CheckRequest, CheckSummary, Daemon, DaemonError, Event, TargetId,
    prepared::Prepared,
    view::{LocalView, OpenView},
};

/// Handle of the view; those of workspaces are numbers.
pub(super) const HANDLE: &str = "local";

impl Daemon {
    /// Makes a view the target of requests, in place of the one before. For a daemon of the caller's own process.
    pub fn open_view(&self, local: LocalView) -> TargetId {
        *self.local.lock() = Some(Arc::new(OpenView { local, linters: Mutex::default() }));
        TargetId::Workspace(HANDLE.to_owned())
    }

    pub(super) fn local_view(&self, target: &TargetId) -> Option<Arc<OpenView>> {
        match target {
            TargetId::Workspace(id) if id == HANDLE => self.local.lock().clone(),
            TargetId::Workspace(_) | TargetId::Branch(_) => None,
        }
    }

    /// The linters of a view, as its last request asked for them.
    pub(super) fn catalogs_of_view(&self, view: &Arc<OpenView>) -> Result<Arc<Catalogs>, DaemonError> {
        let last = view.linters.lock().clone();
        let everything = || CheckRequest::of(TargetId::Workspace(HANDLE.to_owned()));
        let linters = match last {
            Some(last) => last,
            None => self.linters_of_view(&everything().ask(Arc::clone(view), WalkOptions::default())?)?,
        };
        Ok(linters.at(&view.local.view)?)
    }

    /// Checks; the summary, which has the whole answer, is the one event.
    pub(super) fn check_view(
        self: &Arc<Self>,
        view: Arc<OpenView>,
        request: CheckRequest,
    ) -> Result<CheckEvents, DaemonError> {
        let it = self.prepare_view(view, request)?;
        let (events, received) = mpsc::channel(1);
        let daemon = Arc::clone(self);
        tokio::spawn(async move {
            let summary = tokio::select! {
                biased;
                () = events.closed() => return,
                summary = daemon.summary(&it) => summary,
            };
            let _client_left = events.send(summary.map(|it| Event::Summary(Box::new(it)))).await;
        });
        Ok(received)
    }

    async fn summary(&self, it: &Prepared) -> Result<CheckSummary, DaemonError> {
        let known = it.known()?;
        let inspected = self.inspect(it, known.as_ref().map(|it| &it.list)).await?;
        let summary = inspected.outcome.summary.clone();
        let local = it.answer(inspected, known.as_ref())?.map(Box::new);
        Ok(CheckSummary { local, ..summary.into() })
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use std::collections::BTreeMap;

    use linters::{plugins::Plugins, servers::Servers};
    use overlay::Memory;

    use super::*;
    #[cfg(target_os = "linux")]
    use crate::RunRequest;
    use crate::{
        BaselineRequest, CheckedView, Ephemeral, ErrorKind, RequestError, ViewChanges, ViewFiles,
        Workspaces as _,
    };

    fn daemon() -> Arc<Daemon> {
        let settings = Ephemeral { workers: 1, answers: None, build: "test" };
        Daemon::ephemeral(Plugins::none().unwrap(), Servers::of_user(), settings).unwrap()
    }

    /// Opens these files, of which some have changed if that is said.
    fn open(daemon: &Daemon, files: &[(&str, &str)], changes: Option<ViewChanges>) -> TargetId {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let local = LocalView::of(std::env::temp_dir(), Arc::new(view));
        let files = changes.map_or(ViewFiles::Requested, ViewFiles::Changed);
        daemon.open_view(LocalView { files, finds_unknown_rules: true, ..local })
    }

    async fn checked(daemon: &Arc<Daemon>, target: TargetId) -> Result<CheckedView, RequestError> {
        let mut events = daemon.check(CheckRequest::of(target)).map_err(RequestError::from)?;
        let Some(Event::Summary(summary)) = events.recv().await.unwrap().map(Some)? else { panic!() };
        assert!(events.recv().await.is_none(), "the summary is the one event");
        Ok(*summary.local.unwrap())
    }

    #[tokio::test]
    async fn an_ephemeral_daemon_opens_no_workspace() {
        let (daemon, folder) = (daemon(), tempfile::tempdir().unwrap());
        let error = daemon.open_workspace(folder.path().to_owned(), None).await.unwrap_err();
        assert_eq!(RequestError::from(error).kind, ErrorKind::Refused);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_view_runs_nothing_in_the_background() {
        let daemon = Daemon::for_runs(Servers::of_user(), shadow::Launcher::this_program()).unwrap();
        let command = RunRequest::of(open(&daemon, &[], None), ["true"]);
        let request = RunRequest { background: true, environment: Some(BTreeMap::new()), ..command };
        let refused = crate::Workspaces::run(&daemon, request).await.err().unwrap();
        assert_eq!(refused.fact("field"), Some("background"));
    }

    #[tokio::test]
    async fn the_answer_is_one_report() {
        let daemon = daemon();
        let changes = ViewChanges { not_utf8: 3, ..ViewChanges::default() };
        let first = open(&daemon, &[("a", "")], Some(changes));
        assert_eq!(checked(&daemon, first).await.unwrap().report.skipped.not_utf8, 3);
        let second = open(&daemon, &[("a", "")], None);
        assert_eq!(checked(&daemon, second).await.unwrap().report.skipped.not_utf8, 0, "another view");
    }

    #[tokio::test]
    async fn a_baseline_that_cannot_be_read_is_an_error_with_a_remedy() {
        let daemon = daemon();
        let files = [("broker.toml", "[baseline]\nfile = \"known.json\"\n"), ("known.json", "{")];
        let error = checked(&daemon, open(&daemon, &files, None)).await.unwrap_err();
        assert!(error.message().contains("known.json"), "{error}");
        assert_eq!(error.hint.as_deref(), Some("restore the file, or make it anew"));
        let check = CheckRequest::of(open(&daemon, &files[..1], None));
        let updated = daemon.update_baseline(BaselineRequest { check, prune: false }).await.unwrap();
        assert_eq!((updated.findings, updated.is_changed, updated.local.is_some()), (0, false, true));
    }

    #[tokio::test]
    async fn a_view_is_no_workspace() {
        let daemon = daemon();
        let target = open(&daemon, &[("a", "")], None);
        let read = daemon.read_file(&target, "a", crate::Side::Now, None).await;
        assert_eq!(read.unwrap_err().kind, ErrorKind::NotFound);
    }
}
