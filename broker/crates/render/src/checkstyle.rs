//! The XML of Checkstyle, which Jenkins and reviewdog read among others.
//!
//! An incomplete answer is an error whose source is Broker.

use std::io::{self, Write};

use check_engine::{Finding, Incomplete};
use lint::Severity;

use super::{INCOMPLETE, Page, placed_message, summary, xml::escaped};

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<checkstyle version=\"4.3\">")?;
    for of_file in page.report.findings.chunk_by(|a, b| a.file.path == b.file.path) {
        writeln!(out, "  <file name=\"{}\">", escaped(&page.workspace.display(&of_file[0].file.path)))?;
        of_file.iter().try_for_each(|it| finding(it, out))?;
        writeln!(out, "  </file>")?;
    }
    for of_subject in page.report.incomplete.chunk_by(|a, b| a.subject == b.subject) {
        writeln!(out, "  <file name=\"{}\">", escaped(&page.shown_subject(&of_subject[0].subject)))?;
        of_subject.iter().try_for_each(|it| incomplete(it, out))?;
        writeln!(out, "  </file>")?;
    }
    writeln!(out, "</checkstyle>")
}

fn finding(it: &Finding, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "    <error")?;
    if it.cell.is_none() {
        write!(out, " line=\"{}\" column=\"{}\"", it.range.start.line, it.range.start.column)?;
    }
    let (message, source) = (escaped(&placed_message(it)), escaped(&it.rule.to_string()));
    let severity = severity(it.severity);
    writeln!(out, " severity=\"{severity}\" message=\"{message}\" source=\"{source}\"/>")
}

fn incomplete(it: &Incomplete, out: &mut dyn Write) -> io::Result<()> {
    let message = escaped(&summary::incomplete(it));
    writeln!(out, "    <error severity=\"error\" message=\"{message}\" source=\"{INCOMPLETE}\"/>")
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "info",
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Checkstyle));
    }
}
