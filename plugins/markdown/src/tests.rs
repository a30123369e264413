//! The plugin over small projects on disk.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::fs;

use broker_plugin_sdk::{
    testing::{self, select, settings, told},
    *,
};

use crate::Markdown;

/// Text with one finding of the rules that are on by default (MD042), and one of others (MD009).
const SAMPLE: &str = "# Title\n\n[nothing]() \n";

type Project = testing::Project<Markdown>;

#[test]
fn a_configuration_file_turns_rumdls_own_defaults_on() {
    let mut project = Project::new(&[
        ("a.md", SAMPLE),
        ("native/.rumdl.toml", ""),
        ("native/a.md", SAMPLE),
        ("lint/.markdownlint.jsonc", "{ \"MD042\": false /* as we like it */ }"),
        ("lint/deep/a.md", SAMPLE),
        ("python/pyproject.toml", "[tool.rumdl]\ndisable = ['MD009']\n"),
        ("python/a.md", SAMPLE),
        ("other/pyproject.toml", "[project]\nname = 'other'\n"),
        ("other/a.md", SAMPLE),
    ]);
    assert_eq!(project.check("a.md"), "MD042");
    assert_eq!(project.check("native/a.md"), "MD042 MD009");
    assert_eq!(project.check("lint/deep/a.md"), "MD009");
    assert_eq!(project.check("python/a.md"), "MD042");
    assert_eq!(project.check("other/a.md"), "MD042", "a pyproject.toml without rumdl's table is none");
}

#[test]
fn nearest_configuration_wins() {
    let mut project = Project::new(&[
        (".rumdl.toml", "[global]\nenable = ['MD042']\n"),
        ("pkg/.config/rumdl.toml", "[global]\nenable = ['MD009']\n"),
        ("pkg/.markdownlint.json", "nonsense"),
        ("pkg/deep/a.md", SAMPLE),
        ("ext/rumdl.toml", "extends = '../.rumdl.toml'\n[global]\nextend-enable = ['MD009']\n"),
        ("ext/a.md", SAMPLE),
        ("yaml/.markdownlint.yaml", "default: false\nno-trailing-spaces: true\n"),
        ("yaml/a.md", SAMPLE),
        ("a.md", SAMPLE),
    ]);
    assert_eq!(project.check("a.md"), "MD042");
    assert_eq!(project.check("pkg/deep/a.md"), "MD009");
    assert_eq!(project.check("ext/a.md"), "MD042 MD009");
    assert_eq!(project.check("yaml/a.md"), "MD009");
}

#[test]
fn what_markdownlints_configuration_extends() {
    let long = "word ".repeat(40);
    let text = format!("# Title\n\n[nothing]() \n\n{long}word\n");
    let mut project = Project::new(&[
        ("path/.markdownlint.json", r#"{"extends": "../base.json", "MD009": true}"#),
        ("base.json", r#"{"line-length": false, "MD009": false, "extends": "./deep.yaml"}"#),
        ("deep.yaml", "no-empty-links: false\n"),
        ("path/a.md", &text),
        ("style/.markdownlint.yml", "extends: markdownlint/style/prettier\n"),
        ("style/a.md", &text),
        ("relaxed/.markdownlint.yaml", "extends: markdownlint/style/relaxed.json\nMD013: true\n"),
        ("relaxed/a.md", &text),
        ("cli2/.markdownlint-cli2.yaml", "config:\n  extends: markdownlint/style/prettier\n  MD042: false\n"),
        ("cli2/a.md", &text),
        ("tags/.markdownlint.json", r#"{"whitespace": false, "links": false, "line_length": false}"#),
        ("tags/a.md", &text),
        ("node_modules/@a/style/index.json", r#"{"default": false, "MD042": true}"#),
        ("package/.markdownlint.json", r#"{"extends": "@a/style"}"#),
        ("package/a.md", &text),
        ("gone/.markdownlint.jsonc", r#"{"extends": "markdownlint-config-none" /* not installed */}"#),
        ("gone/a.md", &text),
        ("broken/.markdownlint.json", r#"{"extends": "../nonsense.json"}"#),
        ("nonsense.json", "nonsense"),
        ("broken/a.md", "# T\n"),
    ]);
    assert_eq!(project.check("path/a.md"), "MD009");
    assert_eq!(project.check("style/a.md"), "MD042");
    assert_eq!(project.check("relaxed/a.md"), "MD042 MD013");
    assert_eq!(project.check("cli2/a.md"), "");
    assert_eq!(project.check("tags/a.md"), "");
    assert_eq!(project.check("package/a.md"), "MD042");
    let report = project.report("gone/a.md", "").unwrap();
    let codes: Vec<_> = report.diagnostics.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(codes, ["MD042"], "what is broken in any case");
    let Completeness::Partial(why) = report.completeness else { panic!("{:?}", report.completeness) };
    assert!(
        why.starts_with("`gone/.markdownlint.jsonc` extends `markdownlint-config-none`, which is neither"),
        "{why}"
    );
    let told = project.check("broken/a.md");
    assert!(
        told.starts_with("partial: ") && told.contains("`nonsense.json`") || told.contains("nonsense.json"),
        "{told}"
    );
}

#[test]
fn rules_that_only_rumdl_has_are_off_where_markdownlint_is_configured() {
    // MD064: spaces in a row.
    let text = "# Title\n\nTwo  spaces, [gone](gone.md)\n";
    let mut project = Project::new(&[
        ("lint/.markdownlint.json", "{}"),
        ("lint/a.md", text),
        ("lint/b.md", "# T\n\n[b](a.md#none)\n"),
        ("named/.markdownlint.json", r#"{"MD064": true}"#),
        ("named/a.md", text),
        ("native/.rumdl.toml", ""),
        ("native/a.md", text),
    ]);
    assert_eq!(project.check("lint/a.md"), "");
    assert_eq!(project.check("lint/b.md"), "", "markdownlint looks at no other file");
    assert_eq!(project.check("named/a.md"), "MD064");
    assert_eq!(project.check("native/a.md"), "MD064 MD057");
    let mut project = project.with(select(&["MD064"]));
    assert_eq!(project.check("lint/a.md"), "MD064", "the user asks for it");
}

#[test]
fn options_of_markdownlints_rules() {
    let long = "word ".repeat(20);
    let code = format!("# T\n\n```text\n{long}word\n```\n");
    let heading = format!("# {long}word\n");
    let table = format!("# T\n\n| a |\n| - |\n| {long} |\n");
    let wide = format!("# T\n\n{}\n", "字 ".repeat(30));
    let levels = "# T\n## A\n\ntext\n";
    let cases = [
        (r#""MD013": {"code_block_line_length": 120}"#, &*code, ""),
        (r#""MD013": {"code_block_line_length": 90}"#, &*code, "MD013"),
        (r#""MD013": {"code_block_line_length": 0}"#, &*code, "MD013"),
        (r#""MD013": {"heading_line_length": 120}"#, &*heading, ""),
        (r#""line-length": {"heading_line_length": 120}"#, &*code, "MD013"),
        (r#""MD013": {"tables": true}"#, &*table, "MD013"),
        (r#""MD013": {"tables": false}"#, &*table, ""),
        (r#""MD013": true"#, &*wide, ""),
        (r#""MD042": {"enabled": false}"#, "# T\n\n[x]()\n", ""),
        (r#""MD042": {"severity": "warning"}"#, "# T\n\n[x]()\n", "MD042"),
        (r#""MD004": {"style": "sublist"}"#, "# T\n\n- a\n  - b\n", ""),
        (r#""MD022": {"lines_below": [0, 1]}"#, levels, "MD022"),
        (r#""MD022": {"lines_below": [0, 1], "lines_above": [1, 0]}"#, levels, ""),
        (r#""MD025": {"level": 2}"#, "# T\n\n## A\n\n## B\n", ""),
        (r#""MD024": {"siblings_only": true}"#, "# T\n\n## A\n\n### X\n\n## B\n\n### X\n", ""),
        (r#""MD024": true"#, "# T\n\n## A\n\n### X\n\n## B\n\n### X\n", "MD024"),
        (r#""MD005": true"#, "# T\n\n * a\n\ntext\n", ""),
        (r#""MD005": true"#, "# T\n\n- a\n - b\n", "MD005"),
        (r#""MD009": true"#, "# T\n\ntext\n  \ntext \n", "MD009"),
        (r#""MD009": {"strict": true}"#, "# T\n\n```text\na \n```\n", ""),
        (r#""MD009": {"strict": true}"#, "# T\n\n- a  \n  b  \n", "MD009"),
        (r#""MD012": {"maximum": "2"}"#, "# T\n\n\ntext\n", ""),
        (r#""MD013": {"line_length": "120"}"#, &*code, ""),
        (r#""MD013": {"line_length": "90", "code_blocks": "no"}"#, &*code, "MD013"),
        (r#""MD055": {"style": "leading_only"}"#, "# T\n\n| a\n| -\n| b |\n", "MD055"),
        (r#""MD060": {"style": "tight"}"#, "# T\n\n|a|\n|-|\n|b|\n", ""),
        (r#""MD060": {"style": "tight"}"#, "# T\n\n|a|\n|-|\n|b |\n", "MD060"),
        (r#""MD012": true"#, "---\na: b\n---\n\n\n\n# T\n", ""),
        (r#""MD030": {"ul_multi": 3}"#, "# T\n\n- a\n- b\n", ""),
        (r#""MD030": {"ul_single": 3}"#, "# T\n\n- a\n\n- b\n", ""),
        (r#""MD030": {"ul_single": 3}"#, "# T\n\n- a\n-   b\n", "MD030"),
        (r#""MD031": {"list_items": false}"#, "# T\n\n- a\n  ```text\n  x\n  ```\n  b\n", ""),
        (r#""MD040": true"#, "# T\n\n```{toctree}\na\n```\n", ""),
        (
            r#""MD040": {"allowed_languages": ["bash", "js"]}"#,
            "# T\n\n```bash\na\n```\n\n```js\na\n```\n",
            "",
        ),
        (r#""MD040": {"allowed_languages": ["bash"]}"#, "# T\n\n```python\na\n```\n", "MD040"),
        ("\"MD043\": {\"headings\": [\"# X\"]}", "# T\n\n## A\n\n## B\n", "MD043"),
        (r#""MD044": {"names": ["Node.js"]}"#, "# T\n\nNodeJS and node.js\n", "MD044"),
        (r#""MD052": {"shortcut_syntax": true}"#, "# T\n\nan [array] and [x][y]\n", "MD052"),
        (r#""MD054": {"url_inline": false}"#, "# T\n\n[a.md](a.md)\n", ""),
        (r#""MD054": {"url_inline": false}"#, "# T\n\n[https://a.org](https://a.org)\n", "MD054"),
    ];
    for (options, text, want) in cases {
        let config = format!("{{\"default\": false, {options}}}");
        let mut project = Project::new(&[(".markdownlint.json", &*config), ("a.md", text)]);
        assert_eq!(project.check("a.md"), want, "{options}: {text}");
    }
}

/// Lines of markdownlint's findings.
#[test]
fn lines_of_markdownlints_findings() {
    let cases = [
        ("MD001", "# A\n\n### B\n\n##### C\n\n### D\n", "3 MD001, 5 MD001"),
        ("MD001", "---\ntitle: A\n---\n\n### B\n", "5 MD001"),
        ("MD003", "# A\n\nB\n---\n\n## C ##\n", "3 MD003, 6 MD003"),
        ("MD004", "- a\n\nb\n\n* c\n  + d\n", "5 MD004, 6 MD004"),
        ("MD005", "- a\n\t- b\n\t- c\n\t\t- d\n- e\n", ""),
        ("MD005", " 9. a\n10. b\n 11. c\n", "3 MD005"),
        ("MD009", "> a\n> \n> b\n\n- c\n\t\n<!-- d \n-->\n", "2 MD009, 6 MD009"),
        ("MD009", "a <!-- b \nc \n--> d \n\n- <!-- e \n  f\n  -->\n\n`<!--` g \n", "3 MD009, 9 MD009"),
        ("MD012", "a\n\n\n\nb\n\n", "3 MD012, 4 MD012, 7 MD012"),
        ("MD025", "[x](y)\n\n# A\n\n# B\n", ""),
        ("MD028", "> [!TIP]\n> a\n\n> [!NOTE]\n> b\n\nc\n\n> d\n", "3 MD028"),
        ("MD029", "1. a\n1. b\n3. c\n\nd\n\n0. e\n1. f\n\ng\n\n2. h\n3. i\n", "3 MD029, 12 MD029, 13 MD029"),
        ("MD031", "- a\n\n    ```c\nb\n", "3 MD031"),
        ("MD032", "- a\n\n    ```c\nb\n\n- c\n\n[d]: e\n", "3 MD032"),
        ("MD035", "a\n\n***\n\nb\n\n---\n\n***\n", "7 MD035"),
        ("MD036", "**What it is**\n- a\n\n- b\n\n  **c**\n", "1 MD036"),
        ("MD046", "    a\n\n```c\nb\n```\n", "3 MD046"),
        ("MD047", "a\n\n<!-- b -->", ""),
        ("MD049", "_a_ *b c\nd* [*e*](f) g*h*i\n", "1 MD049, 2 MD049, 2 MD049"),
        ("MD050", "__a__\n\n| **b** | c |\n|---|---|\n", "3 MD050"),
        ("MD053", "[[#a]]\n\n[#a]: b\n[#c]: d\n", "4 MD053"),
        ("MD055", "a | b\n--|--\n| c | d |\n", "3 MD055, 3 MD055"),
        ("MD056", "| a | b |\n|---|---|\n| `c || d` | e |\n", "3 MD056"),
        ("MD060", "| a | b |\n|---|---|\n| ccc | d |\n| e | \u{26f7} |\n", ""),
        ("MD060", "| a | b |\n| - | - |\n| ccc | d |\n| e  | f |\n", "4 MD060"),
    ];
    for (code, text, want) in cases {
        let config = format!("{{\"default\": false, \"{code}\": true}}");
        let mut project = Project::new(&[(".markdownlint.json", &*config), ("a.md", text)]);
        let report = project.report("a.md", "").unwrap();
        let line = |it: &Diagnostic| text[..it.span.start as usize].matches('\n').count() + 1;
        let found: Vec<_> = report.diagnostics.iter().map(|it| format!("{} {}", line(it), it.code)).collect();
        assert_eq!(found.join(", "), want, "{code}: {text}");
    }
}

#[test]
fn comments_turn_markdownlints_rules_off() {
    let text = "_a_ *b*\n\n<!-- markdownlint-disable MD049 -->\n\n*c*\n\n<!-- markdownlint-enable MD049 -->\n\n*d*\n";
    let option =
        "<!-- markdownlint-configure-file { \"MD049\": { \"style\": \"asterisk\" } } -->\n\n_a_ *b*\n";
    let mut project = Project::new(&[
        (".markdownlint.json", "{\"MD041\": false, \"MD036\": false}"),
        ("a.md", text),
        ("b.md", option),
    ]);
    assert_eq!(project.lines("a.md"), "1 MD049 \"*b*\", 9 MD049 \"*d*\"");
    assert_eq!(project.lines("b.md"), "3 MD049 \"_a_\"");
}

#[test]
fn fixes_of_markdownlints_rules() {
    let cases = [
        ("MD049", "\u{feff}_a_ *b\nc*\n", "\u{feff}_a_ _b\nc_\n"),
        ("MD050", "**a** __b__\n", "**a** **b**\n"),
        ("MD055", "| a | b |\n|---|---|\nc | d\n", "| a | b |\n|---|---|\n| c | d |\n"),
        ("MD055", "a | b\n--|--\n| c | d |\n", "a | b\n--|--\nc | d\n"),
        ("MD004", "- a\n\nb\n\n* c\n", "- a\n\nb\n\n- c\n"),
        ("MD012", "a\n\n", "a\n"),
    ];
    for (code, text, want) in cases {
        let config = format!("{{\"default\": false, \"{code}\": true}}");
        let mut project = Project::new(&[(".markdownlint.json", &*config), ("a.md", text)]);
        let report = project.report("a.md", "").unwrap();
        let fixes = report.diagnostics.iter().flat_map(|it| &it.fixes);
        let mut edits: Vec<_> = fixes.flat_map(|it| &it.edits).collect();
        edits.sort_by_key(|it| std::cmp::Reverse(it.span.start));
        let mut fixed = text.to_owned();
        for edit in edits {
            fixed.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.replacement);
        }
        assert_eq!(fixed, want, "{code}");
    }
}

#[test]
fn pages_of_documentation_frameworks() {
    let page =
        "# Title\n\n[a](#made) [b](/guide/x) [c](other) [d][handbok]\n\n[handbook]: https://example.org\n";
    let files = [
        ("vite/docs/.vitepress/config.ts", ""),
        ("vite/docs/guide/a.md", page),
        ("mk/mkdocs.yml", ""),
        ("mk/docs/a.md", page),
        ("mk/README.md", page),
        ("facebook/website/docusaurus.config.js", ""),
        ("facebook/docs/a.md", page),
        ("sphinx/source/conf.py", ""),
        ("sphinx/source/deep/a.md", page),
        ("jekyll/_config.yml", ""),
        ("jekyll/a.md", page),
        ("hugo/hugo.toml", ""),
        ("hugo/content/a.md", page),
        ("book/book.toml", ""),
        ("book/src/a.md", page),
        ("fmt/support/mkdocs.yml", "docs_dir: ../text\n"),
        ("fmt/text/a.md", page),
        ("fmt/other/plain_a.md", page),
        ("elixir/mix.exs", "[{:ex_doc, \"~> 0.38\"}]\n"),
        ("elixir/guides/a.md", page),
        ("elixir/README.md", page),
        ("mix/mix.exs", "[]\n"),
        ("mix/guides/plain_a.md", page),
        ("awesome/docs/config.ld", ""),
        ("awesome/docs/a.md", page),
        ("swift/Sources/X.docc/a.md", page),
        ("julia/docs/make.jl", ""),
        ("julia/docs/src/a.md", page),
        ("c/Doxyfile", ""),
        ("c/docs/a.md", page),
        ("plain/a.md", page),
        ("front.md", "---\nlayout: x\n---\n\n# T\n\n[a](#made)\n"),
        ("a.mdx", "# T\n\n[a](#made)\n"),
    ];
    let mut project = Project::new(&files);
    for (path, _) in
        files.iter().filter(|it| it.0.ends_with("a.md") || it.0.ends_with(".mdx") || it.0 == "front.md")
    {
        let want = if path.contains("plain") { "MD051 MD057 MD052" } else { "" };
        assert_eq!(project.check(path), want, "{path}");
    }
    for path in ["mk/README.md", "elixir/README.md"] {
        assert_eq!(project.check(path), "MD051 MD057 MD052", "the host of the repository renders it");
    }
    let mut project = project.with(select(&["MD051"]));
    assert_eq!(project.check("mk/docs/a.md"), "MD051", "the user asks for it");
}

#[test]
fn anchors_of_any_element() {
    let mut project = Project::new(&[
        (
            "a.md",
            "# T\n\n[x](#Con-fig) [y](b.md#deep) [z](#core/x) [no](#no)\n\n<h3 name=\"con-fig\">\nX\n</h3>\n",
        ),
        ("b.md", "# T\n\n<h3 class=\"x\" name='deep'>X</h3>\n"),
    ]);
    let report = project.report("a.md", "").unwrap();
    let told: Vec<_> = report.diagnostics.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(told, ["Link anchor '#no' does not exist in document headings"]);
}

#[test]
fn what_readers_of_markdown_mend_themselves() {
    let mut project = Project::new(&[
        ("few.md", "# T\n\n| a | b |\n| - | - |\n| 1 |\n"),
        ("many.md", "# T\n\n| a | b |\n| - | - |\n| 1 | 2 | 3 |\n"),
        ("rust.md", "# T\n\n[`X`][crate::X] and [no][no] or [it][abc]\n\n[abc]: https://example.org\n"),
        ("unused.md", "# T\n\n[x]: https://example.org\n"),
    ]);
    assert_eq!(project.check("few.md"), "", "empty cells");
    assert_eq!(project.check("many.md"), "MD056");
    assert_eq!(project.check("rust.md"), "MD052");
    assert_eq!(project.check("unused.md"), "");
    let mut project =
        Project::new(&[("host.md", "# T\n\n[a](../../issues/new) [b](../tree/HEAD/x.md) [c](../gone)\n")]);
    assert_eq!(project.check("host.md"), "MD057", "what hosts the repository has pages there");
}

#[test]
fn tags_signatures_and_patterns_are_no_links() {
    let mut project = Project::new(&[
        ("tags.md", "# T\n\nRead [8.x][parser] with more care\n"),
        (
            "call.md",
            "# T\n\nUse `db` or db.key(names, [label])[.onUpdate(y)] or (since: Version=4)[Ticket#12].\n",
        ),
        ("pattern.md", "# T\n\nEach *_total_amount (a * stands for names) counts.\n"),
        ("link.md", "# T\n\nRead (the guide)[guide.md] and ** this ** now.\n"),
        ("styled/.rumdl.toml", ""),
        ("styled/tags.md", "# T\n\nRead [8.x][parser] with more care (x)[y]\n"),
    ]);
    for path in ["tags.md", "call.md", "pattern.md"] {
        assert_eq!(project.check(path), "", "{path}");
    }
    assert_eq!(project.check("link.md"), "MD011 MD037");
    assert_eq!(project.check("styled/tags.md"), "MD052 MD011", "rumdl is configured");
}

#[test]
fn links_of_changelogs_templates_and_fixtures() {
    let text = "# T\n\n[gone](gone.md)\n";
    let off = ["CHANGELOG.md", "docs/HISTORY-1.md", ".github/PULL_REQUEST_TEMPLATE.md", "spec/fixtures/a.md"];
    let files: Vec<_> = off.iter().map(|it| (*it, text)).chain([("README.md", text)]).collect();
    let mut project = Project::new(&files);
    for path in off {
        assert_eq!(project.check(path), "", "{path}");
    }
    assert_eq!(project.check("README.md"), "MD057");
    let mut project = project.with(select(&["MD057"]));
    assert_eq!(project.check("CHANGELOG.md"), "MD057", "the user asks for it");
}

#[test]
#[cfg(unix)]
fn links_that_hold_where_a_symbolic_link_shows_the_file() {
    let text = "# T\n\n[a](guide/a.md) [gone](guide/gone.md)\n";
    let mut project = Project::new(&[
        ("packages/core/README.md", text),
        ("packages/other/README.md", text),
        ("guide/a.md", "# A\n"),
    ]);
    std::os::unix::fs::symlink("packages/core/README.md", project.root.path().join("README.md")).unwrap();
    assert_eq!(project.lines("packages/core/README.md"), "3 MD057 \"guide/gone.md\"");
    assert_eq!(project.check("packages/other/README.md"), "MD057 MD057");
}

#[test]
fn user_overrides() {
    let files = [(".rumdl.toml", "[global]\nenable = ['MD042']\n"), ("a.md", SAMPLE)];
    let mut project = Project::new(&files).with(select(&["no-trailing-spaces"]));
    assert_eq!(project.check("a.md"), "MD009", "by name");
    let mut project = Project::new(&files).with(Settings { ignore: vec!["MD042".to_owned()], ..settings() });
    assert_eq!(project.check("a.md"), "");
    let mut project =
        Project::new(&files).with(Settings { ignore: vec!["MD042".to_owned()], ..select(&["ALL"]) });
    assert_eq!(project.check("a.md"), "MD009");
    let mut project = Project::new(&files).with(Settings { isolated: true, ..select(&["MD009", "MD042"]) });
    assert_eq!(project.check("a.md"), "MD042 MD009");
}

#[test]
fn one_configuration_for_all() {
    let mut project = Project::new(&[
        (".rumdl.toml", "nonsense"),
        ("ci/strict.toml", "[global]\nenable = ['MD009']\n"),
        ("pkg/.rumdl.toml", "[global]\nenable = ['MD042']\n"),
        ("pkg/a.md", SAMPLE),
    ])
    .with(Settings { config: Some("ci/strict.toml".to_owned()), ..settings() });
    assert_eq!(project.check("pkg/a.md"), "MD009");
}

#[test]
fn unknown_selectors_are_told_and_the_others_hold() {
    let mut project = Project::new(&[("a.md", SAMPLE)]);
    let wanted = Settings { ignore: vec!["NOPE".to_owned()], ..select(&["MD009", "MD999", "MD074"]) };
    let Err(SettingsError::UnknownSelectors(unknown)) = project.plugin.configure(&wanted) else {
        panic!("should be told");
    };
    assert_eq!(unknown, ["MD999", "MD074", "NOPE"]);
}

#[test]
fn broken_configuration_is_one_sentence() {
    let mut project = Project::new(&[
        ("a/.rumdl.toml", "[global]\nenable = 1 2\n"),
        ("a/x.md", SAMPLE),
        ("b/.markdownlint.json", "{ \"MD009\": "),
        ("b/x.md", SAMPLE),
        ("c/rumdl.toml", "extends = 'missing.toml'\n"),
        ("c/x.md", SAMPLE),
    ]);
    let told = ["a/x.md", "b/x.md", "c/x.md"].map(|it| project.check(it));
    assert!(told[0].starts_with("cannot use `a/.rumdl.toml`: "), "{}", told[0]);
    assert!(told[1].starts_with("cannot use `b/.markdownlint.json`: "), "{}", told[1]);
    assert!(told[2].starts_with("cannot use `c/rumdl.toml`: "), "{}", told[2]);
    assert!(told.iter().all(|it| !it.contains('\n') && !it.contains("/tmp")), "{told:?}");
}

#[test]
fn exclusions() {
    let mut project = Project::new(&[
        (".rumdl.toml", "[global]\nenable = ['MD042']\nexclude = ['gen', 'docs/*.skip.md']\n"),
        (".markdownlintignore", "*.tmp.md\n!keep.tmp.md\n"),
        ("gen/deep/a.md", SAMPLE),
        ("docs/a.skip.md", SAMPLE),
        ("docs/a.tmp.md", SAMPLE),
        ("docs/keep.tmp.md", SAMPLE),
        ("docs/a.md", SAMPLE),
    ]);
    for path in ["gen/deep/a.md", "docs/a.skip.md", "docs/a.tmp.md"] {
        assert_eq!(project.check(path), "excluded", "{path}");
        assert_eq!(project.check_explicit(path), "MD042", "{path}");
    }
    assert_eq!(project.check("docs/keep.tmp.md"), "MD042");
    assert_eq!(project.check("docs/a.md"), "MD042");
    assert_eq!(told(project.report("gen/deep/a.md", "gen")), "MD042", "the folder was named");
}

#[test]
fn inclusions_and_ignores_of_markdownlint_cli2() {
    let mut project = Project::new(&[
        (".rumdl.toml", "[global]\ninclude = ['docs/**/*.md']\n"),
        ("docs/a.md", SAMPLE),
        ("a.md", SAMPLE),
    ]);
    assert_eq!(project.check("docs/a.md"), "MD042 MD009");
    assert_eq!(project.check("a.md"), "excluded");
    let mut project = Project::new(&[
        (".markdownlint-cli2.jsonc", "{ \"ignores\": [\"gen/**\"], \"config\": { \"MD009\": false } }"),
        ("gen/a.md", SAMPLE),
        ("a.md", SAMPLE),
    ]);
    assert_eq!(project.check("gen/a.md"), "excluded");
    assert_eq!(project.check("a.md"), "MD042");
}

#[test]
fn rules_by_file() {
    let mut project = Project::new(&[
        (".rumdl.toml", "[per-file-ignores]\n'docs/*.md' = ['MD042']\n"),
        ("docs/a.md", SAMPLE),
        ("a.md", SAMPLE),
    ]);
    assert_eq!(project.check("docs/a.md"), "MD009");
    assert_eq!(project.check("a.md"), "MD042 MD009");
}

#[test]
fn editorconfig_is_not_read_which_is_told() {
    let long = format!("# Title\n\n{}end\n", "word ".repeat(14));
    let mut project = Project::new(&[
        (".editorconfig", "root = true\n[*.md]\nmax_line_length = 40\n"),
        (".rumdl.toml", "[global]\neditorconfig = true\n"),
        ("a.md", &long),
        ("plain/.rumdl.toml", ""),
        ("plain/a.md", &long),
    ]);
    assert!(project.check("a.md").contains("editorconfig"), "{}", project.check("a.md"));
    assert_eq!(project.check("plain/a.md"), "");
}

#[test]
fn comments_turn_rules_off() {
    let mut project = Project::new(&[
        (
            "a.md",
            "# T\n\n<!-- markdownlint-disable MD042 -->\n\n[x]()\n\n<!-- markdownlint-enable MD042 -->\n\n[x]()\n",
        ),
        ("b.md", "# T\n\n[x]() <!-- rumdl-disable-line MD042 -->\n"),
        ("c.md", "<!-- rumdl-disable-file MD042 -->\n\n# T\n\n[x]()\n"),
    ]);
    assert_eq!(project.check("a.md"), "MD042");
    assert_eq!(project.check("b.md"), "");
    assert_eq!(project.check("c.md"), "");
}

#[test]
fn links_to_other_files() {
    let mut project = Project::new(&[
        (
            "a.md",
            "# A\n\n[1](docs/b.md#part) [2](docs/b.md#none) [3](gone.md) [4](docs) [5](#a) [6](a.md#no)\n",
        ),
        ("docs/b.md", "# B\n\n## Part\n\n[up](../a.md#a) [up](../a.md#b)\n"),
    ]);
    let report = project.report("a.md", "").unwrap();
    let found: Vec<_> = report.diagnostics.iter().map(|it| (it.code.as_str(), it.message.as_str())).collect();
    assert_eq!(
        found,
        [
            ("MD051", "Link fragment 'none' not found in 'docs/b.md'"),
            ("MD057", "Relative link 'gone.md' does not exist"),
            ("MD051", "Link fragment 'no' not found in 'a.md'"),
        ]
    );
    assert_eq!(project.check("docs/b.md"), "MD051");
}

#[test]
fn links_to_headings_with_angle_brackets() {
    let mut project = Project::new(&[
        ("a.md", "# Dict<K, V>\n\n[1](#dictk-v) [2](b.md#opt-x-y) [3](#dictk)\n"),
        ("b.md", "# B\n\n## Opt <x: Y>\n"),
    ]);
    let report = project.report("a.md", "").unwrap();
    let told: Vec<_> = report.diagnostics.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(told, ["Link anchor '#dictk' does not exist in document headings"]);
}

#[test]
fn anchors_are_in_doubt_where_headings_have_attributes() {
    let text = "# T {#top}\n\n[1](#elsewhere) [2](gone.md)\n";
    let mut project = Project::new(&[("a.md", text), ("b.md", "# T\n\n[1](#elsewhere) `{#top}`\n")]);
    assert_eq!(project.check("a.md"), "MD057");
    assert_eq!(project.check("b.md"), "MD051");
    assert_eq!(project.with(select(&["MD051"])).check("a.md"), "MD051", "the user asks for it");
}

#[test]
fn labels_as_the_text_has_them() {
    let text = "# T\n\nNote[^Later] and[^RFC].\n\n[^RFC]: x\n\n[^Unused]: y\n\n[Nowhere]: z\n";
    let mut project = Project::new(&[("a.md", text)]).with(select(&["MD053", "MD066"]));
    let report = project.report("a.md", "").unwrap();
    let told: Vec<_> = report.diagnostics.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "Footnote reference '[^Later]' has no corresponding definition",
            "Footnote definition '[^Unused]' is never referenced",
            "Unused link/image reference: [Nowhere]",
        ]
    );
}

#[test]
fn a_linked_file_is_read_anew_by_each_instance() {
    let mut project = Project::new(&[("a.md", "# A\n\n[1](b.md#part)\n"), ("b.md", "# B\n")]);
    assert_eq!(project.check("a.md"), "MD051");
    fs::write(project.root.path().join("b.md"), "# B\n\n## Part\n").unwrap();
    let mut project = project.with(settings());
    assert_eq!(project.check("a.md"), "");
}

#[test]
fn fixes_are_edits_of_the_files_own_bytes() {
    let text = "\u{feff}# Tïtle\r\ntext \r\n";
    let mut project = Project::new(&[("a.md", text)]).with(select(&["MD022", "MD009"]));
    let report = project.report("a.md", "").unwrap();
    let mut fixed = text.to_owned();
    for found in report.diagnostics.iter().rev() {
        for edit in found.fixes[0].edits.iter().rev() {
            fixed.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.replacement);
        }
    }
    assert_eq!(fixed, "\u{feff}# Tïtle\r\n\r\ntext\r\n");
}

#[test]
fn what_the_configuration_forbids_is_not_fixed() {
    let mut project = Project::new(&[
        (".rumdl.toml", "[global]\nenable = ['MD009']\nunfixable = ['MD009']\n"),
        ("a.md", SAMPLE),
    ]);
    assert!(project.report("a.md", "").unwrap().diagnostics[0].fixes.is_empty());
}

#[test]
fn words_of_a_finding() {
    let mut project = Project::new(&[("a.md", "# Tïtle\n\n[tïtle](gone.md)\n")]);
    let report = project.report("a.md", "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    assert_eq!(found.name.as_deref(), Some("existing-relative-links"));
    assert_eq!(found.url.as_deref(), Some("https://rumdl.dev/md057/"));
    assert_eq!(found.severity, Severity::Error);
    assert_eq!((found.span.start, found.span.end), (19, 26), "bytes");
}

#[test]
fn odd_files() {
    let mut project = Project::new(&[("empty.md", ""), ("mark.md", "\u{feff}")]);
    let root = project.root.path().to_path_buf();
    fs::write(root.join("latin.md"), b"# Caf\xe9\n\n[x]()\n").unwrap();
    fs::write(root.join("wide.md"), b"\xff\xfe#\0").unwrap();
    fs::write(root.join("cut.md"), b"# T\n\n```\nnever closed [x](\xe2\x82").unwrap();
    fs::write(root.join("conflict.md"), b"<<<<<<< HEAD\n[x]()\n=======\n>>>>>>> b\n").unwrap();
    assert_eq!(project.check("empty.md"), "");
    assert_eq!(project.check("mark.md"), "");
    assert_eq!(project.check("latin.md"), "MD094 MD042");
    let report = project.report("latin.md", "").unwrap();
    assert_eq!((report.diagnostics[0].span.start, report.diagnostics[0].span.end), (5, 6));
    assert_eq!((report.diagnostics[1].span.start, report.diagnostics[1].span.end), (8, 13));
    assert_eq!(project.check("wide.md"), "MD094");
    assert_eq!(project.check("cut.md"), "MD094");
    assert_eq!(project.check("conflict.md"), "MD092", "and nothing else");
}

#[test]
fn deep_nesting_is_told_to_be_unknown() {
    let deep = "- ".repeat(10_000);
    let brackets = format!("# T\n\n{}x{}\n", "[".repeat(10_000), "]".repeat(10_000));
    let mut project = Project::new(&[("a.md", &deep), ("b.md", &brackets)]);
    assert_eq!(
        project.check("a.md"),
        "partial: lists and quotations stand in each other more than 100 levels deep"
    );
    assert_eq!(project.check("b.md"), "");
}

#[test]
fn programs_for_code_blocks_are_not_run_and_that_is_told() {
    let config = "[code-block-tools]\nenabled = true\n[code-block-tools.languages]\npython = { lint = ['ruff:check'] }\n";
    let mut project = Project::new(&[
        (".rumdl.toml", config),
        ("a.md", "# T\n\n```python\nx = 1\n```\n"),
        ("b.md", "# T\n"),
    ]);
    assert!(project.check("a.md").starts_with("partial: `code-block-tools` names programs"));
    assert_eq!(project.check("b.md"), "");
}

#[cfg(unix)]
#[test]
fn links_in_the_file_system() {
    let mut project =
        Project::new(&[("docs/a.md", "# A\n\n[b](b.md)\n"), ("docs/b.md", "# B\n"), ("loop/a.md", SAMPLE)]);
    let root = project.root.path().to_path_buf();
    std::os::unix::fs::symlink("docs/a.md", root.join("README.md")).unwrap();
    std::os::unix::fs::symlink(".rumdl.toml", root.join("loop/.rumdl.toml")).unwrap();
    assert_eq!(project.check("README.md"), "excluded", "it is checked where it is");
    assert_eq!(project.check_explicit("README.md"), "", "its links count from where it is");
    let told = project.check("loop/a.md");
    assert!(told.starts_with("cannot use `loop/.rumdl.toml`: a link that cannot be followed"), "{told}");
}

#[test]
fn lines_that_markdownlint_lets_pass() {
    let words = "a link whose words alone take up more than all of the eighty characters of a line";
    let config = |option: &str| format!("{{\"default\": false, \"MD013\": {{\"line_length\": 80{option}}}}}");
    let cases = [
        (format!("See\n[{words} here](\nhttps://a.org/b).\n"), ["", "", "MD013"]),
        (format!("- **[{words} here](b.md)**\n"), ["", "", "MD013"]),
        (format!("# A [{words}](b.md) and more\n"), ["", "", "MD013"]),
        (format!("{}\n", "x".repeat(90)), ["", "", "MD013"]),
        (format!("a {}{}\n", "b ".repeat(38), "x".repeat(90)), ["", "MD013", "MD013"]),
        (format!("See [{words} here](b.md)\n"), ["MD013"; 3]),
        (format!("text {words} here\n"), ["MD013"; 3]),
    ];
    for (text, wants) in cases {
        for (option, want) in ["", ", \"stern\": true", ", \"strict\": true"].iter().zip(wants) {
            let mut project = Project::new(&[(".markdownlint.json", &config(option)), ("a.md", &text)]);
            assert_eq!(project.check("a.md"), want, "{option}: {text}");
        }
    }
}

#[test]
fn footnotes_of_python_markdown() {
    let lazy = "# T\n\nText[^a]\n\n[^a]:\n  a note\n";
    let tab = "# T\n\n=== \"One\"\n\n    Some [words][^a]\n\n  [^a]:\n    a note\n";
    let inner = "# T\n\nText[^a] [^b]\n\n!!! tip\n\n    [^a]: a note\n\n[^b]: another\n";
    let wrong = "# T\n\nText[^a] `[^b]`\n\n[^a]:\n\n[^b]: c\n";
    let list = "# T\n\n1.  Text[^a] [^b]\n\n    [^a]: a note\n\n[^b]: another\n";
    let mut project = Project::new(&[
        ("mk/mkdocs.yml", ""),
        ("mk/docs/lazy.md", lazy),
        ("mk/docs/plain.md", "# T\n\n    code[^a]\n\n[^a]: in doubt\n"),
        ("mk/docs/wrong.md", wrong),
        ("fmt/support/mkdocs.yml", "docs_dir: ../text\n"),
        ("fmt/text/lazy.md", lazy),
        ("tab.md", tab),
        ("inner.md", inner),
        ("list.md", list),
        ("lazy.md", lazy),
        ("plain.md", "# T\n\n    code[^a]\n\n[^a]: for nothing\n"),
        ("wrong.md", wrong),
    ]);
    for path in ["mk/docs/lazy.md", "mk/docs/plain.md", "fmt/text/lazy.md", "tab.md", "inner.md", "list.md"] {
        assert_eq!(project.check(path), "", "{path}");
    }
    for (path, want) in [
        ("lazy.md", "MD068"),
        ("plain.md", "MD066"),
        ("wrong.md", "MD068 MD066"),
        ("mk/docs/wrong.md", "MD068 MD066"),
    ] {
        assert_eq!(project.check(path), want, "{path}");
    }
}

/// Links within a page of which the text is a part.
#[test]
fn parts_of_pages() {
    let (part, page) = ("## One\n\n[a](#other)\n", "# One\n\n[a](#other)\n");
    let mut project = Project::new(&[
        ("docs/sections/02-one.md", part),
        ("docs/sections/page.md", page),
        ("docs/_partials/deep/one.md", part),
        ("guide/one.md", part),
        ("guide/two.md", part),
        ("guide/deep/three.md", part),
        ("guide/all.md", "# All\n\n{{#include one.md}}\n\nSee [two](two.md).\n\n--8<-- \"deep/three.md\"\n"),
        ("guide/four.md", page),
        ("guide/all.rst", ".. include:: four.md\n"),
    ]);
    for path in
        ["docs/sections/02-one.md", "docs/_partials/deep/one.md", "guide/one.md", "guide/deep/three.md"]
    {
        assert_eq!(project.check(path), "", "{path}");
    }
    for path in ["docs/sections/page.md", "guide/two.md", "guide/four.md"] {
        assert_eq!(project.check(path), "MD051", "{path}");
    }
    assert_eq!(project.with(select(&["MD051"])).check("guide/one.md"), "MD051", "the user asks for it");
}
