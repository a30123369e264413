//! Changes of a file's findings by an edit.

use std::collections::{HashMap, VecDeque};

use crate::{
    FileFindings, FindingKey, LineTable, finding_key::slice, fingerprint::Fingerprint, line_map::LineMap,
};

/// Findings by their index in what was compared; each stands in exactly one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    /// Only in the later version; ascending.
    pub new: Vec<usize>,
    /// Only in the earlier version; ascending.
    pub fixed: Vec<usize>,
    /// In both: before, after; ascending.
    pub kept: Vec<(usize, usize)>,
}

/// Matches the findings of two versions of a file.
///
/// A finding is kept if its line is unchanged by the edit script between the texts, then if its rule and the
/// text it is about (but for white space) are found anywhere else, then if the very words it is about still
/// stand where its line was. Of findings that are alike, as many are kept as there are in both versions.
pub fn delta(before: FileFindings<'_>, after: FileFindings<'_>) -> Delta {
    let mut matching = Matching::new(before.findings.len(), after.findings.len());
    if !before.findings.is_empty() && !after.findings.is_empty() {
        let sides = (Side::new(before), Side::new(after));
        matching.fill(&sides.0, &sides.1, &LineMap::new(before.text, after.text));
    }
    matching.into_delta()
}

/// Findings with what they are matched by.
struct Side<'a> {
    of: FileFindings<'a>,
    kinds: Vec<Fingerprint>,
    /// The lines they begin on; in a cell, none.
    lines: Vec<Option<u32>>,
    /// From top to bottom, so that the first are matched with the first.
    order: Vec<usize>,
}

impl<'a> Side<'a> {
    fn new(of: FileFindings<'a>) -> Self {
        let table = LineTable::new(of.text);
        let line = |it: &FindingKey<'_>| it.cell.is_none().then(|| table.utf8(it.span.start).line);
        let mut order: Vec<usize> = (0..of.findings.len()).collect();
        order.sort_by_key(|index| of.findings[*index].span);
        Self {
            of,
            kinds: Fingerprint::kinds(of.text, of.findings),
            lines: of.findings.iter().map(line).collect(),
            order,
        }
    }
}

fn message<'a>(side: &Side<'a>, index: usize) -> &'a str {
    side.of.findings[index].message
}

fn rule<'a>(side: &Side<'a>, index: usize) -> (&'a str, &'a str) {
    (side.of.findings[index].linter, side.of.findings[index].code)
}

/// Key of a finding that an edit of its line leaves alone.
fn said<'a>(side: &Side<'a>, index: usize) -> Option<((&'a str, &'a str), &'a str, &'a [u8])> {
    Some((rule(side, index), message(side, index), words(side, index)?))
}

/// The text right under the finding; `None` if there is none.
fn words<'a>(side: &Side<'a>, index: usize) -> Option<&'a [u8]> {
    let words = slice(side.of.text, side.of.findings[index].span).trim_ascii();
    (!words.is_empty()).then_some(words)
}

struct Matching {
    after_of: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl Matching {
    fn new(before: usize, after: usize) -> Self {
        Self { after_of: vec![None; before], taken: vec![false; after] }
    }

    /// From the surest likeness to the weakest; what says the same is preferred at each.
    fn fill(&mut self, before: &Side<'_>, after: &Side<'_>, map: &LineMap) {
        let moved = |index: usize| before.lines[index].and_then(|it| map.after(it));
        self.pair(
            (before, |it| Some((moved(it)?, before.kinds[it], message(before, it)))),
            (after, |it| Some((after.lines[it]?, after.kinds[it], message(after, it)))),
        );
        self.pair(
            (before, |it| Some((moved(it)?, before.kinds[it]))),
            (after, |it| Some((after.lines[it]?, after.kinds[it]))),
        );
        // The text may have changed further down in the span.
        self.pair(
            (before, |it| Some((moved(it)?, rule(before, it), message(before, it)))),
            (after, |it| Some((after.lines[it]?, rule(after, it), message(after, it)))),
        );
        self.pair(
            (before, |it| Some((before.kinds[it], message(before, it)))),
            (after, |it| Some((after.kinds[it], message(after, it)))),
        );
        self.pair((before, |it| Some(before.kinds[it])), (after, |it| Some(after.kinds[it])));
        // An edit of a line does not make new what it leaves alone on that line.
        self.pair(
            (before, |it| Some((map.replaced(before.lines[it]?)?, said(before, it)?))),
            (after, |it| Some((map.replacing(after.lines[it]?)?, said(after, it)?))),
        );
    }

    /// Matches what has the same key and no match yet, from the top.
    fn pair<K: Eq + std::hash::Hash>(
        &mut self,
        (before, before_key): (&Side<'_>, impl Fn(usize) -> Option<K>),
        (after, after_key): (&Side<'_>, impl Fn(usize) -> Option<K>),
    ) {
        let mut free: HashMap<K, VecDeque<usize>> = HashMap::new();
        for index in after.order.iter().copied().filter(|it| !self.taken[*it]) {
            if let Some(key) = after_key(index) {
                free.entry(key).or_default().push_back(index);
            }
        }
        for index in before.order.iter().copied() {
            if self.after_of[index].is_none()
                && let Some(key) = before_key(index)
                && let Some(found) = free.get_mut(&key).and_then(VecDeque::pop_front)
            {
                self.take(index, found);
            }
        }
    }

    fn take(&mut self, before: usize, after: usize) {
        self.after_of[before] = Some(after);
        self.taken[after] = true;
    }

    fn into_delta(self) -> Delta {
        let before = self.after_of.iter().enumerate();
        let kept = before.clone().filter_map(|(index, after)| Some((index, (*after)?))).collect();
        let fixed = before.filter(|(_, after)| after.is_none()).map(|(index, _)| index).collect();
        let new = (0..self.taken.len()).filter(|it| !self.taken[*it]).collect();
        Delta { new, fixed, kept }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::RngSeed};

    use super::*;
    use crate::Span;

    /// A linter that finds each `!`.
    fn findings(text: &str) -> Vec<FindingKey<'_>> {
        let found = text.match_indices('!');
        let key = |(at, _): (usize, &str)| FindingKey {
            linter: "l",
            code: "bang",
            name: None,
            message: "m",
            cell: None,
            span: Span::new(at as u32, at as u32 + 1),
        };
        found.map(key).collect()
    }

    fn between(before: &str, after: &str) -> Delta {
        let (old, new) = (findings(before), findings(after));
        delta(
            FileFindings { text: before.as_bytes(), findings: &old },
            FileFindings { text: after.as_bytes(), findings: &new },
        )
    }

    fn kept(delta: &Delta) -> (usize, usize, usize) {
        (delta.new.len(), delta.fixed.len(), delta.kept.len())
    }

    #[test]
    fn nothing_and_something() {
        assert_eq!(kept(&between("", "")), (0, 0, 0));
        assert_eq!(kept(&between("a!", "a")), (0, 1, 0));
        assert_eq!(kept(&between("a", "a!")), (1, 0, 0));
        assert_eq!(kept(&between("a!\nb!", "a!\nb!")), (0, 0, 2));
    }

    #[test]
    fn moved_and_indented_lines_keep_their_findings() {
        assert_eq!(between("x!\na\nb\nc\n", "a\nb\nc\n  x!\n").kept, [(0, 0)]);
    }

    #[test]
    fn among_those_alike_the_unchanged_line_tells_which() {
        assert_eq!(between("x!\nb\n", "x!\ny\nx!\nb\n").new.len(), 1);
        let delta = between("a\nx!\nb\nx!\nc\n", "a\nb\nx!\nc\n");
        assert_eq!((delta.fixed, delta.kept), (vec![0], vec![(1, 0)]));
    }

    #[test]
    fn what_an_edited_line_keeps_is_kept() {
        let delta = between("a\nx = 1!\nb", "a\nx = 2! + 3!\nb");
        assert_eq!(kept(&delta), (1, 0, 1));
        assert_eq!(kept(&between("a\nx!\nb", "a\ny = (\nz!\n)\nb")), (0, 0, 1));
    }

    #[test]
    fn the_same_message_is_preferred() {
        let text = "import os, sys";
        let key =
            |message, start| FindingKey { message, span: Span::new(start, start + 2), ..findings("!")[0] };
        let both = [key("os", 7), key("sys", 11)];
        let side = |findings| FileFindings { text: text.as_bytes(), findings };
        assert_eq!(delta(side(&both), side(&both[1..])).kept, [(1, 0)]);
    }

    #[test]
    fn findings_in_cells_are_told_by_their_cells_text() {
        let key = |cell| FindingKey { cell: Some(cell), ..findings("!")[0] };
        let (old, new) = ([key("!a"), key("!b")], [key("!b"), key("!c"), key("!a")]);
        let side = |findings| FileFindings { text: b"{}", findings };
        let delta = delta(side(&old), side(&new));
        assert_eq!((delta.new, delta.kept), (vec![1], vec![(0, 2), (1, 0)]));
    }

    fn line() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["a", "b!", "b!", "c! d!", "", "  e!", "f(", ")"])
    }

    fn lines() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(line(), 0..12)
    }

    /// Configuration with a fixed seed: the same cases each time.
    fn config() -> ProptestConfig {
        ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn unrelated_lines_change_nothing(lines in lines(), added in prop::collection::vec((0..12usize, "[x-z]{0,3}"), 0..6)) {
            let mut after: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
            for (at, line) in added {
                after.insert(at.min(after.len()), line);
            }
            let (before, after) = (lines.join("\n"), after.join("\n"));
            let count = findings(&before).len();
            prop_assert_eq!(kept(&between(&before, &after)), (0, 0, count));
            prop_assert_eq!(kept(&between(&after, &before)), (0, 0, count));
        }

        #[test]
        fn the_order_of_lines_changes_nothing(
            (lines, after) in lines().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
        ) {
            let delta = between(&lines.join("\n"), &after.join("\n"));
            prop_assert_eq!((delta.new, delta.fixed), (vec![], vec![]));
        }

        #[test]
        fn one_more_is_exactly_one_new(lines in lines(), at in 0..12usize, line in prop::sample::select(vec!["b!", "n!", "  e!"])) {
            let mut after = lines.clone();
            after.insert(at.min(lines.len()), line);
            let delta = between(&lines.join("\n"), &after.join("\n"));
            prop_assert_eq!((delta.new.len(), delta.fixed.len()), (1, 0));
        }

        #[test]
        fn each_is_matched_once(before in lines(), after in lines()) {
            let (before, after) = (before.join("\n"), after.join("\n"));
            let delta = between(&before, &after);
            let mut old: Vec<_> = delta.kept.iter().map(|it| it.0).chain(delta.fixed.clone()).collect();
            let mut new: Vec<_> = delta.kept.iter().map(|it| it.1).chain(delta.new.clone()).collect();
            old.sort_unstable();
            new.sort_unstable();
            prop_assert_eq!(old, (0..findings(&before).len()).collect::<Vec<_>>());
            prop_assert_eq!(new, (0..findings(&after).len()).collect::<Vec<_>>());
        }
    }
}
