//! Exclusions by a configuration of flake8.

use broker_plugin_sdk::{
    DEFAULT, Settings,
    testing::{select, settings, told},
};

use super::{Project, UNUSED};

const TWO: &str = "import os\nraise NotImplemented\n";

#[test]
fn excluded_files_and_folders() {
    let config = "[flake8]\nexclude =\n    third,\n    # made by protoc\n    *_pb2.py,./gen/*.py\n    lib/{a}\nextend_exclude = docs/, old**\n";
    let mut project = Project::new(&[
        (".flake8", config),
        ("third/deep/a.py", UNUSED),
        ("lib/third/a.py", UNUSED),
        ("lib/x_pb2.py", UNUSED),
        ("gen/deep/a.py", UNUSED),
        ("docs/conf.py", UNUSED),
        ("lib/older.py", UNUSED),
        ("lib/{a}/a.py", UNUSED),
        ("lib/a/a.py", UNUSED),
        ("lib/docs/conf.py", UNUSED),
        ("lib/gen/a.py", UNUSED),
    ]);
    for path in [
        "third/deep/a.py",
        "lib/third/a.py",
        "lib/x_pb2.py",
        "gen/deep/a.py",
        "docs/conf.py",
        "lib/older.py",
        "lib/{a}/a.py",
    ] {
        assert_eq!(project.check(path), "excluded", "{path}");
        assert_eq!(project.check_explicit(path), "F401", "{path}");
    }
    for path in ["lib/a/a.py", "lib/docs/conf.py", "lib/gen/a.py"] {
        assert_eq!(project.check(path), "F401", "{path}");
    }
    assert_eq!(told(project.report("third/deep/a.py", "third")), "F401", "a folder that the user named");
}

#[test]
fn excluded_by_default() {
    let files = [("tox.ini", "[flake8]\n"), ("x.egg/a.py", UNUSED), ("CVS/a.py", UNUSED)];
    let mut project = Project::new(&files);
    assert_eq!(
        (project.check("x.egg/a.py"), project.check("CVS/a.py")),
        ("excluded".into(), "excluded".into())
    );
    assert_eq!(Project::new(&files[1..]).check("x.egg/a.py"), "F401");
    let mut own = Project::new(&[("tox.ini", "[flake8]\nexclude = a\n"), files[1]]);
    assert_eq!(own.check("x.egg/a.py"), "F401");
}

#[test]
fn ignored_rules() {
    let check = |config: &str| Project::new(&[("setup.cfg", config), ("a.py", TWO)]).check("a.py");
    assert_eq!(check("[flake8]\nignore = E203,W503 F401\n"), "F901");
    assert_eq!(check("[flake8]\nextend-ignore =\n    F,\n    E\n"), "");
    assert_eq!(check("[flake8]\nignore = F4\nselect = F\n"), "F901");
    assert_eq!(check("[flake8]\nignore = F\nextend-select = F40\n"), "F401");
    assert_eq!(check("[flake8]\nignore =\n"), "F401 F901");
    assert_eq!(check("[pycodestyle]\nignore = F\n"), "F401 F901");
    let mut unparsed = Project::new(&[
        (".flake8", "[flake8]\nper-file-ignores = t/*:E999\n"),
        ("t/a.py", "x ="),
        ("b.py", "x ="),
    ]);
    assert_eq!((unparsed.check("t/a.py"), unparsed.check("b.py")), (String::new(), "invalid-syntax".into()));
}

#[test]
fn ignored_rules_of_files() {
    let config = "[flake8]\nper-file-ignores =\n    __init__.py: F401\n    tests/*.py,tools/run.py: F9\n    tests/unit/*: F401\n";
    let mut project = Project::new(&[
        ("py/.flake8", config),
        ("py/a.py", TWO),
        ("py/deep/__init__.py", TWO),
        ("py/tests/deep/a.py", TWO),
        ("py/tests/unit/a.py", TWO),
        ("tests/a.py", TWO),
    ]);
    assert_eq!(project.check("py/a.py"), "F401 F901");
    assert_eq!(project.check("py/deep/__init__.py"), "F901");
    assert_eq!(project.check("py/tests/deep/a.py"), "F401");
    assert_eq!(project.check("py/tests/unit/a.py"), "F901", "the longest pattern alone");
    assert_eq!(project.check("tests/a.py"), "F401 F901");
    assert!(!project.is_on("py/tests/deep/a.py", "F901") && project.is_on("py/a.py", "F901"));
    assert_eq!(project.config("py/a.py").as_deref(), Some("py/.flake8"));
}

#[test]
fn each_configuration_above_a_file_counts() {
    let files = [
        (".flake8", "[flake8]\nexclude = py/gen\nignore = F901\n"),
        ("py/tox.ini", "[tox]\n"),
        ("py/setup.cfg", "[flake8]\nextend-ignore = F401\nextend-exclude = old\n"),
        ("py/.flake8", "[flake8]\nexclude = *\n"),
        ("py/a.py", TWO),
        ("py/gen/a.py", TWO),
        ("py/old/a.py", TWO),
        ("old/a.py", TWO),
    ];
    let mut project = Project::new(&files);
    let mut check = |path: &str| project.check(path);
    assert_eq!([check("py/a.py"), check("old/a.py")], ["", "F401"]);
    assert_eq!([check("py/gen/a.py"), check("py/old/a.py")], ["excluded", "excluded"]);
}

#[test]
fn it_does_not_count_where_ruff_is_configured_or_rules_are_selected() {
    let flake8 = (".flake8", "[flake8]\nexclude = a.py\nextend-ignore = F\n");
    let files = [flake8, ("a.py", UNUSED), ("in/a.py", UNUSED), ("in/.flake8", flake8.1)];
    let check = |config: &[(&str, &str)], settings: Settings| {
        let mut project = Project::new(&[&files[..], config].concat()).with(settings);
        (project.check("a.py"), project.check("in/a.py"))
    };
    let found = |text: &str| (text.to_owned(), text.to_owned());
    assert_eq!(check(&[], settings()), found("excluded"));
    assert_eq!(check(&[("ruff.toml", "lint.select = ['F401']\n")], settings()), found("F401"));
    assert_eq!(check(&[], select(&["F401"])), found("F401"));
    let mut more = Project::new(&[("setup.cfg", "[flake8]\nignore = F\n"), ("a.py", TWO)])
        .with(select(&[DEFAULT, "F9"]));
    assert_eq!(more.check("a.py"), "F901", "who asks is told");
    assert_eq!(check(&[], Settings { isolated: true, ..settings() }), found("F401"));
}

#[test]
fn a_configuration_that_is_broken_leaves_out_what_it_can() {
    let mut project = Project::new(&[
        (".flake8", "[flake8]\nexclude = a[, b.py\nignore = # F401\nper-file-ignores = :, a.py F\n"),
        ("a.py", UNUSED),
        ("b.py", UNUSED),
        ("c/.flake8", "[flake8\n"),
        ("c/c.py", UNUSED),
    ]);
    assert_eq!([project.check("a.py"), project.check("b.py")], ["", "excluded"]);
    assert_eq!(project.check("c/c.py"), "");
}
