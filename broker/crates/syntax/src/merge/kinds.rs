//! Kinds of nodes, by the names that grammars give them: lists, and definitions whose order has no meaning.

use tree_sitter::Node;

/// Separation of a list's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    /// Each on lines of its own. Items other than definitions have an order.
    Lines,
    /// Commas between entries.
    Commas,
}

const LINES: [&str; 14] = [
    "block",
    "class_body",
    "compound_statement",
    "declaration_list",
    "field_declaration_list",
    "import_spec_list",
    "interface_body",
    "module",
    "object_type",
    "program",
    "source_file",
    "statement_block",
    "struct_body",
    "translation_unit",
];

/// Without those of enums and of tuples, whose entries have numbers.
const COMMAS: [&str; 12] = [
    "array",
    "array_expression",
    "dictionary",
    "export_clause",
    "field_initializer_list",
    "import_from_statement",
    "list",
    "named_imports",
    "object",
    "set",
    "use_list",
    "array_initializer",
];

/// Returns the kind of list that a node is. A list that may be either has commas if there is one.
pub(super) fn list_of(node: Node<'_>) -> Option<ListKind> {
    let kind = node.kind();
    if COMMAS.contains(&kind) {
        return Some(ListKind::Commas);
    }
    let has_comma = || node.children(&mut node.walk()).any(|it| it.kind() == ",");
    let is_list = LINES.contains(&kind);
    is_list.then(|| if has_comma() { ListKind::Commas } else { ListKind::Lines })
}

/// Parts of the names of kinds of definitions.
const DEFINITIONS: [&str; 22] = [
    "class",
    "const_item",
    "constructor",
    "enum",
    "field_declaration",
    "field_definition",
    "function",
    "impl_item",
    "import",
    "interface",
    "macro_definition",
    "method",
    "mod_item",
    "namespace",
    "pair",
    "property_signature",
    "record",
    "static_item",
    "struct",
    "trait",
    "type_alias",
    "type_declaration",
];

/// Whether a node is an import: of those, two may name the same module.
pub(super) fn is_import(node: Node<'_>) -> bool {
    let kind = node.kind();
    (kind.contains("import") && kind != "future_import_statement") || kind == "use_declaration"
}

/// Whether an entry stands for others, so that its place decides what they mean.
pub(super) fn is_spread(node: Node<'_>) -> bool {
    ["spread", "splat", "base_field_initializer"].iter().any(|it| node.kind().contains(it))
}

/// Nodes around definitions and lists.
const AROUND: [&str; 12] = [
    "arrow_function",
    "assignment",
    "const_declaration",
    "const_item",
    "const_spec",
    "decorated_definition",
    "document",
    "export_statement",
    "lexical_declaration",
    "static_item",
    "variable_declaration",
    "variable_declarator",
];

/// Whether the children of a node are merged one by one: those of definitions, of what stands around them, of imports and of
/// tests.
pub(super) fn has_parts(node: Node<'_>, text: &str) -> bool {
    let kind = node.kind();
    if is_import(node) || kind.starts_with("scoped_use") || kind == "import_clause" {
        return true;
    }
    let is_around = || match kind {
        "expression_statement" => test_name(node, text).is_some() || holds_list(node),
        "call_expression" | "arguments" => statement_of(node).is_some_and(|it| test_name(it, text).is_some()),
        kind => AROUND.contains(&kind) || is_defining(kind),
    };
    node.start_position().row != node.end_position().row && is_around()
}

/// Whether a statement is the assignment of a value, which may be a list.
fn holds_list(statement: Node<'_>) -> bool {
    statement.named_child(0).is_some_and(|it| it.kind() == "assignment")
}

/// The statement that is this call, or of which this is the list of arguments.
fn statement_of(node: Node<'_>) -> Option<Node<'_>> {
    let call = if node.kind() == "arguments" { node.parent()? } else { node };
    call.parent().filter(|it| it.kind() == "expression_statement")
}

fn is_defining(kind: &str) -> bool {
    let is_used = ["call", "expression", "statement", "invocation"].iter().any(|it| kind.contains(it));
    !is_used && DEFINITIONS.iter().any(|it| kind.contains(it))
}

/// The definition in what stands around it, such as decorators or `export`.
pub(super) fn inner(node: Node<'_>) -> Node<'_> {
    let wrapped = match node.kind() {
        "decorated_definition" => node.child_by_field_name("definition"),
        "export_statement" => node.child_by_field_name("declaration"),
        "expression_statement" => node.named_child(0).filter(|it| it.kind() == "assignment"),
        "lexical_declaration" | "variable_declaration" if node.named_child_count() == 1 => {
            node.named_child(0)
        }
        _ => None,
    };
    wrapped.map_or(node, inner)
}

/// Whether a node defines something, and may stand before or after its neighbours.
pub(super) fn is_definition(node: Node<'_>, text: &str) -> bool {
    let node = inner(node);
    let kind = node.kind();
    if is_import(node) || test_name(node, text).is_some() {
        return true;
    }
    if kind == "variable_declarator" {
        let value = node.child_by_field_name("value").map(|it| it.kind());
        return value.is_some_and(|it| ["arrow_function", "function_expression", "class"].contains(&it));
    }
    is_defining(kind)
}

/// The name by which a node is found in another version.
pub(super) fn name(node: Node<'_>, text: &str) -> Option<String> {
    let node = inner(node);
    let of = |it: Node<'_>| text.get(it.byte_range()).map(str::to_owned);
    let field = |name| node.child_by_field_name(name).and_then(of);
    let key = |it: String| it.trim_matches(['"', '\'']).to_owned();
    match node.kind() {
        _ if is_import(node) => {
            let module = ["source", "module_name"].into_iter().find_map(field);
            module
                .map(|it| format!("import {}", key(it)))
                .or_else(|| Some(format!("import {}", of(node)?.split('{').next()?)))
        }
        "impl_item" => Some(format!("impl {} for {}", field("trait").unwrap_or_default(), field("type")?)),
        "method_declaration" => Some(format!("{} {}", receiver(field("receiver")), field("name")?)),
        "pair" | "field_initializer" => field("key").or_else(|| field("field")).map(key),
        "shorthand_property_identifier" | "shorthand_field_initializer" => of(node),
        "assignment" => field("left"),
        _ => field("name").or_else(|| field("declarator")).or_else(|| test_name(node, text)),
    }
}

/// The type of Go's receiver, such as `S` of `(s *S)`.
fn receiver(text: Option<String>) -> String {
    let text = text.unwrap_or_default();
    let inner = text.trim_matches(['(', ')', ' ']);
    inner.rsplit([' ', '*']).next().unwrap_or_default().to_owned()
}

/// The name of a test as JavaScript's frameworks define it: `it("does this", …)`.
fn test_name(node: Node<'_>, text: &str) -> Option<String> {
    if node.kind() != "expression_statement" {
        return None;
    }
    let call = node.named_child(0).filter(|it| it.kind() == "call_expression")?;
    let called = text.get(call.child_by_field_name("function")?.byte_range())?;
    let first = call.child_by_field_name("arguments")?.named_child(0)?;
    let is_test = ["describe", "it", "test"].contains(&called.split('.').next()?);
    (is_test && first.kind() == "string").then(|| format!("{called} {}", &text[first.byte_range()]))
}
