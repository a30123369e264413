//! Whatever the index knows, the answer is that of a plain scan.

use std::{fs, path::Path, sync::Arc};

use overlay::{Base, BaseOptions, Branch, Memory, View, WorkspacePath};
use proptest::prelude::*;
use search::{GrepAnswer, GrepRequest, Index, IndexOptions, Options, grep, walk_options};

use crate::{
    fixture::{Tree, edit, files},
    queries::Random,
};

fn update(index: &Index, view: &dyn View) {
    let walk = walk_options(None);
    index.update(view, &Options { walk: &walk, threads: 2, cancel: &|| false }, &|_| ()).unwrap();
}

fn ask(view: &dyn View, index: Option<&Index>, request: &GrepRequest) -> GrepAnswer {
    let walk = walk_options(None);
    grep(view, index, request, &Options { walk: &walk, threads: 2, cancel: &|| false }).unwrap()
}

/// Compares what is found with and without the index.
fn compare(view: &dyn View, index: &Index, query: &str) -> GrepAnswer {
    for case_sensitive in [true, false] {
        let request = GrepRequest { case_sensitive, limit: 10_000, ..GrepRequest::new(query) };
        let (with, without) = (ask(view, Some(index), &request), ask(view, None, &request));
        assert_eq!(with.matches, without.matches, "{query}");
        assert_eq!(with.total_matches, without.total_matches, "{query}");
        assert_eq!(with.files_with_matches, without.files_with_matches, "{query}");
    }
    ask(view, Some(index), &GrepRequest::new(query))
}

const WORDS: [&str; 8] = ["alpha", "ALPHABET", "beta", "betaalpha", "gam\nma", "x", "é", "alp\0ha"];
const QUERIES: [&str; 9] =
    ["alpha", "bet", "(alpha|gam).*beta", "a[lx]pha", r"\bbeta", "é", "beta ?alpha", "zeta", ".x"];
const PATHS: [&str; 8] = ["a", "b", "d/a", "d/b", "d/e/a", "f/a", "f/.hidden", "f/.gitignore"];

#[derive(Debug, Clone)]
enum Step {
    Write(usize, Vec<usize>),
    Remove(usize),
    Rename(usize, usize),
    /// The index learns what the base is, or the branch.
    Update,
    /// Writes as [`Step::Write`], below the branch.
    WriteBase(usize, Vec<usize>),
}

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    let text = || prop::collection::vec(0..WORDS.len(), 0..5);
    prop_oneof![
        3 => (path(), text()).prop_map(|(path, text)| Step::Write(path, text)),
        1 => path().prop_map(Step::Remove),
        1 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => Just(Step::Update),
        2 => (path(), text()).prop_map(|(path, text)| Step::WriteBase(path, text)),
    ]
}

fn path(index: usize) -> WorkspacePath {
    WorkspacePath::new(PATHS[index]).unwrap()
}

fn text(words: &[usize]) -> String {
    words.iter().map(|it| WORDS[*it]).collect::<Vec<_>>().join(" ")
}

fn write(root: &Path, index: usize, words: &[usize]) {
    let file = root.join(PATHS[index]);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text(words)).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_half_built_index_changes_no_answer(steps in prop::collection::vec(step(), 1..16), is_watched: bool) {
        let [folder, private, kept] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        (0..PATHS.len()).for_each(|it| write(folder.path(), it, &[it, 0]));
        let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
        let _watch = is_watched.then(|| base.watch(private.path(), |_| ()).unwrap());
        let index = Index::open(kept.path(), IndexOptions::default()).unwrap();
        let mut branch = Branch::new(Arc::new(base.clone()));
        for step in steps {
            // Files that cannot be edited stay as they are.
            match step {
                Step::Write(at, words) => _ = branch.write(&path(at), text(&words).into()),
                Step::Remove(at) => _ = branch.remove(&path(at)),
                Step::Rename(from, to) => _ = branch.rename(&path(from), &path(to)),
                Step::Update => update(&index, &branch.snapshot()),
                Step::WriteBase(at, words) => write(folder.path(), at, &words),
            }
            for query in QUERIES {
                compare(&base, &index, query);
                compare(&branch.snapshot(), &index, query);
            }
        }
    }

    #[test]
    fn a_view_without_a_folder_is_searched_by_content(texts in prop::collection::vec(prop::collection::vec(0..WORDS.len(), 0..5), 8)) {
        let kept = tempfile::tempdir().unwrap();
        let index = Index::open(kept.path(), IndexOptions::default()).unwrap();
        let tree = |skipped: usize| {
            let files = texts.iter().enumerate().filter(|(at, _)| at % 3 != skipped);
            Memory::from_files(files.map(|(at, words)| (PATHS[at], text(words)))).unwrap()
        };
        update(&index, &tree(0));
        for query in QUERIES {
            compare(&tree(0), &index, query);
            compare(&tree(1), &index, query);
        }
    }
}

#[test]
fn a_watched_folder_is_searched_without_a_look_at_most_files() {
    let (tree, private, kept) = (Tree::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let copy = tree.copied();
    let base = Base::open(copy.root(), BaseOptions::default()).unwrap();
    let _watch = base.watch(private.path(), |_| ()).unwrap();
    let index = Index::open(kept.path(), IndexOptions::default()).unwrap();
    update(&index, &base);
    let mut branch = Branch::new(Arc::new(base.clone()));
    let all = files(&base);
    let scratch = tree.copied();
    edit(&mut branch, scratch.root(), &all, 100, &mut Random(3));
    fs::write(copy.root().join("new.rs"), "struct UniqueNameOfThisTest;").unwrap();
    for query in ["struct", "fn main", "unwrap.*expect", "UniqueNameOfThisTest", "(impl|trait) [A-Z]"] {
        compare(&base, &index, query);
        compare(&branch.snapshot(), &index, query);
    }
    let answer = compare(&branch.snapshot(), &index, "UniqueNameOfThisTest");
    assert_eq!(answer.total_matches, 1);
    assert!(answer.scanned < all.len() as u64 / 5 && answer.from_index > all.len() as u64 / 2, "{answer:?}");
}
