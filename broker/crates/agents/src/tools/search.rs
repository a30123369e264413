//! Tools that find files and places.

use schemars::JsonSchema;
use search::{CodeMatch, CodeRequest, Counted, Coverage, FindError, GrepRequest, Options};
use serde::{Deserialize, Serialize};

use crate::{
    context::{CallView, Context, blocking_for_caller},
    indexes::{THREADS, walk_options},
    limits::{self, count, first_lines},
    reply::{Answer, ToolError},
};

pub(super) const GREP: &str =
    "Find lines by a regular expression, as ripgrep does. At most 50, with the count of the rest.";
pub(super) const CODE: &str = "Find functions, types and sections by what they do, best first.";
pub(super) const FILES: &str = "Find files by parts of their path, or by a glob.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Grep {
    query: String,
    /// Glob
    include_pattern: Option<String>,
    exclude_pattern: Option<String>,
    #[serde(default)]
    case_sensitive: bool,
    branch: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindFiles {
    query: String,
    branch: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindCode {
    query: String,
    branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundCode {
    branch: Option<String>,
    matches: Vec<Chunk>,
    /// Files that are indexed, of how many.
    indexed: usize,
    total: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Chunk {
    file: String,
    first_line: u32,
    last_line: u32,
    symbol: String,
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Grepped {
    branch: Option<String>,
    revision: u64,
    /// `file:line:text`
    matches: Vec<String>,
    total: u64,
    files: u64,
    /// Whether the total may be larger.
    at_least: bool,
    /// Files that could not be read, or are too large.
    #[serde(skip_serializing_if = "is_zero")]
    unsearched: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Found {
    branch: Option<String>,
    files: Vec<String>,
    total: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Refuses what is longer than anyone means.
fn expect_short(query: &str) -> Result<(), ToolError> {
    let (bytes, most) = (query.len(), limits::MAX_QUERY);
    if bytes <= most {
        return Ok(());
    }
    Err(ToolError::new(format!("`query` has {bytes} bytes, at most {most} are searched for")))
}

/// The globs of a pattern. A `|` or `,` between them means any of them, but in `{…}` and `[…]`.
fn globs(pattern: &str) -> Vec<String> {
    let (mut globs, mut from, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, sign) in pattern.char_indices() {
        match sign {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth = depth.saturating_sub(1),
            '|' | ',' if depth == 0 => {
                globs.push(&pattern[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    globs.push(&pattern[from..]);
    globs.into_iter().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

/// Whether a query for files is a glob.
fn is_glob(query: &str) -> bool {
    query.contains(['*', '?', '{']) || (query.contains('[') && query.contains(']'))
}

pub(super) async fn grep_search(context: Context, request: Grep) -> Result<Grepped, ToolError> {
    expect_short(&request.query)?;
    let CallView { view, branch, revision, .. } = context.seen(request.branch.as_deref()).await?;
    let query = GrepRequest {
        include: request.include_pattern.iter().flat_map(|it| globs(it)).collect(),
        exclude: request.exclude_pattern.iter().flat_map(|it| globs(it)).collect(),
        case_sensitive: request.case_sensitive,
        limit: limits::MATCHES,
        ..GrepRequest::new(&request.query)
    };
    blocking_for_caller(move |cancel| {
        let kept = context.indexes.of(&context.workspace);
        let walk = walk_options();
        let options = Options { walk: &walk, threads: THREADS, cancel };
        let found = search::grep(&*view, kept.trigrams(&view), &query, &options);
        let found = found.map_err(|error| ToolError::new(error.to_string()))?;
        Ok(Grepped {
            branch,
            revision: revision.0,
            matches: found.matches.iter().map(|it| format!("{}:{}:{}", it.path, it.line, it.text)).collect(),
            total: found.total_matches,
            files: found.files_with_matches,
            at_least: found.counted == Counted::AtLeast,
            unsearched: found.unsearched,
        })
    })
    .await
}

pub(super) async fn file_search(context: Context, request: FindFiles) -> Result<Found, ToolError> {
    expect_short(&request.query)?;
    let CallView { view, branch, .. } = context.seen(request.branch.as_deref()).await?;
    blocking_for_caller(move |cancel| {
        let walk = walk_options();
        let options = Options { walk: &walk, threads: THREADS, cancel };
        let found = match is_glob(&request.query) {
            true => search::match_files(&*view, &globs(&request.query), limits::PATHS, &options),
            false => {
                let found = search::find_files(&*view, &request.query, limits::PATHS, &options);
                found.map_err(FindError::from)
            }
        };
        let found = found.map_err(|error| ToolError::new(error.to_string()))?;
        let files = found.files.iter().map(|it| it.path.to_string()).collect();
        Ok(Found { branch, files, total: found.total })
    })
    .await
}

pub(super) async fn codebase_search(context: Context, request: FindCode) -> Result<FoundCode, ToolError> {
    expect_short(&request.query)?;
    let CallView { view, branch, .. } = context.seen(request.branch.as_deref()).await?;
    blocking_for_caller(move |cancel| {
        let kept = context.indexes.of(&context.workspace);
        let none =
            || ToolError::new("there is no folder for an index of the code").hint("set BROKER_CACHE_DIR");
        let index = kept.code(&view).ok_or_else(none)?;
        let walk = walk_options();
        let options = Options { walk: &walk, threads: THREADS, cancel };
        let wanted = CodeRequest { query: &request.query, limit: limits::CHUNKS, scorer: None };
        let found = index.search(&*view, &wanted, &options);
        let found = found.map_err(|error| ToolError::new(error.to_string()))?;
        let Coverage { indexed, total } = found.coverage;
        Ok(FoundCode { branch, matches: found.matches.into_iter().map(Chunk::of).collect(), indexed, total })
    })
    .await
}

impl Chunk {
    fn of(it: CodeMatch) -> Self {
        Self {
            file: it.path.to_string(),
            first_line: it.first_line,
            last_line: it.last_line,
            symbol: it.symbol,
            text: first_lines(&it.text, limits::CHUNK_LINES).0,
        }
    }
}

impl Answer for FoundCode {
    fn text(&self) -> String {
        let chunk = |it: &Chunk| {
            let Chunk { file, first_line, last_line, symbol, text } = it;
            format!("{file}:{first_line}-{last_line} {symbol}\n{}", text.trim_end())
        };
        let mut text = match self.matches.is_empty() {
            true => "nothing found".to_owned(),
            false => self.matches.iter().map(chunk).collect::<Vec<_>>().join("\n"),
        };
        if self.indexed < self.total {
            text.push_str(&format!("\nthe index is being made: {} of {} files", self.indexed, self.total));
        }
        text
    }
}

impl Answer for Grepped {
    fn text(&self) -> String {
        let (lines, files) = (count_of(self.total, "line", "lines"), count_of(self.files, "file", "files"));
        let at_least = if self.at_least { "at least " } else { "" };
        let mut text = match self.total {
            0 => "nothing found".to_owned(),
            _ => format!("{at_least}{lines} in {files}"),
        };
        for line in &self.matches {
            text.push_str(&format!("\n{line}"));
        }
        let more = self.total - self.matches.len() as u64;
        if more > 0 {
            text.push_str(&format!("\n… {more} more; narrow the query or use include_pattern"));
        }
        if self.unsearched > 0 {
            text.push_str(&format!("\n{} could not be searched", count_of(self.unsearched, "file", "files")));
        }
        text
    }
}

impl Answer for Found {
    fn text(&self) -> String {
        let more = self.total - self.files.len();
        match (self.files.is_empty(), more) {
            (true, _) => "nothing found".to_owned(),
            (false, 0) => self.files.join("\n"),
            (false, more) => format!("{}\n… {more} more", self.files.join("\n")),
        }
    }
}

fn count_of(number: u64, one: &str, many: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), one, many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_of_several_globs_may_fit() {
        assert_eq!(globs("*.jsx|*.tsx | *.js"), ["*.jsx", "*.tsx", "*.js"]);
        assert_eq!(globs("src/**/*.{a,b}"), ["src/**/*.{a,b}"]);
        assert_eq!(globs("[|]x|{a|b}"), ["[|]x", "{a|b}"]);
        assert_eq!(globs("*.rs, *.py"), ["*.rs", "*.py"]);
        assert_eq!(globs("|"), [""; 0]);
    }
}
