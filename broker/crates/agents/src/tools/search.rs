//! Tools that find files by name, and code by meaning.

use schemars::JsonSchema;
use search::{CodeMatch, CodeRequest, Coverage, FindError, Options};
use serde::{Deserialize, Serialize};

use crate::{
    context::{CallView, Context, blocking_for_caller},
    indexes::{THREADS, walk_options},
    limits::{self, first_lines},
    reply::{Answer, ToolError},
};

pub(super) const CODE: &str = "Find code by what it does, best first.";
pub(super) const FILES: &str = "Find files by parts of their path, or by a glob.";

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
pub(super) struct Found {
    branch: Option<String>,
    files: Vec<String>,
    total: usize,
}

/// Refuses what is longer than anyone means.
pub(super) fn expect_short(query: &str) -> Result<(), ToolError> {
    let (bytes, most) = (query.len(), limits::MAX_QUERY);
    if bytes <= most {
        return Ok(());
    }
    Err(ToolError::new(format!("`query` has {bytes} bytes, at most {most} are searched for")))
}

/// The globs of a pattern. A `|` or `,` between them means any of them, but in `{…}` and `[…]`.
pub(super) fn globs(pattern: &str) -> Vec<String> {
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
