//! `--fix`: makes fixes in a branch, checks again, until there is nothing left to fix, and only then
//! writes to the disk.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::Path,
    sync::Arc,
};

use bytes::Bytes;
use checker::{
    Files, Finding, Level, Report, RuleRef,
    baseline::Baseline,
    fix::{self, Choice, FixId, Order},
};
use config::root::WorkspaceRoot;
use lint::{Applicability, Severity, Unit, counted};
use overlay::{Branch, ContentHash, Snapshot, View, WorkspacePath, unified};

use super::{
    inspect::{Inspected, Inspector},
    write,
};
use crate::{CliError, console::Messages};

/// Fixes
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct FixArgs {
    /// Make the fixes that keep what the code means
    #[arg(long, help_heading = "Fixes")]
    pub(super) fix: bool,

    /// With `--fix` or `--diff`: fixes that may change what the code means, too
    #[arg(long, help_heading = "Fixes")]
    pub(super) unsafe_fixes: bool,

    /// Print the changes that `--fix` would make as a patch, and write nothing
    #[arg(long, help_heading = "Fixes", conflicts_with_all = ["statistics", "baseline_update", "baseline_prune"])]
    pub(super) diff: bool,
}

/// So often a file is fixed and checked again, at most, as with ruff.
const ROUNDS: usize = 100;

impl FixArgs {
    pub(super) fn is_asked(&self) -> bool {
        self.fix || self.diff
    }

    pub(super) fn check(&self) -> Result<(), CliError> {
        if self.unsafe_fixes && !self.is_asked() {
            let error = CliError::usage("--unsafe-fixes says which fixes to make, not to make any");
            return Err(error.hint("give `--fix` as well, or `--diff`"));
        }
        Ok(())
    }

    fn least(&self) -> Applicability {
        if self.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe }
    }
}

/// The files after all fixes.
pub(super) struct Fixed {
    branch: Branch,
    /// How many fixes were made.
    pub(super) count: usize,
}

/// A file with something left to fix.
struct Open {
    unit: Unit,
    findings: Vec<Finding>,
    is_complete: bool,
    /// With those that are suppressed.
    syntax_errors: usize,
    /// How many fixes are made at once.
    limit: usize,
    order: Order,
    /// Fixes that do harm even when they are made alone.
    refused: HashSet<FixId>,
}

/// A file in which fixes were just made.
struct Tried {
    path: WorkspacePath,
    before: Bytes,
    fixes: Vec<FixId>,
}

/// Fixes one set of files.
pub(super) struct Fixer<'a> {
    pub(super) inspector: &'a Inspector<'a>,
    pub(super) workspace: &'a WorkspaceRoot,
    pub(super) args: &'a FixArgs,
    pub(super) baseline: Option<&'a Baseline>,
}

impl Fixer<'_> {
    /// Makes the fixes of what `report` tells of `files`, and of what comes up on the way.
    pub(super) fn fix(
        &self,
        view: &Arc<dyn View>,
        files: &Files,
        report: &Report,
    ) -> Result<Fixed, CliError> {
        let mut fixed = Fixed { branch: Branch::new(Arc::clone(view)), count: 0 };
        let mut open = opened(&files.units, report);
        self.tell_of_notebooks(report);
        let mut last = Vec::new();
        for _ in 0..ROUNDS {
            let tried = self.try_all(&mut fixed.branch, &mut open);
            if tried.is_empty() {
                return Ok(fixed);
            }
            last = self.judge(&mut fixed, &mut open, tried)?;
        }
        if !last.is_empty() && !open.is_empty() {
            let rules: BTreeSet<_> = last.iter().map(|it| it.to_string()).collect();
            let rules = rules.into_iter().collect::<Vec<_>>().join(", ");
            self.warn(&format!(
                "after {ROUNDS} rounds fixes still lead to fixes; those of {rules} go in circles"
            ));
        }
        Ok(fixed)
    }

    /// Makes in each open file what can be made at once. Files with nothing left are open no more.
    fn try_all(&self, branch: &mut Branch, open: &mut BTreeMap<WorkspacePath, Open>) -> Vec<Tried> {
        let mut tried = Vec::new();
        open.retain(|path, file| {
            let picked = fix::pick(&file.findings, &file.choice(self.args.least()));
            let Ok(before) = branch.snapshot().open(path) else { return false };
            let content = ContentHash::of(&before);
            // Findings for a text that is gone are of no use: a link may lead to a file just fixed.
            let is_for = |it: &Finding| it.file.content == Some(content);
            if picked.fixes.is_empty() || !file.findings.iter().all(is_for) {
                return false;
            }
            if let Err(error) = branch.edit_text_if(path, content, &picked.edits) {
                self.warn(&format!("{} is not fixed: {error}", self.workspace.shown(path)));
                return false;
            }
            tried.push(Tried { path: path.clone(), before, fixes: picked.fixes });
            true
        });
        tried
    }

    /// Checks the files again; what did harm to one is taken back. The rules whose fixes stay.
    fn judge(
        &self,
        fixed: &mut Fixed,
        open: &mut BTreeMap<WorkspacePath, Open>,
        tried: Vec<Tried>,
    ) -> Result<Vec<Arc<RuleRef>>, CliError> {
        let units = tried.iter().filter_map(|it| open.get(&it.path)).map(|it| it.unit.clone()).collect();
        let view: Arc<dyn View> = Arc::new(fixed.branch.snapshot());
        let files = Files { units, ..Files::default() };
        let Inspected { report, .. } = self.inspector.inspect(&view, files, None, self.baseline)?;
        let mut now = opened(open.values().map(|it| &it.unit), &report);
        let mut made = Vec::new();
        for it in tried {
            let Some(after) = now.remove(&it.path) else { continue };
            let Some(before) = open.get_mut(&it.path) else { continue };
            let Some(harm) = harm(before, &after) else {
                fixed.count += it.fixes.len();
                made.extend(it.fixes.into_iter().map(|it| it.rule));
                before.go_on(after);
                continue;
            };
            let restored = fixed.branch.write(&it.path, it.before);
            restored.map_err(|error| CliError::files(error.to_string()))?;
            if it.fixes.len() > 1 {
                // Some of them do not get on with each other.
                before.limit = it.fixes.len() / 2;
                before.order = Order::RemovalsLast;
            } else {
                let (rule, shown) = (&it.fixes[0].rule, self.workspace.shown(&it.path));
                self.warn(&format!("the fix of {rule} in {shown} was not made: {harm}"));
                before.refused.extend(it.fixes);
            }
        }
        Ok(made)
    }

    fn tell_of_notebooks(&self, report: &Report) {
        let is_left = |it: &&Finding| {
            it.cell.is_some() && it.fixes.iter().any(|it| it.applicability >= self.args.least())
        };
        let count = report.findings.iter().filter(is_left).count();
        if count > 0 {
            self.warn(&format!("notebooks are not fixed: {} in them could be", counted(count, "finding")));
        }
    }

    fn warn(&self, text: &str) {
        self.inspector.messages.warning(&lint::printable(text));
    }
}

/// The files that findings are of.
fn opened<'u>(units: impl IntoIterator<Item = &'u Unit>, report: &Report) -> BTreeMap<WorkspacePath, Open> {
    let checked: BTreeMap<_, _> = report.checked.iter().map(|it| (&it.path, it)).collect();
    let open = |unit: &Unit| {
        let checked = checked.get(&unit.path);
        let open = Open {
            unit: unit.clone(),
            findings: Vec::new(),
            is_complete: checked.is_some_and(|it| it.level == Level::Complete),
            syntax_errors: checked.map_or(0, |it| it.coverage.syntax_errors),
            limit: usize::MAX,
            order: Order::InText,
            refused: HashSet::new(),
        };
        (unit.path.clone(), open)
    };
    let mut files: BTreeMap<_, _> = units.into_iter().map(open).collect();
    for finding in &report.findings {
        if let Some(file) = files.get_mut(&finding.file.path) {
            file.findings.push(finding.clone());
        }
    }
    files
}

/// Why what was made of a file is worse than what it was; `None` if it is not.
///
/// A new finding that can be fixed in its turn is none.
fn harm(before: &Open, after: &Open) -> Option<String> {
    if after.syntax_errors > before.syntax_errors {
        return Some("the file could not be parsed any more".to_owned());
    }
    if before.is_complete && !after.is_complete {
        return Some("the file could not be checked any more".to_owned());
    }
    let errors = |it: &Open| {
        let errors = it.findings.iter().filter(|it| it.severity == Severity::Error && !it.is_fixable());
        errors.fold(HashMap::<_, usize>::new(), |mut counts, it| {
            *counts.entry((Arc::clone(&it.rule), Arc::clone(&it.message))).or_default() += 1;
            counts
        })
    };
    let (old, new) = (errors(before), errors(after));
    let mut added: Vec<_> =
        new.into_iter().filter(|(error, count)| old.get(error).unwrap_or(&0) < count).collect();
    added.sort();
    added.first().map(|((rule, message), _)| format!("it would lead to {rule}: {message}"))
}

impl Open {
    fn choice(&self, least: Applicability) -> Choice<'_> {
        Choice { least, limit: self.limit, order: self.order, refused: &self.refused }
    }

    /// With what is found after a round.
    fn go_on(&mut self, after: Self) {
        let refused = std::mem::take(&mut self.refused);
        *self = Self { refused, order: self.order, ..after };
    }
}

impl Fixed {
    pub(super) fn snapshot(&self) -> Snapshot {
        self.branch.snapshot()
    }

    /// The changes as a patch; empty if there are none.
    pub(super) fn patch(&self) -> Result<String, CliError> {
        const CONTEXT: usize = 3;
        let (after, before) = (self.snapshot(), self.snapshot().base_of());
        let changes = after.changes(&before);
        let patch = changes.and_then(|it| unified(&it, &before, &after, CONTEXT));
        patch.map_err(|error| CliError::files(format!("cannot compare: {error}")))
    }

    /// Writes the changes to the workspace, all or none.
    pub(super) fn commit(&self, root: &Path, messages: &Messages) -> Result<(), CliError> {
        write::fixes(&self.branch, root, messages)
    }
}
