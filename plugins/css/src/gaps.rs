//! Replaces syntax that raffia 0.13 cannot read, though browsers, Sass or Less can, by syntax of the same length that it reads:
//! places stay the same, and rules look at the original text.
//!
//! Left out: what no corpus of stylesheets has shown. Of such in SCSS and Less, the value of a declaration is passed
//! over ([`without_value`]); a stylesheet with such elsewhere is left out, and the log says so.

use raffia::Syntax;

use crate::mask::{Mask, statement_end};

/// At-rules whose preludes are nothing to rules if some signs are in them, and what is a prelude to raffia.
const PRELUDES: [(&str, &[u8], &[u8]); 6] = [
    ("media", b"#@$~", b" x"),
    ("supports", b"#@$~", b" (x:x)"),
    ("container", b"#@$~", b" (x:x)"),
    ("font-feature-values", b",", b" x"),
    // `:local(name)` of CSS modules.
    ("keyframes", b":", b" x"),
    // `:nth(2n of chapter)`, of media with pages.
    ("page", b"(", b" x"),
];

/// Pseudo-elements whose arguments are more than a name.
const ARGUMENTS: [&[u8]; 3] = [b"::cue(", b"::cue-region(", b"::part("];

/// Names of ranges of a timeline, as in the keyframe `entry 0%`.
const RANGES: [&str; 6] = ["contain", "cover", "entry", "entry-crossing", "exit", "exit-crossing"];

/// The text as raffia can read it. `None`: there is nothing to put otherwise.
pub(crate) fn without_gaps(text: &str, mask: &Mask, syntax: Syntax) -> Option<String> {
    let mut filled = Filled { mask: &mask.bytes, text: text.as_bytes().to_vec(), syntax };
    let mut last = b'{';
    for at in 0..mask.bytes.len() {
        filled.gap(at, last);
        if !mask.bytes[at].is_ascii_whitespace() {
            last = mask.bytes[at];
        }
    }
    // At the end, a statement needs no `;`.
    let last = mask.bytes.trim_ascii_end().last();
    if mask.unclosed.is_none() && last.is_some_and(|it| !matches!(it, b';' | b'}')) {
        filled.text.push(b';');
    }
    (filled.text != text.as_bytes()).then(|| String::from_utf8(filled.text).ok()).flatten()
}

/// The text with one word in place of the value that the parser stumbled over at `at`, if that is the value of a
/// declaration: for SCSS and Less, of which raffia lacks some. Rules have nothing to say of such a value.
pub(crate) fn without_value(text: &str, mask: &Mask, at: usize) -> Option<String> {
    let bytes = &mask.bytes;
    let is_end = |it: &usize| matches!(bytes[*it], b';' | b'{' | b'}') && !is_put_in(bytes, *it);
    let start = (0..at.min(bytes.len())).rev().find(is_end).map_or(0, |it| it + 1);
    let lead = bytes[start..].len() - bytes[start..].trim_ascii_start().len();
    let rest = &bytes[start + lead..];
    let name = rest.iter().take_while(|it| is_name(**it) || **it == b'$').count();
    let colon = name + (rest[name..].len() - rest[name..].trim_ascii_start().len());
    let end = colon + 1 + value_end(rest.get(colon + 1..)?);
    let value = rest.get(colon + 1..end)?;
    let is_declaration = name > 0
        && rest[colon] == b':'
        && matches!(rest.get(end), None | Some(b';' | b'}'))
        && is_made(value);
    let is_inside = start + lead + colon < at && at <= start + lead + end;
    let from = start + lead + colon + 1;
    let is_filled = text.as_bytes()[from..from + value.len()].trim_ascii() == b"x";
    if !is_declaration || !is_inside || is_filled {
        return None;
    }
    let mut filled = Filled { mask: bytes, text: text.as_bytes().to_vec(), syntax: Syntax::Scss };
    filled.put(from, from + value.len(), b" x");
    String::from_utf8(filled.text).ok()
}

/// Whether a bracket belongs to `#{…}` or `@{…}`, of which only the same line is looked at.
fn is_put_in(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'{' => at > 0 && matches!(bytes[at - 1], b'#' | b'@'),
        b'}' => {
            let line = bytes[..at].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
            let open = bytes[line..at].iter().rposition(|it| matches!(it, b'{' | b'}' | b';'));
            open.is_some_and(|it| bytes[line + it] == b'{' && is_put_in(bytes, line + it))
        }
        _ => false,
    }
}

/// Whether a value has calls or what is put in, and no `:` beside them, as where a `;` is missing.
fn is_made(value: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut has_brackets = false;
    for it in value {
        match it {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return false,
            _ => {}
        }
        has_brackets |= depth > 0;
    }
    has_brackets
}

struct Filled<'m> {
    mask: &'m [u8],
    text: Vec<u8>,
    syntax: Syntax,
}

impl Filled<'_> {
    /// Replaces the syntax that begins at a place, if raffia cannot read it; `last` is the sign before the place.
    fn gap(&mut self, at: usize, last: u8) {
        let rest = &self.mask[at..];
        let is_start = matches!(last, b'{' | b';' | b'}');
        match rest[0] {
            // For browsers of old: `*property: value`.
            b'*' if is_start && is_property(&rest[1..]) => self.put(at, at + 1, b""),
            b'@' => self.prelude(at),
            b'%' if last == b'}' && is_before_block(&rest[1..]) => self.put(at, at + 1, b""),
            b'>' if rest.starts_with(b">>>") => self.put(at + 1, at + 3, b""),
            b'/' if rest.starts_with(b"/deep/") => self.put(at, at + 6, b""),
            b':' if rest.starts_with(b"::") => self.arguments(at),
            b'.' if self.syntax == Syntax::Less && rest.starts_with(b".(") => self.parameters(at),
            b'-' if is_start && rest.starts_with(b"--") => self.custom_property(at),
            b'p' | b'P' if starts(rest, "progid:") => self.word(at, at + value_end(rest)),
            b'e' | b'E' if starts(rest, "element") => self.running_element(at),
            it if it.is_ascii_alphabetic() && !is_name(last) => self.range(at),
            _ => {}
        }
    }

    fn put(&mut self, start: usize, end: usize, word: &[u8]) {
        let (head, tail) = self.text[start..end].split_at_mut(word.len().min(end - start));
        head.copy_from_slice(&word[..head.len()]);
        tail.fill(b' ');
    }

    /// Replaces a range, except for blanks at its end, by one word.
    fn word(&mut self, start: usize, end: usize) {
        let length = self.mask[start..end].trim_ascii_end().len();
        self.text[start..start + length].fill(b'x');
    }

    /// `@media screen and #{$query}`.
    fn prelude(&mut self, at: usize) {
        let name = PRELUDES.iter().find(|it| starts(&self.mask[at + 1..], it.0));
        let Some((name, signs, word)) = name else { return };
        let start = at + 1 + name.len();
        let end = start + statement_end(&self.mask[start..]);
        let is_made = self.mask[start..end].iter().any(|it| signs.contains(it));
        if is_made && end - start >= word.len() {
            self.put(start, end, word);
        }
    }

    /// `::part(a b)`.
    fn arguments(&mut self, at: usize) {
        let rest = &self.mask[at..];
        let Some(name) = ARGUMENTS.iter().find(|it| rest.starts_with(it)).map(|it| it.len()) else { return };
        self.word(at + name, at + name + value_end(&rest[name..]));
    }

    /// `element(header)` of media with pages: raffia knows `element(#id)` alone.
    fn running_element(&mut self, at: usize) {
        let end = at + "element".len();
        let rest = self.mask[end..].strip_prefix(b"(").map(<[u8]>::trim_ascii_start);
        let is_whole = at == 0 || !is_name(self.mask[at - 1]);
        if is_whole && rest.and_then(<[u8]>::first).is_some_and(|it| is_name(*it)) {
            self.text[end - 1] = b'x';
        }
    }

    /// Blanks out the parameters of a function without a name: `.(@value, @key) { … }`.
    fn parameters(&mut self, start: usize) {
        let Some(end) = self.mask[start..].iter().position(|it| *it == b')').map(|it| start + it + 1) else {
            return;
        };
        if self.mask[end..].trim_ascii_start().starts_with(b"{") {
            self.put(start, end, b"");
        }
    }

    /// Raffia takes the tokens of the value, and not those that Less makes strings of, nor the strings in what Sass
    /// puts in.
    fn custom_property(&mut self, at: usize) {
        let rest = &self.mask[at..];
        let name = rest.iter().take_while(|it| is_name(**it)).count();
        let end = value_end(rest);
        let value = &self.text[at + name..at + end];
        let sign = match self.syntax {
            Syntax::Less => b"@{",
            _ => b"#{",
        };
        if self.syntax != Syntax::Css && value.starts_with(b":") && value.windows(2).any(|it| it == sign) {
            self.word(at + name + 1, at + end);
        }
    }

    /// `entry 0%` of keyframes.
    fn range(&mut self, at: usize) {
        let rest = &self.mask[at..];
        let name = rest.iter().take_while(|it| is_name(**it)).count();
        let is_range = RANGES.iter().any(|it| rest[..name].eq_ignore_ascii_case(it.as_bytes()));
        let space = rest[name..].iter().take_while(|it| it.is_ascii_whitespace()).count();
        let number = &rest[name + space..];
        let digits = number.iter().take_while(|it| it.is_ascii_digit() || **it == b'.').count();
        let end = name + space + digits + 1;
        if is_range
            && space > 0
            && digits > 0
            && rest.get(end - 1) == Some(&b'%')
            && is_before_block(&rest[end..])
        {
            self.word(at, at + end);
        }
    }
}

/// Whether a name and a colon follow, and then no selector.
fn is_property(rest: &[u8]) -> bool {
    let length = rest.iter().take_while(|it| it.is_ascii_alphabetic() || **it == b'-').count();
    let end = rest.iter().position(|it| matches!(it, b'{' | b'}' | b';'));
    length > 0 && rest.get(length) == Some(&b':') && end.is_none_or(|it| rest[it] != b'{')
}

fn is_before_block(rest: &[u8]) -> bool {
    matches!(rest.trim_ascii_start().first(), Some(b'{' | b','))
}

fn is_name(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_') || !it.is_ascii()
}

/// Whether a text begins with a word in any case.
fn starts(rest: &[u8], word: &str) -> bool {
    rest.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()))
        && (word.ends_with(':') || rest.get(word.len()).is_none_or(|it| !is_name(*it)))
}

/// Offset of the end of a declaration's or an argument's value.
fn value_end(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    for (at, it) in rest.iter().enumerate() {
        match it {
            b';' | b'}' | b')' if depth == 0 => return at,
            b'{' | b'(' => depth += 1,
            b'}' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    rest.len()
}
