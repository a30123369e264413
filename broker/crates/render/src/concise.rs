//! One line per finding: `path:line:col: warning python/F401 [*] message`. Of a message in several lines, the first.

use std::io::{self, Write};

use check_engine::Finding;

use super::{BOLD, GOOD, Page, first_line, summary, title};

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    page.shown().iter().try_for_each(|it| line(page, it, out))?;
    fixed(page, out)?;
    summary::render(page, out)
}

fn line(page: &Page<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let (path, at) = (page.shown_file(finding), finding.range.start);
    let (bold, title, message) = (page.style(BOLD), title(page, finding), first_line(&finding.message));
    writeln!(out, "{bold}{path}{bold:#}:{}:{}: {title} {message}", at.line, at.column)
}

/// Writes the findings that the parent of the branch has and the branch has not, at their places in the parent.
pub(super) fn fixed(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let gone = page.report.gone.iter().flatten().filter(|_| !page.quiet);
    for it in gone {
        let (path, at, message) = (page.shown_file(it), it.range.start, first_line(&it.message));
        let good = page.style(GOOD);
        writeln!(out, "{path}:{}:{}: {good}fixed{good:#} {} {message}", at.line, at.column, it.rule)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{DisplayLimit, Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Concise));
    }

    #[test]
    fn the_rest_is_counted() {
        let text = fixture::render_with(Format::Concise, |page| page.shown = DisplayLimit::First(1));
        assert!(text.contains("\n… ") && text.contains(" more findings not shown.\n"), "{text}");
    }

    #[test]
    fn the_most_severe_come_first() {
        insta::assert_snapshot!(
            fixture::render_with(Format::Concise, |page| page.shown = DisplayLimit::MostSevere(2))
        );
    }

    #[test]
    fn quiet_is_findings_only() {
        insta::assert_snapshot!(fixture::render_with(Format::Concise, |page| page.quiet = true));
    }
}
