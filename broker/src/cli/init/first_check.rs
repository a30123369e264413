//! What a first check of a repository finds, and where.

use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
};

use lint::counted;
use serde::Deserialize;

use crate::CliError;

/// Arguments of the first check.
pub(super) const ARGUMENTS: [&str; 6] =
    ["check", "--output-format", "json", "--exit-zero", "--allow-incomplete", "."];

/// Parts of names of folders that hold samples rather than code, and whole names.
const OF_SAMPLES: [&str; 5] = ["fixture", "golden", "corpus", "sample", "snapshot"];
const OF_TESTS: [&str; 6] = ["test", "tests", "__tests__", "testdata", "test-data", "test_data"];

/// The fewest errors in a folder that make it worth a line.
const MANY: usize = 20;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Findings {
    findings: Vec<Finding>,
    #[serde(skip)]
    samples: Option<Samples>,
}

#[derive(Debug, Deserialize)]
struct Finding {
    path: String,
    linter: String,
    severity: String,
}

/// A folder with nearly all errors, which looks as if they were meant.
#[derive(Debug, PartialEq, Eq)]
struct Samples {
    folder: String,
    errors: usize,
    of: usize,
}

impl Findings {
    pub(super) fn of(mut check: Command) -> Result<Self, CliError> {
        let output = check.stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| CliError::files(format!("cannot run a first check: {error}")))?;
        let found: Self = serde_json::from_slice(&output.stdout)
            .map_err(|_| CliError::files("the first check failed").hint("`broker check` tells more"))?;
        let errors = found.findings.iter().filter(|it| it.severity == "error").map(|it| it.path.as_str());
        let samples = Samples::of(&errors.collect::<Vec<_>>());
        Ok(Self { samples, ..found })
    }

    pub(super) fn count(&self) -> usize {
        self.findings.len()
    }

    /// A folder to be left out.
    pub(super) fn sample_folder(&self) -> Option<&str> {
        self.samples.as_ref().map(|it| it.folder.as_str())
    }

    pub(super) fn text(&self) -> String {
        if self.findings.is_empty() {
            return "No findings.\n".to_owned();
        }
        let mut by_linter = BTreeMap::<&str, usize>::new();
        self.findings.iter().for_each(|it| *by_linter.entry(&it.linter).or_default() += 1);
        let mut by_linter: Vec<_> = by_linter.into_iter().collect();
        by_linter.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let linters: Vec<_> = by_linter.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let mut text = format!("{}: {}.\n", counted(self.count(), "finding"), linters.join(", "));
        if let Some(Samples { folder, errors, of }) = &self.samples {
            text += &format!(
                "{errors} of {} are in {folder}, which looks like test data.\n",
                counted(*of, "error")
            );
        }
        text
    }
}

impl Samples {
    /// The innermost folder with nearly all that is in a folder called like this, if that is most.
    fn of(errors: &[&str]) -> Option<Self> {
        let mut folders = BTreeMap::<&str, usize>::new();
        for path in errors {
            let ends = path.match_indices('/').map(|(at, _)| &path[..at]);
            ends.for_each(|it| *folders.entry(it).or_default() += 1);
        }
        folders.retain(|folder, count| is_of_samples(folder) && *count >= MANY && *count * 2 > errors.len());
        let most = *folders.values().max()?;
        let nearly_all = folders.into_iter().filter(|(_, count)| count * 50 >= most * 49);
        let (folder, count) = nearly_all.max_by_key(|(folder, _)| folder.len())?;
        Some(Self { folder: folder.to_owned(), errors: count, of: errors.len() })
    }
}

fn is_of_samples(folder: &str) -> bool {
    folder
        .to_lowercase()
        .split('/')
        .any(|name| OF_TESTS.contains(&name) || OF_SAMPLES.iter().any(|part| name.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(parts: &[(&str, usize)]) -> Option<String> {
        let errors: Vec<_> = parts.iter().flat_map(|(path, count)| vec![*path; *count]).collect();
        Samples::of(&errors).map(|it| format!("{} {}/{}", it.folder, it.errors, it.of))
    }

    #[test]
    fn the_folder_of_samples_is_the_one_with_the_errors() {
        let all = [("tests/data/a/b.py", 90), ("tests/data/c.rs", 5), ("tests/d.py", 1), ("src/e.py", 4)];
        assert_eq!(folder(&all).as_deref(), Some("tests/data 95/100"));
        assert_eq!(folder(&[("src/a.py", 90), ("tests/b.py", 30)]), None, "most are elsewhere");
        assert_eq!(folder(&[("tests/b.py", 19)]), None, "these are few");
        assert_eq!(folder(&[("src/latest/a.py", 90)]), None);
        assert_eq!(folder(&[]), None);
    }
}
