//! Findings of rumdl's that markdownlint would not have, where a project is configured for markdownlint.
//!
//! Left out: findings that are elsewhere in the text than markdownlint's.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use rumdl_lib::rule::LintWarning;
use serde_json::{Map, Value};

use super::line_length::{self, LongLines};

/// The rules with such findings.
const LOOKED_AT: [&str; 10] =
    ["MD005", "MD009", "MD012", "MD013", "MD030", "MD031", "MD040", "MD043", "MD044", "MD054"];

/// Drops them.
pub(super) fn retain(rules: &Map<String, Value>, text: &str, warnings: &mut Vec<LintWarning>) {
    let code = |it: &LintWarning| it.rule_name.clone().unwrap_or_default();
    if !warnings.iter().any(|it| LOOKED_AT.contains(&&*code(it))) {
        return;
    }
    let page = Page::new(rules, text);
    let has_long = warnings.iter().any(|it| code(it) == "MD013");
    let long = if has_long { LongLines::of(text) } else { LongLines::default() };
    let mut has_headings = false;
    warnings.retain(|it| match &*code(it) {
        "MD005" => page.list(it.line).is_none_or(|list| !list.is_even()),
        "MD009" => page.has_trailing(it.line),
        "MD012" => !page.is_before_text(it.line),
        "MD013" => page.is_too_long(it, &long),
        "MD030" => page.list(it.line).is_none_or(|list| it.message.contains(&page.spaces(list))),
        "MD031" => page.is_true("MD031", "list_items", true) || page.list(it.line).is_none(),
        "MD040" => !it.message.ends_with("missing language") || !page.has_info(it.line),
        // markdownlint says where the headings begin to differ.
        "MD043" => !std::mem::replace(&mut has_headings, true),
        "MD044" => is_of_case(&it.message),
        // An address that can do without a text is a whole one.
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

/// A text and what its lines are part of. Lines are counted from 1.
struct Page<'a> {
    rules: &'a Map<String, Value>,
    lines: Vec<&'a str>,
    /// The inner ones last.
    lists: Vec<List>,
    /// Lines of code, without fences.
    code: Vec<Range<usize>>,
}

struct List {
    is_ordered: bool,
    lines: Range<usize>,
    /// The columns of its items.
    items: Vec<usize>,
}

impl List {
    fn is_even(&self) -> bool {
        self.items.windows(2).all(|it| it[0] == it[1])
    }
}

impl<'a> Page<'a> {
    fn new(rules: &'a Map<String, Value>, text: &'a str) -> Self {
        let mut page = Self { rules, lines: text.lines().collect(), lists: Vec::new(), code: Vec::new() };
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|it| it.0 + 1)).collect();
        let line = |at: usize| starts.partition_point(|it| *it <= at);
        let mut open = Vec::new();
        let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            let whole = &text[range.clone()];
            let lines = line(range.start)..line(range.start + whole.trim_end().len().max(1) - 1) + 1;
            match event {
                Event::Start(Tag::List(first)) => {
                    open.push(page.lists.len());
                    page.lists.push(List { is_ordered: first.is_some(), lines, items: Vec::new() });
                }
                Event::Start(Tag::Item) => {
                    if let Some(list) = open.last().and_then(|it| page.lists.get_mut(*it)) {
                        let line = text[starts[lines.start - 1]..].lines().next().unwrap_or_default();
                        list.items.push(line.len() - line.trim_start().len());
                    }
                }
                Event::End(TagEnd::List(_)) => drop(open.pop()),
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                    page.code.push(lines.start + 1..lines.end.saturating_sub(1));
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => page.code.push(lines),
                _ => {}
            }
        }
        page
    }

    fn line(&self, number: usize) -> &'a str {
        number.checked_sub(1).and_then(|it| self.lines.get(it)).copied().unwrap_or_default()
    }

    /// The innermost list that a line is part of.
    fn list(&self, number: usize) -> Option<&List> {
        self.lists.iter().rfind(|it| it.lines.contains(&number))
    }

    fn option(&self, code: &str, name: &str) -> Option<&Value> {
        self.rules.get(code)?.get(name)
    }

    fn is_true(&self, code: &str, name: &str, default: bool) -> bool {
        self.option(code, name).and_then(Value::as_bool).unwrap_or(default)
    }

    fn number(&self, code: &str, name: &str, default: u64) -> u64 {
        self.option(code, name).and_then(Value::as_u64).unwrap_or(default)
    }

    /// What MD030 says of a list's items if it expects what markdownlint does.
    fn spaces(&self, list: &List) -> String {
        let kind = if list.is_ordered { "ol" } else { "ul" };
        let size = if list.lines.len() == list.items.len() { "single" } else { "multi" };
        format!("Expected: {};", self.number("MD030", &format!("{kind}_{size}"), 1))
    }

    /// Whether MD009 is about the spaces at a line's end: as many as make a break are allowed anywhere, and all in code.
    fn has_trailing(&self, number: usize) -> bool {
        let line = self.line(number);
        let count = (line.len() - line.trim_end().len()) as u64;
        let is_strict = self.is_true("MD009", "strict", false);
        let is_break = count >= 2 && count == self.number("MD009", "br_spaces", 2);
        let is_code = self.code.iter().any(|it| it.contains(&number));
        (is_strict || !is_break) && (!is_code || self.is_true("MD009", "code_blocks", false))
    }

    /// Whether markdownlint's MD013 has a finding in a line.
    fn is_too_long(&self, found: &LintWarning, long: &LongLines) -> bool {
        let (is_strict, is_stern) =
            (self.is_true("MD013", "strict", false), self.is_true("MD013", "stern", false));
        let has_blank = || line_length::has_blank_beyond(self.line(found.line), &found.message);
        !long.is_definition(found.line)
            && (is_strict || !long.is_link_only(found.line))
            && (is_strict || is_stern || has_blank())
    }

    /// Whether there is nothing but front matter and empty lines before a line.
    fn is_before_text(&self, number: usize) -> bool {
        let fence = self.line(1).trim_end();
        let rest = self.lines.get(1..).filter(|_| matches!(fence, "---" | "+++")).unwrap_or_default();
        let end = rest.iter().position(|it| it.trim_end() == fence).map(|it| it + 2);
        end.is_some_and(|end| (end + 1..=number).all(|it| self.line(it).trim().is_empty()))
    }

    /// Whether a fence has something after it: `{eval-rst}`.
    fn has_info(&self, number: usize) -> bool {
        let line = self.line(number).trim_start_matches([' ', '\t', '>']);
        !line.trim_start_matches(['`', '~']).trim().is_empty()
    }
}
