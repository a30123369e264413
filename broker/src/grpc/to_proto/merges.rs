//! Previews of merges.

use broker_proto::v1 as pb;
use workspaces::{
    DefinitionChange, DefinitionConflict, EditPlace, Landing, MergePreview, MergedFinding, PairPreview,
};

use super::{conflict, count, paths, severity};

pub(crate) fn merge_preview(it: MergePreview) -> pb::MergePreviewResponse {
    let landing = |it: Landing| pb::Landing { branch_id: it.branch, after_branch_ids: it.after };
    pb::MergePreviewResponse {
        pairs: it.pairs.into_iter().map(pair).collect(),
        looked_at: count(it.looked_at),
        skipped: count(it.skipped),
        not_looked_at: count(it.not_looked_at),
        notes: it.notes,
        order: it.order.into_iter().map(landing).collect(),
    }
}

fn pair(it: PairPreview) -> pb::MergePair {
    pb::MergePair {
        a_branch_id: it.a,
        b_branch_id: it.b,
        conflicts: it.conflicts.into_iter().map(conflict).collect(),
        definitions: it.definitions.into_iter().map(definition).collect(),
        findings: it.findings.into_iter().map(finding).collect(),
        merged_by_syntax_paths: paths(&it.merged_by_syntax),
        not_computed: it.not_computed,
    }
}

fn definition(it: DefinitionConflict) -> pb::DefinitionConflict {
    let change = match it.change {
        DefinitionChange::Gone => pb::DefinitionChange::Gone,
        DefinitionChange::Signature => pb::DefinitionChange::Signature,
        DefinitionChange::Added => pb::DefinitionChange::Added,
    };
    pb::DefinitionConflict {
        name: it.name,
        change: change.into(),
        changed_by_branch_id: it.changed_by,
        changed: Some(place(it.changed)),
        used: Some(place(it.used)),
    }
}

fn finding(it: MergedFinding) -> pb::MergedFinding {
    let [a_edit, b_edit] = it.edits.map(|it| it.map(place));
    pb::MergedFinding {
        path: it.path.to_string(),
        at: Some(pb::Position { line: it.at.line, column: it.at.column }),
        rule: it.rule,
        severity: severity(it.severity).into(),
        message: it.message,
        a_edit,
        b_edit,
    }
}

fn place(it: EditPlace) -> pb::EditPlace {
    pb::EditPlace { path: it.path.to_string(), line: it.line, text: it.text }
}
