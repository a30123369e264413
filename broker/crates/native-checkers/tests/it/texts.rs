//! A checker that gets texts on its standard input: `tsgolint headless`, and a script that plays it.

use std::time::Instant;

use lint::{Cancel, Completeness};
use native_checkers::Checker;

use crate::fixture::{World, ask, has, path, render};

/// Says of each file what it holds, and whether its text was told or read.
const PLAYS: &str = r#"
frame() {
    n=${#2}
    printf "\\$(printf %03o $((n & 255)))\\$(printf %03o $((n >> 8)))\\0\\0\\$(printf %03o "$1")"
    printf %s "$2"
}
question=$(cat)
files=$(printf %s "$question" | sed 's/.*"file_paths":\[\([^]]*\)\].*/\1/' | tr -d '"' | tr ',' ' ')
for file in $files; do
    case "$question" in
    *"\"$file\":\""*) text=$(printf %s "$question" | sed "s#.*\"$file\":\"\([^\"]*\)\".*#told: \1#") ;;
    *) text="read: $(cat "$file")" ;;
    esac
    echo "2026/11/30 19:19:01.3 Got tsconfig for file $file: /tsconfig.json" >&2
    at="\"file_path\":\"$file\",\"range\":{\"pos\":0,\"end\":1}"
    frame 1 "{$at,\"message\":{\"id\":\"T1\",\"description\":\"$text\"}}"
done
"#;

fn world(script: &str) -> World {
    let world = World::new(&[("tsconfig.json", "{}"), ("a.ts", "one"), ("b.ts", "two"), ("c/d.ts", "three")]);
    world.script("tsgolint", script);
    world
}

fn tsgolint(more: &str) -> Checker {
    Checker::defined("tsgolint", toml::from_str(more).unwrap()).unwrap()
}

#[test]
fn texts_are_told_where_that_is_all_that_differs() {
    let world = world(PLAYS);
    let edited = world.branch(&[("a.ts", "1"), ("c/d.ts", "3")]);
    insta::assert_snapshot!(world.check(&tsgolint(""), &edited, &["a.ts", "b.ts", "c/d.ts"]), @r#"
    a.ts: complete
      1:1 "1" error T1: told: 1
    b.ts: complete
      1:1 "t" error T1: read: two
    c/d.ts: complete
      1:1 "3" error T1: told: 3
    "#);
    let new = world.branch(&[("a.ts", "1"), ("new/e.ts", "5")]);
    insta::assert_snapshot!(world.check(&tsgolint(""), &new, &["a.ts", "b.ts", "new/e.ts"]), @r#"
    a.ts: complete
      1:1 "1" error T1: read: 1
    b.ts: complete
      1:1 "t" error T1: read: two
    new/e.ts: complete
      1:1 "5" error T1: read: 5
    "#);
}

#[test]
fn what_is_no_answer_is_no_empty_answer() {
    let says = |script: &str| {
        let world = world(script);
        // On the disk, and in a shadow folder.
        let views = [[("a.ts", "1")], [("new.ts", "1")]].map(|it| world.branch(&it));
        let [told, read] = views.map(|it| world.check(&tsgolint("timeout = 1"), &it, &["a.ts"]));
        assert_eq!(told, read);
        told
    };
    insta::assert_snapshot!(says("exit 0"), @"a.ts: failed: tsgolint: it does not say which project this is in");
    insta::assert_snapshot!(says("echo 'panic: it broke' >&2; for n in 1 2 3 4 5 6 7 8 9; do echo \"  at $n\" >&2; done; exit 2"), @"a.ts: failed: tsgolint: it ended with exit code 2: panic: it broke;   at 1;   at 2;   at 3; ...;   at 6;   at 7;   at 8;   at 9");
    insta::assert_snapshot!(says("echo '2026/11/30 19:19:01.3 Got tsconfig for file /a.ts: <none>' >&2; echo no frame at all"), @"a.ts: failed: tsgolint: what it printed cannot be read: it ends within a message: `no frame at all`");
    insta::assert_snapshot!(says(&format!("{PLAYS}\nprintf 'x'")), @"a.ts: failed: tsgolint: what it printed cannot be read: it ends within a message: `x`");
    insta::assert_snapshot!(says(&format!("{PLAYS}\nframe 0 '{{\"error\":\"no such thing\"}}'")), @"a.ts: failed: tsgolint: no such thing");
    insta::assert_snapshot!(says("kill -SEGV $$"), @"a.ts: failed: tsgolint: it was ended by signal 11");
    insta::assert_snapshot!(says("sleep 600"), @"a.ts: failed: tsgolint: it was ended: time limit of 1s");
    insta::assert_snapshot!(says("head -c 70000000 /dev/zero"), @"a.ts: failed: tsgolint: it printed more than is kept");
}

/// Says this of a file, whatever it is asked.
fn says(what: &str) -> String {
    format!(
        "said() {{ {what}; }}\n{}",
        PLAYS
            .replace("text=\"read: $(cat \"$file\")\"", "text=$(said)")
            .replace("*\"\\\"$file\\\":\\\"\"*)", "never)")
    )
}

/// Answer of the checker about a branch with an edit, which is that about one with a new file.
fn said(world: &World, checker: &Checker) -> String {
    let views = [[("a.ts", "1")], [("new.ts", "1")]].map(|it| world.branch(&it));
    let [told, read] = views.map(|it| {
        let answers = ask(&world.checker(checker).unwrap(), &it, &["b.ts"], &Cancel::default());
        let messages = answers[0].diagnostics.iter().map(|it| it.message.clone()).collect::<Vec<_>>();
        format!("{:?} {}", answers[0].completeness, messages.join(" "))
    });
    assert_eq!(told, read);
    told
}

#[test]
fn a_question_is_asked_in_the_sandbox_of_a_run() {
    let host = std::fs::read_link("/proc/self/ns/mnt").unwrap();
    let look = format!(
        "[ \"$(readlink /proc/self/ns/mnt)\" = '{}' ] && echo host; cat ../secret ../node_modules/p 2>/dev/null; touch own 2>/dev/null && rm own; echo end",
        host.display()
    );
    let mut world = world(&says(&look));
    world.write("../secret", "secret");
    world.write("../node_modules/p", "types");
    let spaces = |it: String| it.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(spaces(said(&world, &tsgolint(""))), "Complete typesend");
    // Nothing around the workspace is shown to one that is not trusted.
    world.confined = true;
    assert_eq!(spaces(said(&world, &tsgolint(""))), "Complete end");
}

#[test]
fn a_question_is_limited() {
    let begun = Instant::now();
    let takes = "head -c 300000000 /dev/zero | tail -c 299999999 | sleep 600";
    let why = said(&world(takes), &tsgolint("memory = 50"));
    assert!(why.contains("it was ended: memory limit of 50 MiB"), "{why}");
    // A process that it started holds its outputs.
    let why = said(&world("setsid sleep 600 & sleep 600"), &tsgolint("timeout = 1"));
    assert!(why.contains("it was ended: time limit of 1s"), "{why}");
    assert!(begun.elapsed().as_secs() < 300);
}

#[test]
fn a_run_on_texts_ends_when_it_is_cancelled() {
    let world = world("sleep 600 & wait");
    let cancel = Cancel::default();
    let (linter, view) = (world.checker(&tsgolint("")).unwrap(), world.branch(&[("a.ts", "1")]));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&linter, &view, &["a.ts"], &cancel));
        cancel.cancel();
        let answer = asked.join().unwrap().remove(0);
        assert_eq!(answer.completeness, Completeness::Pending("interrupted".to_owned()));
    });
    assert!(begun.elapsed().as_secs() < 60);
}

const CONFIG: &str = r#"{ "compilerOptions": { "strict": true, "module": "esnext", "moduleResolution": "bundler", "types": [] }, "include": ["src"] }"#;

/// Files of two projects and of none.
const FILES: [(&str, &str); 6] = [
    ("tsconfig.json", CONFIG),
    ("src/a.ts", "export const a: number = 1;\nexport async function later() {}\n"),
    ("src/b.ts", "import { a, later } from './a';\nexport const b: number = a;\nlater();\n"),
    ("other/tsconfig.json", r#"{ "compilerOptions": { "types": [] } }"#),
    ("other/c.ts", "export const c = 1;\n"),
    ("script.ts", "const s: string = 1;\n"),
];

#[test]
fn tsgolint_on_branches() {
    let world = World::new(&FILES);
    if !has(&world, "tsgolint") {
        return;
    }
    let own = tsgolint("rules = { no-floating-promises = 'error' }");
    let files = ["src/a.ts", "src/b.ts", "other/c.ts", "script.ts"];
    insta::assert_snapshot!("disk", world.check(&own, &world.disk(), &files));
    // An export changes its type: told of its importer.
    let edit = ("src/a.ts", "export const a = 'é1';\nexport async function later() {}\n");
    let told = world.check(&own, &world.branch(&[edit]), &files);
    insta::assert_snapshot!("told", &told);
    // The same with a new file, in a folder.
    let read = world.branch(&[edit, ("unrelated.txt", "")]);
    assert_eq!(world.check(&own, &read, &files), told);
    let new = world.branch(&[
        ("src/new/n.ts", "export const n: string = 1;\n"),
        ("src/b.ts", "import { n } from './new/n';\nexport const b: number = n;\n"),
        ("src/a.ts", "export const a: number = n;\n"),
    ]);
    insta::assert_snapshot!("new", world.check(&own, &new, &["src/a.ts", "src/b.ts", "src/new/n.ts"]));
    let configured = world.branch(&[
        ("tsconfig.json", r#"{ "compilerOptions": { "types": [], "noUnusedLocals": true } }"#),
        ("script.ts", "function f() {}\nexport {};\n"),
    ]);
    insta::assert_snapshot!("configured", world.check(&own, &configured, &files));
    let refused =
        world.branch(&[("tsconfig.json", r#"{ "compilerOptions": { "target": "es5", "types": [] } }"#)]);
    insta::assert_snapshot!("refused", world.check(&own, &refused, &files));
    let gone = world.branch(&[]);
    assert_eq!(world.check(&own, &gone, &files), world.check(&own, &world.disk(), &files));
}

#[test]
fn tsgolint_after_a_file_is_deleted() {
    let world = World::new(&FILES);
    if !has(&world, "tsgolint") {
        return;
    }
    let mut branch = overlay::Branch::new(world.disk());
    branch.remove(&path("src/a.ts")).unwrap();
    let view: std::sync::Arc<dyn overlay::View> = std::sync::Arc::new(branch.snapshot());
    let answers = ask(&world.checker(&tsgolint("")).unwrap(), &view, &["src/b.ts"], &Cancel::default());
    insta::assert_snapshot!(render(&answers, &view, &["src/b.ts"]), @r#"
    src/b.ts: complete
      1:26 "'./a'" error TS2307: Cannot find module './a' or its corresponding type declarations.
    "#);
}
