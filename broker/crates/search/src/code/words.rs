//! The words of a text: identifiers, whole and split where their spelling does.
//!
//! `parseHttpRequest`, `parse_http_request` and "parse HTTP requests" have the words `parse`, `http` and `request` in common.
//! A plural is its singular. A word is kept as a number, by its hash.

use std::collections::HashMap;

/// The hash of a word in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word(pub(crate) u64);

/// Bytes of an identifier; what is longer is data.
const LONGEST: usize = 64;

/// Words that say nothing in a question.
const EMPTY: [&str; 32] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how", "in", "is",
    "it", "of", "on", "or", "that", "the", "there", "this", "to", "used", "was", "what", "when", "where",
    "which", "with",
];

impl Word {
    fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let hash = blake3::hash(singular(&lower).as_bytes());
        let [a, b, c, d, e, f, g, h, ..] = *hash.as_bytes();
        Self(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    }
}

/// Learns the words of one text after the other, and remembers those that it saw.
#[derive(Default)]
pub(crate) struct Reader {
    known: HashMap<Box<str>, Word>,
}

/// Spellings that a reader remembers.
const MAX_CACHED_SPELLINGS: usize = 100_000;

impl Reader {
    /// Calls `add` for each word of a text, as often as it is there.
    pub(crate) fn read(&mut self, text: &str, mut add: impl FnMut(Word)) {
        for identifier in identifiers(text) {
            let parts: Vec<_> = parts(identifier).collect();
            if parts.len() > 1 {
                add(self.word(identifier));
            }
            for part in parts.into_iter().filter(|it| it.len() > 1) {
                add(self.word(part));
            }
        }
    }

    fn word(&mut self, text: &str) -> Word {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let word = Word::of(text);
        if self.known.len() >= MAX_CACHED_SPELLINGS {
            self.known.clear();
        }
        self.known.insert(text.into(), word);
        word
    }
}

/// The words of a question, each once. Small words count only if there is nothing else.
pub(crate) fn of_question(text: &str) -> Vec<Word> {
    let is_empty = |it: &&str| EMPTY.contains(&it.to_lowercase().as_str());
    let full: Vec<_> = identifiers(text).filter(|it| !is_empty(it)).collect();
    let text = if full.is_empty() { text.to_owned() } else { full.join(" ") };
    let mut words = Vec::new();
    Reader::default().read(&text, |it| words.push(it));
    words.sort_unstable();
    words.dedup();
    words
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |it: char| !(it.is_alphanumeric() || it == '_');
    text.split(is_between).map(|it| it.trim_matches('_')).filter(|it| (2..=LONGEST).contains(&it.len()))
}

/// The words of an identifier: `HTTPServer2` has `HTTP`, `Server` and `2`.
fn parts(identifier: &str) -> impl Iterator<Item = &str> {
    let mut rest = identifier;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches('_');
        let mut characters = rest.char_indices();
        let (_, mut last) = characters.next()?;
        let (mut before_last, mut end) = (0, rest.len());
        for (at, next) in characters {
            // The last of several capitals begins the next word.
            if last.is_uppercase() && next.is_lowercase() && before_last > 0 {
                end = before_last;
                break;
            }
            if next == '_' || class(last) != class(next) && !(last.is_uppercase() && next.is_lowercase()) {
                end = at;
                break;
            }
            (before_last, last) = (at, next);
        }
        let (part, more) = rest.split_at(end);
        rest = more;
        Some(part)
    })
}

fn class(it: char) -> u8 {
    if it.is_numeric() {
        0
    } else if it.is_uppercase() {
        1
    } else {
        2
    }
}

fn singular(word: &str) -> String {
    match word {
        it if it.len() < 4 || it.ends_with("ss") || it.ends_with("us") || it.ends_with("is") => it.to_owned(),
        it if it.ends_with("ies") => format!("{}y", &it[..it.len() - 3]),
        it if ["ches", "shes", "sses", "xes"].iter().any(|end| it.ends_with(end)) => {
            it[..it.len() - 2].to_owned()
        }
        it => it.strip_suffix('s').unwrap_or(it).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_split_where_their_spelling_does() {
        let split = |it| parts(it).collect::<Vec<_>>().join(" ");
        for (identifier, want) in [
            ("parseHttpRequest", "parse Http Request"),
            ("parse_http__request", "parse http request"),
            ("HTTPServer2", "HTTP Server 2"),
            ("XMLHttp", "XML Http"),
            ("aB", "a B"),
            ("ABC", "ABC"),
            ("utf8_to_16", "utf 8 to 16"),
            ("größeÄndern", "größe Ändern"),
            ("x", "x"),
        ] {
            assert_eq!(split(identifier), want);
        }
    }

    #[test]
    fn a_question_has_the_words_that_say_something() {
        let same = |a: &str, b: &str| assert_eq!(of_question(a), of_question(b), "{a}");
        same("where is the parser?", "Parsers");
        same("entries of boxes", "ENTRY box");
        same("class", "class");
        same("what is it", "what is it");
        assert_ne!(of_question("what is it"), []);
        assert_eq!(of_question("parse_requests").len(), 3, "the identifier and its words");
        assert_eq!(of_question("..."), []);
    }
}
