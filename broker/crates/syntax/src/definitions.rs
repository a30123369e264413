//! Definitions of a text: what it defines, of which kind, where, and within what.
//!
//! One tree-sitter query for each language says which nodes define something; the rest is alike for all. A capture with the
//! name of a [`DefinitionKind`] is on the node that defines, `@name` on the parts of its name, `@receiver` on the type that a
//! method is for. `@around` are nodes that belong to the one definition in them, as `export` does, and `@aside` those
//! that belong to the definition below them, besides comments, attributes and decorators. The first pattern of a node
//! counts.

mod kind;
mod place;
mod rules;

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use tree_sitter::{Node, QueryCursor, QueryMatch, StreamingIterator as _};

pub use self::kind::DefinitionKind;
use self::rules::{Capture, Rules};
use crate::{Language, Tree};

/// Nodes around a definition. What is deeper was made to be.
const MAX_DEPTH: u32 = 256;

/// Bytes of a name. A longer one is cut.
const MAX_NAME_BYTES: usize = 200;

/// A definition and its place; ranges are in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub kind: DefinitionKind,
    pub name: String,
    /// Type that a method is for, where the method is written outside of it.
    pub receiver: Option<String>,
    /// Range with the comments, attributes and decorators above, and with `export` and the like.
    pub whole: Range<usize>,
    /// Start without what stands above it: comments, attributes and decorators.
    pub head: usize,
    /// Range of the name, from the first to the last part of it.
    pub name_range: Range<usize>,
    pub body: Option<Range<usize>>,
    /// Number of the definition around it.
    pub parent: Option<usize>,
}

impl Definition {
    /// The name with the type that a method is for.
    pub fn full_name(&self) -> String {
        match &self.receiver {
            Some(receiver) => format!("{receiver}.{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Whether definitions of texts in this language are known.
pub fn has_definitions(language: Language) -> bool {
    rules::has(language)
}

/// The definitions of a text in the order of their start, those around others first; none in a language without a query.
pub fn definitions(tree: &Tree) -> Vec<Definition> {
    let Some(rules) = rules::of(tree.language()) else { return Vec::new() };
    let found = Found::new(tree, &rules);
    let mut nodes: Vec<_> = found.defining.values().map(|it| (found.outer(it.node), it)).collect();
    nodes.sort_by_key(|(outer, it)| {
        let start = (outer.start_byte(), std::cmp::Reverse(outer.end_byte()));
        (start, it.node.start_byte(), std::cmp::Reverse(it.node.end_byte()), it.pattern)
    });
    nested(&found, &nodes)
}

/// A node that defines something.
struct Defining<'t> {
    pattern: usize,
    kind: DefinitionKind,
    node: Node<'t>,
    names: Vec<Node<'t>>,
    receiver: Option<Node<'t>>,
    /// Text between the parts of the name.
    join: &'t str,
}

/// Captures of a tree.
struct Found<'t> {
    text: &'t [u8],
    defining: HashMap<usize, Defining<'t>>,
    around: HashSet<usize>,
    asides: HashSet<usize>,
}

impl<'t> Found<'t> {
    fn new(tree: &'t Tree, rules: &'t Rules) -> Self {
        let text = &tree.text[..];
        let mut found =
            Self { text, defining: HashMap::new(), around: HashSet::new(), asides: HashSet::new() };
        let mut cursor = QueryCursor::new();
        cursor.set_max_start_depth(Some(MAX_DEPTH));
        let mut matches = cursor.matches(&rules.query, tree.inner.root_node(), text);
        while let Some(it) = matches.next() {
            found.add(it, rules);
        }
        found
    }

    fn add(&mut self, found: &QueryMatch<'_, 't>, rules: &'t Rules) {
        let (mut defined, mut names, mut receiver) = (None, Vec::new(), None);
        for it in found.captures() {
            match rules.captures[it.index as usize] {
                Capture::Defines(kind) => defined = Some((kind, it.node)),
                Capture::Name => names.push(it.node),
                Capture::Receiver => receiver = Some(it.node),
                Capture::Around => drop(self.around.insert(it.node.id())),
                Capture::Aside => drop(self.asides.insert(it.node.id())),
                Capture::Other => {}
            }
        }
        let Some((kind, node)) = defined.filter(|_| !names.is_empty()) else { return };
        let pattern = found.pattern_index;
        let known = self.defining.get(&node.id());
        if known.is_none_or(|it| pattern < it.pattern) {
            let join = rules.joins.get(&pattern).map_or(" ", |it| it);
            let defining = Defining { pattern, kind, node, names, receiver, join };
            self.defining.insert(node.id(), defining);
        }
    }

    fn shown(&self, node: Node<'_>) -> String {
        let text = String::from_utf8_lossy(self.text.get(node.byte_range()).unwrap_or_default());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The definition of a node within another one; `None` if that defines the same, as C has it where a structure and
    /// the type that it is have one name.
    fn definition(
        &self,
        outer: Node<'_>,
        it: &Defining<'_>,
        around: Option<&Definition>,
    ) -> Option<Definition> {
        let name = self.name(it);
        let is_same = |around: &Definition| around.name == name && around.kind.is_type() && it.kind.is_type();
        if name.is_empty() || around.is_some_and(is_same) {
            return None;
        }
        let is_method = it.kind == DefinitionKind::Function && around.is_some_and(|it| it.kind.has_members());
        Some(Definition {
            kind: if is_method { DefinitionKind::Method } else { it.kind },
            name,
            receiver: it.receiver.map(|it| self.shown(it)),
            whole: self.lead(outer)..outer.end_byte(),
            head: self.head(outer),
            name_range: it.names.first()?.start_byte()..it.names.last()?.end_byte(),
            body: place::body(it.node).map(|it| it.byte_range()),
            parent: None,
        })
    }

    fn name(&self, it: &Defining<'_>) -> String {
        let parts: Vec<_> = it.names.iter().map(|it| self.shown(*it)).collect();
        let mut name = parts.join(it.join);
        name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
        name
    }
}

/// Definitions with the number of the one around each.
fn nested(found: &Found<'_>, nodes: &[(Node<'_>, &Defining<'_>)]) -> Vec<Definition> {
    let mut all: Vec<Definition> = Vec::with_capacity(nodes.len());
    let mut open: Vec<usize> = Vec::new();
    for (outer, it) in nodes {
        while open.last().is_some_and(|at| all[*at].whole.end <= outer.start_byte()) {
            open.pop();
        }
        let around = open.last().map(|at| &all[*at]);
        if let Some(definition) = found.definition(*outer, it, around) {
            let parent = open.last().copied();
            open.push(all.len());
            all.push(Definition { parent, ..definition });
        }
    }
    all
}

#[cfg(test)]
mod tests;
