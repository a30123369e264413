//! Words, quotes and variables, as BuildKit's own little shell understands them.

use std::collections::HashMap;
use std::ops::Range;

/// A variable in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// With the dollar sign and the braces.
    pub(crate) range: Range<usize>,
    /// Text behind the name in the braces: `:-default`.
    pub(crate) modifier: String,
}

/// Meaning of a sign of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A quotation mark or an escape sign, which is no part of the value.
    Mark,
    Bare,
    /// In double quotes, where variables are still put in.
    Quoted,
    /// In single quotes or escaped: it means itself.
    Literal,
}

/// The signs of a text with their roles.
struct Signs<'t> {
    text: &'t str,
    at: usize,
    escape: char,
    quote: Option<char>,
    is_escaped: bool,
}

impl<'t> Signs<'t> {
    fn new(text: &'t str, escape: char) -> Self {
        Self { text, at: 0, escape, quote: None, is_escaped: false }
    }

    fn role(&mut self, it: char) -> Role {
        if std::mem::take(&mut self.is_escaped) {
            return Role::Literal;
        }
        match self.quote {
            Some(open) if it == open => {
                self.quote = None;
                Role::Mark
            }
            Some('\'') => Role::Literal,
            _ if it == self.escape => {
                self.is_escaped = true;
                Role::Mark
            }
            Some(_) => Role::Quoted,
            None if matches!(it, '"' | '\'') => {
                self.quote = Some(it);
                Role::Mark
            }
            None => Role::Bare,
        }
    }
}

impl Iterator for Signs<'_> {
    type Item = (usize, char, Role);

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let it = self.text[at..].chars().next()?;
        self.at += it.len_utf8();
        Some((at, it, self.role(it)))
    }
}

/// The words of a text; white space in quotes is part of a word.
pub(crate) fn words(text: &str, escape: char) -> Vec<Range<usize>> {
    let is_gap = |(_, it, role): (usize, char, Role)| role == Role::Bare && it.is_whitespace();
    split(text, Signs::new(text, escape).map(|it| (it.0, is_gap(it))))
}

/// The words of a text, whatever is in quotes.
pub(crate) fn plain_words(text: &str) -> Vec<Range<usize>> {
    split(text, text.char_indices().map(|(at, it)| (at, it.is_whitespace())))
}

/// Ranges between the gaps.
fn split(text: &str, signs: impl Iterator<Item = (usize, bool)>) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), None);
    for (at, is_gap) in signs {
        if is_gap {
            found.extend(start.take().map(|it| it..at));
        } else {
            start.get_or_insert(at);
        }
    }
    found.extend(start.map(|it| it..text.len()));
    found
}

/// A word without its quotes and escapes.
pub(crate) fn unquote(word: &str, escape: char) -> String {
    Signs::new(word, escape).filter(|it| it.2 != Role::Mark).map(|it| it.1).collect()
}

/// Whether a quote is never closed.
pub(crate) fn is_open(word: &str, escape: char) -> bool {
    let mut signs = Signs::new(word, escape);
    signs.by_ref().for_each(drop);
    signs.quote.is_some()
}

/// A part of a text's value.
enum Piece {
    Sign(char),
    Variable(Variable),
}

/// A text without quotes and escapes; what is a variable stays one.
fn pieces(text: &str, escape: char) -> impl Iterator<Item = Piece> {
    let braces = braces(text);
    let mut signs = Signs::new(text, escape);
    std::iter::from_fn(move || {
        loop {
            let (at, it, role) = signs.next()?;
            let may_expand = it == '$' && matches!(role, Role::Bare | Role::Quoted);
            if let Some(found) = may_expand.then(|| variable(text, at, &braces)).flatten() {
                signs.at = found.range.end;
                return Some(Piece::Variable(found));
            }
            if role != Role::Mark {
                return Some(Piece::Sign(it));
            }
        }
    })
}

/// The variables of a text, but those in single quotes and those whose dollar sign is escaped.
pub(crate) fn variables(text: &str, escape: char) -> Vec<Variable> {
    let variable = |it: Piece| if let Piece::Variable(it) = it { Some(it) } else { None };
    pieces(text, escape).filter_map(variable).collect()
}

/// The variable whose dollar sign is at a place.
fn variable(text: &str, at: usize, braces: &HashMap<usize, usize>) -> Option<Variable> {
    let rest = &text[at + 1..];
    if rest.starts_with('{') {
        let end = *braces.get(&(at + 1))?;
        let inner = &text[at + 2..end];
        let name = name(inner);
        let modifier = inner[name.len()..].to_owned();
        return (!name.is_empty()).then(|| Variable { name: name.to_owned(), range: at..end + 1, modifier });
    }
    let name = name(rest);
    let range = at..at + 1 + name.len();
    (!name.is_empty()).then(|| Variable { name: name.to_owned(), range, modifier: String::new() })
}

/// Offsets of the closing braces, by those of the opening ones.
fn braces(text: &str) -> HashMap<usize, usize> {
    let (mut open, mut closed) = (Vec::new(), HashMap::new());
    for (at, it) in text.bytes().enumerate() {
        match it {
            b'{' => open.push(at),
            b'}' => closed.extend(open.pop().map(|open| (open, at))),
            _ => {}
        }
    }
    closed
}

/// Names begin with no digit: `$1` is nothing that a Dockerfile could define.
fn name(text: &str) -> &str {
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let end = text.find(|it| !is_name(it)).unwrap_or(text.len());
    if text.starts_with(|it: char| it.is_ascii_digit()) { "" } else { &text[..end] }
}

/// Values of variables; `None`: there is one, but its value is not known.
pub(crate) type Values = HashMap<String, Option<String>>;

/// Limit on the length of a word and of its value: a default made of others, twice each, grows without end.
const LONGEST: usize = 4096;

/// A word with its variables put in. `None`: it has some whose value is not known, or is too long.
pub(crate) fn expand(word: &str, escape: char, values: &Values) -> Option<String> {
    let mut plain = String::new();
    for piece in (word.len() <= LONGEST).then(|| pieces(word, escape))? {
        match piece {
            Piece::Sign(it) => plain.push(it),
            Piece::Variable(it) => plain.push_str(&value(&it, escape, values)?),
        }
        if plain.len() > LONGEST {
            return None;
        }
    }
    Some(plain)
}

fn value(variable: &Variable, escape: char, values: &Values) -> Option<String> {
    let value = match values.get(&variable.name) {
        Some(known) => Some(known.as_ref()?),
        None => None,
    };
    let (null_counts, rest) = match variable.modifier.strip_prefix(':') {
        Some(rest) => (true, rest),
        None => (false, &*variable.modifier),
    };
    let value = value.filter(|it| !null_counts || !it.is_empty());
    match rest.chars().next() {
        None => Some(value.cloned().unwrap_or_default()),
        Some('-') => value.cloned().or_else(|| expand(&rest[1..], escape, values)),
        Some('+') if value.is_some() => expand(&rest[1..], escape, values),
        Some('+') => Some(String::new()),
        _ => None,
    }
}
