//! What a file defines, by its syntax tree: functions, classes, keys.

use syntax::{Flags, Tree, WORDS};

use super::{Parser, syntax_errors::parse};

/// A name, and the line that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    name: String,
    line: usize,
}

impl Definition {
    /// Its line, from 1, and its name.
    pub(super) fn place(self) -> (usize, String) {
        (self.line + 1, self.name)
    }
}

/// Parts of the names that grammars give to definitions.
const KINDS: [&str; 13] = [
    "function",
    "method",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "module",
    "mod_item",
    "type_spec",
    "pair",
    "constructor",
    "object_definition",
];

/// Fields that hold the name of a definition, in grammars that call it so.
const NAMES: [&str; 2] = ["name", "key"];

pub(super) fn of_file(lines: &[&str], parser: &Parser<'_>) -> Vec<Definition> {
    let Some(language) = parser.language else { return Vec::new() };
    let text = lines.join("\n") + "\n";
    parse(language, &text, parser.trees).map(|it| definitions(&it)).unwrap_or_default()
}

fn definitions(tree: &Tree) -> Vec<Definition> {
    let (kinds, fields, table) = (tree.kinds(), tree.fields(), tree.table());
    let nodes: Vec<&[u32]> = table.chunks_exact(WORDS).collect();
    let is_definition: Vec<bool> = kinds
        .iter()
        .map(|(name, is_named)| {
            *is_named && KINDS.iter().any(|it| name.contains(it)) && !name.contains("call")
        })
        .collect();
    let text = tree.text();
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.iter().enumerate().filter(|it| *it.1 == b'\n').map(|it| it.0 + 1))
        .collect();
    let mut found = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let kind = (node[0] & 0xffff) as usize;
        if node[1] & Flags::NAMED == 0 || !is_definition.get(kind).copied().unwrap_or_default() {
            continue;
        }
        let Some(name) = name_of(&nodes, at, &fields, &kinds) else { continue };
        let (start, end) = (nodes[name][2] as usize, nodes[name][3] as usize);
        let name = String::from_utf8_lossy(&text[start..end]).into_owned();
        if !name.is_empty() && !name.contains('\n') {
            found.push(Definition { name, line: starts.partition_point(|it| *it <= start) - 1 });
        }
    }
    // A declarator of C is named in itself, too.
    found.dedup();
    found
}

/// The node of a definition's name: a field of its own, or the identifier in what a C function declares.
fn name_of(nodes: &[&[u32]], at: usize, fields: &[String], kinds: &[(String, bool)]) -> Option<usize> {
    let end = nodes[at][4] as usize;
    let field = |it: usize| fields.get((nodes[it][0] >> 16) as usize).map_or("", String::as_str);
    let mut declarator = None;
    let mut child = at + 1;
    while child < end.min(nodes.len()) {
        if NAMES.contains(&field(child)) {
            return Some(child);
        }
        if field(child) == "declarator" {
            declarator = Some(child);
        }
        child = (nodes[child][4] as usize).max(child + 1);
    }
    let declarator = declarator?;
    let inside = declarator..(nodes[declarator][4] as usize).min(nodes.len());
    inside.into_iter().find(|it| {
        kinds.get((nodes[*it][0] & 0xffff) as usize).is_some_and(|it| it.0.ends_with("identifier"))
    })
}

/// The line of the one definition that a line is the head of, though the rest of it may be another.
pub(super) fn named_as(line: &str, file: &[&str], known: &[Definition]) -> Option<usize> {
    let heads = known.iter().filter(|it| {
        let there = file.get(it.line).copied().unwrap_or_default();
        let (new, old) = (up_to(line, &it.name), up_to(there, &it.name));
        new.is_some() && new == old && is_whole(line) && is_whole(there)
    });
    let heads: Vec<_> = heads.collect();
    let [head] = heads[..] else { return None };
    // A name that is defined twice says nothing of the place.
    (known.iter().filter(|it| it.name == head.name).count() == 1).then_some(head.line)
}

/// What stands in a line before a name and with it, without whitespace.
fn up_to(line: &str, name: &str) -> Option<String> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let ends = |it: &str, at: usize| !it[at..].chars().next().is_some_and(is_part);
    let begins = |it: &str| !it.chars().next_back().is_some_and(is_part);
    let found =
        line.match_indices(name).find(|(at, _)| begins(&line[..*at]) && ends(line, at + name.len()))?;
    Some(line[..found.0 + name.len()].split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether a head ends in its line: no bracket but the body's is open.
fn is_whole(line: &str) -> bool {
    let count = |it: char| line.matches(it).count();
    count('(') == count(')') && count('[') == count(']') && !line.trim_end().ends_with([',', '\\'])
}

/// Whether lines begin with a definition, have no error, and define nothing that the file defines.
pub(super) fn are_all_new(lines: &[&str], file: &[&str], parser: &Parser<'_>) -> bool {
    let Some(language) = parser.language else { return false };
    let text = lines.join("\n") + "\n";
    let Some(tree) = parse(language, &text, parser.trees).filter(|it| !it.has_error()) else { return false };
    let new = definitions(&tree);
    let is_first = |it: &Definition| lines[..it.line].iter().all(|it| is_before_head(it));
    let Some(first) = new.first().filter(|it| is_first(it)) else { return false };
    let known = of_file(file, parser);
    lines[first.line].split_whitespace().next().is_some()
        && !new.iter().any(|it| known.iter().any(|old| old.name == it.name))
}

/// Comments, decorators and attributes.
fn is_before_head(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || ["//", "#", "/*", "*", "@", "--", "\"\"\""].iter().any(|it| line.starts_with(it))
}

#[cfg(test)]
mod tests {
    use syntax::{Language, Trees};

    use super::{super::file_kind::FileKind, *};

    fn names(language: &str, text: &str) -> Vec<String> {
        let trees = Trees::new(1 << 20);
        let parser = Parser { language: Language::named(language), kind: FileKind::Code, trees: &trees };
        let lines: Vec<_> = text.lines().collect();
        of_file(&lines, &parser).into_iter().map(|it| format!("{} {}", it.line, it.name)).collect()
    }

    #[test]
    fn definitions_have_names_in_every_language() {
        assert_eq!(names("python", "class A:\n    def f(self):\n        g()\n"), ["0 A", "1 f"]);
        assert_eq!(names("rust", "fn f() {}\nstruct S;\n"), ["0 f", "1 S"]);
        assert_eq!(names("go", "func (s *S) F() {}\ntype T struct{}\n"), ["0 F", "1 T"]);
        assert_eq!(names("c", "static int *f(int a)\n{\n}\n"), ["0 f"]);
        assert_eq!(names("javascript", "function f() {}\nclass A { m() {} }\n"), ["0 f", "1 A", "1 m"]);
        assert_eq!(names("java", "class A {\n  int f() { return 1; }\n}\n"), ["0 A", "1 f"]);
        assert_eq!(names("ruby", "class A\n  def f\n  end\nend\n"), ["0 A", "1 f"]);
        assert_eq!(names("yaml", "a: 1\nb:\n  c: 2\n"), ["0 a", "1 b", "2 c"]);
    }

    #[test]
    fn a_head_is_known_by_its_name() {
        let file = ["def f(a):", "    pass", "def g(a):", "    f(a)"];
        let known = vec![Definition { name: "f".into(), line: 0 }, Definition { name: "g".into(), line: 2 }];
        assert_eq!(named_as("def f(a, b):", &file, &known), Some(0));
        assert_eq!(named_as("x = f(a, b)", &file, &known), None);
        assert_eq!(named_as("def h(a):", &file, &known), None);
        assert_eq!(named_as("def f(", &file, &known), None);
    }
}
