//! Findings in small stylesheets.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::fs;

use broker_plugin_sdk::*;
use tempfile::TempDir;

use crate::Css;

mod dialects;
mod duplicates;
mod values;

fn settings() -> Settings {
    Settings { root: String::new(), select: None, ignore: Vec::new(), isolated: false, config: None }
}

/// Report on `path` in a project of `files`.
fn report(files: &[(&str, &str)], settings: Settings, path: &str, named: &str) -> Result<Report, String> {
    let root = TempDir::new().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut plugin = Css::new();
    let settings = Settings { root: root.path().to_str().unwrap().to_owned(), ..settings };
    plugin.configure(&settings).map_err(|it| format!("{it:?}"))?;
    let content = fs::read(root.path().join(path)).unwrap();
    plugin.check(&SourceFile { path: path.to_owned(), content, named: named.to_owned() })
}

/// `line code "text it is about"` of each finding; `excluded`, or what is wrong with the configuration.
fn told(files: &[(&str, &str)], settings: Settings, path: &str) -> String {
    let text = files.iter().find(|it| it.0 == path).unwrap().1;
    let line = |it: &Diagnostic| {
        let span = it.span.start as usize..it.span.end as usize;
        format!("{} {} {:?}", text[..span.start].matches('\n').count() + 1, it.code, &text[span])
    };
    match report(files, settings, path, "") {
        Ok(Report { completeness: Completeness::Excluded, .. }) => "excluded".to_owned(),
        Ok(Report { completeness: Completeness::Partial(why), .. }) => format!("partial: {why}"),
        Ok(report) => report.diagnostics.iter().map(line).collect::<Vec<_>>().join(", "),
        Err(error) => error,
    }
}

fn check(text: &str) -> String {
    check_as("a.css", text)
}

fn selected(codes: &[&str]) -> Settings {
    Settings { select: Some(codes.iter().map(|it| (*it).to_owned()).collect()), ..settings() }
}

/// With all that stylelint recommends.
fn recommended(text: &str) -> String {
    let config = (".stylelintrc.json", "{\"extends\": \"stylelint-config-recommended\"}");
    told(&[("a.css", text), config], settings(), "a.css")
}

fn check_as(name: &str, text: &str) -> String {
    told(&[(name, text)], settings(), name)
}

#[test]
fn what_is_right_has_no_findings() {
    for (name, text) in [
        ("a.css", include_str!("../fixtures/valid/good.css")),
        ("a.css", include_str!("../fixtures/valid/tailwind.css")),
        ("a.scss", include_str!("../fixtures/valid/sub/good.scss")),
        ("a.less", include_str!("../fixtures/valid/sub/good.less")),
    ] {
        assert_eq!(told(&[(name, text)], settings(), name), "", "{name}");
        let text = text.replace('\n', "\r\n");
        assert_eq!(told(&[(name, &text)], settings(), name), "", "{name} with CRLF");
    }
}

#[test]
fn what_cannot_be_parsed() {
    let severity =
        |text: &str| report(&[("a.css", text)], settings(), "a.css", "").unwrap().diagnostics[0].severity;
    assert_eq!(check("b { c: d; }\na {\n  color: red;\nb { c: d; }\n"), "2 syntax-error \"{\"");
    assert_eq!(severity("a {\n  color: red;\n"), Severity::Error);
    assert_eq!(severity("a { color: 'x }\n"), Severity::Error);
    assert_eq!(severity("a { width: 1px; }}\n"), Severity::Error);
    assert_eq!(severity(". .a { b: c }\n"), Severity::Warning, "a browser reads on");
    assert_eq!(check("// x\na { color: red; }\n"), "1 no-invalid-double-slash-comments \"// x\"");
}

#[test]
fn what_the_parser_reads_over() {
    for name in ["a.css", "a.scss", "a.less"] {
        let told = |text: &str| check_as(name, text);
        assert_eq!(told("a {\n  top: 1px\n  left: 2px;\n}\n"), "3 syntax-error \"left\"");
        assert_eq!(
            told("a {\n  src: a(\n  x: y),\n    b;\n  filter:\n    progid:X(a=1);\n}\n"),
            "2 property-no-unknown \"src\""
        );
        assert_eq!(told("a { --x: var(--y; }\nb { top: 1px }\n"), "1 syntax-error \"}\"");
        assert_eq!(told("a { background: url(a[b.png); --y: url(')'); --z: ')' }\n"), "");
    }
    assert_eq!(check_as("a.scss", "a {\n  top: 1px\n  @extend b;\n}\n"), "3 syntax-error \"@\"");
}

#[test]
fn templates_are_left_out() {
    for text in
        ["a { {{ x }} }\n", "{% if x %}\na { top: 1px }\n{% endif %}\n", "<?php x ?>\na { top: 1px }\n"]
    {
        assert_eq!(check(text), "excluded", "{text}");
    }
    let quoted = "@import \"{{ printf \"%s-%s.css\" .a .b }}\" screen;\n";
    assert_eq!(check(quoted), "excluded", "quotes in quotes");
    assert!(check(".b {{ content: \"x\" }}}\n").contains("syntax-error"), "no tag is in a string");
    assert_eq!(check(".a { content: \"{{ x }}\" } .b { top: 1;"), "1 syntax-error \"{\"");
    assert_eq!(check("/* {{ x }} */ .b { top: 1;"), "1 syntax-error \"{\"");
    assert_eq!(check(".b {{ top: 1px }}}\n"), "1 syntax-error \"{\"", "a bracket too many is no template");
}

#[test]
fn parts_for_site_generators() {
    for text in ["", "\n", ".a { top: 1px;\n"] {
        assert_eq!(check_as("docs/_includes/a.scss", text), "excluded", "{text}");
        assert_ne!(check_as("docs/a.scss", text), "excluded", "{text}");
    }
    assert_eq!(check_as("docs/_includes/a.css", "a { colr: x }"), "1 property-no-unknown \"colr\"");
}

/// Others can call, extend or order what is empty.
#[test]
fn hooks_may_be_empty() {
    for (name, text) in [
        ("a.scss", "@mixin hook-a() {}\n@mixin hook-b {\n}\n"),
        ("a.scss", "%hook {}\n"),
        ("a.scss", "@function noop() {}\n@mixin b($x) { @if log($x) {} }\n"),
        ("a.scss", "@if $a { b { top: 1px } } @else if $c and u.log('x') {}\n"),
        ("a.less", ".hook-a() {}\n#ns() {}\n.hook-b(@c) {\n}\n"),
        ("a.less", ".a:extend(.b all) {}\n.c:extend(.b all) when (@d = light) {}\n"),
        ("a.css", "@layer a, b;\n@layer c {}\n"),
    ] {
        assert_eq!(check_as(name, text), "", "{text}");
        let config = (".stylelintrc.json", "{\"rules\": {\"block-no-empty\": true}}");
        let told = told(&[(name, text), config], settings(), name);
        assert_eq!(
            told.matches("block-no-empty").count(),
            text.matches("{}").count() + text.matches("{\n}").count(),
            "as stylelint: {text}"
        );
    }
    for (name, text) in [
        ("a.scss", "@if $a and not($b) {}\n"),
        ("a.scss", "@if log($a) { b { top: 1px } } @else {}\n"),
        ("a.scss", "@include a {}\n"),
        ("a.scss", "@mixin a() { b {} }\n"),
        ("a.less", ".a {}\n"),
        ("a.css", "@media print {}\n"),
    ] {
        let told = told(&[(name, text)], selected(&["block-no-empty"]), name);
        assert!(told.contains("block-no-empty \"{}\""), "{text}");
    }
}

#[test]
fn comments_that_never_end() {
    for name in ["a.css", "a.scss", "a.less"] {
        assert_eq!(check_as(name, ".a { top: 1px }\n/* x\n.b { colr: 1 }"), "2 syntax-error \"/*\"");
        assert_eq!(check_as(name, ".a { top: 1px }\n/*/"), "2 syntax-error \"/*\"");
        assert_eq!(check_as(name, ".a { top: 1px; /* x }"), "1 syntax-error \"/*\"");
    }
}

#[test]
fn what_only_the_parser_lacks() {
    for text in [
        "@media screen and #{$m} { .a { top: 1px } }",
        "@media #{$m} and #{$m} { .a { top: 1px } }",
        "@media ($f: $v) { .a { top: 1px } }",
        "@media screen and ($f: $v) { .a { top: 1px } }",
        "@keyframes x { #{$p}% { top: 1px } #{$q}%, 100% { top: 2px } }",
        ".a { filter: progid:X.y(a='#{$b}', c='1'); filter: progid:X.y(a='#{$d}', c='1') }",
        ".a >>> .b, .a /deep/ .c { top: 1px }",
        ".a { #{$b}: 1px; }",
        ".a { background: url(string.to-lower-case($v)); }",
        ".a { background: url($v); cursor: url(#{$path}/a(1).cur); }",
        ".a { --h: #{cv.getVar(\"#{$color}-h\")}; --s: 1; }",
        ".a { --h: hsl(#{cv.getVar(\"#{$color}-h\")}, #{cv.getVar('#{$color}-s')}); }",
    ] {
        assert_eq!(check_as("a.scss", text), "", "{text}");
    }
    for text in [
        "@media screen and @phone { .a { top: 1px } }",
        "@media @phone and (min-width: 1px) { .a { top: 1px } }",
        ".a { --x: ~\"calc(@{d})\"; --y: ~\"calc(@{e})\" }",
        "each(range(4), .(@v, @k, @i) { .a-@{v} { top: 1px } });",
    ] {
        assert_eq!(check_as("a.less", text), "", "{text}");
    }
    for text in [
        "a::part(x y), ::cue(b ::part(a)) { top: 1px }",
        "@keyframes :local(x) { to { top: 1px } }",
        "@font-feature-values A B, C { @swash { x: 1 } }",
        "a { background: url(a\\).png) }",
        "@import url(a.css)",
        "@import 'a.css'\n",
        "@keyframes x { entry 0% { top: 1px } entry 12.5%, exit 0% { top: 2px } }",
        ".a { *zoom: 1; *display: inline }",
    ] {
        assert_eq!(check(text), "", "{text}");
    }
    let colr = "1 property-no-unknown \"colr\"";
    assert_eq!(
        check_as("a.scss", ".a >>> .b { colr: 1 } @media screen and #{$m} {/**/}"),
        format!("{colr}, 1 comment-no-empty \"/**/\"")
    );
}

#[test]
fn values_that_the_parser_does_not_know_hide_nothing_else() {
    let text = ".a {\n  top: @{foo(1)};\n  colr: 1px;\n}\n.b { left: bar(@media(1)) }\n";
    assert_eq!(check_as("a.scss", text), "3 property-no-unknown \"colr\"");
    let missing = ".a {\n  top: @{foo(1)} left: 1px;\n}\n";
    assert_eq!(check_as("a.scss", missing), "excluded", "a `;` may be missing: that is no value");
}

#[test]
fn front_matter_is_no_part_of_a_stylesheet() {
    assert_eq!(
        check_as("a.scss", "---\n---\n\n@import \"x\";\n.a { colr: 1px }\n"),
        "5 property-no-unknown \"colr\""
    );
    assert_eq!(check("---\ntitle: ü\n---\n.a { colr: 1px }\n"), "4 property-no-unknown \"colr\"");
    assert_eq!(check("\u{feff}---\n---\n.a { colr: 1px }\n"), "3 property-no-unknown \"colr\"");
}

#[test]
fn what_breaks_nothing_is_told_where_it_is_configured() {
    let text = ".a { grid-gap: 1px }\n";
    assert_eq!(check(text), "");
    assert_eq!(recommended(text), "1 property-no-deprecated \"grid-gap\"");
    let selected = Settings { select: Some(vec!["property-no-deprecated".to_owned()]), ..settings() };
    assert_eq!(told(&[("a.css", text)], selected, "a.css"), "1 property-no-deprecated \"grid-gap\"");
    let program = ("stylelint.config.js", "export default {}");
    assert_eq!(told(&[("a.css", text), program], settings(), "a.css"), "", "it may not ask for them");
}

#[test]
fn what_is_odd_on_purpose() {
    assert_eq!(check("@media (min--moz-device-pixel-ratio: 2) { a { top: 1px } }\n"), "");
    assert_eq!(check("code { font-family: monospace, monospace }\n"), "");
    assert_eq!(check("code { font-family: a, a }\n"), "1 font-family-no-duplicate-names \"a\"");
}

#[test]
fn minified_files_are_left_out_unless_they_are_named() {
    let long = ".a{colr:red}".repeat(1000);
    assert_eq!(check_as("a.min.css", ".a { colr: red }"), "excluded");
    assert_eq!(check_as("a.css", &long), "excluded");
    assert_eq!(
        check(".a { colr: red }\n/*# sourceMappingURL=a.css.map */\n"),
        "excluded",
        "built from another file"
    );
    assert!(check_as("a.css", &long.replace('}', "}\n")).contains("property-no-unknown"));
    let report = report(&[("a.min.css", ".a { colr: red }")], settings(), "a.min.css", "a.min.css").unwrap();
    assert_eq!(report.diagnostics.len(), 1);
}

#[test]
fn leftovers_in_what_others_wrote_or_a_compiler_made() {
    let twice = ".a { top: 1px; left: 0; top: 2px }\n.b { padding-left: 1px; padding: 2px; colr: red }\n";
    let all = "1 declaration-block-no-duplicate-properties \"top\", \
               2 declaration-block-no-shorthand-property-overrides \"padding\", 2 property-no-unknown \"colr\"";
    let rest = "2 property-no-unknown \"colr\"";
    assert_eq!(check_as("css/page.css", twice), all);
    let beside = |source: &str| told(&[("css/page.css", twice), (source, "")], settings(), "css/page.css");
    for source in
        ["css/page.scss", "scss/page.scss", "css/less/page.less", "src/page.styl", "css/src/page.sass"]
    {
        assert_eq!(beside(source), rest, "{source}");
    }
    for source in ["scss/other.scss", "a/b/page.scss", "scss/page.css"] {
        assert_eq!(beside(source), all, "{source}");
    }
    let mirrored = [("css/a/page.css", twice), ("sass/a/page.sass", "")];
    assert_eq!(told(&mirrored, settings(), "css/a/page.css"), rest);
    assert_eq!(check_as("vendor/page.css", twice), rest);
    assert_eq!(check(&format!("/*! a v1.2 | MIT */\n{twice}")), rest.replace('2', "3"));
    let configured =
        [("vendor/a.css", twice), (".stylelintrc", "{\"extends\": \"stylelint-config-recommended\"}")];
    assert_eq!(told(&configured, settings(), "vendor/a.css"), all, "stylelint is configured");
    let everything = told(&[("vendor/a.css", twice)], selected(&["ALL"]), "vendor/a.css");
    assert_eq!(everything, all, "the user asks for them");
}

#[test]
fn what_the_parser_does_not_know_is_no_error_of_the_file() {
    let known_to_less = ".a { top: 1px }\n@layer @x { .a { colr: 1px } }\n";
    assert_eq!(check_as("a.less", known_to_less), "excluded");
    for name in ["a.scss", "a.less"] {
        let broken = ".a { top: 1px; }\n.b {\n  left: 1px;\n  top 1px;\n}\n";
        assert_eq!(check_as(name, broken), "4 syntax-error \"top 1px\"", "not to be read");
    }
    assert!(check_as("a.less", "@layer @x { .a { .b; @{c}: `1; 2`; e(1); } }\n").starts_with("excluded"));
}

#[test]
fn rules_in_all_blocks() {
    let colr = |line: usize| format!("{line} property-no-unknown \"colr\"");
    for text in [
        "@if $a { .b { colr: 1px } }",
        ".a { @if $a { colr: 1px } }",
        ".a { @if $a { top: 1px } @else if $b { top: 1px } @else { colr: 1px } }",
        "@each $i in $l { .b { colr: 1px } }",
        "@mixin m { colr: 1px }",
        ".a { @include m { colr: 1px } }",
    ] {
        assert_eq!(check_as("a.scss", text), colr(1), "{text}");
    }
    for text in [
        ".a when (@x) { colr: 1px }",
        "& when (@x) { .b { colr: 1px } }",
        "@r: { .b { colr: 1px } }",
        "each(@l, { .b { colr: 1px } });",
        ".m() { colr: 1px }",
        ".a { .m({ colr: 1px }); }",
    ] {
        assert_eq!(check_as("a.less", text), colr(1), "{text}");
    }
    assert_eq!(check_as("a.less", "@map: { colr: 1px } #ns() { key: 1px }"), "", "names to look up");
    assert_eq!(check_as("a.less", ".a { .m({}); }"), "", "nothing to hand over");
    let nested = ".a { font: { family: x; familly: x; size: 1pxx } }";
    assert_eq!(check_as("a.scss", nested), "1 property-no-unknown \"familly\", 1 unit-no-unknown \"pxx\"");
    let customs = "@if $a { :root { --x: 1 } } .a { top: --x }";
    assert_eq!(check_as("a.scss", customs), "1 custom-property-no-missing-var-function \"--x\"");
}

#[test]
fn keyframes_of_less() {
    assert_eq!(check_as("a.less", "@keyframes x { from { top: 1px } to { top: 3px } }"), "");
    assert_eq!(
        check_as(
            "a.less",
            "@keyframes x { from { top: 1px !important } 50% { top: 2px } from { top: 3px } }"
        ),
        "1 keyframe-declaration-no-important \"!important\", 1 keyframe-block-no-duplicate-selectors \"from\""
    );
}

#[test]
fn what_is_the_same_place() {
    assert_eq!(check_as("a.less", ".a() { .c { top: 1px } }\n.b() { .c { top: 2px } }"), "");
    assert_eq!(check_as("a.less", ".b:extend(.c all) { top: 1px }"), "");
    assert_eq!(check_as("a.scss", "@if $a { .c { top: 1px } } @else { .c { top: 2px } }"), "");
    assert_eq!(check("@media print { .a { top: 1px } }\n@media print { .a { top: 2px } }"), "");
    assert_eq!(
        recommended("@media print { .a { top: 1px }\n .a { top: 2px } }"),
        "2 no-duplicate-selectors \".a\""
    );
    assert_eq!(
        recommended(".a { .b { top: 1px }\n .b { top: 2px } }\n.a { .b { top: 1px } }"),
        "2 no-duplicate-selectors \".b\", 3 no-duplicate-selectors \".a\", 3 no-duplicate-selectors \".b\""
    );
}

#[test]
fn declarations() {
    assert_eq!(
        check("a { colr: x; -x-y: 1; --z: 1; width: 1pxx; color: #ggg; background: url(a#b) #12345; }\n"),
        "1 property-no-unknown \"colr\", 1 unit-no-unknown \"pxx\", 1 color-no-invalid-hex \"#ggg\", \
         1 color-no-invalid-hex \"#12345\""
    );
    assert_eq!(
        check("a { top: 1px; left: 1px; top: 2px; }\nb { top: 1px; top: 1em; }\np { top: 1px; top: 1px; }\n"),
        "1 declaration-block-no-duplicate-properties \"top\", 3 declaration-block-no-duplicate-properties \"top\""
    );
    assert_eq!(
        check(
            "a { top: 1px;\n top: 2px;\n left: 0 !important;\n left: 1;\n color: #fff;\n color: rgb(0 0 0 / 50%) }\n"
        ),
        "1 declaration-block-no-duplicate-properties \"top\", 4 declaration-block-no-duplicate-properties \"left\""
    );
    assert_eq!(
        check("a { padding-left: 1px; padding: 2px; --x: 1; --x: 2; }\n"),
        "1 declaration-block-no-shorthand-property-overrides \"padding\", \
         1 declaration-block-no-duplicate-custom-properties \"--x\""
    );
    assert_eq!(
        check("a { padding: 2px; padding-left: 1px; margin-top: 1px !important; margin: 2px; }\n"),
        "",
        "what is more important stays"
    );
    assert_eq!(
        check(
            "a { background-color: red; background: linear-gradient(red, blue) }\n\
             b { background-color: red; background: url(a.png) }\n"
        ),
        "2 declaration-block-no-shorthand-property-overrides \"background\"",
        "a colour before an image is for browsers of old"
    );
    assert_eq!(
        check("a { margin-top: 1px; margin: 2px !important; }\n"),
        "1 declaration-block-no-shorthand-property-overrides \"margin\""
    );
    assert_eq!(
        check("a { --x: 1; top: --x; left: var(--x); right: --y; font-family: A, b, \"A\"; }\n"),
        "1 custom-property-no-missing-var-function \"--x\", 1 font-family-no-duplicate-names \"\\\"A\\\"\""
    );
    assert_eq!(
        check("a { grid-template-areas: \"a b\" \"c\" \"\"; }\n"),
        "1 named-grid-areas-no-invalid \"\\\"c\\\"\", 1 named-grid-areas-no-invalid \"\\\"\\\"\""
    );
    assert_eq!(
        check("a { grid-template-areas: \"a b\" \"b a\"; }\nb { grid-template: \"a a\" 1fr \"b\" / 1fr; }\n"),
        "1 named-grid-areas-no-invalid \"\\\"a b\\\"\", 1 named-grid-areas-no-invalid \"\\\"a b\\\"\", \
         2 named-grid-areas-no-invalid \"\\\"b\\\"\""
    );
    assert_eq!(
        check("a { grid: \"a a\" \"b\"; }\nb { grid-template-areas: \"a a .\" \"a a ..\" \". . b\"; }\n"),
        "1 named-grid-areas-no-invalid \"\\\"b\\\"\""
    );
    assert_eq!(check("a { src: x }\n@font-face { src: x }\n"), "1 property-no-unknown \"src\"");
    assert_eq!(check(":export { a: b }\n@font-feature-values F { @styleset { nice: 12; } }\n"), "");
    assert_eq!(check("@counter-style x { system: cyclic; }\n@page { size: a4; }\n"), "");
}

#[test]
fn selectors_and_at_rules() {
    assert_eq!(
        recommended("a {}\nfoo, x-y, :hovr::befor { top: 1px; }\n"),
        "1 block-no-empty \"{}\", 2 selector-type-no-unknown \"foo\", 2 selector-pseudo-class-no-unknown \":hovr\", \
         2 selector-pseudo-element-no-unknown \"::befor\""
    );
    assert_eq!(
        recommended("a, b { top: 1px }\nb,\n  a { left: 1px }\n@media print { a, b { top: 1px } }\n"),
        "2 no-duplicate-selectors \"b,\\n  a\""
    );
    assert_eq!(recommended("a,\nb,\na { top: 1px }\n"), "3 no-duplicate-selectors \"a\"");
    assert_eq!(
        recommended(
            "@import 'a';\n@import \"a\";\n@foo;\na { top: 1px }\n@import 'b';\n@media (widht: 1px) { a { top: 2px } }\n"
        ),
        "2 no-duplicate-at-import-rules \"@import \\\"a\\\";\", 3 at-rule-no-unknown \"@foo\", \
         5 no-invalid-position-at-import-rule \"@import 'b';\", 6 media-feature-name-no-unknown \"widht\""
            .replace(";\\\"", "\\\"")
            .replace("\\\";\"", "\\\"\"")
            .replace("'b';", "'b'")
    );
    assert_eq!(
        check(
            "@import \"a.css\";\n@import url(\"a.css\");\n@import url(a.css) print;\n@import 'a.css' print;\n"
        )
        .replace('\\', ""),
        "2 no-duplicate-at-import-rules \"@import url(\"a.css\")\", 4 no-duplicate-at-import-rules \"@import 'a.css' print\""
    );
    assert_eq!(
        check("@keyframes k { 0%, to { top: 0 !important } 0% { top: 1px } }\n"),
        "1 keyframe-declaration-no-important \"!important\", 1 keyframe-block-no-duplicate-selectors \"0%\""
    );
    assert_eq!(check("/* */\n"), "1 comment-no-empty \"/* */\"");
    assert_eq!(recommended("\n"), "1 no-empty-source \"\"");
}

#[test]
fn comments_switch_rules_off() {
    let a = "a { colr: x; }\n";
    assert_eq!(check(&format!("/* stylelint-disable */\n{a}")), "");
    assert_eq!(check(&format!("/* stylelint-disable property-no-unknown -- why */\n{a}")), "");
    assert_eq!(
        check(&format!("/* stylelint-disable unit-no-unknown */\n{a}")),
        "2 property-no-unknown \"colr\""
    );
    assert_eq!(
        check(&format!("/* stylelint-disable */\n/* stylelint-enable */\n{a}")),
        "3 property-no-unknown \"colr\""
    );
    assert_eq!(
        check(&format!("/* stylelint-disable-next-line */\n{a}b {{ colr: x; }}\n")),
        "3 property-no-unknown \"colr\""
    );
    assert_eq!(check("a { colr: x; } /* stylelint-disable-line */\n"), "");
    assert_eq!(check(&format!("/* stylelint-disable-next-line\n property-no-unknown */\n{a}")), "");
    assert_eq!(
        check(&format!(
            "/* stylelint-disable */\n{a}/* stylelint-enable property-no-unknown */\n{a}b {{}}\n"
        )),
        "4 property-no-unknown \"colr\""
    );
    let scss = [("a.scss", "a { colr: x; } // stylelint-disable-line property-no-unknown\n")];
    assert_eq!(told(&scss, settings(), "a.scss"), "");
}

#[test]
fn stylelints_configuration() {
    let text = "a { colr: x; width: 1foo; }\nb {}\n";
    let with = |name: &'static str, config: &'static str| {
        told(&[("d/a.css", text), (name, config)], settings(), "d/a.css")
    };
    let unit = "1 unit-no-unknown \"foo\"";
    assert_eq!(
        with(".stylelintrc.json", "{\"rules\": {\"unit-no-unknown\": true, \"block-no-empty\": null}}"),
        unit
    );
    assert_eq!(with("d/.stylelintrc", "rules:\n  unit-no-unknown: true\n"), unit);
    assert_eq!(with("package.json", "{\"stylelint\": {\"rules\": {\"unit-no-unknown\": true}}}"), unit);
    let all = with(
        ".stylelintrc.yaml",
        "extends: stylelint-config-standard\nrules: {property-no-unknown: [true, {ignoreProperties: [/^col/]}]}\n",
    );
    assert_eq!(all, format!("{unit}, 2 block-no-empty \"{{}}\""));
    assert_eq!(
        with(".stylelintrc.json", "{\"extends\": \"./x.json\"}"),
        "cannot use `x.json`: No such file or directory (os error 2)"
    );
    assert_eq!(
        with(".stylelintrc.json", "{\"rules\": []}"),
        "cannot use `.stylelintrc.json`: `rules` should be a mapping of rules"
    );
    assert!(with(".stylelintrc.json", "{\"rules\": \n").starts_with("cannot use `.stylelintrc.json`: "));
    let all = ["1 property-no-unknown \"colr\"", unit, "2 block-no-empty \"{}\""].join(", ");
    assert_eq!(with(".stylelintrc.json", "{\"extends\": \"@company/stylelint-config\"}"), all);
    for nothing in ["{}", "{\"rulez\": {}}"] {
        assert!(with(".stylelintrc.json", nothing).contains("`.stylelintrc.json`: it has no rules"));
    }
    let by_default = ["1 property-no-unknown \"colr\"", unit].join(", ");
    assert_eq!(with(".stylelintrc", "\n"), by_default, "stylelint passes over it as well");
    assert_eq!(with(".config/stylelintrc.yml", "rules: {unit-no-unknown: true}\n"), unit);
    assert_eq!(with("stylelint.config.mts", "export default {}\n"), all);
    let extended = "{\"overrides\": [{\"files\": \"*.css\", \"extends\": \"stylelint-config-standard\", \
        \"rules\": {\"block-no-empty\": null, \"property-no-unknown\": [true, {\"ignoreProperties\": \"/^(colr|colour)$/\"}]}}]}";
    assert_eq!(with(".stylelintrc.json", extended), unit);
    assert_eq!(with(".stylelintrc.json", "{\"rules\": {}, \"ignoreFiles\": \"d/*.css\"}"), "excluded");
    assert_eq!(with(".stylelintignore", "d/\n"), "excluded");
    let overridden = "{\"rules\": {}, \"overrides\": [{\"files\": [\"*.css\"], \"rules\": {\"unit-no-unknown\": [true, {\"severity\": \"error\"}]}}]}";
    assert_eq!(with(".stylelintrc.json", overridden), unit);
    let isolated = Settings { isolated: true, ..settings() };
    let files = [("a.css", text), (".stylelintrc.json", "{\"rules\": {}}")];
    assert_eq!(told(&files, settings(), "a.css"), "");
    assert_eq!(told(&files, isolated, "a.css").matches("no-").count(), 2);
    let selected = Settings { select: Some(vec!["block-no-empty".to_owned()]), ..settings() };
    assert_eq!(told(&files, selected, "a.css"), "2 block-no-empty \"{}\"", "who asks is told");
}

#[test]
fn odd_files() {
    let report = |content: &[u8]| {
        let file = SourceFile { path: "a.css".to_owned(), content: content.to_vec(), named: String::new() };
        let mut plugin = Css::new();
        plugin.configure(&Settings { isolated: true, ..settings() }).unwrap();
        plugin.check(&file).unwrap()
    };
    assert_eq!(report("\u{feff}a { colr: x }".as_bytes()).diagnostics[0].span.start, 7);
    let legacy = report(b"/* \xff */ a { colr: red }");
    assert!(matches!(legacy.completeness, Completeness::Complete));
    assert_eq!(legacy.diagnostics[0].span.start, 12, "places are those of the bytes");
    for open in ["{", "(", "[", "a{", ":not("] {
        let report = report(format!("{}\n", open.repeat(100)).repeat(100).as_bytes());
        assert!(matches!(report.completeness, Completeness::Partial(_)));
    }
    report(format!("a{{{}}}", "top:1px;".repeat(10_000)).as_bytes());
    report("a { top: \u{e9}\\".as_bytes());
    report("a{b:c:d(".as_bytes());
}

#[test]
fn what_programs_that_print_read() {
    let told = |text: &str| told(&[("a.css", text)], settings(), "a.css");
    assert_eq!(told(include_str!("../fixtures/valid/paged.css")), "");
    for (text, code) in [
        ("@footnot { a: b }\n", "at-rule-no-unknown"),
        ("a::footnote-cal { top: 1px }\n", "selector-pseudo-element-no-unknown"),
        ("a { princ-x: 1px }\n", "property-no-unknown"),
        ("a { float: sidenot }\n", "declaration-property-value-no-unknown"),
    ] {
        assert!(told(text).contains(code), "{text}");
    }
}
