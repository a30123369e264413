//! A text of a file, exactly as it stands there, that another takes the place of.

use super::{
    super::outcome::{Reason, Refused},
    NoTarget, line_of,
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
        let (old, new) = self.with_ends_of(text);
        let places: Vec<_> = text.match_indices(&*old).map(|it| it.0).collect();
        match places.as_slice() {
            [] => Err(NoTarget::NotFound { near: nearest(text, &self.old) }.into()),
            [_] => Ok(text.replacen(&*old, &new, 1)),
            _ if self.all => Ok(text.replace(&*old, &new)),
            all => {
                let lines = all.iter().map(|it| line_of(text, *it)).collect();
                Err(NoTarget::FoundOften { lines }.into())
            }
        }
    }

    /// Both texts with the line ends of the file, which models do not see.
    fn with_ends_of(&self, text: &str) -> (String, String) {
        let is_other = text.contains("\r\n") && !self.old.contains('\r');
        let ended = |it: &str| if is_other { it.replace('\n', "\r\n") } else { it.to_owned() };
        (ended(&self.old), ended(&self.new))
    }
}

/// The place with the most lines in a row that differ in nothing but blanks, and the first that differs in more.
fn nearest(text: &str, old: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let wanted: Vec<_> = old.lines().map(str::trim).skip_while(|it| it.is_empty()).collect();
    let first = wanted.first()?;
    let alike = |at: usize| lines[at..].iter().zip(&wanted).take_while(|(a, b)| a == b).count();
    let starts = (0..lines.len()).filter(|it| lines[*it] == *first);
    let best = starts.map(|it| (alike(it), it)).max_by_key(|it| (it.0, std::cmp::Reverse(it.1)));
    let Some((alike, at)) = best else {
        let part = lines.iter().position(|it| !first.is_empty() && it.contains(first))?;
        return Some(format!("its first line is only a part of line {}", part + 1));
    };
    let Some(wanted) = wanted.get(alike) else {
        return Some(format!("line {} has it with other blanks", at + 1));
    };
    let line = at + alike;
    let there = lines.get(line).map_or("the end of the file".to_owned(), |it| format!("`{it}`"));
    Some(format!("it is like line {} on, but line {} is {there}, not `{wanted}`", at + 1, line + 1))
}
