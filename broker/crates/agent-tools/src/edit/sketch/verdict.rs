//! Decides whether the best reading of a sketch is the one that is meant.

use std::{cell::OnceCell, collections::HashMap};

use super::{
    super::{
        definition::{Definition, Kind},
        outcome::{Changed, Reason, Refused},
    },
    alignment::{Arrangement, Op},
    file_lines::Score,
    judge::Judge,
    render::Renderer,
    rivals::{self, rivals},
    syntax::Syntax,
};

/// Two readings whose scores differ by less are as likely.
const MARGIN: Score = 180;

/// Margin of two readings of which one uses a line of the file that the other puts there a second time.
const WIDE_MARGIN: Score = 800;

/// Margin of two readings of which one keeps lines that the other deletes.
const KEPT_MARGIN: Score = 1500;

/// Cost of a text that does not fit its grammar.
const BROKEN: Score = 900;

/// Score of a reading that is literal, and puts no line of the file there a second time; and cost of a line of the file
/// that becomes another one of it.
const PLAIN: Score = 350;

/// Readings whose rivals are asked for.
const MAX_EXPANDED: usize = 3;

/// Readings that a refusal shows.
const SHOWN: usize = 2;

/// Names of definitions that go which a note shows.
const SHOWN_NAMES: usize = 5;

/// A sketch whose place is certain.
pub(in super::super) struct Placed {
    pub(in super::super) changed: Changed,
    /// Whether the edited lines begin and end with whole definitions.
    pub(in super::super) is_framed: bool,
}

/// A text that the sketch may mean.
struct Reading {
    arrangement: Arrangement,
    text: String,
    margin: Score,
    kind: rivals::Kind,
    /// Score of the reading, and more if it is the text that a reader would put there.
    worth: Score,
    /// Whether the text does not fit its grammar; found out where it matters.
    is_broken: OnceCell<bool>,
}

impl Judge<'_, '_> {
    /// The text of the best reading, if no other one is as good.
    pub(super) fn judged(&self, best: Arrangement, mut notes: Vec<String>) -> Result<Placed, Refused> {
        let syntax = Syntax::of(self.file, self.parser);
        let readings = self.readings(best, &syntax);
        self.parser.tools.go_on()?;
        let refuse = |reason: Reason| self.refused(reason, &readings);
        let Some(best) = readings.first() else { return Err(refuse(self.several(&[]))) };
        if best.is_broken(&syntax) && (!self.is_held(&best.arrangement) || !notes.is_empty()) {
            return Err(refuse(Reason::BreaksSyntax));
        }
        if let Some(reason) = self.veto(best) {
            return Err(refuse(reason));
        }
        if let Some(substitution) = self.loses_members(&best.arrangement.ops) {
            return Err(self.refused_members(substitution, &best.text));
        }
        let own = squeezed(&best.text);
        let gone: usize = best.arrangement.ops.iter().map(|it| self.deleted(*it)).sum();
        let only_adds = gone == 0 && !self.makes_copies(&best.arrangement);
        let is_literal = self.is_literal(&best.arrangement) && !self.makes_copies(&best.arrangement);
        let is_rival = |it: &&Reading| {
            best.arrangement.score - it.arrangement.score < it.margin
                && squeezed(&it.text) != own
                && (!is_literal || self.is_literal(&it.arrangement))
                && !self.has_no_base(&it.arrangement)
                && (it.kind == rivals::Kind::Appends || !only_adds || !self.makes_copies(&it.arrangement))
                && !it.is_broken(&syntax)
        };
        if let Some(rival) = readings[1..].iter().find(is_rival) {
            return Err(refuse(self.several(&self.difference(best, rival))));
        }
        notes.extend(self.assumed(&best.arrangement));
        let is_framed = self.is_framed();
        Ok(Placed { changed: Changed { text: best.text.clone(), notes }, is_framed })
    }

    /// The best arrangement and its rivals as texts, the likeliest first.
    fn readings(&self, best: Arrangement, syntax: &Syntax<'_>) -> Vec<Reading> {
        let renderer = Renderer {
            file: self.file,
            sketch: self.sketch,
            all: self.all,
            is_python: self.parser.language.is_some_and(|it| it.name() == "python"),
        };
        let reading = |arrangement: Arrangement, margin, kind| {
            let text = renderer.text(&arrangement);
            let is_plain = self.is_literal(&arrangement) && !self.makes_copies(&arrangement);
            let is_odd = || self.turns_into_copies(&arrangement) || self.adds_brackets(&arrangement);
            let more = match is_plain {
                true => PLAIN,
                false if is_odd() => -PLAIN,
                false => 0,
            };
            let worth = arrangement.score + more;
            Reading { arrangement, text, margin, kind, worth, is_broken: OnceCell::new() }
        };
        let mut readings = vec![reading(best, MARGIN, rivals::Kind::Other)];
        let mut expanded: Vec<Vec<Op>> = Vec::new();
        // If a rival turns out to be better, as the first one breaks the syntax, its own rivals count.
        while let Some(best) = readings.first().filter(|it| !expanded.contains(&it.arrangement.ops)) {
            if expanded.len() == MAX_EXPANDED {
                break;
            }
            expanded.push(best.arrangement.ops.clone());
            let least = best.arrangement.score - BROKEN - 2 * PLAIN;
            for it in rivals(&best.arrangement, self.all, self.sketch) {
                if (self.parser.tools.cancel)() {
                    return readings;
                }
                let Some(found) = it.arrangement(self.all, self.bounds, least - KEPT_MARGIN) else {
                    continue;
                };
                let margin = match it.kind {
                    rivals::Kind::Other => MARGIN,
                    rivals::Kind::OfCopy | rivals::Kind::Appends => WIDE_MARGIN,
                    rivals::Kind::Keeps if self.copies_at_edge(&found) => MARGIN,
                    rivals::Kind::Keeps => KEPT_MARGIN,
                };
                if it.kind == rivals::Kind::Other && self.makes_copies(&found) {
                    continue;
                }
                let is_known = |it: &Reading| it.arrangement.ops == found.ops && it.margin >= margin;
                if found.score >= least - margin && !readings.iter().any(is_known) {
                    readings.push(reading(found, margin, it.kind));
                }
            }
            sort(&mut readings, syntax);
        }
        readings
    }

    fn refused(&self, reason: Reason, readings: &[Reading]) -> Refused {
        let mut shown: Vec<(String, &Reading)> = Vec::new();
        for it in readings {
            if shown.len() == SHOWN {
                break;
            }
            let said = squeezed(&it.text);
            if !shown.iter().any(|known| known.0 == said) {
                shown.push((said, it));
            }
        }
        let shown =
            shown.into_iter().map(|it| (self.described(&it.1.arrangement), it.1.text.clone())).collect();
        Refused::with_readings(reason, &self.file.replaced(&[], None), shown)
    }

    /// Rows of which two readings make something else.
    fn difference(&self, best: &Reading, rival: &Reading) -> Vec<usize> {
        let of = |it: &Reading| -> HashMap<usize, Op> {
            let ops = it.arrangement.ops.iter();
            ops.flat_map(|op| self.rows(*op).map(|row| (row, *op))).collect()
        };
        let (a, b) = (of(best), of(rival));
        let mut rows: Vec<_> = a.keys().filter(|it| a.get(it) != b.get(it)).copied().collect();
        rows.retain(|it| !self.sketch.rows[*it].is_blank());
        rows.sort_unstable();
        rows
    }

    /// Describes the effect of a reading in a sentence.
    fn described(&self, arrangement: &Arrangement) -> String {
        let (mut replaced, mut added) = (Vec::new(), 0);
        for piece in arrangement.pieces() {
            let lines = piece.iter().filter_map(|it| match it {
                Op::Match { line, .. } => Some(*line..line + 1),
                Op::Delete { from, upto } => Some(*from..*upto),
                Op::Substitution { substitution } => {
                    Some(self.all.substitutions[*substitution].lines.clone())
                }
                Op::Insert { .. } | Op::Skip { .. } => None,
            });
            let lines: Vec<_> = lines.collect();
            match (lines.first(), lines.last()) {
                (Some(first), Some(last)) => replaced.push(format!("{}-{}", first.start + 1, last.end)),
                _ => added += 1,
            }
        }
        let added = if added > 0 { ", and new lines are added" } else { "" };
        match replaced.is_empty() {
            true => "new lines are added".to_owned(),
            false => format!("the edit takes the place of lines {}{added}", replaced.join(", ")),
        }
    }

    /// Lists the assumptions that were made where the sketch leaves something open.
    fn assumed(&self, arrangement: &Arrangement) -> Vec<String> {
        let mut assumed = Vec::new();
        if arrangement.is_open_above {
            assumed.push("the lines above stay, though no marker stands for them".to_owned());
        }
        if arrangement.is_open_below {
            assumed.push("the lines below stay, though no marker stands for them".to_owned());
        }
        assumed.extend(self.lost(arrangement));
        assumed
    }

    /// Definitions that go and that the sketch does not name.
    fn lost(&self, arrangement: &Arrangement) -> Option<String> {
        let definitions = &self.all.definitions;
        let goes = |line: usize| {
            arrangement.ops.iter().any(|it| match it {
                Op::Delete { from, upto } => (*from..*upto).contains(&line),
                Op::Substitution { substitution } => {
                    self.all.substitutions[*substitution].lines.contains(&line)
                }
                Op::Match { .. } | Op::Insert { .. } | Op::Skip { .. } => false,
            })
        };
        let is_lost = |it: &&Definition| {
            matches!(it.kind, Kind::Function | Kind::Type)
                && goes(it.head)
                && !definitions.names(it, self.parser)
        };
        let names: Vec<_> =
            definitions.file.iter().filter(is_lost).map(|it| format!("`{}`", it.name)).collect();
        let more = names.len().saturating_sub(SHOWN_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = names[..names.len().min(SHOWN_NAMES)].join(", ");
        (!names.is_empty()).then(|| format!("no longer in the file: {shown}{more}"))
    }

    fn veto(&self, best: &Reading) -> Option<Reason> {
        let ops = &best.arrangement.ops;
        self.deletes_much(ops)
            .or_else(|| self.may_go_on(ops))
            .or_else(|| self.joins_definitions(&best.arrangement))
            .or_else(|| self.leaves_a_block(&best.arrangement))
            .or_else(|| self.deletes_a_twin(&best.arrangement))
            .or_else(|| self.may_be_member(&best.arrangement))
            .or_else(|| self.has_no_anchor(&best.arrangement))
            .or_else(|| self.has_open_end(&best.arrangement))
            .or_else(|| self.has_open_edges(ops))
            .or_else(|| self.inserts_copies(&best.arrangement))
            .or_else(|| self.defines_twice(ops))
            .or_else(|| self.doubles_a_line(&best.arrangement))
            .or_else(|| self.takes_an_overload(ops))
            .or_else(|| self.doubles_an_attribute(ops))
    }

    /// Whether each piece begins and ends with lines of the file or whole definitions, so that its place is certain.
    fn is_held(&self, arrangement: &Arrangement) -> bool {
        let is_held = |op: Option<&Op>| op.is_some_and(|it| self.is_firm(*it));
        arrangement.pieces().into_iter().all(|it| is_held(it.first()) && is_held(it.last()))
    }
}

/// The likeliest reading first, the others by what they earn. Each look at the syntax costs as much as all else.
fn sort(readings: &mut [Reading], syntax: &Syntax<'_>) {
    readings.sort_by_key(|it| std::cmp::Reverse(it.worth));
    let (mut best, mut at) = (None, 0);
    while let Some(it) = readings.get(at) {
        let most: Score = it.worth;
        if best.is_some_and(|(score, _)| score >= most) {
            break;
        }
        let score = most - if it.is_broken(syntax) { BROKEN } else { 0 };
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, at));
        }
        at += 1;
    }
    if let Some((_, at)) = best {
        readings[..=at].rotate_right(1);
    }
}

impl Reading {
    fn is_broken(&self, syntax: &Syntax<'_>) -> bool {
        *self.is_broken.get_or_init(|| syntax.is_worse(&self.text))
    }
}

/// A text without whitespace at the ends of lines, and without lines that say nothing, such as blank ones and empty ones of
/// comments: two that differ in nothing else are one.
fn squeezed(text: &str) -> String {
    let is_said = |it: &char| it.is_alphanumeric() || "{}()[]".contains(*it);
    let lines = text.lines().map(str::trim_end).filter(|it| it.chars().any(|it| is_said(&it)));
    lines.collect::<Vec<_>>().join("\n")
}
