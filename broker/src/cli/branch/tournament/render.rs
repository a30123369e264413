//! Text of a tournament.

use std::fmt::Write as _;

use lint::printable;
use workspaces::{CandidateResult, ChangedFinding, Criterion, Ranked, TestEnd, TestResult, Tournament};

use crate::{cli::words, client::Opened};

/// Findings of one candidate that are shown; a receipt has more.
const SHOWN: usize = 10;

/// Lines of a test that failed.
const LINES: usize = 20;

pub(super) fn text(it: &Tournament, open: &Opened) -> String {
    let mut text = String::new();
    for ranked in &it.ranking {
        let is_tie = it.ranking.iter().filter(|other| other.rank == ranked.rank).count() > 1;
        candidate(ranked, &it.candidates[ranked.candidate], is_tie, open, &mut text);
    }
    let order: Vec<_> = it.order.iter().map(|it| sentence(*it)).collect();
    let _to_a_string = writeln!(text, "order: {}", order.join("; "));
    for sentence in &it.not_asked {
        let _to_a_string = writeln!(text, "{}", printable(sentence));
    }
    for name in &it.discarded {
        let _to_a_string = writeln!(text, "discarded {}", printable(name));
    }
    text
}

/// Criterion, in words.
fn sentence(it: Criterion) -> &'static str {
    match it {
        Criterion::Applies => "no refused edit and no conflict",
        Criterion::TestsPass => "test passed",
        Criterion::FewestNewErrors => "fewest new errors",
        Criterion::FewestNewFindings => "fewest new findings",
        Criterion::MostFixed => "most fixed",
        Criterion::FewestChangedLines => "fewest changed lines",
    }
}

fn candidate(ranked: &Ranked, it: &CandidateResult, is_tie: bool, open: &Opened, text: &mut String) {
    let tie = if is_tie { " (tie)" } else { "" };
    let behind = ranked.decided_by.map(|it| format!("  behind by: {}", sentence(it))).unwrap_or_default();
    let _to_a_string =
        writeln!(text, "{}{tie} {}  {}{behind}", ranked.rank, printable(&it.name), facts(it).join(", "));
    if let Some(reason) = it.refused.as_ref().or(it.conflict.as_ref()) {
        let _to_a_string = writeln!(text, "  {}", printable(reason));
    }
    for (what, all, total) in [
        ("new", &it.findings.new_listed, it.findings.new),
        ("fixed", &it.findings.fixed_listed, it.findings.fixed),
    ] {
        all.iter().take(SHOWN).for_each(|it| finding(what, it, open, text));
        let more = total - all.len().min(SHOWN);
        if more > 0 {
            let _to_a_string = writeln!(text, "  {what}: {more} more");
        }
    }
    for reason in &it.not_computed {
        let _to_a_string = writeln!(text, "  not computed: {}", printable(reason));
    }
    it.test.iter().for_each(|it| test_output(it, text));
}

fn facts(it: &CandidateResult) -> Vec<String> {
    if it.refused.is_some() {
        return vec!["refused".to_owned()];
    }
    let (findings, changed) = (&it.findings, &it.changed);
    let count = |count: usize, what: &str| words::counted(count as u64, what);
    let mut facts: Vec<_> = it.conflict.iter().map(|_| "conflict".to_owned()).collect();
    facts.extend(it.test.as_ref().map(tested));
    if !it.is_computed() {
        facts.push("not all computed".to_owned());
    }
    facts.push(count(findings.new_errors, "new error"));
    facts.push(count(findings.new, "new finding"));
    facts.push(format!("{} fixed", findings.fixed));
    facts.push(format!("+{} -{} in {}", changed.added, changed.removed, count(changed.files.len(), "file")));
    if !changed.uncounted.is_empty() {
        facts.push(format!("{} without lines", count(changed.uncounted.len(), "file")));
    }
    facts
}

fn tested(it: &TestResult) -> String {
    let time = format!("{:.1} s", it.duration.as_secs_f64());
    match &it.end {
        TestEnd::Exited(0) => format!("test passed in {time}"),
        TestEnd::Exited(code) => format!("test failed with {code} in {time}"),
        TestEnd::Ended(reason) => format!("test ended: {}", printable(reason)),
        TestEnd::NotRun(reason) => format!("test not run: {}", printable(reason)),
    }
}

fn finding(what: &str, it: &ChangedFinding, open: &Opened, text: &mut String) {
    let ChangedFinding { path, at, rule, message, .. } = it;
    let path = open.display(path.as_str());
    let _to_a_string =
        writeln!(text, "  {what} {path}:{}:{} {rule} {}", at.line, at.column, printable(message));
}

/// The last lines of a test that did not pass.
fn test_output(it: &TestResult, text: &mut String) {
    if it.passed() {
        return;
    }
    let lines: Vec<_> = it.output.lines().collect();
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        let _to_a_string = writeln!(text, "  | {}", printable(line));
    }
}
