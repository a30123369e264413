//! Places of names: on a line, or where they are defined.

use std::sync::Arc;

use agent_tools::edit;
use lint::LineColumn;
use overlay::{View, WorkspacePath};
use search::{GrepRequest, Options};
use syntax::Trees;

use crate::{
    context::{CallView, Context, blocking_for_caller},
    indexes::{THREADS, walk_options},
    reply::ToolError,
};

/// Place that a query is about.
pub(super) struct Place {
    pub(super) path: WorkspacePath,
    pub(super) at: Option<LineColumn>,
    /// Whether a definition of the name is there.
    pub(super) is_definition: bool,
}

/// Files that have a name and are looked into for its definition.
const FILES: usize = 500;

/// Definitions of one name that a message lists.
const LISTED: usize = 20;

/// The place at which a name is defined, in one file or in any; in one file else where it is used first.
pub(super) async fn named(
    context: &Context,
    seen: &CallView,
    symbol: &str,
    file: Option<WorkspacePath>,
) -> Result<Place, ToolError> {
    let (view, trees, symbol) = (Arc::clone(&seen.view), Arc::clone(&context.trees), symbol.to_owned());
    let kept = context.indexes.of(&context.workspace);
    blocking_for_caller(move |cancel| {
        let walk = walk_options();
        let options = Options { walk: &walk, threads: THREADS, cancel };
        let files = match &file {
            Some(file) => vec![file.clone()],
            None => {
                files_with(&symbol, |request| search::grep(&*view, kept.trigrams(&view), request, &options))?
            }
        };
        let mut found = Vec::new();
        for path in files {
            definitions(&*view, path, &symbol, &trees, &mut found);
        }
        match (found.len(), file) {
            (1, _) => found.swap_remove(0).0.ok_or_else(|| nowhere(&symbol)),
            (0, Some(path)) => first_use(&*view, path, &symbol),
            (0, None) => Err(nowhere(&symbol)),
            _ => Err(several(&symbol, found.into_iter().map(|it| it.1))),
        }
    })
    .await
}

fn nowhere(symbol: &str) -> ToolError {
    ToolError::new(format!("no definition of `{symbol}` is known here"))
        .hint("name a `line` of `target_file` that has it; `grep_search` finds one")
}

fn several(symbol: &str, places: impl ExactSizeIterator<Item = String>) -> ToolError {
    let count = places.len();
    let mut listed: Vec<_> = places.take(LISTED).collect();
    if count > LISTED {
        listed.push(format!("… {} more", count - LISTED));
    }
    ToolError::new(format!("`{symbol}` is defined {count} times:\n{}", listed.join("\n")))
        .hint("name `target_file`, its `line`, or what is around it as `Class.method`")
}

/// Files that have the last part of a name as a word.
fn files_with(
    symbol: &str,
    grep: impl FnOnce(&GrepRequest) -> Result<search::GrepAnswer, search::GrepError>,
) -> Result<Vec<WorkspacePath>, ToolError> {
    let request =
        GrepRequest { limit: 0, ..GrepRequest::new(&format!(r"\b{}\b", regex::escape(last(symbol)))) };
    let found = grep(&request).map_err(|error| ToolError::new(error.to_string()))?;
    Ok(found.files.into_iter().take(FILES).map(|it| it.path).collect())
}

fn last(symbol: &str) -> &str {
    let bare = symbol.trim().trim_end_matches("()");
    bare.rsplit(['.', ':', '/', '#']).next().unwrap_or(bare)
}

type Found = (Option<Place>, String);

/// Adds the definitions of a name in one file, with their lines in words.
fn definitions(view: &dyn View, path: WorkspacePath, symbol: &str, trees: &Trees, found: &mut Vec<Found>) {
    let Some(text) = text(view, &path) else { return };
    for site in edit::definitions_named(&path, &text, symbol, trees) {
        let at = position(&text, site.name.start);
        let line = text.lines().nth((at.line - 1) as usize).unwrap_or_default().trim();
        let told = format!("{path}:{}: {line}", at.line);
        found.push((Some(Place { path: path.clone(), at: Some(at), is_definition: true }), told));
    }
}

fn first_use(view: &dyn View, path: WorkspacePath, symbol: &str) -> Result<Place, ToolError> {
    let text =
        text(view, &path).ok_or_else(|| ToolError::new(format!("`{path}` is no text that can be read")))?;
    let mut lines = text.lines().zip(1..);
    let at = lines.find_map(|(text, line)| Some(LineColumn { line, column: word(text, last(symbol))? }));
    let at = at.ok_or_else(|| ToolError::new(format!("`{symbol}` is not in `{path}`")))?;
    Ok(Place { path, at: Some(at), is_definition: false })
}

fn text(view: &dyn View, path: &WorkspacePath) -> Option<String> {
    String::from_utf8(view.read(path).ok()?.to_vec()).ok()
}

/// Line and column, in Unicode scalar values, of a byte.
fn position(text: &str, at: usize) -> LineColumn {
    let before = &text[..at];
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    let number = |it: usize| u32::try_from(it + 1).unwrap_or(u32::MAX);
    LineColumn { line: number(before.matches('\n').count()), column: number(before[start..].chars().count()) }
}

/// The position of a name on a line.
pub(super) fn on_line(text: &str, path: &str, line: u32, symbol: &str) -> Result<LineColumn, ToolError> {
    let found = text.lines().nth((line.max(1) - 1) as usize);
    let found = found.ok_or_else(|| ToolError::new(format!("`{path}` has no line {line}")))?;
    let column = whole_word(found, symbol).ok_or_else(|| {
        ToolError::new(format!("`{symbol}` is not on line {line}: `{}`", found.trim()))
            .hint("`read_file` or `grep_search` tell lines, or leave `line` out")
    })?;
    Ok(LineColumn { line, column })
}

/// The column of a word, in Unicode scalar values from 1; of any place with these letters if it is no word.
fn whole_word(line: &str, word: &str) -> Option<u32> {
    self::word(line, word).or_else(|| column(line, line.find(word)?))
}

/// The column of a word that stands alone.
fn word(line: &str, word: &str) -> Option<u32> {
    let is_part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let is_whole = |at: &usize| {
        !is_part(line[..*at].chars().next_back()) && !is_part(line[at + word.len()..].chars().next())
    };
    let at = line.match_indices(word).map(|(at, _)| at).find(is_whole)?;
    column(line, at)
}

fn column(line: &str, at: usize) -> Option<u32> {
    u32::try_from(line[..at].chars().count() + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_a_word_first() {
        assert_eq!(whole_word("let adder = add(1);", "add"), Some(13));
        assert_eq!(whole_word("é = add", "add"), Some(5));
        assert_eq!(whole_word("adder", "add"), Some(1));
        assert_eq!(whole_word("other", "add"), None);
    }

    #[test]
    fn a_position_counts_characters() {
        assert_eq!(position("a\né b", 5), LineColumn { line: 2, column: 3 });
        assert_eq!(last("A::b()"), "b");
    }
}
