//! `broker plugin tree`

use std::{
    collections::HashMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use config::folders;
use lint::{LineColumn, LineTable, counted, printable};
use overlay::{ContentHash, WorkspacePath, io_reason};
use serde::Serialize;
use syntax::{Flags, Language, Query, Tree, Trees, WORDS};

use crate::{CliError, Exit, cli::Session};

/// Show the syntax tree of a file, or what a query finds in it
///
/// The trees and queries are those that plugins get. Each node has its kind and its range: line and column, from 1, columns in
/// characters. A name with a colon is the field of the node that it is a part of. Signs and keywords are in quotes, as in a query.
/// `ERROR` is text that does not fit the grammar, `MISSING` what the grammar wants and the text has not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker plugin tree src/app.py
  broker plugin tree src/app.py --query '(call function: (identifier) @name)'
  echo 'x == None' | broker plugin tree - --language python")]
pub(in crate::cli) struct Args {
    /// The file, or `-` for standard input
    file: PathBuf,

    /// Show the captures of this query, match by match, in place of the tree
    #[arg(long, conflicts_with = "query_file")]
    query: Option<String>,

    /// The same with the query in this file
    #[arg(long, value_name = "FILE")]
    query_file: Option<PathBuf>,

    /// The language of the file [default: that of its name]
    #[arg(long)]
    language: Option<String>,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(in crate::cli) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let language = language(args)?;
    let query = query(args, language, session)?;
    let text = Bytes::from(match args.file.as_os_str() == "-" {
        true => session.read_stdin()?,
        false => read(&args.file, session)?,
    });
    let (cancel, content) = (session.process_context.cancel.clone(), ContentHash::of(&text));
    let give_up = || cancel.is_cancelled();
    let unparsed = |why: syntax::Unparsed| CliError::files(format!("{}: {why}", args.file.display()));
    let tree = Trees::new(0).tree(language, text, content, &give_up).map_err(unparsed)?;
    let shown = match &query {
        None => match args.json {
            true => crate::cli::json(&TreeAnswer::new(&tree)),
            false => nodes_as_text(&tree),
        },
        Some(query) => {
            let found = query.run(&tree, &give_up).map_err(unparsed)?;
            let answer = QueryAnswer::new(&tree, &query.names(), &found);
            if answer.cut {
                session.messages.warning("the query finds more than is shown; to a plugin that is an error");
            }
            if args.json { crate::cli::json(&answer) } else { answer.text() }
        }
    };
    session.print(&shown)?;
    Ok(Exit::Clean)
}

fn language(args: &Args) -> Result<Language, CliError> {
    let by_name = || Language::of(&WorkspacePath::new(args.file.file_name()?.to_str()?).ok()?);
    let (found, what) = match &args.language {
        Some(name) => (Language::named(name), format!("`{name}`")),
        None => (by_name(), args.file.display().to_string()),
    };
    found.ok_or_else(|| {
        let mut names: Vec<_> = Language::all().map(Language::name).collect();
        names.sort_unstable();
        let error = CliError::usage(format!("there is no grammar for {what}"));
        error.hint(format!("--language is one of {}", names.join(", ")))
    })
}

fn query(args: &Args, language: Language, session: &Session) -> Result<Option<Query>, CliError> {
    let (text, origin) = match (&args.query, &args.query_file) {
        (Some(text), _) => (text.clone(), "the query".to_owned()),
        (None, Some(file)) => {
            (String::from_utf8_lossy(&read(file, session)?).into_owned(), file.display().to_string())
        }
        (None, None) => return Ok(None),
    };
    let query = Query::new(language, &text).map_err(|error| {
        let error = CliError::usage(format!("{origin}: {error}"));
        error.hint("without a query, this command shows what nodes and fields are called")
    })?;
    match query.names().is_empty() {
        true => {
            let error = CliError::usage(format!("{origin}: nothing is captured"));
            Err(error.hint("name what a rule needs: `(identifier) @name`"))
        }
        false => Ok(Some(query)),
    }
}

fn read(file: &Path, session: &Session) -> Result<Vec<u8>, CliError> {
    let unreadable =
        |error| CliError::files(format!("cannot read {}: {}", file.display(), io_reason(&error)));
    folders::read(&session.cwd()?.join(file)).map_err(unreadable)
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Position {
    line: u32,
    /// Column in characters.
    column: u32,
    byte: u32,
}

#[derive(Serialize)]
struct TreeAnswer {
    language: &'static str,
    /// Whether some of the text does not fit the grammar.
    has_error: bool,
    /// Nodes in preorder; a node's descendants follow it, with a greater depth.
    nodes: Vec<Node>,
}

#[derive(Serialize)]
struct Node {
    depth: usize,
    kind: String,
    /// Whether the kind is a name in the grammar, and not the text itself.
    named: bool,
    field: Option<String>,
    start: Position,
    end: Position,
    error: bool,
    missing: bool,
    #[serde(skip)]
    is_leaf: bool,
}

impl TreeAnswer {
    fn new(tree: &Tree) -> Self {
        let (kinds, fields, lines) = (tree.kinds(), tree.fields(), LineTable::new(tree.text()));
        let (mut nodes, mut open) = (Vec::new(), Vec::<usize>::new());
        let table = tree.table();
        for (number, &[kind, flags, start, end, after]) in table.as_chunks::<WORDS>().0.iter().enumerate() {
            open.retain(|it| *it > number);
            let known = kinds.get((kind & 0xffff) as usize);
            let field = fields.get((kind >> 16) as usize).filter(|it| !it.is_empty());
            nodes.push(Node {
                depth: open.len(),
                kind: known.map_or("ERROR", |(name, _)| name).to_owned(),
                named: flags & Flags::NAMED != 0,
                field: field.cloned(),
                start: position(&lines, start),
                end: position(&lines, end),
                error: flags & Flags::ERROR != 0,
                missing: flags & Flags::MISSING != 0,
                is_leaf: after as usize == number + 1,
            });
            open.push(after as usize);
        }
        Self { language: tree.language().name(), has_error: tree.has_error(), nodes }
    }
}

fn position(lines: &LineTable<'_>, byte: u32) -> Position {
    let LineColumn { line, column } = lines.scalar(byte);
    Position { line, column, byte }
}

fn range(start: Position, end: Position) -> String {
    format!("{}:{}-{}:{}", start.line, start.column, end.line, end.column)
}

/// Formats a tree as an S-expression, one node per line; named ones without parts are followed by their text.
fn nodes_as_text(tree: &Tree) -> String {
    let nodes = TreeAnswer::new(tree).nodes;
    let mut text = String::new();
    // Whether each open node has a bracket.
    let mut open: Vec<bool> = Vec::new();
    for (index, it) in nodes.iter().enumerate() {
        let has_bracket = it.named || it.missing;
        let field = it.field.as_ref().map_or_else(String::new, |field| format!("{field}: "));
        let kind = if it.named { it.kind.clone() } else { quoted(&it.kind) };
        let missing = if it.missing { "MISSING " } else { "" };
        let bracket = if has_bracket { "(" } else { "" };
        let (indent, range) = (2 * it.depth, range(it.start, it.end));
        let _to_a_string = write!(text, "{:indent$}{field}{bracket}{missing}{kind} {range}", "");
        open.truncate(it.depth);
        open.push(has_bracket);
        let next = nodes.get(index + 1).map_or(0, |it| it.depth);
        let closed = open[next.min(open.len())..].iter().filter(|it| **it).count();
        text += &")".repeat(closed);
        if it.is_leaf && it.named && !it.missing {
            let _to_a_string = write!(text, "  ; {}", excerpt(tree.text(), it.start, it.end));
        }
        text.push('\n');
    }
    text
}

/// Quotes a text as queries do.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.escape_debug())
}

/// The first line of a text, if it is not too long.
fn excerpt(text: &[u8], start: Position, end: Position) -> String {
    const MAX_EXCERPT_CHARS: usize = 60;
    let text = String::from_utf8_lossy(&text[start.byte as usize..end.byte as usize]).into_owned();
    let first = text.lines().next().unwrap_or_default();
    let shown: String = first.chars().take(MAX_EXCERPT_CHARS).collect();
    let rest = if shown.len() < text.trim_end().len() { " …" } else { "" };
    format!("{}{rest}", printable(&shown))
}

#[derive(Serialize)]
struct QueryAnswer {
    language: &'static str,
    matches: Vec<Match>,
    /// Whether there may be more matches.
    cut: bool,
}

/// The captures of one match.
#[derive(Serialize)]
struct Match {
    /// The number that all of its captures have.
    in_match: u32,
    /// Number of the pattern in the query, from 0.
    pattern: u32,
    captures: Vec<Capture>,
}

#[derive(Serialize)]
struct Capture {
    name: String,
    start: Position,
    end: Position,
    text: String,
    #[serde(skip)]
    excerpt: String,
}

impl QueryAnswer {
    fn new(tree: &Tree, names: &[String], found: &syntax::Captures) -> Self {
        let lines = LineTable::new(tree.text());
        let mut matches: Vec<Match> = Vec::new();
        let mut places = HashMap::new();
        for &[in_match, pattern, name, start, end] in found.table.as_chunks::<5>().0 {
            let place = *places.entry(in_match).or_insert_with(|| {
                matches.push(Match { in_match, pattern, captures: Vec::new() });
                matches.len() - 1
            });
            let text = String::from_utf8_lossy(&tree.text()[start as usize..end as usize]).into_owned();
            let (start, end) = (position(&lines, start), position(&lines, end));
            let excerpt = excerpt(tree.text(), start, end);
            let name = names.get(name as usize).cloned().unwrap_or_default();
            matches[place].captures.push(Capture { name, start, end, text, excerpt });
        }
        Self { language: tree.language().name(), matches, cut: found.is_cut }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for Match { in_match, pattern, captures } in &self.matches {
            let _to_a_string = writeln!(text, "match {in_match}, pattern {pattern}");
            for Capture { name, start, end, excerpt, .. } in captures {
                let _to_a_string = writeln!(text, "  @{name} {}  ; {excerpt}", range(*start, *end));
            }
        }
        let count = self.matches.iter().map(|it| it.captures.len()).sum::<usize>();
        let matches = counted(self.matches.len(), "match");
        let _to_a_string = writeln!(text, "{matches}, {}", counted(count, "capture"));
        text
    }
}

#[cfg(test)]
mod tests;
