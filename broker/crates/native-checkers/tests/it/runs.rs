//! Tests of runs, whatever the command does. The commands are scripts.

use lint::{Cancel, Completeness, Linter as _};
use native_checkers::Checker;

use crate::fixture::{World, ask, defined, path, render, state_of};

const OWN: &str = "command = ['own']\nglobs = ['*.x']\noutput = 'regex'\n\
                   pattern = '^(?<path>[^:]+):(?<line>\\d+):(?<column>\\d+): (?<message>.*)$'\n";

fn world(script: &str) -> World {
    let world = World::new(&[("a.x", "one\n"), ("b.x", "two\n")]);
    world.script("own", script);
    world
}

#[test]
fn a_branch_is_checked_as_it_is() {
    let world =
        world("grep -Hno bad *.x | sed 's/:bad/:1: bad/'; echo x > written; echo changed > a.x; exit 0");
    let before = state_of(&world.root());
    let own = defined(OWN);
    let branch = world.branch(&[("b.x", "good\nbad\n"), ("new.x", "bad\n")]);
    insta::assert_snapshot!(world.check(&own, &branch, &["a.x", "b.x", "new.x"]), @r#"
    a.x: complete
    b.x: complete
      2:1 "bad" error error: bad
    new.x: complete
      1:1 "bad" error error: bad
    "#);
    insta::assert_snapshot!(world.check(&own, &world.disk(), &["a.x", "b.x"]), @r#"
    a.x: complete
    b.x: complete
    "#);
    assert_eq!(state_of(&world.root()), before);
}

#[test]
fn one_run_is_for_all_files_and_all_branches_that_are_alike() {
    // Two runs print different texts.
    let world = world("echo \"a.x:1:1: $(cat /proc/sys/kernel/random/uuid)\"; exit 1");
    let linter = world.checker(&defined(OWN)).unwrap();
    let said = |view, files: &[&str]| {
        ask(&linter, view, files, &Cancel::default())[0].diagnostics[0].message.clone()
    };
    let (disk, same) = (world.disk(), world.branch(&[("a.x", "one\n")]));
    let first = said(&disk, &["a.x", "b.x"]);
    assert_eq!(said(&disk, &["a.x"]), first);
    assert_eq!(said(&same, &["a.x"]), first);
    let other = world.branch(&[("b.x", "other\n")]);
    assert_ne!(said(&other, &["a.x"]), first);
    assert_ne!(linter.context(&disk), linter.context(&other));
    assert_eq!(linter.context(&disk), linter.context(&same));
}

#[test]
fn what_does_not_run_as_it_should_is_no_empty_answer() {
    let says = |script: &str, more: &str| {
        let world = world(script);
        world.check(&defined(&format!("{OWN}{more}")), &world.disk(), &["a.x"])
    };
    insta::assert_snapshot!(says("exit 0", ""), @"a.x: complete");
    insta::assert_snapshot!(says("echo it broke >&2; exit 1", ""), @"a.x: failed: own: it ended with exit code 1, and has no findings here: it broke");
    insta::assert_snapshot!(says("echo it broke >&2; exit 3", ""), @"a.x: failed: own: it ended with exit code 3: it broke");
    insta::assert_snapshot!(says("kill -SEGV $$", ""), @"a.x: failed: own: it was ended by signal 11");
    insta::assert_snapshot!(says("sleep 600", "timeout = 1"), @"a.x: failed: own: it was ended: time limit of 1s");
    insta::assert_snapshot!(says("echo a.x:1:1: first; exit 2", "aborted-codes = [2]"), @r#"
    a.x: complete, aborted
      1:1 "one" error error: first
    "#);
    insta::assert_snapshot!(says("echo outside.x:1:1: first; exit 2", "aborted-codes = [2]"), @"a.x: failed: own: it ended with exit code 2, and has no findings here: outside.x:1:1: first");
    insta::assert_snapshot!(says("echo a.x:1:1: it", "cut-short = 'it'"), @r#"
    a.x: partial: own: own stopped looking: it
      1:1 "one" error error: it
    "#);
}

#[test]
fn one_that_is_not_there_says_how_to_have_it() {
    let world = World::new(&[("a.x", "")]);
    let error = world.checker(&defined(OWN)).err().unwrap();
    assert_eq!(
        (&*error.message, error.hint.as_deref()),
        ("own is not installed", Some("see its own documentation"))
    );
}

#[test]
fn files_are_arguments_of_a_checker_for_files() {
    let world = world("for it in \"$@\"; do echo \"$it:1:1: one of $#\"; done; exit 1");
    let files = defined(&format!("{OWN}checks = 'files'\nat-once = 2"));
    let branch = world.branch(&[("-c.x", "x"), ("sub/d.x", "x")]);
    insta::assert_snapshot!(world.check(&files, &branch, &["-c.x", "a.x", "sub/d.x"]), @r#"
    -c.x: complete
      1:1 "x" error error: one of 2
    a.x: complete
      1:1 "one" error error: one of 2
    sub/d.x: complete
      1:1 "x" error error: one of 1
    "#);
}

#[test]
fn files_that_a_message_leaves_out() {
    let world = World::new(&[(".eslintrc.json", "{}"), ("a.js", "one"), ("b.ts", "two"), ("c.js", "three")]);
    let file = |name: &str, message: &str| {
        format!(
            "{{\"filePath\":\"{name}\",\"messages\":[{{\"message\":\"{message}\",\"line\":1,\"column\":1}}]}}"
        )
    };
    let said = [
        file("a.js", "File ignored because of a matching ignore pattern."),
        file("b.ts", "Parsing error: /w/b.ts was not found by the project service."),
        file("c.js", "Parsing error: Unexpected token"),
    ];
    world.script("eslint", &format!("echo '[{}]'; exit 1", said.join(",")));
    let eslint = Checker::named("eslint-cli").unwrap();
    insta::assert_snapshot!(world.check(eslint, &world.disk(), &["a.js", "b.ts", "c.js"]), @r#"
    a.js: excluded: eslint-cli does not look at it in this project
    b.ts: excluded: eslint-cli does not look at it in this project
    c.js: complete
      1:1 "three" error parse: Parsing error: Unexpected token
    "#);
}

#[test]
fn projects_are_run_in_their_folders() {
    let world =
        World::new(&[("p/own.toml", ""), ("p/a.x", "x"), ("q/own.toml", ""), ("q/b.x", "x"), ("c.x", "x")]);
    world.script("own", "for it in *.x; do echo \"$it:1:1: in $PWD\" | sed 's#/.*/work#WORK#'; done; exit 1");
    let own = defined(&format!("{OWN}roots = ['own.toml']"));
    insta::assert_snapshot!(world.check(&own, &world.disk(), &["c.x", "p/a.x", "q/b.x"]), @r#"
    c.x: excluded: it is in no project of own: there is no `own.toml`
    p/a.x: complete
      1:1 "x" error error: in WORK/p
    q/b.x: complete
      1:1 "x" error error: in WORK/q
    "#);
}

#[test]
fn a_run_ends_when_it_is_cancelled() {
    let world = world("sleep 600");
    let linter = world.checker(&defined(OWN)).unwrap();
    let (cancel, view) = (Cancel::default(), world.disk());
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&linter, &view, &["a.x"], &cancel));
        cancel.cancel();
        let outcomes = asked.join().unwrap();
        assert_eq!(outcomes[0].completeness, Completeness::Pending("interrupted".to_owned()));
    });
}

#[test]
fn there_is_no_network_and_no_home() {
    let world = world(
        "cat /proc/net/dev | tail -n +3 | sed 's/:.*//; s/^ */a.x:1:1: /'; ls -A $HOME/.ssh /root/.ssh 2>/dev/null; exit 1",
    );
    insta::assert_snapshot!(world.check(&defined(OWN), &world.disk(), &["a.x"]), @r#"
    a.x: complete
      1:1 "one" error error: lo
    "#);
}

#[test]
fn answers_have_a_lease_and_rest_on_what_they_point_to() {
    let world = world("echo a.x:1:1: it; echo \"note b.x:1:1: there\"; exit 1");
    let own = defined(&format!(
        "{OWN}note-pattern = '^note (?<path>[^:]+):(?<line>\\d+):(?<column>\\d+): (?<message>.*)$'"
    ));
    let linter = world.checker(&own).unwrap();
    let view = world.disk();
    let outcomes = ask(&linter, &view, &["a.x"], &Cancel::default());
    let lease = outcomes[0].lease.clone().unwrap();
    assert!(lease.holds() && outcomes[0].reads.get(&overlay::Read::Content(path("b.x"))).is_some());
    insta::assert_snapshot!(render(&outcomes, &view, &["a.x"]), @r#"
    a.x: complete
      1:1 "one" error error: it
        b.x:1:1 "two" there
    "#);
    world.runner.shut_down();
    assert!(!lease.holds());
}

#[test]
fn versions_of_programs() {
    let world = World::new(&[]);
    let shellcheck = Checker::named("shellcheck").unwrap();
    world.script("shellcheck", "[ \"$1\" = --version ] && printf 'ShellCheck\\nversion: 0.99.1\\n'\n");
    assert_eq!(world.version(shellcheck), Some(Ok("0.99.1".to_owned())));
    world.script("shellcheck", "echo 'it broke' >&2; exit 1\n");
    assert_eq!(world.version(shellcheck), Some(Err("it ended with exit code 1: it broke".to_owned())));
    assert_eq!(world.version(&defined(OWN)), None, "it is not known how to ask");
}
