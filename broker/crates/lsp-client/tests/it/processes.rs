//! Tests that no process stays, whichever ends first, in whatever way.

use std::{
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use lsp_client::Exit;
use serde_json::json;

use crate::{
    alive::{check_gone, lives},
    fixture::{BYE, Fake, HELLO, TESTKIT},
};

/// A server with two relatives that went away from it, and says who they are.
const FAMILY: &str = r#"
    {"spawn": "session"}
    {"spawn": "orphan"}
    {"tell": "family"}
"#;

/// The server, its supervisor and its relatives, all of them alive.
#[track_caller]
fn family(fake: &Fake) -> Vec<i64> {
    let mut pids: Vec<i64> = serde_json::from_value(fake.told()).unwrap();
    pids.push(fake.client.pid().into());
    assert_eq!(pids.len(), 4);
    assert!(pids.iter().all(|it| lives(*it)), "{pids:?}");
    pids
}

#[test]
fn nothing_outlives_a_daemon_that_is_killed() {
    let script = format!("{HELLO}{FAMILY}{{\"hang\": true}}");
    let mut daemon = Command::new(TESTKIT);
    let daemon = daemon.args(["daemon", &script, &script]).stdout(Stdio::piped());
    let mut daemon = daemon.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pids: Vec<i64> = line.split_whitespace().map(|it| it.parse().unwrap()).collect();
    assert_eq!(pids.len(), 8);
    assert!(pids.iter().all(|it| lives(*it)), "{pids:?}");
    daemon.kill().unwrap();
    check_gone(&pids, Duration::from_secs(2));
    daemon.wait().unwrap();
}

#[test]
fn nothing_outlives_a_client_that_is_dropped() {
    let fake = Fake::new(&format!("{FAMILY}{{\"hang\": true}}"));
    let pids = family(&fake);
    let clone = fake.client.clone();
    drop(fake);
    assert!(pids.iter().all(|it| lives(*it)), "there is another handle");
    drop(clone);
    check_gone(&pids, Duration::from_secs(10));
}

#[test]
fn nothing_outlives_a_server_that_ends() {
    for end in [
        "{\"exit\": 0}",
        "{\"die\": true}",
        "{\"expect\": \"shutdown\", \"answer\": null}\n{\"expect\": \"exit\"}",
    ] {
        let fake = Fake::new(&format!("{FAMILY}{{\"expect\": \"x/go\"}}\n{end}"));
        let pids = family(&fake);
        fake.client.notify("x/go", &()).unwrap();
        fake.client.shutdown(Duration::from_secs(60));
        check_gone(&pids, Duration::from_secs(10));
    }
}

#[test]
fn killing_leaves_nothing_when_it_returns() {
    let fake = Fake::new(&format!("{FAMILY}{{\"hang\": true}}"));
    let pids = family(&fake);
    assert_eq!(fake.client.kill(), Exit::Signal(9));
    check_gone(&pids, Duration::ZERO);
}

#[test]
fn nothing_outlives_a_broken_connection() {
    let fake = Fake::new(&format!(
        "{FAMILY}{{\"expect\": \"x/go\"}}\n{{\"raw\": \"what?\\n\"}}\n{{\"hang\": true}}"
    ));
    let pids = family(&fake);
    fake.ask("x/go").unwrap_err();
    check_gone(&pids, Duration::from_secs(10));
}

#[test]
fn a_supervisor_that_stands_still_is_killed_with_all_below() {
    let fake = Fake::new(&format!(
        "{FAMILY}{{\"stop-supervisor\": true}}\n{{\"expect\": \"x/go\", \"answer\": 1}}\n{{\"hang\": true}}"
    ));
    let pids = family(&fake);
    fake.ask("x/go").unwrap();
    assert_eq!(fake.client.kill(), Exit::Signal(9));
    check_gone(&pids, Duration::from_secs(10));
}

#[test]
fn a_server_dies_with_its_supervisor() {
    let fake = Fake::new("{\"tell\": \"family\"}\n{\"hang\": true}");
    let server: Vec<i64> = serde_json::from_value(fake.told()).unwrap();
    let supervisor = rustix::process::Pid::from_raw(fake.client.pid().cast_signed()).unwrap();
    rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
    check_gone(&server, Duration::from_secs(10));
    assert!(fake.ask("x/go").unwrap_err().to_string().starts_with("the server was killed by signal 9"));
}

#[test]
fn a_server_is_started_as_it_was_said() {
    let fake = Fake::with(&format!("{{\"tell\": \"self\"}}\n{BYE}"), |it| {
        it.launch.nice = 7;
        it.launch.cwd = "/usr".into();
        it.launch.env = vec![("GIVEN".into(), Some("g".into())), ("PATH".into(), None)];
    });
    let want = json!({ "leads-group": true, "nice": 7, "cwd": "/usr", "given": "g", "path": null });
    assert_eq!(fake.told(), want);
    fake.end();
}

#[test]
fn a_server_s_own_folder_goes_with_it() {
    for end in ["{\"exit\": 0}", "{\"die\": true}", "{\"hang\": true}"] {
        let fake = Fake::with(&format!("{{\"tell\": \"self\"}}\n{{\"expect\": \"x/go\"}}\n{end}"), |it| {
            it.launch.env = vec![("GIVEN".into(), Some("g".into()))];
            it.launch.own_folder = vec!["OTHER".into(), "GIVEN".into()];
        });
        let folder = PathBuf::from(fake.told()["given"].as_str().unwrap());
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::create_dir(folder.join("sub")).unwrap();
        std::fs::write(folder.join("sub/file"), "text").unwrap();
        fake.client.notify("x/go", &()).unwrap();
        fake.client.kill();
        assert!(!folder.exists(), "{end}");
    }
}
