//! Tests that answers are the same as ripgrep's on the same tree.

use std::{collections::BTreeSet, path::Path, process::Command};

use overlay::{Base, BaseOptions, View};
use search::{GrepRequest, Index, IndexOptions, Match, Options, grep, walk_options};

use crate::{
    fixture::{Tree, branch, edit, files},
    queries::{Random, queries},
};

/// Names the program, which must be there then.
const RIPGREP: &str = "BROKER_TEST_RG";

/// Ignore files are heard as they are since this version.
const OLDEST: u32 = 14;

const QUERIES: usize = 200;

#[expect(clippy::print_stderr, reason = "what is left out is said")]
fn ripgrep() -> Option<String> {
    let named = std::env::var(RIPGREP).ok();
    let program = named.clone().unwrap_or_else(|| "rg".to_owned());
    let version = Command::new(&program).arg("--version").output().ok();
    let version = version.map(|it| String::from_utf8(it.stdout).unwrap());
    let major = version.and_then(|it| it.strip_prefix("ripgrep ")?.split('.').next()?.parse::<u32>().ok());
    if major.is_some_and(|it| it >= OLDEST) {
        return Some(program);
    }
    assert!(named.is_none(), "{RIPGREP} names no ripgrep of version {OLDEST} or newer: {program}");
    eprintln!("skipped: there is no ripgrep of version {OLDEST} or newer; tests/search/install installs one");
    None
}

/// A line as both programs tell it.
type Line = (String, u64, u64, String);

fn by_ripgrep(program: &str, root: &Path, request: &GrepRequest) -> BTreeSet<Line> {
    let mut command = Command::new(program);
    command.args([
        "--no-config",
        "--no-ignore-global",
        "--no-ignore-parent",
        "--no-messages",
        "--color=never",
    ]);
    command.args(["--no-heading", "--line-number", "--column", "--null", "--with-filename"]);
    command.args(if request.case_sensitive { &["--case-sensitive"][..] } else { &["--ignore-case"] });
    command.args(request.include.iter().flat_map(|it| ["--glob", it]));
    let output = command.args(["-e", &request.query, "./"]).current_dir(root).output().unwrap();
    assert!(output.status.code() != Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = output.stdout.split(|it| *it == b'\n').filter(|it| !it.is_empty());
    lines.filter_map(line).collect()
}

/// `./PATH NUL LINE:COLUMN:TEXT`; `None` for what is said of binary files.
fn line(bytes: &[u8]) -> Option<Line> {
    let text = String::from_utf8_lossy(bytes);
    let Some((path, rest)) = text.split_once('\0') else {
        assert!(text.contains("WARNING: stopped searching binary file"), "{text}");
        return None;
    };
    let mut parts = rest.splitn(3, ':');
    let [line, column] = [(); 2].map(|()| parts.next().unwrap().parse::<u64>());
    let (Ok(line), Ok(column)) = (line, column) else {
        assert!(rest.contains("WARNING: stopped searching binary file"), "{rest}");
        return None;
    };
    Some((path.trim_start_matches("./").to_owned(), line, column, comparable(parts.next().unwrap())))
}

/// Long lines are shown in part.
fn comparable(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    if text.len() < 900 { text.to_owned() } else { String::new() }
}

fn by_search(view: &dyn View, index: Option<&Index>, request: &GrepRequest) -> BTreeSet<Line> {
    let options = Options { walk: &walk_options(None), threads: 2, cancel: &|| false };
    let answer = grep(view, index, request, &options).unwrap();
    assert_eq!((answer.truncated, answer.unsearched), (false, 0), "{}", request.query);
    assert_eq!(answer.total_matches, answer.matches.len() as u64);
    let line = |it: Match| (it.path.to_string(), it.line, it.column, comparable(&it.text));
    answer.matches.into_iter().map(line).collect()
}

fn compare(
    program: &str,
    root: &Path,
    view: &dyn View,
    index: Option<&Index>,
    request: &GrepRequest,
) -> usize {
    let (own, theirs) = (by_search(view, index, request), by_ripgrep(program, root, request));
    let missing: Vec<_> = theirs.difference(&own).take(3).collect();
    let added: Vec<_> = own.difference(&theirs).take(3).collect();
    assert!(missing.is_empty() && added.is_empty(), "{request:?}: missing {missing:?}, added {added:?}");
    own.len()
}

#[test]
fn queries_find_what_ripgrep_finds() {
    let Some(program) = ripgrep() else { return };
    let tree = Tree::new();
    let base = Base::open(tree.root(), BaseOptions::default()).unwrap();
    let files = files(&base);
    let (_folder, index) = indexed(&base);
    let mut found = 0;
    for (number, request) in queries(&base, &files, QUERIES, &mut Random(1)).into_iter().enumerate() {
        let index = (number % 8 > 0).then_some(&index);
        found += compare(&program, tree.root(), &base, index, &request);
    }
    assert!(found > QUERIES, "{found} lines of {} files", files.len());
}

#[test]
fn queries_on_a_branch_find_what_ripgrep_finds_in_its_files() {
    let Some(program) = ripgrep() else { return };
    let tree = Tree::new();
    let edited = tree.copied();
    let mut branch = branch(tree.root());
    let mut random = Random(2);
    let before = files(&branch.snapshot());
    edit(&mut branch, edited.root(), &before, 100, &mut random);
    let snapshot = branch.snapshot();
    let after = files(&snapshot);
    assert_ne!(before, after);
    let (_folder, index) = indexed(&snapshot);
    for request in queries(&snapshot, &after, QUERIES, &mut random) {
        compare(&program, edited.root(), &snapshot, Some(&index), &request);
    }
}

#[test]
fn special_files_are_searched_as_ripgrep_does() {
    let Some(program) = ripgrep() else { return };
    let tree = Tree::new();
    let base = Base::open(&tree.root().join("special"), BaseOptions::default()).unwrap();
    let (_folder, index) = indexed(&base);
    for query in ["struct", "kelvin", "mask", "STRASSE", "àé", r"caf\xe9", "last_line", r"\w+;", "^$", "[^x]"]
    {
        for case_sensitive in [true, false] {
            for include in [vec![], vec!["*.txt".to_owned()], vec!["!*.rs".to_owned()]] {
                let request =
                    GrepRequest { case_sensitive, include, limit: usize::MAX, ..GrepRequest::new(query) };
                for index in [None, Some(&index)] {
                    compare(&program, base.disk().root(), &base, index, &request);
                }
            }
        }
    }
}

/// An index of the folder that the view lies over.
fn indexed(view: &dyn View) -> (tempfile::TempDir, Index) {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), IndexOptions::default()).unwrap();
    let options = Options { walk: &walk_options(None), threads: 2, cancel: &|| false };
    index.update(view, &options, &|_| ()).unwrap();
    (folder, index)
}
