//! JUnit XML: a suite per file with findings, a test case per finding, which has failed.
//!
//! CI systems list failures by the name of the case and keep one of each name, so names tell the place. What
//! is incomplete is a case with an error, never a failure: the test did not run. Linters that were not asked are skipped cases. Files without findings are
//! not listed; if there are none with any, one case says that it has passed, because a report without cases
//! counts as a mistake.

use std::{
    collections::HashMap,
    io::{self, Write},
    path::Path,
};

use check_engine::{Finding, Incomplete, not_asked};

use super::{Page, placed_message, summary, xml::escaped};

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = page.report;
    let (failures, errors) = (report.findings.len(), report.incomplete.len());
    let skipped = not_asked(&report.unavailable);
    let tests = (failures + errors).max(1) + skipped.len();
    let seconds = report.duration.as_secs_f64();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>")?;
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"");
    writeln!(out, "<testsuites name=\"broker\" {counts} time=\"{seconds:.3}\">")?;
    for of_file in report.findings.chunk_by(|a, b| a.file.path == b.file.path) {
        findings(page, of_file, out)?;
    }
    if !report.is_complete() {
        incomplete(page, out)?;
    } else if report.findings.is_empty() {
        suite("broker", [1, 0, 0], out)?;
        writeln!(
            out,
            "    <testcase name=\"no findings in {}\" classname=\"broker\"/>",
            lint::counted(report.files, "file")
        )?;
        writeln!(out, "  </testsuite>")?;
    }
    if !skipped.is_empty() {
        suite_of("broker: not asked", [skipped.len(), 0, 0, skipped.len()], out)?;
        for sentence in &skipped {
            let (linters, reason) = sentence.split_once(": ").unwrap_or(("linter", sentence));
            let (name, message) = (escaped(linters), escaped(reason));
            writeln!(out, "    <testcase name=\"{name}\" classname=\"broker\">")?;
            writeln!(out, "      <skipped message=\"{message}\"/>\n    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn suite(name: &str, [tests, failures, errors]: [usize; 3], out: &mut dyn Write) -> io::Result<()> {
    suite_of(name, [tests, failures, errors, 0], out)
}

fn suite_of(
    name: &str,
    [tests, failures, errors, skipped]: [usize; 4],
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = escaped(name);
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"");
    writeln!(out, "  <testsuite name=\"{name}\" {counts}>")
}

fn findings(page: &Page<'_>, of_file: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let path = page.workspace.display(&of_file[0].file.path);
    suite(&path, [of_file.len(), of_file.len(), 0], out)?;
    let mut names = Names::default();
    for finding in of_file {
        case(&names.unique(name(finding)), &path, out)?;
        if finding.cell.is_none() {
            write!(out, " line=\"{}\"", finding.range.start.line)?;
        }
        let (kind, message) = (finding.severity.name(), escaped(&finding.message));
        let at = format!("{}:{}", finding.range.start.line, finding.range.start.column);
        let place = if finding.cell.is_none() { format!("{path}:{at}: ") } else { format!("{path}: ") };
        let text = escaped(&format!("{place}{}", placed_message(finding)));
        writeln!(out, ">\n      <failure type=\"{kind}\" message=\"{message}\">{text}</failure>")?;
        writeln!(out, "    </testcase>")?;
    }
    writeln!(out, "  </testsuite>")
}

fn name(it: &Finding) -> String {
    let cell = it.cell.as_ref().map(|cell| format!("cell {}:", cell.index + 1)).unwrap_or_default();
    format!("{} at {cell}{}:{}", it.rule, it.range.start.line, it.range.start.column)
}

fn incomplete(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let all = &page.report.incomplete;
    suite("broker: incomplete", [all.len(), 0, all.len()], out)?;
    let mut names = Names::default();
    for it in all {
        let path = page.shown_subject(&it.subject);
        case(&names.unique(format!("{} {path}", asked(it))), &path, out)?;
        let (kind, message) = (it.level.name(), escaped(&summary::incomplete(it)));
        writeln!(out, ">\n      <error type=\"{kind}\" message=\"{message}\"/>\n    </testcase>")?;
    }
    writeln!(out, "  </testsuite>")
}

fn asked(it: &Incomplete) -> &str {
    it.linter.as_deref().unwrap_or("broker")
}

/// The start of a case, up to its last attribute. Some CI systems cut class names at their dots, so the
/// ending of the file is not part of it.
fn case(name: &str, path: &str, out: &mut dyn Write) -> io::Result<()> {
    let class = Path::new(path).with_extension("");
    let (name, class, file) = (escaped(name), escaped(&class.to_string_lossy()), escaped(path));
    write!(out, "    <testcase name=\"{name}\" classname=\"{class}\" file=\"{file}\"")
}

/// The names of the cases in a suite.
#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    fn unique(&mut self, name: String) -> String {
        let count = self.0.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name} ({count})") }
    }
}

#[cfg(test)]
mod tests {
    use check_engine::Report;

    use super::*;
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Junit));
    }

    #[test]
    fn linters_that_were_not_asked_are_skipped() {
        let unavailable = |linter: &str| check_engine::Unavailable {
            linter: linter.to_owned(),
            marker: Some("go.mod".to_owned()),
            reason: "not installed".to_owned(),
        };
        let report = Report { files: 3, unavailable: vec![unavailable("gopls")], ..Report::default() };
        let shown = fixture::write(|page, out| render(&Page { report: &report, ..*page }, out));
        assert!(shown.contains("tests=\"2\" failures=\"0\" errors=\"0\""), "{shown}");
        let case = "<testcase name=\"gopls (go.mod)\" classname=\"broker\">\n      <skipped message=\"not installed\"/>";
        assert!(shown.contains("skipped=\"1\">") && shown.contains(case), "{shown}");
    }

    #[test]
    fn without_findings_something_passes() {
        let report = Report { files: 3, ..Report::default() };
        insta::assert_snapshot!(fixture::write(|page, out| render(&Page { report: &report, ..*page }, out)));
    }
}
