//! Syntax trees for plugins: what a query finds, what goes wrong, and that an answer rests on what was parsed.

use std::{sync::Arc, time::Duration};

use overlay::{Memory, View};
use plugin_host::Configured;
use tests::{check, check_for, guest, host, plugin, told};

fn linter() -> Configured {
    plugin(&host(None), &guest("guest_misbehaves")).unwrap()
}

fn view(files: &[(&str, &str)]) -> Arc<dyn View> {
    let files = files.iter().map(|(name, text)| (*name, (*text).to_owned()));
    Arc::new(Memory::from_files(files).unwrap())
}

/// Returns the guest's answer to `command` beside a few files.
fn answer(command: &str) -> String {
    let others = [("a.py", "def f(x):\n    return g(x)\n"), ("notes", "x = 1"), ("broken.rs", "fn f( {")];
    let view = view(&[&others[..], &[("todo", command)]].concat());
    told(&check(&linter(), view, &["todo"])[0])
}

#[test]
fn a_query_is_one_call() {
    assert_eq!(answer("query a.py - (call function: (identifier) @called)"), "complete: called 21..22");
    assert_eq!(answer("query notes python (identifier) @name"), "complete: name 0..1");
    assert_eq!(answer("query a.py - (class_definition) @none"), "complete: ");
    let want = "complete: module function_definition identifier parameters identifier block return_statement call \
                identifier argument_list identifier";
    assert_eq!(answer("tree a.py"), want);
    assert!(answer("tree broken.rs").contains("ERROR"));
}

#[test]
fn what_is_wrong_is_told() {
    insta::assert_snapshot!(answer("query notes - (identifier) @name"), @"complete: there is no grammar for notes");
    insta::assert_snapshot!(answer("query a.py cobol (identifier) @name"), @"complete: there is no grammar for cobol");
    insta::assert_snapshot!(answer("query none.py - (identifier) @name"), @"complete: the file is not there (any more)");
    insta::assert_snapshot!(answer("query ../a.py - (identifier) @name"), @"complete: `../a.py` leads out of the workspace");
    insta::assert_snapshot!(answer("query a.py - (identifer) @name"), @"complete: the query is wrong: line 1, column 2: there is no kind of node `identifer`");
    insta::assert_snapshot!(answer("query a.py - (identifier"), @"complete: the query is wrong: line 1, column 12: a bracket or a name is wrong here");
}

#[test]
fn an_answer_rests_on_what_was_parsed() {
    let with = |text: &str| view(&[("a.py", text), ("todo", "query a.py - (identifier) @name")]);
    let outcome = check(&linter(), with("x = y"), &["todo"]).remove(0);
    assert!(outcome.reads.holds_in(&*with("x = y")));
    assert!(!outcome.reads.holds_in(&*with("x = z")));
}

#[test]
fn a_files_own_text_is_no_read_that_later_answers_rest_on() {
    let command = |own: &str| format!("query {own} python (identifier) @name");
    let with = |one: &str| view(&[("one", one), ("two", &command("two"))]);
    let outcomes = check(&linter(), with(&command("one")), &["one", "two"]);
    assert_eq!(told(&outcomes[0]), "complete: name 0..5, name 6..9, name 10..16, name 18..28, name 31..35");
    assert!(outcomes[1].reads.holds_in(&*with("changed")));
}

#[test]
fn a_parse_without_end_is_over_when_the_time_is() {
    let huge = "f(".repeat(1 << 19);
    let view = view(&[("huge.py", &huge), ("todo", "query huge.py - (identifier) @name")]);
    let outcomes = check_for(&linter(), view, &["todo"], Duration::from_millis(20));
    insta::assert_snapshot!(told(&outcomes[0]), @"failed: plugin `misbehaves` 0.1.0 exceeded its time limit of 20 ms");
}
