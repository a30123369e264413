//! Trees as the host makes them: see `wit/broker-plugin.wit`.

use std::rc::Rc;

use broker_plugin_sdk::syntax::{Kind, Names, Tree};
use tree_sitter::{Language, Parser, TreeCursor};
use tree_sitter_language::LanguageFn;

pub(super) fn parse(language: &str, text: &[u8]) -> Tree {
    let grammar: LanguageFn = match language {
        "c" => tree_sitter_c::LANGUAGE,
        "go" => tree_sitter_go::LANGUAGE,
        "java" => tree_sitter_java::LANGUAGE,
        "ruby" => tree_sitter_ruby::LANGUAGE,
        "rust" => tree_sitter_rust::LANGUAGE,
        "xml" => tree_sitter_xml::LANGUAGE_XML,
        _ => panic!("no grammar for tests: {language}"),
    };
    let grammar = Language::from(grammar);
    let mut parser = Parser::new();
    parser.set_language(&grammar).unwrap();
    let tree = parser.parse(text, None).unwrap();
    let mut table = Vec::new();
    push(&mut tree.walk(), &mut table);
    Tree::from_table(Rc::new(Names::new(kinds(&grammar), Vec::new())), table)
}

fn kinds(grammar: &Language) -> Vec<Kind> {
    let kind = |it| Kind {
        name: grammar.node_kind_for_id(it).unwrap_or_default().to_owned(),
        named: grammar.node_kind_is_named(it),
    };
    (0..u16::try_from(grammar.node_kind_count()).unwrap()).map(kind).collect()
}

/// A node and, after it, its parts.
fn push(cursor: &mut TreeCursor<'_>, table: &mut Vec<u32>) {
    let node = cursor.node();
    let flags = [node.is_named(), node.is_error(), node.is_missing(), node.is_extra(), node.has_error()];
    let flags = flags.iter().enumerate().map(|(bit, is)| u32::from(*is) << bit).sum();
    let own = table.len();
    let place = |it: usize| u32::try_from(it).unwrap();
    table.extend([u32::from(node.kind_id()), flags, place(node.start_byte()), place(node.end_byte()), 0]);
    let mut is_more = cursor.goto_first_child();
    let has_parts = is_more;
    while is_more {
        push(cursor, table);
        is_more = cursor.goto_next_sibling();
    }
    if has_parts {
        cursor.goto_parent();
    }
    table[own + 4] = place(table.len() / 5);
}
