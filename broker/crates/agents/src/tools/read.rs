//! The tool that shows files.

use std::sync::Arc;

use overlay::WorkspacePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::Side;

use super::lines::{Lines, split_lines};
use crate::{
    context::{CallView, Context, blocking, path},
    limits,
    reply::{Answer, ToolError},
    secrets,
};

pub(super) const READ_FILE: &str =
    "Read a file, at most 200 lines and an outline; or several in `paths`, 500 lines in all.";

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFile {
    target_file: Option<String>,
    start_line_one_indexed: Option<usize>,
    end_line_one_indexed_inclusive: Option<usize>,
    #[serde(default)]
    should_read_entire_file: bool,
    /// Such as a.py or a.py:10-40
    #[serde(default)]
    paths: Vec<String>,
    branch: Option<String>,
}

/// The lines of one file, or those of several.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Read {
    branch: Option<String>,
    revision: u64,
    #[serde(flatten)]
    file: Option<Lines>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<Part>,
}

/// One of several files.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Part {
    Lines(Lines),
    Unread { file: String, error: String },
}

/// Lines of a file that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Whole,
    Lines {
        first: usize,
        last: Option<usize>,
    },
    /// This number of lines at the end.
    Last(usize),
}

/// The first lines.
const START: Wanted = Wanted::Lines { first: 1, last: None };

/// Lines and bytes that an answer may still have.
struct Room {
    lines: usize,
    bytes: usize,
}

pub(super) async fn read_file(context: Context, request: ReadFile) -> Result<Read, ToolError> {
    let seen = context.seen(request.branch.as_deref()).await?;
    let mut room = Room { lines: limits::MAX_LINES, bytes: limits::LINE_BYTES };
    if request.paths.is_empty() {
        let file = request.target_file.as_deref();
        let file = file
            .ok_or_else(|| ToolError::new("`target_file` is missing").hint("or name several in `paths`"))?;
        let (file, wanted) = match request.wanted() {
            START => named(&seen, file).await?,
            wanted => (file, wanted),
        };
        let lines = one(&context, &seen, file, wanted, &mut room).await?;
        return Ok(Read {
            branch: seen.branch,
            revision: seen.revision.0,
            file: Some(lines),
            files: Vec::new(),
        });
    }
    room = Room { lines: limits::ALL_LINES, bytes: limits::ALL_BYTES };
    let mut files = Vec::new();
    for name in request.target_file.iter().chain(&request.paths) {
        let (file, wanted) = named(&seen, name).await?;
        let read = match room.is_full() {
            true => Err(ToolError::new("not read: the answer is full; ask again for this file")),
            false => one(&context, &seen, file, wanted, &mut room).await,
        };
        files.push(match read {
            Ok(lines) => Part::Lines(lines),
            Err(error) => Part::Unread { file: file.to_owned(), error: error.message },
        });
    }
    Ok(Read { branch: seen.branch, revision: seen.revision.0, file: None, files })
}

async fn one(
    context: &Context,
    seen: &CallView,
    file: &str,
    wanted: Wanted,
    room: &mut Room,
) -> Result<Lines, ToolError> {
    let path = path("target_file", file)?;
    let content = context.daemon.read_file(&seen.target, path.as_str(), Side::Now).await;
    let content = content.inspect_err(|_| context.session.reads.forget(&path));
    let content = content.map_err(|error| with_ranges(error.into(), file))?;
    let (read, bytes_read) = (path.clone(), content.bytes.clone());
    let mask = context.settings().await?.mask_secrets;
    // A caller that names lines knows the rest.
    let trees = matches!(wanted, START | Wanted::Whole).then(|| Arc::clone(&context.trees));
    let (lines, bytes) = (room.lines, room.bytes);
    let shown = blocking(move || {
        let text = String::from_utf8(content.bytes.to_vec())
            .map_err(|_| ToolError::new(format!("`{path}` is no text: it is not UTF-8")))?;
        let range = wanted.lines(&path, split_lines(&text).count(), lines)?;
        let text = if mask { secrets::masked(&text).into_owned() } else { text };
        Ok(Lines::of(&path, &text, range, bytes, trees.as_deref()))
    })
    .await?;
    context.session.reads.read(&read, bytes_read, shown.numbers(), shown.total());
    room.lines -= shown.count().min(room.lines);
    room.bytes = room.bytes.saturating_sub(shown.text.len());
    Ok(shown)
}

impl Room {
    fn is_full(&self) -> bool {
        self.lines == 0 || self.bytes == 0
    }
}

/// The path and the lines that a text names. A file of just this name is one without lines behind it.
async fn named<'a>(seen: &CallView, text: &'a str) -> Result<(&'a str, Wanted), ToolError> {
    let Some(found) = ranged(text) else { return Ok((text, START)) };
    let Ok(path) = path("target_file", text) else { return Ok(found) };
    let view = Arc::clone(&seen.view);
    let is_file = blocking(move || Ok(view.metadata(&path).is_ok())).await?;
    Ok(if is_file { (text, START) } else { found })
}

/// A path with lines behind it: `a.py:10-40`, `a.py:10-`, `a.py:7`, or `a.py:-5` for the last five.
fn ranged(text: &str) -> Option<(&str, Wanted)> {
    let (file, range) = text.rsplit_once(':').or_else(|| text.rsplit_once('#'))?;
    let number = |it: &str| it.trim().trim_start_matches('L').parse::<usize>().ok();
    if let Some(count) = range.trim().strip_prefix('-') {
        return Some((file, Wanted::Last(number(count)?)));
    }
    let ends = ["-", "..", ","].iter().find_map(|it| range.split_once(it));
    let (first, last) = match ends.map(|(first, last)| (first, last.trim())) {
        None => (number(range)?, Some(number(range)?)),
        Some((first, "" | "end" | "$")) => (number(first)?, None),
        Some((first, last)) => (number(first)?, Some(number(last)?)),
    };
    Some((file, Wanted::Lines { first, last }))
}

/// The error of a path that may have been meant to name lines.
fn with_ranges(error: ToolError, file: &str) -> ToolError {
    if !file.contains([':', '#']) {
        return error;
    }
    let how = "lines of a file are named as a.py:10-40, a.py:10- or, for the last five, a.py:-5";
    ToolError { message: format!("{}; {how}", error.message), ..error }
}

impl ReadFile {
    fn wanted(&self) -> Wanted {
        match self.should_read_entire_file {
            true => Wanted::Whole,
            false => Wanted::Lines {
                first: self.start_line_one_indexed.unwrap_or(1),
                last: self.end_line_one_indexed_inclusive,
            },
        }
    }
}

impl Wanted {
    /// The first and the last line that are wanted of a file with so many, at most `room`.
    fn lines(self, path: &WorkspacePath, total: usize, room: usize) -> Result<(usize, usize), ToolError> {
        let most = limits::LINES.min(room);
        let (first, last) = match self {
            Self::Whole => return Ok((1, total.min(room))),
            Self::Last(0) | Self::Lines { last: Some(0), .. } => {
                return Err(ToolError::new(format!("no line of `{path}` is named: they are counted from 1")));
            }
            Self::Last(count) => (total - count.min(most).min(total) + 1, total),
            Self::Lines { first, last } => (first.max(1), last.unwrap_or(usize::MAX)),
        };
        if first > total.max(1) {
            return Err(ToolError::new(format!("`{path}` has {total} lines")));
        }
        if last < first && total > 0 {
            return Err(ToolError::new(format!("line {last} is before line {first}")));
        }
        Ok((first, last.min(total).min(first + most - 1)))
    }
}

impl Answer for Read {
    fn text(&self) -> String {
        let part = |it: &Part| match it {
            Part::Lines(it) => it.text(),
            Part::Unread { file, error } => format!("{file}: {error}"),
        };
        if let Some(file) = &self.file {
            return file.text();
        }
        let all: Vec<_> = self.files.iter().map(part).collect();
        all.iter().map(|it| it.trim_end_matches('\n')).collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(
        first: Option<usize>,
        last: Option<usize>,
        whole: bool,
        total: usize,
    ) -> Result<(usize, usize), ToolError> {
        let request = ReadFile {
            start_line_one_indexed: first,
            end_line_one_indexed_inclusive: last,
            should_read_entire_file: whole,
            ..ReadFile::default()
        };
        request.wanted().lines(&WorkspacePath::new("a").unwrap(), total, limits::MAX_LINES)
    }

    #[test]
    fn at_most_200_lines_are_read_unless_all_are_wanted() {
        assert_eq!(lines(None, None, false, 1000), Ok((1, 200)));
        assert_eq!(lines(Some(300), Some(900), false, 1000), Ok((300, 499)));
        assert_eq!(lines(Some(990), None, false, 1000), Ok((990, 1000)));
        assert_eq!(lines(None, None, true, 1000), Ok((1, 1000)));
        assert_eq!(lines(Some(7), Some(8), true, 20), Ok((1, 20)));
        assert_eq!(lines(None, None, false, 0), Ok((1, 0)));
        assert_eq!(lines(Some(5), None, false, 4).unwrap_err().message, "`a` has 4 lines");
        assert_eq!(lines(Some(5), Some(4), false, 9).unwrap_err().message, "line 4 is before line 5");
    }

    #[test]
    fn a_path_may_have_lines_behind_it() {
        let lines = |first, last| Wanted::Lines { first, last };
        for (text, wanted) in [
            ("a.py:10-40", lines(10, Some(40))),
            ("a.py:7", lines(7, Some(7))),
            ("a.py:7-", lines(7, None)),
            ("a.py:7-end", lines(7, None)),
            ("a.py:10..40", lines(10, Some(40))),
            ("a.py:10,40", lines(10, Some(40))),
            ("a.py: 10 - 40", lines(10, Some(40))),
            ("a.py:L10-L40", lines(10, Some(40))),
            ("a.py#L10-L40", lines(10, Some(40))),
            ("a.py:-5", Wanted::Last(5)),
        ] {
            assert_eq!(ranged(text), Some(("a.py", wanted)), "{text}");
        }
        for text in ["a.py", "a:b-c", "a.py:10+5", "a.py:-10--5", "a.py:-", "a.py:", "C#", "a.py:1-2-3"] {
            assert_eq!(ranged(text), None, "{text}");
        }
    }

    #[test]
    fn odd_ranges_are_read_as_they_are_meant() {
        let of =
            |wanted: Wanted, total| wanted.lines(&WorkspacePath::new("a").unwrap(), total, limits::MAX_LINES);
        let lines = |first, last| Wanted::Lines { first, last };
        assert_eq!(of(Wanted::Last(5), 20), Ok((16, 20)));
        assert_eq!(of(Wanted::Last(50), 20), Ok((1, 20)));
        assert_eq!(of(Wanted::Last(500), 1000), Ok((801, 1000)), "the last that fit");
        assert_eq!(of(Wanted::Last(5), 0), Ok((1, 0)));
        assert_eq!(of(lines(0, Some(5)), 20), Ok((1, 5)));
        assert_eq!(of(lines(1, Some(5)), 0), Ok((1, 0)));
        let none = "no line of `a` is named: they are counted from 1";
        for wanted in [Wanted::Last(0), lines(0, Some(0)), lines(3, Some(0))] {
            assert_eq!(of(wanted, 20).unwrap_err().message, none);
        }
    }
}
