//! The word at a position: a rule in a suppression comment, or a rule or key in `broker.toml`.
//!
//! Scans lines without a parser, since completion is asked for in text that is half typed.

use std::ops::Range;

/// A word and its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Byte range in its line.
    pub(super) range: Range<usize>,
    pub(super) kind: WordKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordKind {
    /// A rule in the brackets of a suppression comment.
    Suppressed,
    /// Possibly a rule, in a suppression comment of another tool.
    Mentioned,
    /// A string in the value of the key at `path`, in `broker.toml`.
    Value { path: Vec<String> },
    /// A key in the table at `table`, in `broker.toml`.
    Key { table: Vec<String> },
    /// The name of a table in brackets.
    Table,
}

/// Beginnings of other tools' suppression comments that plugins understand, in lower case.
const OTHER_TOOLS: [&str; 12] = [
    "noqa",
    "eslint-disable",
    "oxlint-disable",
    "deno-lint-ignore",
    "biome-ignore",
    "stylelint-disable",
    "markdownlint-disable",
    "rumdl-disable",
    "shellcheck disable",
    "hadolint ignore",
    "selene: allow",
    "type: ignore",
];

impl Word {
    /// The word at `column`, in bytes, in a suppression comment of another tool.
    pub(super) fn in_other_comment(line: &str, column: usize) -> Option<Self> {
        let before = line.get(..column)?.to_ascii_lowercase();
        let is_one = OTHER_TOOLS.iter().any(|it| before.contains(it));
        let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '/' | '@');
        let start = line[..column].rfind(|it| !is_part(it)).map_or(0, |it| it + 1);
        let end = line[column..].find(|it| !is_part(it)).map_or(line.len(), |it| column + it);
        (is_one && start < end).then_some(Self { range: start..end, kind: WordKind::Mentioned })
    }

    /// The rule at `column`, in bytes, in a suppression comment of Broker; empty where one can be typed.
    pub(super) fn in_suppression(line: &str, column: usize) -> Option<Self> {
        let before = line.get(..column)?;
        let start = before.rfind("broker:")?;
        let rest = line[start + "broker:".len()..].trim_start();
        let offset = line.len() - rest.len();
        let name = rest.find(|it: char| !it.is_ascii_lowercase() && it != '-')?;
        if !["ignore", "ignore-next-line", "ignore-file", "disable", "enable"].contains(&&rest[..name]) {
            return None;
        }
        let list = offset + name + 1;
        if !rest[name..].starts_with('[') || column < list {
            return None;
        }
        let end = line[list..].find(']').map_or(line.trim_end().len().max(column), |it| list + it);
        (column <= end).then(|| Self { range: between(line, list..end, column), kind: WordKind::Suppressed })
    }

    /// The word at `column`, in bytes, of the last of `lines`, which are the lines of `broker.toml` up to that one.
    pub(super) fn in_config(lines: &[&str], column: usize) -> Option<Self> {
        let (line, above) = lines.split_last()?;
        let before = line.get(..column)?;
        let head = before.trim_start();
        if head.starts_with('#') {
            return None;
        }
        if head.starts_with('[') && !is_in_list(above) {
            let start = line.len() - line.trim_start().trim_start_matches('[').len();
            let end = line.find(']').unwrap_or(line.trim_end().len().max(column));
            return (start <= column && column <= end)
                .then_some(Self { range: start..end, kind: WordKind::Table });
        }
        let table = table_of(above);
        let string = string_at(line, column);
        if let Some(key) = key_of_value(above, line, column) {
            let path = table.into_iter().chain([key]).collect();
            return Some(Self { range: string?, kind: WordKind::Value { path } });
        }
        // A key, with or without quotes.
        let range = string.unwrap_or_else(|| bare(line, column));
        Some(Self { range, kind: WordKind::Key { table } })
    }
}

/// The item of a comma-separated list at the column, without the space around it.
fn between(line: &str, list: Range<usize>, column: usize) -> Range<usize> {
    let start = line[list.start..column].rfind(',').map_or(list.start, |it| list.start + it + 1);
    let end = line[column..list.end].find(',').map_or(list.end, |it| column + it);
    let word = &line[start..end];
    let start = (start + word.len() - word.trim_start().len()).min(column);
    start..(start + line[start..end].trim_end().len()).max(column)
}

/// The content of the string at the column.
fn string_at(line: &str, column: usize) -> Option<Range<usize>> {
    let mut open: Option<(usize, char)> = None;
    for (at, it) in line.char_indices() {
        match open {
            None if at >= column => return None,
            None if it == '#' => return None,
            None if it == '"' || it == '\'' => open = Some((at + 1, it)),
            Some((start, quote)) if it == quote => {
                if column <= at {
                    return Some(start..at);
                }
                open = None;
            }
            _ => {}
        }
    }
    open.filter(|(start, _)| *start <= column).map(|(start, _)| start..line.len())
}

/// The unquoted key at the column.
fn bare(line: &str, column: usize) -> Range<usize> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    let start = line[..column].rfind(|it| !is_part(it)).map_or(0, |it| it + 1);
    let end = line[column..].find(|it| !is_part(it)).map_or(line.len(), |it| column + it);
    start..end
}

/// Path of the table that the last line is in.
fn table_of(lines: &[&str]) -> Vec<String> {
    let header = lines.iter().rev().find(|it| it.trim_start().starts_with('[') && !it.contains('='));
    let names = header.map(|it| it.trim().trim_start_matches('[').split(']').next().unwrap_or_default());
    let name = |it: &str| it.trim().trim_matches(['"', '\'']).to_owned();
    names.unwrap_or_default().split('.').map(name).filter(|it| !it.is_empty()).collect()
}

/// The key whose value is at the column: that of this line, or of an open list from an earlier line.
fn key_of_value(above: &[&str], line: &str, column: usize) -> Option<String> {
    let key =
        |line: &str| line.split_once('=').map(|(key, _)| key.trim().trim_matches(['"', '\'']).to_owned());
    match line.find('=') {
        Some(equals) if equals < column => key(line),
        Some(_) => None,
        None => is_in_list(above).then(|| above.iter().rev().find_map(|it| key(it))).flatten(),
    }
}

/// Whether the last line ends inside a list.
fn is_in_list(lines: &[&str]) -> bool {
    let start = lines.iter().rposition(|it| it.contains('='));
    let Some(start) = start else { return false };
    let text = lines[start..].iter().map(|it| it.split('#').next().unwrap_or_default()).collect::<String>();
    text.matches('[').count() > text.matches(']').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suppressed(line: &str) -> Option<String> {
        let column = line.find('|').unwrap();
        let line = line.replace('|', "");
        Word::in_suppression(&line, column).map(|it| line[it.range].to_owned())
    }

    #[test]
    fn rules_of_suppressions() {
        for (line, want) in [
            ("x = 1  # broker: ignore[python/F4|01] why", Some("python/F401")),
            ("# broker: ignore[python/F401, ja|]", Some("ja")),
            ("# broker: ignore[|", Some("")),
            ("# broker: ignore[a, |]", Some("")),
            ("// broker:ignore-next-line[a/b|, c]", Some("a/b")),
            ("# broker: ignore|[a]", None),
            ("# broker: ignore[a] w|hy", None),
            ("# broker: nothing[a|]", None),
            ("x = [a|]", None),
        ] {
            assert_eq!(suppressed(line).as_deref(), want, "{line}");
        }
    }

    #[test]
    fn rules_in_comments_of_other_tools() {
        for (line, want) in [
            ("import os  # noqa: F4|01", Some("F401")),
            ("import os  # NoQA: E501,|F401 why", Some("F401")),
            ("// eslint-disable-next-line no-|var -- why", Some("no-var")),
            ("# shellcheck disable=SC2086,|SC2046", Some("SC2046")),
            ("import os  # no|qa: F401", None),
            ("import os  # noqa: F401|, E501", Some("F401")),
            ("x = [F4|01]", None),
        ] {
            let column = line.find('|').unwrap();
            let line = line.replace('|', "");
            let word = Word::in_other_comment(&line, column).map(|it| line[it.range].to_owned());
            assert_eq!(word.as_deref(), want, "{line}");
        }
    }

    fn configured(text: &str) -> Option<(String, WordKind)> {
        let before: Vec<_> = text.split('|').collect();
        let column = before[0].rsplit('\n').next().unwrap().len();
        let row = before[0].matches('\n').count();
        let text = text.replace('|', "");
        let lines: Vec<_> = text.split('\n').take(row + 1).collect();
        Word::in_config(&lines, column).map(|it| (lines[row][it.range].to_owned(), it.kind))
    }

    #[test]
    fn words_of_a_configuration() {
        let path = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let value = |text: &str, of: &[&str]| Some((text.to_owned(), WordKind::Value { path: path(of) }));
        let key = |text: &str, of: &[&str]| Some((text.to_owned(), WordKind::Key { table: path(of) }));
        for (text, want) in [
            ("sel|ect = []", key("select", &[])),
            ("|", key("", &[])),
            ("select = [\"F4|01\"]", value("F401", &["select"])),
            ("select = [\n  \"F4|", value("F4", &["select"])),
            ("[severity]\n\"python/F|401\" = \"error\"", key("python/F401", &["severity"])),
            ("[severity]\n\"python/F401\" = \"er|ror\"", value("error", &["severity", "python/F401"])),
            ("[checkers.mypy]\ncom|", key("com", &["checkers", "mypy"])),
            ("[sev|", Some(("sev".to_owned(), WordKind::Table))),
            ("# sel|ect", None),
            ("select = [] # \"F|\"", None),
        ] {
            assert_eq!(configured(text), want, "{text}");
        }
    }
}
