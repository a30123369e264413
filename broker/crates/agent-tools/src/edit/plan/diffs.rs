//! Changes of a unified diff to one file.

use overlay::WorkspacePath;
use patch::Kind;

use super::{
    super::{
        names::{Named, place},
        outcome::{Changed, Refused},
        text::Text,
        unified::{self, FileDiff},
    },
    FileChange, Planner, unreadable,
};

impl Planner<'_> {
    pub(super) fn diff(&mut self, path: WorkspacePath, diff: &FileDiff<'_>) -> Result<FileChange, Refused> {
        match (diff.kind, &diff.named) {
            (Kind::Create, _) => self.created_by(path, diff),
            (Kind::Delete, _) => {
                self.expect_all_deleted(&path, diff)?;
                self.deleted(path)
            }
            (Kind::Edit, Named::Moved { to, .. }) => self.moved_by(path, place(to)?, diff),
            (Kind::Edit, _) if diff.is_mode_changed && diff.hunks.is_empty() => {
                Err(unreadable(&path, "the diff changes its mode only, which edits cannot do"))
            }
            (Kind::Edit, _) => {
                let before = self.text(&path)?;
                let changed = self.hunks(&path, &before, diff)?;
                self.written(path, Some(&before), changed)
            }
        }
    }

    fn created_by(&self, path: WorkspacePath, diff: &FileDiff<'_>) -> Result<FileChange, Refused> {
        if self.kind(&path).is_some() && !self.text(&path)?.is_empty() {
            return Err(unreadable(&path, "the diff makes a file that is there already"));
        }
        let changed = unified::change(&Text::new(""), &diff.hunks)?;
        self.created(path, with_mode(changed, diff))
    }

    fn moved_by(
        &self,
        from: WorkspacePath,
        to: WorkspacePath,
        diff: &FileDiff<'_>,
    ) -> Result<FileChange, Refused> {
        if to != from && self.kind(&to).is_some() {
            return Err(unreadable(&to, "the diff moves a file to where another one is"));
        }
        let before = self.text(&from)?;
        let changed = self.hunks(&from, &before, diff)?;
        self.moved(from, to, &before, changed)
    }

    /// A diff may leave out the lines of a file that it deletes, but has all if it has some.
    fn expect_all_deleted(&self, path: &WorkspacePath, diff: &FileDiff<'_>) -> Result<(), Refused> {
        if diff.hunks.is_empty() {
            return self.expect_one(&diff.named, path, &place(diff.named.shown())?);
        }
        let before = self.text(path)?;
        match self.hunks(path, &before, diff)?.text.is_empty() {
            true => Ok(()),
            false => Err(unreadable(path, "the diff deletes the file, but does not have all of its lines")),
        }
    }

    fn hunks(&self, path: &WorkspacePath, before: &str, diff: &FileDiff<'_>) -> Result<Changed, Refused> {
        let changed = self.change(path, before, |it| unified::change(it, &diff.hunks))?;
        Ok(with_mode(changed, diff))
    }
}

/// The text that a diff leads to, with what is not done of the diff.
fn with_mode(mut changed: Changed, diff: &FileDiff<'_>) -> Changed {
    if diff.is_mode_changed {
        changed.notes.push("the mode of the file stays, as edits cannot change it".to_owned());
    }
    changed
}
