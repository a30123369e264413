//! First check of a repository: its findings, and the linters that look at its files.

use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
};

use check_engine::{ADD_TOOLS, collect, with_file_settings};
use config::{Choice, folders};
use lint::counted;
use linters::Catalogs;
use overlay::{View, WalkOptions, WorkspacePath};
use serde::Deserialize;

use crate::CliError;

/// Arguments of the first check.
pub(super) const ARGUMENTS: [&str; 6] =
    ["check", "--output-format", "json", "--exit-zero", "--allow-incomplete", "."];

#[derive(Debug)]
pub(super) struct FirstCheck {
    /// Sorted by path.
    pub(super) files: Vec<CheckedFile>,
    pub(super) findings: Vec<Finding>,
    /// Whether the project asks for linters whose tools can be added.
    pub(super) lacks_tools: bool,
}

/// A file, with the linters that look at it.
#[derive(Debug)]
pub(super) struct CheckedFile {
    pub(super) path: String,
    pub(super) linters: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    findings: Vec<Finding>,
    #[serde(default)]
    unavailable: Vec<Unavailable>,
}

#[derive(Debug, Deserialize)]
struct Unavailable {
    reason: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Finding {
    pub(super) path: String,
    pub(super) linter: String,
    pub(super) code: String,
    pub(super) severity: String,
}

impl FirstCheck {
    /// Runs the check; `linters` say whose the files are.
    pub(super) fn of(mut check: Command, view: &dyn View, linters: &Catalogs) -> Result<Self, CliError> {
        let output = check.stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| CliError::files(format!("cannot run a first check: {error}")))?;
        let Answer { findings, unavailable } = serde_json::from_slice(&output.stdout)
            .map_err(|_| CliError::files("the first check failed").hint("`broker check` tells more"))?;
        let lacks_tools = unavailable.iter().any(|it| it.reason.starts_with(ADD_TOOLS));
        Ok(Self { files: files(view, linters)?, findings, lacks_tools })
    }

    /// The number of files of each linter.
    pub(super) fn linters(&self) -> BTreeMap<&str, usize> {
        counts(self.files.iter().flat_map(|it| it.linters.iter().map(String::as_str)))
    }

    pub(super) fn text(&self) -> String {
        let files = format!("{}: {}.\n", counted(self.files.len(), "file"), most_first(self.linters()));
        if self.findings.is_empty() {
            return files + "No findings.\n";
        }
        let by_linter = counts(self.findings.iter().map(|it| it.linter.as_str()));
        let findings = counted(self.findings.len(), "finding");
        format!("{files}{findings}: {}.\n", most_first(by_linter))
    }
}

impl CheckedFile {
    /// Whether `linter` looks at the file; for `None`, whether any linter does.
    pub(super) fn is_of(&self, linter: Option<&str>) -> bool {
        linter.is_none_or(|linter| self.linters.iter().any(|it| it == linter))
    }
}

impl Finding {
    pub(super) fn is_error(&self) -> bool {
        self.severity == "error"
    }

    /// Whether the finding is one of `linter`; always true for `None`.
    pub(super) fn is_of(&self, linter: Option<&str>) -> bool {
        linter.is_none_or(|it| it == self.linter)
    }

    pub(super) fn rule(&self) -> String {
        format!("{}/{}", self.linter, self.code)
    }
}

/// The files that a check of the workspace looks at.
fn files(view: &dyn View, linters: &Catalogs) -> Result<Vec<CheckedFile>, CliError> {
    let options = WalkOptions { global_excludes: folders::global_excludes(), ..WalkOptions::default() };
    let found = collect(view, &[WorkspacePath::root()], &with_file_settings(&options, view));
    let router = linters.router(&Choice::default())?;
    let file = |path: &WorkspacePath| {
        let linters = router.linters_for(view, path).into_iter().map(|it| it.identity().name.clone());
        CheckedFile { path: path.as_str().to_owned(), linters: linters.collect() }
    };
    let mut files: Vec<_> = found.units.iter().map(|it| file(&it.path)).collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn counts<'n>(names: impl Iterator<Item = &'n str>) -> BTreeMap<&'n str, usize> {
    let mut counts = BTreeMap::new();
    names.for_each(|it| *counts.entry(it).or_default() += 1);
    counts
}

/// Names with their numbers.
fn most_first(counts: BTreeMap<&str, usize>) -> String {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    counts.join(", ")
}
