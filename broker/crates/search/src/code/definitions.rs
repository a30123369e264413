//! Definitions of a text, by its syntax tree: nodes that their grammar calls a definition of something, with a name.

use syntax::{Language, Tree, WORDS};

/// Definitions within each other.
pub(super) const MAX_DEPTH: usize = 12;

/// A function, a type or a module of a text.
pub(super) struct Definition {
    /// Offsets in the text, in bytes.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) name: String,
    pub(super) inner: Vec<Self>,
}

/// The definitions of a tree, each with those within it.
pub(super) fn definitions(tree: &Tree, grammar: &Grammar) -> Vec<Definition> {
    let table = tree.table();
    let mut open: Vec<(usize, Definition)> = Vec::new();
    let mut top = Vec::new();
    let close = |open: &mut Vec<(usize, Definition)>, top: &mut Vec<Definition>| {
        if let Some((_, done)) = open.pop() {
            open.last_mut().map_or(top, |it| &mut it.1.inner).push(done);
        }
    };
    let count = table.len() / WORDS;
    // The first node is the text as a whole.
    for index in 1..count {
        while open.last().is_some_and(|it| it.0 <= index) {
            close(&mut open, &mut top);
        }
        let node = Node::at(&table, index);
        if grammar.defines(node.kind) && open.len() < MAX_DEPTH {
            let Some(name) = grammar.name(&table, index, tree.text()) else { continue };
            // Skips a node that merely contains a definition, such as Go's `type` around a type.
            if open.last().is_some_and(|it| it.1.name == name && it.1.end == node.end) {
                continue;
            }
            let definition = Definition { start: node.start, end: node.end, name, inner: Vec::new() };
            open.push((node.after, definition));
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut top);
    }
    top
}

/// An entry of a tree's table.
struct Node {
    kind: usize,
    field: usize,
    start: usize,
    end: usize,
    after: usize,
}

impl Node {
    fn at(table: &[u32], index: usize) -> Self {
        let words = &table[index * WORDS..(index + 1) * WORDS];
        let [kind, start, end, after] = [words[0], words[2], words[3], words[4]].map(|it| it as usize);
        Self { kind: kind & 0xffff, field: kind >> 16, start, end, after }
    }
}

/// Nodes of a language's grammar that are definitions and names.
pub(super) struct Grammar {
    /// Whether a node defines something, by its kind.
    defines: Vec<bool>,
    /// Whether a node is a name, by its kind.
    names: Vec<bool>,
    /// Fields that lead to a definition's name, by their number, the best first.
    fields: Vec<usize>,
}

fn is_definition(kind: &str) -> bool {
    const WHAT: [&str; 24] = [
        "function",
        "method",
        "class",
        "struct",
        "enum",
        "union",
        "trait",
        "impl",
        "interface",
        "module",
        "mod",
        "namespace",
        "constructor",
        "protocol",
        "extension",
        "object",
        "record",
        "macro",
        "type",
        "message",
        "service",
        "rpc",
        "alias",
        "singleton",
    ];
    const HOW: [&str; 7] =
        ["definition", "declaration", "item", "specifier", "spec", "signature", "statement"];
    // Ruby calls them by their keyword alone.
    if matches!(kind, "method" | "class" | "module" | "singleton_method" | "message" | "service" | "rpc") {
        return true;
    }
    let mut words = kind.split('_');
    let is_how = words.next_back().is_some_and(|it| HOW.contains(&it));
    is_how && words.any(|it| WHAT.contains(&it))
}

impl Grammar {
    pub(super) fn of(language: Language) -> Self {
        let (kinds, names) = (language.kinds().unwrap_or_default(), language.fields().unwrap_or_default());
        let fields = ["name", "declarator", "type"].map(|field| names.iter().position(|it| it == field));
        let is_name = |(name, is_named): &(String, bool)| {
            *is_named
                && (name.ends_with("identifier") || matches!(name.as_str(), "constant" | "name" | "word"))
        };
        Self {
            defines: kinds.iter().map(|(name, is_named)| *is_named && is_definition(name)).collect(),
            names: kinds.iter().map(is_name).collect(),
            fields: fields.into_iter().flatten().collect(),
        }
    }

    fn defines(&self, kind: usize) -> bool {
        self.defines.get(kind).copied().unwrap_or_default()
    }

    fn is_name(&self, kind: usize) -> bool {
        self.names.get(kind).copied().unwrap_or_default()
    }

    /// The first identifier in the part of the definition that names it, or at its beginning.
    fn name(&self, table: &[u32], definition: usize, text: &[u8]) -> Option<String> {
        let own = Node::at(table, definition);
        let mut children = Vec::new();
        let mut index = definition + 1;
        while index < own.after {
            let child = Node::at(table, index);
            let next = child.after.max(index + 1);
            children.push((index, child));
            index = next;
        }
        let of_field = |field: &usize| children.iter().find(|(_, it)| it.field == *field).map(|it| it.0);
        let start = self.fields.iter().find_map(of_field).or_else(|| children.first().map(|it| it.0))?;
        let end = Node::at(table, start).after.max(start + 1);
        let is_identifier = |it: &usize| self.is_name(Node::at(table, *it).kind);
        let found = (start..end)
            .find(is_identifier)
            .or_else(|| children.iter().map(|it| it.0).find(is_identifier))?;
        let node = Node::at(table, found);
        let name = std::str::from_utf8(text.get(node.start..node.end)?).ok()?;
        (name.len() < 200).then(|| name.to_owned())
    }
}
