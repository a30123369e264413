//! The tool that finds lines by a regular expression.

use schemars::JsonSchema;
use search::{Counted, GrepAnswer, GrepRequest, Match, Options};
use serde::{Deserialize, Serialize};

use super::search::{expect_short, globs};
use crate::{
    context::{CallView, Context, blocking_for_caller},
    indexes::{THREADS, walk_options},
    limits::{self, count},
    reply::{Answer, ToolError},
};

pub(super) const GREP: &str =
    "Find lines by a regular expression, as ripgrep does: the first, with the count of the rest.";

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Grep {
    query: String,
    /// Glob
    include_pattern: Option<String>,
    exclude_pattern: Option<String>,
    /// Such as py, rust
    r#type: Option<String>,
    #[serde(default)]
    case_sensitive: bool,
    /// `.` matches line ends
    #[serde(default)]
    multiline: bool,
    output_mode: Option<Mode>,
    /// Lines around
    context: Option<usize>,
    before: Option<usize>,
    after: Option<usize>,
    branch: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Content,
    FilesWithMatches,
    Count,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Grepped {
    branch: Option<String>,
    revision: u64,
    /// `file:line:text`, or `file-line-text` for lines around; files, or `file:lines`.
    matches: Vec<String>,
    total: u64,
    files: u64,
    /// Whether the total may be larger.
    at_least: bool,
    /// Files that could not be read, or are too large.
    #[serde(skip_serializing_if = "is_zero")]
    unsearched: u64,
    /// Entries that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    /// Number of files in which nothing is found; 0 if no file fits the patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Lines around a match, at most.
const MAX_CONTEXT: usize = 20;

/// Lines of an answer with context, about.
const MAX_LINES: usize = 200;

/// Files in one answer.
const MAX_FILES: usize = 200;

impl Grep {
    fn context(&self) -> [usize; 2] {
        [self.before, self.after].map(|it| it.or(self.context).unwrap_or(0).min(MAX_CONTEXT))
    }

    fn request(&self) -> GrepRequest {
        let context = self.context();
        let around: usize = context.iter().sum();
        GrepRequest {
            include: self.include_pattern.iter().flat_map(|it| globs(it)).collect(),
            exclude: self.exclude_pattern.iter().flat_map(|it| globs(it)).collect(),
            file_type: self.r#type.clone(),
            case_sensitive: self.case_sensitive,
            multiline: self.multiline,
            limit: limits::MATCHES.min(MAX_LINES / (1 + around)),
            context,
            ..GrepRequest::new(&self.query)
        }
    }
}

pub(super) async fn grep_search(context: Context, request: Grep) -> Result<Grepped, ToolError> {
    expect_short(&request.query)?;
    let CallView { view, branch, revision, .. } = context.seen(request.branch.as_deref()).await?;
    let (query, mode) = (request.request(), request.output_mode.unwrap_or_default());
    blocking_for_caller(move |cancel| {
        let kept = context.indexes.of(&context.workspace);
        let walk = walk_options();
        let options = Options { walk: &walk, threads: THREADS, cancel };
        let failed = |error: search::GrepError| ToolError::new(error.to_string());
        let found = search::grep(&*view, kept.trigrams(&view), &query, &options).map_err(failed)?;
        let is_none = found.total_matches == 0;
        let searched = is_none.then(|| search::count_files(&*view, &query, &options)).transpose();
        let (matches, more) = listed(&found, mode);
        Ok(Grepped {
            branch,
            revision: revision.0,
            matches,
            total: found.total_matches,
            files: found.files_with_matches,
            at_least: found.counted == Counted::AtLeast,
            unsearched: found.unsearched,
            more,
            searched: searched.map_err(failed)?,
        })
    })
    .await
}

/// Entries of an answer, and the number of those beyond.
fn listed(found: &GrepAnswer, mode: Mode) -> (Vec<String>, u64) {
    let files = found.files.iter().take(MAX_FILES);
    let listed: Vec<_> = match mode {
        Mode::Content => {
            let more = found.total_matches
                - found
                    .matches
                    .iter()
                    .map(|it| it.text.lines().count().max(1) as u64)
                    .sum::<u64>()
                    .min(found.total_matches);
            return (found.matches.iter().flat_map(lines).collect(), more);
        }
        Mode::FilesWithMatches => files.map(|it| it.path.to_string()).collect(),
        Mode::Count => files.map(|it| format!("{}:{}", it.path, it.lines)).collect(),
    };
    let more = found.files_with_matches - listed.len() as u64;
    (listed, more)
}

/// A match with the lines around it, each with its file and number.
fn lines(it: &Match) -> Vec<String> {
    let path = &it.path;
    let around = |from: u64, all: &[String]| -> Vec<_> {
        all.iter().zip(from..).map(|(text, line)| format!("{path}-{line}-{text}")).collect()
    };
    let own: Vec<_> =
        it.text.split('\n').zip(it.line..).map(|(text, line)| format!("{path}:{line}:{text}")).collect();
    let mut lines = around(it.line - it.before.len() as u64, &it.before);
    let below = it.line + own.len() as u64;
    lines.extend(own);
    lines.extend(around(below, &it.after));
    lines
}

impl Answer for Grepped {
    fn text(&self) -> String {
        let (lines, files) = (count_of(self.total, "line", "lines"), count_of(self.files, "file", "files"));
        let at_least = if self.at_least { "at least " } else { "" };
        let mut text = match self.searched {
            Some(0) => "0 files match the pattern: nothing was searched".to_owned(),
            Some(searched) => format!("nothing found in {}", count(searched, "file", "files")),
            None => format!("{at_least}{lines} in {files}"),
        };
        for line in &self.matches {
            text.push_str(&format!("\n{line}"));
        }
        if self.more > 0 {
            text.push_str(&format!("\n… {} more; narrow the query or use include_pattern", self.more));
        }
        if self.unsearched > 0 {
            text.push_str(&format!("\n{} could not be searched", count_of(self.unsearched, "file", "files")));
        }
        text
    }
}

fn count_of(number: u64, one: &str, many: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), one, many)
}

#[cfg(test)]
mod tests {
    use overlay::WorkspacePath;
    use search::FileMatches;

    use super::*;

    fn found() -> GrepAnswer {
        let (path, text) = (WorkspacePath::new("a.rs").unwrap(), "two\nthree".to_owned());
        let (before, after) = (vec!["one".to_owned()], vec!["four".to_owned()]);
        GrepAnswer {
            matches: vec![Match { path: path.clone(), line: 2, column: 1, text, before, after }],
            total_matches: 5,
            files_with_matches: 2,
            files: vec![FileMatches { path, lines: 4 }],
            counted: Counted::All,
            truncated: true,
            scanned: 2,
            from_index: 0,
            unsearched: 0,
        }
    }

    #[test]
    fn entries_are_lines_or_files() {
        let content = ["a.rs-1-one", "a.rs:2:two", "a.rs:3:three", "a.rs-4-four"];
        assert_eq!(listed(&found(), Mode::Content), (content.map(str::to_owned).to_vec(), 3));
        assert_eq!(listed(&found(), Mode::FilesWithMatches), (vec!["a.rs".to_owned()], 1));
        assert_eq!(listed(&found(), Mode::Count), (vec!["a.rs:4".to_owned()], 1));
    }

    #[test]
    fn lines_around_are_bounded() {
        let grep = Grep { context: Some(3), before: Some(100), ..Grep::default() };
        assert_eq!(grep.context(), [20, 3]);
        assert_eq!(grep.request().limit, 8);
        assert_eq!(Grep::default().request().limit, limits::MATCHES);
    }
}
