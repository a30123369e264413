//! Headings, lists and blocks of code: MD001, MD005, MD031, MD032 and MD046.

use std::ops::Range;

use rumdl_lib::rule::LintWarning;

use super::page::{Heading, List, Page};

pub(super) fn heading_increment(page: &Page<'_>) -> Vec<LintWarning> {
    let mut last = if has_title(page) { 1 } else { u64::MAX };
    let mut found = Vec::new();
    for Heading { level, lines, .. } in &page.headings {
        if *level > last.saturating_add(1) {
            let message = format!("Expected heading level {}, but found heading level {level}", last + 1);
            found.push(whole(page, "MD001", lines.start, message));
        }
        last = *level;
    }
    found
}

/// Whether the front matter has a title. A pattern for another one counts as none.
fn has_title(page: &Page<'_>) -> bool {
    let is_title = |line: &&str| {
        let line = line.trim_start().to_ascii_lowercase();
        let rest = line.strip_prefix('"').unwrap_or(&line).strip_prefix("title");
        let rest = rest.map(|it| it.strip_prefix('"').unwrap_or(it).trim_start());
        rest.is_some_and(|it| it.starts_with([':', '=']))
    };
    let is_default = page.option("MD001", "front_matter_title").is_none();
    is_default && page.lines[..page.first - 1].iter().any(is_title)
}

pub(super) fn list_indent(page: &Page<'_>) -> Vec<LintWarning> {
    page.lists.iter().flat_map(|it| uneven_items(page, it)).collect()
}

/// Items that begin elsewhere than the first one, unless the numbers of all end in the same column.
fn uneven_items(page: &Page<'_>, list: &List) -> Vec<LintWarning> {
    let Some(first) = list.items.first() else { return Vec::new() };
    let wanted_end = first.column + first.marker;
    let mut ends_count = false;
    let mut found = Vec::new();
    for item in &list.items {
        let is_uneven = item.column != first.column || ends_count;
        let is_aligned = list.is_ordered && item.column + item.marker == wanted_end;
        ends_count |= is_uneven && is_aligned;
        if is_uneven && !is_aligned {
            let wanted = if ends_count { wanted_end.saturating_sub(item.marker) } else { first.column };
            let message = format!("Expected indentation of {wanted} spaces, found {}", item.column);
            found.push(page.finding("MD005", item.start..item.start + item.marker, message));
        }
    }
    found
}

pub(super) fn blanks_around_fences(page: &Page<'_>) -> Vec<LintWarning> {
    let with_lists = page.is_true("MD031", "list_items", true);
    let fenced = page.code.iter().filter(|it| it.is_fenced && (with_lists || !it.is_in_list));
    let around = fenced.flat_map(|it| {
        let Range { start, end } = it.lines;
        let before = (!page.is_empty(start - 1)).then_some((start, "before"));
        let after = (!page.is_empty(end) && !page.is_empty(end - 1)).then_some((end - 1, "after"));
        [before, after].into_iter().flatten()
    });
    around
        .map(|(line, side)| whole(page, "MD031", line, format!("No blank line {side} fenced code block")))
        .collect()
}

pub(super) fn blanks_around_lists(page: &Page<'_>) -> Vec<LintWarning> {
    let outer = page.lists.iter().filter(|it| !it.is_nested);
    let around = outer.flat_map(|it| {
        let Range { start, end } = it.lines;
        let before = (!page.is_empty(start - 1)).then_some((start, "preceded"));
        let after = (!page.is_empty(end)).then_some((end - 1, "followed"));
        [before, after].into_iter().flatten()
    });
    around
        .map(|(line, side)| whole(page, "MD032", line, format!("List should be {side} by blank line")))
        .collect()
}

pub(super) fn code_style(page: &Page<'_>) -> Vec<LintWarning> {
    let mut wanted = match page.style("MD046", "consistent") {
        "consistent" => None,
        style => Some(style),
    };
    let mut found = Vec::new();
    for block in &page.code {
        let has = if block.is_fenced { "fenced" } else { "indented" };
        let wanted = *wanted.get_or_insert(has);
        if has != wanted {
            let message = format!("Code block style should be {wanted}, found {has}");
            found.push(whole(page, "MD046", block.lines.start, message));
        }
    }
    found
}

fn whole(page: &Page<'_>, code: &str, line: usize, message: String) -> LintWarning {
    let start = page.start_of(line);
    page.finding(code, start..start + page.line(line).len(), message)
}
