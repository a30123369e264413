//! An edit of any number of files, as what each of them becomes.

use std::collections::BTreeMap;

use overlay::{FileKind, View, WorkspacePath};
use syntax::{Language, Trees};

use super::{
    codex::{self, Section},
    form::{Form, recognise, unfenced},
    outcome::{Applied, Changed, ReadingId, Reason, Refused},
    text::Text,
    unified::{self, FileDiff},
};

/// What an edit comes to, file by file in its order. A file that is refused stops nothing: to write all or none is the
/// caller's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub form: Form,
    pub files: Vec<FileEdit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// As the edit names it, where that is no path of the workspace.
    pub path: String,
    pub outcome: Result<FileChange, Refused>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    Write {
        path: WorkspacePath,
        applied: Applied,
        /// Whether a file stood there before.
        existed: bool,
    },
    Delete {
        path: WorkspacePath,
    },
    Move {
        from: WorkspacePath,
        to: WorkspacePath,
        /// The text at its new place.
        applied: Applied,
        /// Whether another file stood there.
        replaces: bool,
    },
}

impl Plan {
    /// All changes, or the first refusal.
    pub fn all(self) -> Result<Vec<FileChange>, Refused> {
        self.files.into_iter().map(|it| it.outcome).collect()
    }
}

/// What an edit does to the files of a view. `path` is the file that it is of, where its form names none.
pub fn plan(
    view: &dyn View,
    path: Option<&WorkspacePath>,
    edit: &str,
    picked: Option<&ReadingId>,
    trees: &Trees,
) -> Result<Plan, Refused> {
    let root = WorkspacePath::root();
    let form = recognise(path.unwrap_or(&root), edit);
    let bare = unfenced(path.unwrap_or(&root), edit);
    let mut planner = Planner { view, picked, trees, form, after: BTreeMap::new() };
    let files = match form {
        Form::CodexPatch => codex::read(&bare)
            .map_err(|it| it.of(form))?
            .iter()
            .map(|it| planner.file(section_path(it), |planner, path| planner.section(path, it)))
            .collect(),
        Form::UnifiedDiff => unified::read(&bare)
            .map_err(|it| it.of(form))?
            .iter()
            .map(|it| {
                let named = it.old.or(it.new).or(path.map(WorkspacePath::as_str)).unwrap_or_default();
                planner.file(named, |planner, path| planner.diff(path, it))
            })
            .collect(),
        Form::Sketch | Form::Whole | Form::SearchReplace => {
            let path = path.ok_or(Reason::Path(String::new()))?;
            vec![planner.file(path.as_str(), |planner, path| planner.one(path, edit))]
        }
    };
    Ok(Plan { form, files })
}

struct Planner<'a> {
    view: &'a dyn View,
    picked: Option<&'a ReadingId>,
    trees: &'a Trees,
    form: Form,
    /// What earlier parts of the edit made of files; `None` where there is none any more.
    after: BTreeMap<WorkspacePath, Option<String>>,
}

fn section_path<'a>(section: &Section<'a>) -> &'a str {
    match section {
        Section::Add { path, .. } | Section::Delete { path } | Section::Update { path, .. } => path,
    }
}

impl Planner<'_> {
    fn file(
        &mut self,
        named: &str,
        change: impl Fn(&mut Self, WorkspacePath) -> Result<FileChange, Refused>,
    ) -> FileEdit {
        let outcome = place(named).and_then(|it| change(self, it)).map_err(|it| it.of(self.form));
        if let Ok(change) = &outcome {
            self.remember(change);
        }
        FileEdit { path: named.to_owned(), outcome }
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

    fn section(&mut self, path: WorkspacePath, section: &Section<'_>) -> Result<FileChange, Refused> {
        match section {
            Section::Add { lines, .. } => {
                let before = self.text(&path).ok();
                let changed = codex::added(lines).into();
                Ok(self.written(path, before, changed))
            }
            Section::Delete { .. } => self.deleted(path),
            Section::Update { to, chunks, .. } => {
                let before = self.text(&path)?;
                let changed = self.change(&before, |it| codex::change(it, chunks))?;
                self.moved(path, *to, before, changed)
            }
        }
    }

    fn diff(&mut self, path: WorkspacePath, diff: &FileDiff<'_>) -> Result<FileChange, Refused> {
        if diff.is_new {
            let before = self.text(&path).ok();
            if before.as_ref().is_some_and(|it| !it.is_empty()) {
                let why = "the diff makes a file that is there already".to_owned();
                return Err(Reason::Unreadable { path: path.to_string(), why }.into());
            }
            let changed = unified::change(&Text::new(""), &diff.hunks)?;
            return Ok(self.written(path, before, changed));
        }
        let before = self.text(&path)?;
        let changed = self.change(&before, |it| unified::change(it, &diff.hunks))?;
        if diff.is_deleted {
            return self.deleted(path);
        }
        let to = diff.new.filter(|it| diff.old.is_some_and(|old| old != *it));
        self.moved(path, to, before, changed)
    }

    fn one(&mut self, path: WorkspacePath, edit: &str) -> Result<FileChange, Refused> {
        let before = match self.text(&path) {
            Err(refused) if self.view.metadata(&path).is_ok() => return Err(refused),
            before => before.ok(),
        };
        let text = before.as_deref().unwrap_or_default();
        let applied = super::apply(&path, text, edit, self.picked, self.trees)?;
        Ok(FileChange::Write { path, applied, existed: before.is_some() })
    }

    /// What hunks make of a text, or the reading of it that was picked.
    fn change(
        &self,
        before: &str,
        change: impl Fn(&Text<'_>) -> Result<Changed, Refused>,
    ) -> Result<Changed, Refused> {
        change(&Text::new(before)).or_else(|it| it.picked(self.picked))
    }

    fn written(&self, path: WorkspacePath, before: Option<String>, changed: Changed) -> FileChange {
        let applied = self.finish(&path, before.as_deref().unwrap_or_default(), changed);
        FileChange::Write { path, applied, existed: before.is_some() }
    }

    fn deleted(&self, path: WorkspacePath) -> Result<FileChange, Refused> {
        match (self.after.get(&path), self.view.metadata(&path)) {
            (Some(Some(_)), _) => Ok(FileChange::Delete { path }),
            (None, Ok(it)) if it.kind != FileKind::Directory => Ok(FileChange::Delete { path }),
            (None, Ok(_)) => Err(unreadable(&path, "it is a directory")),
            (Some(None), _) | (None, Err(_)) => Err(unreadable(&path, "there is no such file")),
        }
    }

    fn moved(
        &self,
        from: WorkspacePath,
        to: Option<&str>,
        before: String,
        changed: Changed,
    ) -> Result<FileChange, Refused> {
        let Some(to) = to.map(place).transpose()?.filter(|it| *it != from) else {
            if changed.text == before {
                return Err(Reason::ChangesNothing.into());
            }
            return Ok(self.written(from, Some(before), changed));
        };
        let replaces = self.text(&to).is_ok();
        let applied = self.finish(&to, &before, changed);
        Ok(FileChange::Move { from, to, applied, replaces })
    }

    fn finish(&self, path: &WorkspacePath, before: &str, changed: Changed) -> Applied {
        super::finish(self.form, before, changed, Language::of(path), self.trees)
    }

    fn text(&self, path: &WorkspacePath) -> Result<String, Refused> {
        match self.after.get(path) {
            Some(Some(text)) => return Ok(text.clone()),
            Some(None) => return Err(unreadable(path, "there is no such file")),
            None => {}
        }
        let bytes = self.view.open(path).map_err(|it| unreadable(path, &overlay::io_reason(&it)))?;
        String::from_utf8(bytes.into()).map_err(|_| unreadable(path, "it is no text in UTF-8"))
    }
}

fn place(named: &str) -> Result<WorkspacePath, Refused> {
    let path = WorkspacePath::new(named.trim()).ok().filter(|it| !it.is_root());
    path.ok_or_else(|| Reason::Path(named.to_owned()).into())
}

fn unreadable(path: &WorkspacePath, why: &str) -> Refused {
    Reason::Unreadable { path: path.to_string(), why: why.to_owned() }.into()
}

#[cfg(test)]
mod tests;
