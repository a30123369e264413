//! Names in a text: each identifier of its tree with its role. Comments and string literals have none; expressions inside a
//! string have.
//!
//! One walk for all languages: grammars call identifiers, members and calls alike, and the tables below say how.

use std::ops::Range;

use tree_sitter::Node;

use crate::Tree;

/// An identifier and its place, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub range: Range<usize>,
    pub role: Role,
    /// Text before the dot, of a member.
    pub qualifier: Option<Range<usize>>,
    /// Arguments, if it is called here.
    pub call: Option<Arguments>,
}

/// Part that a name has where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A use by itself.
    Bare,
    /// A use as a member: `it.name`, `It::name`.
    Member,
    /// A name of an argument, or of a field in a literal.
    Label,
    /// A variable or a parameter that gets a value here.
    Bound,
    /// A field of a type that is declared here, or an attribute that an object gets.
    Field,
    /// A name that an import gives to the file.
    Imported,
    /// Another name in an import: of a module, or of what is given another name.
    InImport,
}

/// Arguments of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    pub positional: usize,
    pub named: Vec<String>,
    /// Whether a list is spread among them, so that their number is not known.
    pub is_open: bool,
}

/// Fields of a node for a member and for what it is a member of.
const MEMBERS: [(&str, &str); 13] = [
    ("attribute", "object"),
    ("property", "object"),
    ("field", "operand"),
    ("field", "value"),
    ("field", "argument"),
    ("field", "object"),
    ("name", "path"),
    ("name", "package"),
    ("name", "object"),
    ("name", "scope"),
    ("name", "expression"),
    ("name", "receiver"),
    ("method", "receiver"),
];

/// Ends of kinds of nodes that have such fields and no member.
const NO_MEMBERS: [&str; 4] = ["_declaration", "_initializer", "_argument", "import_spec"];

/// Fields of a call for what is called.
const CALLED: [&str; 5] = ["function", "constructor", "name", "method", "type"];

/// Nodes of imports, besides those whose names begin with `import_`.
const IMPORTS: [&str; 7] = [
    "use_declaration",
    "extern_crate_declaration",
    "future_import_statement",
    "using_directive",
    "namespace_use_declaration",
    "import",
    "import_header",
];

/// Fields of what an import names and does not give to the file.
const NOT_IMPORTED: [&str; 4] = ["module_name", "source", "path", "module"];

/// Nodes that declare a field of a type, by the field that has its name.
const FIELDS: [&str; 5] = [
    "field_declaration",
    "property_signature",
    "public_field_definition",
    "field_definition",
    "property_declaration",
];

/// Nodes around a name. What is deeper was made to be.
const MAX_DEPTH: usize = 256;

/// The names of a text from its start to its end.
pub fn names(tree: &Tree) -> Vec<Name> {
    let mut found = Vec::new();
    add(tree.inner.root_node(), tree, None, MAX_DEPTH, &mut found);
    found
}

/// Adds the names below a node; `import` is the import around it.
fn add<'t>(node: Node<'t>, tree: &Tree, import: Option<Node<'t>>, depth: usize, found: &mut Vec<Name>) {
    let import = import.or_else(|| is_import(node).then_some(node));
    if node.child_count() == 0 {
        if is_name(node) {
            found.push(name(node, tree, import));
        }
    } else if is_path_of_import(node) {
        found.extend(last_of_path(node, &tree.text));
    } else if depth > 0 {
        let mut cursor = node.walk();
        node.children(&mut cursor).for_each(|it| add(it, tree, import, depth - 1, found));
    }
}

fn is_name(node: Node<'_>) -> bool {
    node.is_named() && (node.kind().ends_with("identifier") || matches!(node.kind(), "name" | "constant"))
}

fn is_import(node: Node<'_>) -> bool {
    let is_export = || node.kind() == "export_statement" && node.child_by_field_name("source").is_some();
    node.is_named() && (node.kind().starts_with("import_") || IMPORTS.contains(&node.kind()) || is_export())
}

/// Whether it is a path of Go whose last part is the name of a package.
fn is_path_of_import(node: Node<'_>) -> bool {
    node.kind() == "interpreted_string_literal"
        && node
            .parent()
            .is_some_and(|it| it.kind() == "import_spec" && it.child_by_field_name("name").is_none())
}

/// The last part of a path, before a version.
fn last_of_path(node: Node<'_>, text: &[u8]) -> Option<Name> {
    let path = str::from_utf8(text.get(node.byte_range())?).ok()?.trim_matches('"');
    let is_version = |it: &&str| it.strip_prefix('v').is_some_and(|it| it.parse::<u32>().is_ok());
    let part = path.rsplit('/').find(|it| !is_version(it))?;
    let start = node.start_byte() + 1 + path.rfind(part)?;
    let part = part.split_once(".v").map_or(part, |it| it.0);
    Some(Name { range: start..start + part.len(), role: Role::Imported, qualifier: None, call: None })
}

fn name<'t>(node: Node<'t>, tree: &Tree, import: Option<Node<'t>>) -> Name {
    let owner = owner(node);
    let role = match import {
        Some(import) if is_given(node, import) => Role::Imported,
        Some(_) => Role::InImport,
        None => role(node, owner, &tree.text),
    };
    let callee = owner.and(node.parent()).unwrap_or(node);
    let call = if import.is_none() { call(callee, tree).or_else(|| call(node, tree)) } else { None };
    Name { range: node.byte_range(), role, qualifier: owner.map(|it| it.byte_range()), call }
}

/// Node before the dot, if the node is a member.
fn owner(node: Node<'_>) -> Option<Node<'_>> {
    let parent = node.parent()?;
    if parent.kind() == "token_tree" {
        let dot = node.prev_sibling().filter(|it| matches!(it.kind(), "." | "::"))?;
        return dot.prev_sibling();
    }
    if NO_MEMBERS.iter().any(|it| parent.kind().ends_with(it)) {
        return None;
    }
    let is_member = |(member, _): &&(&str, &str)| parent.child_by_field_name(member) == Some(node);
    let mut members = MEMBERS.iter().filter(is_member);
    members.find_map(|(_, owner)| parent.child_by_field_name(owner)).filter(|it| *it != node && it.is_named())
}

fn role(node: Node<'_>, owner: Option<Node<'_>>, text: &[u8]) -> Role {
    let Some(parent) = node.parent() else { return Role::Bare };
    if FIELDS.contains(&parent.kind()) && is_field_of(parent, node, &["name", "property"]) {
        return Role::Field;
    }
    if let Some(owner) = owner {
        let is_self = matches!(text.get(owner.byte_range()), Some(b"self" | b"cls" | b"this"));
        return if is_self && is_bound(parent) { Role::Field } else { Role::Member };
    }
    match parent.kind() {
        "keyword_argument" | "pair" | "named_argument" | "field_initializer"
            if is_field_of(parent, node, &["name", "key", "field"]) =>
        {
            Role::Label
        }
        "literal_element" if is_first_of_keyed(parent) => Role::Label,
        _ if is_bound(node) => {
            if is_attribute_of_class(parent) {
                Role::Field
            } else {
                Role::Bound
            }
        }
        _ => Role::Bare,
    }
}

/// Whether an assignment is one of a class of Python.
fn is_attribute_of_class(assignment: Node<'_>) -> bool {
    let statement = assignment.parent().filter(|_| assignment.kind() == "assignment");
    let block = statement.and_then(|it| it.parent()).filter(|it| it.kind() == "block");
    block.and_then(|it| it.parent()).is_some_and(|it| it.kind() == "class_definition")
}

fn is_field_of(parent: Node<'_>, node: Node<'_>, fields: &[&str]) -> bool {
    fields.iter().any(|it| parent.child_by_field_name(it) == Some(node))
}

/// Whether it is a key in a literal of Go.
fn is_first_of_keyed(element: Node<'_>) -> bool {
    element.parent().is_some_and(|it| it.kind() == "keyed_element" && it.named_child(0) == Some(element))
}

/// Whether a value is assigned to the node, alone or in a list, or is passed as it.
fn is_bound(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let kind = parent.kind();
    if kind.ends_with("_list") && !kind.contains("argument") && !kind.contains("parameter")
        || kind.ends_with("_pattern") && kind != "constructor_pattern"
    {
        return is_bound(parent);
    }
    let is = |field| parent.child_by_field_name(field) == Some(node);
    let is_assigned = kind.contains("assignment") || kind.contains("declarat") || kind.contains("for_");
    let is_declared = kind.ends_with("declarator") || kind.ends_with("_spec");
    let is_parameter = kind.contains("parameter") && !is("type") && !is("value") && !is("default_value");
    is_parameter
        || (is_assigned || kind.contains("let_")) && (is("left") || is("pattern"))
        || is_declared && is("name")
}

/// Whether the import gives the name to the file.
fn is_given<'t>(node: Node<'t>, import: Node<'t>) -> bool {
    let mut inner = node;
    while inner != import {
        let Some(parent) = inner.parent() else { return true };
        let alias = parent.child_by_field_name("alias");
        let is_passed_over = alias.is_some_and(|it| it != inner)
            || NOT_IMPORTED.iter().any(|it| parent.child_by_field_name(it) == Some(inner))
            || parent.kind() == "dotted_name" && parent.named_child(0) != Some(inner);
        if is_passed_over {
            return false;
        }
        inner = parent;
    }
    true
}

/// The arguments, if the node is what a call calls.
fn call(callee: Node<'_>, tree: &Tree) -> Option<Arguments> {
    let mut parent = callee.parent()?;
    if parent.kind() == "generic_function" {
        parent = parent.parent()?;
    }
    let arguments = parent.child_by_field_name("arguments")?;
    let is_called = |it: Node<'_>| it == callee || it.kind() == "generic_function";
    if !CALLED.iter().filter_map(|it| parent.child_by_field_name(it)).any(is_called) {
        return None;
    }
    let mut counted = Arguments { is_open: !arguments.kind().contains("argument"), ..Arguments::default() };
    let mut cursor = arguments.walk();
    let all: Vec<_> = arguments.named_children(&mut cursor).filter(|it| !it.is_extra()).collect();
    match (tree.language().name(), &*all) {
        // It may have several results.
        ("go", [only]) if only.kind() == "call_expression" => counted.is_open = true,
        _ => all.into_iter().for_each(|it| counted.add(it, &tree.text)),
    }
    Some(counted)
}

impl Arguments {
    fn add(&mut self, argument: Node<'_>, text: &[u8]) {
        let kind = argument.kind();
        let is_list = ["splat", "spread", "variadic", "comprehension"].iter().any(|it| kind.contains(it));
        let name = match kind {
            "keyword_argument" => argument.child_by_field_name("name"),
            "pair" => argument.child_by_field_name("key").filter(|it| it.kind() == "hash_key_symbol"),
            _ => None,
        };
        if is_list {
            self.is_open = true;
        } else if let Some(name) = name {
            let name = text.get(name.byte_range()).unwrap_or_default();
            self.named.push(String::from_utf8_lossy(name).into_owned());
        } else {
            // A block of Ruby is none.
            self.positional += usize::from(kind != "block_argument");
        }
    }
}

#[cfg(test)]
mod tests;
