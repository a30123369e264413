//! Tools that show files and folders.

use std::sync::Arc;

use agent_tools::edit::{self, OutlineEntry};
use overlay::{FileKind, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::Trees;
use workspaces::{DaemonError, PageRequest, Side};

use crate::{
    context::{CallView, Context, blocking, path},
    limits,
    reply::{Answer, ToolError},
    secrets,
};

pub(super) const READ_FILE: &str =
    "Read a file of the branch, at most 200 lines a call. A long one comes with an outline.";
pub(super) const LIST_DIR: &str = "List a directory.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFile {
    target_file: String,
    start_line_one_indexed: Option<usize>,
    end_line_one_indexed_inclusive: Option<usize>,
    #[serde(default)]
    should_read_entire_file: bool,
    branch: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListDir {
    relative_workspace_path: Option<String>,
    branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Lines {
    branch: Option<String>,
    revision: u64,
    file: String,
    /// Number of the first line that is shown, from 1; 0 if there is none.
    first_line: usize,
    last_line: usize,
    total_lines: usize,
    text: String,
    /// Symbols of a file that is not shown whole, as `line kind name`, indented below those around them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outline: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Directory {
    branch: Option<String>,
    path: String,
    /// Directories end with `/`.
    entries: Vec<String>,
    is_all: bool,
}

pub(super) async fn read_file(context: Context, request: ReadFile) -> Result<Lines, ToolError> {
    let seen = context.seen(request.branch.as_deref()).await?;
    let path = path("target_file", &request.target_file)?;
    let content = context.daemon.read_file(&seen.target, path.as_str(), Side::Now).await?;
    let mask = context.settings().await?.mask_secrets;
    let trees = Arc::clone(&context.trees);
    blocking(move || {
        let text = String::from_utf8(content.bytes.to_vec())
            .map_err(|_| ToolError::new(format!("`{path}` is no text: it is not UTF-8")))?;
        let (first_line, last_line) = request.lines(split_lines(&text).count())?;
        let text = if mask { secrets::masked(&text).into_owned() } else { text };
        let shown = lines(&text, first_line, last_line);
        let shown_lines = split_lines(&shown).count();
        let last_line = if shown_lines == 0 { 0 } else { first_line + shown_lines - 1 };
        let total_lines = split_lines(&text).count();
        let is_whole = shown_lines == total_lines;
        let outline = if is_whole { Vec::new() } else { outline(&path, &text, &trees) };
        Ok(Lines {
            branch: seen.branch,
            revision: content.revision.0,
            file: path.to_string(),
            first_line: if shown_lines == 0 { 0 } else { first_line },
            last_line,
            total_lines,
            text: shown,
            outline,
        })
    })
    .await
}

impl ReadFile {
    /// The first and the last line that are wanted of a file with so many.
    fn lines(&self, total: usize) -> Result<(usize, usize), ToolError> {
        let first = self.start_line_one_indexed.unwrap_or(1).max(1);
        if self.should_read_entire_file {
            return Ok((1, total.min(limits::MAX_LINES)));
        }
        if first > total.max(1) {
            return Err(ToolError::new(format!("`{}` has {total} lines", self.target_file)));
        }
        let last = self.end_line_one_indexed_inclusive.unwrap_or(usize::MAX);
        if last < first {
            return Err(ToolError::new(format!("line {last} is before line {first}")));
        }
        Ok((first, last.min(total).min(first + limits::LINES - 1)))
    }
}

/// The symbols of a text by their lines. Of too many, the innermost are left out.
fn outline(path: &WorkspacePath, text: &str, trees: &Trees) -> Vec<String> {
    let mut all = edit::outline(path, text, trees);
    let total = all.len();
    while let Some(deepest) = all.iter().map(|it| it.depth).max().filter(|it| *it > 0)
        && all.len() > limits::SYMBOLS
    {
        all.retain(|it| it.depth < deepest);
    }
    all.truncate(limits::SYMBOLS);
    let more = total - all.len();
    let shown = all.iter().map(outline_line);
    shown.chain((more > 0).then(|| format!("… {more} more"))).collect()
}

/// `line kind name`, with the name's depth.
fn outline_line(it: &OutlineEntry) -> String {
    let indent = "  ".repeat(it.depth);
    let space = if it.kind.is_empty() { "" } else { " " };
    format!("{} {indent}{}{space}{}", it.line, it.kind, it.name)
}

/// The lines of a text with their ends, as findings count them: a carriage return alone ends one as well.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.find(['\n', '\r']).map_or(rest.len(), |it| it + 1);
        let is_half = rest[..end].ends_with('\r') && rest[end..].starts_with('\n');
        let (line, below) = rest.split_at(if is_half { end + 1 } else { end });
        rest = below;
        (!line.is_empty()).then_some(line)
    })
}

/// Whole lines from `first` to `last`, as many as fit.
fn lines(text: &str, first: usize, last: usize) -> String {
    let mut shown = String::new();
    for line in split_lines(text).take(last).skip(first - 1) {
        if shown.len() + line.len() > limits::LINE_BYTES && !shown.is_empty() {
            break;
        }
        let end = line.floor_char_boundary(limits::LINE_BYTES);
        shown.push_str(&line[..end]);
        if end < line.len() {
            shown.push_str(&format!("… {} more bytes of this line\n", line.len() - end));
        }
    }
    shown
}

pub(super) async fn list_dir(context: Context, request: ListDir) -> Result<Directory, ToolError> {
    let CallView { target, branch, .. } = context.seen(request.branch.as_deref()).await?;
    let path =
        path("relative_workspace_path", request.relative_workspace_path.as_deref().unwrap_or_default())?;
    let page = PageRequest { size: limits::ENTRIES, token: String::new() };
    let listed = context.daemon.list_directory(&target, path.as_str(), &page, Side::Now).await;
    let listed = listed.map_err(|error| match error {
        DaemonError::File { source, .. } if source.kind() == std::io::ErrorKind::NotADirectory => {
            ToolError::new(format!("`{path}` is a file")).hint("`read_file` shows it")
        }
        error => error.into(),
    })?;
    let entry = |(entry, target): &(overlay::Entry, Option<String>)| match (entry.kind, target) {
        (FileKind::Directory, _) => format!("{}/", entry.name),
        (_, Some(target)) => format!("{} -> {target}", entry.name),
        (_, None) => entry.name.to_string(),
    };
    Ok(Directory {
        branch,
        path: path.to_string(),
        entries: listed.entries.items.iter().map(entry).collect(),
        is_all: listed.entries.next_token.is_empty() && listed.not_utf8 == 0,
    })
}

impl Answer for Lines {
    fn text(&self) -> String {
        let Self { file, first_line, last_line, total_lines, text, .. } = self;
        let is_whole = *first_line <= 1 && last_line == total_lines;
        let head = match is_whole {
            true => format!("{file}, {total_lines} lines"),
            false => format!("{file}, lines {first_line}-{last_line} of {total_lines}"),
        };
        let mut answer = format!("{head}\n{text}");
        if !self.outline.is_empty() {
            let end = if answer.ends_with('\n') { "" } else { "\n" };
            answer.push_str(&format!("{end}outline:\n{}", self.outline.join("\n")));
        }
        answer
    }
}

impl Answer for Directory {
    fn text(&self) -> String {
        let rest = if self.is_all { "" } else { "\n… and more, or names that are not UTF-8" };
        match self.entries.is_empty() {
            true => "empty".to_owned(),
            false => format!("{}{rest}", self.entries.join("\n")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(first: Option<usize>, last: Option<usize>, whole: bool) -> ReadFile {
        ReadFile {
            target_file: "a".to_owned(),
            start_line_one_indexed: first,
            end_line_one_indexed_inclusive: last,
            should_read_entire_file: whole,
            branch: None,
        }
    }

    #[test]
    fn at_most_200_lines_are_read_unless_all_are_wanted() {
        assert_eq!(wanted(None, None, false).lines(1000), Ok((1, 200)));
        assert_eq!(wanted(Some(300), Some(900), false).lines(1000), Ok((300, 499)));
        assert_eq!(wanted(Some(990), None, false).lines(1000), Ok((990, 1000)));
        assert_eq!(wanted(None, None, true).lines(1000), Ok((1, 1000)));
        assert_eq!(wanted(Some(7), Some(8), true).lines(20), Ok((1, 20)));
        assert_eq!(wanted(None, None, false).lines(0), Ok((1, 0)));
        assert_eq!(wanted(Some(5), None, false).lines(4).unwrap_err().message, "`a` has 4 lines");
        assert_eq!(wanted(Some(5), Some(4), false).lines(9).unwrap_err().message, "line 4 is before line 5");
    }

    #[test]
    fn an_outline_leaves_out_what_is_innermost() {
        let trees = Trees::new(1 << 20);
        let shown = |text: &str| outline(&WorkspacePath::new("a.ts").unwrap(), text, &trees);
        let class = |members: usize| format!("class A {{\n{}}}\n", "  m() {}\n".repeat(members));
        assert_eq!(shown(&class(2)), ["1 class A", "2   method m", "3   method m"]);
        assert_eq!(shown(&class(limits::SYMBOLS)), ["1 class A", "… 100 more"]);
        let many = shown(&"type A = 1;\n".repeat(limits::SYMBOLS + 1));
        assert_eq!((many.len(), many[100].as_str()), (101, "… 1 more"));
    }

    #[test]
    fn lines_are_whole() {
        assert_eq!(lines("a\nb\r\nc", 2, 3), "b\r\nc");
        assert_eq!(lines("", 1, 0), "");
        assert_eq!(lines("a\rb\r\nc\r\n", 2, 3), "b\r\nc\r\n", "as findings count them");
    }
}
