//! Chunks of small trees, indexed or not.

use overlay::{Branch, Memory};

use super::*;
use crate::walk_options;

const HTTP: &str = "/// Sends a request.\npub fn send_http_request(url: &str) {\n    connect(url);\n}\n\npub fn connect(url: &str) {\n    open_socket(url);\n}\n";
const PARSER: &str = "class JsonParser:\n    def parse_object(self, text):\n        return self.parse_value(text)\n\n\ndef unrelated():\n    pass\n";

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn tree() -> Memory {
    Memory::from_files([
        ("src/http.rs", HTTP),
        ("src/copy_of_http.rs", HTTP),
        ("lib/json.py", PARSER),
        ("docs/guide.md", "# Requests\n\nHow an HTTP request is sent.\n\n# Parsing\n\nObjects are parsed.\n"),
        ("data.bin", "http request \0"),
        ("min.js", &"httpRequest();".repeat(100)),
    ])
    .unwrap()
}

fn ask(index: &CodeIndex, view: &dyn View, query: &str, scorer: Option<&dyn Scorer>) -> CodeAnswer {
    let walk = walk_options(None);
    let options = Options { walk: &walk, threads: 2, cancel: &|| false };
    index.search(view, &CodeRequest { query, limit: 3, scorer }, &options).unwrap()
}

fn found(index: &CodeIndex, view: &dyn View, query: &str) -> Vec<String> {
    let show = |it: CodeMatch| format!("{}:{}-{} {}", it.path, it.first_line, it.last_line, it.symbol);
    ask(index, view, query, None).matches.into_iter().map(show).collect()
}

fn update(index: &CodeIndex, view: &dyn View) -> IndexStats {
    let walk = walk_options(None);
    index.update(view, &Options { walk: &walk, threads: 2, cancel: &|| false }, &|_| ()).unwrap()
}

#[test]
fn chunks_are_found_by_their_words() {
    let folder = tempfile::tempdir().unwrap();
    let index = CodeIndex::open(folder.path(), IndexOptions::default()).unwrap();
    for is_indexed in [false, true] {
        if is_indexed {
            assert_eq!(update(&index, &tree()).documents, 5);
        }
        let sending = found(&index, &tree(), "where are HTTP requests sent?");
        let wanted = ["docs/guide.md:1-4 Requests", "src/copy_of_http.rs:1-4 send_http_request"];
        assert_eq!(sending[..2], wanted, "{is_indexed}");
        assert_eq!(found(&index, &tree(), "sendHttpRequest")[0], wanted[1]);
        assert_eq!(found(&index, &tree(), "parseObject")[0], "lib/json.py:1-3 JsonParser");
        assert_eq!(found(&index, &tree(), "no_such_thing"), [""; 0]);
        assert_eq!(found(&index, &tree(), ""), [""; 0]);
        let answer = ask(&index, &tree(), "open socket", None);
        assert_eq!(answer.coverage, Coverage { indexed: 6, total: 6 });
        assert_eq!(answer.matches[0].text, "pub fn connect(url: &str) {\n    open_socket(url);\n}\n");
    }
    let again = CodeIndex::open(folder.path(), IndexOptions::default()).unwrap();
    assert_eq!(again.stats(), index.stats());
    assert_eq!(found(&again, &tree(), "open socket")[0], "src/copy_of_http.rs:6-8 connect");
    assert_eq!(again.learned(), 0, "all is in the segment");
}

#[test]
fn an_edit_of_a_branch_has_its_chunks_learned_alone() {
    let folder = tempfile::tempdir().unwrap();
    let index = CodeIndex::open(folder.path(), IndexOptions::default()).unwrap();
    update(&index, &tree());
    let mut branch = Branch::new(Arc::new(tree()));
    branch.remove(&path("src/copy_of_http.rs")).unwrap();
    branch.write(&path("src/http.rs"), HTTP.replace("open_socket", "dial_peer").into()).unwrap();
    assert_eq!(found(&index, &branch.snapshot(), "dial peer"), ["src/http.rs:6-8 connect"]);
    assert_eq!(index.learned(), 2, "both chunks of the file, since no segment tells them");
    branch.write(&path("src/http.rs"), HTTP.replace("open_socket", "dial_other").into()).unwrap();
    assert_eq!(found(&index, &branch.snapshot(), "dial_other"), ["src/http.rs:6-8 connect"]);
    assert_eq!(index.learned(), 3, "the chunk that was edited");
    assert_eq!(found(&index, &branch.snapshot(), "open_socket"), [""; 0], "no file of the branch has it");
    branch.create_dir(&path("moved")).unwrap();
    branch.rename(&path("lib"), &path("moved/lib")).unwrap();
    assert_eq!(found(&index, &branch.snapshot(), "json parser")[0], "moved/lib/json.py:1-3 JsonParser");
    assert_eq!(index.learned(), 3, "what was moved is known");
}

#[test]
fn a_query_before_all_is_indexed_says_how_much_is() {
    let folder = tempfile::tempdir().unwrap();
    let index = CodeIndex::open(folder.path(), IndexOptions::default()).unwrap();
    let files = (0..700).map(|it| (format!("f{it:03}.rs"), format!("fn number_{it}() {{}}")));
    let tree = Memory::from_files(files).unwrap();
    let answer = ask(&index, &tree, "number_3", None);
    assert_eq!(answer.coverage, Coverage { indexed: MAX_LEARNED, total: 700 });
    assert_eq!(answer.matches[0].symbol, "number_3");
    update(&index, &tree);
    let answer = ask(&index, &tree, "number_699", None);
    assert_eq!((answer.coverage.indexed, answer.matches[0].symbol.as_str()), (700, "number_699"));
}

#[test]
fn tests_come_below_sources() {
    let folder = tempfile::tempdir().unwrap();
    let index = CodeIndex::open(folder.path(), IndexOptions::default()).unwrap();
    let module = "fn parse_url(it: &str) {\n    split(it);\n}\n\n#[test]\nfn parse_url_splits() {\n    parse_url(PARSE_URL);\n}\n";
    let script =
        "export const parseUrl = (url) => {\n  // Checked.\n  return split(url, other, another, more);\n};\n";
    let spec = "it('parses', () => {\n  parseUrl(parseUrl);\n});\n";
    let files = [("src/url.rs", module), ("web/url.ts", script), ("web/a.spec.ts", spec)];
    let tree = Memory::from_files(files).unwrap();
    let rank = |query: &str| {
        let request = CodeRequest { query, limit: 9, scorer: None };
        let walk = walk_options(None);
        let options = Options { walk: &walk, threads: 1, cancel: &|| false };
        let found = index.search(&tree, &request, &options).unwrap().matches;
        found.into_iter().map(|it| it.symbol).collect::<Vec<_>>()
    };
    for is_indexed in [false, true] {
        if is_indexed {
            update(&index, &tree);
        }
        let sources_first = rank("parse url");
        let is_test = |it: &String| it.contains("splits") || it.contains("it '");
        assert_eq!(sources_first.iter().map(is_test).collect::<Vec<_>>(), [false, false, true, true]);
        assert!(is_test(&rank("test of parse url splits")[0]));
    }
}

/// Prefers one chunk to all others.
struct Prefers(ContentHash);

impl Scorer for Prefers {
    fn score(&self, _: &str, chunks: &[(ContentHash, f32)]) -> Vec<f32> {
        chunks.iter().map(|(hash, score)| if *hash == self.0 { 1000.0 } else { *score }).collect()
    }
}

#[test]
fn a_scorer_has_the_last_word() {
    let folder = tempfile::tempdir().unwrap();
    let index = CodeIndex::open(folder.path(), IndexOptions::default()).unwrap();
    update(&index, &tree());
    let usual = ask(&index, &tree(), "http request", None).matches;
    let last = usual.last().unwrap().chunk;
    assert_ne!(usual[0].chunk, last);
    let judged = ask(&index, &tree(), "http request", Some(&Prefers(last))).matches;
    assert_eq!((judged[0].chunk, judged[0].score), (last, 1000.0));
}
