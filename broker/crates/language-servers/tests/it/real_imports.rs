//! Linters, where they are named (see `isolation.rs`), with rules about what a file imports: what they say is right for
//! the branch, or told to be what they may have read from the disk.

use std::{path::Path, sync::Arc};

use language_servers::Server;

use crate::{bench::Bench, languages::program, real_queries::setup};

const IMPORTS: &str = "import { x } from './b.js';\n\nx();\n";
const NEW: &str = "import { x } from './new.js';\n\nx();\n";
const OTHER: &str = "export const y = () => 1;\n";
const CYCLE: &str = "import './a.js';\n\nexport const x = () => 2;\n";

fn bench(name: &str, folder: &Path, config: (&str, &str)) -> Option<Bench> {
    let program = program(name)?;
    let root = folder.canonicalize().unwrap();
    for (file, text) in
        [config, ("a.js", IMPORTS), ("b.js", "export const x = () => 1;\n"), ("alone.js", "y();\n")]
    {
        std::fs::write(root.join(file), text).unwrap();
    }
    let setup = setup(name, program, &root);
    Some(Bench { disk: Arc::clone(&setup.disk), server: Server::new(setup) })
}

/// About `a.js`, in words that are no server's own.
#[track_caller]
fn check(bench: &Bench, edits: &[(&str, Option<&str>)], want: &str) {
    let says = bench.says(edits, "a.js");
    let what = match says.split_once(" [") {
        _ if says.starts_with("failed") || says.starts_with("pending") => &says,
        Some(_) => "partial",
        None if says.is_empty() => "clean",
        None => "found",
    };
    assert_eq!(what, want, "{edits:?}: {says}");
    // Nothing is imported there.
    assert_eq!(bench.says(edits, "alone.js"), "", "{edits:?}");
}

#[test]
fn biome_may_tell_of_imports_what_it_knew_before() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"{"linter": {"rules": {"recommended": false, "correctness": {"noUnresolvedImports": "error"},
        "suspicious": {"noImportCycles": "error"}}}}"#;
    let Some(bench) = bench("biome", folder.path(), ("biome.json", rules)) else { return };
    check(&bench, &[], "partial");
    check(&bench, &[("b.js", Some(OTHER))], "partial");
    check(&bench, &[("b.js", Some(CYCLE))], "partial");
    check(&bench, &[("b.js", None)], "partial");
}

#[test]
fn biome_without_such_rules_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"{"linter": {"rules": {"recommended": false, "suspicious": {"noDebugger": "error"}}}}"#;
    let Some(bench) = bench("biome", folder.path(), ("biome.json", rules)) else { return };
    check(&bench, &[("b.js", Some(OTHER))], "clean");
    check(&bench, &[("a.js", Some("debugger;\n")), ("b.js", None)], "found");
}

#[test]
fn oxlint_reads_what_is_imported_from_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"{"plugins": ["import"], "rules": {"import/named": "error", "import/no-cycle": "error"}}"#;
    let Some(bench) = bench("oxlint", folder.path(), (".oxlintrc.json", rules)) else { return };
    check(&bench, &[("b.js", Some(OTHER))], "partial");
    check(&bench, &[("b.js", Some(CYCLE))], "partial");
    check(&bench, &[("a.js", Some(NEW)), ("new.js", Some(OTHER))], "partial");
    check(&bench, &[("b.js", None)], "partial");
    let named = IMPORTS.replace("x", "none");
    check(&bench, &[("a.js", Some(&named))], "found");
    check(&bench, &[], "clean");
}

#[test]
fn oxlint_without_such_rules_reads_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#"{"rules": {"no-debugger": "error"}}"#;
    let Some(bench) = bench("oxlint", folder.path(), (".oxlintrc.json", rules)) else { return };
    check(&bench, &[("b.js", Some(OTHER))], "clean");
    check(&bench, &[("b.js", None)], "clean");
    check(&bench, &[("a.js", Some("debugger;\n")), ("b.js", Some(OTHER))], "found");
    assert!(
        bench.says(&[(".oxlintrc.json", Some("{}"))], "a.js").contains('['),
        "its configuration is the disk's"
    );
}

#[test]
fn ty_does_not_find_what_a_new_file_imports_relatively() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = program("ty") else { return };
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("pkg")).unwrap();
    std::fs::write(root.join("pkg/__init__.py"), "").unwrap();
    std::fs::write(root.join("pkg/a.py"), "def f() -> int: return 1\n").unwrap();
    let setup = setup("ty", program, &root);
    let bench = Bench { disk: Arc::clone(&setup.disk), server: Server::new(setup) };
    let says = |import: &str| {
        let text = format!("{import}\nx: str = f()\n");
        bench.says(&[("pkg/new.py", Some(&text))], "pkg/new.py")
    };
    let relative = says("from .a import f");
    assert!(relative.contains("does not find its relative imports"), "{relative}");
    assert!(!relative.contains("Cannot resolve"), "{relative}");
    let absolute = says("from pkg.a import f");
    assert!(absolute.contains("is not assignable to `str`") && !absolute.contains('['), "{absolute}");
}
