//! Command substitutions in a word: `$(…)` and backquotes where the shell expands them, outside of single quotes and without
//! a `\` before them.

use std::ops::Range;

use super::token::closing;

/// Ranges of the scripts in a word's substitutions, in their order. Those of arithmetic are left out.
pub(super) fn substitutions(word: &str) -> Vec<Range<usize>> {
    let (mut found, mut at, mut is_double) = (Vec::new(), 0, false);
    while let Some(it) = word[at..].chars().next() {
        let next = at + it.len_utf8();
        at = match it {
            '\\' => next + word[next..].chars().next().map_or(0, char::len_utf8),
            '\'' if !is_double => after(word, next, '\''),
            '"' => {
                is_double = !is_double;
                next
            }
            '$' if word[next..].starts_with('(') => {
                let end = closing(word, next + 1).unwrap_or(word.len());
                found.extend(Some(next + 1..end).filter(|it| !word[it.clone()].starts_with('(')));
                word.len().min(end + 1)
            }
            '`' => {
                let end = backquote(word, next);
                found.push(next..end);
                word.len().min(end + 1)
            }
            _ => next,
        };
    }
    found
}

/// The place after the next such sign.
fn after(word: &str, from: usize, sign: char) -> usize {
    word[from..].find(sign).map_or(word.len(), |it| from + it + sign.len_utf8())
}

/// The backquote that ends what begins at a place; one after a `\` belongs to an inner substitution.
fn backquote(word: &str, from: usize) -> usize {
    let mut is_escaped = false;
    let ends = |(_, it): &(usize, char)| {
        let is_end = *it == '`' && !is_escaped;
        is_escaped = *it == '\\' && !is_escaped;
        is_end
    };
    word[from..].char_indices().find(ends).map_or(word.len(), |it| from + it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(word: &str) -> Vec<&str> {
        substitutions(word).into_iter().map(|it| &word[it]).collect()
    }

    #[test]
    fn what_the_shell_expands() {
        assert_eq!(scripts("a$(b | c)`d`\"$(e)'$(f)'\""), ["b | c", "d", "e", "f"]);
        assert_eq!(scripts("'it'\"'\"$(a 'b)')c$(d"), ["a 'b)'", "d"]);
        assert_eq!(scripts("`a \\`b\\``$((1))$(x)"), ["a \\`b\\`", "x"]);
    }

    #[test]
    fn what_is_quoted() {
        for word in
            ["'$(a)'", "x='`a`'\"\\$(b)\"", "\\$\\(a\\)", "\\`a\\`", "\"\\`a\\`\"", "'$(a", "$((1 + 2))"]
        {
            assert!(scripts(word).is_empty(), "{word}");
        }
    }
}
