//! Blanks at the ends of lines and empty lines: MD009, MD012 and MD028.

use rumdl_lib::rule::LintWarning;
use rustc_hash::FxHashSet;

use super::page::Page;

pub(super) fn trailing_spaces(page: &Page<'_>) -> Vec<LintWarning> {
    let breaks = page.number("MD009", "br_spaces", 2);
    let breaks = if breaks < 2 { 0 } else { breaks };
    let allowed = Allowed::new(page);
    let lines = (page.first..=page.lines.len()).filter_map(|number| {
        let line = page.line(number);
        let (end, bare) = (page.start_of(number) + line.len(), line.trim_end());
        let count = line[bare.len()..].chars().count() as u64;
        let is_wrong =
            count > 0 && !allowed.any.contains(&number) && (count != breaks || !allowed.has_break(number));
        is_wrong.then(|| {
            let range = end - (line.len() - bare.len())..end;
            let mut found = page.finding("MD009", range.clone(), format!("{count} trailing spaces found"));
            found.fix = Some(page.edit(range, ""));
            found
        })
    });
    lines.collect()
}

/// Lines in which blanks at the end are allowed.
struct Allowed {
    any: FxHashSet<usize>,
    /// Lines in which the two blanks of a line break are allowed; none: all lines.
    breaks: Option<FxHashSet<usize>>,
}

impl Allowed {
    fn new(page: &Page<'_>) -> Self {
        let mut any = page.commented.clone();
        if !page.is_true("MD009", "code_blocks", false) {
            any.extend(page.code.iter().flat_map(|it| it.inner()));
            any.extend(
                page.code.iter().filter(|it| !it.is_fenced).flat_map(|it| blank_code(page, it.lines.end)),
            );
        }
        if page.is_true("MD009", "list_item_empty_lines", false) {
            any.extend(page.lists.iter().flat_map(|it| it.lines.clone()));
        }
        Self { any, breaks: page.is_true("MD009", "strict", false).then(|| inner_lines(page)) }
    }

    fn has_break(&self, number: usize) -> bool {
        self.breaks.as_ref().is_none_or(|it| it.contains(&number))
    }
}

/// Empty lines after indented code that are indented as well.
fn blank_code(page: &Page<'_>, start: usize) -> impl Iterator<Item = usize> {
    let is_indented = |line: &str| line.trim().is_empty() && (line.len() >= 4 || line.contains('\t'));
    (start..).take_while(move |it| is_indented(page.line(*it)))
}

/// Lines of paragraphs that others follow. HTML counts as such.
fn inner_lines(page: &Page<'_>) -> FxHashSet<usize> {
    let headings: FxHashSet<usize> = page.headings.iter().flat_map(|it| it.lines.clone()).collect();
    page.broken.union(&page.html).filter(|it| !headings.contains(it)).copied().collect()
}

pub(super) fn multiple_blanks(page: &Page<'_>) -> Vec<LintWarning> {
    let maximum = page.number("MD012", "maximum", 1);
    let code: FxHashSet<usize> = page.code.iter().flat_map(|it| it.lines.clone()).collect();
    let mut count = 0;
    let mut found = Vec::new();
    for number in page.first..=page.lines.len() {
        let is_blank = page.line(number).trim().is_empty() && !code.contains(&number);
        count = if is_blank { count + 1 } else { 0 };
        if count > maximum {
            let message = format!("Multiple consecutive blank lines ({count} of at most {maximum})");
            found.push(extra_line(page, number, message));
        }
    }
    found
}

fn extra_line(page: &Page<'_>, number: usize, message: String) -> LintWarning {
    let start = page.start_of(number);
    let end = start + page.line(number).len();
    let mut found = page.finding("MD012", start..end, message);
    // The last line has no end of its own.
    let range = if end < page.text.len() { start..end + 1 } else { start - 1..end };
    found.fix = Some(page.edit(range, ""));
    found
}

pub(super) fn blanks_in_quotation(page: &Page<'_>) -> Vec<LintWarning> {
    let message = "Blank line inside blockquote";
    let lines = page.gaps.iter().cloned().flatten();
    lines
        .map(|it| {
            let start = page.start_of(it);
            page.finding("MD028", start..start + page.line(it).len(), message.to_owned())
        })
        .collect()
}
