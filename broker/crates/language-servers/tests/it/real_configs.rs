//! Configuration that other configuration names, with real servers: what a branch has there is not seen and told to be
//! so, and what changes on the disk is.

use std::{path::Path, sync::Arc};

use language_servers::{DiskChange, Server};

use crate::{
    bench::{Bench, path, said},
    languages::{language, program},
};

struct Case {
    server: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The file that configuration names, and what finds nothing in its stead.
    named: (&'static str, &'static str),
    unit: &'static str,
    finds: &'static str,
}

#[track_caller]
fn check(case: &Case) {
    let Some(program) = program(case.server) else { return };
    let folder = tempfile::tempdir().unwrap();
    let setup = language(case.server).setup(case.server, program, folder.path());
    for (name, text) in case.files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let bench = Bench { disk: Arc::clone(&setup.disk), server: Server::new(setup) };
    let ask = |edits: &[(&str, Option<&str>)]| said(&bench.ask(&bench.view(edits), &[case.unit])[0]);
    assert!(ask(&[]).contains(case.finds), "{}", ask(&[]));
    let (named, other) = case.named;
    let unseen = format!("[`{named}` is another one on the disk, which is what {} reads]", case.server);
    for edit in [Some(other), None] {
        let told = ask(&[(named, edit)]);
        assert!(told.ends_with(&unseen), "{told}");
    }
    assert!(!ask(&[("unnamed.json", Some("{}"))]).contains('['), "{}", ask(&[("unnamed.json", Some("{}"))]));
    write(&bench, folder.path(), named, other);
    assert!(!ask(&[]).contains(case.finds), "{}", ask(&[]));
}

fn write(bench: &Bench, root: &Path, name: &str, text: &str) {
    std::fs::write(root.join(name), text).unwrap();
    bench.server.disk_changed(vec![(path(name), DiskChange::Changed)]);
}

#[test]
fn pyright() {
    for server in ["pyright", "basedpyright"] {
        check(&Case {
            server,
            files: &[
                ("a.py", "import nothing\n"),
                ("base.json", r#"{"reportMissingImports": "error"}"#),
                ("pyrightconfig.json", r#"{"extends": "./base.json"}"#),
            ],
            named: ("base.json", r#"{"reportMissingImports": "none"}"#),
            unit: "a.py",
            finds: "could not be resolved",
        });
    }
}

#[test]
fn oxlint() {
    check(&Case {
        server: "oxlint",
        files: &[
            ("a.js", "debugger;\n"),
            ("base.json", r#"{"rules": {"no-debugger": "error"}}"#),
            (".oxlintrc.json", r#"{"extends": ["./base.json"], "categories": {"correctness": "off"}}"#),
        ],
        named: ("base.json", r#"{"rules": {}}"#),
        unit: "a.js",
        finds: "debugger",
    });
}

#[test]
fn biome() {
    check(&Case {
        server: "biome",
        files: &[
            ("a.js", "debugger;\n"),
            ("base.json", r#"{"linter": {"rules": {"suspicious": {"noDebugger": "error"}}}}"#),
            ("biome.json", r#"{"extends": ["./base.json"]}"#),
        ],
        named: ("base.json", r#"{"linter": {"rules": {"suspicious": {"noDebugger": "off"}}}}"#),
        unit: "a.js",
        finds: "debugger",
    });
}

#[test]
fn eslint() {
    check(&Case {
        server: "eslint",
        files: &[
            ("a.js", "debugger;\n"),
            ("rules.mjs", "export default { 'no-debugger': 'error' };\n"),
            ("eslint.config.mjs", "import rules from './rules.mjs';\nexport default [{ rules }];\n"),
        ],
        named: ("rules.mjs", "export default {};\n"),
        unit: "a.js",
        finds: "debugger",
    });
}
