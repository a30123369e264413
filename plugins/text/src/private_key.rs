//! Private keys in PEM or OpenPGP armour. Needs a body that can be a key: documents and source that only name
//! the marker, and bodies that are cut short, are no finding.

use std::{ops::Range, path::Path};

use broker_plugin_sdk::{Diagnostic, Severity};
use memchr::memmem;

use crate::rules::{PRIVATE_KEY, SAMPLE_PRIVATE_KEY};
use broker_plugin_sdk::samples;

const BEGIN: &[u8] = b"-----BEGIN ";

/// Marker, what it holds, and the fewest characters of base64 that can hold it.
const KINDS: [(&[u8], &str, usize); 7] = [
    (b"PRIVATE KEY-----", "an unprotected private key", 60),
    (b"RSA PRIVATE KEY-----", "an RSA private key", 400),
    (b"EC PRIVATE KEY-----", "an EC private key", 120),
    (b"DSA PRIVATE KEY-----", "a DSA private key", 400),
    (b"OPENSSH PRIVATE KEY-----", "an OpenSSH private key", 250),
    (b"ENCRYPTED PRIVATE KEY-----", "an encrypted private key", 120),
    (b"PGP PRIVATE KEY BLOCK-----", "an OpenPGP private key", 250),
];

/// Parts of the first lines of keys that are published for all to use, so that they protect nothing: that of Vagrant's boxes, that
/// of jwt.io's examples, and that of Go's tests of HTTP.
const PUBLISHED: [&[u8]; 3] = [
    b"6NF8iallvQVp22WDkTkyrtvp9eWW6A8Y",
    b"MzEfYyjiWA4R4/M2bS1GB4t7NXp98C",
    b"DuLnQAI3mDgey3VBzWnB2L39JUU4txjeVE6m",
];

/// Maximum distance in bytes from the marker to the end of such a part.
const FIRST_LINES: usize = 256;

/// Words in the names of files whose keys protect nothing.
const OPEN_NAMES: [&str; 2] = ["insecure", "snakeoil"];

/// Number of bytes after the marker in which to look for the body and its end.
const REACH: usize = 16 << 10;

/// Fewer characters in a row are a word.
const SHORTEST_LINE: usize = 32;

/// Reports each key at its marker.
pub(crate) fn check(path: &Path, content: &[u8], found: &mut Vec<Diagnostic>) {
    for start in memmem::find_iter(content, BEGIN) {
        let after = &content[start + BEGIN.len()..];
        let Some((marker, kind, shortest)) = KINDS.iter().find(|it| after.starts_with(it.0)) else {
            continue;
        };
        let body = &after[marker.len()..];
        if has_key(&body[..body.len().min(REACH)], *shortest) {
            let end = start + BEGIN.len() + marker.len();
            let is_open = is_published(body) || is_called_open(path);
            found.push(diagnostic(path, is_open, kind, start..end));
        }
    }
}

/// Keys to test and to show with protect nothing: a rule of their own has them.
fn diagnostic(path: &Path, is_open: bool, kind: &str, range: Range<usize>) -> Diagnostic {
    let is_sample = is_open || samples::is_of_tests(path) || samples::is_of_examples(path);
    let (rule, severity) = match is_sample {
        true => (SAMPLE_PRIVATE_KEY, Severity::Warning),
        false => (PRIVATE_KEY, Severity::Error),
    };
    Diagnostic { severity, ..Diagnostic::new(rule, format!("the file holds {kind}"), range) }
}

/// Whether the key with this body is published.
fn is_published(body: &[u8]) -> bool {
    let start = &body[..body.len().min(FIRST_LINES)];
    PUBLISHED.iter().any(|it| memmem::find(start, it).is_some())
}

/// Whether the file's name marks its key as one that protects nothing.
fn is_called_open(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default().to_ascii_lowercase();
    name.split(|it: char| !it.is_alphanumeric()).any(|it| OPEN_NAMES.contains(&it))
}

/// Whether the text starts with enough base64 to be a key, in lines of its own or in a string literal.
fn has_key(text: &[u8], shortest: usize) -> bool {
    let mut rest = text;
    let mut length = 0;
    let mut seen = [false; 3];
    while length < shortest {
        rest = skip_joints(rest);
        if let Some(after) = header(rest) {
            rest = after;
            continue;
        }
        let line = rest.iter().take_while(|it| is_base64(**it)).count();
        if line < SHORTEST_LINE && length + line < shortest {
            return false;
        }
        note(&rest[..line], &mut seen);
        length += line;
        rest = &rest[line..];
    }
    seen == [true; 3] && !is_cut_short(rest)
}

/// Whether dots stand for a part of the body; `rest` is the text after its first lines.
fn is_cut_short(mut rest: &[u8]) -> bool {
    loop {
        if starts_with_dots(rest) {
            return true;
        }
        rest = skip_joints(rest);
        if let Some(after) = header(rest) {
            rest = after;
            continue;
        }
        let line = rest.iter().take_while(|it| is_base64(**it)).count();
        rest = &rest[line..];
        if line < SHORTEST_LINE {
            return starts_with_dots(rest);
        }
    }
}

/// `...` or `…`, in brackets or not.
fn starts_with_dots(text: &[u8]) -> bool {
    let bare = text.split_first().filter(|it| b"[(<{".contains(it.0)).map_or(text, |it| it.1);
    bare.starts_with(b"...") || bare.starts_with("…".as_bytes())
}

/// Skips the text between two lines of base64: line breaks, literal or escaped, and operators that join strings.
fn skip_joints(mut text: &[u8]) -> &[u8] {
    loop {
        let escape = [&b"\\\\n"[..], b"\\n", b"\\r"].into_iter().find_map(|it| text.strip_prefix(it));
        let joint = || text.split_first().filter(|it| b" \t\r\n\"'`+,\\#*|".contains(it.0)).map(|it| it.1);
        // A `+` may also begin a line of base64: it counts little.
        match escape.or_else(joint) {
            Some(after) => text = after,
            None => return text,
        }
    }
}

/// Returns the text after a header line such as `Proc-Type: 4,ENCRYPTED`.
fn header(text: &[u8]) -> Option<&[u8]> {
    let name = text.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'-').count();
    let value = text[name..].strip_prefix(b": ").filter(|_| name > 0)?;
    memchr::memchr2(b'\n', b'\\', value).map(|it| &value[it..])
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Upper case, lower case and digits all occur in anything random.
fn note(text: &[u8], seen: &mut [bool; 3]) {
    seen[0] |= text.iter().any(u8::is_ascii_uppercase);
    seen[1] |= text.iter().any(u8::is_ascii_lowercase);
    seen[2] |= text.iter().any(u8::is_ascii_digit);
}
