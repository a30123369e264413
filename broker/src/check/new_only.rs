//! What a branch makes of its parent's findings.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use lint::{FileFindings, delta};
use overlay::{View, WorkspacePath};

use super::{place::read, report::Finding};

/// The findings of a check, and the view that they are for.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub view: &'a dyn View,
    /// Those of each file together.
    pub findings: &'a [Finding],
}

/// What a branch has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewOnly {
    /// In the branch, and not in its parent; in the order given.
    pub new: Vec<Finding>,
    /// In the parent, and not in the branch; in the order given, with the parent's places.
    pub fixed: Vec<Finding>,
    /// How many are in both.
    pub kept: usize,
    /// Files whose text is not the one that was checked any more. Their findings were matched by rule
    /// and message alone.
    pub changed: BTreeSet<WorkspacePath>,
}

/// Matches the findings of a branch with those of its parent, file by file. `renamed` says where the
/// parent's files are in the branch, if not where they were.
pub fn new_only(
    branch: Side<'_>,
    parent: Side<'_>,
    renamed: &BTreeMap<WorkspacePath, WorkspacePath>,
) -> NewOnly {
    let now = by_file(branch.findings, |path| path);
    let before = by_file(parent.findings, |path| renamed.get(path).unwrap_or(path));
    let mut all = NewOnly::default();
    let paths: BTreeSet<_> = now.keys().chain(before.keys()).collect();
    for path in paths {
        let now = now.get(path).and_then(|it| it.first()).copied().unwrap_or_default();
        // Only a mistaken table makes one file of two.
        let mut before = before.get(path).into_iter().flatten().copied();
        all.compare(branch.view, now, parent.view, before.next().unwrap_or_default());
        before.for_each(|findings| all.fixed.extend_from_slice(findings));
    }
    all
}

/// Each file's findings, by the path that `named` gives it.
fn by_file<'a>(
    findings: &'a [Finding],
    named: impl Fn(&'a WorkspacePath) -> &'a WorkspacePath,
) -> BTreeMap<&'a WorkspacePath, Vec<&'a [Finding]>> {
    let mut files: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for findings in findings.chunk_by(|a, b| a.file.path == b.file.path) {
        files.entry(named(&findings[0].file.path)).or_default().push(findings);
    }
    files
}

impl NewOnly {
    fn compare(&mut self, now_view: &dyn View, now: &[Finding], view: &dyn View, before: &[Finding]) {
        // Of most files, nothing has changed and nothing need be read.
        if now == before {
            self.kept += now.len();
            return;
        }
        if now.is_empty() || before.is_empty() {
            self.new.extend_from_slice(now);
            self.fixed.extend_from_slice(before);
            return;
        }
        let texts = self.text(view, before).zip(self.text(now_view, now)).unwrap_or_default();
        let old: Vec<_> = before.iter().map(Finding::site).collect();
        let new: Vec<_> = now.iter().map(Finding::site).collect();
        let delta = delta(
            FileFindings { text: &texts.0, findings: &old },
            FileFindings { text: &texts.1, findings: &new },
        );
        self.new.extend(delta.new.iter().map(|index| now[*index].clone()));
        self.fixed.extend(delta.fixed.iter().map(|index| before[*index].clone()));
        self.kept += delta.kept.len();
    }

    /// The text that the findings are for.
    fn text(&mut self, view: &dyn View, findings: &[Finding]) -> Option<Bytes> {
        let file = &findings.first()?.file;
        let text = read(view, &file.path, file.content);
        if text.is_err() {
            self.changed.insert(file.path.clone());
        }
        text.ok()
    }
}
