//! The hunks of a diff: their heads, and where they end.

use super::{
    super::{
        block::{Block, Sign},
        outcome::Refused,
        wrapping::{is_fence, is_signature, is_vcs_head},
    },
    file_diff::Hunk,
    head::{is_head_of_diff, is_head_of_file, malformed},
};

/// Whether lines that may be a hunk change anything.
pub(super) fn has_change(lines: &[&str]) -> bool {
    let mut signed = lines.iter().take_while(|it| it.is_empty() || it.starts_with([' ', '+', '-']));
    signed.any(|it| it.starts_with(['+', '-']))
}

/// Whether a hunk is over before a line without a sign: it is, if what follows up to the next file changes nothing. At
/// worst such lines are context, which is not needed.
fn ends_hunk(rest: &[&str]) -> bool {
    let may_be_list = is_fence(rest[0]);
    let is_item = |it: &str| match it.strip_prefix("- ").and_then(|it| it.chars().next()) {
        Some(first) => {
            first.is_uppercase() || "`*\"".contains(first) || (may_be_list && first.is_alphanumeric())
        }
        None => it.trim_end().trim_matches('-').is_empty(),
    };
    for (at, line) in rest.iter().enumerate() {
        if is_head_of_diff(rest, at)
            || is_head_of_file(rest, at)
            || is_vcs_head(line)
            || is_signature(rest, at)
        {
            return true;
        }
        if line.starts_with("@@") {
            return may_be_list;
        }
        if line.starts_with('+') || (line.starts_with('-') && !is_item(line)) {
            return false;
        }
    }
    true
}

pub(super) fn hunk<'a>(lines: &[&'a str], at: &mut usize, part: usize) -> Result<Hunk<'a>, Refused> {
    let (numbers, heading) = head(lines[*at - 1]);
    let (mut body, mut last, mut is_open) = (Vec::new(), None, (false, false));
    // Lines of the two sides: those that are due, and those that were read.
    let (due, mut read) = (numbers.map_or((0, 0), |it| (it.old, it.new)), (0, 0));
    while let Some(line) = lines.get(*at) {
        let is_due = read.0 < due.0 || read.1 < due.1;
        let is_next =
            line.starts_with("@@") || is_head_of_diff(lines, *at) || (!is_due && is_head_of_file(lines, *at));
        if is_next || is_signature(lines, *at) {
            break;
        }
        let (sign, text) = match line.chars().next() {
            Some('+') => (Sign::New, &line[1..]),
            Some('-') => (Sign::Old, &line[1..]),
            Some(' ') => (Sign::Keep, &line[1..]),
            None => (Sign::Keep, ""),
            Some('\\') => {
                let (old, new) = (last != Some(Sign::New), last != Some(Sign::Old));
                is_open = (is_open.0 || old, is_open.1 || new);
                *at += 1;
                continue;
            }
            Some(_) if !body.is_empty() && ends_hunk(&lines[*at..]) => break,
            Some(_) => {
                let message = "a line of a hunk begins with a space, `+` or `-`".to_owned();
                return Err(malformed(*at + 1, message));
            }
        };
        read = (read.0 + usize::from(sign != Sign::New), read.1 + usize::from(sign != Sign::Old));
        last = Some(sign);
        body.push((sign, text, line.is_empty()));
        *at += 1;
    }
    // Empty lines at the end separate the hunk from what follows, unless they are counted.
    while body.last().is_some_and(|it| it.2) && numbers.is_none_or(|_| read != due) {
        body.pop();
        read = (read.0 - 1, read.1 - 1);
    }
    let stated = numbers.filter(|_| read == due);
    let stated = stated.map(|it| if it.old == 0 { it.start } else { it.start.saturating_sub(1) });
    let block = Block { part, lines: body.into_iter().map(|it| (it.0, it.1)).collect() };
    Ok(Hunk { block, stated, heading, ends: (is_open != (false, false)).then_some(!is_open.1) })
}

/// `-START,OLD +START,NEW`.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    start: usize,
    old: usize,
    new: usize,
}

impl Numbers {
    fn read(text: &str) -> Option<Self> {
        let mut words = text.trim().split(' ');
        let side = |word: &str, sign| {
            let word = word.strip_prefix(sign)?;
            let (start, count) = word.split_once(',').unwrap_or((word, "1"));
            Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
        };
        let ((start, old), (_, new)) = (side(words.next()?, '-')?, side(words.next()?, '+')?);
        Some(Self { start, old, new })
    }
}

/// The first line of a hunk: `@@ NUMBERS @@ HEADING`, of which models leave out one or both.
pub(super) fn head(line: &str) -> (Option<Numbers>, Option<&str>) {
    let line = line.strip_prefix("@@").unwrap_or(line);
    let (numbers, heading) = match line.split_once("@@") {
        Some((numbers, heading)) => (Numbers::read(numbers), heading),
        None => match Numbers::read(line) {
            Some(numbers) => (Some(numbers), ""),
            None => (None, line),
        },
    };
    let says_something = |it: &&str| it.contains(|it: char| it.is_alphabetic());
    (numbers, Some(heading.trim()).filter(says_something))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_numbers_or_a_heading_or_both() {
        let head = |line| {
            let (numbers, heading) = head(line);
            (numbers.map(|it| (it.start, it.old, it.new)), heading)
        };
        assert_eq!(head("@@ -1,2 +3 @@ def f():"), (Some((1, 2, 1)), Some("def f():")));
        assert_eq!(head("@@ -1,2 +3,4 @@"), (Some((1, 2, 4)), None));
        assert_eq!(head("@@ -1,2 +3,4"), (Some((1, 2, 4)), None));
        assert_eq!(head("@@ def f():"), (None, Some("def f():")));
        assert_eq!(head("@@ ... @@ def f():"), (None, Some("def f():")));
        assert_eq!(head("@@ ... @@"), (None, None));
        assert_eq!(head("@@"), (None, None));
    }
}
