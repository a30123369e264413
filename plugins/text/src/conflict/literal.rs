//! String literals that may have several lines.

use std::ops::Range;

use memchr::memmem;

/// The literals of each kind that a language has.
pub(super) fn literals(ending: &str, text: &[u8]) -> impl Iterator<Item = Vec<Range<usize>>> {
    let signs: &[&[u8]] = match ending {
        "py" | "pyi" => &[b"\"\"\"", b"'''"],
        "java" | "kt" | "scala" | "swift" => &[b"\"\"\""],
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "go" => &[b"`"],
        "rs" => &[b"\""],
        _ => &[],
    };
    signs.iter().map(|sign| between(sign, text))
}

/// Returns the ranges from each odd occurrence of `sign` to the next one.
fn between(sign: &[u8], text: &[u8]) -> Vec<Range<usize>> {
    let signs = memmem::find_iter(text, sign).filter(|at| sign.len() > 1 || !is_plain(text, *at));
    let signs: Vec<usize> = signs.collect();
    signs.chunks(2).map(|it| it[0]..it.get(1).copied().unwrap_or(text.len())).collect()
}

/// Whether a quotation mark is escaped, or a character in quotes.
fn is_plain(text: &[u8], at: usize) -> bool {
    let (before, after) = (&text[..at], &text[at + 1..]);
    before.ends_with(b"\\") || before.ends_with(b"'") && after.starts_with(b"'")
}
