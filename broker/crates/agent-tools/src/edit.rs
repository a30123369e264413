//! An agent's edit of a file, applied by rules alone.
//!
//! [`apply`] takes the text of one file and what an agent wrote, in any of the forms of [`Form`], and answers with the text
//! that the file then has, or refuses: where an edit can be read in two ways that are as likely, both are shown, and the
//! agent picks one with its [`ReadingId`]. [`plan`] is the same for patches that touch several files. [`plan_targeted`]
//! takes an edit that names its place, by a text that stands there or by the name of a definition.

mod block;
mod codex;
mod definition;
mod definitions;
mod diff;
mod file_kind;
mod form;
mod haystack;
mod indents;
mod names;
mod outcome;
mod outline;
mod parser;
mod plan;
mod recognise;
mod scopes;
mod search_replace;
mod since;
mod sketch;
mod syntax_errors;
mod targeted;
mod text;
mod toolkit;
mod tree_definitions;
mod unified;
mod whole;
mod wrapping;

use overlay::WorkspacePath;
use syntax::Trees;

pub use self::{
    codex::CodexPatch,
    form::Form,
    outcome::{Applied, Reading, ReadingId, Reason, Refused},
    outline::{DefinitionSite, OutlineEntry, definitions_named, outline},
    plan::{Before, FileChange, FileEdit, Plan, Seen, plan},
    since::replace_file,
    syntax_errors::SyntaxError,
    targeted::{DefinitionEdit, DefinitionPlace, NoTarget, Targeted, TextReplacement, plan_targeted},
};
use self::{
    outcome::Changed,
    parser::Parser,
    recognise::{recognise, unfenced},
    text::Text,
    toolkit::Toolkit,
};

/// Bytes of a text or an edit. What is larger is generated, and is not edited by sketches.
pub const LARGEST: usize = 8 << 20;

/// The text that a file has after an edit. An edit that was refused before goes on with the reading that was picked.
///
/// Parts of a patch for other files are refused: see [`plan`].
pub fn apply(
    path: &WorkspacePath,
    text: &str,
    edit: &str,
    picked: Option<&ReadingId>,
    trees: &Trees,
) -> Result<Applied, Refused> {
    applied(path, text, edit, picked, Toolkit::new(trees))
}

fn applied(
    path: &WorkspacePath,
    text: &str,
    edit: &str,
    picked: Option<&ReadingId>,
    tools: Toolkit<'_>,
) -> Result<Applied, Refused> {
    let recognised = recognise(path, text, edit);
    let (form, parser) = (recognised.form, Parser::of(path, text, tools));
    let change = |form| change(form, path, text, edit, &parser);
    let changed = match (text.len().max(edit.len()), &recognised.or) {
        (bytes, _) if bytes > LARGEST => Err(Reason::TooLarge { bytes }.into()),
        (_, Some((other, named))) => Err(either(named, change(form), change(*other), text)),
        (_, None) => change(form),
    };
    tools.go_on()?;
    match changed.and_then(|it| distinct(it, text)) {
        Ok(changed) => Ok(Applied::new(form, text, changed.noted(recognised.note()), &parser)),
        Err(refused) => match refused.picked(path, picked) {
            Ok(changed) => Ok(Applied::new(form, text, changed, &parser)),
            Err(refused) => Err(refused.of(form)),
        },
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
        Form::SearchReplace => search_replace::apply(path, text, edit, parser.tools),
        Form::UnifiedDiff => unified::apply_to(path, &file, edit),
        Form::CodexPatch => codex::apply_to(path, &file, edit),
        Form::Sketch => sketch::apply(&file, &unfenced(path, edit), parser),
        Form::Whole => whole::apply(&file, &unfenced(path, edit), parser),
    }
}

/// An edit that may be a patch or text of the file, with what each comes to.
fn either(
    named: &str,
    patch: Result<Changed, Refused>,
    own: Result<Changed, Refused>,
    before: &str,
) -> Refused {
    let patch = patch.ok().map(|it| ("the patch is applied, without the text around it".to_owned(), it.text));
    let own = match own {
        Ok(it) => vec![("the edit is text of the file, with the patch in it".to_owned(), it.text)],
        Err(refused) => refused.into_readings(),
    };
    let reason = Reason::PatchOrText { named: named.to_owned() };
    Refused::with_readings(reason, before, patch.into_iter().chain(own).collect())
}

/// An edit that changes nothing was misunderstood by one of the two sides.
fn distinct(changed: Changed, text: &str) -> Result<Changed, Refused> {
    if changed.text == text { Err(Reason::ChangesNothing.into()) } else { Ok(changed) }
}

#[cfg(test)]
mod tests;
