//! GitLab's Code Quality report, which merge requests show.
//!
//! The line of an issue is compulsory: a notebook's finding is at line 1 and has its cell in the description. An
//! incomplete answer is an issue, too: there is no other place for it.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use check_engine::{Finding, Incomplete, Level};
use lint::Severity;
use serde::Serialize;

use super::{
    INCOMPLETE, Page, fingerprints::Fingerprints, json::list, placed_message, subject_path, summary,
    workspace_path,
};

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location<'a>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut prints = Fingerprints::new(page.view);
    let mut seen = HashMap::new();
    let findings = page.report.findings.iter().map(|it| finding(it, &mut prints));
    let incomplete = page.report.incomplete.iter().map(|it| incomplete(it, &mut seen));
    write!(out, "[")?;
    list(findings.chain(incomplete), out)?;
    writeln!(out, "]")
}

fn finding<'a>(it: &'a Finding, prints: &mut Fingerprints<'_>) -> Issue<'a> {
    let path = workspace_path(&it.file.path);
    Issue {
        description: placed_message(it).into_owned(),
        check_name: it.rule.to_string(),
        fingerprint: fingerprint(&[path, &prints.of(it)]),
        severity: match it.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Info | Severity::Hint => "info",
        },
        location: Location::new(path, if it.cell.is_some() { 1 } else { it.range.start.line }),
    }
}

/// `seen` counts those that are about the same.
fn incomplete<'a>(it: &'a Incomplete, seen: &mut HashMap<(&'a str, &'a str), usize>) -> Issue<'a> {
    let path = subject_path(&it.subject).unwrap_or(".");
    let linter = it.linter.as_deref().unwrap_or_default();
    let count = seen.entry((path, linter)).or_default();
    *count += 1;
    Issue {
        description: summary::incomplete(it),
        check_name: INCOMPLETE.to_owned(),
        fingerprint: fingerprint(&[path, INCOMPLETE, linter, &count.to_string()]),
        severity: match it.level {
            Level::Failed => "critical",
            Level::Complete | Level::Partial | Level::Pending => "major",
        },
        location: Location::new(path, 1),
    }
}

/// Fingerprint that is unique in the whole report, where paths distinguish files.
fn fingerprint(parts: &[&str]) -> String {
    blake3::hash(parts.join("\0").as_bytes()).to_hex()[..32].to_owned()
}

impl<'a> Location<'a> {
    fn new(path: &'a str, line: u32) -> Self {
        Self { path, lines: Lines { begin: line } }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Gitlab));
    }
}
