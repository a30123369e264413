//! Recognition of files of tests and of examples, by their names and the folders above them. Paths are relative to the
//! workspace's root.

use std::path::Path;

use crate::{Report, SourceFile};

/// Names of folders with tests and their data, in lower case, besides names that begin or end with the word `test`.
const TESTS: [&str; 13] = [
    "testing",
    "testdata",
    "testsuite",
    "fixture",
    "fixtures",
    "__fixtures__",
    "__snapshots__",
    "__mocks__",
    "snapshots",
    "spec",
    "specs",
    "e2e",
    "t",
];

/// Names of folders with examples, in lower case.
const EXAMPLES: [&str; 8] =
    ["example", "examples", "sample", "samples", "demo", "demos", "tutorial", "tutorials"];

/// Names of folders with input of tests, in lower case and without punctuation.
const DATA: [&str; 4] = ["fixture", "fixtures", "testdata", "snapshots"];

/// First words of the names of folders whose files are broken on purpose, in lower case.
const BROKEN: [&str; 6] = ["broken", "corrupt", "corrupted", "invalid", "malformed", "unparsable"];

/// Endings of words that end with `test` and mean something else.
const OTHER_WORDS: [&str; 23] = [
    "latest",
    "contest",
    "protest",
    "attest",
    "detest",
    "backtest",
    "greatest",
    "fastest",
    "shortest",
    "lightest",
    "brightest",
    "tightest",
    "strictest",
    "smartest",
    "softest",
    "hottest",
    "fittest",
    "flattest",
    "fattest",
    "neatest",
    "sweetest",
    "quietest",
    "cutest",
];

/// Whether a file belongs to tests, by its name or a folder above it.
#[must_use]
pub fn is_of_tests(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |it| it.0);
    let is_spec = ["_spec", ".spec"].iter().any(|it| stem.ends_with(it));
    is_spec || is_called_after_tests(stem) || has_folder(path, is_folder_of_tests)
}

/// Whether a file belongs to examples, by a folder above it.
#[must_use]
pub fn is_of_examples(path: &Path) -> bool {
    has_folder(path, |folder| EXAMPLES.contains(&folder.to_ascii_lowercase().as_str()))
}

/// Whether a file is input of tests, by a folder above it: `fixtures`, `test-data`.
#[must_use]
pub fn is_fixture(path: &Path) -> bool {
    let plain =
        |it: &str| it.chars().filter(|it| it.is_alphanumeric()).collect::<String>().to_ascii_lowercase();
    has_folder(path, |folder| DATA.contains(&plain(folder).as_str()))
}

/// Whether a file may be broken on purpose, by a folder above it: `invalid`, `broken-manifests`, `fixtures`.
#[must_use]
pub fn is_broken_on_purpose(path: &Path) -> bool {
    let is_called_so = |folder: &str| {
        let first = words(folder).first().map(|it| it.to_ascii_lowercase());
        first.is_some_and(|it| BROKEN.contains(&it.as_str()))
    };
    is_fixture(path) || has_folder(path, is_called_so)
}

/// Returns the report, unless it has a syntax error (a finding with the code `syntax`) and the file may be broken on purpose:
/// then the file is left out, except if the user named it.
#[must_use]
pub fn unless_broken_on_purpose(file: &SourceFile, report: Report, syntax: &str) -> Report {
    let is_broken = report.diagnostics.iter().any(|it| it.code == syntax);
    if is_broken && !file.is_explicit() && is_broken_on_purpose(Path::new(&file.path)) {
        return Report::left_out(&file.path, "it may be broken on purpose, as a folder above it says");
    }
    report
}

fn has_folder(path: &Path, is_wanted: impl Fn(&str) -> bool) -> bool {
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|it| it.as_os_str().to_str().is_some_and(&is_wanted))
}

fn is_folder_of_tests(folder: &str) -> bool {
    TESTS.contains(&folder.to_ascii_lowercase().as_str()) || is_called_after_tests(folder)
}

/// Whether the first or the last word of a name is `test` or `tests`, or the last one ends with it: `test-data`, `FooTests`,
/// `caddytest`.
fn is_called_after_tests(name: &str) -> bool {
    let words = words(name);
    let is_test = |it: &&str| it.eq_ignore_ascii_case("test") || it.eq_ignore_ascii_case("tests");
    let is_last = |it: &&str| is_test(it) || is_compound_of_test(&it.to_ascii_lowercase());
    words.first().is_some_and(is_test) || words.last().is_some_and(is_last)
}

/// Whether a word ends with `test` after another word, as the names of Go's packages for tests do: `httptest`.
fn is_compound_of_test(word: &str) -> bool {
    let singular = word.strip_suffix('s').unwrap_or(word);
    singular.strip_suffix("test").is_some_and(|it| it.len() > 2)
        && !OTHER_WORDS.iter().any(|it| singular.ends_with(it))
}

/// The words of a name's first part and its last: signs and capital letters divide them.
fn words(name: &str) -> Vec<&str> {
    let mut parts = name.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let (first, last) = (parts.next(), parts.next_back());
    first.into_iter().chain(last).flat_map(humps).collect()
}

/// The words of a name in camel case: `HTTPTest` has two.
fn humps(name: &str) -> Vec<&str> {
    let bytes = name.as_bytes();
    let is_start = |at: &usize| {
        let after = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        bytes[*at].is_ascii_uppercase() && (!bytes[at - 1].is_ascii_uppercase() || after)
    };
    let mut starts = vec![0];
    starts.extend((1..bytes.len()).filter(is_start));
    starts.push(bytes.len());
    starts.windows(2).map(|it| &name[it[0]..it[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_folders_go_by_one_rule() {
        for name in ["test", "tests", "test-tls", "Test_tls", "tls.test", "TlsTests", "HTTPTest", "testTls"] {
            assert!(is_of_tests(&Path::new("src").join(name).join("a.rs")), "{name}");
            assert!(is_of_tests(&Path::new("src").join(format!("{name}.rs"))), "{name}.rs");
        }
        for name in ["unittests", "loadtest", "__tests__", "Latest_Tests"] {
            assert!(is_of_tests(&Path::new(name).join("a.go")), "{name}");
            assert!(is_of_tests(Path::new(&format!("{name}.go"))), "{name}.go");
        }
        for name in [
            "protests",
            "latest",
            "Contests",
            "attestation",
            "fastest",
            "backtests",
            "testimony",
            "my_contest",
        ] {
            assert!(!is_of_tests(&Path::new(name).join("a.py")), "{name}");
            assert!(!is_of_tests(Path::new(&format!("{name}.py"))), "{name}.py");
        }
    }

    #[test]
    fn what_only_folders_or_only_names_say() {
        assert!(is_of_tests(Path::new("spec/a.yaml")) && !is_of_tests(Path::new("api/spec.yaml")));
        assert!(is_of_tests(Path::new("app/user_spec.rb")) && !is_of_tests(Path::new("t.sh")));
        assert!(is_of_examples(Path::new("Demos/a.key")) && !is_of_examples(Path::new("demo.key")));
    }
    #[test]
    fn data_of_tests_and_what_is_broken_on_purpose() {
        for path in ["spec/fixtures/a.json", "pkg/testdata/a.json", "test_data/a/b.json", "__Fixtures__/a"] {
            assert!(is_fixture(Path::new(path)) && is_broken_on_purpose(Path::new(path)), "{path}");
        }
        for path in ["tests/invalid/a.json", "brokenPackages/a/b.json", "malformed-manifests/a.json"] {
            assert!(!is_fixture(Path::new(path)) && is_broken_on_purpose(Path::new(path)), "{path}");
        }
        for path in ["invalid.json", "src/invalidation/a.json", "tests/a.json", "unbroken/a.json"] {
            assert!(!is_broken_on_purpose(Path::new(path)), "{path}");
        }
    }
}
