//! Commands that begin, list and end branches.

use std::{collections::BTreeMap, fmt::Write as _};

use lint::printable;
use serde::Serialize;
use workspaces::{BranchInfo, DiscardMergedRequest, ForkRequest, JudgedBranch};

use super::Shape;
use crate::{
    CliError,
    cli::{Session, words},
    client::Opened,
};

/// Make a branch of the workspace, or of another branch, as it is now, and print its name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker branch fork                            a branch with a name that is made up
  broker branch fork try-it --label task=42     one with a name, and with something to remember
  broker branch fork other --from try-it        one that starts from another branch")]
pub(super) struct Fork {
    /// What to call it; made up if left out
    name: Option<String>,

    /// Start from this branch instead of the files on the disk
    #[arg(long, value_name = "BRANCH")]
    from: Option<String>,

    /// Something to remember with the branch; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    label: Vec<(String, String)>,

    #[command(flatten)]
    shape: Shape,
}

/// List the branches of this workspace
#[derive(Debug, clap::Args)]
pub(super) struct List {
    #[command(flatten)]
    shape: Shape,
}

/// Show what is known of a branch, with the files that changed on the disk since it touched them
#[derive(Debug, clap::Args)]
pub(super) struct Show {
    branch: String,

    #[command(flatten)]
    shape: Shape,
}

/// Forget branches for good; those forked from them stay
///
/// With `--merged`, branches whose work is done: the disk shows all that they changed. A branch is kept, with the reason, if anything
/// else would be lost with it: commits and references of git that the repository lacks, undone edits whose texts are nowhere else. So is
/// one on which a command runs, or that an agent's session used within the last 10 minutes. The history of a discarded branch is gone,
/// and with it the way to undo its commits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker branch discard try-it                  forget a branch with its edits
  broker branch discard --merged --dry-run      show which branches are done, and why others are not
  broker branch discard --merged                forget those that are done")]
pub(super) struct Discard {
    #[arg(required_unless_present = "merged", value_name = "BRANCH")]
    branches: Vec<String>,

    /// Forget all branches whose work is done, and say why others are kept
    #[arg(long, conflicts_with = "branches")]
    merged: bool,

    /// Show what would be forgotten, and forget nothing
    #[arg(long, requires = "merged", conflicts_with = "branches")]
    dry_run: bool,
}

#[derive(Serialize)]
struct Branch<'a> {
    name: &'a str,
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    parent_id: &'a str,
    revision: u64,
    created_ms: u64,
    changed_paths: usize,
    labels: BTreeMap<&'a str, &'a str>,
    /// Paths of conflicts, only where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts: Option<Vec<String>>,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("a label is KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

pub(super) fn fork(args: &Fork, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let request = ForkRequest {
        parent: open.target(args.from.as_deref())?,
        name: args.name.clone().unwrap_or_default(),
        labels: args.label.iter().cloned().collect(),
        request_id: None,
    };
    let forked = open.client.wait(open.client.daemon().fork_branch(request))?;
    args.shape.print(session, &Branch::of(&forked), || format!("{}\n", printable(&forked.name)))
}

pub(super) fn list(args: &List, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let branches = open.all_branches()?;
    let rows: Vec<_> = branches.iter().map(Branch::of).collect();
    args.shape.print(session, &rows, || table(&rows))
}

pub(super) fn show(args: &Show, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let found = open.look(&args.branch)?;
    let conflicts: Vec<_> = found.conflicts.iter().map(|it| open.display(it.as_str())).collect();
    let answer = Branch { conflicts: Some(conflicts), ..Branch::of(&found.info) };
    args.shape.print(session, &answer, || answer.render())
}

pub(super) fn discard(args: &Discard, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    if args.merged {
        return discard_merged(args.dry_run, open, session);
    }
    // A slip in one name keeps all of them.
    let branches = args.branches.iter().map(|it| open.branch(it)).collect::<Result<Vec<_>, _>>()?;
    for branch in branches {
        open.client.wait(open.client.daemon().discard_branch(&branch.id))?;
        session.print(&format!("discarded {}\n", printable(&branch.name)))?;
    }
    Ok(())
}

fn discard_merged(dry_run: bool, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let workspace = open.id.clone();
    let request = DiscardMergedRequest { workspace, branch: None, dry_run };
    let judged = open.client.wait(open.client.daemon().discard_merged(request))?;
    let done = if dry_run { "would discard" } else { "discarded" };
    let line = |it: &JudgedBranch| match &it.kept {
        None => format!("{done} {}\n", printable(&it.name)),
        Some(why) => format!("kept {}: {}\n", printable(&it.name), printable(why)),
    };
    session.print(&judged.iter().map(line).collect::<String>())
}

impl<'a> Branch<'a> {
    fn of(it: &'a BranchInfo) -> Self {
        Self {
            name: &it.name,
            id: &it.id,
            parent_id: it.parent.as_deref().unwrap_or_default(),
            revision: it.revision.0,
            created_ms: it.created_ms,
            changed_paths: it.changed_paths,
            labels: it.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect(),
            conflicts: None,
        }
    }

    fn render(&self) -> String {
        let parent = if self.parent_id.is_empty() { "the workspace" } else { self.parent_id };
        let changed = words::counted(self.changed_paths as u64, "path");
        let mut text = format!("branch    {}\n", printable(self.name));
        let _to_a_string = write!(
            text,
            "id        {}\nforked    {}, from {parent}\nrevision  {}\nchanged   {changed}\n",
            self.id,
            words::ago(self.created_ms),
            self.revision,
        );
        for (key, value) in &self.labels {
            let _to_a_string = writeln!(text, "label     {}={}", printable(key), printable(value));
        }
        for path in self.conflicts.iter().flatten() {
            let _to_a_string = writeln!(text, "conflict  {path} was changed on the disk as well");
        }
        text
    }
}

fn table(rows: &[Branch<'_>]) -> String {
    let names: Vec<_> = rows.iter().map(|it| printable(it.name)).collect();
    let width = names.iter().map(|it| it.chars().count()).max().unwrap_or_default().max(4);
    let mut text = String::new();
    if !rows.is_empty() {
        let _to_a_string = writeln!(text, "{:<width$}  REVISION  CHANGED  FORKED", "NAME");
    }
    for (name, it) in names.iter().zip(rows) {
        let forked = words::ago(it.created_ms);
        let _to_a_string =
            writeln!(text, "{name:<width$}  {:<8}  {:<7}  {forked}", it.revision, it.changed_paths);
    }
    text
}
