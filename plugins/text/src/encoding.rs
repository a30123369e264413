//! Detection of text, and of text that is not UTF-8 although nothing declares another encoding.

use std::path::Path;

use broker_plugin_sdk::Diagnostic;
use memchr::memmem;

use crate::rules::INVALID_UTF8;

/// A NUL byte this far into a file makes it binary, as for Git.
const LOOKED_AT: usize = 8 * 1024;

/// Number of bytes at the start in which a declaration of the encoding is searched for.
const HEADER: usize = 2 * 1024;

/// More bytes per thousand that are not UTF-8 than text in a Western legacy encoding has: data, then.
const MAX_PER_THOUSAND: usize = 300;

/// Starts of files that are binary, or text in another encoding with a mark that says so.
const MAGIC: [&[u8]; 8] = [
    b"\xff\xfe",
    b"\xfe\xff",
    b"\x89PNG",
    b"%PDF-",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\xff\xd8\xff",
    b"%!PS-Adobe",
];

/// Starts of binary files with which a text may begin as well.
const MAGIC_OF_LETTERS: [&[u8]; 2] = [b"GIF8", b"BZh"];

/// Prefixes of declarations of an encoding, in lower case.
const DECLARATIONS: [&[u8]; 5] = [b"coding:", b"coding=", b"charset=", b"charset:", b"codepage"];

/// Formats that say nothing about encoding and often hold what is not UTF-8 on purpose.
const RECORDS: [&str; 10] = ["diff", "patch", "eml", "mbox", "dic", "aff", "srt", "sub", "nfo", "rtf"];

/// Formats that are data, be it that a file has no NUL.
const DATA: [&str; 10] = ["der", "cer", "p12", "pfx", "p7b", "p7s", "jks", "bin", "dat", "raw"];

/// Whether a file is binary, and so not checked at all.
pub(crate) fn is_binary(content: &[u8]) -> bool {
    let start = &content[..content.len().min(LOOKED_AT)];
    memchr::memchr(0, start).is_some()
        || MAGIC.iter().any(|it| content.starts_with(it))
        || is_like_binary(content) && std::str::from_utf8(content).is_err()
}

/// Whether the content has a mark of binary formats that text may have by chance.
fn is_like_binary(content: &[u8]) -> bool {
    MAGIC_OF_LETTERS.iter().any(|it| content.starts_with(it))
        || is_der(content)
        || is_zlib(content)
        || has_control_characters(&content[..content.len().min(LOOKED_AT)])
}

/// Whether the content begins like zlib data (RFC 1950), such as an object of Git.
fn is_zlib(content: &[u8]) -> bool {
    let [0x78, flags, ..] = content else { return false };
    (0x7800 | u16::from(*flags)).is_multiple_of(31)
}

/// Whether the content is one sequence of ASN.1 in DER from its first byte to its last, as certificates and keys are. Small ones
/// may have no NUL.
fn is_der(content: &[u8]) -> bool {
    let (length, head) = match content {
        [0x30, length @ ..=0x7f, ..] => (usize::from(*length), 2),
        [0x30, 0x81, length, ..] => (usize::from(*length), 3),
        [0x30, 0x82, high, low, ..] => (usize::from(*high) << 8 | usize::from(*low), 4),
        _ => return false,
    };
    content.len() == head + length
}

/// Reports the first byte of `content`, which is not UTF-8, that does not belong.
pub(crate) fn check(path: &Path, content: &[u8], found: &mut Vec<Diagnostic>) {
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    if declares_encoding(content) || RECORDS.contains(&ending) || DATA.contains(&ending) {
        return;
    }
    let mut at = 0;
    let mut first = None;
    let mut count = 0;
    for chunk in content.utf8_chunks() {
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            first.get_or_insert(at..at + chunk.invalid().len());
            count += 1;
        }
        at += chunk.invalid().len();
    }
    let Some(span) = first else {
        return;
    };
    let is_data = count * 1000 > content.len() * MAX_PER_THOUSAND;
    if !is_data {
        found.push(Diagnostic::new(INVALID_UTF8, message(content[span.start], count), span));
    }
}

fn message(byte: u8, count: usize) -> String {
    match count {
        1 => format!("not valid UTF-8: byte 0x{byte:02X} does not belong here"),
        _ => format!("not valid UTF-8 in {count} places, first here: byte 0x{byte:02X}"),
    }
}

/// A Python or Emacs `coding:` line, an XML or HTML header, or a `.po` file's charset, that names any encoding
/// but UTF-8.
fn declares_encoding(content: &[u8]) -> bool {
    let header = content[..content.len().min(HEADER)].to_ascii_lowercase();
    DECLARATIONS.iter().any(|declaration| {
        memmem::find_iter(&header, declaration).any(|at| {
            let name = header[at + declaration.len()..].trim_ascii_start();
            let name = name.strip_prefix(b"\"").or_else(|| name.strip_prefix(b"'")).unwrap_or(name);
            name.first().is_some_and(u8::is_ascii_alphanumeric)
                && !name.starts_with(b"utf-8")
                && !name.starts_with(b"utf8")
        })
    })
}

/// Text has tabs, line breaks and form feeds, and now and then an escape sequence.
fn has_control_characters(content: &[u8]) -> bool {
    let is_odd = |it: &&u8| matches!(it, 0..=8 | 11 | 14..=26 | 28..=31);
    content.iter().filter(is_odd).count() > 4
}
