//! A host for tests: the same tables, made with a few of the grammars.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use broker_plugin_sdk::syntax::{Kind, Names, Problem, Source, Tree};
use tree_sitter::{Language, Node, Parser, TreeCursor};

fn grammar(language: &str) -> Option<Language> {
    let grammar = match language {
        "css" => tree_sitter_css::LANGUAGE,
        "html" => tree_sitter_html::LANGUAGE,
        "javascript" => tree_sitter_javascript::LANGUAGE,
        "php" => tree_sitter_php::LANGUAGE_PHP,
        "python" => tree_sitter_python::LANGUAGE,
        _ => return None,
    };
    Some(grammar.into())
}

pub(crate) fn language_of(path: &str) -> Option<String> {
    let language = match path.rsplit_once('.')?.1 {
        "js" => "javascript",
        "py" => "python",
        it @ ("css" | "html" | "php" | "yaml") => it,
        "yml" => "yaml",
        _ => return None,
    };
    Some(language.to_owned())
}

thread_local! {
    static NAMES: RefCell<HashMap<String, Rc<Names>>> = RefCell::default();
    /// Files that [`Source::File`] reads.
    static FILES: RefCell<HashMap<String, String>> = RefCell::default();
}

/// Gives the files of the branch to the host.
pub(crate) fn serve(path: &str, text: &str) {
    FILES.with_borrow_mut(|it| it.insert(path.to_owned(), text.to_owned()));
}

pub(crate) fn names(language: &str) -> Result<Rc<Names>, Problem> {
    if let Some(known) = NAMES.with_borrow(|it| it.get(language).cloned()) {
        return Ok(known);
    }
    let grammar = grammar(language).ok_or_else(|| Problem::UnknownLanguage(language.to_owned()))?;
    let kinds = (0..u16::try_from(grammar.node_kind_count()).unwrap()).map(|it| Kind {
        name: grammar.node_kind_for_id(it).unwrap_or_default().to_owned(),
        named: grammar.node_kind_is_named(it),
    });
    let fields = (0..=u16::try_from(grammar.field_count()).unwrap())
        .map(|it| grammar.field_name_for_id(it).unwrap_or_default().to_owned());
    let names = Rc::new(Names::new(kinds.collect(), fields.collect()));
    NAMES.with_borrow_mut(|it| it.insert(language.to_owned(), Rc::clone(&names)));
    Ok(names)
}

pub(crate) fn tree(source: &Source, language: &str) -> Result<Tree, Problem> {
    let names = names(language)?;
    let text = match source {
        Source::Text(text) => text.clone(),
        Source::File(path) => FILES.with_borrow(|it| it[path].clone()),
    };
    if text.contains("UNPARSED") {
        return Err(Problem::Unparsed("the time is over".to_owned()));
    }
    let mut parser = Parser::new();
    parser.set_language(&grammar(language).unwrap()).unwrap();
    let tree = parser.parse(&text, None).unwrap();
    let mut table = Vec::new();
    fill(&mut tree.walk(), &mut table);
    Ok(Tree::from_table(names, table))
}

fn fill(cursor: &mut TreeCursor<'_>, table: &mut Vec<u32>) {
    let mut open = Vec::new();
    loop {
        open.push(table.len());
        let node = cursor.node();
        let place = |it: usize| u32::try_from(it).unwrap();
        let field = cursor.field_id().map_or(0, |it| it.get());
        let kind = u32::from(node.kind_id()) | u32::from(field) << 16;
        table.extend([kind, flags(node), place(node.start_byte()), place(node.end_byte()), 0]);
        if cursor.goto_first_child() {
            continue;
        }
        loop {
            let at = open.pop().unwrap();
            table[at + 4] = place(table.len() / 5);
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn flags(node: Node<'_>) -> u32 {
    let all = [node.is_named(), node.is_error(), node.is_missing(), node.is_extra(), node.has_error()];
    all.iter().enumerate().map(|(bit, is)| u32::from(*is) << bit).sum()
}
