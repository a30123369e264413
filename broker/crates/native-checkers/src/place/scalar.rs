//! Places in block scalars of YAML, as tools count them that know only where a scalar begins: on from there, in its text.

/// The place that lies `units` bytes after the start of the line `head`, which begins a scalar, as an offset in what follows the line.
/// `None` if there is no scalar, or it ends before.
pub(super) fn offset(head: &[u8], rest: &[u8], units: u32) -> Option<u32> {
    let sign = sign(head)?;
    let is_folded = head[sign] == b'>';
    let mut left = usize::try_from(units).ok()?.checked_sub(sign)?;
    let (mut start, mut indent, mut after_text) = (0, None, false);
    for (number, line) in rest.split_inclusive(|it| *it == b'\n').enumerate() {
        let text = line.trim_ascii_end();
        // The first is the end of the line that begins the scalar.
        if number > 0 && text.is_empty() {
            // The first empty line is the break that folding leaves.
            let is_counted = !(is_folded && after_text);
            after_text = false;
            left = if is_counted { left.checked_sub(1)? } else { left };
        } else if number > 0 {
            let spaces = text.iter().take_while(|it| **it == b' ').count();
            let indent = *indent.get_or_insert(spaces);
            if spaces < indent || indent == 0 {
                return None;
            }
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let length = text.strip_suffix(b"\r").unwrap_or(text).len() - indent;
            if left <= length {
                return u32::try_from(start + indent + left).ok();
            }
            left -= length + 1;
            after_text = true;
        }
        start += line.len();
    }
    None
}

/// Returns the position of the sign that begins a block scalar: `|` or `>` at the end of a line, with `+`, `-` or a number, and
/// maybe a comment.
fn sign(line: &[u8]) -> Option<usize> {
    let comment = line.windows(2).position(|it| it == b" #").unwrap_or(line.len());
    let line = line[..comment].trim_ascii_end();
    let header = line.iter().rev().take_while(|it| matches!(it, b'+' | b'-' | b'0'..=b'9')).count();
    let sign = line.len().checked_sub(header + 1)?;
    let is_apart = sign == 0 || line[sign - 1].is_ascii_whitespace();
    (matches!(line[sign], b'|' | b'>') && is_apart).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks for the place in `text` of the `@` in the scalar's text `value`.
    #[track_caller]
    fn check(text: &str, value: &str) {
        let (head, rest) = text.split_at(text.find('\n').unwrap());
        let sign = sign(head.as_bytes()).unwrap();
        let units = u32::try_from(sign + value.find('@').unwrap()).unwrap();
        let found = offset(head.as_bytes(), rest.as_bytes(), units).unwrap() as usize;
        assert_eq!(&rest[found..=found], "@", "{rest:?}");
    }

    #[test]
    fn places_in_scalars() {
        check("a: |\n  ä\n\n   b @\n", "ä\n\n b @\n");
        check("- run: |2- # why\n    @x\nb: 1\n", "@x");
        check("a: >\n  b\n  c @\n", "b c @\n");
        check("a: >+\n  b\n\n\n  c @\n", "b\n\nc @\n");
        check("a: |\r\n  b\r\n  @\r\n", "b\n@\n");
    }

    #[test]
    fn what_is_in_no_scalar() {
        assert_eq!(offset(b"a: b", b"\n  c\n", 9), None);
        assert_eq!(offset(b"a: x|", b"\n  c\n", 9), None);
        assert_eq!(offset(b"a: |", b"\n  c\nb: 1\n", 9), None);
        assert_eq!(offset(b"a: |", b"", 9), None);
    }
}
