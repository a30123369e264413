//! Definitions of a text: what it defines, of which kind, where, and within what.
//!
//! One tree-sitter query for each language says which nodes define something; the rest is alike for all. A capture with the
//! name of a [`DefinitionKind`] is on the node that defines, `@name` on the parts of its name, `@receiver` on the type that a
//! method is for. `@around` are nodes that belong to the one definition in them, as `export` does, and `@aside` those
//! that belong to the definition below them, besides comments, attributes and decorators. The first pattern of a node
//! counts. Minor kinds are of use to edits alone, and count where no other pattern does: [`definitions`] leaves them out,
//! [`all_definitions`] has them.

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
    /// Kind without regard to tests: that of a test which is a function is `Function`.
    pub form: DefinitionKind,
    pub name: String,
    /// Type that a method is for, where the method is written outside of it; the item of a list that an entry is in.
    pub receiver: Option<String>,
    /// Range with the comments, attributes and decorators above, and with `export` and the like.
    pub whole: Range<usize>,
    /// Start without what stands above it: comments, attributes and decorators.
    pub head: usize,
    /// Range of the name, from the first to the last part of it.
    pub name_range: Range<usize>,
    /// Parameters of a function.
    pub parameters: Option<Range<usize>>,
    pub body: Option<Range<usize>>,
    /// Whether some of it does not fit the grammar.
    pub has_error: bool,
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

/// Whether texts in this language have [`definitions`].
pub fn has_definitions(language: Language) -> bool {
    rules::has_major(language)
}

/// The definitions of a text in the order of their start, those around others first; none in a language without a query.
pub fn definitions(tree: &Tree) -> Vec<Definition> {
    of_kinds(tree, |it| !it.is_minor())
}

/// The definitions of a text with those of minor kinds.
pub fn all_definitions(tree: &Tree) -> Vec<Definition> {
    of_kinds(tree, |_| true)
}

fn of_kinds(tree: &Tree, is_wanted: impl Fn(DefinitionKind) -> bool) -> Vec<Definition> {
    let Some(rules) = rules::of(tree.language()) else { return Vec::new() };
    let found = Found::new(tree, &rules);
    let wanted = found.defining.values().filter(|it| is_wanted(it.kind));
    let mut nodes: Vec<_> = wanted.map(|it| (found.outer(it.node), it)).collect();
    nodes.sort_by_key(|(outer, it)| {
        let start = (outer.start_byte(), std::cmp::Reverse(outer.end_byte()));
        (start, it.node.start_byte(), std::cmp::Reverse(it.node.end_byte()), it.rank)
    });
    nested(&found, &nodes)
}

/// Order of the patterns of a node: those of minor kinds come last.
type Rank = (bool, usize);

/// A node that defines something.
struct Defining<'t> {
    rank: Rank,
    kind: DefinitionKind,
    /// First pattern that is of another kind than a test and not of a minor one, and its kind.
    form: Option<(Rank, DefinitionKind)>,
    node: Node<'t>,
    names: Vec<Node<'t>>,
    receivers: Vec<Node<'t>>,
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
        let (mut defined, mut names, mut receivers) = (None, Vec::new(), Vec::new());
        for it in found.captures() {
            match rules.captures[it.index as usize] {
                Capture::Defines(kind) => defined = Some((kind, it.node)),
                Capture::Name => names.push(it.node),
                Capture::Receiver => receivers.push(it.node),
                Capture::Around => drop(self.around.insert(it.node.id())),
                Capture::Aside => drop(self.asides.insert(it.node.id())),
                Capture::Other => {}
            }
        }
        let Some((kind, node)) = defined.filter(|_| !names.is_empty()) else { return };
        let rank = (kind.is_minor(), found.pattern_index);
        let known = self.defining.get(&node.id());
        let own = Some((rank, kind)).filter(|_| kind != DefinitionKind::Test && !kind.is_minor());
        let form = known.and_then(|it| it.form).into_iter().chain(own).min_by_key(|it| it.0);
        if known.is_none_or(|it| rank < it.rank) {
            let join = rules.joins.get(&found.pattern_index).map_or(" ", |it| it);
            let defining = Defining { rank, kind, form, node, names, receivers, join };
            self.defining.insert(node.id(), defining);
        } else if let Some(known) = self.defining.get_mut(&node.id()) {
            known.form = form;
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
        let body = place::body(it.node);
        let form = it.form.map_or(it.kind, |it| it.1);
        let parameters = form.is_function().then(|| place::parameters(it.node, body));
        Some(Definition {
            kind: if is_method { DefinitionKind::Method } else { it.kind },
            form,
            name,
            receiver: (!it.receivers.is_empty()).then(|| self.joined(&it.receivers, " ")),
            whole: self.lead(outer)..outer.end_byte(),
            head: self.head(outer),
            name_range: it.names.first()?.start_byte()..it.names.last()?.end_byte(),
            parameters: parameters.flatten().map(|it| it.byte_range()),
            body: body.map(|it| it.byte_range()),
            has_error: outer.has_error(),
            parent: None,
        })
    }

    fn name(&self, it: &Defining<'_>) -> String {
        self.joined(&it.names, it.join)
    }

    fn joined(&self, nodes: &[Node<'_>], join: &str) -> String {
        let parts: Vec<_> = nodes.iter().map(|it| self.shown(*it)).collect();
        let mut text = parts.join(join);
        text.truncate(text.floor_char_boundary(MAX_NAME_BYTES));
        text
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
