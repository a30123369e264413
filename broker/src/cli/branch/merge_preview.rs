//! `broker branch merge-preview`

use std::{collections::HashMap, fmt::Write as _, time::Duration};

use lint::{counted, printable, printable_text};
use overlay::WorkspacePath;
use serde::Serialize;
use workspaces::{
    DefinitionChange, DefinitionConflict, EditPlace, MergePreviewRequest, MergedFinding, PairPreview,
};

use super::Shape;
use crate::{
    CliError, Exit,
    cli::{Session, run::quantity},
    client::Opened,
};

/// Say whether branches go together
///
/// Merges them in pairs, in memory, and checks the results: what conflicts, what one changed and the other uses, and what the
/// linters find that they find in neither branch, each with the two edits. Pairs that cannot touch each other are passed
/// over: neither branch writes what the other writes, or what its answers rest on. Then the branches are listed in an
/// order in which they can land. Nothing is changed.
///
/// Exits with 0 if all go together, with 1 if some do not, and with 2 if something was not computed or there was no time for
/// some pairs.
#[derive(Debug, clap::Args)]
pub(super) struct MergePreview {
    #[arg(value_name = "BRANCH", num_args = 2.., required = true)]
    branches: Vec<String>,

    /// Answer after this time with what is known, such as `20s` or `5m` [default: 60s]
    #[arg(long, value_parser = quantity::time, value_name = "TIME")]
    wait: Option<Duration>,

    #[command(flatten)]
    shape: Shape,
}

/// The answer, with branches by their names.
#[derive(Debug, Serialize)]
struct Preview {
    pairs: Vec<Pair>,
    looked_at: usize,
    skipped: usize,
    not_looked_at: usize,
    notes: Vec<String>,
    order: Vec<Landing>,
}

#[derive(Debug, Serialize)]
struct Pair {
    a: String,
    b: String,
    conflicts: Vec<Conflict>,
    definitions: Vec<Definition>,
    findings: Vec<Finding>,
    merged_by_syntax: Vec<String>,
    not_computed: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Conflict {
    path: String,
    reason: String,
}

#[derive(Debug, Serialize)]
struct Definition {
    name: String,
    change: &'static str,
    changed_by: String,
    changed: Place,
    used: Place,
}

#[derive(Debug, Serialize)]
struct Finding {
    path: String,
    line: u32,
    column: u32,
    rule: String,
    severity: &'static str,
    message: String,
    a_edit: Option<Place>,
    b_edit: Option<Place>,
}

#[derive(Debug, Serialize)]
struct Place {
    path: String,
    line: u32,
    text: String,
}

#[derive(Debug, Serialize)]
struct Landing {
    branch: String,
    after: Vec<String>,
}

pub(super) fn run(args: &MergePreview, open: &Opened, session: &mut Session) -> Result<Exit, CliError> {
    let mut names = HashMap::new();
    let mut branches = Vec::new();
    for name in &args.branches {
        let branch = open.branch(name)?;
        names.insert(branch.id.to_string(), branch.name);
        branches.push(branch.id.to_string());
    }
    let request = MergePreviewRequest { branches, wait: args.wait };
    let answer = open.client.wait(open.client.daemon().merge_preview(request))?;
    let exit = match (answer.is_complete(), answer.has_conflicts()) {
        (false, _) => Exit::Abnormal,
        (true, true) => Exit::Findings,
        (true, false) => Exit::Clean,
    };
    let shown = Shown { open, names };
    let landing = |it: &workspaces::Landing| Landing {
        branch: shown.name(&it.branch),
        after: it.after.iter().map(|it| shown.name(it)).collect(),
    };
    let preview = Preview {
        pairs: answer.pairs.iter().map(|it| shown.pair(it)).collect(),
        looked_at: answer.looked_at,
        skipped: answer.skipped,
        not_looked_at: answer.not_looked_at,
        notes: answer.notes.clone(),
        order: answer.order.iter().map(landing).collect(),
    };
    args.shape.print(session, &preview, || preview.render())?;
    Ok(exit)
}

/// Translation of handles to names, and of paths to those of the current folder.
struct Shown<'a> {
    open: &'a Opened,
    names: HashMap<String, String>,
}

impl Shown<'_> {
    fn name(&self, id: &str) -> String {
        self.names.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }

    fn path(&self, path: &WorkspacePath) -> String {
        self.open.display(path.as_str())
    }

    fn pair(&self, it: &PairPreview) -> Pair {
        let conflicts = it.conflicts.iter();
        let conflict = |it: &workspaces::ResolvedConflict| Conflict {
            path: self.path(&it.path),
            reason: it.reason.clone(),
        };
        Pair {
            a: self.name(&it.a),
            b: self.name(&it.b),
            conflicts: conflicts.map(conflict).collect(),
            definitions: it.definitions.iter().map(|it| self.definition(it)).collect(),
            findings: it.findings.iter().map(|it| self.finding(it)).collect(),
            merged_by_syntax: it.merged_by_syntax.iter().map(|it| self.path(it)).collect(),
            not_computed: it.not_computed.clone(),
        }
    }

    fn definition(&self, it: &DefinitionConflict) -> Definition {
        let change = match it.change {
            DefinitionChange::Gone => "gone",
            DefinitionChange::Signature => "signature",
            DefinitionChange::Added => "added",
        };
        let (name, changed_by) = (it.name.clone(), self.name(&it.changed_by));
        Definition { name, change, changed_by, changed: self.place(&it.changed), used: self.place(&it.used) }
    }

    fn finding(&self, it: &MergedFinding) -> Finding {
        let [a_edit, b_edit] = it.edits.each_ref().map(|it| it.as_ref().map(|it| self.place(it)));
        Finding {
            path: self.path(&it.path),
            line: it.at.line,
            column: it.at.column,
            rule: it.rule.clone(),
            severity: it.severity.name(),
            message: it.message.clone(),
            a_edit,
            b_edit,
        }
    }

    fn place(&self, it: &EditPlace) -> Place {
        Place { path: self.path(&it.path), line: it.line, text: it.text.clone() }
    }
}

impl Preview {
    fn render(&self) -> String {
        let mut text = String::new();
        self.pairs.iter().for_each(|it| it.render(&mut text));
        let pairs = self.looked_at + self.skipped + self.not_looked_at;
        let _to_a_string = writeln!(
            text,
            "{}: {} merged and checked, {} passed over, where neither branch writes what the other's answers rest on",
            counted(pairs, "pair"),
            self.looked_at,
            self.skipped
        );
        for note in &self.notes {
            let _to_a_string = writeln!(text, "note: {note}");
        }
        for Landing { branch, after } in &self.order {
            let when =
                if after.is_empty() { "now".to_owned() } else { format!("after {}", after.join(", ")) };
            let _to_a_string = writeln!(text, "land {branch}  {when}");
        }
        text
    }
}

impl Pair {
    fn render(&self, text: &mut String) {
        let Self { a, b, .. } = self;
        let _to_a_string = writeln!(text, "{a} and {b}");
        for it in &self.conflicts {
            let reason = printable_text(&it.reason).replace('\n', "\n    ");
            let _to_a_string = writeln!(text, "  conflict  {reason}");
        }
        for it in &self.definitions {
            let (what, used) = match it.change {
                "gone" => ("is gone", "used"),
                "added" => ("is added", "added as well"),
                _ => ("has other parameters", "used"),
            };
            let _to_a_string = writeln!(
                text,
                "  possible  `{}` {what} in {}: {}; {used}: {}",
                it.name,
                it.changed_by,
                it.changed.shown(),
                it.used.shown()
            );
        }
        for it in &self.findings {
            let Finding { path, line, column, rule, message, .. } = it;
            let _to_a_string = writeln!(text, "  {path}:{line}:{column} {rule} {}", printable(message));
            for (branch, edit) in [(a, &it.a_edit), (b, &it.b_edit)] {
                let edit = edit.as_ref().map(|edit| format!("    {branch}: {}\n", edit.shown()));
                text.push_str(&edit.unwrap_or_default());
            }
        }
        for reason in &self.not_computed {
            let _to_a_string = writeln!(text, "  not computed: {}", printable(reason));
        }
    }
}

impl Place {
    fn shown(&self) -> String {
        format!("{}:{} {}", self.path, self.line, printable(&self.text))
    }
}
