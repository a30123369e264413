//! Replacements for code that is valid in a language and unknown to its grammar.
//!
//! A text with errors is parsed again with these places written in a way that the grammar knows, as long as the old, so
//! that places stay what they are. Only what is common in new code is here.

use crate::{go, xml};

/// The text without what the grammar does not know. `None`: there is nothing of that.
pub(crate) fn filled(language: &str, text: &[u8]) -> Option<Vec<u8>> {
    let mut filled = text.to_vec();
    for (needle, put) in gaps(language) {
        for at in memchr::memmem::find_iter(text, needle) {
            let is_whole = at == 0 || !is_word(needle[0]) || !is_word(text[at - 1]);
            if is_whole && !(language == "go" && go::is_type(&text[at + needle.len()..])) {
                filled[at..at + put.len()].copy_from_slice(put);
            }
        }
    }
    if language == "xml" {
        xml::fill(&mut filled);
    }
    (filled != text).then_some(filled)
}

/// Pairs of a text and its replacement.
fn gaps(language: &str) -> &'static [(&'static [u8], &'static [u8])] {
    match language {
        // Since 1.26 of any value.
        "go" => &[(b"new(", b"nev(")],
        // The grammar reads an empty section on to the end of the next one.
        "xml" => &[(b"<![CDATA[]]>", b"            ")],
        // Pipes, which are an experiment of Nix's.
        "nix" => &[(b"|>", b"++"), (b"<|", b"++")],
        "java" => &[(b"import module ", b"import        "), (b"super(", b"supeR("), (b"this(", b"thiS(")],
        // Macros by the names of types, one that became a keyword, and what stands in `unsafe extern`.
        "rust" => &[
            (b"try!", b"trY!"),
            (b"str!", b"stR!"),
            (b"char!", b"chaR!"),
            (b"bool!", b"booL!"),
            (b"safe fn", b"     fn"),
            (b"safe static", b"     static"),
        ],
        _ => &[],
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}
