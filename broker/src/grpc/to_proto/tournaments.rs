//! Tournaments.

use std::collections::BTreeMap;

use broker_proto::{v1 as pb, v1::test_result::End};
use overlay::{ContentHash, WorkspacePath};
use workspaces::{
    CandidateResult, ChangedFiles, ChangedFinding, Criterion, Ranked, TestEnd, TestResult, Tournament,
    TournamentBase,
};

use super::{count, linter, paths, severity};

pub(crate) fn tournament(it: Tournament) -> pb::RunTournamentResponse {
    pb::RunTournamentResponse {
        base: Some(base(it.base)),
        linters: it.linters.iter().map(linter).collect(),
        candidates: it.candidates.into_iter().map(candidate).collect(),
        order: it.order.iter().map(|it| criterion(*it).into()).collect(),
        ranking: it.ranking.iter().map(ranked).collect(),
        discarded: it.discarded,
        not_asked: it.not_asked,
    }
}

fn base(it: TournamentBase) -> pb::TournamentBase {
    pb::TournamentBase {
        tree_hash: it.tree.to_string(),
        files: hashed(it.files),
        files_not_listed: count(it.files_not_listed),
        untraced_linters: it.untraced,
    }
}

fn hashed(files: BTreeMap<WorkspacePath, Option<ContentHash>>) -> Vec<pb::HashedFile> {
    let file = |(path, hash): (WorkspacePath, Option<ContentHash>)| pb::HashedFile {
        path: path.to_string(),
        content_hash: text(hash),
    };
    files.into_iter().map(file).collect()
}

fn text(hash: Option<ContentHash>) -> String {
    hash.map(|it| it.to_string()).unwrap_or_default()
}

fn candidate(it: CandidateResult) -> pb::CandidateResult {
    pb::CandidateResult {
        name: it.name,
        branch_id: it.branch.unwrap_or_default(),
        made: it.is_made,
        refused: it.refused,
        conflict: it.conflict,
        changed: Some(changed(it.changed)),
        new_errors: count(it.findings.new_errors),
        new: count(it.findings.new),
        fixed: count(it.findings.fixed),
        new_findings: it.findings.new_listed.into_iter().map(finding).collect(),
        fixed_findings: it.findings.fixed_listed.into_iter().map(finding).collect(),
        not_computed: it.not_computed,
        test: it.test.map(test),
    }
}

fn changed(it: ChangedFiles) -> pb::ChangedFiles {
    pb::ChangedFiles {
        tree_hash: text(it.tree),
        files: hashed(it.files),
        added: it.added as u64,
        removed: it.removed as u64,
        uncounted_paths: paths(&it.uncounted),
        patch: it.patch,
    }
}

fn finding(it: ChangedFinding) -> pb::ChangedFinding {
    pb::ChangedFinding {
        path: it.path.to_string(),
        at: Some(pb::Position { line: it.at.line, column: it.at.column }),
        rule: it.rule,
        severity: severity(it.severity).into(),
        message: it.message,
    }
}

fn test(it: TestResult) -> pb::TestResult {
    let end = match it.end {
        TestEnd::Exited(code) => End::ExitCode(code),
        TestEnd::Ended(reason) => End::EndedBy(reason),
        TestEnd::NotRun(reason) => End::NotRun(reason),
    };
    pb::TestResult {
        end: Some(end),
        duration_ms: u64::try_from(it.duration.as_millis()).unwrap_or(u64::MAX),
        output: it.output,
        left_out_bytes: it.left_out as u64,
    }
}

fn ranked(it: &Ranked) -> pb::RankedCandidate {
    pb::RankedCandidate {
        rank: count(it.rank),
        candidate: count(it.candidate),
        decided_by: it.decided_by.map_or(pb::Criterion::Unspecified, criterion).into(),
    }
}

fn criterion(it: Criterion) -> pb::Criterion {
    match it {
        Criterion::Applies => pb::Criterion::Applies,
        Criterion::TestsPass => pb::Criterion::TestsPass,
        Criterion::FewestNewErrors => pb::Criterion::FewestNewErrors,
        Criterion::FewestNewFindings => pb::Criterion::FewestNewFindings,
        Criterion::MostFixed => pb::Criterion::MostFixed,
        Criterion::FewestChangedLines => pb::Criterion::FewestChangedLines,
    }
}
