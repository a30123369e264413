//! Places of shuck's rule on quotes (SC2086) within backticks. shuck reports the columns that ShellCheck does, which counts in the
//! text that is left once a shell has removed backslashes; in the file, that is before the intended place. shuck's fixes there,
//! or around such backticks, are of no use either.

use std::ops::Range;

use shuck_linter::{AnalysisRequest, Rule};

/// The backticks of one script.
pub(crate) struct Backticks {
    /// Ranges between the backticks, in the order of the file.
    bodies: Vec<Range<usize>>,
}

impl Backticks {
    pub(crate) fn of(request: &AnalysisRequest<'_>) -> Self {
        let all = request.indexer().region_index().backtick_command_substitution_ranges().iter();
        Self { bodies: all.map(|it| usize::from(it.start()) + 1..usize::from(it.end()) - 1).collect() }
    }

    /// Place of a finding that shuck reports at another one, or may.
    pub(crate) fn moved(&self, rule: Rule, text: &str, reported: &Range<usize>) -> Option<Range<usize>> {
        let is_counted_so = rule == Rule::UnquotedExpansion;
        let body = self.bodies.iter().find(|it| is_counted_so && it.contains(&reported.start))?;
        let is_dollar = |at: usize| text.as_bytes().get(at) == Some(&b'$');
        let meant = counted(text, body).find(|(at, count)| *count == reported.start && is_dollar(*at));
        match (meant.map(|it| it.0), is_dollar(reported.start)) {
            (None, true) => None,
            (Some(at), true) if at == reported.start => None,
            (Some(at), false) => {
                let mut ends =
                    counted(text, body).filter(|it| it.0 > at && it.1 >= reported.end).map(|it| it.0);
                Some(at..ends.next().unwrap_or(body.end))
            }
            // Either could be meant, or none.
            (Some(_), true) | (None, false) => Some(reported.clone()),
        }
    }

    /// Whether a range has backticks with a backslash between them: its meaning depends on the quotes around them.
    pub(crate) fn escape_in(&self, text: &str, range: &Range<usize>) -> bool {
        let mut bodies = self.bodies.iter().filter(|it| range.start < it.start && it.end < range.end);
        bodies.any(|it| text.get(it.clone()).is_some_and(|it| it.contains('\\')))
    }
}

/// The characters between backticks: where they are in the file, and where they would be without the backslashes that the
/// shell takes away.
fn counted(text: &str, body: &Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let mut removed = 0;
    let mut is_escaped = false;
    let between = text.get(body.clone()).unwrap_or_default();
    let mut characters = between.char_indices().map(|(at, it)| (body.start + at, it)).peekable();
    std::iter::from_fn(move || {
        let (at, it) = characters.next()?;
        removed += usize::from(is_escaped);
        let escapes = matches!(characters.peek(), Some((_, '$' | '`' | '\\')));
        is_escaped = it == '\\' && !is_escaped && escapes;
        Some((at, at - removed))
    })
}
