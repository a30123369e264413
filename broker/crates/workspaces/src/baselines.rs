//! Baselines as they would be now, and the files that a check is about.

use std::{io, sync::Arc};

use bytes::Bytes;
use check_engine::{Incomplete, ListedFile, baseline::Baseline, pipeline::Request};
use config::SetupFailure;
use overlay::WorkspacePath;

use super::{
    CheckRequest, Daemon, DaemonError,
    prepared::{Prepared, configured_baseline, load},
    task::blocking,
    view::CheckedView,
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
        BaselineRequest { check, prune }: BaselineRequest,
    ) -> Result<UpdatedBaseline, DaemonError> {
        let it = Arc::new(self.prepare_check(check).await?);
        let own = Arc::clone(&it);
        let (path, old) = blocking(move || old_baseline(&own, prune)).await?;
        // All that is known is to be found, too, if it is to be known again.
        let mut inspected = self.inspect(&it, Some(&old).filter(|_| prune)).await?;
        let mut new = Baseline::clone(&old);
        match prune {
            true => new.prune(&inspected.stale),
            false => inspected.collected.make_known(&mut new, &*it.request.view, it.reach),
        }
        Ok(UpdatedBaseline {
            path,
            content: new.to_json().into(),
            findings: new.count() as u64,
            is_changed: new != *old,
            incomplete: inspected.collected.report.incomplete.clone(),
            local: it.answer(inspected, None)?.map(Box::new),
        })
    }

    /// The files that linters would be asked about.
    pub async fn list_checked_files(
        self: &Arc<Self>,
        request: CheckRequest,
    ) -> Result<ListedFiles, DaemonError> {
        let it = self.prepare_check(request).await?;
        blocking(move || Ok(listed(&it)?)).await
    }
}

/// The list as it is, and the file that the configuration names if that is where it is.
fn old_baseline(
    check: &Prepared,
    prune: bool,
) -> Result<(Option<WorkspacePath>, Arc<Baseline>), DaemonError> {
    if let Some(given) = &check.given {
        return Ok((None, Arc::clone(given)));
    }
    let request = &check.request;
    let Some(path) = configured_baseline(request)? else {
        let hint = "set `file` in the table `baseline` of broker.toml, or send a list".to_owned();
        return Err(DaemonError::Setup { message: "no baseline is named".to_owned(), hint: Some(hint) });
    };
    let known = match request.view.metadata(&path) {
        // There need not be a file that is about to be written.
        Err(error) if !prune && error.kind() == io::ErrorKind::NotFound => Baseline::default(),
        _ => load(request, &path)?,
    };
    Ok((Some(path), Arc::new(known)))
}

fn listed(check: &Prepared) -> Result<ListedFiles, SetupFailure> {
    let Request { view, lineup, wanted, .. } = &check.request;
    let files = wanted.files(&**view);
    let router = lineup.route(view, &files)?;
    let mut incomplete: Vec<_> = match &check.local {
        Some(local) => local.catalogs.broken(),
        None => router.missing().iter().filter_map(|it| it.clone().sorted().ok()).collect(),
    };
    incomplete.extend(Incomplete::unreadable(&files.skipped));
    Ok(ListedFiles { files: router.listing(&**view, &files.units), incomplete })
}
