//! Outline of a file: its definitions by lines.

use std::{
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use overlay::{ContentHash, WorkspacePath};
use syntax::{Tree, Trees};

use super::{
    definition::{Definition, Kind},
    definitions,
    parser::Parser,
    targeted::named,
    toolkit::Toolkit,
};

/// Time after which a text counts as one without definitions.
const PARSE_TIME: Duration = Duration::from_secs(5);

/// A definition of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineEntry {
    /// Line of the name, from 1.
    pub line: usize,
    /// Number of the entries around it.
    pub depth: usize,
    /// Kind of a definition; empty for a heading or a key.
    pub kind: &'static str,
    pub name: String,
}

/// Place of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionSite {
    pub kind: &'static str,
    /// Bytes of the name.
    pub name: Range<usize>,
}

/// Definitions of a text, without the fields of types; headings and keys of a document; nothing in a language without a grammar.
pub fn outline(path: &WorkspacePath, text: &str, trees: &Trees) -> Vec<OutlineEntry> {
    match tree(path, text, trees) {
        Some(tree) => of_code(&tree, text),
        None => of_document(path, text, trees),
    }
}

/// Definitions of a name, which may have those around it: `Class.method`.
pub fn definitions_named(path: &WorkspacePath, text: &str, name: &str, trees: &Trees) -> Vec<DefinitionSite> {
    let Some(tree) = tree(path, text, trees) else { return Vec::new() };
    let all = syntax::definitions(&tree);
    let site = |at: usize| DefinitionSite { kind: all[at].kind.name(), name: all[at].name_range.clone() };
    named(&all, name).into_iter().map(site).collect()
}

/// The tree of a text whose definitions are known.
fn tree(path: &WorkspacePath, text: &str, trees: &Trees) -> Option<Arc<Tree>> {
    let (bytes, start) = (Bytes::copy_from_slice(text.as_bytes()), Instant::now());
    let tree = trees.of_file(path, &bytes, ContentHash::of(&bytes), &|| start.elapsed() > PARSE_TIME);
    tree.filter(|it| syntax::has_definitions(it.language()))
}

fn of_code(tree: &Tree, text: &str) -> Vec<OutlineEntry> {
    let all = syntax::definitions(tree);
    let ends: Vec<_> = text.match_indices('\n').map(|it| it.0).collect();
    let mut depths: Vec<usize> = Vec::with_capacity(all.len());
    for it in &all {
        depths.push(it.parent.map_or(0, |at| depths[at] + 1));
    }
    let shown = all.iter().zip(depths).filter(|(it, _)| !it.kind.is_part());
    let entry = |(it, depth): (&syntax::Definition, usize)| OutlineEntry {
        line: ends.partition_point(|end| *end < it.name_range.start) + 1,
        depth,
        kind: it.kind.name(),
        name: it.full_name(),
    };
    shown.map(entry).collect()
}

fn of_document(path: &WorkspacePath, text: &str, trees: &Trees) -> Vec<OutlineEntry> {
    let lines: Vec<_> = text.lines().collect();
    let all = definitions::of_lines(&lines, &Parser::of(path, text, Toolkit::new(trees)));
    let entry = |it: Definition| OutlineEntry { line: it.head + 1, depth: 0, kind: "", name: it.name };
    all.into_iter().filter(|it| it.kind == Kind::Entry).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, text: &str) -> Vec<String> {
        let all = outline(&WorkspacePath::new(path).unwrap(), text, &Trees::new(1 << 20));
        all.iter().map(|it| format!("{} {} {} {}", it.line, it.depth, it.kind, it.name)).collect()
    }

    #[test]
    fn code_is_outlined_by_its_definitions() {
        let module = "export const add = (a: number) => a;\nexport interface Shape {\n  name: string;\n  area(): number;\n}\nexport * from './b';\n";
        let want =
            ["1 0 function add", "2 0 interface Shape", "4 1 method area", "6 0 re-export * from './b'"];
        assert_eq!(shown("a.ts", module), want);
        assert_eq!(shown("a.vue", "<script>\nconst run = () => 1;\n</script>\n"), ["2 0 function run"]);
        let rust = "impl Shape for A {\n    fn area(&self) {}\n}\nmacro_rules! m {\n    () => {};\n}\n";
        assert_eq!(shown("a.rs", rust), ["1 0 impl Shape for A", "2 1 method area", "4 0 macro m"]);
        assert_eq!(shown("a.go", "package p\n\nfunc (t *T) Run() {}\n"), ["3 0 method T.Run"]);
    }

    #[test]
    fn definitions_are_found_by_name() {
        let (path, trees) = (WorkspacePath::new("a.rs").unwrap(), Trees::new(1 << 20));
        let text = "struct A;\nimpl A {\n    fn a(&self) {}\n}\nfn a() {}\n";
        let at = |name| {
            definitions_named(&path, text, name, &trees).iter().map(|it| it.name.start).collect::<Vec<_>>()
        };
        assert_eq!(at("a"), [26, 43]);
        assert_eq!(at("A::a"), [26]);
        assert_eq!(at("b"), [0; 0]);
    }

    #[test]
    fn documents_are_outlined_by_headings_and_keys() {
        assert_eq!(shown("a.md", "# A\n\ntext\n\n## B\n"), ["1 0  # A", "5 0  ## B"]);
        assert_eq!(shown("a.yaml", "a: 1\n"), ["1 0  a"]);
        assert_eq!(shown("a.unknown", "text\n"), [""; 0]);
    }
}
