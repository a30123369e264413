//! Syntax at which swc panics, which ends the plugin: looked for in the text before swc is given it.

use std::borrow::Cow;

/// The longest reference that swc reads as one: with its end, and without the `&`.
const LONGEST: usize = 10;

/// The text with `_` in place of the `#` of each character reference that is no character's (`&#;`, `&#xD800;`): swc takes
/// them for numbers, and JSX for text. No place moves.
pub(crate) fn without_references_to_nothing(text: &str) -> Cow<'_, str> {
    let mut read = Cow::Borrowed(text);
    for (at, _) in text.match_indices("&#") {
        if is_reference_to_nothing(&text[at + 1..]) {
            read.to_mut().replace_range(at + 1..at + 2, "_");
        }
    }
    read
}

/// Whether a text behind `&` begins with `#`, digits that are no character's number, and `;`.
fn is_reference_to_nothing(text: &str) -> bool {
    let end = text.bytes().take(LONGEST).position(|it| it == b';');
    let Some(digits) = end.and_then(|it| text.get(1..it)) else { return false };
    let (digits, radix) = digits.strip_prefix('x').map_or((digits, 10), |it| (it, 16));
    let are_digits = digits.chars().all(|it| it.is_digit(radix));
    let character = u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    are_digits && character.is_none()
}

/// Whether there may be an error in the text that swc panics at.
pub(crate) fn may_be_in(text: &str) -> bool {
    may_have_member_of_namespaced(text) || may_have_broken_bigint(text)
}

/// Whether there may be a number like `0x_1n`, whose separators are misplaced.
fn may_have_broken_bigint(text: &str) -> bool {
    let mut numbers = ["0x", "0X", "0o", "0O", "0b", "0B"].into_iter().flat_map(|it| text.match_indices(it));
    numbers.any(|it| {
        let digits = &text[it.0 + 2..];
        let end = digits.find(|it: char| !it.is_ascii_hexdigit() && it != '_').unwrap_or(digits.len());
        let (digits, rest) = digits.split_at(end);
        let is_broken = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
        rest.starts_with('n') && (is_broken || digits.is_empty())
    })
}

/// Whether there may be a member of a name with a namespace, `<a:b.c>`, which no JSX has.
fn may_have_member_of_namespaced(text: &str) -> bool {
    let mut tags = text.match_indices('<').map(|it| &text[it.0 + 1..]);
    tags.any(|it| {
        let rest = name(it).and_then(|it| it.strip_prefix(':')).and_then(name);
        rest.is_some_and(|it| it.starts_with('.'))
    })
}

/// Text behind a name, and behind blanks and comments around it.
fn name(text: &str) -> Option<&str> {
    let text = skip_blanks(text);
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '-' | '\\' | '{' | '}');
    let rest = text.trim_start_matches(is_part);
    (rest.len() < text.len()).then(|| skip_blanks(rest))
}

fn skip_blanks(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let comment = match rest.get(..2) {
            Some("/*") => rest.split_once("*/"),
            Some("//") => rest.split_once('\n'),
            _ => None,
        };
        let Some((_, behind)) = comment else { return rest };
        rest = behind.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        for (text, read) in [
            ("é &#; &#x; b", "é &_; &_x; b"),
            ("&#xDFFF;&#55296;&#99999999;&#x110000;", "&_xDFFF;&_55296;&_99999999;&_x110000;"),
        ] {
            assert_eq!(without_references_to_nothing(text), read);
        }
        for text in ["&#65; &#xe9; &#0; &amp; &# ; &#12a; &#xg; &#x", "&#123456789012;", "&#é;", "&#"] {
            assert_eq!(without_references_to_nothing(text), text);
        }
    }

    #[test]
    fn bigints() {
        for text in ["0x_1n", "f(0b1__0n)", "0O7_n", "0Xn"] {
            assert!(may_be_in(text), "{text}");
        }
        for text in ["0xff_ffn", "0x_1", "1__0n", "0b10n + a__n"] {
            assert!(!may_be_in(text), "{text}");
        }
    }

    #[test]
    fn namespaces() {
        for text in ["<a:b.c />", "f(< é : b /* of */ . c></a>)", "<svg-a:b// c\n.d.e>"] {
            assert!(may_have_member_of_namespaced(text), "{text}");
        }
        for text in ["<a:b c.d />", "<a.b:c />", "a < b ? c : d.e", "<a>b:c.d</a>", "<", "<a:"] {
            assert!(!may_have_member_of_namespaced(text), "{text}");
        }
    }
}
