//! Receipt of a tournament: what its ranking rests on, and what anyone can compute again.
//!
//! Everything but `observed` is the same wherever the same files, linters and test are.

use std::{collections::BTreeMap, path::Path};

use clap::ValueEnum as _;
use overlay::{ContentHash, WorkspacePath};
use serde::{Deserialize, Serialize};
use workspaces::{
    CandidateResult, ChangedFinding, Criterion, Ranked, TestCommand, TestEnd, TestResult, Tournament,
    TournamentBase,
};

use super::RankBy;

/// Version of the format.
pub(super) const FORMAT: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Receipt {
    pub(super) format: u32,
    /// Version of the program.
    pub(super) broker: String,
    pub(super) base: Base,
    pub(super) linters: Vec<Linter>,
    pub(super) test: Option<Test>,
    pub(super) order: Vec<String>,
    pub(super) candidates: Vec<Entry>,
    pub(super) ranking: Vec<Place>,
    pub(super) observed: Observed,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Base {
    pub(super) tree: String,
    pub(super) files: Hashes,
    pub(super) untraced_linters: Vec<String>,
}

/// Hashes of contents by path; `None` where there is no file.
type Hashes = BTreeMap<String, Option<String>>;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Linter {
    name: String,
    version: String,
    /// Hash of its code and settings, among them the path of the workspace.
    digest: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Test {
    pub(super) command: Vec<String>,
    /// `None` for the usual limit.
    pub(super) timeout_ms: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) refused: Option<String>,
    pub(super) conflict: Option<String>,
    pub(super) tree: Option<String>,
    files: Hashes,
    pub(super) patch: Option<String>,
    lines_added: usize,
    lines_removed: usize,
    files_without_lines: Vec<String>,
    new_errors: usize,
    new: usize,
    fixed: usize,
    new_findings: Vec<Finding>,
    fixed_findings: Vec<Finding>,
    not_computed: Vec<String>,
    test: Option<End>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Finding {
    path: String,
    line: u32,
    column: u32,
    rule: String,
    severity: String,
    message: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    ExitCode(i32),
    EndedBy(String),
    NotRun(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Place {
    rank: usize,
    candidate: String,
    decided_by: Option<String>,
}

/// Values that differ from one time to the next.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Observed {
    /// Hash of the workspace's path, which the digests of linters depend on.
    pub(super) folder: String,
    /// Files of the base that are not listed.
    base_files_not_listed: usize,
    candidates: Vec<Seen>,
    discarded: Vec<String>,
    #[serde(default)]
    not_asked: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Seen {
    name: String,
    branch_id: Option<String>,
    made: bool,
    test_ms: Option<u64>,
    test_output: Option<String>,
    test_output_left_out: Option<usize>,
}

impl Receipt {
    /// The receipt of a tournament in the workspace at `root`.
    pub(super) fn of(it: &Tournament, test: Option<&TestCommand>, root: &Path) -> Self {
        Self {
            format: FORMAT,
            broker: env!("CARGO_PKG_VERSION").to_owned(),
            base: Base::of(&it.base),
            linters: it.linters.iter().map(Linter::of).collect(),
            test: test.map(Test::of),
            order: it.order.iter().map(|it| name(*it)).collect(),
            candidates: it.candidates.iter().map(Entry::of).collect(),
            ranking: it.ranking.iter().map(|place| Place::of(place, &it.candidates)).collect(),
            observed: Observed {
                folder: ContentHash::of(root.as_os_str().as_encoded_bytes()).to_string(),
                base_files_not_listed: it.base.files_not_listed,
                candidates: it.candidates.iter().map(Seen::of).collect(),
                discarded: it.discarded.clone(),
                not_asked: it.not_asked.clone(),
            },
        }
    }
}

/// The criterion as `--rank-by` takes it.
pub(super) fn name(criterion: Criterion) -> String {
    let value = RankBy::of(criterion).to_possible_value();
    value.map(|it| it.get_name().to_owned()).unwrap_or_default()
}

/// The criterion of this name.
pub(super) fn criterion(name: &str) -> Option<Criterion> {
    RankBy::from_str(name, false).ok().map(RankBy::criterion)
}

fn hashes(all: &BTreeMap<WorkspacePath, Option<ContentHash>>) -> Hashes {
    all.iter().map(|(path, hash)| (path.to_string(), hash.map(|it| it.to_string()))).collect()
}

impl Base {
    fn of(it: &TournamentBase) -> Self {
        let (files, untraced_linters) = (hashes(&it.files), it.untraced.clone());
        Self { tree: it.tree.to_string(), files, untraced_linters }
    }
}

impl Linter {
    fn of(it: &lint::Identity) -> Self {
        Self { name: it.name.clone(), version: it.version.clone(), digest: it.digest.to_string() }
    }
}

impl Test {
    fn of(it: &TestCommand) -> Self {
        Self { command: it.command.clone(), timeout_ms: it.time.map(millis) }
    }
}

fn millis(it: std::time::Duration) -> u64 {
    u64::try_from(it.as_millis()).unwrap_or(u64::MAX)
}

impl Entry {
    fn of(it: &CandidateResult) -> Self {
        let (changed, findings) = (&it.changed, &it.findings);
        Self {
            name: it.name.clone(),
            refused: it.refused.clone(),
            conflict: it.conflict.clone(),
            tree: changed.tree.map(|it| it.to_string()),
            files: hashes(&changed.files),
            patch: changed.patch.clone(),
            lines_added: changed.added,
            lines_removed: changed.removed,
            files_without_lines: changed.uncounted.iter().map(ToString::to_string).collect(),
            new_errors: findings.new_errors,
            new: findings.new,
            fixed: findings.fixed,
            new_findings: findings.new_listed.iter().map(Finding::of).collect(),
            fixed_findings: findings.fixed_listed.iter().map(Finding::of).collect(),
            not_computed: it.not_computed.clone(),
            test: it.test.as_ref().map(End::of),
        }
    }
}

impl Finding {
    fn of(it: &ChangedFinding) -> Self {
        Self {
            path: it.path.to_string(),
            line: it.at.line,
            column: it.at.column,
            rule: it.rule.clone(),
            severity: it.severity.name().to_owned(),
            message: it.message.clone(),
        }
    }
}

impl End {
    fn of(it: &TestResult) -> Self {
        match &it.end {
            TestEnd::Exited(code) => Self::ExitCode(*code),
            TestEnd::Ended(reason) => Self::EndedBy(reason.clone()),
            TestEnd::NotRun(reason) => Self::NotRun(reason.clone()),
        }
    }
}

impl Place {
    fn of(it: &Ranked, candidates: &[CandidateResult]) -> Self {
        let candidate = candidates[it.candidate].name.clone();
        Self { rank: it.rank, candidate, decided_by: it.decided_by.map(name) }
    }
}

impl Seen {
    fn of(it: &CandidateResult) -> Self {
        let test = it.test.as_ref();
        Self {
            name: it.name.clone(),
            branch_id: it.branch.clone(),
            made: it.is_made,
            test_ms: test.map(|it| millis(it.duration)),
            test_output: test.map(|it| it.output.clone()),
            test_output_left_out: test.map(|it| it.left_out),
        }
    }
}
