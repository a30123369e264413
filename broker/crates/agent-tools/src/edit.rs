//! An agent's edit of a file, applied by rules alone.
//!
//! [`apply`] takes the text of one file and what an agent wrote, in any of the forms of [`Form`], and answers with the text
//! that the file then has, or refuses. It never guesses: where an edit can be read in two ways, both are shown, and the
//! agent picks one with its [`ReadingId`]. [`plan`] is the same for patches that touch several files.

mod block;
mod codex;
mod definitions;
mod diff;
mod file_kind;
mod form;
mod haystack;
mod indents;
mod names;
mod outcome;
mod plan;
mod scopes;
mod search_replace;
mod sketch;
mod syntax_errors;
mod text;
mod unified;
mod whole;

use std::time::Duration;

use overlay::WorkspacePath;
use syntax::{Language, Trees};

use self::{file_kind::FileKind, form::recognise, outcome::Changed, text::Text};
pub use self::{
    form::Form,
    outcome::{Applied, Reading, ReadingId, Reason, Refused},
    plan::{FileChange, FileEdit, Plan, plan},
    syntax_errors::SyntaxError,
};

/// Bytes of a text or an edit. What is larger is generated, and is not edited by sketches.
pub const LARGEST: usize = 8 << 20;

/// Limit on the time for a diff; one that takes longer has fewer, larger hunks.
const DIFF_TIME: Duration = Duration::from_secs(1);

/// The text that a file has after an edit. An edit that was refused before goes on with the reading that was picked.
///
/// What a patch says of other files is refused: see [`plan`].
pub fn apply(
    path: &WorkspacePath,
    text: &str,
    edit: &str,
    picked: Option<&ReadingId>,
    trees: &Trees,
) -> Result<Applied, Refused> {
    let form = recognise(path, edit);
    let parser = Parser::of(path, trees);
    let changed = match text.len().max(edit.len()) {
        bytes if bytes > LARGEST => Err(Reason::TooLarge { bytes }.into()),
        _ => change(form, path, text, edit, &parser),
    };
    match changed.and_then(|it| distinct(it, text)) {
        Ok(changed) => Ok(finish(form, text, changed, parser.language, trees)),
        Err(refused) => match refused.picked(path, picked) {
            Ok(changed) => Ok(finish(form, text, changed, parser.language, trees)),
            Err(refused) => Err(refused.of(form)),
        },
    }
}

/// The lines of a text that define something, from 1, with the names; empty in a language without a grammar.
pub fn outline(path: &WorkspacePath, text: &str, trees: &Trees) -> Vec<(usize, String)> {
    let lines: Vec<_> = text.lines().collect();
    let found = definitions::of_file(&lines, &Parser::of(path, trees));
    found.into_iter().map(definitions::Definition::place).collect()
}

/// What an edit needs to know of a language.
#[derive(Clone, Copy)]
struct Parser<'a> {
    language: Option<Language>,
    kind: FileKind,
    trees: &'a Trees,
}

impl<'a> Parser<'a> {
    fn of(path: &WorkspacePath, trees: &'a Trees) -> Self {
        Self { language: Language::of(path), kind: FileKind::of(path), trees }
    }
}

fn change(
    form: Form,
    path: &WorkspacePath,
    text: &str,
    edit: &str,
    parser: &Parser<'_>,
) -> Result<Changed, Refused> {
    let file = Text::new(text);
    match form {
        Form::SearchReplace => search_replace::apply(path, text, edit),
        Form::UnifiedDiff => unified::apply_to(path, &file, edit),
        Form::CodexPatch => codex::apply_to(path, &file, edit),
        Form::Sketch => sketch::apply(&file, &form::unfenced(path, edit), parser),
        Form::Whole => whole::apply(&file, &form::unfenced(path, edit), parser),
    }
}

/// An edit that changes nothing was misunderstood by one of the two sides.
fn distinct(changed: Changed, text: &str) -> Result<Changed, Refused> {
    if changed.text == text { Err(Reason::ChangesNothing.into()) } else { Ok(changed) }
}

fn finish(form: Form, before: &str, changed: Changed, language: Option<Language>, trees: &Trees) -> Applied {
    let new_syntax_errors = syntax_errors::new_errors(before, &changed.text, language, trees);
    let diff = diff::short(before, &changed.text);
    Applied { form, diff, text: changed.text, notes: changed.notes, new_syntax_errors }
}

#[cfg(test)]
mod tests;
