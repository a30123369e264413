//! Takes commits of another copy of the repository in, as a branch of git. Writes objects and one reference, and nothing else.

use std::{
    io::Write as _,
    process::{Output, Stdio},
    thread,
};

use super::{Git, cannot_run, failed};
use crate::CliError;

/// Limit of the commits that the other side is told to leave out.
const MAX_KNOWN: usize = 10_000;

impl Git {
    /// Commits that the repository has, to be left out of a pack: those that branches, tags and remotes name.
    pub(crate) fn known_commits(&self) -> Result<Vec<String>, CliError> {
        let limit = format!("--count={MAX_KNOWN}");
        let list = self.run(&[
            "for-each-ref",
            &limit,
            "--sort=-creatordate",
            "--format=%(objecttype) %(objectname)",
        ])?;
        let list = String::from_utf8_lossy(&list).into_owned();
        let mut known: Vec<_> =
            list.lines().filter_map(|it| it.strip_prefix("commit ")).map(str::to_owned).collect();
        known.sort_unstable();
        known.dedup();
        Ok(known)
    }

    /// Returns the full name of a branch, whether or not there is one. Fails if no branch can have the name, or if it is checked out.
    pub(crate) fn branch_to_write(&self, name: &str) -> Result<String, CliError> {
        let is_name =
            !name.starts_with('-') && self.output(&["check-ref-format", "--branch", name])?.status.success();
        if !is_name {
            return Err(CliError::usage(format!("`{name}` cannot be the name of a branch of git"))
                .hint("give another one: `broker branch export BRANCH NAME`"));
        }
        let reference = format!("refs/heads/{name}");
        if self.output(&["symbolic-ref", "--quiet", &reference])?.status.success() {
            return Err(CliError::files(format!("the branch `{name}` of git is another name of a branch"))
                .hint("export under another name"));
        }
        let worktrees = self.run(&["worktree", "list", "--porcelain"])?;
        let checked_out = format!("branch {reference}");
        if String::from_utf8_lossy(&worktrees).lines().any(|it| it == checked_out) {
            return Err(CliError::files(format!("the branch `{name}` of git is checked out"))
                .hint("export under another name, and merge that: `git merge NAME`"));
        }
        Ok(reference)
    }

    /// Adds the objects of a pack, which may rest on objects that are there. All of them are checked first.
    pub(crate) fn add_pack(&self, pack: Vec<u8>) -> Result<(), CliError> {
        let arguments = ["index-pack", "--strict", "--fix-thin", "--stdin"];
        let output = self.output_of(&arguments, pack)?;
        if output.status.success() { Ok(()) } else { Err(failed(&arguments, &output.stderr)) }
    }

    /// Makes the branch lead to the commit. Unless it is forced, an existing branch only moves on to what follows it.
    pub(crate) fn move_branch(&self, reference: &str, commit: &str, is_forced: bool) -> Result<(), CliError> {
        let name = reference.trim_start_matches("refs/heads/");
        let old = self.output(&["rev-parse", "--verify", "--quiet", reference])?;
        let old = if old.status.success() {
            String::from_utf8_lossy(&old.stdout).trim().to_owned()
        } else {
            String::new()
        };
        let follows =
            old.is_empty() || self.output(&["merge-base", "--is-ancestor", &old, commit])?.status.success();
        if !follows && !is_forced {
            let error = CliError::files(format!("the branch `{name}` of git has other commits"));
            return Err(error.hint("give another name, or `--force` to lose them"));
        }
        // Refuses a branch that a rebase or a bisection is about, too.
        self.run(&["branch", "--no-track", "--force", name, commit]).map(drop)
    }

    fn output_of(&self, arguments: &[&str], input: Vec<u8>) -> Result<Output, CliError> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| cannot_run(&error))?;
        let stdin = child.stdin.take();
        let written = thread::spawn(move || stdin.map(|mut it| it.write_all(&input)));
        let output = child.wait_with_output().map_err(|error| cannot_run(&error))?;
        // What git did not read it has complained about.
        let _closed = written.join();
        Ok(output)
    }
}
