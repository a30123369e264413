//! Marks of MD037's that are meant as emphasis: without the spaces beside them, a whole phrase is. Patterns of files
//! (`*_value and * too`), multiplications and pointers have such marks as well.

use pulldown_cmark::{Event, Parser, Tag};

use crate::excerpt::Excerpt;

/// Signs that stand beside the marks of patterns: `**/a`, `*.c`, `lib*-dev`.
const OF_PATTERNS: [char; 6] = ['/', '.', '\\', '$', '-', '='];

/// Signs in pairs that a phrase has both of.
const PAIRS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

/// Whether the marks were meant as emphasis.
pub(crate) fn is_meant(it: Excerpt<'_>) -> bool {
    let Some((mark, phrase)) = parts(it.about) else { return false };
    let inner = phrase.trim();
    !inner.is_empty()
        && !inner.contains(mark)
        && is_balanced(inner)
        && !is_lone(it, mark, phrase)
        && !touches_pattern(it, mark)
        && makes_emphasis(it, mark, inner)
}

/// The marks on either side, which are the same, and what is between them.
fn parts(about: &str) -> Option<(&str, &str)> {
    let sign = about.chars().next().filter(|it| matches!(it, '*' | '_'))?;
    let length = about.len() - about.trim_start_matches(sign).len();
    let mark = &about[..length];
    let phrase = about.get(length..about.len().checked_sub(length)?)?;
    (about.ends_with(mark) && !phrase.ends_with(sign)).then_some((mark, phrase))
}

/// Whether a single mark stands between blanks, as a sign of its own.
fn is_lone(it: Excerpt<'_>, mark: &str, phrase: &str) -> bool {
    let is_blank = |it: Option<char>| it.is_none_or(char::is_whitespace);
    let opens = it.before.chars().next_back().is_some() && is_blank(it.before.chars().next_back());
    let closes = it.after.chars().next().is_some() && is_blank(it.after.chars().next());
    let opens = opens && phrase.starts_with(char::is_whitespace);
    let closes = closes && phrase.ends_with(char::is_whitespace);
    mark == "*" && (opens || closes)
}

/// Whether a mark of the line is part of a pattern or of a name.
fn touches_pattern(it: Excerpt<'_>, mark: &str) -> bool {
    let line = [it.before, it.about, it.after].concat();
    let sign = &mark[..1];
    let touches = |at: usize| {
        let before = line[..at].chars().next_back().is_some_and(|it| OF_PATTERNS[..4].contains(&it));
        let after = line[at + 1..].chars().next();
        before || after.is_some_and(|it| OF_PATTERNS.contains(&it) || it == '_' && sign == "*")
    };
    let mut marks = line.match_indices(sign).map(|it| it.0);
    let inside = it.before.len()..it.before.len() + it.about.len() + 1;
    marks.any(|at| inside.contains(&at) && touches(at) && !ends_sentence(&line[at..], sign))
}

/// Whether a mark is the last of a word before a full stop: `** so **.`
fn ends_sentence(rest: &str, sign: &str) -> bool {
    rest.trim_start_matches(sign)
        .strip_prefix(['.', '-'])
        .is_some_and(|it| !it.starts_with(char::is_alphanumeric))
}

fn is_balanced(phrase: &str) -> bool {
    let count = |sign| phrase.matches(sign).count();
    let is_even = |sign| count(sign) % 2 == 0;
    PAIRS.iter().all(|it| count(it.0) == count(it.1)) && is_even('"') && is_even('`')
}

/// Whether Markdown makes emphasis of the whole phrase, once the spaces are gone.
fn makes_emphasis(it: Excerpt<'_>, mark: &str, inner: &str) -> bool {
    let mended = format!("{mark}{inner}{mark}");
    let before = it.before.trim_start().trim_start_matches(['#', '>', '-', '+', '|']).trim_start();
    let line = format!("{before}{mended}{}", it.after);
    let wanted = before.len()..before.len() + mended.len();
    let is_it = |event: &Event<'_>| matches!(event, Event::Start(Tag::Emphasis | Tag::Strong));
    Parser::new(&line).into_offset_iter().any(|(event, range)| is_it(&event) && range == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The finding is about what is between bars.
    fn meant(line: &str) -> bool {
        let parts: Vec<&str> = line.split('¦').collect();
        is_meant(Excerpt { before: parts[0], about: parts[1], after: parts[2] })
    }

    #[test]
    fn phrases() {
        for line in [
            "and ¦** this **¦ is",
            "¦** Note:**¦ text",
            "a ¦**word **¦, then",
            "¦*a phrase *¦, then",
            "¦_ New things:_¦",
            "## ¦** Title **¦",
            "> is ¦** so (or not) **¦.",
            "¦*** both ***¦ here",
        ] {
            assert!(meant(line), "{line}");
        }
    }

    #[test]
    fn other_marks() {
        for line in [
            "all ¦*_total_amount (each * has¦ x",
            "columns ¦*_id (where *¦ is a table)",
            "files ¦*.c and *¦ too",
            "files ¦**/src and **¦ too",
            "¦** and a/**¦ too",
            "a ¦*left and *¦ right",
            "a ¦* b*¦ c",
            "(¦*name (of *¦) x",
            "lib¦*-dev or *¦-doc",
            "say ¦*\"this *¦\" then",
            "a¦_ b_¦c",
        ] {
            assert!(!meant(line), "{line}");
        }
    }
}
