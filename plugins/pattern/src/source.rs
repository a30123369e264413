//! A text with its tree, as ast-grep's crates want to see one.
//!
//! The host's tree is a table in which a node stands before its parts. What the table does not say at once, which
//! node a part belongs to and which stands before it, is found in one pass when the tree comes, so that no step of a
//! match is a search. Leaves out edits: fixes are the host's to apply.

use std::{borrow::Cow, iter, ops::Range, rc::Rc};

use ast_grep_core::{
    AstGrep, Doc, Position,
    source::{Edit, SgNode},
};
use broker_plugin_sdk::syntax::{self, Problem, Tree};

use crate::{host, languages::Lang};

/// A text, or a part of it in another language.
#[derive(Clone)]
pub(crate) struct Source(Rc<Inner>);

struct Inner {
    lang: Lang,
    text: Rc<Text>,
    tree: Tree,
    /// Start of the tree's text in the whole text.
    offset: usize,
    /// The bytes of an opening that is hidden.
    hidden: usize,
    /// The first part of the root that is not hidden.
    first: u32,
    links: Vec<Link>,
}

struct Text {
    /// The text in the form that ast-grep needs.
    text: String,
    /// Starts of the lines after the first.
    breaks: Vec<usize>,
}

/// Relations of a node that the table lacks, or that take time to find in it.
#[derive(Clone, Copy)]
struct Link {
    kind: u16,
    parent: u32,
    previous: u32,
    /// Number of parts of the node.
    count: u32,
}

/// Placeholder for the number of a node that does not exist.
const NONE: u32 = u32::MAX;

impl Source {
    /// A file of the branch.
    pub(crate) fn file(path: &str, text: &str, lang: Lang) -> Result<Self, Problem> {
        let tree = host::tree(&syntax::Source::File(path.to_owned()), lang.name())?;
        Ok(Self::new(lang, Text::new(text.to_owned()), tree, 0, 0))
    }

    /// A pattern, or an example. An opening that the language wants is hidden.
    pub(crate) fn snippet(text: &str, lang: Lang) -> Result<Self, String> {
        let opening = if text.starts_with("<?") { "" } else { lang.opening() };
        let text = format!("{opening}{text}");
        let tree = host::tree(&syntax::Source::Text(text.clone()), lang.name()).map_err(|it| it.message())?;
        Ok(Self::new(lang, Text::new(text), tree, 0, opening.len()))
    }

    /// A part of this text that is in another language.
    pub(crate) fn part(&self, range: Range<usize>, lang: Lang) -> Result<Self, Problem> {
        let text = self.0.text.text[range.clone()].to_owned();
        let tree = host::tree(&syntax::Source::Text(text), lang.name())?;
        Ok(Self::new_in(lang, Rc::clone(&self.0.text), tree, range.start, 0))
    }

    fn new(lang: Lang, text: Text, tree: Tree, offset: usize, hidden: usize) -> Self {
        Self::new_in(lang, Rc::new(text), tree, offset, hidden)
    }

    /// `hidden` are the bytes of an opening.
    fn new_in(lang: Lang, text: Rc<Text>, tree: Tree, offset: usize, hidden: usize) -> Self {
        let first = tree.root().children().find(|it| it.range().start >= hidden || hidden == 0);
        let first = first.map_or(tree.root().end_number(), |it| it.number());
        let links = links(&tree, first);
        Self(Rc::new(Inner { lang, text, tree, offset, hidden, first: place(first), links }))
    }

    pub(crate) fn lang(&self) -> Lang {
        self.0.lang
    }

    /// Number of bytes of the opening before the snippet.
    pub(crate) fn hidden(&self) -> usize {
        self.0.hidden
    }

    pub(crate) fn grep(&self) -> AstGrep<Self> {
        AstGrep::doc(self.clone())
    }
}

impl Text {
    fn new(text: String) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, it)| *it == b'\n').map(|(at, _)| at + 1).collect();
        Self { text, breaks }
    }

    fn position(&self, at: usize) -> Position {
        let line = self.breaks.partition_point(|it| *it <= at);
        let start = line.checked_sub(1).map_or(0, |it| self.breaks[it]);
        Position::new(line, at - start, at)
    }
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE)
}

fn links(tree: &Tree, first: usize) -> Vec<Link> {
    let mut links = Vec::with_capacity(tree.root().end_number());
    // Each open node, where it ends, and the last of its parts so far.
    let mut open: Vec<(usize, usize, u32)> = Vec::new();
    for node in tree.nodes() {
        let at = node.number();
        while open.last().is_some_and(|it| it.1 <= at) {
            open.pop();
        }
        let is_hidden = open.len() == 1 && at < first;
        let mut link = Link { kind: node.kind_number(), parent: NONE, previous: NONE, count: 0 };
        if let Some((parent, _, last)) = open.last_mut().filter(|_| !is_hidden) {
            link = Link { parent: place(*parent), previous: *last, ..link };
            *last = place(at);
            let of_parent: &mut Link = &mut links[*parent];
            of_parent.count += 1;
        }
        links.push(link);
        open.push((at, node.end_number(), NONE));
    }
    links
}

impl Doc for Source {
    type Source = String;
    type Lang = Lang;
    type Node<'r> = Node<'r>;

    fn get_lang(&self) -> &Lang {
        &self.0.lang
    }

    fn get_source(&self) -> &String {
        &self.0.text.text
    }

    fn do_edit(&mut self, _edit: &Edit<String>) -> Result<(), String> {
        Err("a file of a branch is not changed here".to_owned())
    }

    fn root_node(&self) -> Node<'_> {
        Node { source: &self.0, at: 0 }
    }

    fn get_node_text<'a>(&'a self, node: &Node<'a>) -> Cow<'a, str> {
        Cow::Borrowed(self.0.text.text.get(node.range()).unwrap_or_default())
    }
}

/// A node of the tree.
#[derive(Clone, Copy)]
pub(crate) struct Node<'r> {
    source: &'r Inner,
    at: u32,
}

impl<'r> Node<'r> {
    fn inner(self) -> syntax::Node<'r> {
        self.source.tree.node(self.at as usize)
    }

    fn link(self) -> Link {
        self.source.links[self.at as usize]
    }

    fn other(self, at: u32) -> Option<Self> {
        (at != NONE).then_some(Self { at, ..self })
    }

    /// Number of the first node after this one that is no part of it.
    fn end(self) -> u32 {
        place(self.inner().end_number())
    }

    fn parts(self) -> Parts<'r> {
        let first = if self.at == 0 { self.source.first } else { self.at + 1 };
        Parts { next: Self { at: first, ..self }, left: self.link().count }
    }
}

struct Parts<'r> {
    next: Node<'r>,
    left: u32,
}

impl<'r> Iterator for Parts<'r> {
    type Item = Node<'r>;

    fn next(&mut self) -> Option<Node<'r>> {
        self.left = self.left.checked_sub(1)?;
        let node = self.next;
        self.next.at = node.end();
        Some(node)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Parts<'_> {}

impl<'r> SgNode<'r> for Node<'r> {
    fn parent(&self) -> Option<Self> {
        self.other(self.link().parent)
    }

    fn children(&self) -> impl ExactSizeIterator<Item = Self> {
        self.parts()
    }

    fn kind(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.inner().kind())
    }

    fn kind_id(&self) -> u16 {
        self.link().kind
    }

    fn node_id(&self) -> usize {
        self.at as usize
    }

    fn range(&self) -> Range<usize> {
        let range = self.inner().range();
        range.start + self.source.offset..range.end + self.source.offset
    }

    fn start_pos(&self) -> Position {
        self.source.text.position(self.range().start)
    }

    fn end_pos(&self) -> Position {
        self.source.text.position(self.range().end)
    }

    /// The nearest first, as with tree-sitter; the trait's own goes the other way.
    fn ancestors(&self, _root: Self) -> impl Iterator<Item = Self> {
        iter::successors(self.parent(), SgNode::parent)
    }

    fn dfs(&self) -> impl Iterator<Item = Self> {
        let node = *self;
        let inner = if node.at == 0 { node.source.first } else { node.at + 1 };
        iter::once(node).chain((inner..node.end()).map(move |at| Self { at, ..node }))
    }

    fn next(&self) -> Option<Self> {
        let parent = self.parent()?;
        let next = self.end();
        (next < parent.end()).then_some(Self { at: next, ..*self })
    }

    fn prev(&self) -> Option<Self> {
        self.other(self.link().previous)
    }

    fn next_all(&self) -> impl Iterator<Item = Self> {
        iter::successors(SgNode::next(self), SgNode::next)
    }

    fn prev_all(&self) -> impl Iterator<Item = Self> {
        iter::successors(self.prev(), SgNode::prev)
    }

    fn is_named(&self) -> bool {
        self.inner().is_named()
    }

    fn is_named_leaf(&self) -> bool {
        !self.parts().any(|it| it.is_named())
    }

    fn is_leaf(&self) -> bool {
        self.link().count == 0
    }

    fn is_missing(&self) -> bool {
        self.inner().is_missing()
    }

    fn is_error(&self) -> bool {
        self.inner().is_error()
    }

    fn is_extra(&self) -> bool {
        self.inner().is_extra()
    }

    fn field(&self, name: &str) -> Option<Self> {
        self.parts().find(|it| it.inner().field() == Some(name))
    }

    fn field_children(&self, field: Option<u16>) -> impl Iterator<Item = Self> {
        let field = field.filter(|it| *it != 0);
        self.parts().filter(move |it| Some(it.inner().field_number()) == field)
    }

    fn child_by_field_id(&self, field: u16) -> Option<Self> {
        self.field_children(Some(field)).next()
    }
}
