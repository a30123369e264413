//! Findings of rumdl's that markdownlint would not have, where a project is configured for markdownlint.
//!
//! Left out: findings that are elsewhere in the text than markdownlint's.

use rumdl_lib::rule::LintWarning;

use super::page::{List, Page, label, without_comments};

/// Drops them.
pub(super) fn retain(page: &Page<'_>, warnings: &mut Vec<LintWarning>) {
    let code = |it: &LintWarning| it.rule_name.clone().unwrap_or_default();
    let mut has_headings = false;
    warnings.retain(|it| match &*code(it) {
        "MD025" => page.begins_with_heading(),
        "MD030" => page.list(it.line).is_none_or(|list| it.message.contains(&page.spaces(list))),
        "MD036" => page.has_lone_emphasis(it.line),
        "MD040" => !it.message.ends_with("missing language") || !page.has_info(it.line),
        // markdownlint says where the headings begin to differ.
        "MD043" => !std::mem::replace(&mut has_headings, true),
        "MD044" => is_of_case(&it.message),
        // An address that can do without a text is a whole one.
        "MD047" => !page.is_empty(page.lines.len()) || page.text.ends_with('\n'),
        "MD053" => unused(&it.message).is_none_or(|it| !page.labels.contains(&label(it))),
        "MD054" => !it.message.contains("'url-inline'") || page.line(it.line).contains("://"),
        _ => true,
    });
}

/// Whether the name that a finding of MD044's is about differs in capitals alone.
fn is_of_case(message: &str) -> bool {
    let mut parts = message.split('\'');
    let (has, wants) = (parts.nth(1).unwrap_or_default(), parts.nth(1).unwrap_or_default());
    wants.is_empty() || has.to_lowercase() == wants.to_lowercase()
}

/// The definition that a finding of MD053's says is not used.
fn unused(message: &str) -> Option<&str> {
    message.strip_prefix("Unused link/image reference: [")?.strip_suffix(']')
}

impl Page<'_> {
    /// Whether a heading of the first level has nothing but comments before it, or there is front matter.
    fn begins_with_heading(&self) -> bool {
        let mut top = self.headings.iter().filter(|it| it.level == 1);
        self.first > 1
            || top.next().is_none_or(|it| without_comments(&self.text[..it.range.start]).trim().is_empty())
    }

    /// Whether MD036 may be about a line. Text that micromark takes for a directive (`:word`) is not plain.
    fn has_lone_emphasis(&self, number: usize) -> bool {
        let is_directive = |text: &str| text.split(':').skip(1).any(|it| it.starts_with(char::is_alphabetic));
        let mut lone = self.lone_emphases.iter().filter(|it| self.line_at(it.start) == number);
        self.html.contains(&number) || lone.any(|it| !is_directive(&self.text[it.clone()]))
    }

    /// Prefix of MD030's message for a list's items if rumdl expects the same number of spaces as markdownlint.
    fn spaces(&self, list: &List) -> String {
        let kind = if list.is_ordered { "ol" } else { "ul" };
        let size = if list.lines.len() == list.items.len() { "single" } else { "multi" };
        format!("Expected: {};", self.number("MD030", &format!("{kind}_{size}"), 1))
    }

    /// Whether a fence has something after it: `{eval-rst}`.
    fn has_info(&self, number: usize) -> bool {
        let line = self.line(number).trim_start_matches([' ', '\t', '>']);
        !line.trim_start_matches(['`', '~']).trim().is_empty()
    }
}
