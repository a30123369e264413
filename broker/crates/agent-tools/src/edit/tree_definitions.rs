//! The definitions of a syntax tree.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, LazyLock},
};

use parking_lot::Mutex;
use syntax::{Flags, Language, Tree, WORDS};

use super::{
    definition::{Definition, Kind},
    file_kind::FileKind,
    text::collapsed,
};

/// Nodes around a definition that belong to it.
const WRAPPERS: [&str; 12] = [
    "decorated_definition",
    "export_statement",
    "template_declaration",
    "expression_statement",
    "lexical_declaration",
    "variable_declaration",
    "type_declaration",
    "const_declaration",
    "var_declaration",
    "declaration",
    "ambient_declaration",
    "type_definition",
];

/// Wrappers that begin above what they wrap.
const ABOVE: [&str; 3] = ["decorated_definition", "template_declaration", "export_statement"];

/// Words behind the name of a test that say how it is run.
const MODIFIERS: [&str; 5] = [".only", ".skip", ".todo", ".concurrent", ".failing"];

/// Kinds of nodes of a language, which take as long to find out as to parse a file.
struct Grammar {
    kinds: Vec<(String, bool)>,
    fields: Vec<String>,
    classes: Vec<Option<Kind>>,
    /// Comments, attributes and decorators.
    asides: Vec<bool>,
}

impl Grammar {
    fn of(tree: &Tree, is_data: bool) -> Arc<Self> {
        static KNOWN: LazyLock<Mutex<HashMap<Language, Arc<Grammar>>>> = LazyLock::new(Mutex::default);
        let mut known = KNOWN.lock();
        let grammar = known.entry(tree.language()).or_insert_with(|| Arc::new(Self::new(tree, is_data)));
        Arc::clone(grammar)
    }

    fn new(tree: &Tree, is_data: bool) -> Self {
        let kinds = tree.kinds();
        let is_aside = |name: &str| ["comment", "attribute", "decorator"].iter().any(|it| name.contains(it));
        Self {
            classes: kinds
                .iter()
                .map(|(name, named)| named.then(|| class(name, is_data)).flatten())
                .collect(),
            asides: kinds.iter().map(|(name, _)| is_aside(name)).collect(),
            fields: tree.fields(),
            kinds,
        }
    }
}

pub(super) struct Finder<'a> {
    lines: &'a [&'a str],
    kind: FileKind,
    text: String,
    table: Vec<u32>,
    grammar: Arc<Grammar>,
    starts: Vec<usize>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(tree: &Tree, lines: &'a [&'a str], kind: FileKind, is_data: bool) -> Self {
        let text = String::from_utf8_lossy(tree.text()).into_owned();
        let ends = text.match_indices('\n').map(|it| it.0 + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        Self { lines, kind, table: tree.table(), grammar: Grammar::of(tree, is_data), starts, text }
    }

    pub(super) fn definitions(&self) -> Vec<Definition> {
        let asides = self.asides();
        let (mut found, mut around): (Vec<Definition>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.table.len() / WORDS {
            while open.last().is_some_and(|it| self.end_of(*it) <= at) {
                open.pop();
            }
            while around.last().is_some_and(|it| it.0 <= at) {
                around.pop();
            }
            if let Some((kind, name)) = self.definition(at, &open) {
                let outer = self.outer(at, &open);
                if let Some(mut it) = self.lines_of(at, outer, kind, name, &asides) {
                    it.parent = around.last().map(|it| it.1);
                    around.push((self.end_of(at), found.len()));
                    found.push(it);
                }
            }
            open.push(at);
        }
        found
    }

    /// Kind and name of what a node defines.
    fn definition(&self, at: usize, open: &[usize]) -> Option<(Kind, String)> {
        if self.flags(at) & Flags::NAMED == 0 {
            return None;
        }
        let node_kind = self.kind(at);
        let kind = match self.grammar.classes.get(self.kind_id(at)).copied().flatten() {
            Some(it) => it,
            None if matches!(node_kind, "call_expression" | "call" | "method_call") => {
                return self.test(at).map(|it| (Kind::Test, it));
            }
            None if node_kind == "assignment_expression" => {
                let is_callable = self.child(at, "right").is_some_and(|it| is_function(self.kind(it)));
                let name = self.child(at, "left").filter(|_| is_callable)?;
                return Some((Kind::Function, self.shown(name)));
            }
            None if node_kind == "pair" => {
                let is_callable = self.child(at, "value").is_some_and(|it| is_function(self.kind(it)));
                let name = self.child(at, "key").filter(|_| is_callable)?;
                return Some((Kind::Function, self.shown(name)));
            }
            None if node_kind == "string" && self.is_docstring(open) => {
                return Some((Kind::Docstring, "docstring".to_owned()));
            }
            None => return None,
        };
        // A type that is only named, and a function that is only declared within a function.
        if node_kind.ends_with("_specifier") && self.child(at, "body").is_none() {
            return None;
        }
        if node_kind == "impl_item" {
            let body = self.child(at, "body").unwrap_or(at);
            let upto = if body == at { self.bytes(at).1 } else { self.bytes(body).0 };
            return Some((kind, collapsed(&self.text[self.bytes(at).0..upto])));
        }
        let mut kind = kind;
        if kind == Kind::Value {
            let is_callable = self.child(at, "value").is_some_and(|it| is_function(self.kind(it)));
            let is_local = open.iter().any(|it| self.class_of(*it) == Some(Kind::Function));
            if is_callable {
                kind = Kind::Function;
            } else if is_local {
                return None;
            }
        }
        let name = self.name(at)?;
        Some((
            kind,
            self.item(open).filter(|_| kind == Kind::Entry).map_or(name.clone(), |it| format!("{it} {name}")),
        ))
    }

    /// Whether a string is the first statement of a function or a class of Python, by the nodes around it.
    fn is_docstring(&self, open: &[usize]) -> bool {
        let [.., around, block, statement] = open else { return false };
        let documents = |it: &str| matches!(it, "function_definition" | "class_definition");
        let is_body = self.kind(*block) == "block" && documents(self.kind(*around));
        self.kind(*statement) == "expression_statement" && *statement == block + 1 && is_body
    }

    /// The first line of the item of a list whose keys are looked at: those of other items have the same names.
    fn item(&self, open: &[usize]) -> Option<&str> {
        let around = open.iter().rev().take(3);
        let item = around.copied().find(|it| self.kind(*it) == "block_sequence_item")?;
        self.lines.get(self.line(self.bytes(item).0)).map(|it| it.trim())
    }

    fn class_of(&self, at: usize) -> Option<Kind> {
        self.grammar.classes.get(self.kind_id(at)).copied().flatten()
    }

    /// A call with a string and a function, or a string and a block.
    fn test(&self, at: usize) -> Option<String> {
        let children: Vec<_> = self.children(at).collect();
        let arguments = self
            .child(at, "arguments")
            .or_else(|| children.iter().copied().find(|it| self.kind(*it).contains("argument")))?;
        let given: Vec<_> = self.children(arguments).filter(|it| self.is_named(*it)).collect();
        let (first, last) = (*given.first()?, *given.last()?);
        let has_block = children.iter().any(|it| matches!(self.kind(*it), "block" | "do_block"));
        let is_named = self.kind(first).contains("string");
        let is_given = has_block || (first != last && is_function(self.kind(last)));
        let called = self.text.get(self.bytes(at).0..self.bytes(arguments).0)?;
        let mut called = called.trim_end_matches('(');
        while let Some(it) = MODIFIERS.iter().find_map(|it| called.strip_suffix(it)) {
            called = it;
        }
        (is_named && is_given && !called.contains('\n'))
            .then(|| collapsed(&format!("{called} {}", self.shown(first))))
    }

    fn name(&self, at: usize) -> Option<String> {
        let node = self.name_node(at)?;
        let mut name = self.shown(node);
        if name.is_empty() || name.contains('\n') {
            return None;
        }
        let before = self.text.get(self.bytes(at).0..self.bytes(node).0).unwrap_or_default();
        if let Some(accessor) = before.split_whitespace().find(|it| matches!(*it, "get" | "set")) {
            name = format!("{accessor} {name}");
        }
        if let Some(receiver) = self.child(at, "receiver") {
            let type_name = self.inside(receiver).find(|it| self.kind(*it) == "type_identifier");
            name = format!("{}.{name}", type_name.map(|it| self.shown(it)).unwrap_or_default());
        }
        if let Some(object) = self.child(at, "object").filter(|_| self.kind(at) == "singleton_method") {
            name = format!("{}.{name}", self.shown(object));
        }
        Some(name)
    }

    /// A field of its own, or the identifier in what a C function declares.
    fn name_node(&self, at: usize) -> Option<usize> {
        for field in ["name", "key"] {
            if let Some(it) = self.child(at, field) {
                return Some(it);
            }
        }
        let is_name = |it: usize| {
            let kind = self.kind(it);
            kind.ends_with("identifier") || kind.ends_with("_name") || kind == "selectors"
        };
        match self.child(at, "declarator") {
            Some(declarator) => self.inside(declarator).find(|it| is_name(*it)),
            None => self.children(at).find(|it| is_name(*it)),
        }
    }

    /// The widest node that is this definition with its decorators and keywords.
    fn outer(&self, at: usize, open: &[usize]) -> usize {
        let mut outer = at;
        for parent in open.iter().rev() {
            let kind = self.kind(*parent);
            let is_around = WRAPPERS.contains(&kind)
                && (ABOVE.contains(&kind)
                    || self.line(self.bytes(*parent).0) == self.line(self.bytes(outer).0));
            if !is_around {
                break;
            }
            outer = *parent;
        }
        outer
    }

    fn lines_of(
        &self,
        at: usize,
        outer: usize,
        kind: Kind,
        name: String,
        asides: &[bool],
    ) -> Option<Definition> {
        let named = match kind {
            Kind::Implementation | Kind::Test | Kind::Docstring => at,
            _ => self.name_node(at).unwrap_or(at),
        };
        let head = self.line(self.bytes(named).0);
        let (start, end) = self.bytes(outer);
        let text = self.text.get(start..end)?.trim_end();
        let end = self.line((start + text.len()).saturating_sub(1)) + 1;
        let mut lead = self.line(start);
        while lead > 0 && asides[lead - 1] {
            lead -= 1;
        }
        let body = self.child(at, "body").unwrap_or_else(|| self.inside(at).end);
        let found = || (at..body).find(|it| self.kind(*it).contains("parameter"));
        let parameters = self.child(at, "parameters").or_else(found).filter(|_| kind == Kind::Function);
        Some(Definition {
            name,
            kind,
            parameters: parameters.map(|it| collapsed(&self.shown(it))).unwrap_or_default(),
            has_body: self.child(at, "body").is_some(),
            lead,
            head,
            end,
            level: self.kind.level(self.lines.get(head)?)?,
            parent: None,
            is_broken: self.flags(outer) & (Flags::HAS_ERROR | Flags::ERROR | Flags::MISSING) != 0,
        })
    }

    /// Lines that are comments, attributes and decorators as a whole.
    fn asides(&self) -> Vec<bool> {
        let mut asides = vec![false; self.lines.len() + 1];
        for at in 0..self.table.len() / WORDS {
            if !self.grammar.asides.get(self.kind_id(at)).copied().unwrap_or_default() {
                continue;
            }
            let (start, end) = self.bytes(at);
            let line = self.line(start);
            let is_first = self.text[self.starts[line]..start].trim().is_empty();
            let last = self.line(self.text[start..end].trim_end().len() + start);
            let is_alone = self.lines.get(last).is_some_and(|it| {
                let after = (end.saturating_sub(self.starts[last])).min(it.len());
                it.get(after..).is_some_and(|it| it.trim().is_empty())
            });
            if is_first && is_alone && end > start {
                asides[line..=last.max(line).min(self.lines.len())].fill(true);
            }
        }
        asides
    }

    fn node(&self, at: usize) -> &[u32] {
        &self.table[at * WORDS..(at + 1) * WORDS]
    }

    fn kind_id(&self, at: usize) -> usize {
        (self.node(at)[0] & 0xffff) as usize
    }

    fn kind(&self, at: usize) -> &str {
        self.grammar.kinds.get(self.kind_id(at)).map_or("", |it| &it.0)
    }

    fn flags(&self, at: usize) -> u32 {
        self.node(at)[1]
    }

    fn is_named(&self, at: usize) -> bool {
        self.flags(at) & Flags::NAMED != 0
    }

    fn bytes(&self, at: usize) -> (usize, usize) {
        let node = self.node(at);
        (node[2] as usize, node[3] as usize)
    }

    fn end_of(&self, at: usize) -> usize {
        (self.node(at)[4] as usize).max(at + 1)
    }

    fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|it| *it <= byte) - 1
    }

    fn shown(&self, at: usize) -> String {
        let (start, end) = self.bytes(at);
        self.text.get(start..end).unwrap_or_default().trim().to_owned()
    }

    fn inside(&self, at: usize) -> Range<usize> {
        at..self.end_of(at).min(self.table.len() / WORDS)
    }

    fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.inside(at).end;
        let mut next = at + 1;
        std::iter::from_fn(move || {
            let it = next;
            (it < end).then(|| {
                next = self.end_of(it);
                it
            })
        })
    }

    fn child(&self, at: usize, field: &str) -> Option<usize> {
        let is_it = |it: &usize| {
            self.grammar.fields.get((self.node(*it)[0] >> 16) as usize).is_some_and(|it| it == field)
        };
        self.children(at).find(is_it)
    }
}

fn is_function(kind: &str) -> bool {
    ["function", "lambda", "func_literal", "closure"].iter().any(|it| kind.contains(it))
}

/// Parts of the names that grammars give to definitions.
const FUNCTIONS: [&str; 8] = [
    "function",
    "method",
    "constructor",
    "macro",
    "init_declaration",
    "destructor",
    "subroutine",
    "operator_",
];

const TYPES: [&str; 19] = [
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "record",
    "protocol",
    "union",
    "type_alias",
    "type_item",
    "type_spec",
    "module",
    "mod_item",
    "namespace",
    "object",
    "message",
    "service",
    "annotation_type",
    "type_definition",
];

fn class(node: &str, is_data: bool) -> Option<Kind> {
    match node {
        "impl_item" | "extension_declaration" => return Some(Kind::Implementation),
        "variable_declarator" | "const_item" | "static_item" | "property_declaration" => {
            return Some(Kind::Value);
        }
        "pair" | "block_mapping_pair" if is_data => return Some(Kind::Entry),
        "rule_set" => return Some(Kind::Function),
        "method" | "singleton_method" | "preproc_function_def" => return Some(Kind::Function),
        "class" | "module" | "internal_module" | "type_alias" => return Some(Kind::Type),
        _ => {}
    }
    let is_definition = ["_definition", "_declaration", "_item", "_specifier", "_spec", "_signature"];
    if !is_definition.iter().any(|it| node.ends_with(it)) || node.contains("parameter") {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|it| node.contains(it));
    if has(&FUNCTIONS) {
        Some(Kind::Function)
    } else if has(&TYPES) {
        Some(Kind::Type)
    } else {
        None
    }
}
