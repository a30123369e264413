//! What is there to be tested with: files of tests, and texts in their string literals. Told by names and by counting
//! delimiters, without a parser; a wrong guess matters in files of tests alone.

use std::path::Path;

use memchr::memmem;

/// Folders with tests and what they need, in lower case.
const TESTS: [&str; 20] = [
    "test",
    "tests",
    "testing",
    "testdata",
    "test-data",
    "test_data",
    "test-fixtures",
    "test_fixtures",
    "fixture",
    "fixtures",
    "__fixtures__",
    "__tests__",
    "__snapshots__",
    "__mocks__",
    "snapshots",
    "spec",
    "specs",
    "testsuite",
    "e2e",
    "t",
];

/// Folders with what is there to be shown, in lower case.
const EXAMPLES: [&str; 8] =
    ["example", "examples", "sample", "samples", "demo", "demos", "tutorial", "tutorials"];

/// Whether a file is one of tests, by its name or a folder above it.
pub(crate) fn is_of_tests(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |it| it.0);
    let is_named = stem.starts_with("test_")
        || ["tests", "_test", ".test", "_spec", ".spec", "_tests"].iter().any(|it| stem.ends_with(it));
    is_named || has_folder(path, is_folder_of_tests)
}

/// Whether a file is one of examples, by a folder above it.
pub(crate) fn is_of_examples(path: &Path) -> bool {
    has_folder(path, |folder| EXAMPLES.contains(&folder.to_ascii_lowercase().as_str()))
}

/// `Tests` as well as `tests`, and names such as `caddytest`, `integration_tests` and `FooTests`.
fn is_folder_of_tests(folder: &str) -> bool {
    let name = folder.to_ascii_lowercase();
    TESTS.contains(&name.as_str())
        || ["_test", "-test", "_tests", "-tests", ".tests"].iter().any(|it| name.ends_with(it))
        || ["test-", "tests-", "test_", "tests_"].iter().any(|it| name.starts_with(it))
        || ["Test", "Tests"].iter().any(|it| folder.ends_with(it))
        // As Go has packages for tests: `httptest`, `caddytest`.
        || name.strip_suffix("test").is_some_and(|it| it.len() > 2 && !is_ending_of_words(&name))
}

/// Words that end as `test` does and mean something else.
fn is_ending_of_words(name: &str) -> bool {
    ["latest", "contest", "protest", "attest", "greatest", "fastest"].iter().any(|it| name.ends_with(it))
}

fn has_folder(path: &Path, is_wanted: fn(&str) -> bool) -> bool {
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|it| it.as_os_str().to_str().is_some_and(is_wanted))
}

/// Whether a conflict that opens at `start` is an example: a file of tests that is called after it, or a text in a string
/// literal of a test.
pub(crate) fn is_example_of_conflict(path: &Path, content: &[u8], start: usize) -> bool {
    let before = &content[..start];
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    if is_in_listing(ending, before) || is_in_here_document(ending, before) {
        return true;
    }
    if is_of_tests(path) {
        let mut names = path.iter().rev().take(2).filter_map(|it| it.to_str());
        return names.any(|it| it.contains("conflict") || it.contains("merge"))
            || is_in_literal(ending, before);
    }
    // Rust has its tests where the code is.
    ending == "rs" && memmem::find(before, b"#[test]").is_some() && is_in_literal(ending, before)
}

/// Whether a listing of a document is open at the end of a text.
fn is_in_listing(ending: &str, before: &[u8]) -> bool {
    let fences: &[&[u8]] = match ending {
        "md" | "markdown" | "mdx" | "qmd" | "rmd" => &[b"```", b"~~~"],
        "adoc" | "asciidoc" | "asc" => &[b"----", b"...."],
        _ => return false,
    };
    let lines = || before.split(|it| *it == b'\n').map(<[u8]>::trim_ascii);
    fences.iter().any(|fence| lines().filter(|it| it.starts_with(fence)).count() % 2 == 1)
}

/// Whether a here-document of a script is open at the end of a text.
fn is_in_here_document(ending: &str, before: &[u8]) -> bool {
    if !["", "sh", "bash", "zsh", "ksh", "t", "rb", "pl", "pm"].contains(&ending) {
        return false;
    }
    let mut open: Option<Vec<u8>> = None;
    for line in before.split(|it| *it == b'\n') {
        open = match open {
            Some(word) if line.trim_ascii() == word => None,
            Some(word) => Some(word),
            None => here_document(line),
        };
    }
    open.is_some()
}

/// The word that ends the here-document which begins behind a line.
fn here_document(line: &[u8]) -> Option<Vec<u8>> {
    let at = memmem::find(line, b"<<").filter(|it| !line.trim_ascii_start().starts_with(b"#") && *it > 0)?;
    let rest = line[at + 2..].trim_ascii_start();
    let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"~")).unwrap_or(rest);
    let quoted = |it: &u8| matches!(it, b'\'' | b'"' | b'\\');
    let rest = if rest.first().is_some_and(quoted) { &rest[1..] } else { rest };
    let is_word = |it: &&u8| it.is_ascii_alphanumeric() || **it == b'_';
    let word: Vec<u8> = rest.iter().take_while(is_word).copied().collect();
    word.first().is_some_and(|it| it.is_ascii_alphabetic() || *it == b'_').then_some(word)
}

/// Whether a literal that may have several lines is open at the end of a text.
fn is_in_literal(ending: &str, before: &[u8]) -> bool {
    let count = |sign: &[u8]| memmem::find_iter(before, sign).count();
    match ending {
        "py" | "pyi" => count(b"\"\"\"") % 2 == 1 || count(b"'''") % 2 == 1,
        "java" | "kt" | "scala" | "swift" => count(b"\"\"\"") % 2 == 1,
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "go" => {
            (count(b"`") - count(b"\\`")) % 2 == 1
        }
        "rs" => (count(b"\"") - count(b"\\\"") - count(b"'\"'")) % 2 == 1,
        _ => false,
    }
}
