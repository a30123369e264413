//! Previews of merges.

use broker_proto::v1 as pb;
use lint::LineColumn;
use workspaces::{
    DefinitionChange, DefinitionConflict, EditPlace, Landing, MergePreview, MergedFinding, PairPreview,
};

use super::{Answer, checks::severity, conflict, path, paths, there};

pub(crate) fn merge_preview(it: pb::MergePreviewResponse) -> Answer<MergePreview> {
    let landing = |it: pb::Landing| Landing { branch: it.branch_id, after: it.after_branch_ids };
    Ok(MergePreview {
        pairs: it.pairs.into_iter().map(pair).collect::<Answer<_>>()?,
        looked_at: it.looked_at as usize,
        skipped: it.skipped as usize,
        not_looked_at: it.not_looked_at as usize,
        notes: it.notes,
        order: it.order.into_iter().map(landing).collect(),
    })
}

fn pair(it: pb::MergePair) -> Answer<PairPreview> {
    Ok(PairPreview {
        a: it.a_branch_id,
        b: it.b_branch_id,
        conflicts: it.conflicts.into_iter().map(conflict).collect::<Answer<_>>()?,
        definitions: it.definitions.into_iter().map(definition).collect::<Answer<_>>()?,
        findings: it.findings.into_iter().map(finding).collect::<Answer<_>>()?,
        merged_by_syntax: paths(&it.merged_by_syntax_paths)?,
        not_computed: it.not_computed,
    })
}

fn definition(it: pb::DefinitionConflict) -> Answer<DefinitionConflict> {
    let change = match it.change() {
        pb::DefinitionChange::Gone | pb::DefinitionChange::Unspecified => DefinitionChange::Gone,
        pb::DefinitionChange::Signature => DefinitionChange::Signature,
        pb::DefinitionChange::Added => DefinitionChange::Added,
    };
    Ok(DefinitionConflict {
        name: it.name,
        change,
        changed_by: it.changed_by_branch_id,
        changed: place(there(it.changed, "the place of a definition")?)?,
        used: place(there(it.used, "the place of a use")?)?,
    })
}

fn finding(it: pb::MergedFinding) -> Answer<MergedFinding> {
    let severity = severity(it.severity());
    let at = there(it.at, "the place of a finding")?;
    Ok(MergedFinding {
        path: path(&it.path)?,
        at: LineColumn { line: at.line, column: at.column },
        rule: it.rule,
        severity,
        message: it.message,
        edits: [it.a_edit.map(place).transpose()?, it.b_edit.map(place).transpose()?],
    })
}

fn place(it: pb::EditPlace) -> Answer<EditPlace> {
    Ok(EditPlace { path: path(&it.path)?, line: it.line, text: it.text })
}
