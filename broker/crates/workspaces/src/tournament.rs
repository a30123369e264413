//! Tournament: candidates for one task, each on a branch of its own, ranked by what the linters say of them, by a test, and by
//! their size.
//!
//! All are compared with one base, as they are when the request comes. The result has what its ranking rests on, so that it can be
//! computed again: contents as hashes, linters with their digests, the test, the order of the criteria.

mod change;
mod entrant;
mod rank;
mod request;
mod result;
#[cfg(target_os = "linux")]
mod test_run;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    thread,
};

use check_engine::pipeline::Reported;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use lint::{Identity, Severity};
use overlay::{ContentHash, Snapshot, TreeHash, View, WalkOptions, WorkspacePath};

use self::{
    change::{MAX_PATCH, changed_files},
    entrant::{Entered, Entrant, MadeBranches},
};
pub use self::{
    request::{Candidate, CandidateChange, Criterion, Discard, TestCommand, TournamentRequest},
    result::{
        CandidateResult, ChangedFiles, ChangedFinding, FindingChanges, Ranked, TestEnd, TestResult,
        Tournament, TournamentBase,
    },
};
use super::{
    Daemon, DaemonError, OpenWorkspace,
    checked::{Checked, not_asked},
    task::blocking,
};

/// Candidates that are looked at at one time, each with a check and a test.
const MAX_AT_ONCE: usize = 4;

/// Findings of either kind that are listed of one candidate.
const MAX_FINDINGS: usize = 100;

/// Files of the base whose hashes are listed.
const MAX_FILES: usize = 1000;

/// Reasons that are told of one candidate.
const MAX_REASONS: usize = 20;

/// Base of the comparison.
struct Ground {
    workspace: Arc<OpenWorkspace>,
    view: Arc<dyn View>,
    /// `None` if no candidate could be made.
    ancestor: Option<Snapshot>,
    tree: TreeHash,
}

impl Daemon {
    /// Ranks candidates for one task.
    pub async fn tournament(self: &Arc<Self>, request: TournamentRequest) -> Result<Tournament, DaemonError> {
        let _running = self.running.begin();
        let (order, base_paths) = request.expect_sense()?;
        let target = self.target(&request.parent)?;
        let workspace = Arc::clone(target.workspace());
        workspace.expect_there()?;
        let (test, discard) = (request.test.clone(), request.discard);
        let made = MadeBranches::new(self);
        let entrants = self.enter(&workspace, request, &made).await?;
        let parent = target.view(None).await?.view;
        let ground = Ground::of(workspace, parent, &entrants).await?;
        let looked_at: Vec<_> =
            entrants.iter().map(|it| self.candidate(&ground, it, test.as_ref())).collect();
        let looked_at = stream::iter(looked_at).buffered(at_once()).try_collect::<Vec<_>>().await?;
        let (mut candidates, checked): (Vec<_>, Vec<_>) = looked_at.into_iter().unzip();
        let base = ground.base(&candidates, &checked, base_paths).await?;
        if ground.tree_now().await?.root() != base.tree {
            let reason = "files of the base changed meanwhile";
            candidates.iter_mut().for_each(|it| it.not_computed.push(reason.to_owned()));
        }
        let ranking = rank::rank(&candidates, &order);
        // Without the tests, who has lost is not known.
        let is_decided = candidates.iter().all(CandidateResult::is_tested);
        let discard = if is_decided || discard == Discard::Made { discard } else { Discard::Nothing };
        let discarded = self.discard_of(&entrants, &ranking, discard).await?;
        made.keep().await?;
        let (linters, not_asked) = (linters(&checked), not_asked(&checked));
        Ok(Tournament { base, linters, candidates, order, ranking, discarded, not_asked })
    }

    async fn candidate(
        self: &Arc<Self>,
        ground: &Ground,
        entrant: &Entrant,
        test: Option<&TestCommand>,
    ) -> Result<(CandidateResult, Checked), DaemonError> {
        let mut result = CandidateResult::of(entrant);
        let (Ok(Entered { cell, snapshot, .. }), Some(ancestor)) = (&entrant.entered, &ground.ancestor)
        else {
            return Ok((result, Checked::default()));
        };
        let snapshot = snapshot.since(ancestor);
        let checked = self.check_snapshot(&ground.workspace, cell, &snapshot, None);
        let tested = async {
            match test {
                Some(test) => Some(self.test(cell, snapshot.revision(), test).await),
                None => None,
            }
        };
        let (checked, changed, tested) = tokio::join!(checked, ground.changed(&snapshot), tested);
        let checked = checked?;
        (result.changed, result.test) = (changed?, tested);
        result.findings = FindingChanges::of(&checked);
        result.not_computed = reasons(&checked.incomplete);
        Ok((result, checked))
    }

    /// Discards the branches that are not wanted any more; returns the names of their candidates.
    async fn discard_of(
        self: &Arc<Self>,
        entrants: &[Entrant],
        ranking: &[Ranked],
        discard: Discard,
    ) -> Result<Vec<String>, DaemonError> {
        let is_unwanted = |it: &&Ranked| {
            let (is_loser, is_made) = (it.rank > 1, entrants[it.candidate].is_made);
            match discard {
                Discard::Nothing => false,
                Discard::MadeLosers => is_loser && is_made,
                Discard::Losers => is_loser,
                Discard::Made => is_made,
            }
        };
        let mut discarded = Vec::new();
        for it in ranking.iter().filter(is_unwanted) {
            let entrant = &entrants[it.candidate];
            let Ok(Entered { cell, snapshot, .. }) = &entrant.entered else { continue };
            if self.discard_at(&cell.id, snapshot.revision()).await? {
                discarded.push(entrant.name.clone());
            }
        }
        Ok(discarded)
    }

    #[cfg(not(target_os = "linux"))]
    async fn test(&self, _: &super::BranchCell, _: overlay::Revision, _: &TestCommand) -> TestResult {
        TestResult::not_run("commands on branches are run on Linux only".to_owned())
    }
}

/// Number of candidates that are looked at at one time.
fn at_once() -> usize {
    thread::available_parallelism().map_or(1, |it| it.get().min(MAX_AT_ONCE))
}

impl Ground {
    async fn of(
        workspace: Arc<OpenWorkspace>,
        parent: Arc<dyn View>,
        entrants: &[Entrant],
    ) -> Result<Self, DaemonError> {
        let entered = entrants.iter().filter_map(|it| it.entered.as_ref().ok());
        let snapshots: Vec<_> = entered.map(|it| it.snapshot.clone()).collect();
        let ancestor = Snapshot::common_ancestor(&snapshots);
        let view = ancestor.clone().map_or(parent, |it| Arc::new(it) as Arc<dyn View>);
        let tree = hashed(&view).await?;
        Ok(Self { workspace, view, ancestor, tree })
    }

    async fn tree_now(&self) -> Result<TreeHash, DaemonError> {
        hashed(&self.view).await
    }

    async fn changed(&self, snapshot: &Snapshot) -> Result<ChangedFiles, DaemonError> {
        let Some(ancestor) = self.ancestor.clone() else { return Ok(ChangedFiles::default()) };
        let (snapshot, tree) = (snapshot.clone(), self.tree.clone());
        blocking(move || changed_files(&snapshot, &ancestor, &tree).map_err(DaemonError::unreadable)).await
    }

    /// The base with its files at `paths`, or with those that candidates change or linters read.
    async fn base(
        &self,
        candidates: &[CandidateResult],
        checked: &[Checked],
        paths: Vec<WorkspacePath>,
    ) -> Result<TournamentBase, DaemonError> {
        let mut paths: BTreeSet<_> = paths.into_iter().collect();
        if paths.is_empty() {
            paths.extend(candidates.iter().flat_map(|it| it.changed.files.keys()).cloned());
            let reads = checked.iter().flat_map(|it| &it.reads);
            reads.for_each(|(_, reads)| paths.extend(reads.contents().cloned()));
        }
        let files_not_listed = paths.len().saturating_sub(MAX_FILES);
        let view = Arc::clone(&self.view);
        let hash = move |path: WorkspacePath| {
            let hash = view.hash(&path).ok();
            (path, hash)
        };
        let files = move || Ok(paths.into_iter().take(MAX_FILES).map(hash).collect::<BTreeMap<_, _>>());
        let untraced: BTreeSet<_> =
            checked.iter().flat_map(|it| &it.untraced).map(|(linter, _)| linter.to_string()).collect();
        Ok(TournamentBase {
            tree: self.tree.root(),
            files: blocking::<BTreeMap<WorkspacePath, Option<ContentHash>>>(files).await?,
            files_not_listed,
            untraced: untraced.into_iter().collect(),
        })
    }
}

async fn hashed(view: &Arc<dyn View>) -> Result<TreeHash, DaemonError> {
    let view = Arc::clone(view);
    blocking(move || overlay::tree_hash(&*view, &WalkOptions::default()).map_err(DaemonError::unreadable))
        .await
}

impl CandidateResult {
    /// Nothing of it is computed yet.
    fn of(it: &Entrant) -> Self {
        let entered = it.entered.as_ref().ok();
        let patch = it.given_patch.clone().filter(|patch| entered.is_none() && patch.len() <= MAX_PATCH);
        Self {
            name: it.name.clone(),
            branch: entered.map(|it| it.cell.id.to_string()),
            is_made: it.is_made,
            refused: it.entered.as_ref().err().cloned(),
            conflict: entered.and_then(|it| it.conflict.clone()),
            changed: ChangedFiles { patch, ..ChangedFiles::default() },
            findings: FindingChanges::default(),
            not_computed: Vec::new(),
            test: None,
        }
    }
}

impl FindingChanges {
    fn of(checked: &Checked) -> Self {
        let is_error = |it: &&Reported| it.0.severity == Severity::Error;
        Self {
            new_errors: checked.new.iter().filter(is_error).count(),
            new: checked.new.len(),
            fixed: checked.fixed.len(),
            new_listed: listed(&checked.new),
            fixed_listed: listed(&checked.fixed),
        }
    }
}

/// The first findings by path and place.
fn listed(findings: &[Reported]) -> Vec<ChangedFinding> {
    let mut all: Vec<_> = findings.iter().map(|it| ChangedFinding::of(&it.0)).collect();
    all.sort();
    all.truncate(MAX_FINDINGS);
    all
}

fn reasons(all: &BTreeSet<String>) -> Vec<String> {
    let more = all.len().saturating_sub(MAX_REASONS);
    let more = (more > 0).then(|| format!("{more} more reasons are not listed"));
    all.iter().take(MAX_REASONS).cloned().chain(more).collect()
}

/// The linters of all checks, each once.
fn linters(checked: &[Checked]) -> Vec<Identity> {
    let key = |it: &Identity| (it.name.clone(), it.version.clone(), it.digest);
    let all = checked.iter().flat_map(|it| &it.linters).map(|it| (key(it), it.clone()));
    all.collect::<BTreeMap<_, _>>().into_values().collect()
}

impl TestResult {
    fn not_run(reason: String) -> Self {
        let end = TestEnd::NotRun(reason);
        Self { end, duration: std::time::Duration::ZERO, output: String::new(), left_out: 0 }
    }
}
