//! Checks whether a text has errors that the file has not: by its grammar, or else by its brackets.

use std::cell::OnceCell;

use ::syntax::{Flags, Tree, WORDS};

use super::super::{
    file_kind::FileKind,
    parser::{Parser, errors},
    text::Text,
};

pub(super) struct Syntax<'s> {
    before: String,
    parser: &'s Parser<'s>,
    known: OnceCell<Flaws>,
}

/// Errors of a grammar, and brackets that are left open or closed too often.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Flaws {
    errors: usize,
    brackets: [i64; 3],
}

impl<'s> Syntax<'s> {
    pub(super) fn of(file: &Text<'_>, parser: &'s Parser<'s>) -> Self {
        Self { before: file.replaced(&[], None), parser, known: OnceCell::new() }
    }

    pub(super) fn is_worse(&self, text: &str) -> bool {
        if nested_comments(text) > nested_comments(&self.before) {
            return true;
        }
        if self.parser.fits(text) {
            return false;
        }
        let after = self.flaws(text);
        let before = self.known.get_or_init(|| self.flaws(&self.before));
        let is_other = after.brackets != before.brackets && after.brackets != [0; 3];
        // If the grammar does not know the file, brackets show more than errors.
        is_other || after.errors > before.errors + usize::from(before.errors > 0)
    }

    fn flaws(&self, text: &str) -> Flaws {
        match self.parser.tree(text) {
            Some(tree) => Flaws { errors: errors(&tree).len(), brackets: of_tree(&tree) },
            None if self.parser.kind == FileKind::Prose => Flaws { errors: 0, brackets: [0; 3] },
            None => Flaws { errors: 0, brackets: of_text(text) },
        }
    }
}

/// Lines that begin a comment within one: the first one was cut off from its end.
fn nested_comments(text: &str) -> usize {
    let (mut is_open, mut count) = (false, 0);
    for line in text.lines().map(str::trim) {
        let begins = line.starts_with("/*");
        count += usize::from(begins && is_open);
        is_open = (begins || is_open) && !line.ends_with("*/") && !line.contains("*/");
    }
    count
}

const BRACKETS: [(&str, &str); 3] = [("(", ")"), ("[", "]"), ("{", "}")];

/// Returns the number of brackets of each kind that are left open, by the tokens of a tree.
fn of_tree(tree: &Tree) -> [i64; 3] {
    let kinds = tree.kinds();
    let change = |node: &[u32], (open, close): (&str, &str)| {
        let kind = kinds.get((node[0] & 0xffff) as usize).map_or("", |it| &it.0);
        i64::from(kind == open) - i64::from(kind == close)
    };
    let table = tree.table();
    let tokens = table.chunks_exact(WORDS).filter(|it| it[1] & (Flags::NAMED | Flags::MISSING) == 0);
    let tokens: Vec<_> = tokens.collect();
    BRACKETS.map(|brackets| tokens.iter().map(|it| change(it, brackets)).sum())
}

fn of_text(text: &str) -> [i64; 3] {
    BRACKETS.map(|(open, close)| {
        let count = |it: &str| i64::try_from(text.matches(it).count()).unwrap_or(i64::MAX);
        count(open) - count(close)
    })
}
