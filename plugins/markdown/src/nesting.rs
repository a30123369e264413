//! Lists and quotations in each other, deeper than anybody writes them. rumdl's time grows with the cube of the
//! depth and its memory with the square, so that a small file could take all there is.

/// More is not looked at.
pub(crate) const DEEPEST: usize = 100;

/// Whether a line of `text` stands in more than [`DEEPEST`] lists and quotations. Takes some text for markers that
/// is none, so it is no measure of the depth.
pub(crate) fn is_too_deep(text: &str) -> bool {
    text.lines().any(|line| depth(line) > DEEPEST)
}

/// Number of markers that the line starts with, or that its indentation may belong to.
fn depth(line: &str) -> usize {
    let indented = line.trim_start_matches([' ', '\t']);
    let mut markers = 0;
    let mut rest = indented;
    while let Some(after) = marker(rest) {
        markers += 1;
        rest = after.trim_start_matches([' ', '\t']);
    }
    // Every level of a list is indented by two columns at least.
    if markers == 0 { 0 } else { markers + (line.len() - indented.len()) / 2 }
}

/// Text after a `>`, or after the marker of a list's item and before its space.
fn marker(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('>') {
        return Some(rest);
    }
    let digits = text.len() - text.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let ends: &[char] = if digits > 0 { &['.', ')'] } else { &['-', '*', '+'] };
    let rest = text[digits..].strip_prefix(ends)?;
    rest.starts_with([' ', '\t']).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths() {
        assert_eq!(depth("text"), 0);
        assert_eq!(depth("> - 1. text"), 3);
        assert_eq!(depth("        - text"), 5);
        assert_eq!(depth(&format!("{}text", " ".repeat(1000))), 0, "code");
        assert_eq!(depth("**strong** - 1.5"), 0);
        assert!(is_too_deep(&format!("# T\n{}x", ">".repeat(10_000))));
        assert!(is_too_deep(&format!("{}- x", " ".repeat(300))));
    }
}
