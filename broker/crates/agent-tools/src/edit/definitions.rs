//! Definitions of a text, by its syntax tree or by its headings.

use super::{
    definition::{Definition, Kind},
    file_kind::FileKind,
    parser::Parser,
    text::is_blank,
    tree_definitions,
};

/// The definitions of a text in the order of their heads.
pub(super) fn of_lines(lines: &[&str], parser: &Parser<'_>) -> Vec<Definition> {
    match parser.kind {
        FileKind::Sections | FileKind::Prose => headings(lines, parser.kind),
        FileKind::Code | FileKind::Yaml => {
            let tree = parser.tree(&(lines.join("\n") + "\n"));
            tree.map(|it| tree_definitions::definitions(&it, lines, parser)).unwrap_or_default()
        }
    }
}

/// Sections of a document, each up to the next heading that stands no deeper.
fn headings(lines: &[&str], kind: FileKind) -> Vec<Definition> {
    let mut fence: Option<&str> = None;
    let mut found: Vec<Definition> = Vec::new();
    for (head, line) in lines.iter().enumerate() {
        let text = line.trim();
        let opens = ["```", "~~~"].into_iter().find(|it| text.starts_with(it));
        match fence {
            Some(it) if opens == Some(it) => fence = None,
            None => fence = opens,
            Some(_) => {}
        }
        let Some(level) = kind.heading(line).filter(|_| fence.is_none()) else { continue };
        for it in found.iter_mut().filter(|it| it.end > head && it.level >= level) {
            it.end = head;
        }
        let parent = found.iter().rposition(|it| it.end > head);
        found.push(Definition {
            name: text.to_owned(),
            kind: Kind::Entry,
            parameters: String::new(),
            has_body: true,
            lead: head,
            head,
            end: lines.len(),
            level,
            parent,
            is_broken: false,
        });
    }
    for it in &mut found {
        let blank = lines[it.head + 1..it.end].iter().rev().take_while(|it| is_blank(it)).count();
        it.end -= blank;
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use overlay::WorkspacePath;
    use syntax::Trees;

    use super::{super::toolkit::Toolkit, *};

    /// Each definition with its lines from 1, indented below the one around it.
    fn shown(path: &str, text: &str) -> String {
        let trees = Trees::new(1 << 20);
        let parser = Parser::of(&WorkspacePath::new(path).unwrap(), text, Toolkit::new(&trees));
        let lines: Vec<_> = text.lines().collect();
        let all = of_lines(&lines, &parser);
        let mut shown = String::new();
        for it in &all {
            let mut depth = 0;
            let mut around = it.parent;
            while let Some(at) = around {
                depth += 1;
                around = all[at].parent;
            }
            let (indent, lead) = ("  ".repeat(depth), it.lead + 1);
            writeln!(shown, "{indent}{:?} {} {lead}/{}-{}", it.kind, it.name, it.head + 1, it.end).unwrap();
        }
        shown
    }

    #[test]
    fn definitions_have_names_in_every_language() {
        insta::assert_snapshot!([
            ("a.py", "# c\n@d\nclass A:\n    # e\n    def f(self):\n        g()\n\nasync def h(): pass\n"),
            ("a.rs", "/// c\n#[d]\nfn f() {}\nstruct S;\nimpl T for S {\n    fn g(&self) {}\n}\n"),
            ("a.go", "// c\nfunc (s *S) F() {\n}\ntype T struct{}\nfunc TestA(t *testing.T) {\n\tt.Run(\"x\", func(t *testing.T) {\n\t})\n}\n"),
            ("a.c", "struct s;\nstruct t {\n\tint a;\n};\n/* c */\nstatic int\n*f(struct s *a)\n{\n}\n"),
            ("a.cpp", "namespace n {\ntemplate <class T>\nclass A {\n  A();\n  int m() { return 1; }\n};\nint A::k() {}\n}\n"),
            ("a.ts", "export const f = (a: number) => {\n};\n@D()\nexport class A {\n  get m() { return 1; }\n}\ninterface I { a: string }\ndescribe('x', () => {\n  it('y', async () => {\n  });\n});\n"),
            ("a.java", "class A {\n  @Override\n  public int f() { return 1; }\n  A(int a) {}\n}\n"),
            ("a.kt", "class A {\n  fun f() {}\n}\nfun g() = 1\n"),
            ("a.cs", "namespace N {\n  class A {\n    [B]\n    int F() { return 1; }\n    int P { get; set; }\n  }\n}\n"),
            ("a.rb", "class A\n  def f\n  end\n  def self.g\n  end\nend\nit 'x' do\nend\n"),
            ("a.php", "<?php\nclass A {\n  /** c */\n  public function f() {}\n}\n"),
            ("a.swift", "struct A {\n  func f() {}\n}\nextension A {\n}\n"),
            ("a.yaml", "a: 1\nb:\n  c: 2\n"),
            ("a.toml", "[a]\nb = 1\n\n[c.d]\n"),
            ("a.css", ".a {\n  b: c;\n}\n"),
            ("b.cpp", "using a = int;\nint f();\nTEST(A, b) {\n}\n"),
            ("b.css", ".a,\n.b {\n  c: d;\n}\n"),
            ("b.go", "type I interface {\n\tF() error\n}\n"),
            ("b.jsx", "export const C = memo(() => {\n});\nfunction f() {\n  const a = 1;\n}\n"),
            ("b.py", "A = 1\ndef f():\n    'g'\n"),
            ("a.md", "# A\n\ntext\n\n## B\n\n```\n# c\n```\n\n# D\n"),
        ].map(|(path, text)| format!("{path}\n{}", shown(path, text))).join("\n"));
    }
}
