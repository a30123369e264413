//! Tests of what the index contains, and that it never decides an answer.

use std::{path::PathBuf, sync::Arc};

use overlay::{Branch, Memory, WorkspacePath};
use parking_lot::Mutex;

use super::*;
use crate::{GrepAnswer, GrepRequest, grep, walk_options};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn update(index: &Index, view: &dyn View) -> IndexStats {
    let walk = walk_options(None);
    index.update(view, &Options { walk: &walk, threads: 2, cancel: &|| false }, &|_| ()).unwrap()
}

fn ask(view: &dyn View, index: &Index, query: &str) -> GrepAnswer {
    let walk = walk_options(None);
    let options = Options { walk: &walk, threads: 2, cancel: &|| false };
    grep(view, Some(index), &GrepRequest::new(query), &options).unwrap()
}

fn numbered(count: usize) -> Memory {
    Memory::from_files((0..count).map(|it| (format!("f{it:04}"), format!("number_{it:04} common")))).unwrap()
}

fn segment_files(folder: &Path) -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the index is no workspace")]
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|it| it.unwrap().path()).collect()
}

#[test]
fn files_that_cannot_match_are_not_read() {
    let (folder, tree) = (tempfile::tempdir().unwrap(), numbered(300));
    let index = Index::open(folder.path(), IndexOptions::default()).unwrap();
    let before = ask(&tree, &index, "number_0123");
    assert_eq!((before.scanned, before.from_index, before.total_matches), (300, 0, 1));
    let stats = update(&index, &tree);
    assert_eq!((stats.segments, stats.documents), (1, 300));
    let after = ask(&tree, &index, "number_0123");
    assert_eq!((after.scanned, after.from_index), (1, 299));
    assert_eq!(after.matches, before.matches);
    let mut branch = Branch::new(Arc::new(tree));
    branch.write(&path("f0000"), "number_0123".into()).unwrap();
    branch.create_dir(&path("moved")).unwrap();
    branch.rename(&path("f0123"), &path("moved/there")).unwrap();
    let edited = ask(&branch.snapshot(), &index, "number_0123");
    let paths: Vec<_> = edited.matches.iter().map(|it| it.path.as_str()).collect();
    assert_eq!((paths, edited.scanned), (vec!["f0000", "moved/there"], 2));
}

#[test]
fn a_later_process_finds_what_was_indexed_and_believes_no_broken_file() {
    let (folder, tree) = (tempfile::tempdir().unwrap(), numbered(300));
    let options = IndexOptions::default();
    let stats = update(&Index::open(folder.path(), options).unwrap(), &tree);
    let again = Index::open(folder.path(), options).unwrap();
    assert_eq!(again.stats(), stats);
    assert_eq!(ask(&tree, &again, "number_0123").scanned, 1);
    drop(again);
    let [file] = &segment_files(folder.path())[..] else { panic!("one segment is one file") };
    #[expect(clippy::disallowed_methods, reason = "the index is no workspace")]
    let whole = std::fs::read(file).unwrap();
    for broken in [&whole[..whole.len() - 1], b"", &[&whole[..500], b"x", &whole[501..]].concat()] {
        #[expect(clippy::disallowed_methods, reason = "the index is no workspace")]
        std::fs::write(file, broken).unwrap();
        let index = Index::open(folder.path(), options).unwrap();
        assert_eq!(index.stats(), IndexStats::default());
        assert!(segment_files(folder.path()).is_empty());
        assert_eq!(ask(&tree, &index, "number_0123").total_matches, 1);
    }
}

#[test]
fn few_new_files_are_searched_and_many_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), IndexOptions::default()).unwrap();
    update(&index, &numbered(300));
    assert_eq!(update(&index, &numbered(400)).documents, 300);
    let answer = ask(&numbered(400), &index, "number_0399");
    assert_eq!((answer.total_matches, answer.scanned), (1, 100));
    assert_eq!(update(&index, &numbered(600)).documents, 600);
    assert_eq!(ask(&numbered(600), &index, "number_0399").scanned, 1);
}

#[test]
fn segments_of_what_is_gone_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), IndexOptions::default()).unwrap();
    update(&index, &numbered(300));
    let others = (0..300).map(|it| (format!("f{it:04}"), format!("another {it}")));
    let stats = update(&index, &Memory::from_files(others).unwrap());
    assert_eq!((stats.segments, stats.documents, segment_files(folder.path()).len()), (1, 300, 1));
}

#[test]
fn many_small_segments_become_one() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), IndexOptions::default()).unwrap();
    let segments: Vec<_> = (1..=11).map(|it| update(&index, &numbered(it * 260)).segments).collect();
    assert_eq!(segments, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2]);
    assert_eq!(index.stats().documents, 11 * 260);
}

#[test]
fn what_does_not_fit_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), IndexOptions { max_bytes: 0 }).unwrap();
    let tree = numbered(300);
    assert_eq!(update(&index, &tree), IndexStats::default());
    assert_eq!(ask(&tree, &index, "number_0123").total_matches, 1);
}

#[test]
fn progress_ends_with_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), IndexOptions::default()).unwrap();
    let last = Mutex::new(Vec::new());
    let walk = walk_options(None);
    let options = Options { walk: &walk, threads: 2, cancel: &|| false };
    index.update(&numbered(300), &options, &|it| last.lock().push(it.indexed)).unwrap();
    assert_eq!(last.into_inner().into_iter().max(), Some(300));
    let cancelled = Options { cancel: &|| true, ..options };
    assert!(matches!(index.update(&numbered(300), &cancelled, &|_| ()), Err(UpdateError::Cancelled(_))));
}
