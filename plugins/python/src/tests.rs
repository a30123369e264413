//! The plugin over small projects on disk.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

mod broken;
mod false_positives;
mod flake8;
mod versions;

use std::fs;

use broker_plugin_sdk::{
    testing::{self, select, settings, told},
    *,
};

use crate::Python;

const UNUSED: &str = "import os\n";

type Project = testing::Project<Python>;

#[test]
fn nearest_configuration_wins() {
    let mut project = Project::new(&[
        ("pyproject.toml", "[tool.ruff.lint]\nselect = ['F401']\n"),
        ("a.py", UNUSED),
        ("pkg/ruff.toml", "lint.select = ['D100']\n"),
        ("pkg/deep/b.py", UNUSED),
        ("other/pyproject.toml", "[project]\nname = 'other'\n"),
        ("other/c.py", UNUSED),
        ("dot/.ruff.toml", "extend = '../pkg/ruff.toml'\n[lint]\nextend-select = ['F']\nignore = ['D']"),
        ("dot/ruff.toml", "nonsense = 1"),
        ("dot/d.py", UNUSED),
    ]);
    assert_eq!(project.check("a.py"), "F401");
    assert_eq!(project.check("pkg/deep/b.py"), "D100");
    assert_eq!(project.check("other/c.py"), "F401", "a pyproject.toml without ruff's table is none");
    assert_eq!(project.check("dot/d.py"), "F401", ".ruff.toml goes first, extends, and adds");
}

#[test]
fn user_overrides() {
    let files = [("ruff.toml", "lint.select = ['D100']\n"), ("a.py", UNUSED)];
    let mut project = Project::new(&files).with(select(&["F"]));
    assert_eq!(project.check("a.py"), "F401");
    let mut project = Project::new(&files).with(Settings { ignore: vec!["D".to_owned()], ..settings() });
    assert_eq!(project.check("a.py"), "");
    let mut project = Project::new(&files).with(Settings { isolated: true, ..select(&["F401"]) });
    assert_eq!(project.check("a.py"), "F401");
    let mut project = Project::new(&files).with(select(&["unused-import"]));
    assert_eq!(project.check("a.py"), "F401", "by name");
}

#[test]
fn where_ruff_is_not_configured_fewer_rules_are_on() {
    let text = "from typing import Optional\n\nx: Optional[int] = None\nx = x\nx.real  # noqa: B018\n";
    let check =
        |config: (&str, &str), settings| Project::new(&[("a.py", text), config]).with(settings).check("a.py");
    let nothing = ("README", "");
    assert_eq!(check(nothing, settings()), "", "nor is the `noqa` unused, which ruff's own users need");
    let stated = ("pyproject.toml", "[project]\nrequires-python = '>=3.10'\n");
    assert_eq!(check(stated, settings()), "", "style, whatever version is meant");
    let broken =
        Project::new(&[("a.py", "import os\nimport re\nx == 1\nprint '' if x is 1\n")]).check("a.py");
    assert!(broken.contains("invalid-syntax"), "{broken}");
    let broken = "import os\nimport sys\n\ndef f(a=[]):\n    if sys.version[:3] == '3.9':\n        a == 1\n    return undefined\n";
    assert_eq!(Project::new(&[("a.py", broken)]).check("a.py"), "F401 YTT101 B015 F821");
    assert_eq!(check(stated, Settings { isolated: true, ..settings() }), "", "which is not read then");
    assert_eq!(check(nothing, Settings { ignore: vec!["F".to_owned()], ..settings() }), "");
    for configured in [("ruff.toml", ""), ("pyproject.toml", "[tool.ruff]\n")] {
        assert_eq!(check(configured, settings()), "UP045 PLW0127", "{configured:?}");
    }
    assert_eq!(check(nothing, select(&["PLW", "UP045"])), "UP045 PLW0127");
    assert_eq!(check(nothing, select(&["B", "RUF100"])), "");
    assert_eq!(check(nothing, select(&["RUF100"])), "RUF100");
}

#[test]
fn more_rules_besides_those_that_are_configured() {
    let files = [("ruff.toml", "lint.select = ['D100']\nlint.ignore = ['F401']\n"), ("a.py", UNUSED)];
    let mut project = Project::new(&files).with(select(&["DEFAULT", "F401"]));
    assert_eq!(project.check("a.py"), "D100 F401");
    let settings = Settings { ignore: vec!["D".to_owned()], ..select(&["DEFAULT", "F"]) };
    assert_eq!(Project::new(&files).with(settings).check("a.py"), "F401");
    let mut project = Project::new(&files[1..]).with(select(&["I001", "DEFAULT"]));
    assert_eq!(project.check("a.py"), "F401", "none of the others is off");
    assert!(project.is_on("a.py", "I001") && !project.is_on("a.py", "B018"), "as without a selection");
}

#[test]
fn rules_that_are_on() {
    let mut project = Project::new(&[
        (
            "pyproject.toml",
            "[tool.ruff]\nextend = 'base.toml'\n[tool.ruff.lint]\nextend-per-file-ignores = {'b.py' = ['E7']}\n",
        ),
        (
            "base.toml",
            "[lint]\nselect = ['F', 'E7']\nper-file-ignores = {'tests/*' = ['F401'], '!a.py' = ['F403']}\n",
        ),
        ("plain/ruff.toml", ""),
    ]);
    let mut on = |path: &str| ["F401", "F403", "E701", "D100"].map(|code| project.is_on(path, code));
    assert_eq!(on("a.py"), [true, true, true, false]);
    assert_eq!(on("b.py"), [true, false, false, false]);
    assert_eq!(on("tests/a.py"), [false, true, true, false]);
    assert_eq!(project.config("a.py").as_deref(), Some("pyproject.toml"));
    assert_eq!(project.config("plain/a.py").as_deref(), Some("plain/ruff.toml"));
    assert_eq!(Project::new(&[]).config("a.py"), None);
    assert!(Project::new(&[]).is_on("a.py", "F401") && !Project::new(&[]).is_on("a.py", "B018"));
}

#[test]
fn options_of_broker_count_where_ruff_is_silent() {
    let text = "from typing import Optional\n\nx: Optional[int] = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'\n";
    let check = |files: &[(&str, &str)]| {
        let files: Vec<_> = files.iter().copied().chain([("a.py", text)]).collect();
        Project::new(&files).with(select(&["E501", "UP045"])).check("a.py")
    };
    testing::set_linter_options(Some(r#"{"line-length": 40, "target-version": "py39"}"#));
    assert_eq!(check(&[]), "E501");
    assert_eq!(check(&[("ruff.toml", "line-length = 60\ntarget-version = 'py310'")]), "UP045");
    testing::set_linter_options(None);
    assert_eq!(check(&[]), "UP045");
}

#[test]
fn one_configuration_for_all() {
    let mut project = Project::new(&[
        ("ruff.toml", "nonsense = 1"),
        ("ci/strict.toml", "lint.select = ['D100']\n"),
        ("pkg/ruff.toml", "lint.select = ['F401']\n"),
        ("pkg/a.py", UNUSED),
    ])
    .with(Settings { config: Some("ci/strict.toml".to_owned()), ..settings() });
    assert_eq!(project.check("pkg/a.py"), "D100");
}

#[test]
fn unknown_selectors_are_reported_and_the_others_hold() {
    let mut project = Project::new(&[("a.py", UNUSED)]);
    let wanted = Settings { ignore: vec!["NOPE".to_owned()], ..select(&["D100", "Z9", "no-such-rule"]) };
    let Err(SettingsError::UnknownSelectors(unknown)) = project.plugin.configure(&wanted) else {
        panic!("should be reported");
    };
    assert_eq!(unknown, ["Z9", "no-such-rule", "NOPE"]);
    assert_eq!(project.check("a.py"), "D100");
}

#[test]
fn exclusions() {
    let mut project = Project::new(&[
        (
            "ruff.toml",
            "extend-exclude = ['gen', 'one.py']\n[lint]\nselect = ['F401']\nexclude = ['quiet.py']\n",
        ),
        ("gen/ruff.toml", "nonsense = 1"),
        ("gen/a.py", UNUSED),
        ("gen/deep/a.py", UNUSED),
        ("pkg/one.py", UNUSED),
        ("pkg/quiet.py", UNUSED),
        ("pkg/loud.py", UNUSED),
        ("pkg/window.pyw", UNUSED),
        ("pkg/venv/b.py", UNUSED),
        ("tool/ruff.toml", "extend = '../ruff.toml'\ninclude = ['in*.py']\n"),
        ("tool/in.py", UNUSED),
        ("tool/out.py", UNUSED),
    ]);
    for path in [
        "gen/a.py",
        "gen/deep/a.py",
        "pkg/one.py",
        "pkg/quiet.py",
        "pkg/venv/b.py",
        "pkg/window.pyw",
        "tool/out.py",
    ] {
        assert_eq!(project.check(path), "excluded", "{path}");
    }
    assert_eq!(project.check("pkg/loud.py"), "F401");
    assert_eq!(project.check("tool/in.py"), "F401");
    for path in ["pkg/one.py", "pkg/quiet.py", "pkg/venv/b.py", "pkg/window.pyw", "tool/out.py"] {
        assert_eq!(project.check_explicit(path), "F401", "{path}");
    }
}

#[test]
fn a_named_folder_is_reached_but_not_what_is_excluded_below_it() {
    let mut project = Project::new(&[
        ("ruff.toml", "extend-exclude = ['gen', 'deep']\n[lint]\nselect = ['F401']\n"),
        ("gen/a.py", UNUSED),
        ("gen/deep/b.py", UNUSED),
    ]);
    assert_eq!(told(project.report("gen/a.py", "gen")), "F401");
    assert_eq!(told(project.report("gen/deep/b.py", "gen")), "excluded");
    assert_eq!(told(project.report("gen/deep/b.py", "gen/deep")), "F401");
    assert_eq!(told(project.report("gen/a.py", "")), "excluded");
}

#[cfg(unix)]
#[test]
fn a_configuration_that_cannot_be_looked_at_is_no_missing_one() {
    let mut project = Project::new(&[("a.py", UNUSED), ("dangling/a.py", UNUSED), ("loop/a.py", UNUSED)]);
    std::os::unix::fs::symlink("missing", project.root.path().join("dangling/ruff.toml")).unwrap();
    std::os::unix::fs::symlink("ruff.toml", project.root.path().join("loop/ruff.toml")).unwrap();
    assert_eq!(project.check("dangling/a.py"), project.check("a.py"), "as ruff does");
    let problem = project.check("loop/a.py");
    assert!(problem.starts_with("cannot use `loop/ruff.toml`: a link that cannot be followed"), "{problem}");
}

#[test]
fn forced_exclusion_holds_for_named_files() {
    let config =
        "force-exclude = true\nextend-exclude = ['gen']\n[lint]\nselect = ['F401']\nexclude = ['q.py']\n";
    let mut project =
        Project::new(&[("ruff.toml", config), ("gen/a.py", UNUSED), ("q.py", UNUSED), ("b.pyw", UNUSED)]);
    assert_eq!(project.check_explicit("gen/a.py"), "excluded");
    assert_eq!(project.check_explicit("q.py"), "excluded");
    assert_eq!(project.check_explicit("b.pyw"), "F401");
}

#[test]
fn broken_configuration_is_one_sentence() {
    let mut project = Project::new(&[
        ("a/pyproject.toml", "[tool.ruff]\nline-lenght = 1\n"),
        ("a/x.py", UNUSED),
        ("b/ruff.toml", "lint.select = ['NOPE']\n"),
        ("b/x.py", UNUSED),
        ("c/ruff.toml", "extend = '../d/gone.toml'\n"),
        ("c/x.py", UNUSED),
        ("d/ruff.toml", "required-version = '>=99'\n"),
        ("d/x.py", UNUSED),
        ("ok.py", UNUSED),
    ]);
    let problem = project.check("d/x.py");
    assert!(
        problem.starts_with("cannot use `d/ruff.toml`: it requires ruff >=99, and this is ruff 0."),
        "{problem}"
    );
    assert_eq!(
        project.check("a/x.py"),
        "cannot use `a/pyproject.toml`: TOML parse error at line 1, column 1: unknown field `line-lenght`"
    );
    assert_eq!(
        project.check("b/x.py"),
        "cannot use `b/ruff.toml`: Unknown rule selector `NOPE` in `select` from `b/ruff.toml`"
    );
    assert_eq!(
        project.check("c/x.py"),
        "cannot use `c/ruff.toml`: Failed to load extended configuration `d/gone.toml` \
         (`c/ruff.toml` extends `d/gone.toml`): Failed to read d/gone.toml: No such file or directory (os error 2)"
    );
    assert_eq!(project.check("ok.py"), "F401");
}

#[test]
fn per_file_ignores_versions_and_own_modules() {
    let config = "[project]\nrequires-python = '>=3.8'\n[tool.ruff]\nsrc = ['lib']\n[tool.ruff.lint]\n\
                  select = ['I001', 'F401', 'INP001']\nper-file-ignores = {'t/*' = ['F401']}\n";
    let mut project = Project::new(&[
        ("pyproject.toml", config),
        ("lib/own/__init__.py", "import os\n\nimport own\n\nos, own\n"),
        ("lib/own/sub/m.py", "import os\nimport own\n\nos, own\n"),
        ("t/__init__.py", UNUSED),
        ("new.py", "match 1:\n    case _:\n        pass\n"),
    ]);
    assert_eq!(project.check("lib/own/__init__.py"), "");
    assert_eq!(project.check("lib/own/sub/m.py"), "INP001 I001", "`own` is found in `lib`");
    assert_eq!(project.check("t/__init__.py"), "");
    assert_eq!(project.check("new.py"), "invalid-syntax", "`match` is newer than 3.8");
}

#[test]
fn syntax_errors_and_bytes() {
    let mut project =
        Project::new(&[("a.py", "def f(:\n"), ("b.ipynb", "{"), ("c.md", "```python\nimport os\n```\n")]);
    fs::write(project.root.path().join("latin.py"), b"x = '\xff'\n").unwrap();
    fs::write(project.root.path().join("bom.py"), b"\xef\xbb\xbfimport os\n").unwrap();
    let report = project.report("a.py", "").unwrap();
    assert_eq!(report.diagnostics[0].code, "invalid-syntax");
    assert_eq!(report.diagnostics[0].severity, Severity::Error);
    assert_eq!(report.diagnostics[0].name, None);
    assert_eq!(project.check("b.ipynb"), "invalid-syntax");
    assert_eq!(project.check_explicit("c.md"), "");
    let report = project.report("latin.py", "").unwrap();
    assert_eq!(report.diagnostics[0].code, "E902");
    assert_eq!(report.diagnostics[0].message, "stream did not contain valid UTF-8");
    let quiet = Settings { ignore: vec!["E902".to_owned()], root: project.root(), ..settings() };
    project.plugin.configure(&quiet).unwrap();
    assert_eq!(project.report("latin.py", "").unwrap_err(), "stream did not contain valid UTF-8");
    let report = project.report("bom.py", "").unwrap();
    let unused = report.diagnostics.iter().find(|it| it.code == "F401").unwrap();
    assert_eq!((unused.span.start, unused.span.end), (10, 12), "bytes of the file, its mark included");
}

#[test]
fn stubs_and_toml() {
    let mut project =
        Project::new(&[("a.pyi", "def f(x=1): pass\n"), ("pyproject.toml", "[project]\nname = 1\n")])
            .with(select(&["PYI009", "RUF200", "PYI010"]));
    assert_eq!(project.check("a.pyi"), "PYI009");
    assert_eq!(project.check("pyproject.toml"), "RUF200");
}

#[test]
fn fixes_tags_and_names() {
    let mut project =
        Project::new(&[("a.py", "import os\nimport sys\nprint(sys)\n")]).with(select(&["F401"]));
    let report = project.report("a.py", "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    assert_eq!(found.name.as_deref(), Some("unused-import"));
    assert_eq!(found.message, "`os` imported but unused");
    assert_eq!(found.tags, Tags::UNNECESSARY);
    assert_eq!(found.url.as_deref(), Some("https://docs.astral.sh/ruff/rules/unused-import"));
    let [fix] = &found.fixes[..] else { panic!("{found:?}") };
    assert_eq!(fix.message.as_deref(), Some("Remove unused import: `os`"));
    assert_eq!(fix.applicability, Applicability::Safe);
    assert_eq!((fix.edits[0].span.start, fix.edits[0].span.end), (0, 10));
}

#[test]
fn related_places() {
    let mut project = Project::new(&[("a.py", "def f():\n    return 1\n\n\ndef f():\n    return 2\n")]);
    let report = project.report("a.py", "").unwrap();
    let found = report.diagnostics.iter().find(|it| it.code == "F811").unwrap();
    assert!(!found.related.is_empty(), "{found:?}");
}

#[test]
fn notebooks() {
    let notebook = r##"{"cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": ["x = 1\n", "y = 2"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": ["x\n", "import os"]}
    ], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 4}"##;
    let mut project = Project::new(&[("n.ipynb", notebook)]).with(select(&["F401"]));
    let report = project.report("n.ipynb", "").unwrap();
    assert_eq!(report.cells, ["# Title", "x = 1\ny = 2", "x\nimport os"]);
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    assert_eq!(found.cell, Some(2));
    assert_eq!((found.span.start, found.span.end), (9, 11));
    let edit = &found.fixes[0].edits[0];
    assert_eq!((edit.span.start, edit.span.end, edit.replacement.as_str()), (2, 11, ""));
}
