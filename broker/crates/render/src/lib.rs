//! Formats of a report: one file per format, each with its snapshot.
//!
//! A path that a service resolves against the repository is relative to the workspace's root: all paths of `json`, `jsonl`, `sarif`,
//! `gitlab` and `azure`, and the property `file` of `github`. All others are relative to the current folder, since a person clicks on
//! them, or a tool opens them there; a file that is not below the current folder has an absolute path. A path argument that cannot be
//! read is shown as it was given.
//!
//! A notebook's findings are in cells. Formats that have lines of files only leave the line out if they can, and have cell and line in
//! the message.

mod agent;
mod azure;
mod checkstyle;
mod concise;
mod files;
mod fingerprints;
#[cfg(test)]
pub mod fixture;
mod full;
mod github;
mod gitlab;
mod grouped;
mod json;
mod jsonl;
mod junit;
mod rdjson;
mod rule_counts;
mod sarif;
mod statistics;
mod summary;
mod template;
mod text;
mod xml;

use std::{
    borrow::Cow,
    io::{self, Write},
};

use anstyle::{AnsiColor, Style};
use check_engine::{Finding, Report, Subject};
use config::root::WorkspaceRoot;
use lint::{Rule, Severity, printable};
use overlay::{View, WorkspacePath};

pub use self::{
    files::show_files,
    statistics::statistics,
    summary::{explain_incomplete, explain_parts, why_left_out},
    template::with_placeholders,
};

/// Format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Each finding with the lines it is about
    Full,
    /// One line per finding
    Concise,
    /// One line per finding, below its file
    Grouped,
    /// As few words as will do, for language models
    Agent,
    /// One JSON document
    Json,
    /// One JSON object per line
    Jsonl,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// Code Quality report of GitLab
    Gitlab,
    /// Logging commands of Azure Pipelines
    Azure,
    /// JUnit XML, which most CI systems show
    Junit,
    /// Checkstyle XML
    Checkstyle,
    /// Reviewdog Diagnostic Format, one document
    Rdjson,
    /// Reviewdog Diagnostic Format, one object per line
    Rdjsonl,
}

impl Format {
    /// Whether the format can show the number of findings of each rule.
    pub fn has_statistics(self) -> bool {
        matches!(self, Self::Full | Self::Concise | Self::Grouped | Self::Agent | Self::Json | Self::Jsonl)
    }
}

/// Report with all that a format may use to write it.
pub struct Page<'a> {
    pub report: &'a Report,
    /// View that the texts of code frames are read from.
    pub view: &'a dyn View,
    pub workspace: &'a WorkspaceRoot,
    /// Every rule of a linter, by the linter's name; asked only by formats that describe rules.
    pub rules: &'a dyn Fn(&str) -> Vec<Rule>,
    pub color: bool,
    /// Findings only.
    pub quiet: bool,
    pub shown: DisplayLimit,
}

/// Selection of the findings that people are shown; programs get all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayLimit {
    All,
    /// The first ones, by path and place.
    First(usize),
    /// The most severe ones, and by rule how many others there are.
    MostSevere(usize),
}

/// Writes the report.
pub fn render(format: Format, page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Full => full::render(page, out),
        Format::Concise => concise::render(page, out),
        Format::Grouped => grouped::render(page, out),
        Format::Agent => agent::render(page, out),
        Format::Json => json::render(page, out),
        Format::Jsonl => jsonl::render(page, out),
        Format::Sarif => sarif::render(page, out),
        Format::Github => github::render(page, out),
        Format::Gitlab => gitlab::render(page, out),
        Format::Azure => azure::render(page, out),
        Format::Junit => junit::render(page, out),
        Format::Checkstyle => checkstyle::render(page, out),
        Format::Rdjson => rdjson::render(page, out),
        Format::Rdjsonl => rdjson::render_lines(page, out),
    }
}

impl Page<'_> {
    /// The findings that people are shown.
    fn shown(&self) -> Cow<'_, [Finding]> {
        let all = &self.report.findings;
        match self.shown {
            DisplayLimit::All => all.into(),
            DisplayLimit::First(most) => all[..all.len().min(most)].into(),
            DisplayLimit::MostSevere(most) => self.by_severity().into_iter().take(most).cloned().collect(),
        }
    }

    fn by_severity(&self) -> Vec<&Finding> {
        let mut all: Vec<_> = self.report.findings.iter().collect();
        all.sort_by_key(|it| std::cmp::Reverse(it.severity));
        all
    }

    fn style(&self, style: Style) -> Style {
        if self.color { style } else { Style::new() }
    }

    /// `src/app.py`, or `src/book.ipynb:cell 3`.
    fn shown_file(&self, finding: &Finding) -> String {
        let path = self.workspace.display(&finding.file.path);
        let path = printable(&path);
        match &finding.cell {
            Some(cell) => format!("{path}:cell {}", cell.index + 1),
            None => path.into_owned(),
        }
    }

    /// Subject of an incomplete answer, as seen from the current folder.
    fn shown_subject(&self, subject: &Subject) -> String {
        match subject {
            Subject::Everything => ".".to_owned(),
            Subject::Argument(given) => given.clone(),
            Subject::Path(path) => self.workspace.display(path),
        }
    }
}

/// The message; in a notebook with the place, which the lines of the file do not tell.
fn placed_message(finding: &Finding) -> Cow<'_, str> {
    let at = finding.range.start;
    match &finding.cell {
        Some(cell) => {
            format!("cell {}:{}:{}: {}", cell.index + 1, at.line, at.column, finding.message).into()
        }
        None => Cow::Borrowed(&finding.message),
    }
}

/// The rule that formats name for what could not be checked.
const INCOMPLETE: &str = "broker/incomplete";

const BOLD: Style = Style::new().bold();
const MARK: Style = AnsiColor::Cyan.on_default();
const HELP: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const DIM: Style = AnsiColor::BrightBlue.on_default().bold();

/// `warning python/F401 [*]`, with the severity in its colour.
fn title(page: &Page<'_>, finding: &Finding) -> String {
    let (severity, bold) = (page.style(severity_style(finding.severity)), page.style(BOLD));
    let name = finding.severity.name();
    format!("{severity}{name}{severity:#} {bold}{}{bold:#}{}", finding.rule, mark(page, finding))
}

fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Info | Severity::Hint => AnsiColor::Blue.on_default().bold(),
    }
}

/// ` [*]` for what can be fixed.
fn mark(page: &Page<'_>, finding: &Finding) -> String {
    let style = page.style(MARK);
    if finding.is_fixable() { format!(" [{style}*{style:#}]") } else { String::new() }
}

/// The first line of a message, printable: the rest explains it.
fn first_line(text: &str) -> Cow<'_, str> {
    printable(text.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or_default())
}

/// The lines after the first, printable.
fn further_lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.lines().filter(|it| !it.trim().is_empty()).skip(1).map(|it| printable(it.trim_end()))
}

/// The text with each run of white space, line ends among it, as one space.
fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    printable(&words.join(" ")).into_owned()
}

/// The path of a subject in the words of a program: relative to the workspace, or as it was given.
fn subject_path(subject: &Subject) -> Option<&str> {
    match subject {
        Subject::Everything => None,
        Subject::Argument(given) => Some(given),
        Subject::Path(path) => Some(workspace_path(path)),
    }
}

fn workspace_path(path: &WorkspacePath) -> &str {
    if path.is_root() { "." } else { path.as_str() }
}
