//! Syntax trees, which the host makes and keeps: a text is parsed once for all plugins and branches.
//!
//! Queries are the cheapest way: the host runs them, and only their captures are copied to the plugin. A whole [`Tree`] is copied
//! in one call, too, and is walked here.

use std::{cell::RefCell, collections::HashMap, fmt, ops::Range, rc::Rc};

use crate::bindings::broker::plugin::syntax as host;
pub use host::{Kind, Problem, Source};

/// Length of a node in the table, in numbers; see `wit/broker-plugin.wit`.
const WORDS: usize = 5;

/// Kind of text that does not match the grammar.
const ERROR: &str = "ERROR";

/// Returns the languages that have a grammar, by the identifiers of LSP where it has one.
pub fn languages() -> Vec<String> {
    host::languages()
}

/// Returns the language of a file with this name.
pub fn language_of(path: &str) -> Option<String> {
    host::language_of(path)
}

/// Runs a query in the query language of tree-sitter. If `language` is `None`, the file's name decides.
pub fn query(source: &Source, language: Option<&str>, query: &str) -> Result<Vec<Capture>, Problem> {
    let host::Captures { names, table, cut } = host::query(source, language, query)?;
    if cut {
        return Err(Problem::Unparsed(
            "the query finds too much, or has too many beginnings of matches".to_owned(),
        ));
    }
    let names: Vec<Rc<str>> = names.into_iter().map(Rc::from).collect();
    let capture = |it: &[u32]| Capture {
        in_match: it[0],
        pattern: it[1],
        name: names.get(it[2] as usize).cloned().unwrap_or_else(|| "".into()),
        range: it[3] as usize..it[4] as usize,
    };
    Ok(table.chunks_exact(WORDS).map(capture).collect())
}

/// One capture of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Number of the match, the same for all its captures.
    pub in_match: u32,
    /// Index of the query's pattern, from 0.
    pub pattern: u32,
    /// Name of the capture without the `@`.
    pub name: Rc<str>,
    /// Range in bytes.
    pub range: Range<usize>,
}

/// Syntax tree of a text.
pub struct Tree {
    names: Rc<Names>,
    table: Vec<u32>,
}

/// Names of a grammar's kinds of nodes and fields.
pub struct Names {
    kinds: Vec<Kind>,
    /// The first kind with the name of each kind, by number: a grammar may have several kinds of one name, of which the host's
    /// trees contain any.
    first: Vec<u16>,
    fields: Vec<String>,
}

/// Number of the kind of text that does not match the grammar.
const ERROR_KIND: u16 = u16::MAX;

thread_local! {
    static NAMES: RefCell<HashMap<String, Rc<Names>>> = RefCell::default();
}

impl Tree {
    /// Parses a file of the branch, in the language of its name.
    pub fn of_file(path: &str) -> Result<Self, Problem> {
        let language = language_of(path).ok_or_else(|| Problem::UnknownLanguage(path.to_owned()))?;
        Self::new(&Source::File(path.to_owned()), &language)
    }

    pub fn new(source: &Source, language: &str) -> Result<Self, Problem> {
        let table = host::tree(source, Some(language))?;
        Ok(Self { names: names(language)?, table })
    }

    /// Makes a tree from a table in the host's format; for tests, which have no host.
    pub fn from_table(names: Rc<Names>, table: Vec<u32>) -> Self {
        Self { names, table }
    }

    pub fn root(&self) -> Node<'_> {
        self.node(0)
    }

    /// Returns the node with this [`Node::number`], which must exist.
    pub fn node(&self, number: usize) -> Node<'_> {
        Node { tree: self, at: number }
    }

    /// Returns all nodes, each before its children.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.table.len() / WORDS).map(|at| Node { tree: self, at })
    }
}

/// Returns the names of a language's grammar, which the host is asked for once.
pub fn names(language: &str) -> Result<Rc<Names>, Problem> {
    if let Some(known) = NAMES.with_borrow(|it| it.get(language).cloned()) {
        return Ok(known);
    }
    let names = Rc::new(Names::new(host::kinds(language)?, host::fields(language)?));
    NAMES.with_borrow_mut(|it| it.insert(language.to_owned(), Rc::clone(&names)));
    Ok(names)
}

impl Names {
    /// Makes the names from lists in the order of their numbers. For tests, which have no host.
    pub fn new(kinds: Vec<Kind>, fields: Vec<String>) -> Self {
        let mut known = HashMap::with_capacity(kinds.len());
        let numbered = (0..).zip(&kinds);
        let first =
            numbered.map(|(number, it)| *known.entry((&*it.name, it.named)).or_insert(number)).collect();
        Self { first, kinds, fields }
    }

    /// Returns the number of the kind of nodes with this name.
    pub fn kind(&self, name: &str) -> Option<u16> {
        if name == ERROR {
            return Some(ERROR_KIND);
        }
        let place = self.kinds.iter().position(|it| it.named && it.name == name)?;
        u16::try_from(place).ok()
    }

    /// Returns the number of the field with this name.
    pub fn field(&self, name: &str) -> Option<u16> {
        let place = self.fields.iter().skip(1).position(|it| it == name)? + 1;
        u16::try_from(place).ok()
    }
}

/// Node of a tree.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree,
    at: usize,
}

impl<'t> Node<'t> {
    /// Kind of the node, as the grammar names it; `ERROR` for text that does not match the grammar.
    pub fn kind(self) -> &'t str {
        self.tree.names.kinds.get(usize::from(self.kind_number())).map_or(ERROR, |it| &it.name)
    }

    /// Number of the kind, the same for all kinds with this name; see [`Names::kind`].
    pub fn kind_number(self) -> u16 {
        let number = (self.word(0) & 0xffff) as u16;
        self.tree.names.first.get(usize::from(number)).copied().unwrap_or(number)
    }

    /// Name of the field that the node fills in its parent, if any.
    pub fn field(self) -> Option<&'t str> {
        let field = self.tree.names.fields.get(usize::from(self.field_number()))?;
        Some(field.as_str()).filter(|it| !it.is_empty())
    }

    /// Number of the field, 0 for none; see [`Names::field`].
    pub fn field_number(self) -> u16 {
        (self.word(0) >> 16) as u16
    }

    /// Index of the node among all nodes of the tree.
    pub fn number(self) -> usize {
        self.at
    }

    /// Index of the first node after this one that is not a descendant of it.
    pub fn end_number(self) -> usize {
        self.word(4) as usize
    }

    /// Range in bytes.
    pub fn range(self) -> Range<usize> {
        self.word(2) as usize..self.word(3) as usize
    }

    /// Whether the node is named in the grammar, unlike punctuation and keywords.
    pub fn is_named(self) -> bool {
        self.has(1)
    }

    /// Whether the node stands for text that does not match the grammar.
    pub fn is_error(self) -> bool {
        self.has(1 << 1)
    }

    /// Whether the grammar requires the node and the text lacks it.
    pub fn is_missing(self) -> bool {
        self.has(1 << 2)
    }

    /// Whether the node may occur anywhere, as comments may.
    pub fn is_extra(self) -> bool {
        self.has(1 << 3)
    }

    /// Whether the node contains text that does not match the grammar.
    pub fn has_error(self) -> bool {
        self.has(1 << 4)
    }

    pub fn children(self) -> impl Iterator<Item = Node<'t>> {
        let end = self.word(4) as usize;
        let first = Some(Node { tree: self.tree, at: self.at + 1 }).filter(|it| it.at < end);
        std::iter::successors(first, move |it| {
            let next = it.word(4) as usize;
            (next < end).then_some(Node { tree: it.tree, at: next })
        })
    }

    /// Returns all descendants, each before its own.
    pub fn descendants(self) -> impl Iterator<Item = Node<'t>> {
        (self.at + 1..self.word(4) as usize).map(move |at| Node { tree: self.tree, at })
    }

    fn word(self, number: usize) -> u32 {
        self.tree.table[self.at * WORDS + number]
    }

    fn has(self, flag: u32) -> bool {
        self.word(1) & flag != 0
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kind(), self.range())
    }
}

impl Problem {
    /// Returns a message for people.
    pub fn message(&self) -> String {
        match self {
            Self::UnknownLanguage(what) => format!("there is no grammar for {what}"),
            Self::Unreadable(why) => why.clone(),
            Self::Unparsed(why) => format!("it was not parsed: {why}"),
            Self::BadQuery(why) => format!("the query is wrong: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_one_name_have_one_number() {
        let kind = |name: &str, named| Kind { name: name.to_owned(), named };
        let kinds =
            vec![kind("end", false), kind("x", false), kind("x", true), kind("y", true), kind("x", true)];
        let names = Rc::new(Names::new(kinds, vec![String::new(), "body".to_owned()]));
        assert_eq!(
            (names.kind("x"), names.kind("ERROR"), names.field("body")),
            (Some(2), Some(u16::MAX), Some(1))
        );
        let tree = Tree::from_table(names, vec![3, 1, 0, 2, 3, 4, 1, 0, 1, 2, 65535, 2, 1, 2, 3]);
        let found: Vec<_> = tree.nodes().map(|it| (it.kind(), it.kind_number())).collect();
        assert_eq!(found, [("y", 3), ("x", 2), ("ERROR", u16::MAX)]);
    }
}
