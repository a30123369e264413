//! Effects of the fixes of other linters on the suppressions of a file.
//!
//! A fix may drop a comment together with its reason, put it beside other code, or move a line into or out of a range
//! between `disable` and `enable`. None of that is what the fix was made for.

use memchr::memmem;
use overlay::WorkspacePath;

use super::{
    NEEDLE,
    comments::Comments,
    directive::Kind,
    scan::{Suppression, Suppressions, scan},
};
use crate::{Edit, Span, finding_key::slice};

/// Effect of a fix on suppressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Each suppression stays as it is, for the code that it was for.
    Keeps,
    /// A suppression has another text, another place among the others or other code.
    Alters,
    /// The beginning or end of a range is within what is replaced, so that other lines may be in the range.
    MovesRange,
}

/// The suppressions of a text that is to be fixed.
pub struct Guard<'t> {
    comments: Comments,
    /// `None` if the text has none.
    before: Option<Suppressions<'t>>,
    text: &'t [u8],
}

impl<'t> Guard<'t> {
    /// `None` if files like that at `path` have no suppressions.
    pub fn new(path: &WorkspacePath, text: &'t [u8]) -> Option<Self> {
        let comments = Comments::of(path, text)?;
        let has_any = memmem::find(text, NEEDLE).is_some();
        let before = has_any.then(|| scan(comments, text)).filter(|it| !it.found.is_empty());
        Some(Self { comments, before, text })
    }

    /// Returns the effect of the edits of one fix, which are in order and do not overlap.
    pub fn effect(&self, edits: &[Edit]) -> Effect {
        let adds = edits.iter().any(|it| memmem::find(it.replacement.as_bytes(), NEEDLE).is_some());
        let Some(before) = self.before.as_ref() else {
            return if adds { Effect::Alters } else { Effect::Keeps };
        };
        let touches = |it: &&Suppression| edits.iter().any(|edit| overlap(edit.span, it.comment));
        if before.found.iter().filter(touches).any(Suppression::is_switch) {
            return Effect::MovesRange;
        }
        if !adds && !before.found.iter().any(|it| is_near(before, it, edits)) {
            return Effect::Keeps;
        }
        let text = applied(self.text, edits);
        let after = scan(self.comments, &text);
        let map = Map(edits);
        let are_same = before.found.len() == after.found.len()
            && before.found.iter().zip(&after.found).all(|(old, new)| is_same(before, old, &after, new, map));
        match are_same {
            true => Effect::Keeps,
            false if switches(before).ne(switches(&after)) => Effect::MovesRange,
            false => Effect::Alters,
        }
    }
}

impl Suppression {
    fn is_for_line(&self) -> bool {
        matches!(self.directive.kind, Kind::Ignore | Kind::IgnoreNextLine)
    }

    fn is_switch(&self) -> bool {
        matches!(self.directive.kind, Kind::Disable | Kind::Enable)
    }
}

/// The texts of the comments that begin and end ranges.
fn switches<'s>(of: &'s Suppressions<'_>) -> impl Iterator<Item = &'s [u8]> {
    of.found.iter().filter(|it| it.is_switch()).map(|it| slice(of.text, it.comment))
}

/// Whether an edit is on a line from the comment's to the one it is for, or right beside those.
fn is_near(of: &Suppressions<'_>, it: &Suppression, edits: &[Edit]) -> bool {
    let last = it.target.unwrap_or(it.line).max(it.line);
    let start = of.table.line_start(it.line.saturating_sub(1).max(1)).unwrap_or(0);
    let end = of.table.line_start(last + 2).unwrap_or(u32::MAX);
    edits.iter().any(|edit| edit.span.start <= end && edit.span.end >= start)
}

/// Whether a comment has the same text, at the same code.
fn is_same(
    before: &Suppressions<'_>,
    old: &Suppression,
    after: &Suppressions<'_>,
    new: &Suppression,
    map: Map<'_>,
) -> bool {
    slice(before.text, old.comment) == slice(after.text, new.comment)
        && before.is_alone(old.comment) == after.is_alone(new.comment)
        && (!old.is_for_line() || has_same_target(before, old, after, new, map))
}

fn has_same_target(
    before: &Suppressions<'_>,
    old: &Suppression,
    after: &Suppressions<'_>,
    new: &Suppression,
    map: Map<'_>,
) -> bool {
    let line = |of: &Suppressions<'_>, it: &Suppression| of.table.line_span(it.target?);
    let (Some(from), Some(to)) = (line(before, old), line(after, new)) else {
        return old.target.is_none() && new.target.is_none();
    };
    let is_code = |at: &u32| {
        let byte = before.text.get(*at as usize);
        !(old.comment.start..old.comment.end).contains(at) && byte.is_some_and(|it| !it.is_ascii_whitespace())
    };
    let mut kept = (from.start..from.end).filter(is_code).filter_map(|it| map.kept(it));
    match (kept.next(), kept.next_back()) {
        (Some(first), last) => {
            (to.start..to.end).contains(&first) && last.is_none_or(|it| (to.start..to.end).contains(&it))
        }
        // All of its code was replaced: by what is there now, or by nothing.
        (None, _) => {
            map.replaced_by(from).any(|it| it.start < it.end && it.start < to.end && to.start < it.end)
        }
    }
}

/// Maps offsets of a text to those of the text with these edits.
#[derive(Clone, Copy)]
struct Map<'e>(&'e [Edit]);

impl Map<'_> {
    /// `None` if the edits replace what is there.
    fn kept(self, offset: u32) -> Option<u32> {
        let before = self.0.iter().take_while(|it| it.span.end <= offset);
        let next = self.0.iter().find(|it| it.span.end > offset);
        if next.is_some_and(|it| it.span.start <= offset) {
            return None;
        }
        Some(before.fold(offset, shifted))
    }

    /// Spans of the replacements, in the new text, whose edits overlap `span`.
    fn replaced_by(self, span: Span) -> impl Iterator<Item = Span> {
        let place = move |(index, it): (usize, &Edit)| {
            let start = self.0[..index].iter().fold(it.span.start, shifted);
            let length = u32::try_from(it.replacement.len()).unwrap_or(u32::MAX);
            Span::new(start, start.saturating_add(length))
        };
        self.0.iter().enumerate().filter(move |(_, it)| overlap(it.span, span)).map(place)
    }
}

fn shifted(offset: u32, by: &Edit) -> u32 {
    let length = i64::try_from(by.replacement.len()).unwrap_or(i64::MAX);
    clamped((i64::from(offset) + length).saturating_sub(i64::from(by.span.end - by.span.start)))
}

fn clamped(offset: i64) -> u32 {
    u32::try_from(offset.max(0)).unwrap_or(u32::MAX)
}

/// Whether the spans have a byte in common, or one is empty and within the other.
fn overlap(a: Span, b: Span) -> bool {
    if a.start == a.end { b.start < a.start && a.start < b.end } else { a.start < b.end && b.start < a.end }
}

fn applied(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let (mut after, mut at) = (Vec::with_capacity(text.len()), 0);
    for Edit { span, replacement } in edits {
        after.extend_from_slice(slice(text, Span::new(at, span.start)));
        after.extend_from_slice(replacement.as_bytes());
        at = span.end;
    }
    after.extend_from_slice(slice(text, Span::new(at, u32::MAX)));
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The effect of replacing each of `parts` where it first stands.
    #[track_caller]
    fn check(text: &str, parts: &[(&str, &str)], want: Effect) {
        let mut edits: Vec<_> = parts
            .iter()
            .map(|(from, to)| {
                let start = text.find(from).unwrap() as u32;
                Edit { span: Span::new(start, start + from.len() as u32), replacement: (*to).to_owned() }
            })
            .collect();
        edits.sort_by_key(|it| it.span);
        let guard = Guard::new(&WorkspacePath::new("a.py").unwrap(), text.as_bytes()).unwrap();
        assert_eq!(guard.effect(&edits), want, "{text:?} {parts:?}");
    }

    #[test]
    fn edits_elsewhere_keep_everything() {
        let text = "import a\nimport b\n\nx = 1  # broker: ignore[F401] why\ny = 2\nz = 3\n";
        check(text, &[("import b\n", "")], Effect::Keeps);
        check(text, &[("import a\nimport b", "import b\nimport a")], Effect::Keeps);
        check(text, &[("x = 1", "x = 10")], Effect::Keeps);
        check(text, &[("y = 2\n", "")], Effect::Keeps);
        check("a\nb\n", &[("a", "c")], Effect::Keeps);
        check("# broker: ignore-file[X]\na\n", &[("a\n", "b\n")], Effect::Keeps);
    }

    #[test]
    fn a_comment_does_not_go_unasked() {
        let text = "import os  # broker: ignore[E501] why\nimport sys\n";
        check(text, &[("import os  # broker: ignore[E501] why\n", "")], Effect::Alters);
        check(text, &[("import os", "")], Effect::Alters);
        check(text, &[("why", "because")], Effect::Alters);
        check("a\nb\n", &[("a", "# broker: ignore-file")], Effect::Alters);
        let both = "import b  # broker: ignore[X]\nimport a  # broker: ignore[Y]\n";
        let sorted = "import a  # broker: ignore[Y]\nimport b  # broker: ignore[X]\n";
        check(both, &[(both, sorted)], Effect::Alters);
    }

    #[test]
    fn a_comment_stays_with_its_code() {
        let text = "# broker: ignore-next-line[X] why\nimport os\nimport sys\n";
        check(text, &[("import os\n", "")], Effect::Alters);
        check(text, &[("import os\n", "import re\n")], Effect::Keeps);
        check(text, &[("import os", "import os.path")], Effect::Keeps);
        check(text, &[("import os", "import re\nimport os")], Effect::Keeps);
        check(text, &[(" why\n", " why\nimport re\n")], Effect::Alters);
        check(text, &[("import sys\n", "")], Effect::Keeps);
        let own = "a\n# broker: ignore[X]\nb\n";
        check(own, &[("a\n", "a ")], Effect::Alters);
    }

    #[test]
    fn a_range_stays_where_it_is() {
        let text = "import b\n# broker: disable[X]\nimport a\n# broker: enable[X]\nx = 1\n";
        let swapped = "# broker: enable[X]\nimport a\n# broker: disable[X]\nimport b";
        let block = "import b\n# broker: disable[X]\nimport a\n# broker: enable[X]";
        check(text, &[(block, swapped)], Effect::MovesRange);
        let moved = "# broker: disable[X]\nimport a\n# broker: enable[X]\nimport b";
        check(text, &[(block, moved)], Effect::MovesRange);
        check(text, &[("import a\n", "")], Effect::Keeps);
        check(text, &[("x = 1", "x = 2")], Effect::Keeps);
        check(text, &[("# broker: enable[X]\n", "")], Effect::MovesRange);
    }
}
