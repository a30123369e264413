//! Columns of tables: MD060.
//!
//! Left out: tables with characters of which it is not certain here how wide they are.

use std::collections::BTreeSet;

use rumdl_lib::rule::LintWarning;

use super::page::{Page, Table};
use super::tables::{Row, rows};

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Aligned,
    Compact,
    Tight,
}

impl Style {
    /// Styles that an option's value allows, the preferred one first.
    fn allowed(option: &str) -> &'static [Self] {
        match option {
            "any" => &[Self::Aligned, Self::Compact, Self::Tight],
            "aligned" => &[Self::Aligned],
            "compact" => &[Self::Compact],
            "tight" => &[Self::Tight],
            _ => &[],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Aligned => "aligned",
            Self::Compact => "compact",
            Self::Tight => "tight",
        }
    }
}

/// Findings in each table by the allowed style with the fewest.
pub(super) fn check(page: &Page<'_>) -> Vec<LintWarning> {
    let allowed = Style::allowed(page.style("MD060", "any"));
    let of_table = |table: &Table| {
        let rows = rows(page, table);
        let by_style: Option<Vec<_>> = allowed.iter().map(|style| deviations(page, &rows, *style)).collect();
        by_style.into_iter().flatten().min_by_key(Vec::len).unwrap_or_default()
    };
    page.tables.iter().flat_map(of_table).collect()
}

/// None: it is not certain.
fn deviations(page: &Page<'_>, rows: &[Row<'_>], style: Style) -> Option<Vec<LintWarning>> {
    if style == Style::Aligned {
        return unaligned(page, rows);
    }
    let is_aligned_delimiter = page.is_true("MD060", "aligned_delimiter", false);
    let mut found = if is_aligned_delimiter { unaligned(page, rows.get(..2)?)? } else { Vec::new() };
    for row in rows {
        for (index, at) in row.pipes.iter().enumerate() {
            let wrong = [left(row, *at), right(row, *at)].into_iter().flatten();
            let wrong = wrong.filter_map(|it| it.deviation(style));
            found.extend(wrong.map(|it| {
                let message = format!("Table pipe {} {it} for style \"{}\"", index + 1, style.name());
                page.finding("MD060", row.pipe(*at), message)
            }));
        }
    }
    Some(found)
}

/// Blanks beside a pipe.
struct Blanks {
    count: usize,
    side: &'static str,
}

impl Blanks {
    fn deviation(&self, style: Style) -> Option<String> {
        let Self { count, side } = self;
        let has = match (style, count) {
            (Style::Compact, 0) => "is missing space",
            (Style::Compact, 2..) => "has extra space",
            (Style::Tight, 1..) => "has space",
            _ => return None,
        };
        Some(format!("{has} to the {side}"))
    }
}

/// None before the row's first cell.
fn left(row: &Row<'_>, at: usize) -> Option<Blanks> {
    let before = &row.text[..at];
    let count = before.len() - before.trim_end().len();
    (at > 0).then_some(Blanks { count, side: "left" })
}

/// None after the row's last cell.
fn right(row: &Row<'_>, at: usize) -> Option<Blanks> {
    let after = &row.text[at + 1..];
    let count = after.len() - after.trim_start().len();
    (!after.is_empty()).then_some(Blanks { count, side: "right" })
}

/// Pipes in other columns than those of the first row.
fn unaligned(page: &Page<'_>, rows: &[Row<'_>]) -> Option<Vec<LintWarning>> {
    let column = |row: &Row<'_>, at: usize| {
        let start = page.start_of(page.line_at(row.start));
        width(&page.text[start..row.start + at])
    };
    let (head, rest) = rows.split_first()?;
    let wanted = head.pipes.iter().map(|it| column(head, *it)).collect::<Option<BTreeSet<_>>>()?;
    let mut found = Vec::new();
    for row in rest {
        let mut left = wanted.clone();
        for at in &row.pipes {
            if !left.is_empty() && !left.remove(&column(row, *at)?) {
                let message = "Table pipe does not align with header for style \"aligned\"".to_owned();
                found.push(page.finding("MD060", row.pipe(*at), message));
            }
        }
    }
    Some(found)
}

/// Number of columns that a text takes, if that is certain.
fn width(text: &str) -> Option<usize> {
    let mut chars = text.chars().peekable();
    let mut total = 0;
    while let Some(character) = chars.next() {
        // The selector that makes an emoji of a sign.
        let is_emoji = chars.next_if_eq(&'\u{fe0f}').is_some();
        total += if is_emoji { emoji_width(character)? } else { char_width(character)? };
    }
    Some(total)
}

fn emoji_width(sign: char) -> Option<usize> {
    matches!(sign, '\u{2139}' | '\u{2611}' | '\u{26a0}' | '\u{2714}' | '\u{2716}' | '\u{2764}').then_some(2)
}

fn char_width(character: char) -> Option<usize> {
    match character {
        ' '..='~'
        | '\u{a1}'..='\u{a8}'
        | '\u{aa}'..='\u{ac}'
        | '\u{af}'..='\u{2ff}'
        | '\u{370}'..='\u{482}'
        | '\u{48a}'..='\u{52f}'
        | '\u{2010}'..='\u{2027}'
        | '\u{2190}'..='\u{2193}' => Some(1),
        '\u{3001}'..='\u{3029}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a0}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{ff01}'..='\u{ff60}'
        | '\u{2705}'
        | '\u{274c}'
        | '\u{1f400}'..='\u{1f43e}'
        | '\u{1f442}'..='\u{1f4fc}'
        | '\u{1f600}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6c5}'
        | '\u{1f910}'..='\u{1f93a}' => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths() {
        assert_eq!((width("aé"), width("字。"), width("\u{26a0}\u{fe0f} a")), (Some(2), Some(4), Some(4)));
        assert_eq!((width("\u{26a0}"), width("1\u{fe0f}"), width("e\u{301}")), (None, None, None));
    }
}
