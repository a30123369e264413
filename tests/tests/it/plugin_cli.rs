//! `broker plugin`: from nothing to a tested rule, and what it says of a plugin that does not hold.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tests::{broker, guest, place::Ending};

/// Exit code, standard output, standard error.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(broker());
    command.arg("plugin").args(arguments).current_dir(folder).env("BROKER_CACHE_DIR", folder.join("cache"));
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Makes a new plugin, with the component that `./dev` built from one.
fn made(folder: &Path) -> String {
    let (exit, out, errors) = run(folder, &["new", "none-comparison"]);
    assert_eq!((exit, errors.as_str()), (Some(0), ""), "{out}");
    let dist = folder.join("none-comparison/dist");
    fs::create_dir(&dist).unwrap();
    fs::copy(guest("none_comparison"), dist.join("none-comparison.wasm")).unwrap();
    out
}

/// The verdicts of each check.
fn tried(folder: &Path, more: &[&str]) -> (Option<i32>, Vec<(String, String, String)>) {
    let arguments = [&["test", "none-comparison", "--output-format", "json"], more].concat();
    let (exit, out, errors) = run(folder, &arguments);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{errors}"));
    assert_eq!(answer["passed"].as_bool(), Some(exit == Some(0)));
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let row = |it: &Value| (text(&it["check"]), text(&it["verdict"]), text(&it["message"]));
    (exit, answer["checks"].as_array().unwrap().iter().map(row).collect())
}

#[test]
fn a_new_plugin_holds() {
    let folder = tempfile::tempdir().unwrap();
    let told = made(folder.path());
    assert_eq!(
        told,
        "made none-comparison; next: cd none-comparison; broker plugin build; broker plugin test\n"
    );
    let (exit, checks) = tried(folder.path(), &[]);
    assert_eq!(exit, Some(0), "{checks:#?}");
    let names: Vec<_> = checks.iter().map(|(check, verdict, _)| format!("{check} {verdict}")).collect();
    let want = ["declaration ok", "golden ok", "determinism ok", "fixes ok", "robustness ok", "budget ok"];
    assert_eq!(names, want);
}

#[test]
fn a_plugin_that_cannot_be_made_ready_is_told() {
    const WHY: &str = "plugin `unready` 0.1.0 crashed: panicked at unready/src/lib.rs:9:9: the table of rules has a hole \
                       (while it was made ready)";
    let folder = tempfile::tempdir().unwrap();
    let component = guest("guest_unready");
    let component = component.to_str().unwrap();
    let (exit, out, errors) = run(folder.path(), &["inspect", component]);
    assert_eq!((exit, out.as_str()), (Some(2), ""));
    assert_eq!(errors, format!("compiling plugin `unready` (once)\nerror: {WHY}\n"));
    for file in 0..24 {
        fs::write(folder.path().join(format!("{file}.x")), "x").unwrap();
    }
    let mut check = Command::new(broker());
    check.args(["check", "--select", "unready/ALL", "--plugin", component]);
    check.current_dir(folder.path()).env("BROKER_CACHE_DIR", folder.path().join("cache"));
    let output = check.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains(WHY), "{errors}");
    assert_eq!(errors.matches("compiling plugin").count(), 1, "{errors}");
}

/// A component of 300 kB, of which the compiler would make gigabytes.
fn bomb() -> Vec<u8> {
    const LOCALS: u64 = 2_000;
    let mut seed = 1_u64;
    let mut local = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % LOCALS
    };
    let mut body = String::new();
    for _ in 0..15_000 {
        let (a, b, c) = (local(), local(), local());
        body += &format!(
            "block local.get {a} br_if 0 (local.set {c} (i32.add (local.get {b}) (local.get {a}))) end\n"
        );
    }
    let locals = "i32 ".repeat(LOCALS as usize);
    let text =
        format!("(component (core module (func (local {locals}) loop {body} local.get 0 br_if 0 end)))");
    let manifest = fs::read_to_string("guests/unready/broker-plugin.toml").unwrap();
    tests::with_manifest(&wat::parse_str(text).unwrap(), &manifest.replace("unready", "bomb"))
}

#[test]
fn a_component_that_the_compiler_does_not_bear() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bomb.wasm"), bomb()).unwrap();
    let (exit, out, errors) = run(folder.path(), &["inspect", "bomb.wasm"]);
    assert_eq!((exit, out.as_str()), (Some(2), ""));
    let why = "it breaks off, as it does where 4096 MiB of memory are not enough";
    assert!(errors.ends_with(&format!("error: plugin `bomb` 0.1.0 cannot be compiled: {why}\n")), "{errors}");
}

#[test]
fn what_does_not_hold_is_told() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    let fixture = |path: &str, text: &str| {
        fs::write(folder.path().join("none-comparison/fixtures").join(path), text).unwrap();
    };
    fixture("valid/good.py", "x == None\n");
    fixture("invalid/bad.py.fixed", "something else\n");
    fixture("invalid/new.py", "y == None\n");
    fixture("fixtures.toml", "max-memory = 0\n");
    let (exit, checks) = tried(folder.path(), &[]);
    assert_eq!(exit, Some(1));
    let failed: Vec<_> = checks.iter().filter(|(_, verdict, _)| verdict == "FAILED").collect();
    let messages: Vec<_> = failed.iter().map(|(check, _, message)| format!("{check}: {message}")).collect();
    let has = |what: &str| assert!(messages.iter().any(|it| it.contains(what)), "{what}: {messages:#?}");
    has("golden: nothing should be found:\n1:3-1:5 warning none-comparison");
    has("golden: what the fixes make of it differs:\n- something else\n+ def is_set");
    has("golden: there is no `invalid/new.py.findings`; --update writes it");
    has("budget: ");

    fixture("valid/good.py", "x is None\n");
    fixture("fixtures.toml", "");
    let (exit, _) = tried(folder.path(), &["--update"]);
    assert_eq!(exit, Some(0));
    let written = fs::read_to_string(folder.path().join("none-comparison/fixtures/invalid/new.py.fixed"));
    assert_eq!(written.unwrap(), "y is None\n");
}

#[test]
fn what_is_left_out_is_valid_and_a_cause_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("misbehaves");
    for set in ["valid", "invalid"] {
        fs::create_dir_all(plugin.join("fixtures").join(set)).unwrap();
    }
    fs::copy("guests/misbehaves/broker-plugin.toml", plugin.join("broker-plugin.toml")).unwrap();
    let component = guest("guest_misbehaves");
    let test = || {
        let arguments = ["test", "misbehaves", "--component", component.to_str().unwrap()];
        run(folder.path(), &arguments).1
    };
    let fixture = |path: &str, text: &str| fs::write(plugin.join("fixtures").join(path), text).unwrap();
    fixture("valid/left-out.fault", "excluded");
    let out = test();
    assert!(out.contains("ok      golden       as the fixtures say: 1 file"), "{out}");
    for name in ["a", "b", "c"] {
        fixture(&format!("invalid/{name}.fault"), "unknown-code");
        fixture(&format!("valid/{name}.fault"), "unknown-code");
    }
    let out = test();
    let why = "plugin `misbehaves` 0.1.0: `nobody-has-it` is found, but `rules` does not name it";
    let golden: Vec<_> = out.lines().filter(|it| it.contains("FAILED  golden")).collect();
    let want = format!(
        "valid/a.fault: there is no answer: {why} (and 17 more for the same cause, 12 in robustness)"
    );
    assert!(matches!(golden[..], [line] if line.ends_with(&want)), "{out}");
    assert_eq!(out.matches(why).count(), 1, "in all checks: {out}");
    assert_eq!(out.matches("no such fault").count(), 1, "whatever text it is about: {out}");
}

#[test]
fn a_file_that_is_to_be_left_out_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("misbehaves");
    fs::create_dir_all(plugin.join("fixtures/valid")).unwrap();
    fs::copy("guests/misbehaves/broker-plugin.toml", plugin.join("broker-plugin.toml")).unwrap();
    let component = guest("guest_misbehaves");
    let test = |more: &[&str]| {
        let arguments = [&["test", "misbehaves", "--component", component.to_str().unwrap()], more].concat();
        run(folder.path(), &arguments)
    };
    let fixture = |text: &str| fs::write(plugin.join("fixtures/valid/a.fault"), text).unwrap();
    let findings = plugin.join("fixtures/valid/a.fault.findings");
    fixture("excluded");
    let (_, _, errors) = test(&["--update"]);
    assert!(errors.contains("valid/a.fault.findings"), "{errors}");
    assert_eq!(fs::read_to_string(&findings).unwrap(), "excluded\n");
    assert!(test(&[]).1.contains("ok      golden"), "{}", test(&[]).1);
    fixture("read");
    let (exit, out, _) = test(&[]);
    assert_eq!(exit, Some(1));
    let want =
        "FAILED  golden       valid/a.fault: it is not left out:\n                         - excluded\n";
    assert!(out.contains(want), "{out}");
    test(&["--update"]);
    assert!(!findings.exists());
}

#[test]
fn trees_are_those_of_plugins() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.py"), "f(x == None\n").unwrap();
    fs::write(folder.path().join("b.scm"), "(none) @none\n(no_such) @x\n").unwrap();
    let tree = |arguments: &[&str]| {
        let (exit, out, errors) = run(folder.path(), &[&["tree"], arguments].concat());
        format!("exit {}\n{out}{errors}", exit.unwrap())
    };
    insta::assert_snapshot!(tree(&["a.py"]), @r#"
exit 0
(module 1:1-2:1
  (ERROR 1:1-1:12
    (identifier 1:1-1:2)  ; f
    "(" 1:2-1:3
    (comparison_operator 1:3-1:12
      (identifier 1:3-1:4)  ; x
      operators: "==" 1:5-1:7
      (none 1:8-1:12))))  ; None
"#);
    let query = "(comparison_operator (_) @left . \"==\" @sign . (none))";
    insta::assert_snapshot!(tree(&["a.py", "--query", query]), @r#"
exit 0
match 0, pattern 0
  @left 1:3-1:4  ; x
  @sign 1:5-1:7  ; ==
1 match, 2 captures
"#);
    insta::assert_snapshot!(tree(&["a.py", "--query-file", "b.scm"]), @r#"
exit 2
error: b.scm: line 2, column 2: there is no kind of node `no_such`
hint: without a query, this command shows what nodes and fields are called
"#);
    insta::assert_snapshot!(tree(&["a.py", "--query", "(none)"]), @r#"
exit 2
error: the query: nothing is captured
hint: name what a rule needs: `(identifier) @name`
"#);
    insta::assert_snapshot!(tree(&["b.scm"]), @r#"
exit 2
error: there is no grammar for b.scm
hint: --language is one of c, cpp, csharp, css, dart, dockerfile, dtd, elixir, go, graphql, html, java, javascript, json, kotlin, lua, makefile, nix, php, proto, python, ruby, rust, scala, shellscript, swift, terraform, toml, typescript, typescriptreact, xml, yaml, zig
"#);
    insta::assert_snapshot!(tree(&["none.py"]), @r#"
exit 2
error: cannot read none.py: no such file or directory
"#);
    let (_, out, _) = run(folder.path(), &["tree", "a.py", "--json", "--query", query]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    let sign = &answer["matches"][0]["captures"][1];
    assert_eq!(
        (&sign["name"], &sign["text"], &sign["start"]["byte"]),
        (&"sign".into(), &"==".into(), &4.into())
    );
    let (_, out, _) = run(folder.path(), &["tree", "b.scm", "--language", "python", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&answer["language"], &answer["nodes"][0]["kind"]), (&"python".into(), &"module".into()));
}

/// The plugin of `made`, whose cargo gives back the component that was built, unless the source says otherwise, and writes what
/// cargo writes.
fn with_a_cargo(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    made(folder);
    let tools = folder.join("tools");
    fs::create_dir(&tools).unwrap();
    let component = guest("none_comparison");
    let script = format!(
        "#!/bin/sh\nset -e\necho build >>../builds\nmkdir -p target\ndate >target/made\necho lock >Cargo.lock\n\
         if grep -q broken src/lib.rs; then echo 'error: expected `;`' >&2; exit 1; fi\n\
         echo '{{\"reason\":\"compiler-artifact\",\"filenames\":[\"{}\"]}}'\n",
        component.display()
    );
    fs::write(tools.join("cargo"), script).unwrap();
    fs::set_permissions(tools.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    tools
}

/// `broker plugin dev`, and the lines that it prints.
fn dev(folder: &Path, arguments: &[&str]) -> (Ending, impl Iterator<Item = String>) {
    let path = std::env::join_paths(
        [folder.join("tools")].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    // In one pipe, so that the order is that of what happens.
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = Command::new(broker());
    command.args(["plugin", "dev"]).args(arguments).current_dir(folder).env("PATH", path.unwrap());
    command.env("BROKER_CACHE_DIR", folder.join("cache")).env("BROKER_STATE_DIR", folder.join("state"));
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let child = Ending(command.spawn().unwrap());
    drop(command);
    (child, BufReader::new(reader).lines().map(Result::unwrap))
}

/// Returns the lines that are printed up to the wait for the next change.
fn round(lines: &mut impl Iterator<Item = String>) -> Vec<String> {
    let round: Vec<_> = lines.take_while(|it| !it.starts_with("watching ")).collect();
    assert!(!round.is_empty());
    round
}

#[test]
fn a_plugin_is_built_and_checked_on_save() {
    let folder = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(folder.path()).unwrap();
    with_a_cargo(&folder);
    let source = folder.join("none-comparison/src/lib.rs");
    let whole = fs::read_to_string(&source).unwrap();
    fs::write(&source, "broken").unwrap();
    fs::write(folder.join("a.py"), "x == None\n").unwrap();
    let (mut child, mut lines) = dev(&folder, &["none-comparison", "--", "a.py"]);
    let first = round(&mut lines);
    assert_eq!(first, ["error: expected `;`", "error: cargo could not build the plugin"]);
    // At once: a file that is cut off and then written would be two changes.
    fs::write(folder.join("new"), whole).unwrap();
    fs::rename(folder.join("new"), &source).unwrap();
    let second = round(&mut lines).join("\n");
    assert!(second.starts_with("--- src/lib.rs changed\nbuilt "), "{second}");
    assert!(second.contains("none-comparison/none-comparison"), "{second}");
    // Needs no build; what the builds wrote needs nothing.
    fs::write(folder.join("new"), "x is None\n").unwrap();
    fs::rename(folder.join("new"), folder.join("none-comparison/fixtures/valid/more.py")).unwrap();
    let third = round(&mut lines).join("\n");
    assert!(third.starts_with("--- fixtures/valid/more.py changed\n"), "{third}");
    assert!(!third.contains("built "), "{third}");
    assert_eq!(child.interrupt(), Some(1), "as the last round");
    assert_eq!(fs::read_to_string(folder.join("builds")).unwrap(), "build\nbuild\n");
}

#[test]
fn without_paths_the_fixtures_and_the_workspace_are_tried() {
    let folder = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(folder.path()).unwrap();
    with_a_cargo(&folder);
    fs::write(folder.join("broker.toml"), "").unwrap();
    // Another linter has something to say of it, too.
    fs::write(folder.join("a.py"), "import os\nos == None\n").unwrap();
    let (mut child, mut lines) = dev(&folder, &["none-comparison"]);
    let told = round(&mut lines).join("\n");
    assert!(told.contains("ok      golden       as the fixtures say: 2 files"), "{told}");
    assert!(told.contains("a.py:2:4") && !told.contains("python/"), "{told}");
    assert!(!told.contains("fixtures/invalid/bad.py"), "the plugin's own folder: {told}");
    assert_eq!(child.interrupt(), Some(1));
}

#[test]
fn what_keeps_cargo_from_building_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let tool = |name: &str, script: &str| {
        fs::write(tools.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(tools.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let build = || {
        let mut build = Command::new(broker());
        build.args(["plugin", "build", "none-comparison"]).current_dir(folder.path()).env("PATH", &tools);
        String::from_utf8(build.output().unwrap().stderr).unwrap()
    };
    tool("cargo", "echo 'error: expected `;`' >&2; exit 1");
    tool("rustc", "echo /");
    assert_eq!(build(), "error: expected `;`\nerror: cargo could not build the plugin\n");
    tool("rustc", "echo /nowhere");
    let hint = "hint: rustup target add wasm32-wasip2\n";
    assert_eq!(build(), format!("error: expected `;`\nerror: cargo could not build the plugin\n{hint}"));
}

#[test]
fn what_is_tried_is_what_stands_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    let manifest = folder.path().join("none-comparison/broker-plugin.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"*.py", "\"*.js")).unwrap();
    let (exit, _, errors) = run(folder.path(), &["test", "none-comparison"]);
    assert_eq!(exit, Some(2));
    assert!(errors.contains("was built with another manifest\nhint: `broker plugin build`"), "{errors}");
    let (exit, out, _) = run(
        folder.path(),
        &["test", "none-comparison", "--component", "none-comparison/dist/none-comparison.wasm"],
    );
    assert_eq!(exit, Some(0), "asked for by name: {out}");
    fs::write(&manifest, text).unwrap();
    let (exit, _, errors) = run(folder.path(), &["test", "none-comparison"]);
    assert_eq!(exit, Some(0));
    assert!(errors.contains("is older than") && errors.contains("broker-plugin.toml"), "{errors}");

    let fixtures = folder.path().join("none-comparison/fixtures");
    fs::write(fixtures.join("fixtures.toml"), "select = [\"nope\"]\n").unwrap();
    let (_, checks) = tried(folder.path(), &[]);
    assert!(checks.iter().any(|it| it.2.contains("no rule is called that")), "{checks:?}");
    for name in ["fixtures.toml", "valid", "invalid"].map(|it| fixtures.join(it)) {
        let _gone = fs::remove_file(&name).or_else(|_| fs::remove_dir_all(&name));
    }
    fs::create_dir(fixtures.join("valid")).unwrap();
    fs::write(fixtures.join("valid/a.js"), "").unwrap();
    let (exit, checks) = tried(folder.path(), &[]);
    assert_eq!(exit, Some(1));
    assert!(checks.iter().any(|it| it.2.contains("`globs` names none of these files")), "{checks:?}");
}

#[test]
fn a_plugin_that_breaks_off_does_not_pass() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("misbehaves");
    fs::create_dir_all(plugin.join("fixtures/valid")).unwrap();
    fs::write(plugin.join("fixtures/valid/a.fault"), "panic\n").unwrap();
    fs::copy("guests/misbehaves/broker-plugin.toml", plugin.join("broker-plugin.toml")).unwrap();
    let component = guest("guest_misbehaves");
    let (exit, out, errors) =
        run(folder.path(), &["test", "misbehaves", "--component", component.to_str().unwrap()]);
    assert_eq!(exit, Some(1), "{out}{errors}");
    assert!(out.contains("golden       valid/a.fault: there is no answer: plugin"), "{out}");
    assert!(out.contains("crashed: panicked at"), "{out}");
    fs::write(plugin.join("fixtures/valid/a.fault"), "mends panic\n").unwrap();
    let (exit, mended, _) =
        run(folder.path(), &["test", "misbehaves", "--component", component.to_str().unwrap()]);
    assert_eq!(exit, Some(1));
    assert!(mended.contains("leaves a file that is not answered as before: Failed"), "{mended}");
    assert!(out.contains(" in robustness)"), "the same cause: {out}");
    fs::rename(plugin.join("fixtures/valid"), plugin.join("fixtures/invalid")).unwrap();
    fs::write(plugin.join("fixtures/invalid/a.fault"), "panic\n").unwrap();
    let (exit, out, _) =
        run(folder.path(), &["test", "misbehaves", "--update", "--component", component.to_str().unwrap()]);
    assert_eq!(exit, Some(1));
    assert!(out.contains("there is no answer: plugin `misbehaves` 0.1.0 crashed"), "{out}");
    assert!(!plugin.join("fixtures/invalid/a.fault.findings").exists());
}

/// Steps of an author in another language, from nothing to a tested rule. `./dev` installs the tools. JavaScript is not among
/// them: `./dev` tries the example `package-json`, in TypeScript, with the same SDK and tools, which take half a minute.
fn from_nothing(language: &str) {
    let Some(tools) = std::env::var_os("BROKER_TEST_LANGUAGES") else {
        println!("skipped: BROKER_TEST_LANGUAGES is not set");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (exit, _, errors) = run(folder.path(), &["new", "first", "--language", language]);
    assert_eq!((exit, errors.as_str()), (Some(0), ""));
    let mut path = vec![PathBuf::from(tools)];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let path = path.iter().map(|it| it.to_str().unwrap()).collect::<Vec<_>>().join(":");
    let mut build = Command::new(broker());
    build.args(["plugin", "build", "first"]).current_dir(folder.path()).env("PATH", path);
    let output = build.output().unwrap();
    assert!(output.status.success(), "{language}: {}", String::from_utf8_lossy(&output.stderr));
    let (exit, out, errors) = run(folder.path(), &["test", "first"]);
    assert_eq!(exit, Some(0), "{language}: {out}{errors}");
    let (exit, out, _) = run(folder.path(), &["inspect", "first/dist/first.wasm"]);
    assert_eq!(exit, Some(0));
    assert!(!out.contains("sockets"), "{language}: {out}");
}

#[test]
fn from_nothing_in_python() {
    from_nothing("python");
}

#[test]
fn from_nothing_in_c() {
    from_nothing("c");
}

#[test]
fn inspects() {
    let folder = tempfile::tempdir().unwrap();
    let component = guest("none_comparison");
    let component = component.to_str().unwrap();
    let (exit, out, _) = run(folder.path(), &["inspect", component, "--output-format", "json"]);
    assert_eq!(exit, Some(0));
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&answer["name"], &answer["api"]), (&"none-comparison".into(), &"0.1.0".into()));
    assert_eq!(answer["rules"][0]["code"], "none-comparison");
    let imports: Vec<_> =
        answer["imports"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(imports.contains(&"broker:plugin/syntax@0.1.0"), "{imports:?}");
    assert!(!imports.iter().any(|it| it.contains("sockets")), "{imports:?}");
    let (exit, out, _) = run(folder.path(), &["inspect", "text"]);
    assert_eq!(exit, Some(0));
    assert!(out.starts_with("text 0.1.0: "), "{out}");
}

#[test]
fn slips_are_told_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let told = |arguments: &[&str]| {
        let (exit, _, errors) = run(folder.path(), arguments);
        assert_eq!(exit, Some(2), "{arguments:?}");
        errors.replace(folder.path().to_str().unwrap(), "[folder]")
    };
    insta::assert_snapshot!(told(&["new", "No_Good"]), @r#"
error: `No_Good` cannot be a plugin's name
hint: use small letters, digits and hyphens, a letter first: `no-todo`
"#);
    insta::assert_snapshot!(told(&["test", "nowhere"]), @r#"
error: there is no broker-plugin.toml in [folder]/nowhere
hint: `broker plugin new` makes the folder of a plugin
"#);
    insta::assert_snapshot!(told(&["inspect", "txt"]), @r#"
error: no plugin named `txt`
hint: did you mean `text`?
"#);
    fs::create_dir(folder.path().join("there")).unwrap();
    insta::assert_snapshot!(told(&["new", "there"]), @r#"
error: there is already something at [folder]/there
hint: choose another name, or another folder with --in
"#);
    insta::assert_snapshot!(told(&["new", "ty"]), @r#"
error: a plugin cannot be called `ty`
hint: findings of Broker itself or of a language server are told under this name
"#);
    insta::assert_snapshot!(told(&["inspect", "dist/none.wasm"]), @"error: there is no file dist/none.wasm");
    run(folder.path(), &["new", "fresh"]);
    insta::assert_snapshot!(told(&["test", "fresh"]), @r#"
error: there is no component [folder]/fresh/dist/fresh.wasm
hint: `broker plugin build` makes it
"#);
    fs::remove_file(folder.path().join("fresh/Cargo.toml")).unwrap();
    insta::assert_snapshot!(told(&["build", "fresh"]), @r#"
error: nothing in [folder]/fresh says how to build it
hint: a plugin has one of Cargo.toml, package.json, compile_flags.txt, requirements.txt, pyproject.toml; `broker plugin new` makes one
"#);
}

/// `examples/rules`, as `docs/rules.md` makes it step by step.
#[test]
fn rules_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    copy(Path::new("../examples/rules"), folder.path());
    let check = |path: &str| {
        let mut command = Command::new(broker());
        command.args(["check", "--output-format", "concise", path]).current_dir(folder.path());
        let output = command.env("BROKER_CACHE_DIR", folder.path().join("cache")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (exit, out, errors) = check(".broker/rules");
    assert_eq!(exit, Some(0), "the rules hold what their tests say: {out}{errors}");
    let (exit, out, errors) = check("shop");
    assert_eq!(exit, Some(1), "{out}{errors}");
    assert!(out.contains("pattern/"), "{out}");
    let rule = folder.path().join(".broker/rules/broken.yml");
    fs::write(rule, "id: broken\nlanguage: python\nrule: {kind: no_such_kind}\n").unwrap();
    let (exit, _, errors) = check("shop");
    assert_eq!(exit, Some(2), "a rule that cannot be run is no clean answer");
    assert!(errors.contains("broken.yml"), "{errors}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|it| it.unwrap()) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
