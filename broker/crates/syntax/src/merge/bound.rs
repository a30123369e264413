//! Names that the scopes of a text bind, over all kinds of definitions and imports together.
//!
//! A scope must not bind a name more often than it does in one of the versions: a second one is an error, or replaces the first.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use tree_sitter::Node;
use unicode_normalization::UnicodeNormalization as _;

use super::{
    imports::{Imported, imported},
    kinds,
};
use crate::Tree;

/// Number of times that a scope binds a name, by the path of the scope and the name. Of scopes without a name, such as blocks,
/// the highest number of those in one place.
pub(super) type Bound = HashMap<(Rc<str>, String), usize>;

/// Whether no scope of `[base, ours, theirs, merged]` binds a name more often in the last than in each of the others.
pub(super) fn are_bound_once([base, ours, theirs, merged]: [Bound; 4]) -> bool {
    merged.iter().all(|(name, number)| {
        let versions = [&base, &ours, &theirs].into_iter();
        *number <= 1 || versions.filter_map(|it| it.get(name)).any(|it| number <= it)
    })
}

/// Returns the names that a text's scopes bind.
pub(super) fn bound_names(tree: &Tree) -> Bound {
    let text = str::from_utf8(tree.text()).unwrap_or_default();
    let is_python = tree.language().name() == "python";
    let mut walk = Walk { text, is_python, bound: Bound::new(), waiting: Vec::new() };
    walk.waiting.push(Scope { path: "".into(), is_one: true, node: tree.inner.root_node() });
    while let Some(scope) = walk.waiting.pop() {
        walk.enter(&scope);
    }
    walk.bound
}

struct Scope<'t> {
    path: Rc<str>,
    /// Whether all scopes of this path are one, as Rust's `impl` blocks of a type are.
    is_one: bool,
    node: Node<'t>,
}

struct Walk<'t> {
    text: &'t str,
    is_python: bool,
    bound: Bound,
    waiting: Vec<Scope<'t>>,
}

/// Kinds of definitions with a scope of their own.
const NAMED_SCOPES: [&str; 24] = [
    "abstract_class_declaration",
    "annotation_type_declaration",
    "class_declaration",
    "class_definition",
    "constructor_declaration",
    "enum_declaration",
    "enum_item",
    "function_declaration",
    "function_definition",
    "function_item",
    "generator_function_declaration",
    "impl_item",
    "interface_declaration",
    "internal_module",
    "macro_definition",
    "method_declaration",
    "method_definition",
    "mod_item",
    "module",
    "record_declaration",
    "struct_item",
    "trait_item",
    "type_spec",
    "union_item",
];

const SCOPES: [&str; 19] = [
    "arrow_function",
    "block",
    "catch_clause",
    "class",
    "dictionary",
    "for_in_statement",
    "for_statement",
    "function_expression",
    "generator_function",
    "interface_type",
    "lambda_expression",
    "literal_value",
    "object",
    "object_type",
    "statement_block",
    "struct_type",
    "switch_block",
    "switch_body",
    "try_with_resources_statement",
];

/// Blocks that are no scopes in Python.
const BLOCKS: [&str; 2] = ["block", "for_statement"];

impl<'t> Walk<'t> {
    fn enter(&mut self, scope: &Scope<'t>) {
        let mut names = HashMap::<(Rc<str>, String), usize>::new();
        let mut seen = HashSet::new();
        let mut nodes: Vec<_> = children(scope.node).map(|it| (it, true)).collect();
        while let Some((node, is_body)) = nodes.pop() {
            let bindings = bindings(node, self.text);
            let first = bindings.first().map(|it| (it.owner.clone(), it.import.name.clone()));
            for Binding { owner, import } in bindings {
                let import = if self.is_python { normalized(import) } else { import };
                let path = owner.map_or_else(|| scope.path.clone(), |it| inside(&scope.path, &it));
                let is_new = import.target.is_none() || seen.insert((import.name.clone(), import.target));
                *names.entry((path, import.name)).or_default() += usize::from(is_new);
            }
            match self.opened(scope, node, first, is_body) {
                Some(inner) => self.waiting.push(inner),
                None => nodes.extend(children(node).map(|it| (it, false))),
            }
        }
        for (name, number) in names {
            let count = self.bound.entry(name).or_default();
            *count = if scope.is_one { *count + number } else { number.max(*count) };
        }
    }

    /// The scope that a node opens. The body of a scope, which stands in it directly, is none of its own.
    fn opened(
        &self,
        around: &Scope<'t>,
        node: Node<'t>,
        name: Option<(Option<String>, String)>,
        is_body: bool,
    ) -> Option<Scope<'t>> {
        let kind = node.kind();
        if NAMED_SCOPES.contains(&kind) {
            let (owner, name) = name.or_else(|| Some((None, kinds::name(node, self.text)?)))?;
            let path = owner.map_or_else(|| around.path.clone(), |it| inside(&around.path, &it));
            return Some(Scope { path: inside(&path, &name), is_one: around.is_one, node });
        }
        let is_scope = SCOPES.contains(&kind) && !is_body && !(self.is_python && BLOCKS.contains(&kind));
        is_scope.then(|| Scope { path: inside(&around.path, kind), is_one: false, node })
    }
}

/// A name as Python reads it: in the normal form NFKC.
fn normalized(import: Imported) -> Imported {
    if import.name.is_ascii() { import } else { Imported { name: import.name.nfkc().collect(), ..import } }
}

fn children<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    node.named_children(&mut node.walk()).collect::<Vec<_>>().into_iter()
}

fn inside(path: &str, name: &str) -> Rc<str> {
    format!("{path}/{name}").into()
}

struct Binding {
    /// The scope within this one in which the name is bound.
    owner: Option<String>,
    import: Imported,
}

/// Kinds whose field `name` is bound.
const NAMED: [&str; 36] = [
    "abstract_class_declaration",
    "abstract_method_signature",
    "annotation_type_declaration",
    "associated_type",
    "class_declaration",
    "class_definition",
    "const_item",
    "const_spec",
    "enum_assignment",
    "enum_constant",
    "enum_declaration",
    "enum_item",
    "enum_variant",
    "field_declaration",
    "function_declaration",
    "function_definition",
    "function_item",
    "function_signature",
    "function_signature_item",
    "generator_function_declaration",
    "interface_declaration",
    "internal_module",
    "macro_definition",
    "method_elem",
    "method_signature",
    "mod_item",
    "module",
    "property_signature",
    "public_field_definition",
    "record_declaration",
    "static_item",
    "struct_item",
    "trait_item",
    "type_alias",
    "type_alias_declaration",
    "type_item",
];

/// Other kinds, of which [`kinds::name`] is what is bound.
const KEYED: [&str; 9] = [
    "constructor_declaration",
    "expression_statement",
    "field_definition",
    "field_initializer",
    "keyed_element",
    "method_definition",
    "pair",
    "shorthand_field_initializer",
    "shorthand_property_identifier",
];

fn bindings(node: Node<'_>, text: &str) -> Vec<Binding> {
    let of = |name: String| Binding { owner: None, import: Imported { name, target: None } };
    let all = |names: Vec<String>| names.into_iter().map(of).collect::<Vec<_>>();
    let kind = node.kind();
    match kind {
        "export_statement" => all(exported(node, text)),
        "export_specifier" => {
            let name = node.child_by_field_name("alias").or_else(|| node.child_by_field_name("name"));
            all(name.map(|it| format!("export {}", source(it, text))).into_iter().collect())
        }
        "assignment" => {
            let names = node.child_by_field_name("left").map(|it| patterns(it, text)).unwrap_or_default();
            let target = || Some("assignment".to_owned());
            let binding = |name| Binding { owner: None, import: Imported { name, target: target() } };
            names.into_iter().map(binding).collect()
        }
        "method_declaration" => method(node, text).into_iter().collect(),
        "impl_item" if node.child_by_field_name("trait").is_none() => Vec::new(),
        "impl_item" => all(kinds::name(node, text).into_iter().collect()),
        "type_spec" | "union_item" | "var_spec" => all(fields(node, text)),
        _ if kinds::binds_variables(node) => all(variables(node, text)),
        _ if NAMED.contains(&kind) => all(fields(node, text)),
        _ if KEYED.contains(&kind) => all(kinds::name(node, text).into_iter().collect()),
        _ => imported(node, text).into_iter().map(|import| Binding { owner: None, import }).collect(),
    }
}

fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// Go's functions `init` may be many.
fn fields(node: Node<'_>, text: &str) -> Vec<String> {
    let names = node.children_by_field_name("name", &mut node.walk()).map(|it| source(it, text)).collect();
    let names: Vec<&str> = names;
    let is_free = |it: &&str| *it != "_" && !(*it == "init" && node.kind() == "function_declaration");
    names.into_iter().filter(is_free).map(|it| it.trim_matches(['"', '\'']).to_owned()).collect()
}

/// A method of Java, or of Go: that one is bound in the scope of its receiver's type, where the fields are.
fn method(node: Node<'_>, text: &str) -> Option<Binding> {
    let name = kinds::name(node, text)?;
    let (owner, name) = match name.split_once(' ') {
        Some((owner, name)) => (Some(owner.to_owned()), name.to_owned()),
        None => (None, name),
    };
    Some(Binding { owner, import: Imported { name, target: None } })
}

fn variables(declaration: Node<'_>, text: &str) -> Vec<String> {
    let declarators = declaration.named_children(&mut declaration.walk()).collect::<Vec<_>>().into_iter();
    let names = declarators.filter(|it| it.kind() == "variable_declarator");
    names.filter_map(|it| it.child_by_field_name("name")).flat_map(|it| patterns(it, text)).collect()
}

/// The identifiers of a pattern.
fn patterns(pattern: Node<'_>, text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut waiting = vec![pattern];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                names.push(source(node, text).to_owned())
            }
            "attribute" | "subscript" => {}
            _ => waiting.extend(children(node)),
        }
    }
    names
}

/// The names under which a module's definition is exported.
fn exported(export: Node<'_>, text: &str) -> Vec<String> {
    if export.children(&mut export.walk()).any(|it| it.kind() == "default") {
        return vec!["export default".to_owned()];
    }
    let Some(declaration) = export.child_by_field_name("declaration") else { return Vec::new() };
    let bound = bindings(declaration, text).into_iter();
    bound.map(|it| format!("export {}", it.import.name)).collect()
}
