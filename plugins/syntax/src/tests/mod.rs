//! Findings in small texts.

mod tree;

use broker_plugin_sdk::{Completeness, FixAvailability, Settings};

use super::*;

fn plugin(select: Option<&[&str]>) -> Syntax {
    let select = select.map(|it| it.iter().map(|it| (*it).to_owned()).collect());
    let settings =
        Settings { root: String::new(), select, ignore: Vec::new(), isolated: false, config: None };
    let mut plugin = Syntax::new();
    plugin.configure(&settings).unwrap();
    plugin
}

fn report(plugin: &Syntax, path: &str, name: &str, text: &str) -> Report {
    let language = Language::named(name).unwrap();
    let parse = |text: &[u8]| tree::parse(name, text);
    let tree = better(parse(text.as_bytes()), gaps::filled(name, text.as_bytes()).map(|it| parse(&it)));
    plugin.findings(path, language, text.as_bytes(), &tree, &|it| Some(parse(&it)))
}

/// `line:column code message`, one after the other; `excluded` for what is left alone.
fn told(plugin: &Syntax, language: &str, text: &str) -> String {
    told_at(plugin, "a", language, text)
}

fn told_at(plugin: &Syntax, path: &str, language: &str, text: &str) -> String {
    let report = report(plugin, path, language, text);
    if matches!(report.completeness, Completeness::Excluded) {
        return "excluded".to_owned();
    }
    let line = |it: &Diagnostic| {
        let before = &text[..it.span.start as usize];
        let column = before.len() - before.rfind('\n').map_or(0, |it| it + 1) + 1;
        format!("{}:{column} {} {}", before.matches('\n').count() + 1, it.code, it.message)
    };
    report.diagnostics.iter().map(line).collect::<Vec<_>>().join(", ")
}

fn check(language: &str, text: &str) -> String {
    told(&plugin(None), language, text)
}

#[test]
fn what_is_right_has_no_findings() {
    assert_eq!(check("rust", "fn main() {}\n"), "");
    assert_eq!(check("go", ""), "");
    assert_eq!(check("c", "int f(void) { return 0; }\r\n"), "");
    assert_eq!(check("rust", "\u{feff}fn main() {}\n"), "", "a byte order mark");
}

#[test]
fn what_is_binary_or_too_large_is_left_out() {
    assert!(is_left_out(b"int x\0;"));
    assert!(is_left_out(&vec![b';'; LARGEST + 1]));
    assert!(!is_left_out(&vec![b';'; LARGEST]));
}

#[test]
fn what_is_missing_is_told_where_it_should_be() {
    assert_eq!(check("rust", "fn f() {\n    let x = 1\n    g();\n}\n"), "2:14 rust missing `;`");
    assert_eq!(check("java", "class A {\n  int x = 1\n  int y;\n}\n"), "2:12 java missing `;`");
    assert_eq!(check("rust", "fn f() {\n    g(h(1);\n}\n"), "2:11 rust missing `)`");
    assert_eq!(
        check("rust", "fn f() {\r\n    let x = 1\r\n    g();\r\n}\r\n"),
        "2:14 rust missing `;`",
        "CRLF"
    );
}

#[test]
fn the_place_is_where_the_text_stops_to_fit() {
    assert_eq!(
        check("go", "package a\n\nfunc f() {\n\tx := 1\n\ty := = 2\n\tg(x, y)\n}\n"),
        "5:7 go unexpected `=`"
    );
    assert_eq!(
        check("rust", "use a;\n\nfn f() {\n    g();\n}\n\n#[derive(Clone]\nstruct A {\n    x: u8,\n}\n"),
        "7:15 rust missing `)`"
    );
    let text = "class A\n  def f\n    g 1\n    x = y)\n    h\n  end\nend\n";
    assert_eq!(check("ruby", text), "4:10 ruby unexpected `)`");
}

/// The end of the file, where a parser notices, is no help.
#[test]
fn the_indentation_tells_which_bracket_is_not_closed() {
    let text = "fn f() {\n    if x {\n        g();\n\n    h();\n}\n\nfn k() {\n    g();\n}\n";
    let found = report(&plugin(None), "a", "rust", text);
    let [found] = &found.diagnostics[..] else { panic!("{found:?}") };
    assert_eq!(
        (found.message.as_str(), found.span.start as usize),
        ("missing `}`", text.find("\n\n    h").unwrap())
    );
    assert_eq!(found.related[0].message, "`{` is opened here");
    assert_eq!(found.related[0].span.start as usize, text.find("{\n        g").unwrap());

    let text = "class A\n  def f\n    if x\n      g\n  end\n\n  def h\n  end\nend\n";
    assert_eq!(check("ruby", text), "4:8 ruby missing `end`");
    let text = "void f(void) {\n  g((1);\n  h();\n}\n";
    assert_eq!(check("c", text), "2:9 c-brackets missing `)`");
}

#[test]
fn of_a_cascade_the_first_is_told() {
    let lines = "    let = ;\n".repeat(40);
    let found = check("rust", &format!("fn f() {{\n{lines}}}\n"));
    assert_eq!(found.split(", ").count(), 1, "{found}");
    let apart = format!("fn f() {{\n    let = ;\n}}\n{}", "\n".repeat(5)).repeat(40);
    assert_eq!(check("rust", &apart).split(", ").count(), 10);
}

/// C's grammar finds fault with macros; brackets are counted in each way through the preprocessor.
#[test]
fn where_the_grammar_is_not_trusted_brackets_are() {
    let right = "#define OPEN {\nFOO(a) BAR\n#ifdef A\nint f(int a) {\n#else\nint f(long a) {\n#endif\n  \
                 char *s = \"{\" /* ( */; // [\n  return 1'000 + '(';\n}\n#if 0\ndon't {\n#endif\n";
    assert_eq!(check("c", right), "");
    assert_eq!(check("c", &format!("{right}}}\n")), "14:1 c-brackets `}` closes nothing");
    let wrong = "FOO(a) BAR\nint x y z;\n";
    assert_eq!(check("c", wrong), "");
    assert_eq!(told(&plugin(Some(&["c"])), "c", wrong), "1:11 c missing `;`", "who asks is told");
    let found = report(&plugin(Some(&["c"])), "a", "c", wrong);
    assert_eq!(found.diagnostics[0].severity, Severity::Warning);
}

#[test]
fn what_the_grammar_does_not_know_is_right() {
    let go = "package a\n\nvar x, y = new(f(1)), new([]int), new([]string{\"a\"})\n";
    assert_eq!(check("go", go), "");
    assert_eq!(check("go", &format!("{go}\nvar z = = 1\n")), "5:9 go unexpected `=`");
    assert_eq!(
        check("rust", "unsafe extern \"C\" {\n    safe fn f();\n}\n\nfn g() {\n    h(str![\"x\"]);\n}\n"),
        ""
    );
    assert_eq!(check("java", "import module java.base;\nclass A {\n  A() { int i = 1; super(); }\n}\n"), "");
    assert_eq!(check("xml", "<?xml version='1.0'?>\n<a><?b c?></a>\n"), "");
    assert_eq!(check("xml", "<a><b><![CDATA[]]></b><c><![CDATA[d]]></c></a>\n"), "", "an empty section");
    assert_eq!(check("ruby", "def f(a) = a + 1\n"), "");
}

/// Each of these compiles, and tree-sitter's grammar finds fault with it.
#[test]
fn what_another_parser_can_read_is_right() {
    assert_eq!(check("rust", "fn h(q: Q) { let Q { #[cfg(test)] a, .. } = q; }\n"), "");
    assert_eq!(check("rust", "m! { (a, ~) => { $x:? } }\nfn f() where m!(Self): Send, {}\n"), "");
    assert_eq!(check("rust", "fn f<T>() where m!(T): Send, m!(T): Sync {}\n"), "");
    assert_eq!(check("rust", "#!/usr/bin/env run\nfn f() { let Q { #[a] b } = q; }\n"), "", "a script");
    assert_eq!(check("rust", "\u{feff}#![a]\nfn f() { let Q { #[a] b } = q; }\n"), "");
    assert_eq!(check("rust", "fn f() { try!(g()); let Q { #[a] b } = q; }\n"), "", "of 2015");
    assert_eq!(check("rust", "let Q { #[a] b } = q;\ng()\n"), "", "statements for `include!`");
    assert_eq!(check("rust", "match q { Q { #[a] b } => b }.c(1)\n"), "", "an expression for `include!`");
}

#[test]
fn what_no_parser_can_read_is_wrong() {
    assert_eq!(check("rust", "fn f() {\n    m!((a, ~) => 1, g(1;\n}\n").split(' ').nth(1), Some("rust"));
    assert_eq!(check("rust", "fn f() {\n    let x = = 1;\n}\n"), "2:13 rust unexpected `=`");
    assert_eq!(check("rust", "fn f() {\n    let s = \"a;\n}\n").split(' ').nth(1), Some("rust"));
    assert_eq!(check("rust", "struct A { x: u8 y: u8 }\n").split(' ').nth(1), Some("rust"));
}

/// syn would run out of stack.
#[test]
fn what_is_too_deep_for_another_parser() {
    for (open, close) in [("(", ")"), ("{", "}"), ("!", ""), ("&", ""), ("A<", ">"), ("|x| ", "")] {
        let text = format!("fn f() {{ x = = {}1{}; }}\n", open.repeat(10_000), close.repeat(10_000));
        assert!(rust::is_readable(&text), "{open}: not known");
    }
    let long = "x = 1; ".repeat(10_000);
    assert!(!rust::is_readable(&format!("fn f() {{ {long} x = = 1; }}\n")), "long, but not deep");
    let items = "fn f() { g() }\n".repeat(10_000);
    assert!(!rust::is_readable(&format!("{items} fn f() {{ x = = 1 }}\n")));
}

/// The text in a comment is no code, and the comment is the mistake.
#[test]
fn of_an_unclosed_comment_its_start_is_told() {
    let report = |name: &str, text: &str| {
        let report = plugin(None).unclosed_comment("a", Language::named(name).unwrap(), text.as_bytes());
        report.map(|it| it.diagnostics.iter().map(|it| format!("{} {}", it.span.start, it.message)).collect())
    };
    let told = |text: &str| -> Option<Vec<String>> { report("php", text) };
    assert_eq!(told("<?php\nf();\n/* it's\n[x = (\n"), Some(vec!["11 `/*` is never closed".to_owned()]));
    assert_eq!(told("; <?php exit; /*\n[server]\nport = 80\n"), Some(Vec::new()), "an INI file");
    assert_eq!(told("<?php f(; /* a */\n"), None);
    assert_eq!(report("java", "<?php /*"), None);
}

#[test]
fn templates_are_left_alone() {
    let feed = "<?xml version=\"1.0\"?>\n<a>\n{% for b in c %}<b/>{% endfor %}\n</a>\n";
    assert_eq!(check("xml", &format!("---\nlayout: null\n---\n{feed}")), "excluded", "front matter");
    let part = "<a>\n{% if b %}\n<c/>\n{% endif %}\n{# a <d> #}\n</a>\n";
    assert_eq!(check("xml", part), "excluded", "the tag is not where the parser stumbles");
    assert_eq!(check("xml", &format!("---\r\n---\r\n{feed}")), "excluded");
    assert_ne!(check("xml", "---\n<a>\n"), "excluded", "no front matter");
    assert_eq!(check("rust", "{% if a %}\nfn f() {}\n{% endif %}\n"), "excluded");
    assert_eq!(check("go", "package {{ .Name }}\n"), "excluded");
    assert_eq!(check("java", "class <%= name %> {}\n"), "excluded");
    assert_eq!(
        check("go", "package a\n\nvar x = [][]int{{1, 2}} }\n"),
        "3:25 go unexpected `}`",
        "no template"
    );
    assert_eq!(check("go", "package a\n\nvar x = @VERSION@ +\n"), "excluded");
    let part = "<a>\n";
    assert_eq!(
        told_at(&plugin(None), "docs/_includes/a.xml", "xml", part),
        "excluded",
        "a part of other files"
    );
    assert_ne!(check("xml", part), "excluded");
}

#[test]
fn deep_and_long_texts() {
    let deep = format!("fn f() {{ {}1{} }}\n", "(".repeat(3_000), ")".repeat(2_999));
    assert_eq!(check("rust", &deep).split(", ").count(), 1);
    let long = format!("fn f() {{ {} }}\n", "x = = 1; ".repeat(20_000));
    assert_eq!(check("rust", &long), "1:14 rust unexpected `=`");
    let words = format!("fn f() {{ g({}; }}\n", "x".repeat(100_000));
    assert_eq!(check("rust", &words).len(), "1:100012 rust missing `)`".len());
    let open = "{".repeat(10_000);
    assert!(check("c", &open).ends_with("c-brackets `{` is never closed"));
}

/// Whatever a text is cut to, there is an answer, and its places are in the text and on one line.
#[test]
fn truncated_texts() {
    let texts = [
        ("rust", "fn f<'a>(x: &'a str) -> u8 {\n    match x { \"é\" => 1, _ => g!(2, [3]) }\n}\n"),
        ("c", "#if 1\nint f(int a[]) { return R\"x(\" '\\'' /* } */; }\n#else\n#endif\n"),
        ("ruby", "def f(x) = x\nclass A\n  def g; \"#{x ? 'é' : <<~B}\"\n    b\n  B\n  end\nend\n"),
        ("xml", "<?xml version='1.0'?>\n<a b=\"é\"><!-- c --><?d e?></a>\n"),
    ];
    for (language, text) in texts {
        for end in (0..text.len()).filter(|it| text.is_char_boundary(*it)) {
            for it in report(&plugin(None), "a", language, &text[..end]).diagnostics {
                let place = text[..end].get(it.span.start as usize..it.span.end as usize);
                assert!(place.is_some_and(|it| !it.contains('\n')), "{language} {end} {it:?}");
            }
        }
    }
}

#[test]
fn rules() {
    let rules = Syntax::new().rules();
    let default = |code: &str| rules.iter().find(|it| it.code == code).map(|it| it.default);
    assert_eq!(default("rust"), Some(true));
    assert_eq!((default("c"), default("c-brackets")), (Some(false), Some(true)));
    assert_eq!((default("html"), default("html-brackets")), (Some(false), None));
    assert!(rules.iter().all(|it| it.fix == FixAvailability::None && !it.explanation.is_empty()));
    let names: Vec<_> = languages::ALL.iter().map(|it| it.name).collect();
    let manifest = include_str!("../../broker-plugin.toml");
    assert!(names.iter().all(|it| manifest.contains(&format!("\"{it}\""))));
    let trusted = |it: &&Language| it.trust == Trust::Grammar;
    assert!(languages::ALL.iter().filter(trusted).all(|it| it.by_grammar * 200 < it.files));
}

#[test]
fn a_language_that_nobody_asked_about_is_not_parsed() {
    let html = Language::named("html").unwrap();
    assert!(!plugin(None).wants(html));
    assert!(plugin(Some(&["html"])).wants(html));
    assert!(plugin(None).wants(Language::named("c").unwrap()));
}

/// Work that is done for each bracket takes no more time on a long line.
#[test]
fn brackets_of_a_long_line_are_counted() {
    let line = "{()}[]".repeat(500_000);
    let tokens = lexer::tokens_of("c", format!("{line}}}").as_bytes()).unwrap();
    let found = places::of_brackets(&tokens, format!("{line}}}").as_bytes()).unwrap();
    assert_eq!((found.range.start, found.what), (line.len(), What::Unopened));
}

#[test]
fn prologs_of_xml() {
    let prologs = [
        "<?p?>",
        "<?p q\nr?><!-- c -->",
        "<!-- c --><?p q?>\n",
        "<!-- <?p --><?q r?>",
        "\u{feff}<?xml version='1.0'?><?p q?>",
        "<?xml-stylesheet href='s.css'?><!---->",
        "<?xmlish q?><!DOCTYPE r SYSTEM \"r.dtd\"><?p?>",
        "<!DOCTYPE r [<?p q?><!ENTITY a '<b>it</b>'><!-- it's -->]>",
        "<!DOCTYPE r [\n<!ENTITY % d SYSTEM 'd.ent'> %d; <!ELEMENT r ANY>%e.f;\n]>",
        "<!DOCTYPE r [%d;]>",
    ];
    for prolog in prologs {
        for end in ["", "<?p q?><!-- c -->", "\n<?p?>\n"] {
            let text = format!("{prolog}<r>s</r>{end}");
            assert_eq!(check("xml", &text), "", "{text}");
        }
    }
    assert_eq!(check("xml", "<?p?>q<r/>"), "1:6 xml unexpected `q`");
    assert_eq!(check("xml", "<?p?><!-- c --><r></s>"), "1:19 xml unexpected `</`");
    assert_eq!(check("xml", "<?p q").split(' ').nth(1), Some("xml"));
}
