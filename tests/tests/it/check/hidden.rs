//! Findings that another finding hides: a suppression is not unused, an entry of the baseline is not stale and a finding is not
//! fixed because a linter could not look.

use std::fs;

use insta::assert_snapshot;

use super::{Workspace, told};

/// Test data of one language: a file's name, a suppression, the code that it is for, other code without findings, and text that
/// cannot be parsed.
struct Language {
    file: &'static str,
    suppression: &'static str,
    code: &'static str,
    clean: &'static str,
    broken: &'static str,
}

const LANGUAGES: [Language; 12] = [
    Language {
        file: "a.py",
        suppression: "# broker: ignore-next-line[F401] re-exported\n",
        code: "import os\n",
        clean: "y = 1\n",
        broken: "x = (\n",
    },
    Language {
        file: "a.js",
        suppression: "// broker: ignore-next-line[no-dupe-keys] the last counts\n",
        code: "export const x = { a: 1, a: 2 };\n",
        clean: "export const y = 1;\n",
        broken: "const y = ;\n",
    },
    Language {
        file: "a.ts",
        suppression: "// broker: ignore-next-line[javascript/no-dupe-keys] the last counts\n",
        code: "export const x = { a: 1, a: 2 };\n",
        clean: "export const y = 1;\n",
        broken: "const y: = 1;\n",
    },
    Language {
        file: "a.css",
        suppression: "/* broker: ignore-next-line[color-no-invalid-hex] for old browsers */\n",
        code: "a { color: #zz; }\n",
        clean: "b { color: red; }\n",
        broken: "b { c: d }}\n",
    },
    Language {
        file: "a.scss",
        suppression: "// broker: ignore-next-line[color-no-invalid-hex] for old browsers\n",
        code: "a { color: #zz; }\n",
        clean: "b { color: red; }\n",
        broken: "b { c: d }}\n",
    },
    Language {
        file: "a.sh",
        suppression: "# broker: ignore-next-line[SC2034] for the debugger\n",
        code: "f() { local line=1; }\n",
        clean: "ls\n",
        broken: "if then\n",
    },
    Language {
        file: "a.lua",
        suppression: "-- broker: ignore-next-line[unused_variable] for the debugger\n",
        code: "local x = 1\nf()\n",
        clean: "return 1\n",
        broken: "local y = \n",
    },
    Language {
        file: "Dockerfile",
        suppression: "# broker: ignore-next-line[FromPlatformFlagConstDisallowed] the only one\n",
        code: "FROM --platform=linux/amd64 debian:13\n",
        clean: "FROM debian:13\n",
        broken: "COPY\n",
    },
    Language {
        file: "a.sql",
        suppression: "-- broker: ignore-next-line[LT01] aligned\n",
        code: "SELECT  1;\n",
        clean: "SELECT 2;\n",
        broken: "SELEC a FROM;\n",
    },
    Language {
        file: "a.yaml",
        suppression: "# broker: ignore-file[duplicate-key] merged\n",
        code: "a: 1\na: 2\n",
        clean: "b: 1\n",
        broken: "b: [\n",
    },
    Language {
        file: "a.jsonc",
        suppression: "// broker: ignore-file[duplicate-key] merged\n",
        code: "{ \"a\": 1, \"a\": 2 }\n",
        clean: "{ }\n",
        broken: "}\n",
    },
    Language {
        file: "a.toml",
        suppression: "# broker: ignore-file[duplicate-key] merged\n",
        code: "a = 1\na = 2\n",
        clean: "b = 1\n",
        broken: "b = \n",
    },
];

const UNUSED: &str = "broker/unused-suppression";

impl Language {
    fn workspace(&self, parts: &[&str]) -> Workspace {
        let it = Workspace::new(&[(".sqlfluff", "[sqlfluff]\ndialect = postgres\n")]);
        it.write(self.file, self.text(parts));
        it
    }

    /// Returns the text, with the interpreter's line if there must be one.
    fn text(&self, parts: &[&str]) -> String {
        let first = if self.file.ends_with(".sh") { "#!/bin/bash\n" } else { "" };
        format!("{first}{}", parts.concat())
    }
}

#[test]
fn no_fix_removes_a_suppression_beside_a_syntax_error() {
    for it in &LANGUAGES {
        // The suppression is in use; it is not any more once the code is gone.
        let whole = it.workspace(&[it.suppression, it.code]).told(&[it.file]);
        assert!(whole.contains("1 suppressed") && !whole.contains(UNUSED), "{}: {whole}", it.file);
        let gone = it.workspace(&[it.suppression, it.clean]).told(&[it.file]);
        assert!(gone.contains(UNUSED), "{}: {gone}", it.file);

        let place = it.workspace(&[it.suppression, it.broken]);
        let said = place.told(&["--fix", it.file]);
        assert!(said.starts_with("exit 1\n") && !said.contains(UNUSED), "{}: {said}", it.file);
        assert_eq!(place.read(it.file), it.text(&[it.suppression, it.broken]), "{}", it.file);
        // Even where the syntax error itself is not reported.
        place.write("broker.toml", "[severity]\n\"*\" = \"off\"\n\"broker/*\" = \"warning\"\n");
        let said = place.told(&["--fix", it.file]);
        assert!(said.starts_with("exit 0\n"), "{}: {said}", it.file);
        assert_eq!(place.read(it.file), it.text(&[it.suppression, it.broken]), "{}", it.file);
    }
}

#[test]
fn no_entry_of_the_baseline_is_stale_beside_a_syntax_error() {
    for it in &LANGUAGES {
        let place = it.workspace(&[it.code]);
        let baseline = ["check", "--baseline", "known.json", it.file];
        let with = |flag| [&baseline[..], &[flag]].concat();
        assert_eq!(place.run(&with("--baseline-update")).status.code(), Some(0), "{}", it.file);
        let known = place.read("known.json");
        assert!(known.contains("\"count\""), "{}: {known}", it.file);

        place.write(it.file, it.text(&[it.broken]));
        let said = told(&place.run(&baseline));
        assert!(said.starts_with("exit 1\n") && !said.contains("not there any more"), "{}: {said}", it.file);
        place.run(&with("--baseline-prune"));
        assert_eq!(place.read("known.json"), known, "{}", it.file);
        // Findings that are visible now become known as well.
        place.run(&with("--baseline-update"));
        place.write(it.file, it.text(&[it.code]));
        assert_eq!(place.run(&baseline).status.code(), Some(0), "{}", it.file);

        place.write(it.file, it.text(&[it.clean]));
        let said = told(&place.run(&baseline));
        assert!(said.contains("not there any more"), "{}: {said}", it.file);
    }
}

#[test]
fn a_linter_that_is_not_asked_leaves_its_suppressions_alone() {
    let text = "x = 1  # broker: ignore[F401] why\ny = 2  # broker: ignore[python/F401] why\nz = 3  # broker: ignore\n";
    let it = Workspace::new(&[("broker.toml", "ignore = [\"python/ALL\"]\n"), ("a.py", text)]);
    assert_snapshot!(it.told(&["--fix"]), @r#"
exit 0
No findings in 3 files.
-- stderr
"#);
    assert_eq!(it.read("a.py"), text);
    // The linter's own configuration leaves the file out, unless it is named.
    it.write("broker.toml", "");
    it.write("pyproject.toml", "[tool.ruff]\nexclude = [\"a.py\"]\n");
    assert_snapshot!(it.told(&["--fix"]), @r#"
exit 0
No findings in 3 files.
-- stderr
"#);
    assert_eq!(it.read("a.py"), text);
    assert_snapshot!(it.told(&["a.py"]), @"
    exit 1
    a.py:1:8: warning broker/unused-suppression this suppression suppresses no `F401`
    a.py:2:8: warning broker/unused-suppression this suppression suppresses no `python/F401`
    2 findings in 1 file (2 warnings).
    -- stderr
    ");
}

#[test]
fn an_entry_for_a_file_that_is_gone_may_be_for_one_that_was_not_looked_at() {
    let it = Workspace::new(&[("old/a.py", "import os\n"), ("b.py", "x = 1\n")]);
    let baseline = ["check", "--baseline", "known.json"];
    it.run(&[&baseline[..], &["--baseline-update"]].concat());
    let known = it.read("known.json");
    fs::create_dir(it.root().join("new")).unwrap();
    fs::rename(it.root().join("old/a.py"), it.root().join("new/a.py")).unwrap();
    for flag in ["--baseline-prune", "--baseline-update"] {
        it.run(&[&baseline[..], &[flag, "b.py"]].concat());
        assert_eq!(it.read("known.json"), known, "{flag}");
    }
    // The file was moved, and does not parse at the moment.
    it.write("new/a.py", "import os\nx = (\n");
    it.run(&[&baseline[..], &["--baseline-prune"]].concat());
    assert_eq!(it.read("known.json"), known);
    it.write("new/a.py", "import os\n");
    assert_eq!(it.run(&baseline).status.code(), Some(0));
    fs::remove_file(it.root().join("new/a.py")).unwrap();
    it.run(&[&baseline[..], &["--baseline-prune"]].concat());
    assert!(!it.read("known.json").contains("count"));
}
