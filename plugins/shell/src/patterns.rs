//! Functions of a script that are given patterns in quotes, `list "$dir/*.txt"`: they are the ones to expand them, so that
//! `$@` has no quotes on purpose.

use std::collections::HashSet;
use std::ops::Range;

use shuck_ast::{
    Assignment, AssignmentValue, Command, DeclOperand, File, Stmt, Word, WordPart, WordPartNode,
};

use crate::arrays::is_glob;
use crate::commands::variable;
use crate::tree::{Node, command_name, range, walk};

/// The bodies of these functions.
#[derive(Debug, Default)]
pub(crate) struct Patterns(Vec<Range<usize>>);

impl Patterns {
    pub(crate) fn of(file: &File, text: &str) -> Self {
        let mut search = Search { text, functions: Vec::new(), variables: HashSet::new(), calls: Vec::new() };
        walk(&file.body, &mut |it| {
            if let Node::Statement(it) = it {
                search.statement(it);
            }
        });
        search.found()
    }

    /// Whether the function around a place is given a pattern.
    pub(crate) fn reach(&self, at: usize) -> bool {
        self.0.iter().any(|it| it.contains(&at))
    }
}

struct Search<'a> {
    text: &'a str,
    functions: Vec<(String, Range<usize>)>,
    /// Variables that hold a pattern.
    variables: HashSet<String>,
    calls: Vec<(String, &'a [Word])>,
}

impl<'a> Search<'a> {
    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.command {
            Command::Function(it) => {
                let names = it.static_names().map(|it| it.as_str().to_owned());
                self.functions.extend(names.map(|name| (name, range(it.span))));
            }
            Command::Simple(it) => {
                it.assignments.iter().for_each(|it| self.assignment(it));
                let name = command_name(statement, self.text);
                self.calls.extend(name.map(|name| (name.into_owned(), &it.args[..])));
            }
            Command::Decl(it) => it.operands.iter().for_each(|it| {
                if let DeclOperand::Assignment(it) = it {
                    self.assignment(it);
                }
            }),
            _ => {}
        }
    }

    fn assignment(&mut self, it: &Assignment) {
        if let AssignmentValue::Scalar(word) = &it.value
            && are_patterns(&kept(&word.parts, true, self.text))
        {
            self.variables.insert(it.target.name.as_str().to_owned());
        }
    }

    /// The functions that are called with a pattern, and those that these give their arguments to.
    fn found(self) -> Patterns {
        let mut given: HashSet<&str> = HashSet::new();
        loop {
            let bodies = self.functions.iter().filter(|it| given.contains(it.0.as_str()));
            let reached = Patterns(bodies.map(|it| it.1.clone()).collect());
            let is_given = |it: &Word| {
                self.is_pattern(it) || reached.reach(range(it.span).start) && is_argument(it, self.text)
            };
            let calls = self.calls.iter().filter(|it| it.1.iter().any(is_given));
            let more: HashSet<&str> = calls.map(|it| it.0.as_str()).collect();
            if more.is_subset(&given) {
                return reached;
            }
            given.extend(more);
        }
    }

    /// Whether an argument is a pattern that the caller's quotes keep as it is.
    fn is_pattern(&self, word: &Word) -> bool {
        let is_known = |word| variable(word).is_some_and(|it| self.variables.contains(it.as_str()));
        word.has_quoted_parts() && is_known(word) || are_patterns(&kept(&word.parts, false, self.text))
    }
}

/// Whether an argument is one of the function's own: `"$@"`, `"$1"`.
fn is_argument(word: &Word, text: &str) -> bool {
    let written = text[range(word.span)].trim_matches('"').trim_start_matches("${").trim_start_matches('$');
    written.starts_with(|it: char| it == '@' || it == '*' || it.is_ascii_digit())
}

/// Text that is not expanded as a pattern: in quotes or escaped, or all of it. A letter stands for each expansion.
fn kept(parts: &[WordPartNode], is_all: bool, text: &str) -> String {
    let kept = parts.iter().map(|it| match &it.kind {
        WordPart::DoubleQuoted { parts, .. } => kept(parts, true, text),
        WordPart::SingleQuoted { .. } => text[range(it.span)].trim_matches('\'').to_owned(),
        WordPart::Literal(_) if is_all => text[range(it.span)].to_owned(),
        WordPart::Literal(_) => escaped(&text[range(it.span)]),
        _ => "x".to_owned(),
    });
    kept.collect()
}

/// A text without its signs for patterns, but those that are escaped.
fn escaped(literal: &str) -> String {
    let parts = literal.split_inclusive(|it: char| "*?]".contains(it));
    let kept = parts.map(|it| match it.strip_suffix(['*', '?', ']']) {
        Some(before) if before.ends_with('\\') => before.trim_end_matches('\\').to_owned() + "*",
        Some(before) => before.to_owned(),
        None => it.to_owned(),
    });
    kept.collect()
}

/// Whether each word of a text is a pattern. A question ends in `?` as well.
fn are_patterns(text: &str) -> bool {
    let mut words = text.split_whitespace().peekable();
    words.peek().is_some() && words.all(|it| is_glob(it.trim_end_matches('?')))
}
