//! Characters that change the direction of the text without being seen (Trojan Source, CVE-2021-42574).
//!
//! Leaves alone what right-to-left prose needs: marks (U+200E, U+200F, U+061C), and embeddings and isolates
//! that are closed on their line.

use std::path::Path;

use broker_plugin_sdk::Diagnostic;

use crate::rules::BIDI_CONTROL;

/// Files of words: translations, documents, and data that programs make of them.
const PROSE: [&str; 24] = [
    "adoc",
    "arb",
    "csv",
    "ftl",
    "htm",
    "html",
    "json",
    "lang",
    "md",
    "mo",
    "po",
    "pot",
    "properties",
    "resx",
    "rst",
    "srt",
    "strings",
    "svg",
    "toml",
    "ts",
    "txt",
    "vtt",
    "xlf",
    "xml",
];

/// Reports a line once, at its first offence.
pub(crate) fn check(path: &Path, text: &str, found: &mut Vec<Diagnostic>) {
    let bytes = text.as_bytes();
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let is_prose = PROSE.contains(&ending);
    let mut from = 0;
    while let Some(at) = next(bytes, from) {
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |it| it + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |it| at + it);
        if let Some((at, message)) = offence(&text[start..end], is_prose) {
            found.push(Diagnostic::new(BIDI_CONTROL, message, start + at..start + at + 3));
        }
        from = end;
    }
}

/// The next character of the two blocks: E2 80 AA to AE, E2 81 A6 to A9.
fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let mut leads = memchr::memchr_iter(0xe2, rest);
    leads
        .find(|at| matches!(rest[*at..], [_, 0x80, 0xaa..=0xae, ..] | [_, 0x81, 0xa6..=0xa9, ..]))
        .map(|it| from + it)
}

/// The first character of the line that misleads: an override in code, or what is never closed.
fn offence(line: &str, is_prose: bool) -> Option<(usize, String)> {
    let mut open: Vec<(usize, char)> = Vec::new();
    for (at, it) in line.char_indices() {
        match it {
            '\u{202d}' | '\u{202e}' if !is_prose => {
                return Some((at, format!("{} makes the text read differently than it is", name(it))));
            }
            '\u{202a}' | '\u{202b}' | '\u{202d}' | '\u{202e}' | '\u{2066}'..='\u{2068}' => {
                open.push((at, it))
            }
            '\u{202c}' => close(&mut open, false),
            '\u{2069}' => close(&mut open, true),
            _ => {}
        }
    }
    // Translations are often cut out of a longer text: only an override can mislead there.
    let misleads = |it: &&(usize, char)| !is_prose || matches!(it.1, '\u{202d}' | '\u{202e}');
    let (at, it) = open.iter().find(misleads)?;
    Some((*at, format!("{} is not closed on its line", name(*it))))
}

/// An isolate's end also closes the embeddings in it.
fn close(open: &mut Vec<(usize, char)>, isolate: bool) {
    let is_isolate = |it: &(usize, char)| ('\u{2066}'..='\u{2068}').contains(&it.1);
    match open.iter().rposition(|it| is_isolate(it) == isolate) {
        Some(at) if isolate => open.truncate(at),
        Some(at) => {
            open.remove(at);
        }
        None => {}
    }
}

fn name(it: char) -> String {
    let name = match it {
        '\u{202a}' => "left-to-right embedding",
        '\u{202b}' => "right-to-left embedding",
        '\u{202d}' => "left-to-right override",
        '\u{202e}' => "right-to-left override",
        '\u{2066}' => "left-to-right isolate",
        '\u{2067}' => "right-to-left isolate",
        _ => "first strong isolate",
    };
    format!("invisible character U+{:04X} ({name})", u32::from(it))
}
