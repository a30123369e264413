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
    local::CheckedView,
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
#[derive(Debug, Clone)]
pub struct UpdatedBaseline {
    /// The file that the configuration names; `None` if the request has the old list.
    pub path: Option<WorkspacePath>,
    pub content: Bytes,
    /// Number of findings in the baseline.
    pub findings: u64,
    /// Whether it lists other findings than before, as far as that is known.
    pub is_changed: bool,
    /// Gaps of the check. Entries of files that it did not answer for stay as they were.
    pub incomplete: Vec<Incomplete>,
    /// The check that it is made of, without what is known now; of a view of this process.
    pub local: Option<Box<CheckedView>>,
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
        if let Some(view) = self.local_view(&request.check.target) {
            return self.update_baseline_of_view(view, request).await;
        }
        let prune = request.prune;
        let (ask, mut check) = self.asked(request.check).await?;
        let reach = Reach { every_rule: ask.asks_every_rule(), every_file: ask.is_of_everything() };
        let own = check.clone();
        let (path, known) = blocking(move || old_baseline(&ask, &own, prune)).await?;
        // All that is known is to be found, too.
        check.policy.baseline = BaselineUse::Later;
        let mut collector = Collector::new(Arc::new(|_| ()));
        let checked = pipeline::check(&self.engine, &self.policy_cache, &check, &mut collector).await;
        let mut collected = collector.finish(&checked.map_err(refused)?);
        let mut new = known.clone();
        if prune {
            new.prune(&collected.leave_out_known(&known, &*check.view, reach));
        } else {
            collected.make_known(&mut new, &*check.view, reach);
        }
        let incomplete = collected.report.incomplete;
        Ok(UpdatedBaseline { path, incomplete, ..UpdatedBaseline::of(&known, &new) })
    }

    /// The files that linters would be asked about.
    pub async fn list_checked_files(
        self: &Arc<Self>,
        request: CheckRequest,
    ) -> Result<ListedFiles, DaemonError> {
        if let Some(view) = self.local_view(&request.target) {
            return self.list_view(view, request);
        }
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

impl UpdatedBaseline {
    /// The list `new`, which was `old`.
    pub(super) fn of(old: &Baseline, new: &Baseline) -> Self {
        Self {
            path: None,
            content: new.to_json().into(),
            findings: new.count() as u64,
            is_changed: new != old,
            incomplete: Vec::new(),
            local: None,
        }
    }
}

/// The list as it is, and the file that the configuration names if that is where it is.
pub(super) fn old_baseline<T>(
    ask: &Ask<T>,
    check: &Request,
    prune: bool,
) -> Result<(Option<WorkspacePath>, Baseline), DaemonError> {
    if let Some(given) = &ask.options.baseline {
        return Ok((None, Baseline::clone(given)));
    }
    let Some(path) = configured_baseline(check)? else {
        let hint = "set `file` in the table `baseline` of broker.toml, or send a list".to_owned();
        return Err(DaemonError::Setup { message: "no baseline is named".to_owned(), hint: Some(hint) });
    };
    let known = match check.view.metadata(&path) {
        // There need not be a file that is about to be written.
        Err(error) if !prune && error.kind() == io::ErrorKind::NotFound => Baseline::default(),
        _ => load(check, &path)?,
    };
    Ok((Some(path), known))
}

/// Path of the baseline that the configuration of the view names.
pub(super) fn configured_baseline(check: &Request) -> Result<Option<WorkspacePath>, SetupFailure> {
    let configs = if check.policy.configured { Configs::new(&*check.view) } else { Configs::isolated() };
    Ok(configs.workspace()?.baseline().cloned())
}

pub(super) fn load(check: &Request, path: &WorkspacePath) -> Result<Baseline, SetupFailure> {
    let remedy = "restore the file, or make it anew";
    Baseline::load(&*check.view, path).map_err(|it| SetupFailure::new(it.to_string()).hint(remedy))
}

fn listed(check: &Request) -> Result<ListedFiles, SetupFailure> {
    let files = check.wanted.files(&*check.view);
    let router = check.lineup.route(&check.view, &files)?;
    let missing = router.missing().iter().filter_map(|it| it.clone().sorted().ok());
    let incomplete = missing.chain(Incomplete::unreadable(&files.skipped)).collect();
    Ok(ListedFiles { files: router.listing(&*check.view, &files.units), incomplete })
}
