//! An edit of any number of files, as what each of them becomes.

use std::collections::BTreeMap;

use overlay::{ContentHash, FileKind, View, WorkspacePath};
use syntax::Trees;

use super::{
    codex::{self, Section},
    form::Form,
    names::{Named, only_target, place},
    outcome::{Applied, Changed, ReadingId, Reason, Refused},
    parser::Parser,
    recognise::{Recognised, recognise},
    since::merged_since,
    text::Text,
    toolkit::Toolkit,
    unified,
};

mod diffs;

/// Changes of an edit, file by file in its order. A file that is refused stops nothing: to write all or none is the
/// caller's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub form: Form,
    pub files: Vec<FileEdit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// Path of the file; the name in the edit, where that is no path of the workspace.
    pub path: String,
    pub outcome: Result<FileChange, Refused>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    Write {
        path: WorkspacePath,
        applied: Applied,
        before: Before,
    },
    Delete {
        path: WorkspacePath,
    },
    Move {
        from: WorkspacePath,
        to: WorkspacePath,
        /// The text at its new place.
        applied: Applied,
        before: Before,
        /// Whether another file stood there.
        replaces: bool,
    },
}

/// State of a file that a change was planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    Missing,
    /// A text with this hash.
    Text(ContentHash),
    /// Anything that is no text.
    Other,
}

impl Before {
    pub(super) fn of(text: Option<&str>) -> Self {
        text.map_or(Self::Missing, |it| Self::Text(ContentHash::of(it.as_bytes())))
    }
}

impl Plan {
    /// Returns all changes, or the first refusal, which names its file if there are several.
    pub fn all(self) -> Result<Vec<FileChange>, Refused> {
        let are_several = self.files.len() > 1;
        let in_file = |path: &str, it: Refused| if are_several { it.in_file(path) } else { it };
        self.files.into_iter().map(|it| it.outcome.map_err(|refused| in_file(&it.path, refused))).collect()
    }
}

/// Texts of files as the author of an edit knows them.
pub type Seen<'a> = dyn Fn(&WorkspacePath) -> Option<String> + 'a;

/// Plans the changes of an edit to the files of a view. `path` is the file that it is of, or one of them; the form may name
/// it instead. `seen` returns the text of a file for which the edit was written, if it is known. Once `cancel` returns true, the work ends with [`Reason::Cancelled`].
pub fn plan(
    view: &dyn View,
    path: Option<&WorkspacePath>,
    edit: &str,
    picked: Option<&ReadingId>,
    seen: &Seen<'_>,
    trees: &Trees,
    cancel: &dyn Fn() -> bool,
) -> Result<Plan, Refused> {
    let root = WorkspacePath::root();
    let before = path.and_then(|it| text_of(view, it).ok()).unwrap_or_default();
    let recognised = recognise(path.unwrap_or(&root), &before, edit);
    let form = recognised.form;
    let is_either = recognised.or.is_some();
    let mut planner = Planner {
        view,
        picked,
        seen,
        tools: Toolkit { trees, cancel },
        recognised,
        makes_crlf: makes_crlf(form, edit),
        target: None,
        after: BTreeMap::new(),
    };
    let files = match form {
        _ if is_either => vec![planner.whole(path, edit)?],
        Form::CodexPatch => {
            let sections = codex::read(edit).map_err(|it| it.of(form))?;
            let named: Vec<_> = sections.iter().map(Section::named).collect();
            planner.target = only_target(&named, path).map_err(|it| it.of(form))?;
            let change =
                |(section, named)| planner.file(named, |planner, path| planner.section(path, named, section));
            sections.iter().zip(&named).map(change).collect()
        }
        Form::UnifiedDiff => {
            let diffs = unified::read(edit).map_err(|it| it.of(form))?;
            let named: Vec<_> = diffs.iter().map(|it| it.named.clone()).collect();
            planner.target = only_target(&named, path).map_err(|it| it.of(form))?;
            diffs.iter().map(|it| planner.file(&it.named, |planner, path| planner.diff(path, it))).collect()
        }
        Form::Sketch | Form::Whole | Form::SearchReplace => vec![planner.whole(path, edit)?],
    };
    planner.tools.go_on()?;
    Ok(Plan { form, files })
}

struct Planner<'a> {
    view: &'a dyn View,
    picked: Option<&'a ReadingId>,
    seen: &'a Seen<'a>,
    tools: Toolkit<'a>,
    recognised: Recognised,
    /// Whether the lines of new files end in CR LF.
    makes_crlf: bool,
    /// The file that all of the edit is of, if there is one.
    target: Option<&'a WorkspacePath>,
    /// Texts of files after earlier parts of the edit; `None` for a file that is gone.
    after: BTreeMap<WorkspacePath, Option<String>>,
}

/// Whether an edit gives new files lines that end in CR LF. In a patch of which all lines do, that is how it was sent.
fn makes_crlf(form: Form, edit: &str) -> bool {
    let is_crlf = |it: &str| it.ends_with("\r\n");
    let (new, others): (Vec<_>, Vec<_>) =
        edit.split_inclusive('\n').partition(|it| it.starts_with('+') && !it.starts_with("+++ "));
    match form {
        Form::Sketch | Form::Whole | Form::SearchReplace => {
            edit.contains('\n') && edit.split_inclusive('\n').all(|it| is_crlf(it) || !it.ends_with('\n'))
        }
        Form::UnifiedDiff | Form::CodexPatch => {
            !new.is_empty() && new.into_iter().all(is_crlf) && !others.into_iter().all(is_crlf)
        }
    }
}

impl Planner<'_> {
    fn file(
        &mut self,
        named: &Named,
        change: impl Fn(&mut Self, WorkspacePath) -> Result<FileChange, Refused>,
    ) -> FileEdit {
        let path = match self.target {
            Some(target) => Ok(target.clone()),
            None => named.place(|it| self.kind(it).is_some()),
        };
        let shown = path.as_ref().map_or(named.shown(), WorkspacePath::as_str).to_owned();
        let outcome = self.tools.go_on().and(path).and_then(|it| change(self, it));
        let mut outcome = outcome.map_err(|it| it.of(self.recognised.form));
        if let Ok(FileChange::Write { applied, before: Before::Missing, .. }) = &mut outcome
            && self.makes_crlf
        {
            applied.text = applied.text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        if let Ok(change) = &outcome {
            self.remember(change);
        }
        FileEdit { path: shown, outcome }
    }

    /// An edit that is all of one file.
    fn whole(&mut self, path: Option<&WorkspacePath>, edit: &str) -> Result<FileEdit, Refused> {
        let path = path.ok_or(Reason::Path(String::new()))?;
        let named = Named::One(path.to_string());
        Ok(self.file(&named, |planner, path| planner.one(path, edit)))
    }

    fn remember(&mut self, change: &FileChange) {
        match change {
            FileChange::Write { path, applied, .. } => {
                self.after.insert(path.clone(), Some(applied.text.clone()));
            }
            FileChange::Delete { path } => {
                self.after.insert(path.clone(), None);
            }
            FileChange::Move { from, to, applied, .. } => {
                self.after.insert(from.clone(), None);
                self.after.insert(to.clone(), Some(applied.text.clone()));
            }
        }
    }

    fn section(
        &mut self,
        path: WorkspacePath,
        named: &Named,
        section: &Section<'_>,
    ) -> Result<FileChange, Refused> {
        match section {
            Section::Add { lines, .. } => {
                self.expect_one(named, &path, &path)?;
                self.created(path, codex::added(lines).into())
            }
            Section::Delete { .. } => {
                self.expect_one(named, &path, &place(named.shown())?)?;
                self.deleted(path)
            }
            Section::Update { to, chunks, .. } => {
                let before = self.text(&path)?;
                let changed = self.change(&path, &before, |it| codex::change(it, chunks))?;
                match to {
                    Some(to) => self.moved(path, place(to)?, &before, changed),
                    None => self.written(path, Some(&before), changed),
                }
            }
        }
    }

    /// Refuses a name that is only the end of the target's path if there is another file that it may be, where no lines of
    /// the file show that the target is meant.
    fn expect_one(&self, named: &Named, path: &WorkspacePath, other: &WorkspacePath) -> Result<(), Refused> {
        if named.is_exactly(path) || self.kind(other).is_none() {
            return Ok(());
        }
        let (first, second) = (named.shown().to_owned(), path.to_string());
        Err(Reason::TwoNames { first, second }.into())
    }

    fn one(&mut self, path: WorkspacePath, edit: &str) -> Result<FileChange, Refused> {
        let before = match self.text(&path) {
            Err(refused) if self.view.metadata(&path).is_ok() => return Err(refused),
            before => before.ok(),
        };
        if before.is_none() && (self.seen)(&path).is_some() {
            return Err(Reason::Gone.into());
        }
        let text = before.as_deref().unwrap_or_default();
        let applied = match before.as_ref().and(self.since(&path, text, edit)) {
            Some(applied) => applied?,
            None => super::applied(&path, text, edit, self.picked, self.tools)?,
        };
        Ok(FileChange::Write { path, applied, before: Before::of(before.as_deref()) })
    }

    /// An edit of the text that it was written for, merged with what changed in the file since. Only forms that replace lines
    /// without naming them need it; `None` if nothing changed, or if the edit is what was seen.
    fn since(&self, path: &WorkspacePath, now: &str, edit: &str) -> Option<Result<Applied, Refused>> {
        let is_blind = matches!(self.recognised.form, Form::Whole | Form::Sketch);
        let seen = (self.seen)(path).filter(|it| is_blind && *it != now)?;
        let edited = match super::applied(path, &seen, edit, self.picked, self.tools) {
            Err(refused) if refused.reason == Reason::ChangesNothing => return None,
            edited => edited,
        };
        let merged = |edited: Applied| {
            let changed = merged_since(&seen, &edited.text, now)?.with(edited.notes);
            Ok(Applied::new(edited.form, now, changed, &Parser::of(path, now, self.tools)))
        };
        Some(edited.and_then(merged))
    }

    /// Refuses to remove a file that is not as it was read.
    fn expect_as_seen(&self, path: &WorkspacePath) -> Result<(), Refused> {
        let is_other = |seen: &String| self.text(path).is_ok_and(|now| now != *seen);
        if (self.seen)(path).as_ref().is_some_and(is_other) { Err(Reason::Overtaken.into()) } else { Ok(()) }
    }

    /// Returns the text after a change, or the reading that was picked.
    fn change(
        &self,
        path: &WorkspacePath,
        before: &str,
        change: impl Fn(&Text<'_>) -> Result<Changed, Refused>,
    ) -> Result<Changed, Refused> {
        change(&Text::new(before)).or_else(|it| it.picked(path, self.picked))
    }

    /// A file as codex adds it, which may take the place of another.
    fn created(&self, path: WorkspacePath, mut changed: Changed) -> Result<FileChange, Refused> {
        if self.kind(&path) == Some(FileKind::Directory) {
            return Err(unreadable(&path, "it is a directory"));
        }
        let text = self.text(&path).ok();
        let before = match self.kind(&path) {
            Some(_) if text.is_none() => Before::Other,
            _ => Before::of(text.as_deref()),
        };
        if before != Before::Missing {
            self.expect_as_seen(&path)?;
            changed.notes.push(format!("the file that was at `{path}` is replaced"));
        }
        let applied = self.finish(&path, text.as_deref().unwrap_or_default(), changed);
        Ok(FileChange::Write { path, applied, before })
    }

    fn written(
        &self,
        path: WorkspacePath,
        before: Option<&str>,
        changed: Changed,
    ) -> Result<FileChange, Refused> {
        if before == Some(&changed.text) {
            return Err(Reason::ChangesNothing.into());
        }
        let applied = self.finish(&path, before.unwrap_or_default(), changed);
        Ok(FileChange::Write { path, applied, before: Before::of(before) })
    }

    fn deleted(&self, path: WorkspacePath) -> Result<FileChange, Refused> {
        match self.kind(&path) {
            Some(FileKind::Directory) => Err(unreadable(&path, "it is a directory")),
            Some(_) => {
                self.expect_as_seen(&path)?;
                Ok(FileChange::Delete { path })
            }
            None => Err(unreadable(&path, NO_FILE)),
        }
    }

    /// A file as codex moves it, which may take the place of another.
    fn moved(
        &self,
        from: WorkspacePath,
        to: WorkspacePath,
        before: &str,
        mut changed: Changed,
    ) -> Result<FileChange, Refused> {
        if from == to {
            return self.written(from, Some(before), changed);
        }
        let replaced = self.kind(&to);
        if replaced == Some(FileKind::Directory) {
            return Err(unreadable(&to, "it is a directory"));
        }
        if replaced.is_some() {
            changed.notes.push(format!("the file that was at `{to}` is replaced"));
        }
        let applied = self.finish(&to, before, changed);
        let before = Before::of(Some(before));
        Ok(FileChange::Move { from, to, applied, before, replaces: replaced.is_some() })
    }

    fn finish(&self, path: &WorkspacePath, before: &str, changed: Changed) -> Applied {
        let changed = changed.noted(self.recognised.note());
        Applied::new(self.recognised.form, before, changed, &Parser::of(path, before, self.tools))
    }

    /// Returns the kind of the file at a path, as earlier parts of the edit leave it.
    fn kind(&self, path: &WorkspacePath) -> Option<FileKind> {
        match self.after.get(path) {
            Some(after) => after.as_ref().map(|_| FileKind::File),
            None => self.view.metadata(path).ok().map(|it| it.kind),
        }
    }

    fn text(&self, path: &WorkspacePath) -> Result<String, Refused> {
        match self.after.get(path) {
            Some(Some(text)) => return Ok(text.clone()),
            Some(None) => return Err(unreadable(path, NO_FILE)),
            None => {}
        }
        text_of(self.view, path)
    }
}

pub(super) fn text_of(view: &dyn View, path: &WorkspacePath) -> Result<String, Refused> {
    let bytes = view.open(path).map_err(|it| unreadable(path, &overlay::io_reason(&it)))?;
    String::from_utf8(bytes.into()).map_err(|_| unreadable(path, "it is no text in UTF-8"))
}

const NO_FILE: &str = "there is no such file";

fn unreadable(path: &WorkspacePath, why: &str) -> Refused {
    Reason::Unreadable { path: path.to_string(), why: why.to_owned() }.into()
}

#[cfg(test)]
mod tests;
