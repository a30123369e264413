//! The steps that give a script to a shell that is known here.
//!
//! A step without a `shell` has that of its job's or workflow's `defaults`, or else the runner's: bash, but on Windows. In a
//! composite action each step says its own.

use broker_yaml_tree::github::{self, File};
use broker_yaml_tree::tree::{Document, Id, Kind};
use shuck_linter::ShellDialect;

use crate::dialect;

/// Command line of a runner that is not Windows. A container without bash has another shell, which is not known.
const DEFAULT: &str = "bash -e {0}";

/// A script and what reads it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) run: Id,
    pub(super) shell: ShellDialect,
    /// Whether the shell runs with `-e`.
    pub(super) ends_at_errors: bool,
}

pub(super) fn all(path: &str, text: &str, document: &Document<'_>) -> Vec<Step> {
    let Some(root) = document.root() else { return Vec::new() };
    match File::of(path) {
        Some(File::Workflow) => of_workflow(text, document, root),
        Some(File::Action) => {
            document.get(root, "runs").map_or(Vec::new(), |it| of_steps(document, it, None))
        }
        None => Vec::new(),
    }
}

fn of_workflow(text: &str, document: &Document<'_>, root: Id) -> Vec<Step> {
    let Some(jobs) = document.get(root, "jobs") else { return Vec::new() };
    let in_workflow = default(document, root);
    let of_job = |job: Id| {
        let of_runner = || (!may_be_windows(text, document, job)).then_some(DEFAULT);
        let shell = default(document, job).or(in_workflow).or_else(of_runner);
        of_steps(document, job, shell)
    };
    document.entries(jobs).iter().flat_map(|it| of_job(it.1)).collect()
}

/// The steps of a job or of an action; `default` is the shell of those that name none.
fn of_steps(document: &Document<'_>, of: Id, default: Option<&str>) -> Vec<Step> {
    let step = |step: Id| {
        let run = document.get(step, "run")?;
        let shell = document.get(step, "shell").map_or(default, |it| document.text(it))?;
        let (shell, ends_at_errors) = shell_of(shell)?;
        Some(Step { run, shell, ends_at_errors })
    };
    github::steps(document, of).into_iter().filter_map(step).collect()
}

/// Value of `defaults.run.shell`.
fn default<'d>(document: &'d Document<'_>, of: Id) -> Option<&'d str> {
    let run = document.get(document.get(of, "defaults")?, "run")?;
    document.text(document.get(run, "shell")?)
}

/// The shell that a name or a command line (`bash -x {0}`) means, and whether it ends at errors, as a mere name does.
fn shell_of(shell: &str) -> Option<(ShellDialect, bool)> {
    let mut words = shell.split_whitespace();
    let program = words.next()?;
    let dialect = dialect::named(program.rsplit('/').next()?)?;
    let is_errexit =
        |it: &str| it == "errexit" || it.starts_with('-') && !it.starts_with("--") && it.contains('e');
    Some((dialect, shell.trim() == program || words.any(is_errexit)))
}

/// Whether a job's scripts may be for PowerShell. Labels from a matrix of the job are read there; all else that a `runs-on` asks
/// for may be anything that the workflow mentions.
fn may_be_windows(text: &str, document: &Document<'_>, job: Id) -> bool {
    let Some(runs_on) = document.get(job, "runs-on") else { return true };
    let labels = labels(document, runs_on);
    let speaks_of_it = |it: &str| it.to_ascii_lowercase().contains("windows");
    if labels.iter().any(|it| is_of_windows(it)) {
        return true;
    }
    if labels.iter().any(|it| is_of_unix(it)) {
        return false;
    }
    let is_of_matrix = |it: &&str| it.contains("${{") && it.contains("matrix.");
    let strategy = document.get(job, "strategy").map(|it| document.node(document.resolved(it)).range.clone());
    let strategy = strategy.and_then(|it| text.get(it)).filter(|it| !it.contains(['*', '$']));
    match strategy {
        Some(strategy) if labels.iter().all(is_of_matrix) => {
            speaks_of_it(strategy) || labels.iter().any(|it| speaks_of_it(it))
        }
        _ => speaks_of_it(text),
    }
}

/// The labels of `runs-on`: one, a list, or a group's.
fn labels<'d>(document: &'d Document<'_>, runs_on: Id) -> Vec<&'d str> {
    match &document.node(document.resolved(runs_on)).kind {
        Kind::Scalar { text, .. } => vec![text],
        Kind::List(items) => items.iter().filter_map(|it| document.text(*it)).collect(),
        Kind::Map(_) => document.get(runs_on, "labels").map_or(Vec::new(), |it| match document.text(it) {
            Some(label) => vec![label],
            None => document.items(it).iter().filter_map(|it| document.text(*it)).collect(),
        }),
        _ => Vec::new(),
    }
}

fn is_of_windows(label: &str) -> bool {
    label.to_ascii_lowercase().starts_with("win")
}

/// Labels of GitHub's runners, and those that a runner of one's own has by its system.
fn is_of_unix(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    ["ubuntu", "macos", "linux"].iter().any(|it| label.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_bash(runs_on: &str, strategy: &str) -> bool {
        let text =
            format!("on: push\njobs:\n  a:\n{strategy}    runs-on: {runs_on}\n    steps:\n      - run: ls\n");
        let document = broker_yaml_tree::document(&text).unwrap();
        !all(".github/workflows/a.yml", &text, &document).is_empty()
    }

    #[test]
    fn runners_whose_shell_is_bash() {
        let matrix = |os: &str| format!("    strategy:\n      matrix:\n        os: {os}\n");
        for runs_on in ["ubuntu-24.04", "macOS-15", "[self-hosted, Linux]", "my-runner", "{group: g}"] {
            assert!(is_bash(runs_on, ""), "{runs_on}");
        }
        for runs_on in ["windows-2025", "[self-hosted, Windows]", "{group: g, labels: [win-arm]}"] {
            assert!(!is_bash(runs_on, ""), "{runs_on}");
        }
        assert!(is_bash("${{ matrix.os }}", &matrix("[ubuntu-latest, macos-latest]")));
        assert!(!is_bash("${{ matrix.os }}", &matrix("[ubuntu-latest, windows-latest]")));
        assert!(!is_bash("${{ matrix.os }}-latest", &matrix("[Windows, Ubuntu]")));
        assert!(!is_bash("${{ inputs.os || 'windows-2022' }}", ""));
        assert!(!is_bash("my-runner", "    if: inputs.os == 'Windows'\n"));
    }

    #[test]
    fn shells_by_their_command_lines() {
        for (shell, want) in [
            ("bash", Some((ShellDialect::Bash, true))),
            ("sh", Some((ShellDialect::Sh, true))),
            ("bash {0}", Some((ShellDialect::Bash, false))),
            ("/usr/bin/bash -leo pipefail {0}", Some((ShellDialect::Bash, true))),
            ("bash --noprofile --norc {0}", Some((ShellDialect::Bash, false))),
            ("sh -o errexit {0}", Some((ShellDialect::Sh, true))),
        ] {
            assert_eq!(shell_of(shell), want, "{shell}");
        }
        for shell in
            ["pwsh", "powershell", "cmd", "python", "${{ inputs.shell }}", "nix develop -c bash {0}", ""]
        {
            assert_eq!(shell_of(shell), None, "{shell}");
        }
    }
}
