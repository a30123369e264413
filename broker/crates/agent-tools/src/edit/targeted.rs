//! Edits that name their place: a text that stands in the file, or a definition.

mod definition;
mod lead;
mod replacement;

use overlay::{View, WorkspacePath};
use syntax::Trees;
use thiserror::Error;

pub(crate) use self::definition::named;
pub use self::{
    definition::{DefinitionEdit, DefinitionPlace},
    replacement::TextReplacement,
};
use super::{
    form::Form,
    outcome::{Applied, Changed, Reason, Refused},
    parser::Parser,
    plan::{Before, FileChange, text_of},
    since::merged_since,
    text::with_lf,
    toolkit::Toolkit,
};

/// An edit of one file that names its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Targeted {
    Text(TextReplacement),
    Definition(DefinitionEdit),
}

/// Reason why the place of an edit is not found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoTarget {
    #[error("`old_string` is empty, and the file is not")]
    NoOld,
    #[error("`old_string` is not in the file{}", near.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    NotFound { near: Option<String> },
    #[error("`old_string` is in the file {} times, at lines {}", lines.len(), listed(lines))]
    FoundOften { lines: Vec<usize> },
    #[error("definitions of `{0}` are not known")]
    NoGrammar(String),
    #[error("the file does not define `{name}`{}", it_defines(names))]
    NoDefinition { name: String, names: Vec<String> },
    #[error("the file defines `{name}` {} times, at lines {}", lines.len(), listed(lines))]
    SeveralDefinitions { name: String, lines: Vec<usize> },
    #[error("`{0}` has no body")]
    NoBody(String),
}

/// Entries of a message.
const SHOWN: usize = 20;

impl NoTarget {
    /// Advice on what to send instead.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::NoOld => "Send the text that is to be replaced, or the whole file as code_edit.",
            Self::NotFound { .. } => "Read the file again, and copy the text exactly, with its indentation.",
            Self::FoundOften { .. } => "Add lines around it until it is there once, or set replace_all.",
            Self::NoGrammar(_) | Self::NoBody(_) => "Use old_string and new_string.",
            Self::NoDefinition { .. } => "read_file has an outline; or use old_string and new_string.",
            Self::SeveralDefinitions { .. } => {
                "Name what is around it, as `Class.method`; or use old_string and new_string."
            }
        }
    }
}

fn listed(lines: &[usize]) -> String {
    let shown: Vec<_> = lines.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = if lines.len() > SHOWN { ", …" } else { "" };
    shown.join(", ") + more
}

fn it_defines(names: &[String]) -> String {
    match names.len() {
        0 => String::new(),
        SHOWN.. => format!(", but {}, …", names[..SHOWN].join(", ")),
        _ => format!(", but {}", names.join(", ")),
    }
}

/// Number, from 1, of the line in which a byte is.
fn line_of(text: &str, at: usize) -> usize {
    with_lf(&text[..at]).matches(['\n', '\r']).count() + 1
}

/// The lines of a text without blanks around, counted as findings count them: a carriage return alone ends one as well.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|it| it.strip_suffix('\r').unwrap_or(it).split('\r')).map(str::trim)
}

/// Plans an edit of one file of a view. `seen` is the text that the edit was written for, if it is known. Once `cancel` returns true, the work ends with [`Reason::Cancelled`].
pub fn plan_targeted(
    view: &dyn View,
    path: &WorkspacePath,
    edit: &Targeted,
    seen: Option<&str>,
    trees: &Trees,
    cancel: &dyn Fn() -> bool,
) -> Result<FileChange, Refused> {
    let before = match (text_of(view, path), edit) {
        // An empty text is replaced by that of a new file.
        (Err(_), Targeted::Text(it)) if it.old.is_empty() && view.metadata(path).is_err() => None,
        (text, _) => Some(text?),
    };
    let text = before.as_deref().unwrap_or_default();
    let parser = Parser::of(path, text, Toolkit { trees, cancel });
    let changed = match (edit, seen.filter(|it| *it != text)) {
        (Targeted::Text(it), _) => Changed::from(it.apply(text)?),
        (Targeted::Definition(it), None) => it.apply(path, text, &parser)?,
        // It replaces lines without naming them.
        (Targeted::Definition(it), Some(seen)) => {
            let of_seen = Parser::of(path, seen, Toolkit { trees, cancel });
            let changed = it.apply(path, seen, &of_seen)?;
            merged_since(seen, &changed.text, text)?.with(changed.notes)
        }
    };
    parser.tools.go_on()?;
    if changed.text == text {
        return Err(Reason::ChangesNothing.into());
    }
    let applied = Applied::new(Form::SearchReplace, text, changed, &parser);
    Ok(FileChange::Write { path: path.clone(), applied, before: Before::of(before.as_deref()) })
}

#[cfg(test)]
mod tests;
