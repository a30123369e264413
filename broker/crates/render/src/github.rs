//! Workflow commands of GitHub Actions, which turn them into annotations. About ten of a kind are shown.

use std::io::{self, Write};

use check_engine::Finding;
use lint::{Severity, printable};

use super::{Page, explain_incomplete};

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    page.report.findings.iter().try_for_each(|it| annotation(page, it, out))?;
    for sentence in explain_incomplete(page.workspace, &page.report.incomplete) {
        writeln!(out, "::error title=Broker::{}", data(&sentence))?;
    }
    Ok(())
}

fn annotation(page: &Page<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    // From the root of the repository, wherever the command runs.
    let path = finding.file.path.as_str();
    let rule = finding.rule.to_string();
    write!(out, "::{} file={}", command(finding.severity), property(path))?;
    // A notebook's lines are those of its cells, which the file that GitHub shows does not have.
    if finding.cell.is_none() {
        let (start, end) = (finding.range.start, finding.range.end);
        write!(out, ",line={},endLine={},col={}", start.line, end.line, start.column)?;
        if start.line == end.line {
            write!(out, ",endColumn={}", end.column)?;
        }
    }
    let at =
        format!("{}:{}:{}", page.shown_file(finding), finding.range.start.line, finding.range.start.column);
    writeln!(out, ",title={}::{}", property(&rule), data(&format!("{at}: {rule} {}", finding.message)))
}

fn command(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "notice",
    }
}

fn data(text: &str) -> String {
    printable(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")).into_owned()
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Github));
    }

    #[test]
    fn escapes() {
        assert_eq!(data("50%\r\n:,"), "50%25%0D%0A:,");
        assert_eq!(property("50%\r\n:,"), "50%25%0D%0A%3A%2C");
    }
}
