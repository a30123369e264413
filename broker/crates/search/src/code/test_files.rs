//! Files of tests, by their paths.

use overlay::WorkspacePath;

/// Folders of tests and of what they read.
const FOLDERS: [&str; 10] =
    ["test", "tests", "__tests__", "spec", "specs", "testdata", "e2e", "__mocks__", "fixtures", "cypress"];

/// Whether a file is of tests: by a folder, or by a name such as `test_a.py`, `a_test.go`, `a.spec.ts`, `ATest.java`.
pub(super) fn is_test_file(path: &WorkspacePath) -> bool {
    let mut parts: Vec<_> = path.as_str().split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let stem = name.split_once('.').map_or(name, |it| it.0);
    let is_marked = |it: &str| matches!(it, "test" | "tests" | "spec" | "cy" | "e2e");
    parts.iter().any(|it| FOLDERS.contains(it))
        || stem.split(['_', '-']).any(is_marked)
        || name.split('.').skip(1).any(is_marked)
        || ["Test", "Tests", "Spec", "Specs"].iter().any(|it| stem.len() > it.len() && stem.ends_with(it))
        || stem == "conftest"
}

/// Whether a question is about tests.
pub(super) fn wants_tests(query: &str) -> bool {
    let mut words = query.split(|it: char| !it.is_alphanumeric()).map(str::to_lowercase);
    words.any(|it| {
        matches!(it.as_str(), "test" | "tests" | "tested" | "testing" | "spec" | "specs" | "fixture")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_by_folder_and_name() {
        let is_test = |it: &&str| is_test_file(&WorkspacePath::new(it).unwrap());
        let tests = [
            "tests/it/a.rs",
            "src/__tests__/a.tsx",
            "test_a.py",
            "pkg/a_test.go",
            "a.spec.ts",
            "a.test.tsx",
            "src/tests.rs",
            "src/UserTest.java",
            "spec/a_spec.rb",
            "conftest.py",
        ];
        assert_eq!(tests.iter().filter(|it| !is_test(it)).count(), 0);
        let sources =
            ["src/a.rs", "src/contest.py", "latest/a.go", "src/Testing.java", "attest.ts", "Test.java"];
        assert_eq!(sources.iter().filter(|it| is_test(it)).collect::<Vec<_>>(), [&""; 0]);
    }

    #[test]
    fn a_question_may_be_about_tests() {
        assert!(wants_tests("tests of the parser") && wants_tests("test_parse"));
        assert!(!wants_tests("the latest attestation"));
    }
}
