//! References of MD052's that are meant as such: `[text][label]` is also how two tags in a row, two indexes and two optional
//! arguments are written, all of which Markdown renders as they stand.
//!
//! A label is taken for one that was to be defined where the file defines one of nearly that name, or where it has other
//! links by reference and this one stands as they do.

use pulldown_cmark::{Event, LinkType, Parser, Tag};
use rumdl_lib::rule::LintWarning;
use rustc_hash::FxHashSet;

use crate::excerpt::Excerpt;

/// Length from which a label may differ in two signs from a definition's, rather than in one.
const LONG: usize = 8;

/// The links by reference that a file has.
pub(crate) struct References {
    /// Labels of definitions, without what [`plain`] drops.
    defined: FxHashSet<String>,
    /// Whether a link uses one of the labels in brackets of its own.
    are_used: bool,
}

impl References {
    pub(crate) fn of(text: &str) -> Self {
        // A definition needs this sign.
        if !text.contains("]:") {
            return Self { defined: FxHashSet::default(), are_used: false };
        }
        let parser = Parser::new(text);
        let labels = parser.reference_definitions().iter().map(|it| it.0);
        let defined = labels.filter(|it| !it.starts_with('^')).map(plain).collect();
        let is_one = |it: &Event<'_>| {
            let Event::Start(Tag::Link { link_type, .. } | Tag::Image { link_type, .. }) = it else {
                return false;
            };
            matches!(link_type, LinkType::Reference | LinkType::Collapsed)
        };
        Self { defined, are_used: parser.into_iter().any(|it| is_one(&it)) }
    }

    /// Whether a finding of MD052's is about a label that should have been defined.
    pub(crate) fn lack(&self, warning: &LintWarning, line: &str) -> bool {
        let Some(label) = label(&warning.message).map(plain).filter(|it| !it.is_empty()) else {
            return true;
        };
        self.defined.iter().any(|it| is_near(it, &label)) || self.are_used && stands_alone(warning, line)
    }
}

fn label(message: &str) -> Option<&str> {
    message.strip_prefix("Reference '")?.strip_suffix("' not found")
}

/// A label in small letters, and without the signs that are easily left out.
fn plain(label: &str) -> String {
    label.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether two labels differ by a slip at most. Numbers distinguish labels that are otherwise the same.
fn is_near(one: &str, other: &str) -> bool {
    let digits = |it: &str| it.chars().filter(char::is_ascii_digit).collect::<String>();
    let most = match one.len().min(other.len()) {
        0..4 => 0,
        4..LONG => 1,
        _ => 2,
    };
    digits(one) == digits(other)
        && one.len().abs_diff(other.len()) <= 2 * most
        && distance(one, other) <= most
}

/// Number of letters that have to be changed, added or removed.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (index, it) in other.iter().enumerate() {
            let changed = diagonal + usize::from(*it != letter);
            diagonal = row[index + 1];
            row[index + 1] = changed.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[other.len()]
}

/// Whether the brackets stand as those of a link in a sentence do: behind no word and no bracket, before none, and not at the
/// start of the text, where titles have their tags.
fn stands_alone(warning: &LintWarning, line: &str) -> bool {
    let Some(excerpt) = Excerpt::of(warning, line) else { return false };
    let joins = |it: char| it.is_alphanumeric() || "_)]}".contains(it);
    let leads = excerpt.before.trim_matches(|it: char| it.is_whitespace() || "#*+->!".contains(it));
    let is_tag = leads.is_empty() && excerpt.after.starts_with([' ', ':']);
    !is_tag && !excerpt.before.ends_with(joins) && !excerpt.after.starts_with(['[', '(', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, line: usize, label: &str) -> bool {
        let line = text.lines().nth(line - 1).unwrap();
        let at = line.find('[').unwrap();
        let end = line.rfind(']').unwrap() + 1;
        let warning = LintWarning {
            rule_name: Some("MD052".to_owned()),
            message: format!("Reference '{label}' not found"),
            line: 1,
            column: at + 1,
            end_line: 1,
            end_column: end + 1,
            severity: rumdl_lib::rule::Severity::Warning,
            fix: None,
        };
        References::of(text).lack(&warning, line)
    }

    #[test]
    fn labels_that_were_to_be_defined() {
        assert!(has("see [the book][hand-boook] now\n\n[Handbook]: b.md\n", 1, "hand-boook"));
        assert!(has("see [a][gone] and\n[b][there]\n\n[there]: b.md\n", 1, "gone"));
        assert!(has("> - [a][gone]\n[b][there]\n\n[there]: b.md\n", 1, "gone"), "the whole of a line");
    }

    #[test]
    fn brackets_that_are_none() {
        assert!(!has("- fix [8.1][parser] once\n", 1, "parser"));
        assert!(!has("fix [8.1][parser] once\n\n[#12]: b.md\n", 1, "parser"), "no link looks like it");
        let used = "[b][there]\n\n[there]: b.md\n";
        assert!(!has(&format!("* [8.1][parser] reads more\n{used}"), 1, "parser"), "tags of a title");
        assert!(!has(&format!("cells[row][column] is\n{used}"), 1, "column"), "indexes");
        assert!(!has("see [a][v12] x\n\n[v13]: b.md\n", 1, "v12"), "another version");
    }

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
        assert!(is_near("releases", "release") && !is_near("one", "two") && !is_near("a", "b"));
    }
}
