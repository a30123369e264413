//! The last lines for a person: how many findings, and what was not checked. "No findings" and "not
//! computed" never look the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
};

use check_engine::{Excluded, Incomplete, Level, Report, Subject};
use config::root::WorkspaceRoot;
use lint::{Severity, counted, printable};
use overlay::WorkspacePath;

use super::{DisplayLimit, Page, rule_counts};

/// `3 findings in 120 files (2 fixable).`
pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    if page.quiet {
        return Ok(());
    }
    let report = page.report;
    let more = report.findings.len() - page.shown().len();
    match page.shown {
        DisplayLimit::MostSevere(most) if more > 0 => {
            writeln!(
                out,
                "… {} not shown; `--max-findings N` shows N of all. By rule:",
                counted(more, "more finding")
            )?;
            rule_counts::counts(page, &page.by_severity()[most..], out)?;
            writeln!(out)?;
        }
        _ if more > 0 => writeln!(out, "… {} not shown.\n", counted(more, "more finding"))?,
        _ => {}
    }
    let findings = found(report);
    writeln!(out, "{findings} in {}{}{}.", counted(report.files, "file"), besides(report), caveats(report))
}

/// ` (1 error, 2 warnings, 2 fixable, 1 suppressed)`
fn besides(report: &Report) -> String {
    let severities = [Severity::Error, Severity::Warning, Severity::Info, Severity::Hint].map(|severity| {
        (report.findings.iter().filter(|it| it.severity == severity).count(), severity.name())
    });
    let severities = severities.iter().filter(|(count, _)| *count > 0).map(|(count, name)| match *name {
        "info" => format!("{count} info"),
        name => counted(*count, name),
    });
    let counts = [
        (report.fixable(), "fixable"),
        (report.fixed, "fixed"),
        (report.suppressed, "suppressed"),
        (report.baselined, "in the baseline"),
    ];
    let told = counts.iter().filter(|(count, _)| *count > 0);
    let told: Vec<_> = severities.chain(told.map(|(count, what)| format!("{count} {what}"))).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

/// `3 findings`, or what changed: `2 new, 1 fixed`.
fn found(report: &Report) -> String {
    match (report.findings.len(), &report.gone) {
        (0, None) => "No findings".to_owned(),
        (count, None) => counted(count, "finding"),
        (count, Some(gone)) => format!("{count} new, {} fixed", gone.len()),
    }
}

/// Caveats to the number of findings: files that were not checked, were left out or were skipped.
fn caveats(report: &Report) -> String {
    let counts = report.counts;
    let mut text = String::new();
    for (count, what) in [
        (counts.partial, "partly checked"),
        (counts.pending, "not checked yet"),
        (counts.failed, "not checked"),
    ] {
        if count > 0 {
            text += &format!("; {} {what}", counted(count, "file"));
        }
    }
    match report.incomplete.iter().filter(|it| it.linter.is_none()).count() {
        0 => {}
        count => text += &format!("; {} could not be read", counted(count, "path")),
    }
    if text.is_empty() && !report.is_complete() {
        text += "; not everything was checked";
    }
    match report.excluded_files() {
        0 => {}
        count => text += &format!("; {} left out for {} content", counted(count, "file"), its(count)),
    }
    match report.files_read_in_part() {
        0 => {}
        count => text += &format!("; {} read in part", counted(count, "file")),
    }
    let skipped = &report.skipped;
    for (count, what) in [
        (
            report.passed_over,
            [
                "large file, link, special file or name that is not UTF-8",
                "large files, links, special files or names that are not UTF-8",
            ],
        ),
        (skipped.not_utf8, ["name that is not UTF-8", "names that are not UTF-8"]),
        (skipped.special, ["special file", "special files"]),
        (skipped.broken_links, ["broken or outward link", "broken or outward links"]),
        (skipped.too_large, ["file larger than `max-file-size`", "files larger than `max-file-size`"]),
    ] {
        if count > 0 {
            text += &format!("; skipped {count} {}", what[usize::from(count != 1)]);
        }
    }
    text
}

fn its(count: usize) -> &'static str {
    if count == 1 { "its" } else { "their" }
}

/// Returns why nothing at `path` was checked, if it is the content of files; `None` if configuration leaves them out.
pub fn why_left_out(report: &Report, path: &WorkspacePath) -> Option<String> {
    let mut below = report.excluded.iter().filter(|it| !it.in_part && it.path.starts_with(path)).peekable();
    let first = *below.peek()?;
    if first.path == *path {
        return Some(format!("{} leaves it out: {}", first.linter, first.reason));
    }
    let paths: BTreeSet<_> = below.map(|it| &it.path).collect();
    let (count, are) = (paths.len(), if paths.len() == 1 { "is" } else { "are" });
    Some(format!("{} {are} left out for {} content, which -v tells", counted(count, "file"), its(count)))
}

/// One sentence for each linter that does not read a part of some files, with the number of files and the first of them.
pub fn explain_parts(workspace: &WorkspaceRoot, report: &Report) -> Vec<String> {
    let mut by_linter: BTreeMap<&str, Vec<&Excluded>> = BTreeMap::new();
    for it in report.read_in_part() {
        by_linter.entry(&it.linter).or_default().push(it);
    }
    let sentence = |(linter, of): (&str, Vec<&Excluded>)| {
        let (first, reason) = (workspace.display(&of[0].path), &of[0].reason);
        printable_lines(&match of.len() {
            1 => format!("{linter}: {first} is read in part: {reason}"),
            count => format!("{linter}: {count} files are read in part, such as {first}: {reason}"),
        })
    };
    by_linter.into_iter().map(sentence).collect()
}

/// One sentence for each linter and reason, with the number of files and the first of them.
pub fn explain_incomplete(workspace: &WorkspaceRoot, incomplete: &[Incomplete]) -> Vec<String> {
    let mut groups: BTreeMap<_, Vec<&Incomplete>> = BTreeMap::new();
    for it in incomplete {
        groups.entry((it.linter.as_deref(), it.level, it.reason.as_str())).or_default().push(it);
    }
    groups
        .into_iter()
        .map(|((linter, level, reason), of)| sentence(workspace, linter, level, reason, &of))
        .collect()
}

fn sentence(
    workspace: &WorkspaceRoot,
    linter: Option<&str>,
    level: Level,
    reason: &str,
    of: &[&Incomplete],
) -> String {
    let linter = linter.map(|it| format!("{it}: ")).unwrap_or_default();
    let what = what(level);
    let first = match &of[0].subject {
        Subject::Everything => return printable_lines(&format!("{linter}{reason}")),
        Subject::Argument(given) => given.clone(),
        Subject::Path(path) => workspace.display(path),
    };
    let text = match of.len() {
        1 => format!("{linter}{first} {what}: {reason}"),
        // Paths that no linter was asked about may be folders.
        count if linter.is_empty() => format!("{count} paths {what}: {reason} (first: {first})"),
        count => format!("{linter}{count} files {what}: {reason} (first: {first})"),
    };
    printable_lines(&text)
}

/// Text about an incomplete answer for programs, without its subject.
pub(super) fn incomplete(it: &Incomplete) -> String {
    let linter = it.linter.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
    format!("{linter}{}: {}", what(it.level), it.reason)
}

fn what(level: Level) -> &'static str {
    match level {
        Level::Partial => "partly checked",
        Level::Complete | Level::Pending | Level::Failed => "not checked",
    }
}

/// A crash is told in several lines.
fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn groups_what_is_incomplete() {
        let report = fixture::report();
        let sentences = explain_incomplete(&fixture::workspace(), &report.incomplete);
        insta::assert_snapshot!(sentences.join("\n"));
    }

    #[test]
    fn groups_what_is_read_in_part() {
        let excluded = |path: &str, in_part: bool, reason: &str| Excluded {
            path: WorkspacePath::new(path).unwrap(),
            linter: "sql".into(),
            in_part,
            reason: reason.into(),
        };
        let told = |excluded: &[Excluded]| {
            let report = Report { excluded: excluded.to_vec(), files: 3, ..Report::default() };
            let sentences = explain_parts(&fixture::workspace(), &report).join("\n");
            (sentences, caveats(&report), why_left_out(&report, &WorkspacePath::root()))
        };
        let one = excluded("src/a.sql", true, "1 of 2 queries");
        let two = excluded("src/b.sql", true, "3 of 4 queries");
        let (sentences, caveats, why) = told(std::slice::from_ref(&one));
        assert!(
            sentences.starts_with("sql: ") && sentences.ends_with("a.sql is read in part: 1 of 2 queries")
        );
        assert_eq!((caveats.as_str(), why), ("; 1 file read in part", None));
        let (sentences, caveats, _) = told(&[one, two, excluded("src/c.sql", false, "it is a template")]);
        assert!(sentences.starts_with("sql: 2 files are read in part, such as "), "{sentences}");
        assert!(sentences.ends_with("a.sql: 1 of 2 queries"), "{sentences}");
        assert_eq!(caveats, "; 1 file left out for its content; 2 files read in part");
    }
}
