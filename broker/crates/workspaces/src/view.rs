//! A view that a command has made, and the result of its check.

mod files;

use std::{collections::BTreeSet, fmt, path::PathBuf, sync::Arc};

use check_engine::{AnswerTime, Report, pipeline::Fixed};
use lint::Cancel;
use linters::LinterSet;
use overlay::{View, WorkspacePath};
use parking_lot::Mutex;

/// A folder as a command wants it checked, or sees it.
pub struct LocalView {
    pub root: PathBuf,
    pub view: Arc<dyn View>,
    pub files: ViewFiles,
    /// Whether rules are looked for that configuration files name and no linter has.
    pub finds_unknown_rules: bool,
    /// Ends checks early; what was not answered is pending.
    pub cancel: Cancel,
    /// Called, from any thread, with the number of answers that are there, and with that of all.
    pub progress: Arc<dyn Fn(usize, usize) + Send + Sync>,
}

impl LocalView {
    /// A folder as `view` has it, all of whose files are checked.
    pub fn of(root: PathBuf, view: Arc<dyn View>) -> Self {
        Self {
            root,
            view,
            files: ViewFiles::Requested,
            finds_unknown_rules: false,
            cancel: Cancel::default(),
            progress: Arc::new(|_, _| ()),
        }
    }
}

/// Files of a view that are checked.
pub enum ViewFiles {
    /// Files at and below the paths of the request.
    Requested,
    /// Changed files among those.
    Changed(ViewChanges),
    /// This one, whatever is excluded.
    Named(WorkspacePath),
}

/// Difference of a view from an older state.
#[derive(Default)]
pub struct ViewChanges {
    /// Files that are there.
    pub paths: BTreeSet<WorkspacePath>,
    pub gone: BTreeSet<WorkspacePath>,
    /// Number of files that are there and whose names are not UTF-8.
    pub not_utf8: u64,
    /// The older state, for a request that asks only for new findings.
    pub before: Option<Arc<dyn View>>,
}

/// Result of a check of a view.
#[derive(Debug, Clone)]
pub struct CheckedView {
    pub report: Report,
    /// Entries of the baseline for which there is no finding any more.
    pub stale: Option<StaleBaseline>,
    /// One sentence for each rule that configuration files name and no linter has, if that was asked.
    pub unknown_rules: Vec<String>,
    /// Answers that were computed, the longest first, if that was asked.
    pub timings: Vec<AnswerTime>,
}

#[derive(Debug, Clone)]
pub struct StaleBaseline {
    /// The file that the configuration names; `None` for a list of the request.
    pub path: Option<WorkspacePath>,
    pub findings: u64,
}

/// Fixes in a view.
pub struct FixedView {
    /// The check that the fixes are made of.
    pub checked: CheckedView,
    pub fixed: Fixed,
}

impl fmt::Debug for FixedView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { checked, fixed } = self;
        f.debug_struct("FixedView")
            .field("checked", checked)
            .field("count", &fixed.count)
            .finish_non_exhaustive()
    }
}

/// A view that can be asked about.
pub(super) struct OpenView {
    pub(super) local: LocalView,
    /// Linters of the last request.
    pub(super) linters: Mutex<Option<Arc<LinterSet>>>,
}
