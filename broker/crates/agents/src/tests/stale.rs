//! Edits of files that have changed since the agent read them, and of code that is not resolved.

use serde_json::json;

use super::Fixture;

const PYTHON: &str = "def f():\n    return 1\n\n\nx = 1\ny = 2\nz = 3\n\n\ndef g():\n    return 2\n";

impl Fixture {
    /// A fixture whose linters answer, and whose agent has read `a.py`.
    async fn with_python() -> Self {
        let it = Self::new().await;
        it.gate.open();
        it.save("a.py", PYTHON).await;
        it.read("a.py").await;
        it
    }

    async fn read(&self, file: &str) {
        let read = self.call("read_file", json!({ "target_file": file })).await;
        assert!(!read.is_error, "{}", read.text);
    }

    async fn redefine(&self, code: &str) -> crate::Reply {
        self.call("edit_file", json!({ "target_file": "a.py", "symbol": "f", "code_edit": code })).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changed_since_it_was_read_is_not_deleted() {
    let patch = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch";
    for (tool, arguments) in [
        ("delete_file", json!({ "target_file": "a.py" })),
        ("edit_file", json!({ "target_file": "a.py", "code_edit": patch })),
    ] {
        let it = Fixture::with_python().await;
        it.save("a.py", &PYTHON.replace("x = 1", "saved = 1")).await;
        let refused = it.call(tool, arguments.clone()).await;
        assert!(
            refused.is_error && refused.text.contains("has changed since you read it"),
            "{}",
            refused.text
        );
        let part = json!({ "target_file": "a.py", "start_line_one_indexed": 1, "end_line_one_indexed_inclusive": 2 });
        it.call("read_file", part).await;
        assert!(it.call(tool, arguments.clone()).await.is_error, "a part of it is not all");
        it.read("a.py").await;
        let deleted = it.call(tool, arguments).await;
        assert!(!deleted.is_error, "{}", deleted.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_keeps_what_changed_around_it_since_it_was_read() {
    let it = Fixture::with_python().await;
    let saved = PYTHON.replace("return 2", "return 'saved'");
    it.save("a.py", &saved).await;
    let edited = it.redefine("def f():\n    return 3").await;
    assert!(!edited.is_error, "{}", edited.text);
    assert!(
        edited.text.contains("merged with what changed in the file since you read it"),
        "{}",
        edited.text
    );
    it.call("branch_commit", json!({})).await;
    assert_eq!(it.disk("a.py"), saved.replace("return 1", "return 3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_changed_since_it_was_read_is_not_replaced() {
    let it = Fixture::with_python().await;
    it.save("a.py", &PYTHON.replace("return 1", "return 'saved'")).await;
    let refused = it.redefine("def f():\n    return 3").await;
    assert!(refused.is_error && refused.text.contains("has changed since you read it"), "{}", refused.text);
    it.read("a.py").await;
    assert!(!it.redefine("def f():\n    return 3").await.is_error);
}

#[tokio::test(flavor = "multi_thread")]
async fn conflict_markers_in_a_definition_do_not_reach_the_disk() {
    let it = Fixture::with_python().await;
    let code = "def f():\n<<<<<<< ours\n    return 1\n=======\n    return 3\n>>>>>>> theirs\n";
    let edited = it.redefine(code).await;
    assert!(!edited.is_error && edited.text.contains("new syntax error at line"), "{}", edited.text);
    let refused = it.call("branch_commit", json!({})).await;
    assert!(refused.is_error && refused.text.contains("`a.py`"), "{}", refused.text);
    assert_eq!(it.disk("a.py"), PYTHON);
    let marker = it.redefine("def f():\n    # ... existing code ...\n    return 3").await;
    let why = "line 2 of the definition is a marker for lines that stay";
    assert!(marker.is_error && marker.text.contains(why), "{}", marker.text);
}
