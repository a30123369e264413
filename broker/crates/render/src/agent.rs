//! One line per finding in as few tokens as will do: no linter's name, no colour, no excerpt, no summary.
//!
//! Silence would look like an answer. So each incomplete answer has its line, too, and when there is nothing
//! to say, that is said: `ok` if everything was checked, else what was not.

use std::io::{self, Write};

use check_engine::{Finding, not_asked};
use lint::counted;

use super::{Page, one_line, summary};

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let report = page.report;
    page.shown().iter().try_for_each(|it| line(page, it, out))?;
    let more = report.findings.len() - page.shown().len();
    if more > 0 {
        writeln!(out, "… {more} more")?;
    }
    for it in report.gone.iter().flatten() {
        let (path, at) = (page.shown_file(it), it.range.start);
        writeln!(out, "fixed {path}:{}:{} {} {}", at.line, at.column, it.rule.code, one_line(&it.message))?;
    }
    for it in &report.incomplete {
        let told = format!("{} {}", page.shown_subject(&it.subject), summary::incomplete(it));
        writeln!(out, "INCOMPLETE {}", one_line(&told))?;
    }
    for it in not_asked(&report.unavailable) {
        writeln!(out, "NOT ASKED {}", one_line(&it))?;
    }
    for path in &report.left_out {
        let shown = page.workspace.display(path);
        match summary::why_left_out(report, path) {
            Some(why) => writeln!(out, "not checked: {}", one_line(&format!("{shown}: {why}")))?,
            None => writeln!(out, "not checked: {}, which the configuration leaves out", one_line(&shown))?,
        }
    }
    for sentence in summary::explain_parts(page.workspace, report) {
        writeln!(out, "{}", one_line(&sentence))?;
    }
    match report.excluded_files() {
        0 => {}
        files => writeln!(out, "{} left out for their content; -v lists them", counted(files, "file"))?,
    }
    if !report.findings.is_empty() || !report.is_complete() || !report.left_out.is_empty() {
        return Ok(());
    }
    match report.files {
        0 if report.gone.as_ref().is_some_and(|it| !it.is_empty()) => Ok(()),
        0 => writeln!(out, "nothing checked: there is no file that a linter is interested in"),
        files => writeln!(out, "ok {files} checked"),
    }
}

fn line(page: &Page<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let (path, at) = (page.shown_file(finding), finding.range.start);
    let fix = if finding.is_fixable() { " [fix]" } else { "" };
    let message = one_line(&finding.message);
    writeln!(out, "{path}:{}:{} {} {message}{fix}", at.line, at.column, finding.rule.code)
}

#[cfg(test)]
mod tests {
    use check_engine::{Excluded, Report, Unavailable};

    use super::*;
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Agent));
    }

    fn told(report: &Report) -> String {
        fixture::write(|page, out| render(&Page { report, ..*page }, out))
    }

    #[test]
    fn never_silent() {
        let clean = Report { files: 3, ..Report::default() };
        assert_eq!(told(&clean), "ok 3 checked\n");
        assert_eq!(
            told(&Report::default()),
            "nothing checked: there is no file that a linter is interested in\n"
        );
        let gone = Report { gone: Some(fixture::report().findings), ..Report::default() };
        assert!(told(&gone).lines().all(|it| it.starts_with("fixed ")), "{}", told(&gone));
        let left_out = [overlay::WorkspacePath::new("src/gen").unwrap()].into();
        let left_out = Report { left_out, ..clean };
        assert_eq!(told(&left_out), "not checked: gen, which the configuration leaves out\n");
        let excluded = |path: &str| Excluded {
            path: overlay::WorkspacePath::new(path).unwrap(),
            linter: "css".into(),
            in_part: false,
            reason: "it is\na template".into(),
        };
        let template = Report {
            left_out: [overlay::WorkspacePath::new("src/a.css").unwrap()].into(),
            excluded: vec![excluded("src/a.css"), excluded("src/b.css")],
            ..Report::default()
        };
        assert_eq!(
            told(&template),
            "not checked: a.css: css leaves it out: it is a template\n\
             2 files left out for their content; -v lists them\n"
        );
        let part = Excluded { in_part: true, ..excluded("src/a.css") };
        let in_part = Report { files: 3, excluded: vec![part], ..Report::default() };
        assert_eq!(told(&in_part), "css: a.css is read in part: it is a template\nok 3 checked\n");
        let unavailable = vec![Unavailable {
            linter: "ty".to_owned(),
            marker: None,
            reason: "it is not\ntrusted".to_owned(),
        }];
        let not_asked = Report { files: 3, unavailable, ..Report::default() };
        assert_eq!(told(&not_asked), "NOT ASKED ty: it is not trusted\nok 3 checked\n");
        let incomplete = Report { incomplete: fixture::report().incomplete, ..Report::default() };
        assert_eq!(told(&incomplete).lines().filter(|it| it.starts_with("INCOMPLETE ")).count(), 3);
        assert!(!told(&incomplete).contains("ok "));
    }
}
