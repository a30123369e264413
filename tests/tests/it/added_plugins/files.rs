//! Plugins from files of the workspace.

use super::*;

#[test]
fn one_from_a_file_is_used_until_it_is_removed() {
    let place = place();
    place.write("broker.toml", "# mine\nignore = [\"F401\"] # too\n");
    place.write("tools/no-todo.wasm", no_todo());
    let told = ok(&place, &["plugin", "add", "tools/no-todo.wasm"]);
    assert_snapshot!(without_digests(&told), @"added no-todo 0.1.0, sha256:[…]");
    assert_snapshot!(place.read("broker.toml"), @r#"
    # mine
    ignore = ["F401"] # too

    [plugins.no-todo]
    source = "tools/no-todo.wasm"
    "#);
    assert_snapshot!(without_digests(&place.read("broker.lock")), @r#"
# Written by `broker plugin` and `broker server`. What is not as it says here is not run.
version = 1

[[plugin]]
name = "no-todo"
version = "0.1.0"
source = "tools/no-todo.wasm"
digest = "sha256:[…]"
"#);
    assert_eq!(check(&place, &["a.c"]), (Some(1), vec![FOUND.to_owned()], vec![]));
    assert!(ok(&place, &["plugin", "list"]).contains("\nno-todo "));
    assert!(ok(&place, &["rule", "explain", "no-todo/anonymous-todo"]).contains("TODO"));
    assert_eq!(check(&place, &["--isolated", "a.c"]).0, Some(0));

    assert_snapshot!(ok(&place, &["plugin", "remove", "no-todo"]), @"removed no-todo");
    assert_snapshot!(place.read("broker.toml"), @r#"
    # mine
    ignore = ["F401"] # too
    "#);
    assert_eq!(check(&place, &["a.c"]), (Some(0), vec![], vec![]));
}

#[test]
fn a_branch_has_the_plugins_that_its_own_files_name() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    ok(&place, &["branch", "fork", "try"]);
    assert_eq!(check(&place, &["--branch", "try"]), (Some(1), vec![FOUND.to_owned()], vec![]));
    let described = place.run(&["check", "--branch", "try", "--output-format", "sarif"]).stdout;
    assert!(String::from_utf8_lossy(&described).contains("A TODO names nobody"), "its rules are known");
    assert!(
        place.run_with_input(&["branch", "write", "try", "broker.lock"], "version = 1\n").status.success()
    );
    let (exit, findings, incomplete) = check(&place, &["--branch", "try"]);
    assert_eq!((exit, findings), (Some(2), vec![]));
    assert_snapshot!(incomplete.join("\n"), @"plugin `no-todo` from no-todo.wasm is not in broker.lock; `broker plugin update no-todo` puts it there");
    assert!(place.run_with_input(&["branch", "write", "try", "broker.toml"], "").status.success());
    assert_eq!(check(&place, &["--branch", "try"]), (Some(0), vec![], vec![]));
}

#[test]
fn what_is_staged_has_the_plugins_that_are_staged() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    place.git(&["init", "-q"]);
    place.git(&["add", "."]);
    fs::remove_file(place.root().join("broker.toml")).unwrap();
    assert_eq!(check(&place, &["--staged"]).1, [FOUND]);
    assert_eq!(check(&place, &[]).1, [""; 0]);
}

#[test]
fn one_that_is_declared_is_run_or_told() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    fs::rename(place.root().join("broker.toml"), place.root().join("base.toml")).unwrap();
    place.write("broker.toml", "extends = \"base.toml\"\n[plugins.no-todo]\ngrants = [\"env:X\"]\n");
    assert_eq!(check(&place, &["a.c"]).1, [FOUND], "the other keys stay");
    place.write("broker.toml", "[plugins.no-todo]\ngrants = []\n");
    let told = |arguments: &[&str]| check(&place, arguments).2.join("\n");
    assert_snapshot!(told(&["a.c"]), @"plugin `no-todo` has no `source` in broker.toml");
    assert_snapshot!(told(&["a.c", "--select", "no-todo/ALL"]), @"plugin `no-todo` has no `source` in broker.toml");
    place.write(
        "broker.toml",
        "[plugins.todo]\nsource = \"no-todo.wasm\"\n[plugins.no-todo]\nsource = \"no-todo.wasm\"\n",
    );
    let lock = place.read("broker.lock");
    let entry = lock.split_once("[[plugin]]").unwrap().1.replace("no-todo\"", "todo\"");
    place.write("broker.lock", format!("{lock}\n[[plugin]]{entry}"));
    assert_snapshot!(told(&["a.c"]), @"plugin `todo` from no-todo.wasm calls itself `no-todo`: give it that name in broker.toml");
    place.write("broker.toml", "[plugins.pipe]\nsource = \"../pipe.wasm\"\n");
    place.write(
        "broker.lock",
        lock.replace("no-todo\"", "pipe\"").replace("\"no-todo.wasm", "\"../pipe.wasm"),
    );
    let pipe = place.root().join("../pipe.wasm");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let said = told(&["a.c"]);
    fs::remove_file(pipe).unwrap();
    assert_snapshot!(said, @"plugin `pipe` lies outside of the workspace, at ../pipe.wasm, which counts only in a workspace that is trusted: see `broker trust`");
    place.write("broker.toml", "[plugins");
    assert_snapshot!(refused(&place, &["plugin", "list"]), @"error: broker.toml:1:9: unclosed table, expected `]`");
}

#[test]
fn what_people_wrote_stays() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    place.write(
        "broker.toml",
        "# ours\r\n[plugins.no-todo]\r\nsource = \"old.wasm\" # why\r\ngrants = [\"env:X\"]\r\n",
    );
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    let want = "# ours\r\n[plugins.no-todo]\r\nsource = \"no-todo.wasm\" # why\r\ngrants = [\"env:X\"]\r\n";
    assert_eq!(place.read("broker.toml"), want);
    place.write("base.toml", "# ours\n\n# its\n[plugins.no-todo]\nsource = \"no-todo.wasm\"\n\n[severity]\n");
    place.write("broker.toml", "extends = \"base.toml\"\n\n[plugins.no-todo]\nsource = \"no-todo.wasm\"\n");
    assert_snapshot!(ok(&place, &["plugin", "remove", "no-todo"]), @"removed no-todo from broker.toml; a file that this extends adds it still");
    assert_eq!(check(&place, &["a.c"]), (Some(1), vec![FOUND.to_owned()], vec![]));
    fs::rename(place.root().join("base.toml"), place.root().join("broker.toml")).unwrap();
    assert_snapshot!(ok(&place, &["plugin", "remove", "no-todo"]), @"removed no-todo");
    assert_eq!(place.read("broker.toml"), "# ours\n\n[severity]\n");
}

#[test]
fn adding_two_at_the_same_time_loses_none() {
    let place = place();
    let names = ["misbehaves", "no-todo", "none-comparison"];
    for (name, built) in names.iter().zip(["guest_misbehaves", "no_todo", "none_comparison"]) {
        place.write(&format!("{name}.wasm"), fs::read(guest(built)).unwrap());
    }
    let adding = names.iter().map(|it| {
        let mut command = place.command(&["plugin", "add", &format!("{it}.wasm")]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    });
    for child in adding.collect::<Vec<_>>() {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let lock = place.read("broker.lock");
    assert!(names.iter().all(|it| lock.contains(&format!("\"{it}\""))), "{lock}");
}

#[test]
fn one_that_was_changed_is_not_run() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    place.write("no-todo.wasm", no_todo_again());
    let (exit, findings, incomplete) = check(&place, &["a.c"]);
    assert_eq!((exit, findings), (Some(2), vec![]));
    assert_snapshot!(without_digests(&incomplete.join("\n")), @"plugin `no-todo` at no-todo.wasm has digest sha256:[…], but broker.lock has sha256:[…]; run `broker plugin update no-todo` to accept it");
    assert_snapshot!(without_digests(&ok(&place, &["plugin", "update"])), @"no-todo 0.1.0 -> 0.1.0, sha256:[…]");
    assert_eq!(check(&place, &["a.c"]).0, Some(1));
    assert_snapshot!(ok(&place, &["plugin", "update", "no-todo"]), @"no-todo 0.1.0: unchanged");
}

/// Neither a branch nor a workspace of another's making learns whether a file of the user's is there, or what is in it.
#[test]
fn what_lies_outside_is_not_told() {
    let place = place();
    let secret = place.own("pin");
    fs::write(&secret, "1234").unwrap();
    let (pin, none) = (secret.to_str().unwrap(), place.own("none").to_str().unwrap().to_owned());
    let digest = "03ac674216f3e15c761ee1a5e255f067953623c8b388b4459e13f978d7c846f4";
    let toml = |source: &str| format!("[plugins.x]\nsource = \"{source}\"\n");
    let lock = |source: &str, digest: &str| {
        format!(
            "version = 1\n[[plugin]]\nname = \"x\"\nversion = \"1\"\nsource = \"{source}\"\ndigest = \"sha256:{digest:0>64}\"\n"
        )
    };
    ok(&place, &["branch", "fork", "try"]);
    let asked = |source: &str, digest: &str| {
        for (file, text) in [("broker.toml", toml(source)), ("broker.lock", lock(source, digest))] {
            assert!(place.run_with_input(&["branch", "write", "try", file], &text).status.success());
        }
        check(&place, &["--branch", "try"]).2.join("\n").replace(source, "[source]")
    };
    ok(&place, &["trust"]);
    let said = asked(pin, "0");
    assert_snapshot!(said, @"plugin `x` lies outside of the workspace, at [source], and only the broker.toml on the disk can name such a file");
    let up = format!("tools/../{}{pin}", "../".repeat(20));
    for (source, digest) in [(pin, digest), (&none, "0"), (&up, "0"), ("/proc/self/environ", "0")] {
        assert_eq!(asked(source, digest), said, "{source}");
    }
    // A link in the branch leads nowhere.
    for target in [pin, &none, "../../pin"] {
        let patch = format!(
            "diff --git a/tools/x.wasm b/tools/x.wasm\nnew file mode 120000\n--- /dev/null\n+++ b/tools/x.wasm\n\
             @@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
        );
        let link = place.run_with_input(&["branch", "patch", "try"], &patch);
        assert!(link.status.success(), "{}", String::from_utf8_lossy(&link.stderr));
        assert_eq!(
            asked("tools/x.wasm", "0"),
            "cannot read plugin `x` at [source]: it, or something on the way there, is not a directory"
        );
        ok(&place, &["branch", "rm", "try", "tools/x.wasm"]);
    }

    // Files that the user's own configuration names may be read, and are not reported either: a branch has a lock file of its
    // own.
    place.write("broker.toml", toml(pin));
    place.write("broker.lock", lock(pin, "0"));
    let said = asked(pin, "0");
    assert_snapshot!(said, @"cannot use plugin `x` at [source]: the file is missing, unreadable, or differs from broker.lock; run `broker plugin update x`");
    fs::remove_file(&secret).unwrap();
    assert_eq!(asked(pin, "0"), said);
    ok(&place, &["trust", "--revoke"]);
    let (_, _, incomplete) = check(&place, &["a.c"]);
    assert!(incomplete[0].contains("which counts only in a workspace that is trusted"), "{incomplete:?}");
}

#[test]
fn the_list_has_the_digests_of_the_lock_file() {
    let place = place();
    place.write("no-todo.wasm", no_todo());
    ok(&place, &["plugin", "add", "no-todo.wasm"]);
    let lock = place.read("broker.lock");
    let digest = lock.split_once("sha256:").unwrap().1[..12].to_owned();
    let line = |text: String| text.lines().find(|it| it.starts_with("no-todo ")).unwrap().to_owned();
    assert!(line(ok(&place, &["plugin", "list"])).contains(&format!(" sha256:{digest} ")));
    for plugin in ["no-todo", "no-todo.wasm"] {
        let told = ok(&place, &["plugin", "inspect", plugin]);
        assert!(told.contains(&format!("digest       sha256:{digest}")), "{told}");
    }
    // In place of the one that is added.
    place.write("other.wasm", [&no_todo()[..], b"\0\x02\x01x"].concat());
    let listed = line(ok(&place, &["plugin", "list", "--plugin", "other.wasm"]));
    let inspected = ok(&place, &["plugin", "inspect", "other.wasm"]);
    let other = inspected.split_once("sha256:").unwrap().1[..12].to_owned();
    assert_ne!(other, digest);
    assert!(listed.contains(&format!(" sha256:{other} ")), "{listed}");
}
