//! Context of a call: the workspace of its session, and a branch of it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use config::{AgentSettings, Configs};
use overlay::{Revision, View, WorkspacePath};
use syntax::Trees;
use workspaces::{
    BranchInfo, BranchRequest, Daemon, DaemonError, DiffRequest, DiffSide, FileChange, ForkRequest,
    TRIAL_LABEL, TargetId,
};

use crate::{indexes::Indexes, reply::ToolError, session::Session};

/// Context of a tool call.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) daemon: Arc<Daemon>,
    pub(crate) trees: Arc<Trees>,
    pub(crate) indexes: Arc<Indexes>,
    /// The handle of the workspace.
    pub(crate) workspace: String,
    pub(crate) session: Arc<Session>,
    /// The instant at which the caller is gone.
    pub(crate) deadline: Option<Instant>,
}

/// A branch that a call is about.
#[derive(Debug, Clone)]
pub(crate) struct BranchRef {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) revision: Revision,
}

/// View that a call reads: of a branch, or of the base as long as the session has none.
#[derive(Clone)]
pub(crate) struct CallView {
    pub(crate) target: TargetId,
    pub(crate) view: Arc<dyn View>,
    /// `None` for the base.
    pub(crate) branch: Option<String>,
    pub(crate) revision: Revision,
}

impl From<BranchInfo> for BranchRef {
    fn from(info: BranchInfo) -> Self {
        Self { id: info.id.to_string(), name: info.name, revision: info.revision }
    }
}

impl BranchRef {
    pub(crate) fn target(&self) -> TargetId {
        TargetId::Branch(self.id.clone())
    }
}

impl Context {
    /// The branch that is named, or the session's own; `None` as long as it has none.
    pub(crate) async fn branch(&self, named: Option<&str>) -> Result<Option<BranchRef>, ToolError> {
        let name = named.unwrap_or_else(|| self.session.branch());
        match self.find(name).await {
            Ok(branch) => Ok(Some(branch)),
            Err(DaemonError::NotFound { what: "branch", .. }) if named.is_none() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The branch that is named, or the session's own, forked from the base if need be.
    pub(crate) async fn branch_to_edit(&self, named: Option<&str>) -> Result<BranchRef, ToolError> {
        let _turn = self.session.forking.lock().await;
        match self.branch(named).await? {
            Some(branch) => Ok(branch),
            None => self.fork(TargetId::Workspace(self.workspace.clone()), self.session.branch()).await,
        }
    }

    /// The branch that is named, or the session's own, which has to be there.
    pub(crate) async fn expect_branch(&self, named: Option<&str>) -> Result<BranchRef, ToolError> {
        let none = || {
            ToolError::new("this session has no branch yet")
                .hint("its first edit makes one; or name one in `branch`")
        };
        self.branch(named).await?.ok_or_else(none)
    }

    /// A handle of another workspace is not found.
    async fn find(&self, branch: &str) -> Result<BranchRef, DaemonError> {
        let request = BranchRequest {
            workspace: Some(self.workspace.clone()),
            branch: branch.to_owned(),
            with_tree_hash: false,
            with_conflicts: false,
        };
        Ok(self.noted(self.daemon.get_branch(request).await?.info))
    }

    pub(crate) async fn fork(&self, parent: TargetId, name: &str) -> Result<BranchRef, ToolError> {
        self.forked(parent, name, BTreeMap::new()).await
    }

    /// A branch on which edits are tried, to be given to [`Self::discard_trial`].
    pub(crate) async fn fork_trial(&self, parent: TargetId) -> Result<BranchRef, ToolError> {
        self.forked(parent, "", BTreeMap::from([(TRIAL_LABEL.to_owned(), String::new())])).await
    }

    async fn forked(
        &self,
        parent: TargetId,
        name: &str,
        mut labels: BTreeMap<String, String>,
    ) -> Result<BranchRef, ToolError> {
        labels.insert("agent".to_owned(), self.session.branch().to_owned());
        let request = ForkRequest { parent, name: name.to_owned(), labels, request_id: None };
        Ok(self.noted(self.daemon.fork(request).await?))
    }

    /// The branch, which the session uses now.
    fn noted(&self, branch: BranchInfo) -> BranchRef {
        self.daemon.note_session(&branch.id);
        branch.into()
    }

    /// Returns the changes of a branch against its parent.
    pub(crate) async fn changes(&self, branch: &BranchRef) -> Result<Vec<FileChange>, ToolError> {
        let request = DiffRequest {
            branch: branch.id.clone(),
            against: DiffSide::Parent,
            with_patch: false,
            context_lines: None,
        };
        Ok(self.daemon.diff(request).await?.changes)
    }

    /// Drops a branch on which edits were tried. One that cannot be dropped is seen in the list of branches, and takes no
    /// answer away.
    pub(crate) async fn discard_trial(&self, trial: &BranchRef) {
        let _stays = self.daemon.discard(&trial.id).await;
    }

    /// Reads the settings for agents of this workspace from the disk. Settings that cannot be read may ask for anything.
    pub(crate) async fn settings(&self) -> Result<AgentSettings, ToolError> {
        let (base, _) = self.daemon.view(&TargetId::Workspace(self.workspace.clone())).await?;
        blocking(move || {
            let configs = Configs::new(&*base).workspace();
            Ok(configs.map_or_else(|_| unreadable(), |it| it.agents()))
        })
        .await
    }

    /// Returns the view that the call reads.
    pub(crate) async fn seen(&self, named: Option<&str>) -> Result<CallView, ToolError> {
        let branch = self.branch(named).await?;
        let target = match &branch {
            Some(branch) => branch.target(),
            None => TargetId::Workspace(self.workspace.clone()),
        };
        let (view, revision) = self.daemon.view(&target).await?;
        Ok(CallView { target, view, branch: branch.map(|it| it.name), revision })
    }
}

fn unreadable() -> AgentSettings {
    AgentSettings { mask_secrets: true, ..AgentSettings::default() }
}

/// A path as agents write it: relative to the workspace, with `./` in front or not.
pub(crate) fn path(field: &str, text: &str) -> Result<WorkspacePath, ToolError> {
    let bare = text.trim_start_matches("./").trim_end_matches('/');
    let bare = if bare == "." { "" } else { bare };
    WorkspacePath::new(bare).map_err(|error| {
        ToolError::new(format!("{field}: `{text}`: {error}"))
            .hint("paths are relative to the workspace's root")
    })
}

/// Raises a flag once the caller is gone, whose future has it.
#[derive(Default)]
struct EndsWithCaller(Arc<AtomicBool>);

impl Drop for EndsWithCaller {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Runs blocking work that checks whether its caller is gone, and then ends early.
pub(crate) async fn blocking_for_caller<T: Send + 'static>(
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let caller = EndsWithCaller::default();
    let is_gone = Arc::clone(&caller.0);
    blocking(move || work(&|| is_gone.load(Relaxed))).await
}

/// Does what blocks, beside the threads that answer.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(ToolError::new(format!("the call broke off: {error}; this is a bug in Broker")))
    })
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    /// The work goes on until it sees that its caller is gone: without that, the test does not end in time.
    #[test]
    fn work_is_told_that_its_caller_is_gone() {
        const TEST_TIMEOUT: Duration = Duration::from_secs(60);
        let (began, has_begun) = mpsc::channel();
        let (ended, has_ended) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let call = runtime.spawn(blocking_for_caller(move |is_gone| {
            began.send(is_gone()).unwrap();
            while !is_gone() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
            Ok(())
        }));
        assert!(!has_begun.recv_timeout(TEST_TIMEOUT).unwrap(), "it is there at first");
        call.abort();
        has_ended.recv_timeout(TEST_TIMEOUT).unwrap();
    }
}
