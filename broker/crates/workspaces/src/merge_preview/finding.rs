//! Findings of a merge that neither branch has, and the edits that they come from.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use check_engine::{Finding, RuleRef, pipeline::Reported};
use lint::{Fingerprint, LineColumn, Severity};
use overlay::{Snapshot, View, WorkspacePath};

use super::{
    Checked,
    edit::{Edit, EditPlace, words},
    side::Side,
};

/// Findings of one pair that are told.
const MAX_FINDINGS: usize = 100;

/// A finding of merged files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedFinding {
    pub path: WorkspacePath,
    /// Place in the merged text.
    pub at: LineColumn,
    /// Linter and code.
    pub rule: String,
    pub severity: Severity,
    pub message: String,
    /// The edits, one of each branch, that are nearest to it by file, line and names; `None` where none has to do with it.
    pub edits: [Option<EditPlace>; 2],
}

/// Identity of a finding: the same in texts of which other parts differ.
type Identity = (WorkspacePath, Arc<RuleRef>, Fingerprint);

/// Returns what is new in the merge and new in neither branch, and the number of findings beyond those that are told.
pub(super) fn in_neither(
    merged: &Snapshot,
    checked: &Checked,
    sides: [&Side; 2],
) -> (Vec<MergedFinding>, usize) {
    let mut known: HashMap<Identity, usize> = HashMap::new();
    for side in sides {
        for (identity, _) in identified(&side.snapshot, &side.checked.new) {
            *known.entry(identity).or_default() += 1;
        }
    }
    let is_in_neither = |(identity, _): &(Identity, &Finding)| match known.get_mut(identity) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    let found = identified(merged, &checked.new);
    let found: Vec<_> = found.into_iter().filter(is_in_neither).collect();
    let more = found.len().saturating_sub(MAX_FINDINGS);
    let told = found.into_iter().take(MAX_FINDINGS).map(|(_, it)| MergedFinding::of(it, merged, sides));
    (told.collect(), more)
}

fn identified<'f>(view: &dyn View, findings: &'f [Reported]) -> Vec<(Identity, &'f Finding)> {
    let mut by_path: BTreeMap<&WorkspacePath, Vec<&Finding>> = BTreeMap::new();
    findings.iter().for_each(|it| by_path.entry(&it.0.file.path).or_default().push(&it.0));
    let of_file = |(path, findings): (&WorkspacePath, Vec<&'f Finding>)| {
        let text = view.read(path).unwrap_or_default();
        let keys: Vec<_> = findings.iter().map(|it| it.key()).collect();
        let kinds = Fingerprint::kinds(&text, &keys);
        let identity =
            |(it, kind): (&'f Finding, Fingerprint)| ((path.clone(), Arc::clone(&it.rule), kind), it);
        findings.into_iter().zip(kinds).map(identity).collect::<Vec<_>>()
    };
    by_path.into_iter().flat_map(of_file).collect()
}

impl MergedFinding {
    fn of(it: &Finding, merged: &Snapshot, sides: [&Side; 2]) -> Self {
        let names = names(it, merged);
        Self {
            path: it.file.path.clone(),
            at: it.range.start,
            rule: it.rule.to_string(),
            severity: it.severity,
            message: it.message.to_string(),
            edits: sides.map(|side| cause(it, &names, side)),
        }
    }
}

/// Identifiers in the text under the finding, and in quotes in its message.
fn names(it: &Finding, merged: &Snapshot) -> BTreeSet<String> {
    let text = merged.read(&it.file.path).unwrap_or_default();
    let span = it.span.start as usize..(it.span.end as usize).min(text.len());
    let under = text.get(span).and_then(|it| str::from_utf8(it).ok()).unwrap_or_default();
    let under = under.lines().next().unwrap_or_default();
    let quoted = it.message.split(['`', '"', '\'']).skip(1).step_by(2);
    words(under).into_iter().chain(quoted.flat_map(words)).map(str::to_owned).collect()
}

/// The edit of the branch that has most to do with the finding.
fn cause(it: &Finding, names: &BTreeSet<String>, side: &Side) -> Option<EditPlace> {
    let likeness = |edit: &Edit| {
        let has_name = names.iter().any(|it| edit.added.contains(it) || edit.removed.contains(it));
        let is_same_file = edit.path == it.file.path;
        let distance = edit.lines.line.abs_diff(it.range.start.line);
        let is_near = is_same_file && distance <= 1;
        (has_name || is_same_file).then_some((has_name, is_near, is_same_file, u32::MAX - distance))
    };
    let edits = side.edits.iter().filter_map(|edit| Some((likeness(edit)?, edit)));
    let best = edits.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, edit)| edit.place())
}
