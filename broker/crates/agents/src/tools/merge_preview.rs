//! The tool that says whether branches go together.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::{
    DefinitionChange, EditPlace, MergePreview, MergePreviewRequest, PairPreview, ResolvedConflict,
};

use crate::{
    context::Context,
    limits::count,
    reply::{Answer, ToolError},
    wait::Waiting,
};

pub(super) const MERGE_PREVIEW: &str =
    "Whether branches go together, and what linters say of the merge alone.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Preview {
    /// One alone is merged with yours
    branches: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Previewed {
    ok: bool,
    /// Pairs with something to say.
    pairs: Vec<Pair>,
    /// Branches in an order in which they can land, each with those that it comes after.
    order: Vec<String>,
    looked_at: usize,
    skipped: usize,
    /// Pairs that there was no time for.
    not_looked_at: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Pair {
    a: String,
    b: String,
    lines: Vec<String>,
}

/// Lines of one pair.
const LINES: usize = 12;

/// Pairs in one answer.
const PAIRS: usize = 20;

pub(super) async fn merge_preview(context: Context, request: Preview) -> Result<Previewed, ToolError> {
    let mut names = HashMap::new();
    let mut branches = Vec::new();
    let own = (request.branches.len() == 1).then_some(None);
    for name in own.into_iter().chain(request.branches.iter().map(Some)) {
        let branch = context.expect_branch(name.map(String::as_str)).await?;
        names.insert(branch.id.clone(), branch.name);
        branches.push(branch.id);
    }
    let wait = Some(context.wait(Waiting::Check, None).await?);
    let preview = context.daemon.merge_preview(MergePreviewRequest { branches, wait }).await?;
    Ok(Previewed::of(&preview, &names))
}

impl Previewed {
    fn of(preview: &MergePreview, names: &HashMap<String, String>) -> Self {
        let name = |id: &String| names.get(id).unwrap_or(id).clone();
        let landing = |it: &workspaces::Landing| match it.after.as_slice() {
            [] => name(&it.branch),
            after => format!(
                "{} after {}",
                name(&it.branch),
                after.iter().map(name).collect::<Vec<_>>().join(", ")
            ),
        };
        let pair = |it: &PairPreview| Pair { a: name(&it.a), b: name(&it.b), lines: lines(it, &name) };
        Self {
            ok: !preview.has_conflicts() && preview.is_complete(),
            pairs: preview.pairs.iter().map(pair).collect(),
            order: preview.order.iter().map(landing).collect(),
            looked_at: preview.looked_at,
            skipped: preview.skipped,
            not_looked_at: preview.not_looked_at,
        }
    }
}

/// What there is to say of a pair, one line each.
fn lines(it: &PairPreview, name: &impl Fn(&String) -> String) -> Vec<String> {
    let mut lines: Vec<_> = it.conflicts.iter().map(conflict).collect();
    for it in &it.definitions {
        let (what, how) = match it.change {
            DefinitionChange::Gone => ("is gone", "used"),
            DefinitionChange::Signature => ("has other parameters", "used"),
            DefinitionChange::Added => ("is added", "added as well"),
        };
        let (by, used) = (name(&it.changed_by), place(&it.used));
        lines.push(format!(
            "possible: `{}` {what} in {by} ({}), {how} at {used}",
            it.name,
            place(&it.changed)
        ));
    }
    for it in &it.findings {
        let edits: Vec<_> = it.edits.iter().flatten().map(place).collect();
        let by = if edits.is_empty() { String::new() } else { format!(" (by {})", edits.join(" and ")) };
        lines.push(format!("{}:{}:{} {} {}{by}", it.path, it.at.line, it.at.column, it.rule, it.message));
    }
    lines.extend(it.not_computed.iter().map(|it| format!("not computed: {it}")));
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    lines.extend((more > 0).then(|| format!("… {more} more")));
    lines
}

/// The conflict of a path, with its lines and without their texts.
fn conflict(it: &ResolvedConflict) -> String {
    let mut told = it.reason.lines();
    let first = told.next().unwrap_or_default();
    let places: Vec<_> = told.filter(|it| it.starts_with("line")).collect();
    if places.is_empty() { first.to_owned() } else { format!("{first}: {}", places.join(", ")) }
}

fn place(it: &EditPlace) -> String {
    format!("{}:{}", it.path, it.line)
}

impl Answer for Previewed {
    fn text(&self) -> String {
        let mut text = match self.ok {
            true => "ok: they go together".to_owned(),
            false => format!("{} with something to say", count(self.pairs.len(), "pair", "pairs")),
        };
        for Pair { a, b, lines } in self.pairs.iter().take(PAIRS) {
            text.push_str(&format!("\n{a} and {b}"));
            lines.iter().for_each(|it| text.push_str(&format!("\n  {it}")));
        }
        if self.pairs.len() > PAIRS {
            text.push_str(&format!("\n… {} more pairs", self.pairs.len() - PAIRS));
        }
        if self.not_looked_at > 0 {
            text.push_str(&format!(
                "\n{} not looked at for lack of time",
                count(self.not_looked_at, "pair", "pairs")
            ));
        }
        if !self.ok {
            text.push_str(&format!("\nthey can land in this order: {}", self.order.join("; ")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use overlay::WorkspacePath;
    use workspaces::{DefinitionConflict, Landing};

    use super::*;

    #[test]
    fn a_pair_is_told_in_few_lines() {
        let at = |path: &str, line| EditPlace {
            path: WorkspacePath::new(path).unwrap(),
            line,
            text: String::new(),
        };
        let reason =
            "`a.py` was changed on both sides, at the same place\nline 4\nbase:\n  x\nlines 8-9\nbase:\n  y";
        let pair = PairPreview {
            a: "1".to_owned(),
            b: "2".to_owned(),
            conflicts: vec![ResolvedConflict {
                path: WorkspacePath::new("a.py").unwrap(),
                reason: reason.to_owned(),
            }],
            definitions: vec![DefinitionConflict {
                name: "f".to_owned(),
                change: DefinitionChange::Gone,
                changed_by: "1".to_owned(),
                changed: at("b.py", 3),
                used: at("c.py", 5),
            }],
            not_computed: vec!["pyright: gone".to_owned(); 20],
            ..PairPreview::default()
        };
        let order = ["1", "2"].map(|it| Landing { branch: it.to_owned(), after: Vec::new() });
        let preview = MergePreview {
            pairs: vec![pair],
            looked_at: 1,
            order: order.to_vec(),
            ..MergePreview::default()
        };
        let names = HashMap::from([("1".to_owned(), "one".to_owned()), ("2".to_owned(), "two".to_owned())]);
        let text = Previewed::of(&preview, &names).text();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[..4],
            [
                "1 pair with something to say",
                "one and two",
                "  `a.py` was changed on both sides, at the same place: line 4, lines 8-9",
                "  possible: `f` is gone in one (b.py:3), used at c.py:5",
            ]
        );
        assert_eq!(lines[lines.len() - 2..], ["  … 10 more", "they can land in this order: one; two"]);
        let none = Previewed::of(&MergePreview::default(), &names);
        assert_eq!(none.text(), "ok: they go together");
    }
}
