//! Baselines as they would be now, and the files that a check is about.

use std::{io, sync::Arc};

use bytes::Bytes;
use checker::{
    Incomplete, ListedFile,
    baseline::Baseline,
    pipeline::{self, BaselineUse, Collector, Reach, Request},
};
use config::{Configs, SetupFailure};
use overlay::WorkspacePath;

use super::{
    CheckRequest, Daemon, DaemonError,
    ask::{Ask, refused},
    task::blocking,
};

/// A check whose findings are to be known.
#[derive(Debug, Clone)]
pub struct BaselineRequest {
    /// Request for the check. Its option `baseline` is the old list, in place of the one that the configuration names.
    pub check: CheckRequest,
    /// Only takes out what is not found any more.
    pub prune: bool,
}

/// A baseline as it would be now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdatedBaseline {
    /// The file that the configuration names; `None` if the request has the old list.
    pub path: Option<WorkspacePath>,
    pub content: Bytes,
    /// Number of findings in the baseline.
    pub findings: u64,
    /// Gaps of the check. Entries of files that it did not answer for stay as they were.
    pub incomplete: Vec<Incomplete>,
}

/// The files that a check asks linters about.
#[derive(Debug, Clone, Default)]
pub struct ListedFiles {
    /// Sorted by path.
    pub files: Vec<ListedFile>,
    /// Gaps of the check that are known before anything is checked.
    pub incomplete: Vec<Incomplete>,
}

impl Daemon {
    /// The baseline with what is found now, or without what is not found any more. Writes nothing.
    pub async fn update_baseline(
        self: &Arc<Self>,
        request: BaselineRequest,
    ) -> Result<UpdatedBaseline, DaemonError> {
        let prune = request.prune;
        let (ask, mut check) = self.asked(request.check).await?;
        let reach = Reach { every_rule: ask.asks_every_rule(), every_file: ask.is_of_everything() };
        let own = check.clone();
        let (path, mut known) = blocking(move || old_baseline(&ask, &own, prune)).await?;
        // All that is known is to be found, too.
        check.policy.baseline = BaselineUse::Later;
        let mut collector = Collector::new(Arc::new(|_| ()));
        let checked = pipeline::check(&self.engine, &self.policy_cache, &check, &mut collector).await;
        let mut collected = collector.finish(&checked.map_err(refused)?);
        if prune {
            let stale = collected.leave_out_known(&known, &*check.view, reach);
            known.prune(&stale);
        } else {
            collected.make_known(&mut known, &*check.view, reach);
        }
        let (content, findings) = (known.to_json().into(), known.count() as u64);
        Ok(UpdatedBaseline { path, content, findings, incomplete: collected.report.incomplete })
    }

    /// The files that linters would be asked about.
    pub async fn list_checked_files(
        self: &Arc<Self>,
        request: CheckRequest,
    ) -> Result<ListedFiles, DaemonError> {
        let (_, check) = self.asked(request).await?;
        blocking(move || Ok(listed(&check)?)).await
    }

    async fn asked(self: &Arc<Self>, request: CheckRequest) -> Result<(Ask, Request), DaemonError> {
        let ask = self.ask(request)?;
        let view = ask.target.view(ask.revision).await?;
        let check = self.request(&ask, &view).await?;
        Ok((ask, check))
    }
}

/// The list as it is, and the file that the configuration names if that is where it is.
fn old_baseline(
    ask: &Ask,
    check: &Request,
    prune: bool,
) -> Result<(Option<WorkspacePath>, Baseline), DaemonError> {
    if let Some(given) = &ask.options.baseline {
        return Ok((None, Baseline::clone(given)));
    }
    let configs = if check.policy.configured { Configs::new(&*check.view) } else { Configs::isolated() };
    let named = configs.workspace().map_err(SetupFailure::from)?.baseline().cloned();
    let Some(path) = named else {
        let hint = "set `file` in the table `baseline` of broker.toml, or send a list".to_owned();
        return Err(DaemonError::Setup { message: "no baseline is named".to_owned(), hint: Some(hint) });
    };
    let known = match check.view.metadata(&path) {
        // There need not be a file that is about to be written.
        Err(error) if !prune && error.kind() == io::ErrorKind::NotFound => Baseline::default(),
        _ => Baseline::load(&*check.view, &path).map_err(|it| SetupFailure::new(it.to_string()))?,
    };
    Ok((Some(path), known))
}

fn listed(check: &Request) -> Result<ListedFiles, SetupFailure> {
    let files = check.wanted.files(&*check.view);
    let router = check.lineup.route(&check.view, &files)?;
    let missing = router.missing().iter().filter_map(|it| it.clone().sorted().ok());
    let incomplete = missing.chain(Incomplete::unreadable(&files.skipped)).collect();
    Ok(ListedFiles { files: router.listing(&*check.view, &files.units), incomplete })
}
