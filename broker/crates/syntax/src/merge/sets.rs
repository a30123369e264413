//! Lists of entries whose order has no meaning, and entries that are surely different ones.
//!
//! An array keeps its order: it may be the arguments of a program, numbers, or steps. It is a set only if that is certain from
//! its name, or if it has a name and its entries are unlike names, each on a line of its own.

use std::collections::HashSet;

use tree_sitter::Node;

use super::{Part, item::Item};

/// Names of lists that are sets wherever they are.
const SETS: [&str; 4] = ["__all__", "dependencies", "files", "keywords"];

/// Words in the names of lists whose order has a meaning.
const SEQUENCES: [&str; 22] = [
    "arg",
    "argument",
    "argv",
    "cmd",
    "command",
    "entrypoint",
    "exec",
    "extend",
    "layer",
    "loader",
    "middleware",
    "order",
    "path",
    "phase",
    "pipeline",
    "plugin",
    "preset",
    "run",
    "script",
    "stage",
    "step",
    "task",
];

/// Whether the order of an array's entries has no meaning.
pub(super) fn is_set(array: Node<'_>, text: &str) -> bool {
    let entries: Vec<_> = array.named_children(&mut array.walk()).filter(|it| !it.is_extra()).collect();
    let names: Option<Vec<_>> = entries.iter().map(|it| plain_string(source(*it, text))).collect();
    let Some(names) = names.filter(|it| it.iter().all(|it| is_name(it))) else { return false };
    let is_distinct = names.iter().collect::<HashSet<_>>().len() == names.len();
    let Some(list) = declared_name(array, text).filter(|_| is_distinct) else { return false };
    let is_sequence = || words(list).any(|it| SEQUENCES.contains(&it.trim_end_matches('s')));
    SETS.contains(&list) || (are_in_column(array, &entries) && !is_sequence())
}

/// Whether each entry begins on a line of its own.
fn are_in_column(array: Node<'_>, entries: &[Node<'_>]) -> bool {
    let mut above = array.start_position().row;
    entries.iter().all(|it| it.start_position().row > std::mem::replace(&mut above, it.end_position().row))
}

/// The text of a string; `None` if it has a prefix, escapes or values in it.
fn plain_string(literal: &str) -> Option<&str> {
    let quote = literal.chars().next().filter(|it| ['"', '\'', '`'].contains(it))?;
    let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inner.contains(['\\', '"', '\'', '`', '{'])).then_some(inner)
}

fn is_name(text: &str) -> bool {
    let is_first = |it: char| it.is_alphabetic() || "_@./".contains(it);
    let may_be = |it: char| it.is_alphanumeric() || "_-./@:*".contains(it);
    text.starts_with(is_first) && text.chars().all(may_be)
}

/// The name of the variable, or of the entry, whose value an array is. One of a fixed length has none.
fn declared_name<'t>(array: Node<'_>, text: &'t str) -> Option<&'t str> {
    let mut around = array.parent()?;
    let is_reference = around.kind() == "reference_expression";
    while ["reference_expression", "as_expression", "satisfies_expression"].contains(&around.kind()) {
        around = around.parent()?;
    }
    let field = |name| around.child_by_field_name(name).map(|it| source(it, text));
    let name = match around.kind() {
        "pair" => field("key"),
        "assignment" => field("left"),
        "variable_declarator" if !field("type").is_some_and(is_tuple) => field("name"),
        "const_item" | "static_item" if is_reference && !field("type")?.contains(';') => field("name"),
        _ => None,
    };
    name.map(|it| it.trim_matches(['"', '\'']))
}

/// Whether a type of TypeScript, after its colon, says what is at each place.
fn is_tuple(annotation: &str) -> bool {
    let declared = annotation.trim_start_matches([':', ' ']);
    declared.trim_start_matches("readonly").trim_start().starts_with('[')
}

/// The words of a name in lower case: `run_args` and `runArgs` have two.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for it in name.chars() {
        if !it.is_alphanumeric() || (was_lower && it.is_uppercase()) {
            words.push(String::new());
        }
        was_lower = it.is_lowercase();
        words.last_mut().into_iter().for_each(|word| {
            word.extend(it.to_lowercase().filter(|it| it.is_alphanumeric()));
        });
    }
    words.into_iter()
}

/// The way in which an entry says which one it is.
#[derive(PartialEq, Eq)]
enum Key {
    /// By a text or a number.
    Literal,
    /// By a variable or a constant.
    Variable,
    /// By a value that is computed, or spelled with escapes.
    Other,
}

/// Whether the entries that both sides add are other ones if their keys are other texts.
pub(super) fn are_comparable(ours: &[&Item<'_>], theirs: &[&Item<'_>]) -> bool {
    let mut keys = ours.iter().chain(theirs).filter_map(|it| it.part).map(key);
    let first = keys.next();
    let is_alike = |it: Key| it != Key::Other && Some(it) == first;
    ours.is_empty() || theirs.is_empty() || (first != Some(Key::Other) && keys.all(is_alike))
}

fn key(entry: Part<'_>) -> Key {
    let node = entry.node;
    let key = match node.kind() {
        "pair" | "keyed_element" => node.child_by_field_name("key"),
        "method_definition" => node.child_by_field_name("name"),
        _ => return Key::Literal,
    };
    // Go has an element around the key.
    let Some(key) = key.map(|it| it.named_child(0).filter(|_| it.kind() == "literal_element").unwrap_or(it))
    else {
        return Key::Other;
    };
    let text = source(key, entry.text);
    match key.kind() {
        "property_identifier" => Key::Literal,
        "identifier" | "attribute" | "selector_expression" => Key::Variable,
        _ if plain_string(text).is_some() => Key::Literal,
        _ if text == "0" || (text.bytes().all(|it| it.is_ascii_digit()) && !text.starts_with('0')) => {
            Key::Literal
        }
        _ => Key::Other,
    }
}

fn source<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}
