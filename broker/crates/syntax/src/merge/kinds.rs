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

const LINES: [&str; 26] = [
    "block",
    "block_mapping",
    "block_sequence",
    "body_statement",
    "class_body",
    "compilation_unit",
    "compound_statement",
    "declaration_list",
    "document",
    "enum_declaration_list",
    "field_declaration_list",
    "import_spec_list",
    "interface_body",
    "module",
    "object_type",
    "ordered_field_declaration_list",
    "program",
    "protocol_body",
    "source",
    "source_file",
    "statement_block",
    "stream",
    "struct_body",
    "table",
    "template_body",
    "translation_unit",
];

const COMMAS: [&str; 14] = [
    "array",
    "array_expression",
    "dictionary",
    "enum_body",
    "enum_variant_list",
    "export_clause",
    "field_initializer_list",
    "import_from_statement",
    "list",
    "named_imports",
    "object",
    "object_literal",
    "set",
    "use_list",
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
const DEFINITIONS: [&str; 30] = [
    "class",
    "const_item",
    "constructor",
    "enum",
    "field_declaration",
    "field_definition",
    "function",
    "impl_item",
    "import",
    "include",
    "interface",
    "macro_definition",
    "message",
    "method",
    "mod_item",
    "namespace",
    "pair",
    "property_declaration",
    "property_signature",
    "protocol",
    "record",
    "rpc",
    "service",
    "static_item",
    "struct",
    "table",
    "trait",
    "type_alias",
    "type_declaration",
    "use_declaration",
];

/// Whether a node is an import: of those, two may name the same module.
pub(super) fn is_import(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.contains("import")
        || kind.starts_with("use_")
        || kind == "scoped_use_list"
        || kind == "using_directive"
}

/// The definition in what stands around it, such as decorators or `export`.
pub(super) fn inner(node: Node<'_>) -> Node<'_> {
    let wrapped = match node.kind() {
        "decorated_definition" => node.child_by_field_name("definition"),
        "export_statement" => node.child_by_field_name("declaration"),
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
    let is_used = ["call", "expression", "statement", "invocation"].iter().any(|it| kind.contains(it));
    !is_used && DEFINITIONS.iter().any(|it| kind.contains(it))
}

/// The name by which a node is found in another version.
pub(super) fn name(node: Node<'_>, text: &str) -> Option<String> {
    let node = inner(node);
    let of = |it: Node<'_>| text.get(it.byte_range()).map(str::to_owned);
    let field = |name| node.child_by_field_name(name).and_then(of);
    match node.kind() {
        _ if is_import(node) => None,
        "impl_item" => Some(format!("impl {} for {}", field("trait").unwrap_or_default(), field("type")?)),
        "method_declaration" => Some(format!("{} {}", field("receiver").unwrap_or_default(), field("name")?)),
        "pair" | "block_mapping_pair" | "flow_pair" => {
            field("key").or_else(|| node.named_child(0).and_then(of))
        }
        "table" | "table_array_element" => node.named_child(0).and_then(of),
        _ => field("name").or_else(|| field("declarator")).or_else(|| test_name(node, text)),
    }
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
