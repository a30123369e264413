//! `broker branch`

mod commit;
mod diff;
mod edit;
mod export;
mod history;
mod life;
mod merge_preview;
mod tournament;

use clap::Subcommand;
use overlay::{ChangeKind, Revision};
use serde::Serialize;
use workspaces::FileChange;

use super::{AnswerFormat, Session};
use crate::{CliError, Exit, client::Opened};

/// Work on branches: copies of the workspace that cost nothing until they are edited
///
/// A branch shows the files on the disk with its own edits over them. It belongs to the workspace that holds
/// the current folder, and the daemon, which is started if none runs, keeps it until it is discarded. Nothing
/// is written to the workspace before `broker branch commit`.
///
/// BRANCH is a branch's name or its id; paths are relative to the current folder. Exits with 0, or with 2 if
/// something could not be done, in which case nothing has changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker branch fork try-it                     make a branch
  broker branch patch try-it fix.patch          edit it
  broker check --branch try-it --new-only       see what the edit brings about
  broker branch diff try-it | git apply         take the edit over, or:
  broker branch commit try-it                   write it to the disk
  broker branch discard try-it                  forget it")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Fork(life::Fork),
    List(life::List),
    Show(life::Show),
    Read(edit::Read),
    Write(edit::Write),
    Patch(edit::Patch),
    Rm(edit::Rm),
    Mv(edit::Mv),
    Diff(diff::Diff),
    Log(history::Log),
    Undo(history::Undo),
    Rebase(history::Rebase),
    MergePreview(merge_preview::MergePreview),
    Tournament(tournament::Args),
    Commit(commit::Commit),
    Export(export::Export),
    Discard(life::Discard),
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    // Input is read before anything is asked: who types it may take a while.
    let input = match &args.command {
        Command::Write(args) => args.input(session)?,
        Command::Patch(args) => args.input(session)?,
        _ => Vec::new(),
    };
    let inputs = match &args.command {
        Command::Tournament(args) => args.inputs(session)?,
        _ => Vec::new(),
    };
    let open = session.open()?;
    match &args.command {
        Command::Fork(args) => life::fork(args, &open, session),
        Command::List(args) => life::list(args, &open, session),
        Command::Show(args) => life::show(args, &open, session),
        Command::Read(args) => edit::read(args, &open, session),
        Command::Write(args) => edit::write(args, input, &open, session),
        Command::Patch(args) => edit::patch(args, input, &open, session),
        Command::Rm(args) => edit::rm(args, &open, session),
        Command::Mv(args) => edit::mv(args, &open, session),
        Command::Diff(args) => diff::run(args, &open, session),
        Command::Log(args) => history::log(args, &open, session),
        Command::Undo(args) => history::undo(args, &open, session),
        Command::Rebase(args) => history::rebase(args, &open, session),
        Command::MergePreview(args) => return merge_preview::run(args, &open, session),
        Command::Tournament(args) => return tournament::run(args, &inputs, &open, session),
        Command::Commit(args) => commit::run(args, &open, session),
        Command::Export(args) => export::run(args, &open, session),
        Command::Discard(args) => life::discard(args, &open, session),
    }?;
    Ok(Exit::Clean)
}

/// The shape of the answer.
#[derive(Debug, clap::Args)]
struct Shape {
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

impl Shape {
    fn print(
        &self,
        session: &mut Session,
        answer: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), CliError> {
        session.print(&match self.output_format {
            AnswerFormat::Text => text(),
            AnswerFormat::Json => super::json(answer),
        })
    }
}

/// Refuses an edit of what the user has not seen.
#[derive(Debug, clap::Args)]
struct Expected {
    /// Fail if the branch is at another revision
    #[arg(long, value_name = "REVISION")]
    if_revision: Option<u64>,
}

impl Expected {
    fn revision(&self) -> Option<Revision> {
        self.if_revision.map(Revision)
    }
}

/// The answer of whatever makes a new revision.
#[derive(Serialize)]
struct Edited {
    revision: u64,
}

/// A path that differs, as the user would name it.
#[derive(Serialize)]
struct Change {
    path: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip)]
    is_directory: bool,
}

impl Change {
    fn of(open: &Opened, it: &FileChange) -> Self {
        let (kind, from) = match &it.kind {
            ChangeKind::Added => ("added", None),
            ChangeKind::Deleted => ("deleted", None),
            ChangeKind::Renamed { from } => ("renamed", Some(open.display(from.as_str()))),
            ChangeKind::ModeChanged => ("mode", None),
            ChangeKind::Modified | ChangeKind::TypeChanged => ("modified", None),
        };
        Self { path: open.display(it.path.as_str()), kind, from, is_directory: it.is_directory }
    }

    /// `renamed   new.py (from old.py)`
    fn line(&self) -> String {
        let from = self.from.as_ref().map(|it| format!(" (from {it})")).unwrap_or_default();
        format!("{:<9} {}{from}\n", self.kind, self.path)
    }
}
