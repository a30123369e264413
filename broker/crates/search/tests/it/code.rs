//! Code search over a real folder that changes.

use std::{fs, sync::Arc};

use overlay::{Base, BaseOptions, Branch, View, WorkspacePath};
use search::{CodeAnswer, CodeIndex, CodeRequest, IndexOptions, Options, walk_options};

use crate::fixture::{Tree, files};

fn update(index: &CodeIndex, view: &dyn View) {
    let walk = walk_options(None);
    index.update(view, &Options { walk: &walk, threads: 2, cancel: &|| false }, &|_| ()).unwrap();
}

fn ask(index: &CodeIndex, view: &dyn View, query: &str) -> CodeAnswer {
    let walk = walk_options(None);
    let options = Options { walk: &walk, threads: 2, cancel: &|| false };
    index.search(view, &CodeRequest { query, limit: 5, scorer: None }, &options).unwrap()
}

fn symbols(index: &CodeIndex, view: &dyn View, query: &str) -> Vec<String> {
    ask(index, view, query).matches.into_iter().map(|it| format!("{} {}", it.path, it.symbol)).collect()
}

#[test]
fn what_changes_on_the_disk_and_in_a_branch_is_found_at_once() {
    let (tree, private, kept) = (Tree::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = tree.copied();
    let base = Base::open(root.root(), BaseOptions::default()).unwrap();
    let _watch = base.watch(private.path(), |_| ()).unwrap();
    let index = CodeIndex::open(kept.path(), IndexOptions::default()).unwrap();
    update(&index, &base);
    let total = files(&base).len();
    let query = "zebra crossing controller";
    let coverage = ask(&index, &base, query).coverage;
    // Links have no content of their own.
    assert_eq!((coverage.indexed, coverage.total), (total, total));
    let path = root.root().join("new.rs");
    fs::write(&path, "struct ZebraCrossingController;\n").unwrap();
    let zebra = "new.rs ZebraCrossingController";
    assert_eq!(symbols(&index, &base, query)[0], zebra);
    let mut branch = Branch::new(Arc::new(base.clone()));
    let text = "def zebra_crossing_controller():\n    pass\n";
    branch.write(&WorkspacePath::new("zebra.py").unwrap(), text.into()).unwrap();
    let found = symbols(&index, &branch.snapshot(), query);
    assert_eq!(found[..2], ["zebra.py zebra_crossing_controller", zebra]);
    assert_eq!(symbols(&index, &base, query)[0], zebra, "the branch is no part of the folder");
    fs::remove_file(path).unwrap();
    assert!(!symbols(&index, &base, query).contains(&zebra.to_owned()));
}
