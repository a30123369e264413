//! Definitions of short texts in each language.

use super::*;

fn check(path: &str, text: &str, want: &[&str]) {
    let all = of(path, text).into_iter().map(|it| {
        let parent = it.parent.map_or(String::new(), |it| format!(" in {it}"));
        let apart = if it.is_apart { "" } else { " not apart" };
        format!("{} {}/{}/{}-{}{parent}{apart}", it.name, it.lead, it.start, it.body, it.end)
    });
    assert_eq!(all.collect::<Vec<_>>(), want, "{path}");
}

#[test]
fn functions_have_their_lines_in_every_language() {
    check("a.py", "# c\n@d\ndef f(\n    a,\n):\n    pass\n", &["f 0/2/5-6"]);
    check("a.rs", "/// c\n#[d]\nfn f() {\n}\n", &["f 0/2/3-4"]);
    check("a.go", "// c\nfunc (s *S) F() {\n}\n", &["S.F 0/1/2-3"]);
    check("a.ts", "/** c */\nexport const f = () => {\n}\n", &["f 0/1/2-3"]);
    check("a.tsx", "export function F() {\n  return <a/>\n}\n", &["F 0/0/1-3"]);
    check("a.js", "test('a b', () => {\n  f()\n})\n", &["test 'a b' 0/0/1-3"]);
    check("a.c", "/* c */\nstatic int *f(int a)\n{\n}\n", &["f 0/1/3-4"]);
    check("a.cpp", "template <class T>\nvoid A::f()\n{\n}\n", &["A::f 0/0/3-4"]);
    check("a.rb", "# c\ndef self.f\n  1\nend\n", &["f 0/1/2-4"]);
    check("a.php", "<?php\n/** c */\nfunction f()\n{\n}\n", &["f 1/2/4-5"]);
    check("a.swift", "/// c\nfunc f() {\n}\n", &["f 0/1/2-3"]);
    check("a.kt", "// c\nfun f() {\n}\n", &["f 0/1/2-3"]);
}

#[test]
fn classes_hold_their_methods() {
    check(
        "a.py",
        "class A:\n    x = 1\n\n    def f(self):\n        pass\n",
        &["A 0/0/1-5", "f 3/3/4-5 in 0"],
    );
    check("a.rs", "impl A for B {\n    fn f() {}\n}\n", &["impl A for B 0/0/1-3", "f 1/1/2-2 in 0"]);
    check("A.java", "class A {\n  @B\n  int f() {\n  }\n}\n", &["A 0/0/1-5", "f 1/1/3-4 in 0"]);
    check("a.kt", "class A {\n  fun f() {\n  }\n}\n", &["A 0/0/1-4", "f 1/1/2-3 in 0"]);
    check("A.cs", "class A\n{\n  [B]\n  int F()\n  {\n  }\n}\n", &["A 0/0/2-7", "F 2/2/5-6 in 0"]);
    check("a.cpp", "struct A {\n  int f() {\n  }\n};\n", &["A 0/0/1-4", "f 1/1/2-3 in 0"]);
    check("a.swift", "class A {\n  func f() {\n  }\n}\n", &["A 0/0/1-4", "f 1/1/2-3 in 0"]);
    check("a.rb", "class A\n  def f\n  end\nend\n", &["A 0/0/1-4", "f 1/1/2-3 in 0"]);
    check("a.php", "<?php\nclass A\n{\n  function f()\n  {\n  }\n}\n", &["A 1/1/3-7", "f 3/3/5-6 in 0"]);
    check(
        "a.ts",
        "describe('a', () => {\n  it('b', () => {\n  })\n})\n",
        &["describe 'a' 0/0/1-4", "it 'b' 1/1/2-3 in 0"],
    );
}

#[test]
fn data_has_sections() {
    check("a.yml", "a: 1\nb:\n  c: 2\n", &["a 0/0/1-1", "b 1/1/2-3", "c 2/2/3-3 in 1"]);
    check("a.toml", "[a]\nb = 1\n\n[c]\nd = 2\n", &["a 0/0/1-2", "c 3/3/4-5"]);
    check("a.css", "a {\n}\n/* c */\nb {\n}\n", &["a 0/0/1-2", "b 2/3/4-5"]);
    check("a.md", "# a\nb\n## c\nd\n", &["# a 0/0/1-4", "## c 2/2/3-4 in 0"]);
}
