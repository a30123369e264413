//! `broker branch export`

use lint::printable;
use serde::Serialize;
use workspaces::{OutputStream, Run, RunEvent, RunInput, RunRequest, RunResult, TargetId};

use super::Shape;
use crate::{
    CliError,
    cli::{Session, run::permission},
    client::Opened,
    git::Git,
};

/// Take commits that were made on a branch over into the repository, as a branch of git
///
/// What `git commit` does in a command on a branch stays with the branch. This adds the commits that lead to its `HEAD` to the
/// repository of the workspace, and makes a branch of git lead there. Files, the index and what is checked out stay as they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker run --branch try-it --harvest -- git commit -am 'Try it'
  broker branch export try-it                   as the branch `try-it` of git
  git merge try-it")]
pub(super) struct Export {
    branch: String,

    /// Name of the branch of git [default: that of BRANCH]
    name: Option<String>,

    /// Replace a branch of git that has other commits
    #[arg(long, short)]
    force: bool,

    #[command(flatten)]
    shape: Shape,
}

#[derive(Serialize)]
struct Exported<'a> {
    branch: &'a str,
    commit: &'a str,
}

pub(super) fn run(args: &Export, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let branch = open.branch(&args.branch)?;
    let root = open.workspace.root();
    if !root.ancestors().any(|it| it.join(".git").exists()) {
        return Err(CliError::files("the workspace has no repository of git that could take commits over")
            .hint("`git init` in its folder makes one; then export again"));
    }
    let git = Git::of(root)?;
    if workspaces::is_repository_elsewhere(root) {
        return Err(CliError::files(
            "the repository lies outside of the workspace, so that commits on a branch are not kept",
        )
        .hint("work in the repository's own folder, not in a linked worktree or a submodule"));
    }
    let name = args.name.as_deref().unwrap_or(&branch.name);
    let reference = git.branch_to_write(name)?;
    let there = Repository { open, branch: &branch.id };
    let commit = there.ask(&["rev-parse", "--verify", "HEAD^{commit}"], Vec::new(), session)?;
    let commit = String::from_utf8_lossy(&commit).trim().to_owned();
    if commit.is_empty() || !commit.bytes().all(|it| it.is_ascii_hexdigit()) {
        return Err(CliError::files("git names no commit on the branch"));
    }
    let known = git.known_commits()?;
    let mut wanted = commit.clone();
    known.iter().for_each(|it| wanted.push_str(&format!("\n^{it}")));
    wanted.push('\n');
    let pack = ["pack-objects", "--revs", "--thin", "--stdout", "-q"];
    git.add_pack(there.ask(&pack, wanted.into_bytes(), session)?)?;
    git.move_branch(&reference, &commit, args.force)?;
    let answer = Exported { branch: name, commit: &commit };
    args.shape.print(session, &answer, || {
        format!("the branch {} of git is at {}\n", printable(name), commit.get(..12).unwrap_or(&commit))
    })
}

/// The repository as a branch has it.
struct Repository<'a> {
    open: &'a Opened,
    branch: &'a str,
}

impl Repository<'_> {
    /// Output of git there, if it succeeds.
    fn ask(&self, arguments: &[&str], input: Vec<u8>, session: &Session) -> Result<Vec<u8>, CliError> {
        let command = ["git"].iter().chain(arguments);
        let request = RunRequest::of(TargetId::Branch(self.branch.to_owned()), command);
        let client = &self.open.client;
        let Run { inputs, mut events } = client.wait(client.daemon().run(request))?;
        let mut input = Some(input);
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        while let Some(event) = client.next(&mut events)? {
            match event {
                RunEvent::Permission(wanted) => permission::answer(&wanted, &inputs, session)?,
                RunEvent::Started(_) => self.send(&inputs, input.take().unwrap_or_default())?,
                RunEvent::Output(OutputStream::Stdout, bytes) => output.extend_from_slice(&bytes),
                RunEvent::Output(OutputStream::Stderr, bytes) => errors.extend_from_slice(&bytes),
                RunEvent::Exited(exited) if exited.exit_code == 0 => return Ok(output),
                RunEvent::Exited(exited) => return Err(failed(arguments, &exited, &errors)),
            }
        }
        Err(CliError::files("the daemon does not say how git ended"))
    }

    fn send(&self, inputs: &tokio::sync::mpsc::Sender<RunInput>, input: Vec<u8>) -> Result<(), CliError> {
        self.open.client.wait(async {
            // A command that is over needs no input.
            let _over = inputs.send(RunInput::Stdin(input.into())).await;
            let _over = inputs.send(RunInput::StdinEnd).await;
            Ok(())
        })?;
        Ok(())
    }
}

/// Parts of git's messages about objects that are missing.
const LOST: [&str; 4] = ["ould not read", "bad object", "unable to read", "missing blob"];

fn failed(arguments: &[&str], exited: &RunResult, errors: &[u8]) -> CliError {
    let said = String::from_utf8_lossy(errors);
    let line = said.lines().find(|it| !it.trim().is_empty());
    let why =
        exited.not_started.clone().or_else(|| exited.killed.clone()).or_else(|| line.map(str::to_owned));
    let why = why.unwrap_or_else(|| format!("exit code {}", exited.exit_code));
    if LOST.iter().any(|it| said.contains(it)) {
        let message = format!(
            "the repository has lost commits that the branch's commits are made on: {}",
            printable(&why)
        );
        return CliError::files(message).hint(
            "they were pruned: fetch them again, or take the branch's files alone, with `broker branch commit` or `broker branch diff`",
        );
    }
    CliError::files(format!("git {} failed on the branch: {}", arguments[0], printable(&why)))
}
