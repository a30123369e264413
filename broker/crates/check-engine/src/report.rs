//! All answers of a check, as data: sorted, counted, with positions that people can use.

use std::{collections::BTreeSet, time::Duration};

use lint::{Completeness, Identity, suppress};
use overlay::{ContentHash, Skipped, WorkspacePath};

use super::{
    Answer, Coverage,
    finding::{Excluded, Finding, Incomplete, Level, Subject, Unavailable},
};

/// Result of a check.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Every linter that took part, asked or not.
    pub linters: Vec<Identity>,
    /// Number of files that at least one linter checked, or should have.
    pub files: usize,
    /// Files that `files` counts, by path.
    pub checked: Vec<Checked>,
    /// By path, cell, place, linter and code.
    pub findings: Vec<Finding>,
    /// Number of findings that the files' own comments suppress; they are not among `findings`.
    pub suppressed: usize,
    /// Number of findings that a baseline lists as known; they are not among `findings`.
    pub baselined: usize,
    /// Number of fixes that were made; findings that they removed are not among `findings`.
    pub fixed: usize,
    /// Everything that keeps "no findings" from meaning that there are none.
    pub incomplete: Vec<Incomplete>,
    /// Linters that are not available, and that were not asked for by name.
    pub unavailable: Vec<Unavailable>,
    pub counts: Counts,
    /// Paths that the user named and of which, by the linters' configuration, nothing was checked.
    pub left_out: BTreeSet<WorkspacePath>,
    /// Files that linters leave out for their content, whole or in part, by path.
    pub excluded: Vec<Excluded>,
    pub skipped: Skipped,
    /// Number of other files that a check in another process skipped, which does not report why.
    pub passed_over: u64,
    /// Findings that the parent of the branch has and the branch has not, in a comparison; `findings` are the new ones then.
    pub gone: Option<Vec<Finding>>,
    pub duration: Duration,
}

/// A file that was checked, or should have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub path: WorkspacePath,
    /// Level of the worst answer about the file.
    pub level: Level,
    /// Linters are counted as in [`Report::linters`].
    pub coverage: Coverage,
}

/// Numbers of `files` by the worst answer about each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub complete: usize,
    pub partial: usize,
    pub pending: usize,
    pub failed: usize,
}

impl Counts {
    fn of(&mut self, level: Level) -> &mut usize {
        match level {
            Level::Complete => &mut self.complete,
            Level::Partial => &mut self.partial,
            Level::Pending => &mut self.pending,
            Level::Failed => &mut self.failed,
        }
    }
}

impl Excluded {
    pub fn of_answer(path: &WorkspacePath, linter: &str, answer: &Answer) -> Option<Self> {
        let reason = answer.left_out.clone()?;
        let in_part = match answer.completeness {
            Completeness::Complete => true,
            Completeness::Excluded => false,
            Completeness::Partial(_) | Completeness::Pending(_) | Completeness::Failed(_) => return None,
        };
        Some(Self { path: path.clone(), linter: linter.into(), in_part, reason })
    }
}

impl Incomplete {
    /// Returns why an answer is incomplete; `None` if it is complete, or was not wanted.
    pub fn of_answer(path: &WorkspacePath, linter: &str, answer: &Answer) -> Option<Self> {
        let reason = match &answer.completeness {
            Completeness::Complete | Completeness::Excluded => return None,
            Completeness::Partial(reason) | Completeness::Pending(reason) | Completeness::Failed(reason) => {
                reason.clone()
            }
        };
        let level = Level::of(&answer.completeness)?;
        Some(Self { subject: Subject::Path(path.clone()), linter: Some(linter.into()), level, reason })
    }

    /// Returns the paths that a walk was to visit and could not read.
    pub fn unreadable(skipped: &Skipped) -> impl Iterator<Item = Self> {
        skipped.unreadable.iter().map(|(path, reason)| Self {
            subject: Subject::Path(path.clone()),
            linter: None,
            level: Level::Failed,
            reason: reason.clone(),
        })
    }
}

impl Report {
    /// Adds this program to the linters if a finding is about suppressions.
    pub fn introduce_ourselves(&mut self) {
        let version = env!("CARGO_PKG_VERSION");
        let is_ours = |it: &Finding| &*it.rule.linter == suppress::LINTER;
        if self.findings.iter().any(is_ours) && self.linters.iter().all(|it| it.name != suppress::LINTER) {
            self.linters.push(Identity {
                name: suppress::LINTER.to_owned(),
                version: version.to_owned(),
                digest: ContentHash::of(version.as_bytes()),
            });
        }
    }

    pub(super) fn count(&mut self, level: Level) {
        self.files += 1;
        *self.counts.of(level) += 1;
    }

    /// Adds what was found out before the check began, each once.
    pub fn add_incomplete(&mut self, incomplete: impl IntoIterator<Item = Incomplete>) {
        for it in incomplete {
            if !self.incomplete.contains(&it) {
                self.incomplete.push(it);
            }
        }
        self.sort_incomplete();
    }

    fn sort_incomplete(&mut self) {
        self.incomplete
            .sort_by(|a, b| (&a.subject, &a.linter, a.level).cmp(&(&b.subject, &b.linter, b.level)));
    }

    pub fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }

    /// Number of files that a linter leaves out for their content.
    pub fn excluded_files(&self) -> usize {
        paths(self.excluded.iter().filter(|it| !it.in_part))
    }

    /// Files of which a linter checks the rest.
    pub fn read_in_part(&self) -> impl Iterator<Item = &Excluded> {
        self.excluded.iter().filter(|it| it.in_part)
    }

    pub fn files_read_in_part(&self) -> usize {
        paths(self.read_in_part())
    }

    pub fn fixable(&self) -> usize {
        self.findings.iter().filter(|it| it.is_fixable()).count()
    }
}

fn paths<'a>(of: impl Iterator<Item = &'a Excluded>) -> usize {
    of.map(|it| &it.path).collect::<BTreeSet<_>>().len()
}
