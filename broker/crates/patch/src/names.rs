//! Names of files in the heads of diffs, with git's quotes and prefixes.

use crate::{Error, Mode, unended};

/// Two names without git's prefixes, if both have them.
pub fn bare<'a>(old: &'a str, new: &'a str) -> (&'a str, &'a str) {
    old.strip_prefix("a/").zip(new.strip_prefix("b/")).unwrap_or((old, new))
}

/// The name in a line that begins with `--- ` or `+++ `, without what follows a tab. `None` is a side without a file.
pub(crate) fn side(line: &str, number: usize, mode: Mode) -> Result<Option<String>, Error> {
    match unended(line)[4..].split('\t').next().unwrap_or_default() {
        text if text.trim() == "/dev/null" => Ok(None),
        text => whole(text, number, mode).map(Some),
    }
}

pub(crate) fn whole(text: &str, number: usize, mode: Mode) -> Result<String, Error> {
    let text = if mode == Mode::Lenient { text.trim() } else { text };
    if !text.starts_with('"') {
        return Ok(text.to_owned());
    }
    let name = unquoted(text).filter(|it| it.1.is_empty()).map(|it| it.0);
    name.ok_or_else(|| Error::malformed(number, format!("`{text}` is not quoted as git quotes names")))
}

/// The two names after `diff --git `, if they are one name, each below a first folder or neither: only then it is known
/// where the first ends.
///
/// Takes time in proportion to the length: texts are only compared where both are equally long, which a single split
/// gives at most.
pub(crate) fn pair(text: &str) -> Option<(String, String)> {
    if let Some((old, rest)) = unquoted(text) {
        let new = rest.strip_prefix(' ')?;
        let new = unquoted(new).map_or(new.to_owned(), |it| it.0);
        return are_one(&old, &new).then_some((old, new));
    }
    if let Some((old, quoted)) = text.split_once(" \"") {
        let new = unquoted(&format!("\"{quoted}"))?.0;
        return are_one(old, &new).then(|| (old.to_owned(), new));
    }
    let below_first = text.find('/').map(|it| it + 1);
    let mut slashes = text.match_indices('/').map(|(at, _)| at).peekable();
    let mut are_one_at = |at: usize| {
        while slashes.next_if(|it| *it < at).is_some() {}
        let mut below = || Some((text.get(below_first?..at)?, text.get(slashes.peek()? + 1..)?));
        text[..at] == text[at + 1..] || below().is_some_and(|(old, new)| old == new)
    };
    let split = text.match_indices(' ').map(|(at, _)| at).find(|at| are_one_at(*at))?;
    Some((text[..split].to_owned(), text[split + 1..].to_owned()))
}

fn are_one(old: &str, new: &str) -> bool {
    let below_first = old.split_once('/').zip(new.split_once('/'));
    old == new || below_first.is_some_and(|(old, new)| old.1 == new.1)
}

/// Unquotes a name that git writes in quotes, and returns the text after it. `None` if the quotes are not git's.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix('"')?;
    loop {
        let plain = rest.find(['"', '\\'])?;
        bytes.extend_from_slice(&rest.as_bytes()[..plain]);
        let is_end = rest[plain..].starts_with('"');
        rest = &rest[plain + 1..];
        if is_end {
            return Some((String::from_utf8(bytes).ok()?, rest));
        }
        let (byte, length) = escaped(rest)?;
        bytes.push(byte);
        rest = &rest[length..];
    }
}

/// Returns the byte that an escape stands for, and the length of the escape after the backslash.
fn escaped(text: &str) -> Option<(u8, usize)> {
    let byte = match text.chars().next()? {
        '0'..='3' => return Some((u8::from_str_radix(text.get(..3)?, 8).ok()?, 3)),
        'a' => 7,
        'b' => 8,
        't' => b'\t',
        'n' => b'\n',
        'v' => 11,
        'f' => 12,
        'r' => b'\r',
        '"' => b'"',
        '\\' => b'\\',
        _ => return None,
    };
    Some((byte, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_git_are_taken_off() {
        assert_eq!(unquoted(r#""a/caf\303\251 \"x\".py" b"#), Some(("a/café \"x\".py".into(), " b")));
        for bad in [r#""a"#, r#""\x41""#, r#""\303""#, r#""\9""#, r#""\é""#] {
            assert_eq!(unquoted(bad), None, "{bad}");
        }
    }

    #[test]
    fn pairs_are_told_by_what_follows_the_first_directories() {
        for (names, want) in [
            ("a/x b/x", Some(("a/x", "b/x"))),
            ("x x", Some(("x", "x"))),
            ("src/x src/x", Some(("src/x", "src/x"))),
            ("a/x y b/x y", Some(("a/x y", "b/x y"))),
            ("\"a/t\\tb\" \"b/t\\tb\"", Some(("a/t\tb", "b/t\tb"))),
            ("a/x \"b/x\"", Some(("a/x", "b/x"))),
            ("old dir/x new/x", Some(("old dir/x", "new/x"))),
            ("a/x b/y", None),
            ("x", None),
            ("\" \"", None),
            ("\"a\" \"a\"", Some(("a", "a"))),
            ("", None),
        ] {
            let want = want.map(|(old, new)| (old.to_owned(), new.to_owned()));
            assert_eq!(pair(names), want, "{names}");
        }
    }

    /// To compare all splits of these would take days.
    #[test]
    fn a_long_pair_takes_no_longer_than_to_read_it() {
        let spaces = "a ".repeat(4 << 20);
        for (names, want) in [
            (format!("{spaces} z"), false),
            (format!("a/{spaces} b/{spaces}z"), false),
            ("a/a ".repeat(2 << 20), false),
            (format!("a/{spaces}z b/{spaces}z"), true),
        ] {
            assert_eq!(pair(&names).is_some(), want, "{}", &names[..9]);
        }
    }
}
