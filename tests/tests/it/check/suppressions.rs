//! `--add-suppressions`: comments beside what is found.

use insta::assert_snapshot;

use super::Workspace;

const FILES: [(&str, &str); 5] = [
    ("a.py", "import os, re\n\n\ndef f(x=[]):\n    \"\"\"Doc.\"\"\"\n    return x, f'{undefined}'\n"),
    ("b.yaml", "a: 1\na: 2\nrun: |\n  text\n"),
    ("c.js", "if (a) {\n  debugger;\n}\n"),
    ("d.py", "x = (\n"),
    ("e.md", "[a](#none)\n"),
];

#[test]
fn comments_are_written_where_they_are_comments() {
    let it = Workspace::new(&FILES);
    let patch = it.told(&["--add-suppressions", "as it was", "--diff"]);
    assert_snapshot!(patch.replace("\n \n", "\n\n").replace("\n \n", "\n\n"), @r#"
    exit 1
    diff --git a/a.py b/a.py
    --- a/a.py
    +++ b/a.py
    @@ -1,6 +1,6 @@
    -import os, re
    +import os, re  # broker: ignore[python/E401, python/F401] as it was


     def f(x=[]):
         """Doc."""
    -    return x, f'{undefined}'
    +    return x, f'{undefined}'  # broker: ignore[python/F821] as it was
    diff --git a/b.yaml b/b.yaml
    --- a/b.yaml
    +++ b/b.yaml
    @@ -1,4 +1,4 @@
     a: 1
    -a: 2
    +a: 2  # broker: ignore[yaml/duplicate-key] as it was
     run: |
       text
    diff --git a/c.js b/c.js
    --- a/c.js
    +++ b/c.js
    @@ -1,3 +1,3 @@
     if (a) {
    -  debugger;
    +  debugger;  // broker: ignore[javascript/no-debugger] as it was
     }
    -- stderr
    warning: e.md:1: not suppressed: there is no grammar that tells where a comment can be in such a file
    6 findings would be suppressed.
    "#);
    assert!(FILES.iter().all(|(path, text)| it.read(path) == *text), "--diff writes nothing");
    assert_snapshot!(it.told(&["--add-suppressions", "as it was"]), @"
    exit 1
    d.py:2:1: error python/invalid-syntax unexpected EOF while parsing
    e.md:1:1: error markdown/MD051 Link anchor '#none' does not exist in document headings
    2 findings in 6 files (2 errors, 6 suppressed).
    -- stderr
    warning: e.md:1: not suppressed: there is no grammar that tells where a comment can be in such a file
    6 findings suppressed.
    ");
    assert_snapshot!(FILES.map(|(path, _)| it.read(path)).join("---\n"), @r#"
    import os, re  # broker: ignore[python/E401, python/F401] as it was


    def f(x=[]):
        """Doc."""
        return x, f'{undefined}'  # broker: ignore[python/F821] as it was
    ---
    a: 1
    a: 2  # broker: ignore[yaml/duplicate-key] as it was
    run: |
      text
    ---
    if (a) {
      debugger;  // broker: ignore[javascript/no-debugger] as it was
    }
    ---
    x = (
    ---
    [a](#none)
    "#);
    assert_snapshot!(it.told(&["--add-suppressions", "as it was"]), @"
    exit 1
    d.py:2:1: error python/invalid-syntax unexpected EOF while parsing
    e.md:1:1: error markdown/MD051 Link anchor '#none' does not exist in document headings
    2 findings in 6 files (2 errors, 6 suppressed).
    -- stderr
    warning: e.md:1: not suppressed: there is no grammar that tells where a comment can be in such a file
    "); // Nothing is left to suppress.
}

#[test]
fn a_reason_is_a_line() {
    let it = Workspace::new(&FILES);
    assert_snapshot!(it.told(&["--add-suppressions", "  "]), @"
    exit 2
    -- stderr
    error: invalid value '  ' for '--add-suppressions <REASON>': a suppression must say why

    For more information, try '--help'.
    ");
    assert_snapshot!(it.told(&["--add-suppressions", "a\nb"]), @"
    exit 2
    -- stderr
    error: invalid value 'a
    b' for '--add-suppressions <REASON>': a reason is one line of text

    For more information, try '--help'.
    ");
}

#[test]
fn text_is_no_place_for_a_comment() {
    let files = [
        ("a.py", "x = \"\"\"\n\tundefined\u{202e}\n\"\"\"\n"),
        ("b.jsx", "export const a = (\n  <b>\n    \u{202e}\n  </b>\n);\n"),
    ];
    let it = Workspace::new(&files);
    assert_snapshot!(it.told(&["--add-suppressions", "known"]), @"
    exit 1
    a.py:2:11: warning text/bidi-control invisible character U+202E (right-to-left override) makes the text read differently than it is
    1 finding in 3 files (1 warning, 1 suppressed).
    -- stderr
    warning: a.py:2: not suppressed: there is no place for a comment
    1 finding suppressed.
    ");
    assert_eq!(it.read("a.py"), files[0].1);
    assert_snapshot!(it.read("b.jsx").replace('\u{202e}', "…"), @"
    export const a = (
      <b>
        {/* broker: ignore-next-line[text/bidi-control] known */}
        …
      </b>
    );
    ");
}

#[test]
fn a_long_reason_does_no_harm() {
    let it = Workspace::new(&[("a.py", "import os\n"), ("ruff.toml", "lint.select = ['E501', 'F401']\n")]);
    let reason = "as it was ".repeat(12);
    assert_snapshot!(it.told(&["--add-suppressions", &reason]), @"
    exit 1
    a.py:1:89: warning python/E501 Line too long (149 > 88)
    1 finding in 3 files (1 warning, 1 suppressed).
    -- stderr
    1 finding suppressed.
    ");
}
