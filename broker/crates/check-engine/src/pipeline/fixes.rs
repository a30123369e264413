//! Makes fixes in files, and checks those files again until nothing is left to fix. A fix that does harm is taken
//! back: one after which the file cannot be parsed or checked any more, or has errors that it had not.
//!
//! Nothing is written: what comes out is a branch. Cells of notebooks are not fixed.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fmt,
    sync::Arc,
};

use bytes::Bytes;
use lint::{Applicability, Severity, Unit, counted};
use overlay::{Branch, ContentHash, View, WorkspacePath};

use super::{BaselineUse, Collector, PolicyCache, Request, check};
use crate::{
    Engine, Files, Finding, Level, Refused, Report, RuleRef, Wanted,
    baseline::Baseline,
    fix::{self, Choice, FixId, Order},
};

/// Limit on the rounds of fixing and checking a file again; ruff has the same.
const ROUNDS: usize = 100;

/// The files after all fixes.
pub struct Fixed {
    pub branch: Branch,
    /// The fixed files, links followed, with the hash of the text that each was checked with. The view may show another
    /// meanwhile, which a fix is not to replace.
    pub before: BTreeMap<WorkspacePath, ContentHash>,
    /// Number of fixes that were made.
    pub count: usize,
    pub notes: Vec<FixNote>,
}

/// Note about findings that were not fixed or suppressed, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FixNote {
    /// The file cannot be edited.
    NotEdited { path: WorkspacePath, reason: String },
    /// The fix does harm even when it is made alone.
    Harmful { path: WorkspacePath, rule: String, harm: String },
    /// Fixes still led to fixes after the last round.
    Circles { rules: Vec<String> },
    /// Findings in notebooks that could be fixed.
    Notebooks { count: usize },
    /// No comment can suppress the findings on this line.
    NotSuppressed { path: WorkspacePath, line: u32, reason: String },
}

/// A file with something left to fix.
pub(super) struct Open {
    pub(super) unit: Unit,
    pub(super) findings: Vec<Finding>,
    is_complete: bool,
    /// Number of syntax errors, with those that are suppressed.
    syntax_errors: usize,
    /// Limit of the fixes that are made at once.
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
pub struct Fixer<'a> {
    pub engine: &'a Engine,
    pub cache: &'a PolicyCache,
    /// Request with which files are checked again.
    pub request: &'a Request,
    /// The least sure fixes that are made.
    pub least: Applicability,
    /// Baseline whose findings are not fixed.
    pub baseline: Option<Arc<Baseline>>,
}

impl Fixer<'_> {
    /// Makes the fixes of what `report` tells of `files`, and of what comes up on the way.
    pub async fn fix(&self, files: &Files, report: &Report) -> Result<Fixed, Refused> {
        let branch = Branch::new(Arc::clone(&self.request.view));
        let mut fixed = Fixed {
            branch,
            before: BTreeMap::new(),
            count: 0,
            notes: self.notebooks(report).into_iter().collect(),
        };
        let mut open = opened(&files.units, report);
        let mut last = Vec::new();
        for _ in 0..ROUNDS {
            let tried = self.try_all(&mut fixed, &mut open);
            if tried.is_empty() {
                return Ok(fixed);
            }
            last = self.judge(&mut fixed, &mut open, tried).await?;
        }
        if !last.is_empty() && !open.is_empty() {
            let rules: BTreeSet<_> = last.iter().map(|it| it.to_string()).collect();
            fixed.notes.push(FixNote::Circles { rules: rules.into_iter().collect() });
        }
        Ok(fixed)
    }

    /// Makes in each open file what can be made at once. Files with nothing left are open no more.
    fn try_all(&self, fixed: &mut Fixed, open: &mut BTreeMap<WorkspacePath, Open>) -> Vec<Tried> {
        let mut tried = Vec::new();
        open.retain(|path, file| {
            let picked = fix::pick(&file.findings, &file.choice(self.least));
            let Ok(before) = fixed.branch.snapshot().open(path) else { return false };
            let content = ContentHash::of(&before);
            // Findings for a text that is gone are of no use: a link may lead to a file just fixed.
            let is_for = |it: &Finding| it.file.content == Some(content);
            if picked.fixes.is_empty() || !file.findings.iter().all(is_for) {
                return false;
            }
            if let Err(error) = fixed.branch.edit_text_if(path, content, &picked.edits) {
                let (path, reason) = (path.clone(), error.to_string());
                fixed.notes.push(FixNote::NotEdited { path, reason });
                return false;
            }
            let real = fixed.branch.snapshot().resolve(path).unwrap_or_else(|_| path.clone());
            fixed.before.entry(real).or_insert(content);
            tried.push(Tried { path: path.clone(), before, fixes: picked.fixes });
            true
        });
        tried
    }

    /// Checks the files again; what did harm to one is taken back. The rules whose fixes stay.
    async fn judge(
        &self,
        fixed: &mut Fixed,
        open: &mut BTreeMap<WorkspacePath, Open>,
        tried: Vec<Tried>,
    ) -> Result<Vec<Arc<RuleRef>>, Refused> {
        let units = tried.iter().filter_map(|it| open.get(&it.path)).map(|it| it.unit.clone()).collect();
        let view: Arc<dyn View> = Arc::new(fixed.branch.snapshot());
        let files = Files { units, ..Files::default() };
        let report = self.check(view, files).await?;
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
            restored.map_err(|error| Refused::Broken(format!("a fix cannot be taken back: {error}")))?;
            if it.fixes.len() > 1 {
                // A combination of them does harm: fewer are made at once.
                before.limit = it.fixes.len() / 2;
                before.order = Order::RemovalsLast;
            } else {
                let rule = it.fixes[0].rule.to_string();
                fixed.notes.push(FixNote::Harmful { path: it.path, rule, harm });
                before.refused.extend(it.fixes);
            }
        }
        Ok(made)
    }

    pub(super) async fn check(&self, view: Arc<dyn View>, files: Files) -> Result<Report, Refused> {
        let mut request = self.request.about(view, Wanted::Files(files));
        if let Some(baseline) = &self.baseline {
            request.policy.baseline = BaselineUse::This(Arc::clone(baseline));
        }
        let mut collector = Collector::new(Arc::new(|_| ()));
        let outcome = check(self.engine, self.cache, &request, &mut collector).await?;
        Ok(collector.finish(&outcome).report)
    }

    fn notebooks(&self, report: &Report) -> Option<FixNote> {
        let is_left =
            |it: &&Finding| it.cell.is_some() && it.fixes.iter().any(|it| it.applicability >= self.least);
        let count = report.findings.iter().filter(is_left).count();
        (count > 0).then_some(FixNote::Notebooks { count })
    }
}

/// The files that findings are of.
pub(super) fn opened<'u>(
    units: impl IntoIterator<Item = &'u Unit>,
    report: &Report,
) -> BTreeMap<WorkspacePath, Open> {
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

/// Returns why a file is worse than it was before; `None` if it is not.
///
/// A new finding that can be fixed in its turn is none.
pub(super) fn harm(before: &Open, after: &Open) -> Option<String> {
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

    /// Takes over the findings after a round.
    fn go_on(&mut self, after: Self) {
        let refused = std::mem::take(&mut self.refused);
        *self = Self { refused, order: self.order, ..after };
    }
}

impl FixNote {
    /// The note as a sentence in which a path is `shown`.
    pub fn text(&self, shown: impl Fn(&WorkspacePath) -> String) -> String {
        match self {
            Self::NotEdited { path, reason } => format!("{} is not fixed: {reason}", shown(path)),
            Self::Harmful { path, rule, harm } => {
                format!("the fix of {rule} in {} was not made: {harm}", shown(path))
            }
            Self::Circles { rules } => {
                format!(
                    "after {ROUNDS} rounds fixes still lead to fixes; those of {} go in circles",
                    rules.join(", ")
                )
            }
            Self::Notebooks { count } => {
                format!("notebooks are not fixed: {} in them could be", counted(*count, "finding"))
            }
            Self::NotSuppressed { path, line, reason } => {
                format!("{}:{line}: not suppressed: {reason}", shown(path))
            }
        }
    }
}

impl fmt::Display for FixNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(WorkspacePath::to_string))
    }
}
