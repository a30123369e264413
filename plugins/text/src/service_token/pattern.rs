//! Regular expressions of tokens, beside which a token is an example.

use memchr::{memchr, memmem};

/// Fewer characters of a prefix begin other expressions too.
const SHORTEST_PREFIX: usize = 3;

/// Maximum length of the parts of an expression, in bytes.
const REACH: usize = 200;

/// Whether a text contains a regular expression for tokens with a prefix: the prefix, a class of characters, and their number, as
/// in `key_[a-z]{20}`.
pub(super) fn has_pattern(content: &[u8], prefix: &str) -> bool {
    let prefix = prefix.as_bytes();
    prefix.len() >= SHORTEST_PREFIX
        && memmem::find_iter(content, &prefix[..2])
            .any(|at| after_prefix(&content[at..], prefix).is_some_and(begins_counted_class))
}

/// Returns the text after a prefix, some characters of which may be escaped or in classes: `SG\.`, `xox[bp]-`.
fn after_prefix<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    prefix.iter().try_fold(text, |text, sign| after_sign(text, *sign))
}

fn after_sign(text: &[u8], sign: u8) -> Option<&[u8]> {
    // Two in string literals.
    let escapes = text.iter().take(2).take_while(|it| **it == b'\\' && !sign.is_ascii_alphanumeric());
    let text = &text[escapes.count()..];
    match text.split_first()? {
        (first, rest) if *first == sign => Some(rest),
        (b'[', rest) => {
            let end = memchr(b']', &rest[..rest.len().min(REACH)])?;
            is_in_class(&rest[..end], sign).then_some(&rest[end + 1..])
        }
        _ => None,
    }
}

fn is_in_class(class: &[u8], sign: u8) -> bool {
    let is_in_range = |it: &[u8]| it[1] == b'-' && (it[0]..=it[2]).contains(&sign);
    class.contains(&sign) || class.windows(3).any(is_in_range)
}

/// Whether an expression begins with a class of characters and contains a number of repetitions.
fn begins_counted_class(text: &[u8]) -> bool {
    let text = &text[..text.len().min(REACH)];
    let text = behind_group(text);
    let end = text.iter().position(|it| it.is_ascii_whitespace() || b"\"'`".contains(it));
    let text = &text[..end.unwrap_or(text.len())];
    let is_counted = |it: &[u8]| matches!(it, [b']' | b'w' | b'd' | b'S', b'{', b'0'..=b'9']);
    is_class(text) && text.windows(3).any(is_counted)
}

/// Returns the text within or after the group that may follow a prefix or contain it: `(AKIA|ASIA)[A-Z]{16}`.
fn behind_group(text: &[u8]) -> &[u8] {
    match text {
        [b'|' | b')', ..] => memchr(b')', text).map_or(text, |it| &text[it + 1..]),
        [b'(', b'?', b':', rest @ ..] | [b'(', rest @ ..] => rest,
        _ => text,
    }
}

fn is_class(text: &[u8]) -> bool {
    matches!(text, [b'[', ..] | [b'\\', b'w' | b'd' | b'S', ..] | [b'\\', b'\\', b'w' | b'd' | b'S', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_a_kind() {
        for text in [
            "abc_[a-z]{20}",
            "r'\\babc_([0-9a-f]{8}-[0-9a-f]{4})'",
            "\"abc_\\\\w{30}\"",
            "abc\\_[a-z]+\\.[a-z0-9]{20,24}",
            "ab[cde]_(?:[A-Z]{3})",
            "ab[a-z]_\\d{9}",
            "(abc_|xyz_)[a-z]{20}",
        ] {
            assert!(has_pattern(text.as_bytes(), "abc_"), "{text}");
        }
    }

    #[test]
    fn other_texts() {
        for text in [
            "[a-f0-9]{40}",
            "abc_(1)",
            "abc_[index]",
            "abc_[i] [a-z]{9}",
            "ab[xyz]_[a-z]{20}",
            "abc_\\n",
            "abc_ [a-z]{20}",
            "abd_[a-z]{20}",
            "abc_x[a-z]{20}",
        ] {
            assert!(!has_pattern(text.as_bytes(), "abc_"), "{text}");
        }
        assert!(!has_pattern(b"x-[a-z]{20}", "x-"), "a short prefix");
        assert!(!has_pattern(b"[0-9]{9}", ""), "none");
    }
}
