//! A text of a file, exactly as it stands there, that another takes the place of.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};

use super::{
    super::{
        outcome::{Reason, Refused},
        text::{with_endings_of, with_lf},
    },
    NoTarget, line_of, lines,
};

/// A text and the one in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextReplacement {
    /// Empty for a new file.
    pub old: String,
    pub new: String,
    /// Whether it may be there several times.
    pub all: bool,
}

impl TextReplacement {
    pub(super) fn apply(&self, text: &str) -> Result<String, Refused> {
        if self.old == self.new {
            return Err(Reason::ChangesNothing.into());
        }
        if self.old.is_empty() {
            let is_new = text.trim().is_empty();
            return if is_new { Ok(self.new.clone()) } else { Err(NoTarget::NoOld.into()) };
        }
        // Carriage returns that stand so in the file are meant. Models do not see others.
        let is_exact = self.old.contains('\r') && text.contains(&self.old);
        let plain = |it: &str| if is_exact { it.to_owned() } else { with_lf(it) };
        let (file, old) = (plain(text), plain(&self.old));
        let places: Vec<_> = file.match_indices(&old).map(|it| it.0).collect();
        match places.as_slice() {
            [] => return Err(NoTarget::NotFound { near: nearest(text, &self.old) }.into()),
            [_] => {}
            _ if self.all => {}
            all => {
                let lines = all.iter().map(|it| line_of(&file, *it)).collect();
                return Err(NoTarget::FoundOften { lines }.into());
            }
        }
        Ok(match (is_exact, file == text && old == self.old) {
            (true, _) | (_, true) => file.replace(&old, &self.new),
            _ => with_endings_of(text, &file.replace(&old, &with_lf(&self.new))),
        })
    }
}

/// Places that a message names.
const PLACES: usize = 3;

/// Places that are looked at.
const MAX_STARTS: usize = 1000;

/// The place that is most like a text, and its first line that differs in more than blanks; several if they are as alike.
fn nearest(text: &str, old: &str) -> Option<String> {
    let lines: Vec<_> = lines(text.strip_suffix('\n').unwrap_or(text)).collect();
    let wanted: Vec<_> = lines_from(old);
    let first = wanted.first()?;
    let mut starts = starts(&lines, &wanted);
    if starts.is_empty() {
        if let Some(part) = lines.iter().position(|it| !first.is_empty() && it.contains(first)) {
            return Some(format!("its first line is only a part of line {}", part + 1));
        }
        starts.extend(closest(&lines, first));
    }
    let places: Vec<_> = starts.into_iter().map(|at| Place::new(at, &lines, &wanted)).collect();
    let best = places.iter().map(Place::likeness).max()?;
    let alike = places.iter().filter(|it| it.likeness() == best).take(PLACES);
    Some(alike.map(|it| it.shown(&lines, &wanted)).collect::<Vec<_>>().join("; or "))
}

/// The lines of a text that is looked for, without blank ones at its ends.
fn lines_from(old: &str) -> Vec<&str> {
    let mut wanted: Vec<_> = lines(old).skip_while(|it| it.is_empty()).collect();
    let blank = wanted.iter().rev().take_while(|it| it.is_empty()).count();
    wanted.truncate(wanted.len() - blank);
    wanted
}

/// Candidate lines at which the text may begin: the line equal to its first line, if there is just one; else each line implied by any
/// equal line.
fn starts(lines: &[&str], wanted: &[&str]) -> BTreeSet<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    wanted.iter().enumerate().for_each(|(at, it)| places.entry(it).or_default().push(at));
    let says = |it: &str| it.contains(char::is_alphanumeric);
    let known = lines.iter().enumerate().filter(|(_, it)| says(it));
    let aligned = known.filter_map(|(at, it)| Some((at, places.get(it)?)));
    let all: Vec<_> = aligned.collect();
    let begin: Vec<_> = all.iter().filter(|it| it.1[0] == 0).collect();
    match begin.as_slice() {
        [(only, _)] => BTreeSet::from([*only]),
        _ => all
            .iter()
            .flat_map(|(at, it)| it.iter().filter_map(move |it| at.checked_sub(*it)))
            .take(MAX_STARTS)
            .collect(),
    }
}

/// The line that has more than half of another at its ends.
fn closest(lines: &[&str], wanted: &str) -> Option<usize> {
    let common = lines.iter().enumerate().map(|(at, it)| (common_ends(it, wanted), Reverse(at)));
    let (common, Reverse(at)) = common.max()?;
    (common * 2 > wanted.chars().count()).then_some(at)
}

/// Place in a file that is compared with a text.
struct Place {
    at: usize,
    /// Lines that are the same.
    same: usize,
    /// The first that is not, from the start of the place.
    differs: Option<usize>,
    /// Characters that both have at the ends of that line.
    common: usize,
}

impl Place {
    fn new(at: usize, lines: &[&str], wanted: &[&str]) -> Self {
        let there = |it: usize| lines.get(at + it).copied();
        let same = (0..wanted.len()).filter(|it| there(*it) == Some(wanted[*it])).count();
        let differs = (0..wanted.len()).find(|it| there(*it) != Some(wanted[*it]));
        let common = differs.and_then(|it| Some(common_ends(there(it)?, wanted[it])));
        Self { at, same, differs, common: common.unwrap_or_default() }
    }

    fn likeness(&self) -> (usize, usize, usize) {
        (self.same, self.differs.unwrap_or(usize::MAX), self.common)
    }

    fn shown(&self, lines: &[&str], wanted: &[&str]) -> String {
        let Some(differs) = self.differs else {
            return format!("line {} has it with other blanks", self.at + 1);
        };
        let line = self.at + differs;
        let there = lines.get(line).map_or("the end of the file".to_owned(), |it| format!("`{it}`"));
        let wanted = wanted[differs];
        format!("it is like line {} on, but line {} is {there}, not `{wanted}`", self.at + 1, line + 1)
    }
}

fn common_ends(a: &str, b: &str) -> usize {
    let start = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let rest = a.chars().count().min(b.chars().count()) - start;
    start + a.chars().rev().zip(b.chars().rev()).take(rest).take_while(|(a, b)| a == b).count()
}
