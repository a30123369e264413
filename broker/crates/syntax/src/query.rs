//! Queries in tree-sitter's own language, with its predicates on texts.

use std::{ops::ControlFlow, str};

use thiserror::Error;
use tree_sitter::{QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator as _};

use crate::{Language, Tree, Unparsed};

/// A query that fits a language.
pub struct Query {
    language: Language,
    inner: tree_sitter::Query,
}

/// Error of a text that is no query.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct QueryError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in bytes.
    pub column: usize,
    pub message: String,
}

/// Captures of a query, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captures {
    /// Five numbers for each: the number of the match, that of its pattern, that of the capture's name, and where the
    /// node starts and ends in bytes.
    pub table: Vec<u32>,
    /// Whether there may be more, since too many patterns were under way at once, or too much was found.
    pub is_cut: bool,
}

/// Numbers for each capture.
const WORDS: usize = 5;

/// Number of patterns that may be under way at once. Only a query that may begin anywhere and end nowhere needs more.
const UNDER_WAY: u32 = 65_536;

/// Number of captures that a query may have. A linter needs no more, and each takes memory here and in the guest.
const MAX_CAPTURES: usize = 1_000_000;

impl Query {
    pub fn new(language: Language, text: &str) -> Result<Self, QueryError> {
        let no_grammar = |message| QueryError { line: 1, column: 1, message };
        let grammar = language.grammar().map_err(no_grammar)?;
        let inner = tree_sitter::Query::new(&grammar, text).map_err(|error| QueryError {
            line: error.row + 1,
            column: error.column + 1,
            message: message(&error),
        })?;
        match (0..inner.pattern_count()).find_map(|it| unknown_predicate(&inner, it, text)) {
            Some(error) => Err(error),
            None => Ok(Self { language, inner }),
        }
    }

    pub fn language(&self) -> Language {
        self.language
    }

    /// The names of the captures, by their number.
    pub fn names(&self) -> Vec<String> {
        self.inner.capture_names().iter().map(|it| (*it).to_owned()).collect()
    }

    /// Runs over the whole tree. Asks now and then whether to give up.
    pub fn run(&self, tree: &Tree, give_up: &dyn Fn() -> bool) -> Result<Captures, Unparsed> {
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(UNDER_WAY);
        let mut is_given_up = false;
        let mut look = |_: &QueryCursorState| {
            is_given_up |= give_up();
            if is_given_up { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = QueryCursorOptions::new().progress_callback(&mut look);
        let (root, text) = (tree.inner.root_node(), &tree.text()[..]);
        let mut captures = cursor.captures_with_options(&self.inner, root, text, options);
        let (mut table, mut is_full) = (Vec::new(), false);
        while let Some((found, at)) = captures.next() {
            is_full = table.len() == MAX_CAPTURES * WORDS;
            if is_full {
                break;
            }
            let capture = found.captures()[*at];
            let place = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
            let range = capture.node.byte_range();
            table.extend([
                found.id(),
                place(found.pattern_index),
                capture.index,
                place(range.start),
                place(range.end),
            ]);
        }
        drop(captures);
        let is_cut = is_full || cursor.did_exceed_match_limit();
        if is_given_up { Err(Unparsed::GivenUp) } else { Ok(Captures { table, is_cut }) }
    }
}

/// Error of a predicate that tree-sitter leaves to its caller. Passed over, a slip in its name would find too much.
fn unknown_predicate(query: &tree_sitter::Query, pattern: usize, text: &str) -> Option<QueryError> {
    let predicate = query.general_predicates(pattern).first()?;
    let before = &text[..query.start_byte_for_pattern(pattern)];
    let (line, column) =
        (before.matches('\n').count() + 1, before.len() - before.rfind('\n').map_or(0, |it| it + 1) + 1);
    let name = &predicate.operator;
    Some(QueryError { line, column, message: format!("there is no predicate `#{name}` in this pattern") })
}

/// tree-sitter draws the place below the line as well, which the output does better.
fn message(error: &tree_sitter::QueryError) -> String {
    use tree_sitter::QueryErrorKind as Kind;
    let named = |what: &str| format!("there is no {what} `{}`", error.message.trim_matches('"'));
    match error.kind {
        Kind::NodeType => named("kind of node"),
        Kind::Field => named("field"),
        Kind::Capture => named("capture"),
        Kind::Structure => "no tree of this language has such nodes in each other".to_owned(),
        Kind::Syntax => "a bracket or a name is wrong here".to_owned(),
        Kind::Predicate | Kind::Language => error.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, query: &str) -> Result<Vec<String>, QueryError> {
        let python = Language::named("python").unwrap();
        let tree = Tree::parse(python, text.to_owned().into(), &|| false).unwrap();
        let query = Query::new(python, query)?;
        let (names, captures) = (query.names(), query.run(&tree, &|| false).unwrap());
        let shown =
            |it: &[u32]| format!("{}={}", names[it[2] as usize], &text[it[3] as usize..it[4] as usize]);
        Ok(captures.table.chunks(5).map(shown).collect())
    }

    #[test]
    fn captures_come_in_the_order_of_the_text() {
        let text = "def f(a): g(a)\ndef g(b): f(b)\n";
        let query = "(call function: (identifier) @called) (function_definition name: (identifier) @name)";
        assert_eq!(found(text, query).unwrap(), ["name=f", "called=g", "name=g", "called=f"]);
        let query = r#"((identifier) @x (#match? @x "^f$"))"#;
        assert_eq!(found(text, query).unwrap(), ["x=f", "x=f"]);
    }

    #[test]
    fn what_is_found_is_bounded() {
        let python = Language::named("python").unwrap();
        let tree = Tree::parse(python, "x\n".repeat(20_000).into(), &|| false).unwrap();
        let run = |count: usize| Query::new(python, &"(_) @a ".repeat(count)).unwrap().run(&tree, &|| false);
        let few = run(2).unwrap();
        assert_eq!((few.table.len() / WORDS, few.is_cut), (2 * 40_001, false));
        let many = run(30).unwrap();
        assert_eq!((many.table.len() / WORDS, many.is_cut), (MAX_CAPTURES, true));
    }

    #[test]
    fn a_slip_is_told_with_its_place() {
        let wrong = |query: &str| found("", query).unwrap_err().to_string();
        assert_eq!(wrong("(call)\n (no_such) @x"), "line 2, column 3: there is no kind of node `no_such`");
        assert_eq!(wrong("(call fun: (identifier))"), "line 1, column 7: there is no field `fun`");
        assert!(wrong("(call").starts_with("line 1, column "));
        assert_eq!(
            wrong("(call)\n ((identifier) @x (#odd? @x \"f\"))"),
            "line 2, column 2: there is no predicate `#odd?` in this pattern"
        );
    }
}
