//! `broker branch commit`

use std::path::PathBuf;

use lint::printable;
use serde::Serialize;
use workspaces::CommitRequest;

use super::{Change, Expected, Shape};
use crate::{
    CliError,
    cli::{Session, words},
    client::Opened,
};

/// Write a branch's changes to the disk: all of them, or none
///
/// What changed on the disk since the branch touched it is merged first. Refuses, with 2, if both sides changed the same lines, or if
/// a file has markers of conflicts that a rebase wrote. The branch stays and shows the files on the disk from then on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker branch commit try-it --dry-run           see what would be written, and whether it could be
  broker branch commit try-it --if-clean          write it only if it brings no new error
  broker branch commit try-it --force src/a.py    write this file in spite of what others did to it")]
pub(super) struct Commit {
    branch: String,

    /// Overwrite this file even if it changed on the disk since the branch touched it; may be repeated. Refused
    /// while another program has the file open for writing
    #[arg(long, value_name = "PATH")]
    force: Vec<PathBuf>,

    /// Refuse files that changed on the disk, also where both changes go together
    #[arg(long)]
    no_rebase: bool,

    /// Refuse if the branch has errors that its parent has not, or if a linter gives no answer. What changed on the disk
    /// is merged before the check, but for `--force` and `--no-rebase`
    #[arg(long, conflicts_with = "dry_run")]
    if_clean: bool,

    /// Write nothing; say what would be written
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    shape: Shape,
}

#[derive(Serialize)]
struct Committed {
    revision: u64,
    changes: Vec<Change>,
    /// Files that are left to an editor with unsaved text of them.
    left: Vec<String>,
    /// Texts that were saved during the commit, and linters that the check did not ask.
    notes: Vec<String>,
}

pub(super) fn run(args: &Commit, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let force = args.force.iter().map(|it| Ok(open.path(it)?.to_string()));
    let force_paths = force.collect::<Result<Vec<_>, CliError>>()?;
    let branch = open.branch(&args.branch)?;
    let request = CommitRequest {
        if_revision: args.expected.revision(),
        force_paths,
        rebase: !args.no_rebase,
        if_clean: args.if_clean,
        dry_run: args.dry_run,
        ..CommitRequest::of(&*branch.id)
    };
    let answer = open.client.wait(open.client.daemon().commit_branch(request)).map_err(|error| {
        let refused = error.is_conflict();
        let name = printable(&branch.name);
        let hint = match args.force.is_empty() {
            true => format!(
                "`broker branch rebase {name}` brings both sides together, `--force PATH` overwrites the file"
            ),
            false => format!(
                "`--force` overwrites the named files alone: `broker branch rebase {name}` brings both sides together, with `--resolve PATH=ours` for what became a directory"
            ),
        };
        let error = CliError::from(error);
        if refused { error.hint(hint) } else { error }
    })?;
    for path in &answer.merged {
        let how = if answer.merged_by_syntax.contains(path) { " by syntax" } else { "" };
        let path = open.display(path.as_str());
        session.messages.line(&format!("merged {path}{how}, which had changed on the disk"));
    }
    for path in &answer.unsaved {
        let path = printable(path.as_str());
        session
            .messages
            .warning(&format!("an editor has not saved its own text of {path}, which is shown still"));
    }
    for path in &answer.left {
        let path = printable(path.as_str());
        session.messages.warning(&format!(
            "{path} is not written: an editor has unsaved text of it, and gets the change there; the branch keeps it until the file is saved"
        ));
    }
    answer.notes.iter().for_each(|it| session.messages.warning(&printable(it)));
    let changes: Vec<_> = answer.changes.iter().map(|it| Change::of(open, it)).collect();
    let left = answer.left.iter().map(ToString::to_string).collect();
    let committed = Committed { revision: answer.revision.0, changes, left, notes: answer.notes };
    args.shape.print(session, &committed, || committed.render(args.dry_run))
}

impl Committed {
    fn render(&self, dry_run: bool) -> String {
        let lines: String = self.changes.iter().map(Change::line).collect();
        let folders = self.changes.iter().filter(|it| it.is_directory).count();
        let counts = [(self.changes.len() - folders, "file"), (folders, "folder")];
        let counts = counts.iter().filter(|it| it.0 > 0).map(|it| words::counted(it.0 as u64, it.1));
        let counts = counts.collect::<Vec<_>>().join(" and ");
        match (self.changes.is_empty(), dry_run) {
            (true, _) if !self.left.is_empty() => String::new(),
            (true, _) => "there is nothing to commit\n".to_owned(),
            (false, true) => format!("{lines}{counts} would be written.\n"),
            (false, false) => format!("{lines}{counts} written.\n"),
        }
    }
}
