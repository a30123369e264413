//! Comments that suppress findings, in places that the syntax tree knows as comments.
//!
//! In a language without a grammar, nothing is suppressed on a line; for a whole file, something is.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use lint::{
    Edit, Span,
    suppress::{Addition, BadReason, CommentPlace, Suppressible, WithSuppressions},
};
use overlay::WorkspacePath;
use syntax::{Language, Tree};

const BAD_REASON: &str = "the reason would end the comment";
const NO_COMMENTS: &str = "what is a comment in such a file is not known";
const NO_GRAMMAR: &str = "there is no grammar that tells where a comment can be in such a file";
const NO_PLACE: &str = "there is no place for a comment";

/// The edits of a text that suppress `rules`, such as `python/F401`, on a line, which is counted from 1. `reason` may be empty.
pub fn suppression(
    path: &WorkspacePath,
    text: &[u8],
    line: u32,
    rules: &[String],
    reason: &str,
) -> Result<Vec<Edit>, String> {
    let wanted = BTreeMap::from([(line, rules.to_vec())]);
    let placed = place(path, text, &wanted, reason)?;
    match placed.lines.is_empty() {
        true => Err(NO_PLACE.to_owned()),
        false => Ok(placed.with.edits),
    }
}

/// The edits of a text that suppress `rules` in all of it.
pub fn file_suppression(
    path: &WorkspacePath,
    text: &[u8],
    rules: &[String],
    reason: &str,
) -> Result<Vec<Edit>, String> {
    let with = suppressible(path, text, reason)?.with_file(rules);
    let syntax = language(path, text).map(|it| Syntax::new(it, text));
    let is_comment = |span| syntax.is_none_or(|it| it.has_comments(&with.text, &[Some(span)]) == [true]);
    match with.comments[0].is_some_and(is_comment) {
        true => Ok(with.edits),
        false => Err(NO_PLACE.to_owned()),
    }
}

fn language(path: &WorkspacePath, text: &[u8]) -> Option<Language> {
    const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "mksh"];
    let of_script = || {
        lint::interpreter(path, text).filter(|it| SHELLS.contains(it)).and_then(|_| Language::named("bash"))
    };
    Language::of(path).or_else(of_script)
}

/// A text with the comments for which there is a place.
pub(crate) struct Placed {
    pub(crate) with: WithSuppressions,
    /// The lines that have one now, as they were counted before.
    pub(crate) lines: Vec<u32>,
    /// Lines for which there is no place, each with the reason.
    pub(crate) refused: Vec<(u32, &'static str)>,
}

/// Places comments for the rules of each line. An error is why there is none in such a file.
pub(crate) fn place(
    path: &WorkspacePath,
    text: &[u8],
    wanted: &BTreeMap<u32, Vec<String>>,
    reason: &str,
) -> Result<Placed, &'static str> {
    let suppressible = suppressible(path, text, reason)?;
    let language = language(path, text).ok_or(NO_GRAMMAR)?;
    let mut tries = Tries { of: &suppressible, syntax: Syntax::new(language, text), open: Vec::new() };
    let mut refused = Vec::new();
    for (line, rules) in wanted {
        let places =
            if suppressible.has_line(*line) { suppressible.places(*line, rules) } else { Vec::new() };
        match places.split_first() {
            Some((place, others)) => {
                let addition = Addition { line: *line, rules: rules.clone(), place: *place };
                tries.open.push((addition, others.to_vec()));
            }
            None => refused.push((*line, NO_PLACE)),
        }
    }
    let with = tries.find(&mut refused);
    Ok(Placed { with, lines: tries.open.iter().map(|it| it.0.line).collect(), refused })
}

fn suppressible<'t>(
    path: &WorkspacePath,
    text: &'t [u8],
    reason: &'t str,
) -> Result<Suppressible<'t>, &'static str> {
    match Suppressible::new(path, text, reason) {
        Ok(suppressible) => suppressible.ok_or(NO_COMMENTS),
        Err(BadReason) => Err(BAD_REASON),
    }
}

/// Additions, each with the places that are left to be tried.
struct Tries<'a> {
    of: &'a Suppressible<'a>,
    syntax: Syntax,
    open: Vec<(Addition, Vec<CommentPlace>)>,
}

impl Tries<'_> {
    /// Tries for each line one place after the other. Those without any are `refused`.
    fn find(&mut self, refused: &mut Vec<(u32, &'static str)>) -> WithSuppressions {
        loop {
            let additions: Vec<_> = self.open.iter().map(|it| it.0.clone()).collect();
            let with = self.of.with(&additions);
            let bad: BTreeSet<_> = self.bad(&additions, &with);
            if bad.is_empty() {
                refused.sort_unstable();
                return with;
            }
            for at in bad.into_iter().rev() {
                let (addition, others) = &mut self.open[at];
                if others.is_empty() {
                    refused.push((addition.line, NO_PLACE));
                    self.open.remove(at);
                } else {
                    addition.place = others.remove(0);
                }
            }
        }
    }

    /// The additions that are no comments where they are. One that breaks the text may hide what others are: then each is looked
    /// at alone.
    fn bad(&self, additions: &[Addition], with: &WithSuppressions) -> BTreeSet<usize> {
        let bad = |it: &[bool]| -> BTreeSet<_> { (0..it.len()).filter(|at| !it[*at]).collect() };
        let together = bad(&self.syntax.has_comments(&with.text, &with.comments));
        if together.len() < 2 || !self.syntax.is_broken_by(&with.text) {
            return together;
        }
        let alone = additions.iter().map(|it| {
            let with = self.of.with(std::slice::from_ref(it));
            self.syntax.has_comments(&with.text, &with.comments) == [true]
        });
        bad(&alone.collect::<Vec<_>>())
    }
}

/// Syntax of a text before it is changed.
struct Syntax {
    language: Language,
    has_error: bool,
}

impl Syntax {
    fn new(language: Language, text: &[u8]) -> Self {
        let has_error = parsed(language, text).is_none_or(|it| it.has_error());
        Self { language, has_error }
    }

    fn is_broken_by(&self, text: &[u8]) -> bool {
        !self.has_error && parsed(self.language, text).is_none_or(|it| it.has_error())
    }

    /// Returns for each of `spans` whether it is in a comment of `text`; `false` for all if only `text` has a syntax error.
    fn has_comments(&self, text: &[u8], spans: &[Option<Span>]) -> Vec<bool> {
        let tree = parsed(self.language, text).filter(|it| self.has_error || !it.has_error());
        let is_comment = |span: &Option<Span>| {
            let (tree, span) = (tree.as_ref()?, (*span)?);
            Some(tree.is_comment(span.start as usize..span.end as usize))
        };
        spans.iter().map(|it| is_comment(it).unwrap_or(false)).collect()
    }
}

fn parsed(language: Language, text: &[u8]) -> Option<Tree> {
    Tree::parse(language, Bytes::copy_from_slice(text), &|| false).ok()
}

#[cfg(test)]
mod tests;
