//! Asks the `git` program which files changed, and what is staged or committed.
//!
//! Reads only, but for [`staging`] and [`export`]: takes no locks, writes no index and fetches nothing. No program that a repository's configuration names is
//! run, whether or not the workspace is trusted: neither filters for texts, so that a file whose times changed may count
//! as changed though a filter would have told otherwise, nor monitors, hooks, drivers for diffs, or ways to a remote.
//! Paths are as seen from the folder that git is run in.

mod conversions;
mod export;
mod staging;
mod tracked;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use overlay::WorkspacePath;

pub(crate) use self::{conversions::Conversion, staging::Restaged, tracked::Before};
use crate::CliError;

/// The repository around a folder.
#[derive(Clone)]
pub(crate) struct Git {
    folder: PathBuf,
    /// Settings that win over the repository's: each of its filters without a program.
    no_filters: Vec<String>,
    /// Filters with a program that makes what a working copy has.
    smudging: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Files that are still there.
    pub(crate) paths: BTreeSet<WorkspacePath>,
    pub(crate) gone: BTreeSet<WorkspacePath>,
    /// Names of files that are still there, and that are not UTF-8.
    pub(crate) not_utf8: u64,
}

/// Arguments of every list of changes: paths end in a NUL.
const DIFF: [&str; 8] = [
    "diff",
    "--name-only",
    "-z",
    "--relative",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=all",
];

/// Settings of every call. A file system monitor is a program.
const SETTINGS: [&str; 4] = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

/// The stage that has what both sides of a merge came from; each side has one of its own until it is finished.
const BASE: &str = "1";

/// Settings that turn a filter of a repository off.
const NO_FILTER: [&str; 4] = ["clean=", "smudge=", "process=", "required=false"];

impl Git {
    /// Fails if there is no git, or no repository with a working copy.
    pub(crate) fn of(folder: &Path) -> Result<Self, CliError> {
        let mut git = Self { folder: folder.to_owned(), no_filters: Vec::new(), smudging: BTreeSet::new() };
        let filters = git.filters()?;
        git.smudging = conversions::smudging(&filters);
        git.no_filters = no_filters(&filters)?;
        let inside = git.run(&["rev-parse", "--is-inside-work-tree"])?;
        if inside.trim_ascii() == b"true" {
            return Ok(git);
        }
        Err(CliError::usage(format!("{} is no working copy of git", folder.display())))
    }

    /// The settings of all filters that are configured, here or anywhere: each a key, a newline, a value and a NUL.
    fn filters(&self) -> Result<Vec<u8>, CliError> {
        let ask = ["config", "--null", "--get-regexp", r"^filter\."];
        let named = self.output(&ask)?;
        if !is_read(&named) {
            return Err(failed(&ask, &named.stderr));
        }
        Ok(named.stdout)
    }

    /// The commit from which the present branch and `reference` parted.
    pub(crate) fn parted_from(&self, reference: &str, head: &str) -> Result<String, CliError> {
        let (commit, head_commit) = (self.commit(reference)?, self.commit(head)?);
        let ask = ["merge-base", &commit, &head_commit];
        let base = self.output(&ask)?;
        match base.status.code() {
            Some(0) => Ok(String::from_utf8_lossy(&base.stdout).trim().to_owned()),
            Some(1) => Err(CliError::usage(format!("`{reference}` and {head} have no commit in common"))),
            _ => Err(failed(&ask, &base.stderr)),
        }
    }

    /// Files that differ from a commit, and those that git does not know.
    pub(crate) fn changed_since(&self, commit: &str) -> Result<Changed, CliError> {
        let mut changed = self.differences(&[commit])?;
        let others = Changed::of(&self.run(&["ls-files", "--others", "--exclude-standard", "-z"])?);
        changed.paths.extend(others.paths);
        changed.not_utf8 += others.not_utf8;
        Ok(changed)
    }

    /// Files in which two commits differ.
    pub(crate) fn changed_between(&self, before: &str, after: &str) -> Result<Changed, CliError> {
        self.differences(&[before, after])
    }

    /// Files that `git diff` lists.
    fn differences(&self, what: &[&str]) -> Result<Changed, CliError> {
        let list = |filter| self.run(&[&DIFF[..], &[filter], what, &["--"]].concat());
        let mut changed = Changed::of(&list("--diff-filter=d")?);
        changed.gone = Changed::of(&list("--diff-filter=D")?).paths;
        Ok(changed)
    }

    /// The folders of submodules, as seen from the root of the working copy: changes in them are not listed.
    pub(crate) fn submodules(&self) -> Result<Vec<String>, CliError> {
        let list = self.run(&["ls-files", "--stage", "-z", "--", ":(top,literal).gitmodules"])?;
        let list = String::from_utf8_lossy(&list);
        let mut paths = Vec::new();
        for stage in list.split('\0').filter_map(stage).filter(|it| *it != BASE) {
            paths.extend(self.submodules_in(&format!(":{stage}:.gitmodules"))?);
        }
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }

    /// The folders that one text of `.gitmodules` names.
    fn submodules_in(&self, blob: &str) -> Result<Vec<String>, CliError> {
        let ask = ["config", "--null", "--blob", blob, "--get-regexp", r"^submodule\..*\.path$"];
        let named = self.output(&ask)?;
        if !is_read(&named) {
            return Err(failed(&ask, &named.stderr).hint("repair `.gitmodules`, and stage it"));
        }
        let paths =
            named.stdout.split(|it| *it == 0).filter_map(|it| str::from_utf8(it).ok()?.split_once('\n'));
        Ok(paths.map(|it| it.1.to_owned()).collect())
    }

    /// The hash of the last commit, or of a tree without files if there is none yet.
    pub(crate) fn head(&self) -> Result<String, CliError> {
        let ask = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let head = self.output(&ask)?;
        let hash = match head.status.code() {
            Some(0) => head.stdout,
            Some(1) => self.run(&["hash-object", "-t", "tree", "--stdin"])?,
            _ => return Err(failed(&ask, &head.stderr)),
        };
        Ok(String::from_utf8_lossy(&hash).trim().to_owned())
    }

    /// The hash of the commit that `reference` names.
    pub(crate) fn commit(&self, reference: &str) -> Result<String, CliError> {
        let unknown = || CliError::usage(format!("git knows no commit `{reference}`"));
        if reference.is_empty() || reference.starts_with('-') {
            return Err(unknown());
        }
        let commit = format!("{reference}^{{commit}}");
        let hash = self.output(&["rev-parse", "--verify", "--quiet", &commit])?;
        match hash.status.success() {
            true => Ok(String::from_utf8_lossy(&hash.stdout).trim().to_owned()),
            false => Err(unknown()),
        }
    }

    /// Path at which git looks for a hook.
    pub(crate) fn hook(&self, name: &str) -> Result<PathBuf, CliError> {
        let hook = format!("hooks/{name}");
        let arguments = ["rev-parse", "--git-path", &hook];
        // Without the settings of other calls, which say that there are no hooks.
        let found =
            Command::new("git").arg("-C").arg(&self.folder).args(arguments).stdin(Stdio::null()).output();
        let found = found.map_err(|error| cannot_run(&error))?;
        if !found.status.success() {
            return Err(failed(&arguments, &found.stderr));
        }
        Ok(self.folder.join(String::from_utf8_lossy(&found.stdout).trim_end_matches('\n')))
    }

    /// Output of git, if it succeeds.
    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, CliError> {
        let output = self.output(arguments)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(failed(arguments, &output.stderr))
    }

    fn output(&self, arguments: &[&str]) -> Result<Output, CliError> {
        self.command(arguments).stdin(Stdio::null()).output().map_err(|error| cannot_run(&error))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("--no-pager").arg("-C").arg(&self.folder);
        command.args(SETTINGS).args(&self.no_filters).args(arguments);
        command.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0");
        // Missing objects of a partial clone would be fetched with programs that the repository names. Versions of git before
        // 2.45 support only the list of protocols, of which none is left.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
        command
    }
}

impl Changed {
    fn has(&self, path: &WorkspacePath) -> bool {
        self.paths.contains(path) || self.gone.contains(path)
    }

    /// All that differs.
    pub(crate) fn paths_and_gone(&self) -> BTreeSet<WorkspacePath> {
        &self.paths | &self.gone
    }

    /// From a list with a NUL after each path.
    fn of(list: &[u8]) -> Self {
        let mut changed = Self::default();
        for name in list.split(|it| *it == 0).filter(|it| !it.is_empty()) {
            match str::from_utf8(name).ok().and_then(|it| WorkspacePath::new(it).ok()) {
                Some(path) => _ = changed.paths.insert(path),
                None => changed.not_utf8 += 1,
            }
        }
        changed
    }
}

/// The stage of a line that `git ls-files --stage` prints, unless it is a link: git reads no `.gitmodules` that is one.
fn stage(entry: &str) -> Option<&str> {
    let (facts, _) = entry.split_once('\t')?;
    facts.rsplit(' ').next().filter(|_| facts.starts_with("100"))
}

/// Whether `git config` read all that it was asked for. It ends with 0, or 1 where it found no such setting, also if it could
/// read only a part, and says so.
fn is_read(asked: &Output) -> bool {
    let is_error = |it: &str| it.starts_with("error: ");
    matches!(asked.status.code(), Some(0 | 1))
        && !String::from_utf8_lossy(&asked.stderr).lines().any(is_error)
}

fn failed(arguments: &[&str], said: &[u8]) -> CliError {
    let said = String::from_utf8_lossy(said);
    let said = said.trim();
    let said = ["fatal: ", "error: "].iter().find_map(|it| said.strip_prefix(it)).unwrap_or(said);
    let mut lines = said.lines().map(str::trim);
    let reason = lines.next().unwrap_or("no reason given");
    let error = CliError::files(format!("git {} failed: {reason}", arguments[0]));
    // A repository of another user: git names the command that allows it.
    match lines.find(|it| it.starts_with("git config ")) {
        Some(remedy) => error.hint(format!("if you trust the repository: `{remedy}`")),
        None => error,
    }
}

/// The settings that leave every filter without a program.
fn no_filters(filters: &[u8]) -> Result<Vec<String>, CliError> {
    let names: BTreeSet<_> = filters.split(|it| *it == 0).filter_map(filter_name).collect();
    let mut settings = Vec::new();
    for name in names {
        let name = str::from_utf8(name).ok().filter(|it| !it.contains('=')).ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            CliError::files(format!(
                "git's configuration has a filter `{name}`, which cannot be switched off"
            ))
            .hint("give it a name in UTF-8 without `=`, as no filter is run here")
        })?;
        for setting in NO_FILTER {
            settings.extend(["-c".to_owned(), format!("filter.{name}.{setting}")]);
        }
    }
    Ok(settings)
}

/// The name in `filter.NAME.KEY`, which a newline and a value may follow.
fn filter_name(setting: &[u8]) -> Option<&[u8]> {
    let key = setting.split(|it| *it == b'\n').next()?;
    let rest = key.strip_prefix(b"filter.")?;
    rest.iter().rposition(|it| *it == b'.').map(|dot| &rest[..dot])
}

fn cannot_run(error: &io::Error) -> CliError {
    match error.kind() {
        io::ErrorKind::NotFound => CliError::files("the program `git` is not there")
            .hint("install git, or leave out --since, --staged, --changed and --rev"),
        _ => CliError::files(format!("cannot run git: {error}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own repository")]

    use std::fs;

    use super::*;

    /// Runs git; returns whether it succeeded.
    fn git(folder: &Path, arguments: &[&str]) -> bool {
        let user = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let run = Command::new("git").arg("-C").arg(folder).args(user).args(arguments).output();
        run.unwrap().status.success()
    }

    fn run_git(folder: &Path, arguments: &[&str]) {
        assert!(git(folder, arguments), "{arguments:?}");
    }

    fn stage_gitmodules(folder: &Path, text: &str) {
        fs::write(folder.join(".gitmodules"), text).unwrap();
        run_git(folder, &["add", ".gitmodules"]);
    }

    #[test]
    fn names_that_cannot_be_paths_are_counted() {
        let changed = Changed::of(b"a b\0dir/\xff\0dir/\xc3\xa4\n\0");
        let paths: Vec<_> = changed.paths.iter().map(WorkspacePath::as_str).collect();
        assert_eq!((paths, changed.not_utf8), (vec!["a b", "dir/ä\n"], 1));
    }

    #[test]
    fn names_of_filters_may_have_dots() {
        let name = |key: &str| filter_name(key.as_bytes()).map(|it| String::from_utf8_lossy(it).into_owned());
        assert_eq!(name("filter.lfs.clean").as_deref(), Some("lfs"));
        assert_eq!(name("filter.a.clean\nsed s/.x//").as_deref(), Some("a"));
        assert_eq!(name("filter.a.b c.process").as_deref(), Some("a.b c"));
        assert_eq!((name("filter.clean"), name("core.pager")), (None, None));
    }

    #[test]
    fn what_git_says_to_do_is_said() {
        let said = b"fatal: detected dubious ownership in repository at '/a'\nTo add an exception for this directory, call:\n\n\
            \tgit config --global --add safe.directory /a\n";
        let error = failed(&["rev-parse"], said);
        assert_eq!(error.message, "git rev-parse failed: detected dubious ownership in repository at '/a'");
        let hint = error.hint.unwrap();
        assert_eq!(hint, "if you trust the repository: `git config --global --add safe.directory /a`");
    }

    #[test]
    fn a_folder_without_repository_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = Git::of(folder.path()).err().unwrap();
        assert!(error.message.starts_with("git rev-parse failed: not a git repository"), "{error}");
    }

    #[test]
    fn submodules_are_those_that_are_staged() {
        let folder = tempfile::tempdir().unwrap();
        run_git(folder.path(), &["init", "--quiet"]);
        let submodules = || Git::of(folder.path()).unwrap().submodules();
        assert_eq!(submodules().unwrap(), [""; 0], "no file");
        stage_gitmodules(folder.path(), "");
        assert_eq!(submodules().unwrap(), [""; 0], "no section");
        stage_gitmodules(folder.path(), "[submodule \"b.c\"]\n\tpath = b\n[submodule \"a\"]\n\tpath = a d\n");
        assert_eq!(submodules().unwrap(), ["a d", "b"]);
        fs::write(folder.path().join(".gitmodules"), "[broken").unwrap();
        assert_eq!(submodules().unwrap(), ["a d", "b"], "what is not staged");
    }

    #[test]
    fn a_broken_list_of_submodules_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        run_git(folder.path(), &["init", "--quiet"]);
        stage_gitmodules(folder.path(), "[submodule \"a\"]\n\tpath = a\n[submodule \"b\"\n");
        let error = Git::of(folder.path()).unwrap().submodules().unwrap_err();
        assert_eq!(error.message, "git config failed: bad config line 4 in blob :0:.gitmodules");
        assert_eq!(error.hint.unwrap(), "repair `.gitmodules`, and stage it");
    }

    #[test]
    fn submodules_of_both_sides_of_a_merge() {
        let folder = tempfile::tempdir().unwrap();
        let module = |name: &str| {
            stage_gitmodules(folder.path(), &format!("[submodule \"{name}\"]\n\tpath = {name}\n"));
            run_git(folder.path(), &["commit", "--quiet", "--message", name]);
        };
        run_git(folder.path(), &["init", "--quiet", "--initial-branch", "ours"]);
        module("before");
        run_git(folder.path(), &["checkout", "--quiet", "-b", "theirs"]);
        module("two");
        run_git(folder.path(), &["checkout", "--quiet", "ours"]);
        module("one");
        assert!(!git(folder.path(), &["merge", "theirs"]), "a conflict");
        assert_eq!(Git::of(folder.path()).unwrap().submodules().unwrap(), ["one", "two"]);
    }
}
