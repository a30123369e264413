//! Logging commands of Azure Pipelines, which show them as issues of the run. Paths are relative to the workspace's root, wherever
//! the command runs.

use std::io::{self, Write};

use check_engine::Finding;
use lint::{Severity, printable};

use super::{INCOMPLETE, Page, placed_message, subject_path, summary};

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    page.report.findings.iter().try_for_each(|it| issue(it, out))?;
    for it in &page.report.incomplete {
        let path = property(subject_path(&it.subject).unwrap_or("."));
        let message = data(&summary::incomplete(it));
        writeln!(out, "##vso[task.logissue type=error;sourcepath={path};code={INCOMPLETE};]{message}")?;
    }
    Ok(())
}

fn issue(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let path = property(finding.file.path.as_str());
    write!(out, "##vso[task.logissue type={};sourcepath={path};", kind(finding.severity))?;
    if finding.cell.is_none() {
        let at = finding.range.start;
        write!(out, "linenumber={};columnnumber={};", at.line, at.column)?;
    }
    writeln!(out, "code={};]{}", property(&finding.rule.to_string()), data(&placed_message(finding)))
}

/// There are no others.
fn kind(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning | Severity::Info | Severity::Hint => "warning",
    }
}

/// `%25` would stay as it is: the agent decodes a percent sign from this only.
fn data(text: &str) -> String {
    printable(&text.replace('%', "%AZP25").replace('\r', "%0D").replace('\n', "%0A")).into_owned()
}

fn property(text: &str) -> String {
    data(text).replace(']', "%5D").replace(';', "%3B")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Azure));
    }

    #[test]
    fn escapes() {
        assert_eq!(data("5%\r\n;]"), "5%AZP25%0D%0A;]");
        assert_eq!(property("5%\r\n;]"), "5%AZP25%0D%0A%3B%5D");
    }
}
