//! Definitions of checkers, as data: how each is run, and how its output is read.

mod define;
mod fields;

use std::{collections::BTreeMap, time::Duration};

use external_tools::Tool;
use lint::Severity;
use overlay::WorkspacePath;
use regex::Regex;
use serde::{Deserialize, Deserializer, de::Error as _};

pub use self::define::checkers;
pub(crate) use self::fields::{Fields, FixFields};
use crate::globs::Globs;

/// Definition of a checker. In the words of its command, `${root}` is the folder of the project.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Checker {
    /// Definition that all external linters have. Its `globs` are as in a `.gitignore`.
    pub tool: Tool,
    /// Markers of a project's folder: a file, a TOML file, `#` and a table in it, or nothing for the workspace's root. The
    /// first that a folder above a file has counts, the nearest such folder. Without markers the workspace is the project.
    #[serde(default)]
    pub roots: Vec<String>,
    /// Markers in the workspace's root by which a project shows that it uses the tool.
    #[serde(default)]
    pub configured_by: Vec<String>,
    #[serde(default)]
    pub checks: Checks,
    /// The most files that one process gets, if it gets files.
    #[serde(default = "many")]
    pub at_once: usize,
    /// Argument of a check of the project that says where to look, unless one of these markers says so.
    #[serde(default, rename = "where")]
    pub target: Option<String>,
    #[serde(default)]
    pub unless: Vec<String>,
    pub output: Format,
    #[serde(default)]
    pub stream: Stream,
    /// For `regex`: what a line with a finding looks like, with groups of these names: path, line, column, end-line,
    /// end-column, severity, code, message; and `error`, which makes it one.
    #[serde(default, deserialize_with = "pattern")]
    pub pattern: Option<Regex>,
    /// Pattern of a line that belongs to the finding before it, and names another place.
    #[serde(default, deserialize_with = "pattern")]
    pub note_pattern: Option<Regex>,
    /// Whether lines that begin with white space belong to the message before them.
    #[serde(default)]
    pub continued: bool,
    /// Pattern of the output, besides findings, of a command that stops looking before the end.
    #[serde(default, deserialize_with = "pattern")]
    pub cut_short: Option<Regex>,
    /// For `regex`: the heading of lines that are errors, whatever else is said, up to the next line that is none.
    #[serde(default, deserialize_with = "pattern")]
    pub error_heading: Option<Regex>,
    /// Pattern of a line, on either stream, that names a file which was looked at, with a group `path`. Where a line names one,
    /// those that are not are left out.
    #[serde(default, deserialize_with = "pattern")]
    pub listed_pattern: Option<Regex>,
    /// Parts of messages by which it says that it does not look at a file, which are no findings.
    #[serde(default)]
    pub left_out_by: Vec<String>,
    /// A language server: where the project asks for that and it is not installed, this is asked, if it is.
    #[serde(default)]
    pub stands_in_for: Option<String>,
    /// Arguments for the same program that make it print the files that it looks at, one in each line, or the packages: each with its
    /// folder, name, files, files of tests, names of imports and of imports of tests, with tabs between them, `/` between files and
    /// spaces between imports. Of no use with another command than they are for.
    #[serde(default)]
    pub list_with: Vec<String>,
    /// Arguments for the same program that make it print its version. Of no use with another command.
    #[serde(default)]
    pub version: Vec<String>,
    /// Lines that say nothing to people about what went wrong.
    #[serde(default, deserialize_with = "pattern")]
    pub noise: Option<Regex>,
    /// For `json` and `jsonl`: where everything is.
    #[serde(default)]
    pub fields: Option<Fields>,
    /// Unit of columns. Formats that contain it themselves go before this.
    #[serde(default)]
    pub columns: Option<Columns>,
    #[serde(default = "one")]
    pub first_line: u32,
    #[serde(default = "one")]
    pub first_column: u32,
    /// The code of what has none.
    #[serde(default)]
    pub code: Option<String>,
    #[serde(default)]
    pub code_prefix: String,
    /// The severity of what has none.
    #[serde(default)]
    pub severity: Option<Level>,
    /// Meanings of the checker's own words for severities, besides the usual ones.
    #[serde(default)]
    pub severities: BTreeMap<String, Level>,
    /// Codes of errors, whatever severity is printed, of `json` and `jsonl`.
    #[serde(default)]
    pub error_codes: Vec<String>,
    /// Plugin that has the same rules, of its own version: it is not asked about files that this checker is asked about.
    #[serde(default)]
    pub replaces: Option<String>,
    /// For `tsgolint`: rules that are asked besides those that the project asks for, each with a severity, or with a list of a
    /// severity and options.
    #[serde(default)]
    pub rules: BTreeMap<String, serde_json::Value>,
    /// Exit codes besides 0 of a run that found something.
    #[serde(default)]
    pub findings_codes: Vec<i32>,
    /// Exit codes of a run that errors among its findings kept from looking at everything.
    #[serde(default)]
    pub aborted_codes: Vec<i32>,
    /// The files that its answers may rest on, as in a `.gitignore`. What git ignores counts only for the kinds of files that are named
    /// here by how their names end.
    pub depends_on: Vec<String>,
    /// Files and folders that it needs of the home folder, or around the workspace, in the words of `outside`. Not shown to one
    /// that is confined.
    #[serde(default)]
    pub shows: Vec<String>,
    /// Seconds.
    #[serde(default = "ten_minutes")]
    pub timeout: u64,
    /// The most memory of all its processes together, in MiB.
    #[serde(default = "four_gib")]
    pub memory: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checks {
    /// All of a project in one run.
    #[default]
    Project,
    /// The files that are its arguments.
    Files,
}

/// Format of a checker's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Messages of `cargo --message-format=json`.
    Cargo,
    Sarif,
    Checkstyle,
    Rdjson,
    Rdjsonl,
    /// A single JSON value that contains everything.
    Json,
    /// A JSON value in each line.
    Jsonl,
    Regex,
    /// Messages of `tsgolint headless`, which gets files and texts on its standard input.
    Tsgolint,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    #[default]
    Stdout,
    Stderr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Columns {
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "utf-16")]
    Utf16,
    #[serde(rename = "code-points")]
    CodePoints,
    /// Bytes. In a block scalar of YAML they count on, in the scalar's text, from the sign that begins it.
    #[serde(rename = "yaml")]
    Yaml,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Hint,
    Info,
    Warning,
    Error,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Hint => Self::Hint,
            Level::Info => Self::Info,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}

impl Checker {
    pub fn named(name: &str) -> Option<&'static Self> {
        checkers().iter().find(|it| it.tool.name == name)
    }

    /// The same for a workspace whose programs are not run.
    #[must_use]
    pub fn without_programs_of_workspace(&self) -> Self {
        Self { tool: self.tool.without_programs_of_workspace(), ..self.clone() }
    }

    /// The words of its own for a severity go before the usual ones.
    pub(crate) fn severity_of(&self, word: Option<&str>) -> Severity {
        let default = || self.severity.map_or(Severity::Error, Severity::from);
        let Some(word) = word else { return default() };
        if let Some(level) = self.severities.get(word) {
            return (*level).into();
        }
        match word.to_ascii_lowercase().as_str() {
            "error" | "fatal" | "fatal error" | "critical" => Severity::Error,
            "warning" | "warn" => Severity::Warning,
            "info" | "information" | "note" | "notice" | "convention" | "refactor" => Severity::Info,
            "hint" | "style" | "none" => Severity::Hint,
            _ => default(),
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// Returns the longest time for which answers are used again.
    pub(crate) fn longest_reuse(&self) -> Duration {
        match self.tool.outside {
            Some(_) => Duration::from_secs(600),
            None => Duration::from_secs(60),
        }
    }

    /// Whether each run is for one file, so that all its output belongs to that.
    pub(crate) fn gets_one_file(&self) -> bool {
        self.checks == Checks::Files && self.at_once == 1
    }

    /// Whether one process gets all files of a check, with texts that need not be on the disk, instead of arguments.
    pub fn gets_texts(&self) -> bool {
        self.output == Format::Tsgolint
    }

    /// Whether errors keep the checker from finding others.
    pub(crate) fn aborts(&self) -> bool {
        !self.aborted_codes.is_empty()
    }

    /// Says whether it may report on a file.
    pub fn covers(&self) -> impl Fn(&WorkspacePath) -> bool + Send + Sync + use<> {
        let globs = Globs::new(&self.tool.globs);
        move |path| globs.matches(path)
    }
}

fn many() -> usize {
    200
}

fn one() -> u32 {
    1
}

fn ten_minutes() -> u64 {
    600
}

fn four_gib() -> u64 {
    4096
}

fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Regex>, D::Error> {
    let text = String::deserialize(deserializer)?;
    Regex::new(&text).map(Some).map_err(|error| D::Error::custom(format!("`{text}`: {error}")))
}

#[cfg(test)]
mod tests {
    use external_tools::Executes;

    use super::*;

    #[test]
    fn the_built_in_ones_can_be_read() {
        let names: Vec<_> = checkers().iter().map(|it| it.tool.name.as_str()).collect();
        assert!(!names.is_empty());
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len());
        for it in checkers() {
            it.check().unwrap_or_else(|why| panic!("{}: {why}", it.tool.name));
            assert!(!it.tool.install.contains("own documentation"), "{}", it.tool.name);
            assert_ne!(it.tool.executes, Executes::Anything, "{}", it.tool.name);
            let rests_on = Globs::new(&it.depends_on);
            for marker in it.roots.iter().chain(&it.configured_by).filter(|it| !it.is_empty()) {
                let file = marker.split('#').next().unwrap_or_default();
                let file = WorkspacePath::new(file).unwrap();
                assert!(rests_on.matches(&file), "{} does not rest on {marker}", it.tool.name);
            }
        }
    }

    #[test]
    fn words_for_severities() {
        let of = |name: &str, word: Option<&str>| Checker::named(name).unwrap().severity_of(word);
        assert_eq!(of("eslint-cli", Some("1")), Severity::Warning);
        assert_eq!(of("go-vet", None), Severity::Warning);
        assert_eq!(of("mypy", Some("note")), Severity::Info);
        assert_eq!(of("mypy", Some("strange")), Severity::Error);
    }
}
