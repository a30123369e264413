//! Merges the findings for a comment that ends a command: in `a \`, `# b \`, `-c`, the comment is the last of the command's
//! lines, and `-c` runs as a command of its own. shuck reports the comment (SC1143), and the option as leftover patch text (SC2215).

use broker_plugin_sdk as plugin;
use shuck_linter::{Diagnostic, Rule};

/// Whether another finding is about the same comment.
pub(crate) fn is_said(it: &Diagnostic, found: &[Diagnostic], text: &str) -> bool {
    let at = it.span.start.offset();
    let Some(start) = comments_around(at, it.rule, text) else { return false };
    let is_before = |other: &&Diagnostic| (start..at).contains(&other.span.start.offset());
    let mut comments = found.iter().filter(|it| it.rule == Rule::CommentedContinuationLine).filter(is_before);
    comments.next().is_some()
}

/// The finding in words for an option that is run as a command, rather than for a line of a patch.
pub(crate) fn reworded(finding: plugin::Diagnostic, of: &Diagnostic, text: &str) -> plugin::Diagnostic {
    let message = match of.rule {
        Rule::DiffMarkerLine => of_option(of, text),
        Rule::CommentedContinuationLine => of_comment(of, text),
        _ => None,
    };
    match message {
        Some(message) => plugin::Diagnostic { message, fixes: Vec::new(), ..finding },
        None => finding,
    }
}

fn of_option(it: &Diagnostic, text: &str) -> Option<String> {
    let at = it.span.start.offset();
    let option = option(text.get(at..)?)?;
    let start = comments_around(at, it.rule, text);
    Some(match start {
        Some(start) if continues(&text[..start]) => {
            format!("the comment above ends the command, so that `{option}` is run as a command of its own")
        }
        _ => format!("`{option}` is an option, and is run as a command: the line before it may lack a `\\`"),
    })
}

/// None unless an option follows.
fn of_comment(it: &Diagnostic, text: &str) -> Option<String> {
    let rest = text.get(it.span.start.offset()..)?;
    let next = rest.lines().skip(1).find(|it| !is_comment(it))?;
    let option = option(next.trim_start())?;
    Some(format!("the comment ends the command, so that `{option}` is run as a command of its own"))
}

/// The option at the start of a text. More signs are those of a patch.
fn option(text: &str) -> Option<&str> {
    let word = text.split(|it: char| it.is_whitespace() || ";&|<>()".contains(it)).next()?;
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    name.starts_with(char::is_alphabetic).then_some(word)
}

/// Returns the start of the comment lines right above the line at `at`; none if there are none.
fn comments_around(at: usize, rule: Rule, text: &str) -> Option<usize> {
    if !matches!(rule, Rule::DiffMarkerLine | Rule::CommentedContinuationLine) {
        return None;
    }
    let mut start = line_start(text, at);
    let first = start;
    while start > 0 && is_comment(&text[line_start(text, start - 1)..start]) {
        start = line_start(text, start - 1);
    }
    (start < first).then_some(start)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |it| it + 1)
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Whether a line is continued in the next one.
fn continues(text: &str) -> bool {
    text.trim_end_matches(['\r', '\n']).ends_with('\\')
}
