//! Trust that servers need, and messages that name the programs a workspace would start.

use super::*;

#[test]
fn nothing_runs_in_a_workspace_that_is_not_trusted() {
    let it = place("");
    let (exit, report) = check(&it, &[]);
    assert_eq!((exit, messages(&report).len()), (Some(2), 0));
    let reason = report["incomplete"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("not trusted; see `broker trust`"), "{reason}");
    assert!(it.run(&["trust"]).status.success());
    let (exit, report) = check(&it, &[]);
    assert_eq!((exit, messages(&report).len()), (Some(1), 2), "{report}");
    assert!(it.run(&["trust", "--revoke"]).status.success());
    assert_eq!(check(&it, &[]).0, Some(2));
}

#[test]
fn a_workspace_that_is_not_trusted_says_who_would_be_asked() {
    let it = Place::new(&[("go.mod", "module a\n"), ("a.go", "package a\n"), ("b.txt", "")]);
    let (programs, testkit) = (it.own("programs"), broker().with_file_name("language-servers-testkit"));
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(testkit, programs.join("gopls")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = it.command(&[&["check"], arguments].concat());
        told(&command.env("PATH", &programs).output().unwrap())
    };
    it.run(&["branch", "fork", "try"]);
    it.run(&["daemon", "stop"]);
    for branch in [&[][..], &["--branch", "try"]] {
        let with = |format: &str| run(&[&["--output-format", format], branch].concat());
        let (exit, _, stderr) = with("full");
        assert_eq!(exit, Some(0));
        let sentence = "not asked: gopls (go.mod): it runs code of the project, and ";
        assert_eq!(stderr.matches(sentence).count(), 1, "{branch:?}: {stderr}");
        let (exit, report, _) = with("json");
        let report: Value = serde_json::from_str(&report).unwrap();
        let reason = report["unavailable"][0]["reason"].as_str().unwrap();
        assert!(exit == Some(0) && reason.contains("not trusted; see `broker trust`"), "{report}");
        let (_, sarif, _) = with("sarif");
        let sarif: Value = serde_json::from_str(&sarif).unwrap();
        let invocation = &sarif["runs"][0]["invocations"][0];
        let told = &invocation["toolConfigurationNotifications"][0]["message"]["text"];
        assert!(told.as_str().unwrap().starts_with("not asked: gopls (go.mod): "), "{sarif}");
        assert_eq!(invocation["executionSuccessful"], true);
        assert!(with("agent").1.contains("NOT ASKED gopls (go.mod): "));
        assert_eq!(report["unavailable"][0]["marker"], "go.mod");
        assert!(!run(&[&["b.txt"], branch].concat()).2.contains("not asked"), "it is no Go");
        assert_eq!(run(&[&["--select", "gopls/ALL"], branch].concat()).0, Some(2), "it is named");
    }
}

#[test]
fn the_last_line_says_what_the_project_asks_for_and_is_not_asked() {
    let files = [
        ("eslint.config.mjs", ""),
        ("tsconfig.json", "{}"),
        ("mypy.ini", ""),
        ("a.ts", "export const a = 1;\n"),
        ("b.py", "x = 1\n"),
    ];
    let it = Place::new(&files);
    let empty = it.own("programs");
    std::fs::create_dir(&empty).unwrap();
    let told = |arguments: &[&str]| {
        let mut command = it.command(&[&["check"], arguments].concat());
        told(&command.env("PATH", &empty).output().unwrap())
    };
    let (exit, _, stderr) = told(&[]);
    assert_eq!(exit, Some(0));
    insta::assert_snapshot!(stderr, @r"
    not asked: typescript (tsconfig.json), eslint (eslint.config.mjs), mypy (mypy.ini): not installed: broker server add typescript eslint mypy
    ");
    assert!(!told(&["b.py"]).2.contains("eslint"), "it is about JavaScript");
    assert_eq!(told(&["--quiet"]).2, "");
}

#[test]
fn a_slip_in_the_configuration_is_met_with_a_hint() {
    let it = Place::new(&[("broker.toml", "[servers]\nuse = ['pyrigth']\n"), ("a.py", "")]);
    it.run(&["trust"]);
    for command in ["check", "doctor"] {
        let (exit, _, stderr) = told(&it.run(&[command]));
        assert_eq!(exit, Some(2), "{command}");
        assert!(
            stderr.contains("unknown language server `pyrigth`")
                && stderr.contains("did you mean `pyright`?"),
            "{command}: {stderr}"
        );
    }
    it.write("broker.toml", "[servers.define.x]\ncommand = ['x']\nglobs = ['*.x']\nbarrier = 'guess'\n");
    let (exit, _, stderr) = told(&it.run(&["check"]));
    assert_eq!(exit, Some(2));
    assert!(stderr.contains("servers.define.x, in `broker.toml`: unknown variant `guess`"), "{stderr}");
}

#[test]
fn the_doctor_starts_nothing_unless_asked_and_trusted() {
    let it = traced_place();
    let doctor = |arguments: &[&str]| {
        let output = it.run(&[&["doctor", "--output-format", "json"], arguments].concat());
        (output.status.code(), json_of(&output), it.root().join("ran").exists())
    };
    let (exit, found, ran) = doctor(&["--versions"]);
    let remedy = format!("broker trust {}", it.root().display());
    assert_eq!((exit, ran, &found["trusted"]), (Some(1), false, &false.into()));
    assert_eq!(found["missing"][0]["remedy"], remedy.as_str(), "{found}");
    assert!(it.run(&["trust"]).status.success());
    let (exit, found, ran) = doctor(&[]);
    let model = |found: &Value| {
        found["servers"].as_array().unwrap().iter().find(|it| it["name"] == "model").unwrap().clone()
    };
    assert_eq!((exit, ran), (Some(0), false), "{found}");
    let model_now = model(&found);
    assert_eq!((&model_now["used"], &model_now["files"]), (&true.into(), &2.into()), "{found}");
    assert_eq!((&model_now["version"], &model_now["reason"]["kind"]), (&Value::Null, &"named".into()));
    let (exit, found, ran) = doctor(&["--versions", "a.m"]);
    assert_eq!((exit, ran, model(&found)["version"].as_str()), (Some(0), true, Some("model 1")), "{found}");
    assert!(!it.own("run/broker.sock").exists(), "it needs no daemon");
}

#[test]
fn the_doctor_tells_what_is_not_installed() {
    let it = Place::new(&[("go.mod", ""), ("a.go", ""), ("b.py", "")]);
    let doctor =
        |format: &str| it.command(&["doctor", "--output-format", format]).env("PATH", "").output().unwrap();
    let (exit, text, stderr) = told(&doctor("text"));
    let missing = "missing: gopls: not installed: go install golang.org/x/tools/gopls@latest";
    assert_eq!((exit, text.lines().last()), (Some(1), Some(missing)), "{text}{stderr}");
    let found = json_of(&doctor("json"));
    let languages: Vec<_> = found["languages"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(languages, [&"go".into(), &"python".into(), &Value::Null], "{found}");
    assert_eq!(found["languages"][1]["plugins"], serde_json::json!(["python", "text"]));
    let schema = include_str!("../../../../docs/doctor.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    assert!(schema.is_valid(&found), "{found}");
    it.write("broker.toml", "[servers]\nuse = []\n");
    assert_eq!(doctor("text").status.code(), Some(0));
}

#[test]
fn who_is_trusted_no_more_has_no_servers() {
    let it = place("");
    it.run(&["trust"]);
    assert!(it.run(&["branch", "fork", "one"]).status.success());
    let running = || {
        let (_, stdout, _) = told(&it.run(&["server", "list", "--output-format", "json"]));
        let all: Value = serde_json::from_str(&stdout).unwrap();
        all.as_array().unwrap().iter().filter(|it| !it["pid"].is_null()).count()
    };
    let begin = || (check(&it, &["--branch", "one"]).0, running());
    assert_eq!(begin(), (Some(1), 1));
    it.write("a.m", "not asked before");
    assert!(it.run(&["server", "stop"]).status.success());
    assert_eq!(running(), 0);
    assert_eq!(begin(), (Some(1), 1), "it is started again");
    assert!(it.run(&["trust", "--revoke"]).status.success());
    assert_eq!(running(), 0);
    assert_eq!(begin(), (Some(2), 0));
}
