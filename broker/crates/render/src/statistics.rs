//! Number of findings of each rule.

use std::io::{self, Write};

use super::{
    Format, Page, json,
    rule_counts::{rows, table},
    summary,
};

/// Writes the rules with their counts, the most frequent first. Formats of which
/// [`Format::has_statistics`] says no have no place for them: the command line refuses those.
pub fn statistics(format: Format, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    let rows = rows(&page.report.findings.iter().collect::<Vec<_>>());
    match format {
        Format::Json => {
            write!(out, "[")?;
            json::list(rows.iter(), out)?;
            writeln!(out, "]")
        }
        Format::Jsonl => rows.iter().try_for_each(|row| {
            serde_json::to_writer(&mut *out, row)?;
            writeln!(out)
        }),
        _ => {
            table(page, &rows, out)?;
            summary::render(page, out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn look(format: Format) -> String {
        fixture::write(|page, out| statistics(format, page, out))
    }

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(look(Format::Full));
    }

    #[test]
    fn looks_so_in_json() {
        insta::assert_snapshot!(look(Format::Json));
    }
}
