//! The scans against syntax trees: each import that the tree of a text has, the scan of that text finds, too.
//!
//! The texts are those of the tests of each language, some of the project's own, and all below `BROKER_TEST_SOURCES` if
//! that names a folder. With `--nocapture`, the time that each way takes is printed. Left out are texts that do not fit
//! the grammar, and what a scan finds besides, which is too much rather than wrong.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
    time::{Duration, Instant},
};

use bytes::Bytes;
use overlay::{ContentHash, WorkspacePath};
use syntax::{Trees, Unparsed};

use super::{Language, READ};

static TREES: LazyLock<Trees> = LazyLock::new(|| Trees::new(1 << 20));

/// Captures are named by how the scan has what they capture: see [`wanted`].
const C: &str = "(preproc_include path: [(string_literal) (system_lib_string)] @file)";

const GO: &str = "(import_spec path: (_) @string)";

const PYTHON: &str = r#"
    (import_statement name: [(dotted_name) @name (aliased_import name: (dotted_name) @name)])
    (import_from_statement module_name: (_) @from)
    (call
        function: [(identifier) @_called (attribute attribute: (identifier) @_called)]
        arguments: (argument_list . (string . (string_start) . (string_content) @name . (string_end)))
        (#any-of? @_called "import_module" "__import__" "importorskip"))
"#;

const RUST: &str = "
    (mod_item name: (identifier) @name)
    (extern_crate_declaration name: (identifier) @name)
    (use_declaration argument: (identifier) @name)
    (use_list (identifier) @name)
    (use_as_clause path: (identifier) @name)
    (scoped_use_list path: (identifier) @name)
    (scoped_identifier path: (identifier) @name)
    (scoped_type_identifier path: (identifier) @name)
    (scoped_identifier path: (crate) name: (identifier) @of-crate)
    (scoped_use_list path: (crate) list: (use_list (identifier) @name))
    (macro_invocation macro: (identifier) @macro)
    (macro_definition name: (identifier) @defined)
";

const SCRIPT: &str = r#"
    (import_statement source: (string . (string_fragment) @name .))
    (export_statement source: (string . (string_fragment) @name .))
    (call_expression function: (import) arguments: (arguments . (string . (string_fragment) @name .)))
    (call_expression
        function: (identifier) @_called
        arguments: (arguments . (string . (string_fragment) @name .))
        (#any-of? @_called "require" "importScripts"))
"#;

/// A name as the scan should have it; `None` for what only helps to find others.
fn wanted(capture: &str, text: &str) -> Option<String> {
    let plain = || text.split(|it: char| it.is_whitespace() || it == '\\').collect::<String>();
    let identifier = text.trim_start_matches("r#");
    Some(match capture {
        "name" => plain().trim_start_matches("r#").to_owned(),
        // With what is imported from it, which follows.
        "from" => format!("{}:", plain()),
        "string" => text.trim_matches(['"', '`']).to_owned(),
        "file" => format!("{}{}", &text[..1], text[1..].trim_end_matches(['"', '>']).trim()),
        "of-crate" => format!("crate::{identifier}"),
        "macro" => format!("{identifier}!"),
        "defined" => format!("={identifier}!"),
        _ => return None,
    })
}

#[derive(Default)]
struct Compared {
    files: usize,
    bytes: usize,
    imports: usize,
    scan: Duration,
    tree: Duration,
    /// Imports that only the tree has.
    missing: Vec<String>,
}

impl Compared {
    fn add(&mut self, path: &Path, text: Bytes) {
        let Some((language, grammar)) = languages(path) else { return };
        let start = Instant::now();
        let said = language.said(&text);
        let scanned = Instant::now();
        let imports = match imports(language, grammar, &text) {
            Ok(Some(it)) => it,
            Ok(None) => return,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        self.tree += scanned.elapsed();
        self.scan += scanned - start;
        self.files += 1;
        self.bytes += text.len();
        self.imports += imports.len();
        let names: BTreeSet<_> = said.lines().collect();
        let has = |it: &String| {
            names.contains(&**it) || it.ends_with(':') && names.iter().any(|name| name.starts_with(&**it))
        };
        let missing = imports.iter().filter(|it| !has(it));
        self.missing.extend(missing.map(|it| format!("{}: {it}", path.display())));
    }
}

/// Language of a file for the scan, and its grammar, if there is one.
fn languages(path: &Path) -> Option<(Language, syntax::Language)> {
    let name = WorkspacePath::new(path.file_name()?.to_str()?).ok()?;
    Some((Language::of(name.extension()?)?, syntax::Language::of(&name)?))
}

/// Returns the imports in the tree of a text; `None` if the text does not fit the grammar.
fn imports(
    language: Language,
    grammar: syntax::Language,
    text: &Bytes,
) -> Result<Option<BTreeSet<String>>, Unparsed> {
    let tree = TREES.tree(grammar, text.clone(), ContentHash::of(text), &|| false)?;
    if tree.has_error() {
        return Ok(None);
    }
    let query = match language {
        Language::C => C,
        Language::Go => GO,
        Language::Python => PYTHON,
        Language::Rust => RUST,
        Language::Script => SCRIPT,
    };
    let query = TREES.query(grammar, query).unwrap();
    let names = query.names();
    let found = query.run(&tree, &|| false)?;
    let captures = found.table.as_chunks().0.iter().filter_map(|[_, _, name, start, end]| {
        let text = str::from_utf8(&text[*start as usize..*end as usize]).ok()?;
        wanted(&names[*name as usize], text)
    });
    Ok(Some(captures.collect()))
}

/// Every file below a folder, but for what is built or installed.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|it| it.unwrap()) {
            let kind = entry.file_type().unwrap();
            if kind.is_file() {
                found.push(entry.path());
            } else if kind.is_dir() && !["target", ".git"].contains(&&*entry.file_name().to_string_lossy()) {
                folders.push(entry.path());
            }
        }
    }
    found
}

/// Folders of the project with texts in several languages.
const OWN: [&str; 3] = ["broker/crates/imports", "examples", "sdk"];

/// A text of a test.
#[track_caller]
pub(super) fn check(name: &str, text: &str) {
    let mut compared = Compared::default();
    compared.add(Path::new(name), Bytes::copy_from_slice(text.as_bytes()));
    assert!(compared.missing.is_empty(), "only the tree has these: {:?} of {text:?}", compared.missing);
}

#[test]
fn a_scan_finds_what_a_tree_has() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let more = std::env::var_os("BROKER_TEST_SOURCES").map(PathBuf::from);
    let mut all: BTreeMap<&str, Compared> = BTreeMap::new();
    for path in OWN.map(|it| project.join(it)).into_iter().chain(more).flat_map(files) {
        let Some((_, grammar)) = languages(&path) else { continue };
        let text = Bytes::from(fs::read(&path).unwrap());
        all.entry(grammar.name()).or_default().add(&path, text.slice(..text.len().min(READ)));
    }
    for (grammar, Compared { files, bytes, imports, scan, tree, .. }) in &all {
        println!(
            "{grammar}: {files} files, {bytes} bytes, {imports} imports, scan {scan:.0?}, tree {tree:.0?}"
        );
    }
    let missing: Vec<_> = all.values().flat_map(|it| &it.missing).map(String::as_str).collect();
    assert!(missing.is_empty(), "only the tree has these:\n{}", missing.join("\n"));
    assert!(["c", "javascript", "python", "rust", "typescript"].iter().all(|it| all[it].imports > 0));
}
