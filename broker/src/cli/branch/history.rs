//! History of a branch, with undo and redo.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf};

use clap::ValueEnum;
use lint::{printable, printable_text};
use overlay::{ConflictSide, Resolution, Revision, WorkspacePath};
use serde::Serialize;
use workspaces::{PageRequest, RebaseRequest, ResolvedConflict, RevisionEntry, UndoRequest};

use super::{Edited, Expected, Shape};
use crate::{
    CliError,
    cli::{Session, words},
    client::Opened,
};

/// List the edits of a branch, newest first
#[derive(Debug, clap::Args)]
pub(super) struct Log {
    branch: String,

    /// At most so many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,

    #[command(flatten)]
    shape: Shape,
}

/// Give a branch the content it had before, as a new revision
///
/// Repeated, it goes back one more edit. An undo can be undone: `--to` with the revision before it. Committed
/// changes stay on the disk: `--to` a revision before them, then commit again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker branch undo try-it             take the last edit back
  broker branch undo try-it --to 0      take everything back")]
pub(super) struct Undo {
    branch: String,

    /// The revision to go back to [default: the one before the newest edit that is not undone]
    #[arg(long, value_name = "REVISION")]
    to: Option<u64>,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    shape: Shape,
}

/// Bring a branch onto the workspace, or the branch it was forked from, as it is now
#[derive(Debug, clap::Args)]
pub(super) struct Rebase {
    branch: String,

    /// What to do where both sides changed the same lines
    #[arg(long, value_enum, default_value_t = OnConflict::Refuse, value_name = "WHAT")]
    on_conflict: OnConflict,

    /// Decide a conflict: `SIDE` is `ours`, `theirs`, `both` or `base`, for all places of the file or, between commas,
    /// one for each; may be repeated
    #[arg(long, value_name = "PATH=SIDE[,SIDE…]", value_parser = resolved_path)]
    resolve: Vec<(PathBuf, Resolution)>,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnConflict {
    /// Change nothing, and say where
    Refuse,
    /// The branch's side wins
    #[value(alias = "keep-branch")]
    KeepOurs,
    /// Write both sides, between conflict markers
    Markers,
}

#[derive(Serialize)]
struct Entry {
    revision: u64,
    time_ms: u64,
    description: String,
    paths: Vec<String>,
}

#[derive(Serialize)]
struct Rebased {
    revision: u64,
    merged: Vec<String>,
    /// Files of `merged` that were merged by their syntax trees, since a merge by lines failed.
    merged_by_syntax: Vec<String>,
    conflicts: Vec<Conflict>,
}

#[derive(Serialize)]
struct Conflict {
    path: String,
    reason: String,
}

pub(super) fn log(args: &Log, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let branch = open.branch(&args.branch)?;
    let page = PageRequest { size: args.limit, token: String::new() };
    let answer = open.client.wait(open.client.daemon().list_revisions(&branch.id, &page))?;
    let entry = |it: RevisionEntry| Entry {
        revision: it.revision.0,
        time_ms: it.at_ms,
        description: it.what.to_string(),
        paths: displayed(open, &it.paths),
    };
    let entries: Vec<_> = answer.items.into_iter().map(entry).collect();
    args.shape.print(session, &entries, || entries.iter().map(Entry::render).collect())
}

pub(super) fn undo(args: &Undo, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let branch = open.branch(&args.branch)?;
    if args.to.is_none() && branch.revision == Revision(0) {
        return Err(CliError::usage("there is nothing to undo"));
    }
    // Undoes one step from the revision that was seen, and from no other.
    let seen = args.to.is_none().then_some(branch.revision);
    let if_revision = args.expected.revision().or(seen);
    let undo = args.to.map_or(workspaces::Undo::Step, |it| workspaces::Undo::To(Revision(it)));
    let request = UndoRequest { branch: branch.id.to_string(), undo, if_revision };
    let answer = open.client.wait(open.client.daemon().undo_branch(request))?;
    let (revision, to_revision) = (answer.revision.0, answer.to.0);
    let text = || format!("revision {revision}, as it was at revision {to_revision}\n");
    args.shape.print(session, &Edited { revision }, text)
}

fn resolved_path(text: &str) -> Result<(PathBuf, Resolution), String> {
    let (path, sides) = text.rsplit_once('=').ok_or("expected PATH=SIDE")?;
    let side = |it: &str| it.parse::<ConflictSide>().map_err(|it| it.to_string());
    let decided = match sides.contains(',') {
        true => Resolution::Each(sides.split(',').map(side).collect::<Result<_, _>>()?),
        false => Resolution::All(side(sides)?),
    };
    Ok((path.into(), decided))
}

fn resolutions(args: &Rebase, open: &Opened) -> Result<BTreeMap<String, Resolution>, CliError> {
    let mut resolutions = BTreeMap::new();
    for (path, decided) in &args.resolve {
        let path = open.path(path)?.to_string();
        if resolutions.insert(path.clone(), decided.clone()).is_some() {
            return Err(CliError::usage(format!("`--resolve` names `{path}` twice")));
        }
    }
    Ok(resolutions)
}

pub(super) fn rebase(args: &Rebase, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let on_conflict = match args.on_conflict {
        OnConflict::Refuse => overlay::OnConflict::Refuse,
        OnConflict::KeepOurs => overlay::OnConflict::KeepOurs,
        OnConflict::Markers => overlay::OnConflict::Markers,
    };
    let branch = open.branch(&args.branch)?.id.to_string();
    let resolutions = resolutions(args, open)?;
    let if_revision = args.expected.revision();
    let request = RebaseRequest { branch, on_conflict, if_revision, resolutions };
    let answer = open.client.wait(open.client.daemon().rebase_branch(request)).map_err(|error| {
        let refused = error.is_conflict();
        let hint = match args.on_conflict {
            OnConflict::Refuse => {
                "`--on-conflict keep-ours` or `--on-conflict markers` goes on in spite of that, and `--resolve PATH=SIDE` decides a file"
            }
            OnConflict::KeepOurs | OnConflict::Markers => {
                "what came into a directory on the disk is removed by `--resolve PATH=ours` alone"
            }
        };
        let error = CliError::from(error);
        if refused { error.hint(hint) } else { error }
    })?;
    let conflict =
        |it: &ResolvedConflict| Conflict { path: open.display(it.path.as_str()), reason: it.reason.clone() };
    let rebased = Rebased {
        revision: answer.revision.0,
        merged: displayed(open, &answer.merged),
        merged_by_syntax: displayed(open, &answer.merged_by_syntax),
        conflicts: answer.conflicts.iter().map(conflict).collect(),
    };
    args.shape.print(session, &rebased, || rebased.render())
}

fn displayed(open: &Opened, paths: &[WorkspacePath]) -> Vec<String> {
    paths.iter().map(|it| open.display(it.as_str())).collect()
}

impl Entry {
    fn render(&self) -> String {
        const SHOWN: usize = 3;
        let (ago, what) = (words::ago(self.time_ms), printable(&self.description));
        let is_git = |it: &&String| it.split('/').any(|it| it == ".git");
        let (git, mut paths): (Vec<&String>, Vec<&String>) = self.paths.iter().partition(is_git);
        let state = "git state".to_owned();
        paths.extend((!git.is_empty()).then_some(&state));
        let shown = paths.iter().take(SHOWN).map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
        let more = match paths.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{:>4}  {ago:<16}  {what}  ({shown}{more})\n", self.revision)
    }
}

impl Rebased {
    fn render(&self) -> String {
        let mut text = format!("revision {}\n", self.revision);
        for path in &self.merged {
            let how = if self.merged_by_syntax.contains(path) { "  (by syntax)" } else { "" };
            let _to_a_string = writeln!(text, "merged    {path}{how}");
        }
        for it in &self.conflicts {
            let _to_a_string = writeln!(text, "conflict  {}", printable_text(&it.reason));
        }
        text
    }
}
