//! All answers of a check, as data: sorted, counted, with positions that people can use.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use lint::{Completeness, Identity, suppress};
use overlay::{ContentHash, Skipped, WorkspacePath};

use super::{
    Answer, Coverage, FileAnswers, Lack, SharedLinter,
    finding::{Excluded, Finding, Incomplete, Level, Subject, Unavailable},
};

/// What became of a check.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Every linter that took part, asked or not.
    pub linters: Vec<Identity>,
    /// How many files at least one linter checked, or should have.
    pub files: usize,
    /// Those files, by path.
    pub checked: Vec<Checked>,
    /// By path, cell, place, linter and code.
    pub findings: Vec<Finding>,
    /// How many findings the files' own comments suppress; they are not among `findings`.
    pub suppressed: usize,
    /// How many findings a baseline lists as known; they are not among `findings`.
    pub baselined: usize,
    /// How many fixes were made; what they removed is not among `findings`.
    pub fixed: usize,
    /// Everything that keeps "no findings" from meaning that there are none.
    pub incomplete: Vec<Incomplete>,
    /// Linters that are not there, and that nobody asked for by name.
    pub unavailable: Vec<Unavailable>,
    pub counts: Counts,
    /// What the user named and, by the linters' configuration, nobody checked anything of.
    pub left_out: BTreeSet<WorkspacePath>,
    /// What linters leave out for its content, by path.
    pub excluded: Vec<Excluded>,
    pub skipped: Skipped,
    /// What else was passed over by who checked elsewhere, and does not tell why.
    pub passed_over: u64,
    /// What the parent of the branch has and the branch has not, if that was asked; `findings` are the new ones then.
    pub gone: Option<Vec<Finding>>,
    pub duration: Duration,
}

/// A file that was checked, or should have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub path: WorkspacePath,
    /// That of the worst answer about it.
    pub level: Level,
    /// Linters are counted as in [`Report::linters`].
    pub coverage: Coverage,
}

/// `files`, each counted once, by the worst answer about it.
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
        Some(Self { path: path.clone(), linter: linter.into(), reason })
    }
}

impl Incomplete {
    /// Why an answer is not all there is; `None` if it is, or was not wanted.
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

    /// What a walk was to visit and could not.
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

    /// All answers together; files may come in any order.
    pub(super) fn of(linters: &[SharedLinter], mut files: Vec<FileAnswers>) -> Self {
        files.sort_by(|a, b| a.unit.path.cmp(&b.unit.path));
        let names: Vec<Arc<str>> = linters.iter().map(|it| it.identity().name.as_str().into()).collect();
        let mut report = Self {
            linters: linters.iter().map(|it| it.identity().clone()).collect(),
            left_out: left_out(&files),
            ..Self::default()
        };
        for file in files {
            let levels = file.answers.iter().filter_map(|(_, it)| Level::of(&it.completeness));
            if let Some(worst) = levels.max() {
                report.count(worst);
                let path = file.unit.path.clone();
                report.checked.push(Checked { path, level: worst, coverage: file.coverage });
            }
            for (linter, answer) in file.answers {
                report.incomplete.extend(Incomplete::of_answer(&file.unit.path, &names[linter], &answer));
                report.excluded.extend(Excluded::of_answer(&file.unit.path, &names[linter], &answer));
                // What the cache does not hold as well is moved, not copied.
                match Arc::try_unwrap(answer) {
                    Ok(answer) => report.findings.extend(answer.findings),
                    Err(shared) => report.findings.extend_from_slice(&shared.findings),
                }
            }
        }
        report.sort_findings();
        report.sort_incomplete();
        report
    }

    fn count(&mut self, level: Level) {
        self.files += 1;
        *self.counts.of(level) += 1;
    }

    /// The answer about `path` is for a text that is gone.
    pub(super) fn make_pending(&mut self, path: &WorkspacePath) {
        if let Some(checked) = self.checked.iter_mut().find(|it| it.path == *path)
            && checked.level < Level::Pending
        {
            *self.counts.of(checked.level) -= 1;
            *checked = Checked { level: Level::Pending, coverage: Coverage::default(), ..checked.clone() };
            self.counts.pending += 1;
        }
        self.add_incomplete([Incomplete {
            subject: Subject::Path(path.clone()),
            linter: None,
            level: Level::Pending,
            reason: "the file changed while it was checked".to_owned(),
        }]);
    }

    /// What could not be read was asked for and is not answered; the rest is nothing that is ever checked.
    pub(super) fn skip(&mut self, skipped: Skipped) {
        self.incomplete.extend(Incomplete::unreadable(&skipped));
        self.skipped = skipped;
        self.sort_incomplete();
    }

    /// Adds what was found out before the check began.
    pub fn add_incomplete(&mut self, incomplete: impl IntoIterator<Item = Incomplete>) {
        self.incomplete.extend(incomplete);
        self.sort_incomplete();
    }

    /// Who is asked for by name and not there has failed.
    pub(super) fn lack(&mut self, lacks: Vec<Lack>) {
        for lack in lacks {
            match lack.sorted() {
                Ok(failed) if !self.incomplete.contains(&failed) => self.add_incomplete([failed]),
                Err(unavailable) if !self.unavailable.contains(&unavailable) => {
                    self.unavailable.push(unavailable);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }

    pub(super) fn sort_findings(&mut self) {
        self.findings.sort_by(Finding::order);
    }

    fn sort_incomplete(&mut self) {
        self.incomplete
            .sort_by(|a, b| (&a.subject, &a.linter, a.level).cmp(&(&b.subject, &b.linter, b.level)));
    }

    pub fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }

    /// How many files a linter leaves out for their content.
    pub fn excluded_files(&self) -> usize {
        self.excluded.chunk_by(|a, b| a.path == b.path).count()
    }

    pub fn fixable(&self) -> usize {
        self.findings.iter().filter(|it| it.is_fixable()).count()
    }
}

/// What was named and has only files that were excluded.
fn left_out(files: &[FileAnswers]) -> BTreeSet<WorkspacePath> {
    let is_excluded =
        |it: &FileAnswers| it.answers.iter().all(|(_, it)| it.completeness == Completeness::Excluded);
    let (excluded, answered): (Vec<_>, Vec<_>) = files.iter().partition(|it| is_excluded(it));
    let mut left_out: BTreeSet<_> = excluded.iter().map(|it| &it.unit.named).collect();
    answered.iter().for_each(|it| _ = left_out.remove(&it.unit.named));
    left_out.into_iter().cloned().collect()
}
