//! The parts of a script's text: words, operators and redirections.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Operator,
    /// With what it leads to or from.
    Redirection,
}

/// Longer ones first.
const OPERATORS: [&str; 14] =
    [";;&", "&&", "||", "|&", ";;", ";&", "<(", ">(", "|", "&", ";", "(", ")", "\n"];
const REDIRECTIONS: [&str; 12] = ["&>>", "<<<", "<<-", "&>", ">>", ">&", ">|", "<<", "<&", "<>", ">", "<"];

/// The next part of a script.
pub(super) fn token(text: &str, from: usize) -> Option<(Range<usize>, Kind)> {
    let start = skip_blank(text, from);
    let rest = text.get(start..).filter(|it| !it.is_empty())?;
    if rest.starts_with('#') {
        let end = rest.find('\n').map_or(text.len(), |it| start + it);
        return token(text, end);
    }
    if let Some(end) = redirection(text, start) {
        return Some((start..end, Kind::Redirection));
    }
    if let Some(operator) = OPERATORS.iter().find(|it| rest.starts_with(**it)) {
        return Some((start..start + operator.len(), Kind::Operator));
    }
    Some((start..word_end(text, start), Kind::Word))
}

fn skip_blank(text: &str, from: usize) -> usize {
    text[from..].find(|it: char| !matches!(it, ' ' | '\t' | '\r')).map_or(text.len(), |it| from + it)
}

/// End of a redirection like `2>file`, if one begins at `start`. `<(…)` and `>(…)` are commands.
fn redirection(text: &str, start: usize) -> Option<usize> {
    let sign = start + text[start..].find(|it: char| !it.is_ascii_digit())?;
    let found = REDIRECTIONS.iter().find(|it| text[sign..].starts_with(**it))?;
    let end = sign + found.len();
    let is_command = text[end..].starts_with('(');
    (!is_command && (sign == start || !found.starts_with('&')))
        .then(|| target_end(text, skip_blank(text, end)))
}

/// End of the word that follows a redirection, if there is one.
fn target_end(text: &str, start: usize) -> usize {
    let is_word = !OPERATORS.iter().any(|it| text[start..].starts_with(*it));
    if is_word && start < text.len() { word_end(text, start) } else { start }
}

fn word_end(text: &str, start: usize) -> usize {
    let mut at = start;
    let mut quote = None;
    while let Some(it) = text[at..].chars().next() {
        let next = at + it.len_utf8();
        at = match (quote, it) {
            (Some('\''), '\'') => {
                quote = None;
                next
            }
            (Some('\''), _) => next,
            (_, '\\') => next + text[next..].chars().next().map_or(0, char::len_utf8),
            (_, '$') if text[next..].starts_with('(') => {
                closing(text, next + 1).map_or(text.len(), |it| it + 1)
            }
            (_, '$') if text[next..].starts_with('{') => {
                text[next..].find('}').map_or(text.len(), |it| next + it + 1)
            }
            (_, '`') => text[next..].find('`').map_or(text.len(), |it| next + it + 1),
            (Some(open), it) if it == open => {
                quote = None;
                next
            }
            (Some(_), _) => next,
            (None, '"' | '\'') => {
                quote = Some(it);
                next
            }
            (None, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>') => {
                return at.max(start + usize::from(at == start));
            }
            (None, _) => next,
        };
    }
    text.len()
}

/// The bracket that closes what is open before a place.
pub(crate) fn closing(text: &str, from: usize) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0, None, false);
    for (at, it) in text[from..].char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match (quote, it) {
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => is_escaped = true,
            (Some(open), it) if it == open => quote = None,
            (None, '"' | '\'') => quote = Some(it),
            (_, '(') => depth += 1,
            (_, ')') if depth == 0 => return Some(from + at),
            (_, ')') => depth -= 1,
            _ => {}
        }
    }
    None
}
