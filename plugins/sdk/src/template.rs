//! Recognition of templates: texts from which a template engine makes files, and which are not valid files yet.
//!
//! Plugins name the [`Tag`]s that have no other meaning in their language, and look for them only in a text that they cannot
//! parse: with [`tags`] in all of it, or with [`on_lines`] where the parser failed. Such a file is left out
//! ([`Report::left_out`](crate::Report::left_out)), since no change of it could fix the parser's errors.
//!
//! ```
//! use broker_plugin_sdk::template::{Tag, on_lines, tags, unquoted};
//!
//! const TAGS: [Tag; 2] = [Tag::Value, Tag::Statement];
//! let text = b"{\"name\": {{ name }}, \"note\": \"{% keep %}\"}";
//! let code = unquoted(text, b"\"");
//! assert_eq!(on_lines(&code, tags(&code, &TAGS), [9]), Some(9..19));
//! ```
//!
//! Left out: comments and the finer points of quotes, which each language has in its own way.

mod site;

use std::ops::Range;

pub use site::{front_matter, is_include};

/// Tags of template engines, some of which have another meaning in some languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// `{{ … }}` of Jinja, Liquid, Go and Handlebars. Lists in lists (`{{1, 2}, {3}}`), objects (`{{a: 1}}`) and
    /// expressions of GitHub (`${{ … }}`) are none.
    Value,
    /// `{% … %}` of Jinja, Twig and Liquid.
    Statement,
    /// `{# … #}` of Jinja and Twig.
    Comment,
    /// `<% … %>` of ERB, EJS and JSP. In PostgreSQL `<%` and `%>` are operators.
    Erb,
    /// `<? … ?>` of PHP. In XML it is an instruction.
    Php,
    /// `${ … }` of Terraform, Maven and many others. Most languages have an own use for it.
    Variable,
    /// `@WORD@` of Autoconf and CMake, and `%%NAME%%`, in capitals.
    Placeholder,
}

impl Tag {
    /// Tags without another use in languages with quoted texts. `${ … }` may be a variable, or a text that lacks its quotes.
    pub const UNQUOTED: [Self; 6] =
        [Self::Value, Self::Statement, Self::Comment, Self::Erb, Self::Php, Self::Placeholder];

    /// Returns the opening mark of the tag; `None` for [`Tag::Placeholder`], which has two.
    #[must_use]
    pub const fn open(self) -> Option<&'static str> {
        match self.marks() {
            Some((open, _)) => Some(open),
            None => None,
        }
    }

    const fn marks(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Value => Some(("{{", "}}")),
            Self::Statement => Some(("{%", "%}")),
            Self::Comment => Some(("{#", "#}")),
            Self::Erb => Some(("<%", "%>")),
            Self::Php => Some(("<?", "?>")),
            Self::Variable => Some(("${", "}")),
            Self::Placeholder => None,
        }
    }
}

/// Returns the ranges of all tags of some kinds, in one pass. Tags that are not closed do not count.
pub fn tags<'a>(text: &'a [u8], kinds: &[Tag]) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let mut kinds: Vec<(Tag, Closing)> = kinds.iter().map(|it| (*it, Closing::default())).collect();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let end = kinds.iter_mut().find_map(|(kind, closing)| end_of(text, at, *kind, closing));
            let start = at;
            at = end.unwrap_or(at + 1);
            if end.is_some() {
                return Some(start..at);
            }
        }
        None
    })
}

/// Returns the first of `tags` that is at least in part on the line of one of `places`, where a parser failed.
pub fn on_lines(
    text: &[u8],
    mut tags: impl Iterator<Item = Range<usize>>,
    places: impl IntoIterator<Item = usize>,
) -> Option<Range<usize>> {
    let lines: Vec<_> = places.into_iter().map(|it| line_of(text, it)).collect();
    tags.find(|tag| lines.iter().any(|line| tag.start <= line.end && line.start < tag.end))
}

/// Returns the first tag of `kinds` outside of quotes (`"` and `'`) that is at least in part on the line of one of `places`.
pub fn outside_of_quotes(
    text: &[u8],
    kinds: &[Tag],
    places: impl IntoIterator<Item = usize>,
) -> Option<Range<usize>> {
    let mut places = places.into_iter().peekable();
    places.peek()?;
    let plain = unquoted(text, b"\"'");
    on_lines(&plain, tags(&plain, kinds), places)
}

/// Returns the reason to leave out a file whose text cannot be parsed, if there is one: one of its first three `errors` is on the
/// line of a tag, it has front matter, or a site generator includes it in other files.
pub fn objection(
    path: &str,
    text: &[u8],
    tags: impl Iterator<Item = Range<usize>>,
    errors: impl Iterator<Item = usize>,
) -> Option<&'static str> {
    if front_matter(text).is_some() || on_lines(text, tags, errors.take(3)).is_some() {
        return Some(IS_TEMPLATE);
    }
    is_include(path.as_ref()).then_some(IS_PART)
}

/// Reason to leave out a file that has tags.
pub const IS_TEMPLATE: &str = "it looks like a template";

/// Reason to leave out a file that [is an include](is_include).
pub const IS_PART: &str = "a site generator puts it into other files";

/// Replaces the text between `quotes` with spaces. A quote that is not closed ends with its line, and `\` escapes the next
/// character.
#[must_use]
pub fn unquoted(text: &[u8], quotes: &[u8]) -> Vec<u8> {
    let mut open = None;
    let mut is_escaped = false;
    let mut plain = text.to_vec();
    for it in &mut plain {
        let sign = *it;
        match open {
            _ if sign == b'\n' => open = None,
            Some(quote) if sign == quote && !is_escaped => open = None,
            Some(_) => *it = b' ',
            None if quotes.contains(&sign) && !is_escaped => open = Some(sign),
            None => {}
        }
        is_escaped = sign == b'\\' && !is_escaped;
    }
    plain
}

/// Position of the next closing mark, as found by the last search.
#[derive(Default)]
enum Closing {
    #[default]
    Unknown,
    At(usize),
    None,
}

impl Closing {
    /// Searches on only if the known mark is before `from`, so that a text of opening marks takes one pass.
    fn after(&mut self, text: &[u8], from: usize, mark: &[u8]) -> Option<usize> {
        match self {
            Self::None => return None,
            Self::At(at) if *at >= from => {}
            Self::At(_) | Self::Unknown => {
                let next = text.get(from..)?.windows(mark.len()).position(|it| it == mark);
                *self = next.map_or(Self::None, |it| Self::At(from + it));
            }
        }
        if let Self::At(at) = self { Some(*at) } else { None }
    }
}

/// Returns the end of the tag that begins at `at`, if one does.
fn end_of(text: &[u8], at: usize, kind: Tag, closing: &mut Closing) -> Option<usize> {
    let rest = &text[at..];
    let Some((open, close)) = kind.marks() else { return placeholder(rest).map(|it| at + it) };
    if !rest.starts_with(open.as_bytes()) {
        return None;
    }
    let inner = at + open.len();
    let end = closing.after(text, inner, close.as_bytes())?;
    let is_of_github = at > 0 && text[at - 1] == b'$';
    let is_tag = kind != Tag::Value || !is_of_github && is_value(&text[inner..end]);
    is_tag.then_some(end + close.len())
}

/// Returns the length of the `@WORD@` or `%%NAME%%` that the text begins with.
fn placeholder(rest: &[u8]) -> Option<usize> {
    let mark: &[u8] = [&b"%%"[..], b"@"].into_iter().find(|it| rest.starts_with(it))?;
    let rest = &rest[mark.len()..];
    let length =
        rest.iter().take_while(|it| it.is_ascii_uppercase() || matches!(it, b'0'..=b'9' | b'_')).count();
    let is_name = rest.first().is_some_and(u8::is_ascii_uppercase) && rest[length..].starts_with(mark);
    is_name.then_some(length + 2 * mark.len())
}

/// Whether the text between `{{` and `}}` is a value, and not items of a list or of an object.
fn is_value(inner: &[u8]) -> bool {
    let inner = inner.trim_ascii();
    let inner = inner.strip_prefix(b"-").unwrap_or(inner).trim_ascii_start();
    if inner.first().is_none_or(|it| it.is_ascii_digit()) || inner.starts_with(b"...") {
        return false;
    }
    let (mut depth, mut has_letter, mut at) = (0_usize, false, 0);
    while let Some(it) = inner.get(at) {
        let next = inner.get(at + 1);
        match it {
            b'"' | b'\'' | b'`' => {
                at += inner[at + 1..].iter().position(|end| end == it).map_or(0, |it| it + 1);
            }
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'|' if next != Some(&b'|') => return true, // Liquid's filters have arguments with commas.
            b':' if depth == 0 && next != Some(&b'=') => return false,
            b',' | b';' | b'{' if depth == 0 => return false,
            _ => has_letter |= it.is_ascii_alphabetic(),
        }
        at += 1;
    }
    has_letter
}

fn line_of(text: &[u8], at: usize) -> Range<usize> {
    let at = at.min(text.len());
    let start = text[..at].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    let end = text[at..].iter().position(|it| *it == b'\n').map_or(text.len(), |it| at + it);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Tag; 7] =
        [Tag::Value, Tag::Statement, Tag::Comment, Tag::Erb, Tag::Php, Tag::Variable, Tag::Placeholder];

    fn found(text: &str, kinds: &[Tag]) -> Vec<String> {
        tags(text.as_bytes(), kinds).map(|it| text[it].to_owned()).collect()
    }

    #[test]
    fn tags_of_engines() {
        for (kind, text) in [
            (Tag::Value, "{{ a }}"),
            (Tag::Value, "{{a}}"),
            (Tag::Value, "{{- .Values.a -}}"),
            (Tag::Value, "{{ $a := b }}"),
            (Tag::Value, "{{#if a}}"),
            (Tag::Value, "{{ a(1, {b: 2})['c:d'] }}"),
            (Tag::Value, "{{ 'a' | replace: 'b', 'c' }}"),
            (Tag::Value, "{{ \"a\" | quote }}"),
            (Tag::Value, "{{ a\n  b }}"),
            (Tag::Statement, "{% if a %}"),
            (Tag::Statement, "{%- set a = {'b': 1} %}"),
            (Tag::Comment, "{# a #}"),
            (Tag::Erb, "<%= a %>"),
            (Tag::Php, "<?php a ?>"),
            (Tag::Variable, "${a}"),
            (Tag::Placeholder, "@A_1@"),
            (Tag::Placeholder, "%%A%%"),
        ] {
            let around = format!("x {text} y {text}");
            assert_eq!(found(&around, &ALL), [text, text], "{text}");
            assert_eq!(found(&around, &[kind]), [text, text], "{text}");
            let others: Vec<_> = ALL.into_iter().filter(|it| *it != kind).collect();
            assert_eq!(found(&around, &others), [""; 0], "{text}");
        }
        assert_eq!(found("{{{ a }}}", &ALL), ["{{ a }}"]);
    }

    #[test]
    fn no_tags() {
        for text in [
            "",
            "{{",
            "{{}}",
            "{{1, 2}, {3, 4}}",
            "{{1}}",
            "{{-1}}",
            "{{\"a\", \"b\"}}",
            "{{\"a\"}}",
            "{{a, b}}",
            "{{a; b}}",
            "{{ a: 1 }}",
            "{{ ...a }}",
            "${{ a }}",
            "{% a",
            "%} {%",
            "{ { a } }",
            "<% a",
            "@a@",
            "@@",
            "a@B",
            "%%",
        ] {
            let kinds: Vec<_> = ALL.into_iter().filter(|it| *it != Tag::Variable).collect();
            assert_eq!(found(text, &kinds), [""; 0], "{text}");
        }
    }

    /// Checks that one pass is enough: otherwise the rest of the text would be read for each mark.
    #[test]
    fn many_marks() {
        let open = "{{".repeat(500_000);
        assert_eq!(found(&open, &ALL).len(), 0);
        assert_eq!(found(&format!("{open}a}}}}"), &ALL).len(), 1);
        assert_eq!(found(&format!("{}%}}", "{%<%<?@A".repeat(200_000)), &ALL).len(), 1);
    }

    #[test]
    fn lines() {
        let text = b"a\n{% b\n c %}\nd {{ e }}\n";
        let on = |place| on_lines(text, tags(text, &ALL), [place]);
        assert_eq!(
            [on(0), on(2), on(9), on(13), on(24)],
            [None, Some(2..12), Some(2..12), Some(15..22), None]
        );
        assert_eq!(on_lines(text, tags(text, &ALL), [0, 14]), Some(15..22));
        assert_eq!(on(99), None);
    }

    #[test]
    fn objections() {
        let why = |path: &str, text: &str, errors: &[usize]| {
            objection(path, text.as_bytes(), tags(text.as_bytes(), &ALL), errors.iter().copied())
        };
        assert_eq!(why("a.js", "a {{ b }}", &[0]), Some(IS_TEMPLATE));
        assert_eq!(why("a.js", "---\n---\na", &[8]), Some(IS_TEMPLATE));
        assert_eq!(why("_includes/a.js", "a", &[0]), Some(IS_PART));
        assert_eq!(why("a.js", "a\n\n\n{{ b }}", &[0, 2, 3, 4]), None, "only the first errors count");
        let unquoted = |text: &str, errors: &[usize]| {
            outside_of_quotes(text.as_bytes(), &Tag::UNQUOTED, errors.iter().copied())
        };
        assert_eq!(unquoted("'{{ a }}' @B@", &[0]), Some(10..13));
        assert_eq!((unquoted("'{{ a }}'", &[0]), unquoted("{{ a }}", &[])), (None, None));
    }

    #[test]
    fn quotes() {
        let plain = |text: &str, quotes: &str| {
            String::from_utf8(unquoted(text.as_bytes(), quotes.as_bytes())).unwrap()
        };
        assert_eq!(plain("a \"b 'c'\" 'd\"' e", "\"'"), "a \"     \" '  ' e");
        assert_eq!(plain("'a\" \"b'", "\""), "'a\" \"b'");
        assert_eq!(plain("\"a\\\"b\" \\\"c", "\""), "\"    \" \\\"c");
        assert_eq!(plain("don't\nb", "'"), "don' \nb");
    }
}
