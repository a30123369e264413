//! The findings of each file below its name.

use std::io::{self, Write};

use check_engine::Finding;

use super::{BOLD, DIM, Page, first_line, summary, title};

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let place = |it: &Finding| (it.file.path.clone(), it.cell.as_ref().map(|cell| cell.index));
    for group in page.shown().chunk_by(|a, b| place(a) == place(b)) {
        let bold = page.style(BOLD);
        writeln!(out, "{bold}{}{bold:#}", page.shown_file(&group[0]))?;
        self::group(page, group, out)?;
        writeln!(out)?;
    }
    summary::render(page, out)
}

fn group(page: &Page<'_>, group: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let place = |it: &Finding| format!("{}:{}", it.range.start.line, it.range.start.column);
    let width = group.iter().map(|it| place(it).len()).max().unwrap_or_default();
    let dim = page.style(DIM);
    for it in group {
        let (place, title, message) = (place(it), title(page, it), first_line(&it.message));
        writeln!(out, "  {dim}{place:>width$}{dim:#}  {title} {message}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Grouped));
    }
}
