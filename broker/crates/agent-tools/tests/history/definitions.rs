//! The functions, classes and sections of a file, with the lines that they have, by its syntax tree.
//!
//! Written apart from the one of `agent_tools::edit`, whose mistakes it must not share.

mod chapters;
mod nodes;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use overlay::{ContentHash, WorkspacePath};
use syntax::{Language, Trees};

use self::nodes::Nodes;
use crate::file::is_blank;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Function,
    /// Container of functions: a class, an `impl`, a module, a group of tests.
    Class,
    /// A key of data with what is below it, a table, a chapter, a rule.
    Section,
}

#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) parent: Option<usize>,
    /// Line of the first of the comments, decorators and attributes above the head; `start` if there are none.
    pub(crate) lead: usize,
    /// Line of the head, and the line below the head.
    pub(crate) start: usize,
    pub(crate) body: usize,
    /// Line below the end.
    pub(crate) end: usize,
    /// Whether the lines of the definition contain nothing else and no syntax error.
    pub(crate) is_apart: bool,
}

const FUNCTIONS: [&str; 20] = [
    "function_definition",
    "function_item",
    "function_declaration",
    "generator_function_declaration",
    "function_signature",
    "function_signature_item",
    "method_declaration",
    "method_definition",
    "method_signature",
    "abstract_method_signature",
    "method",
    "singleton_method",
    "constructor_declaration",
    "secondary_constructor",
    "destructor_declaration",
    "init_declaration",
    "deinit_declaration",
    "local_function_statement",
    "protocol_function_declaration",
    "macro_definition",
];

const CLASSES: [&str; 26] = [
    "class_definition",
    "class_declaration",
    "abstract_class_declaration",
    "class",
    "module",
    "struct_item",
    "enum_item",
    "union_item",
    "trait_item",
    "impl_item",
    "mod_item",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "object_declaration",
    "struct_declaration",
    "struct_specifier",
    "class_specifier",
    "enum_specifier",
    "namespace_definition",
    "type_declaration",
    "type_alias_declaration",
    "type_definition",
    "trait_declaration",
    "protocol_declaration",
    "internal_module",
];

const SECTIONS: [&str; 5] = ["block_mapping_pair", "table", "table_array_element", "section", "rule_set"];

const WRAPPERS: [&str; 4] =
    ["decorated_definition", "export_statement", "template_declaration", "ambient_declaration"];

/// Calls that define a test, and those that define a group of tests.
const TESTS: [&str; 5] = ["it", "test", "bench", "specify", "should"];
const GROUPS: [&str; 4] = ["describe", "context", "suite", "namespace"];

/// In the order of the file, those that hold others before them.
pub(crate) fn of(path: &str, text: &str) -> Vec<Definition> {
    if path.ends_with(".md") {
        return chapters::of(text);
    }
    let Some(language) = WorkspacePath::new(path).ok().and_then(|it| Language::of(&it)) else {
        return Vec::new();
    };
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    let hash = ContentHash::of(&bytes);
    let Ok(tree) = Trees::new(1 << 26).tree(language, bytes, hash, &|| false) else { return Vec::new() };
    let (kinds, fields, table) = (tree.kinds(), tree.fields(), tree.table());
    let nodes = Nodes::new(text, &table, &kinds, &fields);
    let lines: Vec<_> = text.split('\n').collect();
    let leads = leads(&nodes, &lines);
    let mut found: Vec<Definition> = Vec::new();
    // Definitions that the node stands in, with the ends of their nodes.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for at in 0..nodes.len() {
        open.retain(|it| at < it.1);
        let Some((name, kind)) = name(&nodes, at) else { continue };
        let mut definition = extent(&nodes, at, name, kind, &lines, &leads);
        definition.parent = open.last().map(|it| it.0);
        let is_known = |it: &usize| (found[*it].start, found[*it].end) == (definition.start, definition.end);
        if definition.parent.as_ref().is_some_and(is_known) {
            continue;
        }
        open.push((found.len(), nodes.end_of_parts(at)));
        found.push(definition);
    }
    found
}

fn name(nodes: &Nodes<'_>, at: usize) -> Option<(String, Kind)> {
    if !nodes.is_named(at) {
        return None;
    }
    let kind = nodes.kind(at);
    let (name, kind) = match kind {
        "lexical_declaration" | "variable_declaration" => (variable(nodes, at)?, Kind::Function),
        "expression_statement" => statement(nodes, at)?,
        "call" => call(nodes, at)?,
        "impl_item" => (head_text(nodes, at), Kind::Class),
        "type_definition" => (nodes.field_text(at, "declarator")?.to_owned(), Kind::Class),
        "type_declaration" => {
            let mut specs = nodes.parts(at).filter(|it| nodes.kind(*it) == "type_spec");
            let (spec, None) = (specs.next()?, specs.next()) else { return None };
            (nodes.field_text(spec, "name")?.to_owned(), Kind::Class)
        }
        "struct_specifier" | "class_specifier" | "enum_specifier" => {
            nodes.part(at, "body")?;
            (nodes.field_text(at, "name")?.to_owned(), Kind::Class)
        }
        _ if FUNCTIONS.contains(&kind) => (function(nodes, at)?, Kind::Function),
        _ if CLASSES.contains(&kind) => (
            nodes
                .field_text(at, "name")
                .map_or_else(
                    || {
                        nodes
                            .parts(at)
                            .find(|it| nodes.kind(*it).ends_with("identifier"))
                            .map(|it| nodes.text(it))
                    },
                    Some,
                )?
                .to_owned(),
            Kind::Class,
        ),
        _ if SECTIONS.contains(&kind) => {
            (nodes.text(nodes.parts(at).find(|it| nodes.is_named(*it))?).to_owned(), Kind::Section)
        }
        _ => return None,
    };
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some((name, kind))
}

fn function(nodes: &Nodes<'_>, at: usize) -> Option<String> {
    let receiver = nodes.part(at, "receiver").map(|it| {
        let words = nodes.text(it).trim_matches(['(', ')']).rsplit([' ', '*']).next().unwrap_or_default();
        format!("{}.", words.split('[').next().unwrap_or_default())
    });
    if let Some(name) = nodes.field_text(at, "name") {
        return Some(receiver.unwrap_or_default() + name);
    }
    if let Some(it) = nodes.within(at).find(|it| nodes.kind(*it) == "function_declarator") {
        return nodes.field_text(it, "declarator").map(str::to_owned);
    }
    match nodes.kind(at) {
        "init_declaration" => Some("init".to_owned()),
        "deinit_declaration" => Some("deinit".to_owned()),
        "secondary_constructor" => Some("constructor".to_owned()),
        _ => {
            let found = nodes.parts(at).find(|it| nodes.kind(*it).ends_with("identifier"));
            found.map(|it| nodes.text(it).to_owned())
        }
    }
}

fn is_function(nodes: &Nodes<'_>, at: usize) -> bool {
    ["arrow_function", "function_expression", "function"].contains(&nodes.kind(at)) && nodes.is_named(at)
}

/// A variable that is a function.
fn variable(nodes: &Nodes<'_>, at: usize) -> Option<String> {
    let mut all = nodes.parts(at).filter(|it| nodes.kind(*it) == "variable_declarator");
    let (declarator, None) = (all.next()?, all.next()) else { return None };
    is_function(nodes, nodes.part(declarator, "value")?).then_some(())?;
    nodes.field_text(declarator, "name").map(str::to_owned)
}

/// A function that is put somewhere, or a test.
fn statement(nodes: &Nodes<'_>, at: usize) -> Option<(String, Kind)> {
    let inner = nodes.parts(at).next()?;
    match nodes.kind(inner) {
        "assignment_expression" => {
            is_function(nodes, nodes.part(inner, "right")?).then_some(())?;
            Some((nodes.field_text(inner, "left")?.to_owned(), Kind::Function))
        }
        "call_expression" => {
            let callee = nodes.field_text(inner, "function")?;
            let list = nodes.part(inner, "arguments")?;
            let arguments: Vec<_> = nodes.parts(list).filter(|it| nodes.is_named(*it)).collect();
            let has_body = arguments.iter().any(|it| is_function(nodes, *it));
            let first = arguments.first().filter(|_| has_body)?;
            test(callee.split('.').next()?, nodes.text(*first))
        }
        _ => None,
    }
}

/// A test of Ruby.
fn call(nodes: &Nodes<'_>, at: usize) -> Option<(String, Kind)> {
    nodes.part(at, "block").filter(|it| nodes.kind(*it) == "do_block")?;
    test(nodes.field_text(at, "method")?, nodes.field_text(at, "arguments")?)
}

fn test(callee: &str, title: &str) -> Option<(String, Kind)> {
    let name = format!("{callee} {title}");
    match callee {
        _ if !title.starts_with(['"', '\'', '`']) => None,
        _ if TESTS.contains(&callee) => Some((name, Kind::Function)),
        _ if GROUPS.contains(&callee) => Some((name, Kind::Class)),
        _ => None,
    }
}

fn head_text(nodes: &Nodes<'_>, at: usize) -> String {
    let end = nodes.part(at, "body").map_or(nodes.bytes(at).end, |it| nodes.bytes(it).start);
    nodes.between(nodes.bytes(at).start, end).to_owned()
}

fn extent(
    nodes: &Nodes<'_>,
    at: usize,
    name: String,
    kind: Kind,
    lines: &[&str],
    leads: &[bool],
) -> Definition {
    let wrapper = nodes.parent(at).filter(|it| WRAPPERS.contains(&nodes.kind(*it)));
    let outer = wrapper.unwrap_or(at);
    // Decorators count as what is above the head.
    let is_decorated = nodes.kind(outer) == "decorated_definition";
    let (first, last) = nodes.said(if is_decorated { at } else { outer });
    let (start, end) = (nodes.line(first), nodes.line(last) + 1);
    let (above, below) = (&lines[start][..nodes.column(first)], &lines[end - 1][nodes.column(last) + 1..]);
    let is_apart =
        !nodes.has_error(outer) && is_blank(above) && below.trim().chars().all(|it| ";,)".contains(it));
    let lead = (0..start).rev().take_while(|it| leads[*it]).last().unwrap_or(start);
    let body = body(nodes, at).unwrap_or(start + 1).clamp(start + 1, end);
    Definition { name, kind, parent: None, lead, start, body, end, is_apart }
}

/// The line below the head: below the opening bracket, or below what stands before an indented block.
fn body(nodes: &Nodes<'_>, at: usize) -> Option<usize> {
    let is_body = |it: &usize| {
        let kind = nodes.kind(*it);
        ["class_body", "function_body", "enum_class_body", "declaration_list"].contains(&kind)
    };
    let in_call = || nodes.within(at).find(|it| nodes.field(*it) == "body");
    let by_kind = || nodes.parts(at).find(is_body);
    let body = nodes.part(at, "body").or_else(by_kind).or_else(in_call)?;
    let start = nodes.bytes(body).start;
    if nodes.text(body).starts_with('{') {
        return Some(nodes.line(start) + 1);
    }
    let before = nodes.text_before(start);
    let is_comment = |it: &usize| nodes.kind(*it).contains("comment");
    let above = nodes.parts(at).filter(|it| *it < body && !is_comment(it)).last();
    Some(above.map_or(before.trim_end().len(), |it| nodes.bytes(it).end))
        .map(|it| nodes.line(it.max(1) - 1) + 1)
}

/// Returns for each line whether it has only comments, decorators and attributes.
fn leads(nodes: &Nodes<'_>, lines: &[&str]) -> Vec<bool> {
    let mut leads = vec![false; lines.len()];
    for at in 0..nodes.len() {
        let kind = nodes.kind(at);
        if !nodes.is_named(at)
            || !(kind.ends_with("comment") || ["decorator", "attribute_item"].contains(&kind))
        {
            continue;
        }
        let (first, last) = nodes.said(at);
        let (start, end) = (nodes.line(first), nodes.line(last));
        let is_alone = is_blank(lines[start].get(..nodes.column(first)).unwrap_or_default())
            && is_blank(lines[end].get(nodes.column(last) + 1..).unwrap_or_default());
        leads[start..=end].iter_mut().for_each(|it| *it |= is_alone);
    }
    leads
}
