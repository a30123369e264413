//! Servers as processes of a daemon.

use super::*;

/// Whatever has this in its command line.
fn processes_with(text: &str) -> Vec<u32> {
    let output = Command::new("pgrep").args(["-f", text]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().filter_map(|it| it.parse().ok()).collect()
}

fn ends_soon(what: &Path) -> bool {
    let begun = Instant::now();
    while !processes_with(what.to_str().unwrap()).is_empty() {
        if begun.elapsed() > Duration::from_secs(2) {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// Each server is a program of its own name.
#[test]
fn no_server_outlives_a_daemon_that_is_killed() {
    let it = place("");
    let testkit = broker().with_file_name("language-servers-testkit");
    let names: Vec<_> = (0..6).map(|index| format!("model{index}")).collect();
    let mut config = format!("[servers]\nuse = {names:?}\n");
    for name in &names {
        let program = it.own(name);
        std::os::unix::fs::symlink(&testkit, &program).unwrap();
        config += &format!(
            "[servers.define.{name}]\ncommand = ['{}', 'model']\nglobs = ['*.m']\nbarrier = 'pull'\n",
            program.display()
        );
    }
    it.write("broker.toml", config);
    it.run(&["trust"]);
    it.run(&["branch", "fork", "try"]);
    let (_, report) = check(&it, &["--branch", "try", "a.m"]);
    assert_eq!(messages(&report).len(), 1, "all of them say the same: {report}");
    let status: Value =
        serde_json::from_slice(&it.run(&["daemon", "status", "--output-format", "json"]).stdout).unwrap();
    let pid = status["pid"].as_u64().unwrap().to_string();
    let servers = it.own("model");
    assert!(processes_with(servers.to_str().unwrap()).len() >= 6);
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    assert!(ends_soon(&servers), "{:?}", processes_with(servers.to_str().unwrap()));
}

#[test]
fn a_daemon_with_another_path_is_told() {
    let it = Place::new(&[("go.mod", ""), ("a.go", "")]);
    let bin = it.own("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(broker().with_file_name("language-servers-testkit"), bin.join("gopls"))
        .unwrap();
    it.run(&["trust"]);
    assert!(it.command(&["branch", "fork", "try"]).env("PATH", "").output().unwrap().status.success());
    let stderr_with =
        |path: &str, arguments: &[&str]| told(&it.command(arguments).env("PATH", path).output().unwrap()).2;
    let other = "the daemon was started with another PATH, without gopls; `broker daemon stop` ends it";
    let method = ["query", "method", "a.go", "workspace/symbol", "--server", "gopls"];
    let commands = [&["check", "--branch", "try"][..], &["query", "symbols", "a.go"], &method];
    for arguments in commands {
        let stderr = stderr_with(bin.to_str().unwrap(), arguments);
        assert!(
            stderr.contains("gopls") && stderr.contains("not installed") && stderr.contains(other),
            "{arguments:?}: {stderr}"
        );
        let stderr = stderr_with("", arguments);
        assert!(
            stderr.contains("gopls") && stderr.contains("not installed") && !stderr.contains(other),
            "{arguments:?}: {stderr}"
        );
    }
    let doctor = ["doctor", "--output-format", "json"];
    let found = json_of(&it.command(&doctor).env("PATH", &bin).output().unwrap());
    assert_eq!(found["elsewhere"], serde_json::json!([{ "server": "gopls", "program": null }]), "{found}");
}

#[test]
fn a_daemon_is_not_the_shell_that_started_it() {
    let it = place("");
    let (testkit, seen) = (broker().with_file_name("language-servers-testkit"), it.own("seen"));
    let script = format!("env >{}; exec {} model", seen.display(), testkit.display());
    it.write(
        "broker.toml",
        format!(
            "[servers]\nuse = ['model']\n[servers.define.model]\ncommand = ['sh', '-c', '{script}']\n\
             globs = ['*.m']\nbarrier = 'pull'\n"
        ),
    );
    assert!(it.run(&["trust"]).status.success());
    let path = std::env::var("PATH").unwrap();
    let other = [("SECRET_OF_A", "secret".to_owned()), ("VIRTUAL_ENV", "/a/env".to_owned())];
    let mut fork = it.command(&["branch", "fork", "try"]);
    fork.envs(other.clone()).env("PATH", format!("/a/env/bin:{path}")).env("GOFLAGS", "-mod=a");
    assert!(fork.output().unwrap().status.success());
    let status = json_of(&it.run(&["daemon", "status", "--output-format", "json"]));
    let environ = std::fs::read_to_string(format!("/proc/{}/environ", status["pid"])).unwrap();
    assert!(environ.contains("HOME=") && environ.contains("PATH="), "{environ:?}");
    for foreign in ["SECRET_OF_A", "/a/env", "GOFLAGS"] {
        assert!(!environ.contains(foreign), "{foreign}: {environ:?}");
    }

    // Variables and arguments of a server in a workspace are the same for each client, a command or the daemon for it.
    let own = it.root().join("env");
    let variables = |arguments: &[&str]| {
        let mut command = it.command(&[&["check", "--no-cache"][..], arguments].concat());
        if !arguments.is_empty() {
            command = it.command(&[&["check"][..], arguments].concat());
        }
        command.env("VIRTUAL_ENV", &own).env("GOFLAGS", "-mod=b").env("SECRET_OF_B", "secret");
        command.env("PATH", format!("{}/bin:{path}", own.display()));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(&seen).unwrap();
        std::fs::remove_file(&seen).unwrap();
        // Each process has a folder of its own for temporary files.
        let lines = text.lines().filter(|it| !it.starts_with("TMPDIR="));
        let mut lines: Vec<_> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (direct, by_daemon) = (variables(&[]), variables(&["--branch", "try"]));
    assert_eq!(direct, by_daemon);
    assert!(direct.contains(&format!("VIRTUAL_ENV={}", own.display())), "{direct:?}");
    assert!(direct.contains(&"GOFLAGS=-mod=b".to_owned()), "{direct:?}");
    assert!(!direct.iter().any(|it| it.contains("SECRET")), "{direct:?}");
}

#[test]
fn the_servers_of_the_daemon_are_told() {
    let it = traced_place();
    let servers = |arguments: &[&str]| it.run(&[&["server"], arguments].concat());
    assert_eq!(told(&servers(&["list"])), (Some(1), String::new(), "no daemon is running\n".to_owned()));
    assert!(!it.own("run/broker.sock").exists(), "it starts none");
    it.run(&["trust"]);
    it.run(&["branch", "fork", "try"]);
    assert!(servers(&["list"]).status.success());
    let (_, report) = check(&it, &["--branch", "try", "a.m"]);
    assert_eq!(messages(&report).len(), 1, "{report}");
    let all = json_of(&servers(&["list", "--output-format", "json"]));
    let model = &all[0];
    assert_eq!(
        (model["name"].as_str(), model["version"].as_str()),
        (Some("model"), Some("model 1")),
        "{all}"
    );
    assert_eq!((model["starts"].as_u64(), model["crashes"].as_u64()), (Some(1), Some(0)), "{all}");
    assert!(model["pid"].as_u64() > Some(0) && model["questions"].as_u64() > Some(0), "{all}");
    let (exit, text, _) = told(&servers(&["list"]));
    assert_eq!((exit, text.lines().count()), (Some(0), 2), "{text}");
    let status = json_of(&it.run(&["daemon", "status", "--output-format", "json"]));
    assert_eq!(status["servers"]["running"], 1, "{status}");
    let (exit, _, stderr) = told(&servers(&["logs", "nobody"]));
    assert!(exit == Some(2) && stderr.contains("no server `nobody`"), "{stderr}");
    let said = said_by(&it, "model");
    assert!(said.contains("model in ") && said.contains("   1  hello\n"), "{said}");
}

/// Returns the log of a server, which is read besides its answers.
fn said_by(it: &Place, name: &str) -> String {
    let begun = Instant::now();
    loop {
        let (exit, said, stderr) = told(&it.run(&["server", "logs", name]));
        assert_eq!(exit, Some(0), "{stderr}");
        if said.contains("hello") || begun.elapsed() > Duration::from_secs(10) {
            return said;
        }
        std::thread::yield_now();
    }
}
