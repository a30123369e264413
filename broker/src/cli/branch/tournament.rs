//! `broker branch tournament`

mod receipt;
mod render;
mod verify;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::ValueEnum;
use workspaces::{Candidate, Criterion, Discard, FileEdit, TestCommand, Tournament, TournamentRequest};

use self::receipt::Receipt;
use super::{Shape, edit::input};
use crate::{
    CliError, Exit,
    cli::{Session, run::quantity},
    client::Opened,
};

/// Compare candidates for one task, and rank them
///
/// Candidates are branches, and patches, for each of which a branch is made that is named as its file. All are compared with
/// one state: the files on the disk, or what all of them were forked from. Each is checked as by `broker check --branch --new-only`,
/// and the test, if there is one, is run on it as by `broker run --branch`, in a folder of its own. The answer has the order of
/// criteria that ranks them; equal candidates share a rank. What was not computed counts as worse than anything that was.
///
/// With `--output-format json` it is a receipt: hashes of the files and of the linters, results, ranking. `--verify` computes
/// all of it again, anywhere where the files are the same, and says what differs.
///
/// Exits with 0 if the best candidate applies, passes the test and brings no error, with 1 if it does not, and with 2 if something
/// was not computed. With `--verify`: 0 if nothing differs, 1 if something does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker branch tournament --patch a.patch --patch b.patch --test 'python -m pytest -q'
  broker branch tournament try-1 try-2 --discard-losers -- cargo test
  broker branch tournament try-1 try-2 --output-format json > receipt.json
  broker branch tournament --verify receipt.json")]
pub(super) struct Args {
    /// Branches that are candidates
    #[arg(value_name = "BRANCH")]
    branches: Vec<String>,

    /// A patch that is a candidate; `-` for standard input; may be repeated
    #[arg(long = "patch", value_name = "FILE")]
    patches: Vec<PathBuf>,

    /// The branch that patches are for, in place of the files on the disk
    #[arg(long, value_name = "BRANCH")]
    from: Option<String>,

    /// A command for the shell, run on each candidate: exit code 0 passes
    #[arg(long, value_name = "COMMAND", conflicts_with = "command")]
    test: Option<String>,

    /// End the test of a candidate after this time, such as `90s` or `10m` [default: 10m]
    #[arg(long, value_parser = quantity::time, value_name = "TIME")]
    timeout: Option<Duration>,

    /// Rank by these criteria in this order [default: all, in the order in which they stand here]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CRITERIA")]
    rank_by: Vec<RankBy>,

    /// Discard the branches of those that did not win: made for patches, or all of them
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "made", value_name = "WHICH")]
    discard_losers: Option<Losers>,

    /// Compute the tournament of this receipt again, and say what differs
    #[arg(long, value_name = "RECEIPT", conflicts_with_all = ["branches", "patches", "test", "timeout", "rank_by", "discard_losers", "command"])]
    verify: Option<PathBuf>,

    #[command(flatten)]
    shape: Shape,

    /// The test, as a program and its arguments
    #[arg(last = true, value_name = "TEST")]
    command: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RankBy {
    /// No refused edit, and no conflict with the disk
    Applies,
    /// The test passes
    Tests,
    /// Fewest errors that were not there before
    NewErrors,
    /// Fewest findings that were not there before
    NewFindings,
    /// Most findings that are not there any more
    Fixed,
    /// Fewest lines added and removed
    Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Losers {
    /// Branches that this command made
    Made,
    /// Also branches that were there before
    All,
}

/// `inputs` are those of [`Args::inputs`].
pub(super) fn run(
    args: &Args,
    inputs: &[Vec<u8>],
    open: &Opened,
    session: &mut Session,
) -> Result<Exit, CliError> {
    if args.verify.is_some() {
        return verify::run(args, &inputs.concat(), open, session);
    }
    let request = args.request(inputs, open)?;
    let test = request.test.clone();
    let answer = open.client.wait(open.client.daemon().tournament(request))?;
    let receipt = Receipt::of(&answer, test.as_ref(), open.workspace.root());
    args.shape.print(session, &receipt, || render::text(&answer, open))?;
    Ok(exit(&answer))
}

fn exit(answer: &Tournament) -> Exit {
    match (answer.is_complete(), answer.winners().all(|it| it.is_good())) {
        (false, _) => Exit::Abnormal,
        (true, false) => Exit::Findings,
        (true, true) => Exit::Clean,
    }
}

impl Args {
    /// The patches, or the receipt.
    pub(super) fn inputs(&self, session: &mut Session) -> Result<Vec<Vec<u8>>, CliError> {
        self.verify.iter().chain(&self.patches).map(|it| input(it, session)).collect()
    }

    fn request(&self, patches: &[Vec<u8>], open: &Opened) -> Result<TournamentRequest, CliError> {
        let mut candidates = Vec::new();
        for name in &self.branches {
            let branch = open.branch(name)?;
            candidates.push(Candidate::of_branch(branch.name, &*branch.id));
        }
        for (file, patch) in self.patches.iter().zip(patches) {
            candidates.push(of_patch(file, patch)?);
        }
        let discard = match self.discard_losers {
            None => Discard::Nothing,
            Some(Losers::Made) => Discard::MadeLosers,
            Some(Losers::All) => Discard::Losers,
        };
        let order = self.rank_by.iter().map(|it| it.criterion()).collect();
        let parent = open.target(self.from.as_deref())?;
        let test = self.test()?;
        Ok(TournamentRequest { test, order, discard, ..TournamentRequest::of(parent, candidates) })
    }

    fn test(&self) -> Result<Option<TestCommand>, CliError> {
        let command = match &self.test {
            Some(line) => ["sh", "-c", line].map(str::to_owned).to_vec(),
            None => self.command.clone(),
        };
        match command.is_empty() {
            true if self.timeout.is_some() => Err(CliError::usage("--timeout is for a test; name one")),
            true => Ok(None),
            false => Ok(Some(TestCommand { command, time: self.timeout })),
        }
    }
}

/// A candidate that is named as its file.
fn of_patch(file: &Path, patch: &[u8]) -> Result<Candidate, CliError> {
    let text = String::from_utf8(patch.to_vec());
    let text = text.map_err(|_| CliError::usage(format!("{} is not UTF-8", file.display())))?;
    let name = file.file_stem().filter(|_| file.as_os_str() != "-");
    let name = name.map_or("stdin".into(), |it| it.to_string_lossy());
    Ok(Candidate::of_edits(name, vec![FileEdit::Patch(text)]))
}

impl RankBy {
    fn criterion(self) -> Criterion {
        match self {
            Self::Applies => Criterion::Applies,
            Self::Tests => Criterion::TestsPass,
            Self::NewErrors => Criterion::FewestNewErrors,
            Self::NewFindings => Criterion::FewestNewFindings,
            Self::Fixed => Criterion::MostFixed,
            Self::Lines => Criterion::FewestChangedLines,
        }
    }

    fn of(criterion: Criterion) -> Self {
        match criterion {
            Criterion::Applies => Self::Applies,
            Criterion::TestsPass => Self::Tests,
            Criterion::FewestNewErrors => Self::NewErrors,
            Criterion::FewestNewFindings => Self::NewFindings,
            Criterion::MostFixed => Self::Fixed,
            Criterion::FewestChangedLines => Self::Lines,
        }
    }
}
