//! Putting a file's hunks where they belong, and saying what is there if it is something else.

mod search;

use std::borrow::Cow;

use patch::{Hunk, Numbers, Sign};
use search::{Search, TooFar};

/// A text with hunks applied.
#[derive(Debug)]
pub(super) struct Applied {
    pub(super) text: String,
    /// The hunks, counted from 0, that were not at the stated line: that and the real one, from 1.
    pub(super) moved: Vec<(usize, usize, usize)>,
}

/// The first line of a hunk that is not as it says, where the hunk should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// Counted from 0.
    pub(super) hunk: usize,
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) expected: String,
    /// `None`: the file ends before.
    pub(super) found: Option<String>,
}

/// Error of hunks that cannot be applied.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Mismatch(Mismatch),
    /// The hunk, counted from 0, is one too many that is far from where it says.
    TooFar {
        hunk: usize,
    },
}

/// Number of lines searched for all hunks of one file that are not at their given line. A hunk that moved costs a few
/// times the distance, and one that fits nowhere all lines of the file, once.
const MAX_SEARCHED: usize = 1 << 27;

/// Applies `hunks`, which are in order, as `patch` does: each may have moved as a whole, the nearest place
/// that fits is taken, and every line of context must be there.
///
/// In a file whose lines all end in CR LF a patch without any CR is taken to mean those.
pub(super) fn apply(text: &str, hunks: &[Hunk<'_>]) -> Result<Applied, Refused> {
    apply_within(text, hunks, MAX_SEARCHED)
}

fn apply_within(text: &str, hunks: &[Hunk<'_>], budget: usize) -> Result<Applied, Refused> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let crlf = is_crlf(&lines) && !hunks.iter().flat_map(|it| &it.lines).any(|it| it.1.contains('\r'));
    let mut applied = Applied { text: String::with_capacity(text.len()), moved: Vec::new() };
    let mut search = Search::new(&lines, budget);
    let (mut done, mut shift) = (0, 0);
    for (index, hunk) in hunks.iter().enumerate() {
        let old: Vec<_> = side(hunk, crlf, |it| it != Sign::New).collect();
        let stated = hunk.numbers.map_or(done, Numbers::first);
        let wanted = stated.saturating_add_signed(shift).clamp(done, lines.len());
        let place = match search.nearest(&old, done, wanted) {
            Ok(Some(place)) => place,
            Ok(None) => return Err(Refused::Mismatch(mismatch(index, &lines, &old, wanted))),
            Err(TooFar) => return Err(Refused::TooFar { hunk: index }),
        };
        applied.text.extend(lines[done..place].iter().copied());
        applied.text.extend(side(hunk, crlf, |it| it != Sign::Old));
        done = place + old.len();
        shift = place.cast_signed() - stated.cast_signed();
        if place != stated {
            applied.moved.push((index, stated + 1, place + 1));
        }
    }
    applied.text.extend(lines[done..].iter().copied());
    Ok(applied)
}

fn is_crlf(lines: &[&str]) -> bool {
    let (last, rest) = lines.split_last().map_or(("", lines), |(last, rest)| (*last, rest));
    let ends = |line: &str| line.ends_with("\r\n");
    rest.iter().all(|it| ends(it)) && if last.ends_with('\n') { ends(last) } else { !rest.is_empty() }
}

/// The lines of a hunk that `keeps` accepts, as they are in the file.
fn side<'a>(hunk: &Hunk<'a>, crlf: bool, keeps: fn(Sign) -> bool) -> impl Iterator<Item = Cow<'a, str>> {
    hunk.lines.iter().filter(move |it| keeps(it.0)).map(move |(_, text)| match text.strip_suffix('\n') {
        Some(line) if crlf => Cow::Owned(format!("{line}\r\n")),
        _ => Cow::Borrowed(*text),
    })
}

fn mismatch(hunk: usize, lines: &[&str], old: &[Cow<'_, str>], wanted: usize) -> Mismatch {
    let differs = |at: &usize| lines.get(wanted + at).is_none_or(|line| *line != old[*at]);
    // If every line fits in place, the hunk stands before the end of an earlier one.
    let at = (0..old.len()).find(differs).unwrap_or_default();
    Mismatch {
        hunk,
        line: wanted + at + 1,
        expected: old[at].to_string(),
        found: lines.get(wanted + at).map(|it| (*it).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use patch::{Mode, Patch};

    use super::*;

    type Moved = Vec<(usize, usize, usize)>;

    fn check(text: &str, hunks: &str) -> Result<(String, Moved), Mismatch> {
        check_within(text, hunks, MAX_SEARCHED).map_err(|it| match it {
            Refused::Mismatch(it) => it,
            it @ Refused::TooFar { .. } => panic!("{it:?}"),
        })
    }

    fn check_within(text: &str, hunks: &str, budget: usize) -> Result<(String, Moved), Refused> {
        let patch = format!("--- a\n+++ b\n{hunks}");
        let lines: Vec<_> = patch.split_inclusive('\n').collect();
        let files = Patch::read(&lines, Mode::Strict).files().unwrap();
        apply_within(text, &files[0].hunks, budget).map(|it| (it.text, it.moved))
    }

    /// Hunks that go back and forth over the file, each of them found.
    #[test]
    fn searching_has_a_bound() {
        let text: String = (0..4000).map(|n| format!("{n}\n")).collect();
        let hunk = |n: usize, stated: usize| format!("@@ -{stated} +{stated} @@\n-{n}\n+{n}!\n");
        let hunks: String = (0..40).map(|n| hunk(n, 10 + 100 * n)).collect();
        assert_eq!(check_within(&text, &hunks, MAX_SEARCHED).unwrap().1.len(), 40);
        let refused = check_within(&text, &hunks, 10_000).unwrap_err();
        assert!(matches!(refused, Refused::TooFar { hunk: 1.. }), "{refused:?}");
    }

    #[test]
    fn hunks_are_found_where_they_moved_to() {
        let text = "new\nnew\na\nb\nc\nd\ne\n";
        let (text, moved) =
            check(text, "@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -4,2 +4,2 @@\n d\n-e\n+E\n").unwrap();
        assert_eq!(text, "new\nnew\na\nB\nc\nd\nE\n");
        assert_eq!(moved, [(0, 1, 3), (1, 4, 6)]);
    }

    #[test]
    fn hunks_without_context_go_where_they_say() {
        assert_eq!(check("a\nb\n", "@@ -1,0 +2 @@\n+x\n").unwrap().0, "a\nx\nb\n");
        assert_eq!(check("", "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n").unwrap().0, "x");
        assert_eq!(check("a\nx\na\n", "@@ -3 +2,0 @@\n-a\n").unwrap().0, "a\nx\n");
    }

    #[test]
    fn line_endings_are_the_files() {
        assert_eq!(check("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n").unwrap().0, "a\r\nc\r\n");
        assert_eq!(check("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n").unwrap().0, "a\r\nc\r\n");
        assert!(check("a\nb\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n").is_err());
        assert_eq!(check("a\r\nb", "@@ -1,1 +1,2 @@\n a\n+x\n").unwrap().0, "a\r\nx\r\nb");
    }

    #[test]
    fn a_mismatch_says_what_is_there() {
        let error = check("a\nB\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n").unwrap_err();
        let want = Mismatch { hunk: 0, line: 2, expected: "b\n".into(), found: Some("B\n".into()) };
        assert_eq!(error, want);
        let error = check("a\n", "@@ -9,2 +9,1 @@\n x\n-b\n").unwrap_err();
        assert_eq!((error.line, error.found), (2, None));
        let error = check("a", "@@ -1 +1 @@\n-a\n+b\n").unwrap_err();
        assert_eq!((error.expected.as_str(), error.found.as_deref()), ("a\n", Some("a")));
    }
}
