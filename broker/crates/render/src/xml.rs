//! Text that may stand anywhere in an XML 1.0 document.
//!
//! Written by hand, because an XML library would do the small half of it only: none of them takes care of the
//! characters that XML cannot hold at all, which is what findings in the wild are rich in.

/// For attributes in double quotes and for content. Line ends are told as references, since a parser would
/// make spaces of them in an attribute; characters that XML 1.0 cannot hold become what they are in Rust.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped += "&#10;",
            '\r' => escaped += "&#13;",
            '\t' => escaped += "&#9;",
            '\u{fffe}' | '\u{ffff}' => escaped.extend(character.escape_unicode()),
            _ if character.is_control() => escaped.extend(character.escape_unicode()),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_what_it_stands_in() {
        assert_eq!(escaped("a𐐀b <\"&'> ]]>"), "a𐐀b &lt;&quot;&amp;'&gt; ]]&gt;");
        assert_eq!(escaped("\t\r\n"), "&#9;&#13;&#10;");
        assert_eq!(escaped("\0\u{1b}\u{85}\u{ffff}"), "\\u{0}\\u{1b}\\u{85}\\u{ffff}");
    }
}
