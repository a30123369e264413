//! Tournaments.

use std::{collections::BTreeMap, time::Duration};

use broker_proto::{v1 as pb, v1::test_result::End};
use lint::LineColumn;
use overlay::{ContentHash, WorkspacePath};
use workspaces::{
    CandidateResult, ChangedFiles, ChangedFinding, Criterion, FindingChanges, Ranked, TestEnd, TestResult,
    Tournament, TournamentBase,
};

use super::{
    Answer,
    checks::{identity, severity},
    hash, maybe_hash, path, paths, some, there,
};
use crate::error::senseless;

pub(crate) fn tournament(it: pb::RunTournamentResponse) -> Answer<Tournament> {
    let criterion = |it: i32| there(criterion(it)?, "a criterion");
    let candidates: Vec<_> = it.candidates.into_iter().map(candidate).collect::<Answer<_>>()?;
    let ranked = |it: pb::RankedCandidate| ranked(&it, candidates.len());
    Ok(Tournament {
        base: base(there(it.base, "the base")?)?,
        linters: it.linters.into_iter().map(identity).collect::<Answer<_>>()?,
        order: it.order.into_iter().map(criterion).collect::<Answer<_>>()?,
        ranking: it.ranking.into_iter().map(ranked).collect::<Answer<_>>()?,
        discarded: it.discarded,
        not_asked: it.not_asked,
        candidates,
    })
}

fn base(it: pb::TournamentBase) -> Answer<TournamentBase> {
    Ok(TournamentBase {
        tree: hash(&it.tree_hash)?,
        files: hashed(it.files)?,
        files_not_listed: it.files_not_listed as usize,
        untraced: it.untraced_linters,
    })
}

fn hashed(files: Vec<pb::HashedFile>) -> Answer<BTreeMap<WorkspacePath, Option<ContentHash>>> {
    let file = |it: pb::HashedFile| Ok((path(&it.path)?, maybe_hash(&it.content_hash)?));
    files.into_iter().map(file).collect()
}

fn candidate(it: pb::CandidateResult) -> Answer<CandidateResult> {
    let findings = |all: Vec<pb::ChangedFinding>| all.into_iter().map(finding).collect::<Answer<_>>();
    Ok(CandidateResult {
        name: it.name,
        branch: some(it.branch_id),
        is_made: it.made,
        refused: it.refused,
        conflict: it.conflict,
        changed: changed(there(it.changed, "what a candidate changes")?)?,
        findings: FindingChanges {
            new_errors: it.new_errors as usize,
            new: it.new as usize,
            fixed: it.fixed as usize,
            new_listed: findings(it.new_findings)?,
            fixed_listed: findings(it.fixed_findings)?,
        },
        not_computed: it.not_computed,
        test: it.test.map(test).transpose()?,
    })
}

fn changed(it: pb::ChangedFiles) -> Answer<ChangedFiles> {
    Ok(ChangedFiles {
        tree: maybe_hash(&it.tree_hash)?,
        files: hashed(it.files)?,
        added: it.added as usize,
        removed: it.removed as usize,
        uncounted: paths(&it.uncounted_paths)?,
        patch: it.patch,
    })
}

fn finding(it: pb::ChangedFinding) -> Answer<ChangedFinding> {
    let severity = severity(it.severity());
    let at = there(it.at, "the place of a finding")?;
    Ok(ChangedFinding {
        path: path(&it.path)?,
        at: LineColumn { line: at.line, column: at.column },
        rule: it.rule,
        severity,
        message: it.message,
    })
}

fn test(it: pb::TestResult) -> Answer<TestResult> {
    let end = match there(it.end, "the end of a test")? {
        End::ExitCode(code) => TestEnd::Exited(code),
        End::EndedBy(reason) => TestEnd::Ended(reason),
        End::NotRun(reason) => TestEnd::NotRun(reason),
    };
    let (duration, left_out) = (Duration::from_millis(it.duration_ms), it.left_out_bytes as usize);
    Ok(TestResult { end, duration, output: it.output, left_out })
}

/// The candidate is one of `candidates`.
fn ranked(it: &pb::RankedCandidate, candidates: usize) -> Answer<Ranked> {
    let candidate = it.candidate as usize;
    if candidate >= candidates {
        return Err(senseless(format!("the candidate {candidate}")));
    }
    Ok(Ranked { rank: it.rank as usize, candidate, decided_by: criterion(it.decided_by)? })
}

fn criterion(it: i32) -> Answer<Option<Criterion>> {
    Ok(Some(match pb::Criterion::try_from(it) {
        Ok(pb::Criterion::Applies) => Criterion::Applies,
        Ok(pb::Criterion::TestsPass) => Criterion::TestsPass,
        Ok(pb::Criterion::FewestNewErrors) => Criterion::FewestNewErrors,
        Ok(pb::Criterion::FewestNewFindings) => Criterion::FewestNewFindings,
        Ok(pb::Criterion::MostFixed) => Criterion::MostFixed,
        Ok(pb::Criterion::FewestChangedLines) => Criterion::FewestChangedLines,
        Ok(pb::Criterion::Unspecified) => return Ok(None),
        Err(_) => return Err(senseless(format!("the criterion {it}"))),
    }))
}
