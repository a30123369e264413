//! Ranking of candidates by criteria, the first one that differs decides.

use std::{cmp::Ordering, collections::BTreeSet};

use super::{
    request::Criterion,
    result::{CandidateResult, Ranked},
};

/// Value by a criterion; the least is the best, and an unknown one is behind every known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Known(usize),
    /// Findings as far as they are known, where all candidates miss the same.
    AtLeast(usize),
    Unknown,
}

/// Ranks the candidates. Equal ones share a rank.
pub(super) fn rank(candidates: &[CandidateResult], order: &[Criterion]) -> Vec<Ranked> {
    let miss_the_same = miss_the_same(candidates);
    let values: Vec<Vec<Value>> = candidates
        .iter()
        .map(|it| order.iter().map(|criterion| value(it, *criterion, miss_the_same)).collect())
        .collect();
    let mut places: Vec<_> = (0..candidates.len()).collect();
    places.sort_by(|a, b| values[*a].cmp(&values[*b]));
    let mut ranking: Vec<Ranked> = Vec::new();
    for (index, candidate) in places.into_iter().enumerate() {
        let before = ranking.last().copied();
        let decided_by = before.and_then(|it| decisive(&values[it.candidate], &values[candidate], order));
        let rank = match before {
            Some(it) if decided_by.is_none() => it.rank,
            _ => index + 1,
        };
        ranking.push(Ranked { rank, candidate, decided_by });
    }
    ranking
}

fn decisive(a: &[Value], b: &[Value], order: &[Criterion]) -> Option<Criterion> {
    let differs = |it: &usize| a[*it].cmp(&b[*it]) != Ordering::Equal;
    (0..order.len()).find(differs).map(|it| order[it])
}

/// Whether incomplete candidates miss findings for the same reasons, so that they can be compared with each other.
fn miss_the_same(candidates: &[CandidateResult]) -> bool {
    let incomplete = candidates.iter().filter(|it| it.refused.is_none() && !it.is_computed());
    incomplete.map(|it| &it.not_computed).collect::<BTreeSet<_>>().len() <= 1
}

fn value(it: &CandidateResult, criterion: Criterion, miss_the_same: bool) -> Value {
    if it.refused.is_some() {
        return Value::Unknown;
    }
    let findings = |count: usize| match (it.is_computed(), miss_the_same) {
        (true, _) => Value::Known(count),
        (false, true) => Value::AtLeast(count),
        (false, false) => Value::Unknown,
    };
    match criterion {
        Criterion::Applies => Value::Known(usize::from(it.conflict.is_some())),
        Criterion::TestsPass => Value::Known(usize::from(it.test.as_ref().is_some_and(|it| !it.passed()))),
        Criterion::FewestNewErrors => findings(it.findings.new_errors),
        Criterion::FewestNewFindings => findings(it.findings.new),
        Criterion::MostFixed => findings(usize::MAX - it.findings.fixed),
        Criterion::FewestChangedLines if it.changed.uncounted.is_empty() => {
            Value::Known(it.changed.added + it.changed.removed)
        }
        Criterion::FewestChangedLines => Value::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tournament::result::{ChangedFiles, FindingChanges, TestEnd, TestResult};

    fn candidate(name: &str) -> CandidateResult {
        CandidateResult {
            name: name.to_owned(),
            branch: None,
            is_made: false,
            refused: None,
            conflict: None,
            changed: ChangedFiles::default(),
            findings: FindingChanges::default(),
            not_computed: Vec::new(),
            test: None,
        }
    }

    fn found(name: &str, new_errors: usize, new: usize, fixed: usize, added: usize) -> CandidateResult {
        let findings = FindingChanges { new_errors, new, fixed, ..FindingChanges::default() };
        let changed = ChangedFiles { added, ..ChangedFiles::default() };
        CandidateResult { findings, changed, ..candidate(name) }
    }

    fn tested(end: TestEnd, it: CandidateResult) -> CandidateResult {
        let test = TestResult { end, duration: Duration::ZERO, output: String::new(), left_out: 0 };
        CandidateResult { test: Some(test), ..it }
    }

    fn incomplete(reason: &str, it: CandidateResult) -> CandidateResult {
        CandidateResult { not_computed: vec![reason.to_owned()], ..it }
    }

    /// `rank name criterion` of each, as ranked.
    fn ranked(candidates: &[CandidateResult], order: &[Criterion]) -> Vec<String> {
        let line = |it: Ranked| {
            let decided_by = it.decided_by.map(|it| format!(" {it:?}")).unwrap_or_default();
            format!("{} {}{decided_by}", it.rank, candidates[it.candidate].name)
        };
        rank(candidates, order).into_iter().map(line).collect()
    }

    #[test]
    fn the_first_criterion_that_differs_decides() {
        let refused = CandidateResult { refused: Some("no such file".to_owned()), ..candidate("refused") };
        let conflict = CandidateResult { conflict: Some("a.py".to_owned()), ..candidate("conflict") };
        let conflict = tested(TestEnd::Exited(0), conflict);
        let passed = |it| tested(TestEnd::Exited(0), it);
        let all = [
            refused,
            conflict,
            tested(TestEnd::Exited(1), found("fails", 0, 0, 9, 1)),
            passed(found("error", 1, 1, 9, 1)),
            passed(found("warning", 0, 1, 9, 1)),
            passed(found("long", 0, 0, 1, 9)),
            passed(found("fixes none", 0, 0, 0, 1)),
            passed(found("best", 0, 0, 1, 8)),
        ];
        let expected = [
            "1 best",
            "2 long FewestChangedLines",
            "3 fixes none MostFixed",
            "4 warning FewestNewFindings",
            "5 error FewestNewErrors",
            "6 fails TestsPass",
            "7 conflict Applies",
            "8 refused Applies",
        ];
        assert_eq!(ranked(&all, &Criterion::ALL), expected);
    }

    #[test]
    fn equal_candidates_share_a_rank() {
        let all = [found("a", 1, 1, 0, 0), found("b", 0, 0, 0, 2), found("c", 0, 0, 0, 2)];
        assert_eq!(ranked(&all, &Criterion::ALL), ["1 b", "1 c", "3 a FewestNewErrors"]);
        let by_lines = [Criterion::FewestChangedLines];
        assert_eq!(ranked(&all, &by_lines), ["1 a", "2 b FewestChangedLines", "2 c"]);
    }

    #[test]
    fn what_is_not_known_beats_nothing() {
        let all = [incomplete("python: failed", found("a", 0, 0, 5, 0)), found("b", 2, 3, 0, 9)];
        let by_findings = [Criterion::FewestNewErrors, Criterion::FewestNewFindings, Criterion::MostFixed];
        for criterion in by_findings {
            assert_eq!(ranked(&all, &[criterion]), ["1 b".to_owned(), format!("2 a {criterion:?}")]);
        }
        let binary = ChangedFiles {
            uncounted: vec![overlay::WorkspacePath::new("a.png").unwrap()],
            ..Default::default()
        };
        let all = [CandidateResult { changed: binary, ..candidate("binary") }, found("long", 0, 0, 0, 99)];
        assert_eq!(ranked(&all, &Criterion::ALL), ["1 long", "2 binary FewestChangedLines"]);
        let not_run = tested(TestEnd::NotRun("no folder".to_owned()), candidate("not run"));
        let timed_out = tested(TestEnd::Ended("time".to_owned()), candidate("timed out"));
        assert_eq!(ranked(&[not_run, timed_out], &Criterion::ALL), ["1 not run", "1 timed out"]);
    }

    #[test]
    fn incomplete_candidates_are_compared_where_they_miss_the_same() {
        let same = [incomplete("x", found("a", 2, 2, 0, 0)), incomplete("x", found("b", 1, 1, 0, 0))];
        assert_eq!(ranked(&same, &Criterion::ALL), ["1 b", "2 a FewestNewErrors"]);
        let others = [incomplete("x", found("a", 2, 2, 0, 0)), incomplete("y", found("b", 1, 1, 0, 0))];
        assert_eq!(ranked(&others, &Criterion::ALL), ["1 a", "1 b"]);
    }
}
