//! Detection of files that are nested so deeply that the parser, which is recursive, would run out of stack.
//!
//! Counts brackets without knowing strings from code: thousands more that open than close are no program of
//! anybody's either way.

/// The deepest that is parsed. The stack is good for more than that, but not for twice as much.
const DEEPEST: usize = 4_000;

/// Why not to parse the file, if so.
pub(crate) fn objection(text: &str) -> Option<String> {
    let is_too_deep = depth(text) > DEEPEST;
    is_too_deep.then(|| format!("not parsed, as it is nested more than {DEEPEST} levels deep"))
}

/// Greatest depth of the text's brackets.
pub(crate) fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    // Arrows and angle brackets, which may be comparisons: counted up to where an expression ends for sure.
    let mut chain = 0_usize;
    let mut last = 0;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'<' => chain += 1,
            b'>' if last == b'=' => chain += 1,
            b'>' => chain = chain.saturating_sub(1),
            _ => {}
        }
        if matches!(byte, b'{' | b'}' | b';' | b',') {
            chain = 0;
        }
        deepest = deepest.max(depth + chain);
        last = byte;
    }
    deepest
}
