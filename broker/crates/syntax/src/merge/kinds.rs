//! Kinds of nodes, by the names that grammars give them: lists, and definitions whose order has no meaning.
//!
//! These are not the definitions of the queries, which have values whose order counts, and lack entries, arguments, members and
//! variables that have names here.

use tree_sitter::Node;

use super::sets;

/// Separation of a list's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    /// Each on lines of its own. Items other than definitions have an order.
    Lines,
    /// Commas between entries.
    Commas,
}

const LINES: [&str; 16] = [
    "block",
    "class_body",
    "compound_statement",
    "declaration_list",
    "enum_body_declarations",
    "field_declaration_list",
    "import_spec_list",
    "interface_body",
    "interface_type",
    "module",
    "object_type",
    "program",
    "source_file",
    "statement_block",
    "struct_body",
    "translation_unit",
];

/// Lists whose entries are told apart by name. Without those of enums and of tuples, whose entries have numbers.
const COMMAS: [&str; 8] = [
    "dictionary",
    "export_clause",
    "field_initializer_list",
    "import_from_statement",
    "named_imports",
    "object",
    "set",
    "use_list",
];

/// Returns the kind of list that a node is, if the order of its entries has no meaning or is kept as that of statements. A
/// list that may be either kind has commas if there is one.
pub(super) fn list_of(node: Node<'_>, text: &str) -> Option<ListKind> {
    match node.kind() {
        kind if COMMAS.contains(&kind) => Some(ListKind::Commas),
        "array" | "array_expression" | "array_initializer" | "list" => {
            sets::is_set(node, text).then_some(ListKind::Commas)
        }
        "literal_value" => has_only(node, "keyed_element").then_some(ListKind::Commas),
        "argument_list" => has_only(node, "keyword_argument").then_some(ListKind::Commas),
        "const_declaration" => has_plain_constants(node, text).then_some(ListKind::Lines),
        "field_declaration_list" if has_field_order(node, text) => None,
        // TypeScript's, around a block; Python's is a whole text.
        "module" if node.child_by_field_name("body").is_some() => None,
        kind if LINES.contains(&kind) => {
            let has_comma = node.children(&mut node.walk()).any(|it| it.kind() == ",");
            Some(if has_comma { ListKind::Commas } else { ListKind::Lines })
        }
        _ => None,
    }
}

fn has_only(list: Node<'_>, kind: &str) -> bool {
    let mut own = list.walk();
    let mut entries = list.named_children(&mut own).filter(|it| !it.is_extra()).peekable();
    entries.peek().is_some() && entries.all(|it| it.kind() == kind)
}

/// Whether a group of Go's constants has a value for each, and none that depends on its place.
fn has_plain_constants(group: Node<'_>, text: &str) -> bool {
    let is_plain =
        |it: Node<'_>| it.child_by_field_name("value").is_some() && !source(it, text).contains("iota");
    has_only(group, "const_spec")
        && group.child(1).is_some_and(|it| it.kind() == "(")
        && group.named_children(&mut group.walk()).filter(|it| !it.is_extra()).all(is_plain)
}

/// Whether the layout of a Rust structure, or the order of its values, is that of its fields.
fn has_field_order(fields: Node<'_>, text: &str) -> bool {
    let mut before = fields.parent().and_then(|it| it.prev_named_sibling());
    while let Some(node) = before.filter(|it| it.is_extra() || it.kind() == "attribute_item") {
        let attribute = source(node, text);
        if !node.is_extra() && (attribute.contains("repr") || attribute.contains("Ord")) {
            return true;
        }
        before = node.prev_named_sibling();
    }
    false
}

/// Parts of the names of kinds of definitions.
const DEFINITIONS: [&str; 27] = [
    "associated_type",
    "class",
    "const_item",
    "const_spec",
    "constructor",
    "enum",
    "field_declaration",
    "field_definition",
    "function",
    "impl_item",
    "import",
    "interface",
    "internal_module",
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
    "type_item",
    "union_item",
];

/// Whether a node is an import, or exports what another module has.
pub(super) fn is_import(node: Node<'_>) -> bool {
    match node.kind() {
        "future_import_statement" => false,
        "use_declaration" | "extern_crate_declaration" => true,
        "export_statement" => node.child_by_field_name("source").is_some(),
        kind => kind.contains("import"),
    }
}

/// Whether a node of JavaScript ends with a semicolon that may be left out.
pub(super) fn may_lack_semicolon(node: Node<'_>) -> bool {
    let script = ["field_definition", "public_field_definition", "export_statement", "expression_statement"];
    binds_variables(node) || script.contains(&node.kind())
}

/// Whether a node is a declaration of variables, as JavaScript and Java have them.
pub(super) fn binds_variables(node: Node<'_>) -> bool {
    let kinds =
        ["lexical_declaration", "variable_declaration", "local_variable_declaration", "constant_declaration"];
    kinds.contains(&node.kind()) || node.child_by_field_name("declarator").is_some()
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
    let is_used =
        ["call", "expression", "statement", "static_block", "invocation"].iter().any(|it| kind.contains(it));
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
    let is_reexport = is_import(node);
    let node = inner(node);
    let kind = node.kind();
    if is_reexport || is_import(node) || test_name(node, text).is_some() {
        return true;
    }
    if kind == "variable_declarator" {
        let Some(value) = node.child_by_field_name("value") else { return false };
        let is_function = ["arrow_function", "function_expression", "class"].contains(&value.kind());
        return is_function || is_required(value, text);
    }
    is_defining(kind)
}

/// Whether a value is a module, or a part of one: `require("a").b`.
fn is_required(value: Node<'_>, text: &str) -> bool {
    match value.kind() {
        "member_expression" => value.child_by_field_name("object").is_some_and(|it| is_required(it, text)),
        "call_expression" => {
            let function = value.child_by_field_name("function");
            let module = value.child_by_field_name("arguments").and_then(|it| it.named_child(0));
            function.is_some_and(|it| source(it, text) == "require")
                && module.is_some_and(|it| it.kind() == "string")
        }
        _ => false,
    }
}

fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The name by which a node is found in another version.
pub(super) fn name(node: Node<'_>, text: &str) -> Option<String> {
    let key = |it: String| it.trim_matches(['"', '\'']).to_owned();
    let own = |name| node.child_by_field_name(name).map(|it| key(source(it, text).to_owned()));
    if is_import(node) {
        let module = ["source", "module_name"].into_iter().find_map(own);
        // Without the names of a group.
        let path = || source(node, text).split(['{', '(']).next().unwrap_or_default().to_owned();
        return Some(format!("{} {}", node.kind(), module.unwrap_or_else(path)));
    }
    let node = inner(node);
    let field = |name| node.child_by_field_name(name).map(|it| source(it, text).to_owned());
    match node.kind() {
        "impl_item" => {
            let name = |it| field(it).map(|it| last_parts(&it));
            Some(format!("impl {} for {}", name("trait").unwrap_or_default(), name("type")?))
        }
        "method_declaration" if node.child_by_field_name("receiver").is_some() => {
            Some(format!("{} {}", receiver(&field("receiver")?), field("name")?))
        }
        "method_declaration" | "constructor_declaration" => {
            Some(format!("{}({})", field("name")?, parameter_types(node, text)))
        }
        "type_declaration" => name(node.named_child(0)?, text),
        "pair" | "keyed_element" | "field_initializer" => field("key").or_else(|| field("field")).map(key),
        "string" | "string_literal" | "template_string" => {
            Some(source(node, text).trim_matches(['"', '\'', '`']).to_owned())
        }
        "shorthand_property_identifier" | "shorthand_field_initializer" => {
            Some(source(node, text).to_owned())
        }
        "assignment" => field("left"),
        _ => {
            let declared = node.child_by_field_name("declarator").and_then(|it| name(it, text));
            let named = ["name", "property"].into_iter().find_map(field).map(key);
            named.or(declared).or_else(|| test_name(node, text))
        }
    }
}

/// The type of Go's receiver, such as `S` of `(s *S[T])`.
fn receiver(text: &str) -> String {
    let inner = text.split('[').next().unwrap_or_default().trim_matches(['(', ')', ' ']);
    inner.rsplit([' ', '*']).next().unwrap_or_default().to_owned()
}

/// The types of a Java method's parameters, as far as they tell two of one name apart.
fn parameter_types(method: Node<'_>, text: &str) -> String {
    let Some(parameters) = method.child_by_field_name("parameters") else { return String::new() };
    let children = parameters.named_children(&mut parameters.walk()).collect::<Vec<_>>();
    let types = children.into_iter().filter_map(|it| {
        let own = it.child_by_field_name("type").or_else(|| it.named_child(0))?;
        Some(last_parts(source(own, text).split('<').next()?.trim()))
    });
    types.collect::<Vec<_>>().join(",")
}

/// A type without blanks and with the last part of each path: `From<io::Error>` as `From<Error>`.
fn last_parts(text: &str) -> String {
    let mut parts = String::new();
    let mut word = String::new();
    for it in text.chars().filter(|it| !it.is_whitespace()) {
        match it {
            ':' | '.' => word.clear(),
            _ if it.is_alphanumeric() || it == '_' => word.push(it),
            _ => {
                parts.push_str(&std::mem::take(&mut word));
                parts.push(it);
            }
        }
    }
    parts + &word
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
