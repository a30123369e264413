//! Marks that are to be as the first ones in a file unless an option says which: MD003, MD004, MD029
//! and MD035.

use rumdl_lib::rule::LintWarning;

use super::page::{Heading, List, Page};

pub(super) fn headings(page: &Page<'_>) -> Vec<LintWarning> {
    let option = page.style("MD003", "consistent");
    let mut wanted = (option != "consistent").then(|| option.to_owned());
    let mut found = Vec::new();
    for heading in &page.headings {
        let has = heading_style(&page.text[heading.range.clone()]);
        let wanted = wanted.get_or_insert_with(|| has.to_owned());
        let wanted = style_of_level(wanted, heading);
        if has != wanted {
            let message = format!("Heading style should be {wanted}, found {has}");
            found.push(page.finding("MD003", heading.range.clone(), message));
        }
    }
    found
}

/// Style of a heading under an option whose style depends on the level.
fn style_of_level<'a>(style: &'a str, heading: &Heading) -> &'a str {
    match (style, heading.level) {
        ("setext_with_atx" | "setext_with_atx_closed", ..=2) => "setext",
        ("setext_with_atx", _) => "atx",
        ("setext_with_atx_closed", _) => "atx_closed",
        _ => style,
    }
}

fn heading_style(text: &str) -> &'static str {
    let inner = text.trim_start_matches('#');
    let is_atx = inner.len() < text.len() && (inner.is_empty() || inner.starts_with([' ', '\t', '\n']));
    let before = inner.trim_end_matches('#');
    let is_closed = before.len() < inner.len() && before.ends_with([' ', '\t']);
    match (is_atx, is_closed) {
        (false, _) => "setext",
        (true, false) => "atx",
        (true, true) => "atx_closed",
    }
}

pub(super) fn lists(page: &Page<'_>) -> Vec<LintWarning> {
    let mut wanted = match page.style("MD004", "consistent") {
        "consistent" => None,
        "asterisk" => Some("*"),
        "plus" => Some("+"),
        _ => Some("-"),
    };
    let mut found = Vec::new();
    for item in page.lists.iter().filter(|it| !it.is_ordered).flat_map(|it| &it.items) {
        let range = item.start..item.start + 1;
        let has = &page.text[range.clone()];
        let wanted = *wanted.get_or_insert(has);
        if has != wanted {
            let message = format!("List marker should be {wanted} instead of {has}");
            let mut finding = page.finding("MD004", range.clone(), message);
            finding.fix = Some(page.edit(range, wanted));
            found.push(finding);
        }
    }
    found
}

pub(super) fn numbers(page: &Page<'_>) -> Vec<LintWarning> {
    let ordered = page.lists.iter().filter(|it| it.is_ordered);
    ordered.flat_map(|it| numbers_of(page, it)).collect()
}

fn numbers_of(page: &Page<'_>, list: &List) -> Vec<LintWarning> {
    let digits = list.items.iter().map(|it| it.start..it.start + it.marker.saturating_sub(1));
    let has: Vec<_> =
        digits.filter_map(|it| Some((page.text[it.clone()].parse::<u64>().ok()?, it))).collect();
    let (mut wanted, step) = match (page.style("MD029", "one_or_ordered"), &has[..]) {
        ("zero", _) => (0, 0),
        ("one", _) => (1, 0),
        (_, [(0, _), _, ..]) => (0, 1),
        ("ordered", _) => (1, 1),
        (_, [_, (second, _), ..]) if *second != 1 => (1, 1),
        _ => (1, 0),
    };
    let mut found = Vec::new();
    for (number, range) in has {
        if number != wanted {
            let message = format!("Ordered list item number should be {wanted}, found {number}");
            let mut finding = page.finding("MD029", range.clone(), message);
            finding.fix = Some(page.edit(range, &wanted.to_string()));
            found.push(finding);
        }
        wanted += step;
    }
    found
}

pub(super) fn breaks(page: &Page<'_>) -> Vec<LintWarning> {
    let option = page.style("MD035", "consistent").trim();
    let mut wanted = (option != "consistent").then_some(option);
    let mut found = Vec::new();
    for range in &page.breaks {
        let has = &page.text[range.clone()];
        let wanted = *wanted.get_or_insert(has);
        if has != wanted {
            let message = format!("Horizontal rule style should be {wanted}, found {has}");
            let mut finding = page.finding("MD035", range.clone(), message);
            finding.fix = Some(page.edit(range.clone(), wanted));
            found.push(finding);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_of_headings() {
        let styles = ["# a", "#", "## a ##", "# a#", "a\n===", "#a\n---", "# #"].map(heading_style);
        assert_eq!(styles, ["atx", "atx", "atx_closed", "atx", "setext", "setext", "atx_closed"]);
    }
}
