//! One JSON document; its parts are those of `jsonl`, too. Lines and columns count from 1, columns in
//! Unicode scalar values, ends are exclusive, paths are relative to the workspace root.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use lint::Applicability;
use serde::Serialize;
use serde_json::json;

use super::{Page, subject_path, workspace_path};

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = page.report;
    write!(out, "{{\"version\":1,\"root\":{},\"findings\":[", json!(root(page)))?;
    list(report.findings.iter().map(Finding::of), out)?;
    write!(out, "],\"incomplete\":[")?;
    list(report.incomplete.iter().map(Incomplete::of), out)?;
    if !report.unavailable.is_empty() {
        write!(out, "],\"unavailable\":[")?;
        list(report.unavailable.iter().map(Unavailable::of), out)?;
    }
    if report.excluded_files() > 0 {
        write!(out, "],\"excluded\":[")?;
        list(report.excluded.iter().filter(|it| !it.in_part).map(Excluded::of), out)?;
    }
    if report.files_read_in_part() > 0 {
        write!(out, "],\"read_in_part\":[")?;
        list(report.read_in_part().map(Excluded::of), out)?;
    }
    write!(out, "],\"summary\":")?;
    serde_json::to_writer(&mut *out, &Summary::of(report))?;
    writeln!(out, "}}")
}

/// Folder that paths are relative to.
pub(super) fn root<'a>(page: &Page<'a>) -> Cow<'a, str> {
    page.workspace.root().to_string_lossy()
}

/// The items of an array, one per line, none of them held longer than it is written.
pub(super) fn list<T: Serialize>(items: impl Iterator<Item = T>, out: &mut dyn Write) -> io::Result<()> {
    let mut is_empty = true;
    for item in items {
        writeln!(out, "{}", if is_empty { "" } else { "," })?;
        serde_json::to_writer(&mut *out, &item)?;
        is_empty = false;
    }
    if is_empty { Ok(()) } else { writeln!(out) }
}

#[derive(Serialize)]
pub(super) struct Finding<'a> {
    path: &'a str,
    #[serde(flatten)]
    range: Range,
    severity: &'static str,
    linter: &'a str,
    code: &'a str,
    name: Option<&'a str>,
    message: &'a str,
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<u32>,
    fixes: Vec<Fix<'a>>,
    related: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct Range {
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct Fix<'a> {
    message: Option<&'a str>,
    applicability: &'static str,
    edits: Vec<Edit<'a>>,
}

#[derive(Serialize)]
struct Edit<'a> {
    #[serde(flatten)]
    range: Range,
    replacement: &'a str,
}

#[derive(Serialize)]
struct Related<'a> {
    path: &'a str,
    #[serde(flatten)]
    range: Option<Range>,
    message: &'a str,
}

#[derive(Serialize)]
pub(super) struct Incomplete<'a> {
    path: Option<&'a str>,
    linter: Option<&'a str>,
    completeness: &'static str,
    reason: &'a str,
}

/// A linter that would have been asked, were it there.
#[derive(Serialize)]
pub(super) struct Unavailable<'a> {
    linter: &'a str,
    /// File, or table of a file, by which the project asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    marker: Option<&'a str>,
    reason: &'a str,
}

/// A file that a linter leaves out for its content, or of which it does not read a part.
#[derive(Serialize)]
pub(super) struct Excluded<'a> {
    path: &'a str,
    linter: &'a str,
    reason: &'a str,
}

impl<'a> Excluded<'a> {
    pub(super) fn of(it: &'a check_engine::Excluded) -> Self {
        Self { path: workspace_path(&it.path), linter: &it.linter, reason: &it.reason }
    }
}

impl<'a> Unavailable<'a> {
    pub(super) fn of(it: &'a check_engine::Unavailable) -> Self {
        Self { linter: &it.linter, marker: it.marker.as_deref(), reason: &it.reason }
    }
}

#[derive(Serialize)]
pub(super) struct Summary {
    files: usize,
    findings: usize,
    /// By comments in the files.
    suppressed: usize,
    /// Known to the baseline.
    baselined: usize,
    /// Gone: fixed by this run, or, in a comparison, what the branch has not and its parent has.
    fixed: usize,
    complete: usize,
    partial: usize,
    pending: usize,
    failed: usize,
    /// Entries of `incomplete`, which are of linters or folders, too.
    incomplete: usize,
    /// Files that a linter leaves out for their content.
    excluded: usize,
    skipped: u64,
    duration_ms: u64,
}

impl<'a> Finding<'a> {
    pub(super) fn of(it: &'a check_engine::Finding) -> Self {
        Self {
            path: workspace_path(&it.file.path),
            range: Range::of(it.range),
            severity: it.severity.name(),
            linter: &it.rule.linter,
            code: &it.rule.code,
            name: it.rule.name.as_deref(),
            message: &it.message,
            url: it.rule.url.as_deref(),
            cell: it.cell.as_ref().map(|cell| cell.index + 1),
            fixes: it.fixes.iter().map(Fix::of).collect(),
            related: it.related.iter().map(|related| Related::of(it, related)).collect(),
        }
    }
}

impl Range {
    fn of(check_engine::Range { start, end }: check_engine::Range) -> Self {
        Self { line: start.line, column: start.column, end_line: end.line, end_column: end.column }
    }
}

impl<'a> Fix<'a> {
    fn of(it: &'a check_engine::Fix) -> Self {
        let edit =
            |it: &'a check_engine::Edit| Edit { range: Range::of(it.range), replacement: &it.replacement };
        Self {
            message: it.message.as_deref(),
            applicability: match it.applicability {
                Applicability::Safe => "safe",
                Applicability::Unsafe => "unsafe",
                Applicability::DisplayOnly => "display-only",
            },
            edits: it.edits.iter().map(edit).collect(),
        }
    }
}

impl<'a> Related<'a> {
    fn of(finding: &'a check_engine::Finding, it: &'a check_engine::Related) -> Self {
        let path = workspace_path(it.path.as_ref().unwrap_or(&finding.file.path));
        Self { path, range: it.range.map(Range::of), message: &it.message }
    }
}

impl<'a> Incomplete<'a> {
    pub(super) fn of(it: &'a check_engine::Incomplete) -> Self {
        Self {
            path: subject_path(&it.subject),
            linter: it.linter.as_deref(),
            completeness: it.level.name(),
            reason: &it.reason,
        }
    }
}

impl Summary {
    pub(super) fn of(it: &check_engine::Report) -> Self {
        let check_engine::Counts { complete, partial, pending, failed } = it.counts;
        Self {
            files: it.files,
            findings: it.findings.len(),
            suppressed: it.suppressed,
            baselined: it.baselined,
            fixed: it.fixed + it.gone.as_ref().map_or(0, Vec::len),
            complete,
            partial,
            pending,
            failed,
            incomplete: it.incomplete.len(),
            excluded: it.excluded_files(),
            skipped: it.skipped.total() + it.passed_over,
            duration_ms: u64::try_from(it.duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        let text = fixture::render(Format::Json);
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["findings"].as_array().unwrap().len(), fixture::report().findings.len());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn files_that_are_read_in_part_are_a_list() {
        let excluded = |path: &str, in_part| check_engine::Excluded {
            path: overlay::WorkspacePath::new(path).unwrap(),
            linter: "sql".into(),
            in_part,
            reason: "1 of 2 queries".into(),
        };
        let of = |excluded: Vec<check_engine::Excluded>| {
            let report = check_engine::Report { excluded, ..check_engine::Report::default() };
            let text =
                fixture::write(|page, out| super::render(&super::Page { report: &report, ..*page }, out));
            serde_json::from_str::<serde_json::Value>(&text).unwrap()
        };
        let both = of(vec![excluded("a.sql", true), excluded("b.sql", false)]);
        let entry =
            |path: &str| serde_json::json!([{ "path": path, "linter": "sql", "reason": "1 of 2 queries" }]);
        assert_eq!((&both["read_in_part"], &both["excluded"]), (&entry("a.sql"), &entry("b.sql")));
        assert_eq!(both["summary"]["excluded"], 1);
        assert!(of(vec![excluded("b.sql", false)]).get("read_in_part").is_none());
    }
}
