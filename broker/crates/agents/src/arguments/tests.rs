//! Arguments as clients send them, and as the tools get them.

use serde_json::json;

use super::*;
use crate::tools;

/// Returns the arguments that the tool gets, or the error.
fn given(tool: &str, arguments: Value) -> String {
    let schema = &tools::find(tool).unwrap().info.input;
    let Value::Object(arguments) = arguments else { panic!("{arguments} are no arguments") };
    match normalised(tool, schema, arguments, Path::new("/w")) {
        Ok(it) if it.unknown.is_empty() => it.arguments.to_string(),
        Ok(it) => format!("{} without {}", it.arguments, it.unknown.join(", ")),
        Err(error) => format!("{}; {}", error.message, error.remedy.unwrap_or_default()),
    }
}

#[test]
fn each_value_becomes_what_the_schema_says() {
    let lines = |from: Value, to: Value| json!({"target_file": "a", "start_line_one_indexed": from, "end_line_one_indexed_inclusive": to});
    let want = r#"{"end_line_one_indexed_inclusive":12,"start_line_one_indexed":10,"target_file":"a"}"#;
    for (from, to) in [
        (json!(10), json!(12)),
        (json!(10.0), json!(1.2e1)),
        (json!("10"), json!(" 12 ")),
        (json!("10.0"), json!("1.2e1")),
    ] {
        assert_eq!(given("read_file", lines(from, to)), want);
    }
    assert_eq!(given("read_file", lines(json!(null), json!(""))), r#"{"target_file":"a"}"#);
    for whole in [json!(true), json!("true"), json!("True")] {
        let arguments = json!({"target_file": "a", "should_read_entire_file": whole});
        assert_eq!(given("read_file", arguments), r#"{"should_read_entire_file":true,"target_file":"a"}"#);
    }
    assert_eq!(
        given("diff_history", json!({"since_revision": u64::MAX})),
        format!(r#"{{"since_revision":{}}}"#, u64::MAX)
    );
}

#[test]
fn a_list_may_be_its_only_element_or_text() {
    for paths in [json!(["a"]), json!("a"), json!("[\"a\"]"), json!(" [\"a\"] ")] {
        assert_eq!(given("check", json!({"paths": paths})), r#"{"paths":["a"]}"#);
    }
    assert_eq!(given("check", json!({"paths": "[id]"})), r#"{"paths":["[id]"]}"#);
    assert_eq!(given("check", json!({"paths": "[1]"})), r#"{"paths":["[1]"]}"#);
    for nothing in [json!(null), json!("")] {
        assert_eq!(given("check", json!({"paths": nothing})), "{}");
    }
    let step = json!({"target_file": "a", "code_edit": "[1]\n"});
    for edits in [
        json!([step]),
        json!(step),
        json!(step.to_string()),
        json!(format!("[{step}]")),
        json!([step.to_string()]),
        json!([{"target_file": "a", "code_edit": "[1]\n", "instructions": "one", "explanation": null}]),
    ] {
        let want = r#"{"edits":[{"code_edit":"[1]\n","target_file":"a"}]}"#;
        assert_eq!(given("edit_file", json!({"edits": edits})), want);
    }
}

#[test]
fn an_object_may_have_names_of_the_callers_own() {
    let resolve = json!({"resolve": {"a.py": "ours", "b.py": ["theirs", "both"]}});
    assert_eq!(given("branch_rebase", resolve.clone()), resolve.to_string());
}

#[test]
fn text_stays_text() {
    for text in ["[1, 2]", "{\"a\": 1}", "true", "10", "null", " "] {
        let edit = json!({"code_edit": text, "target_file": "a.json"});
        assert_eq!(given("edit_file", edit.clone()), edit.to_string());
    }
    let filled = json!({"query": "", "include_pattern": "", "branch": ""});
    assert_eq!(given("grep_search", filled), r#"{"query":""}"#, "what may be left out is");
}

fn has(fields: Option<&Value>, name: &str) -> bool {
    fields.is_some_and(|it| it.get(name).is_some())
}

#[test]
fn every_tool_takes_what_cursors_own_tools_have() {
    for tool in tools::list() {
        let required = tool.input.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut arguments: Map<_, _> =
            required.iter().map(|it| (it.as_str().unwrap().to_owned(), json!("x"))).collect();
        let own: Vec<_> = arguments.keys().cloned().collect();
        for name in IGNORED.into_iter().filter(|it| !has(tool.input.get("properties"), it)) {
            arguments.insert(name.to_owned(), json!("said"));
        }
        let taken = normalised(&tool.name, &tool.input, arguments, Path::new("/w")).unwrap();
        assert_eq!(taken.unknown, [""; 0], "{}", tool.name);
        assert_eq!(
            taken.arguments.as_object().unwrap().keys().cloned().collect::<Vec<_>>(),
            own,
            "{}",
            tool.name
        );
    }
}

#[test]
fn the_path_of_cursors_older_tools_is_the_one_that_a_tool_takes() {
    let path = |tool| given(tool, json!({"relative_workspace_path": "src", "explanation": "why"}));
    assert_eq!(path("list_dir"), r#"{"relative_workspace_path":"src"}"#);
    assert_eq!(path("read_file"), r#"{"target_file":"src"}"#);
    assert_eq!(path("check"), r#"{"paths":["src"]}"#);
    assert_eq!(path("branch_list"), "{}");
    let both = json!({"relative_workspace_path": ".", "target_file": "a"});
    assert_eq!(given("read_file", both), r#"{"target_file":"a"}"#);
}

#[test]
fn paths_in_the_workspace_may_be_absolute() {
    let path = |it: &str| given("read_file", json!({"target_file": it}));
    assert_eq!(path("/w/src/a"), r#"{"target_file":"src/a"}"#);
    assert_eq!(path("/www/a"), r#"{"target_file":"/www/a"}"#);
    assert_eq!(given("check", json!({"paths": ["/w/a", "/w", "b"]})), r#"{"paths":["a",".","b"]}"#);
    let edits = json!({"edits": [{"target_file": "/w/a", "code_edit": "/w/b"}]});
    assert_eq!(given("edit_file", edits), r#"{"edits":[{"code_edit":"/w/b","target_file":"a"}]}"#);
}

#[test]
fn names_of_other_agents_are_understood() {
    assert_eq!(given("read_file", json!({"file_path": "a"})), r#"{"target_file":"a"}"#);
    assert_eq!(given("list_dir", json!({"path": "src"})), r#"{"relative_workspace_path":"src"}"#);
    assert_eq!(given("branch_undo", json!({"to": 1})), r#"{"to_revision":1}"#);
    assert_eq!(
        given("grep_search", json!({"pattern": "x", "glob": "*.py"})),
        r#"{"include_pattern":"*.py","query":"x"}"#
    );
    assert_eq!(given("file_search", json!({"pattern": "*.py"})), r#"{"query":"*.py"}"#);
    assert_eq!(
        given("grep_search", json!({"pattern": "x", "-A": 1, "-B": 2, "-C": 3, "-n": true, "-i": true})),
        r#"{"after":1,"before":2,"context":3,"query":"x"}"#
    );
    assert_eq!(
        given(
            "edit_file",
            json!({"file_path": "/w/a", "old_string": "x", "new_string": "", "replace_all": false})
        ),
        r#"{"new_string":"","old_string":"x","replace_all":false,"target_file":"a"}"#
    );
    let edits = json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]});
    assert_eq!(
        given("edit_file", edits),
        r#"{"edits":[{"new_string":"y","old_string":"x"}],"target_file":"a"}"#
    );
    assert_eq!(
        given("read_file", json!({"target_file": "a", "lines": 3})),
        r#"{"target_file":"a"} without lines"#
    );
}

#[test]
fn what_is_wrong_is_named_with_a_remedy() {
    let shown: Vec<_> = [
        ("read_file", json!({"target_file": "a", "start_line_one_indexed": "ten"})),
        ("read_file", json!({"target_file": "a", "start_line_one_indexed": 1.5})),
        ("read_file", json!({"target_file": "a", "should_read_entire_file": 1})),
        ("read_file", json!({"target_file": ["a"]})),
        ("grep_search", json!({"query": 10})),
        ("delete_file", json!({"target_file": null})),
        ("check", json!({"wait": -1})),
        ("check", json!({"wait": "-1"})),
        ("read_file", json!({"target_file": "a", "lines": 3})),
        ("branch_list", json!({"all": true})),
        ("check", json!({"paths": 3})),
        ("check", json!({"paths": ["a", {}]})),
        ("edit_file", json!({"edits": "nothing"})),
        ("edit_file", json!({"edits": [{"target_file": "a", "code_edit": "b", "check": true}]})),
        ("edit_file", json!({"edits": {"long": "x".repeat(100)}})),
        ("grep_search", json!({"query": {"long": "x".repeat(100)}})),
    ]
    .into_iter()
    .map(|(tool, arguments)| given(tool, arguments))
    .collect();
    insta::assert_snapshot!(shown.join("\n"));
}
