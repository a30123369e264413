//! The life of servers in a pool: who is started, who ends, and what waits for what.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use language_servers::{
    At, Ending, LanguageServer, MemoryClass, Priority, Question, RecyclePolicy, RecycleReason, ServerReport,
    ServerState,
};
use lint::{Cancel, Job, Linter, Unit};
use serde_json::json;

use crate::{
    alive::{check_gone, lives},
    bench::{path, said},
    fixture::{TESTKIT, far, started},
    yard::{Asked, Yard, ask, children, says, says_soon, view},
};

#[test]
fn the_same_server_is_started_once() {
    let yard = Yard::new(|_| ());
    let (one, two) = (yard.linter(), yard.linter());
    assert_eq!((says(&one, "1"), says(&two, "2")), ("a.m=1".to_owned(), "a.m=2".to_owned()));
    let report = yard.report();
    assert_eq!((report.name.as_str(), report.version.as_deref()), ("model", Some("model 1")));
    assert_eq!((report.counts.starts, report.counts.questions, report.counts.switches), (1, 2, 2));
    assert_eq!((report.state, report.waiting), (ServerState::Idle, 0));
    assert!(report.memory > Some(1 << 20) && report.idle_for.is_some() && report.last_error.is_none());
    let mut strict = yard.setup.clone();
    strict.profile.settings = json!({ "strict": true });
    started(&yard.pool, strict).unwrap();
    assert_eq!(yard.pool.status().len(), 2);
}

#[test]
fn the_server_itself_is_told_and_how_often_it_died() {
    let yard = Yard::new(|_| ());
    let linter = yard.linter();
    assert_eq!(says(&linter, "1"), "a.m=1");
    let report = yard.report();
    let server = report.server_pid.unwrap();
    assert_eq!(children(&[report.pid.unwrap().into()]), [i64::from(server)]);
    let server = rustix::process::Pid::from_raw(server.cast_signed()).unwrap();
    rustix::process::kill_process(server, rustix::process::Signal::KILL).unwrap();
    yard.wait_for("/w", |it| it.counts.crashes == 1 && it.pid.is_none());
    drop(linter);
    let linter = yard.linter();
    assert_eq!((says(&linter, "2"), yard.report().counts.crashes), ("a.m=2".to_owned(), 1));
}

#[test]
fn a_server_that_is_silent_is_not_idle() {
    let yard = Yard::new(|_| ());
    let linter = yard.linter();
    assert!(says_soon(&linter, "stuck").starts_with("pending"));
    yard.wait_for_state("/w", ServerState::NotAnswering);
    assert_eq!(yard.report().idle_for, None);
}

#[test]
fn what_is_asked_about_one_state_goes_together() {
    let yard = Yard::new(|_| ());
    let linter = yard.linter();
    let first = ask(&linter, "hang");
    yard.wait_for_state("/w", ServerState::Busy);
    let texts = ["x", "y", "z", "x", "y", "z", "x", "y", "z", "x", "y", "z"];
    let asked: Vec<_> = texts.iter().map(|it| ask(&linter, it)).collect();
    yard.wait_for("/w", |it| it.waiting == 13);
    first.give_up();
    let answers: Vec<_> = asked.into_iter().map(Asked::join).collect();
    assert_eq!(answers, texts.map(|it| format!("a.m={it}")));
    assert_eq!((yard.report().counts.questions, yard.report().counts.switches), (13, 4));
}

#[test]
fn who_asks_where_something_is_goes_before_checks() {
    let capabilities = json!({ "diagnosticProvider": {}, "hoverProvider": true });
    let change = |text: &str, version: u32| {
        let document = json!({ "uri": "file:///w/a.m", "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        json!({ "expect": "textDocument/didChange", "with": params }).to_string()
    };
    let report = json!({ "kind": "full", "items": [] });
    let script = [
        json!({ "expect": "initialize", "answer": { "capabilities": capabilities } }).to_string(),
        r#"{"expect": "initialized"}"#.to_owned(),
        r#"{"expect": "textDocument/didOpen"}"#.to_owned(),
        r#"{"expect": "textDocument/diagnostic"}"#.to_owned(),
        r#"{"expect": "$/cancelRequest"}"#.to_owned(),
        change("asked", 2),
        json!({ "expect": "textDocument/hover", "answer": null }).to_string(),
        change("checked", 3),
        json!({ "expect": "textDocument/diagnostic", "answer": report }).to_string(),
        r#"{"hang": true}"#.to_owned(),
    ];
    let mut yard = Yard::new(|_| ());
    yard.setup.launch.args = vec!["fake".into(), script.join("\n").into()];
    let linter = yard.linter();
    let first = ask(&linter, "first");
    yard.wait_for_state("/w", ServerState::Busy);
    let check = ask(&linter, "checked");
    yard.wait_for("/w", |it| it.waiting == 2);
    let asker = Arc::clone(&linter);
    let query = thread::spawn(move || {
        let question = Question::Hover { path: path("a.m"), at: At::Offset(0) };
        asker.query(&view(&[("a.m", "asked")]), question, Priority::Agent, far(), &Cancel::default())
    });
    yard.wait_for("/w", |it| it.waiting == 3);
    first.give_up();
    assert_eq!((query.join().unwrap().answer.unwrap().partial, check.join()), (None, String::new()));
}

#[test]
fn a_second_process_only_if_the_first_does_not_keep_up() {
    let yard = Yard::new(|it| it.wait = Duration::ZERO);
    let linter = yard.linter();
    assert_eq!(says(&linter, "x"), "a.m=x");
    let first = ask(&linter, "hang");
    yard.wait_for_state("/w", ServerState::Busy);
    let behind = ask(&linter, "y");
    yard.wait_for("/w", |it| it.id == 2 && it.state == ServerState::Idle);
    assert_eq!(says(&linter, "z"), "a.m=z");
    let second = ask(&linter, "hang too");
    yard.wait_for("/w", |it| it.id == 2 && it.state == ServerState::Busy);
    let third = ask(&linter, "z");
    yard.wait_for("/w", |it| it.id == 2 && it.waiting == 2);
    assert_eq!(yard.pool.status().len(), 2, "there are never three");
    first.give_up();
    second.give_up();
    assert_eq!(behind.join(), "a.m=y");
    assert_eq!(third.join(), "a.m=z");

    let yard = Yard::new(|it| (it.wait, it.memory) = (Duration::ZERO, 1));
    let linter = yard.linter();
    assert_eq!(says(&linter, "x"), "a.m=x");
    let first = ask(&linter, "hang");
    yard.wait_for_state("/w", ServerState::Busy);
    let second = ask(&linter, "y");
    yard.wait_for("/w", |it| it.waiting == 2);
    first.give_up();
    assert_eq!(second.join(), "a.m=y");
    assert_eq!(yard.pool.status().len(), 1, "there is no memory for two");
}

#[test]
fn an_idle_server_ends_for_another_one() {
    let yard = Yard::new(|it| it.memory = 1);
    let (one, two) = (yard.linter_of("/w"), yard.linter_of("/v"));
    assert_eq!(says(&one, "x"), "a.m=x");
    yard.wait_for_state("/v", ServerState::Ended(Ending::Memory));
    assert!(says(&two, "y").ends_with("a.m=y"));
    yard.wait_for_state("/w", ServerState::Ended(Ending::Memory));
    let pids: Vec<_> = yard.pool.status().iter().filter_map(|it| it.pid).collect();
    assert_eq!(pids.len(), 1);
}

#[test]
fn a_busy_server_is_waited_for() {
    let yard = Yard::new(|it| it.memory = 1);
    let (one, two) = (yard.linter_of("/w"), yard.linter_of("/v"));
    let busy = ask(&one, "hang");
    yard.wait_for_state("/w", ServerState::Busy);
    let reason = "pending: language servers may have 0 MB together, and none of them is idle";
    assert_eq!(says_soon(&two, "x"), reason);
    let waits = ask(&two, "y");
    yard.wait_for_state("/v", ServerState::WaitingForMemory);
    assert_eq!(says_soon(&two, "behind it"), reason);
    busy.give_up();
    assert!(waits.join().ends_with("a.m=y"));
}

#[test]
fn what_is_not_needed_ends_and_comes_back() {
    let mut yard = Yard::new(|it| it.recycle.idle_timeout_fast = Duration::ZERO);
    let linter = yard.linter();
    for starts in 2..4 {
        yard.wait_for_state("/w", ServerState::Ended(Ending::Idleness));
        assert!(yard.report().pid.is_none());
        assert_eq!(says(&linter, "x"), "a.m=x");
        assert_eq!(yard.report().counts.starts, starts);
    }
    yard.wait_for_state("/w", ServerState::Ended(Ending::Idleness));

    yard.setup.profile.memory = MemoryClass::Hundreds;
    let dear = yard.linter_of("/v");
    assert!(says(&dear, "x").ends_with("a.m=x"));
    yard.wait_for_state("/v", ServerState::Idle);
}

#[test]
fn what_has_grown_is_started_anew() {
    let recycle = RecyclePolicy { measure_every: 1, slack: 16 << 20, ..RecyclePolicy::default() };
    let yard = Yard::new(|it| it.recycle = recycle);
    let linter = yard.linter();
    assert_eq!(says(&linter, "x"), "a.m=x");
    assert_eq!(says(&linter, "grow"), "a.m=grow");
    yard.wait_for_state("/w", ServerState::Ended(Ending::Recycled(RecycleReason::Memory)));
    assert_eq!(says(&linter, "x"), "a.m=x");
    assert_eq!((yard.report().counts.starts, yard.report().counts.crashes), (2, 0));
}

#[test]
fn what_was_moved_about_is_started_anew() {
    let recycle = RecyclePolicy { switches: 3, ..RecyclePolicy::default() };
    let yard = Yard::new(|it| it.recycle = recycle);
    let linter = yard.linter();
    for number in 0..7 {
        assert_eq!(says(&linter, &number.to_string()), format!("a.m={number}"));
    }
    assert_eq!(yard.report().counts.starts, 3);
}

#[test]
fn what_hangs_is_killed_and_not_what_was_asked_next() {
    let mut yard = Yard::new(|_| ());
    yard.setup.limits.hang = Duration::from_millis(50);
    let linter = yard.linter();
    for crashes in 1..3 {
        assert!(says_soon(&linter, "stuck").starts_with("pending: no answer in time; "));
        assert_eq!(says(&linter, "x"), "a.m=x");
        assert_eq!(yard.report().counts.crashes, crashes);
    }
    let error = yard.report().last_error.unwrap();
    assert_eq!(error, "the server has answered nothing for 0.05 s after a request was given up");
    assert_eq!(says_soon(&linter, "stuck"), "failed: model has crashed or hung twice on this");
    assert_eq!((says(&linter, "x"), yard.report().counts.starts), ("a.m=x".to_owned(), 3));
}

#[test]
fn a_hang_that_nobody_waits_for_is_seen_too() {
    let mut yard = Yard::new(|_| ());
    yard.setup.limits.hang = Duration::from_millis(50);
    let linter = yard.linter();
    let asked = ask(&linter, "stuck");
    yard.wait_for_state("/w", ServerState::Busy);
    asked.give_up();
    yard.wait_for_state("/w", ServerState::Pausing);
}

#[test]
fn a_crash_is_told_and_kept_from_happening_again() {
    let yard = Yard::new(|_| ());
    let linter = yard.linter();
    let died = "failed: the server exited with code 99: fake: this text is too much";
    assert_eq!(says(&linter, "die"), died);
    assert_eq!((yard.report().state, yard.report().counts.crashes), (ServerState::Pausing, 2));
    assert_eq!(says(&linter, "die"), "failed: model has crashed or hung twice on this");
    assert_eq!(says(&linter, "x"), "a.m=x");
    let report = yard.report();
    assert_eq!((report.counts.crashes, report.counts.starts), (2, 3));
    assert_eq!(report.last_error.unwrap(), "the server exited with code 99: fake: this text is too much");
    let log = yard.pool.log("model").remove(0);
    let lines: Vec<_> = log.lines.iter().map(|(epoch, line)| (epoch.0, line.as_str())).collect();
    let last = "fake: this text is too much";
    assert_eq!(lines, [(1, last), (2, last)]);
    assert!(yard.pool.log("another").is_empty());
}

#[test]
fn a_crash_is_remembered_when_nobody_has_the_server_any_more() {
    let yard = Yard::new(|_| ());
    let linter = || LanguageServer::in_pool(&yard.pool, yard.setup.clone()).unwrap();
    assert!(says(&linter(), "die").starts_with("failed: the server exited with code 99"));
    for _ in 0..4 {
        let linter = linter();
        assert_eq!(says(&linter, "die"), "failed: model has crashed or hung twice on this");
        assert_eq!(yard.report().counts.starts, 0);
    }
    yard.pool.release(Path::new("/w"));
    assert!(says(&linter(), "die").starts_with("failed: the server exited with code 99"));
}

#[test]
fn others_that_wait_for_the_same_state_survive_a_crash() {
    let yard = Yard::new(|_| ());
    let linter = yard.linter();
    let first = ask(&linter, "hang");
    yard.wait_for_state("/w", ServerState::Busy);
    let unit = |name| vec![Unit { path: path(name), named: path("") }];
    let asked: Vec<_> = ["a.m", "b.m", "dir/c.m"]
        .map(|name| {
            let linter = Arc::clone(&linter);
            let (view, cancel, timeout) =
                (view(&[("a.m", "die")]), Cancel::default(), Duration::from_secs(60));
            let job = Job { view, units: unit(name), cancel, timeout, is_awaited: false };
            thread::spawn(move || {
                let mut says = String::new();
                linter.check(&job, &mut |_, it| says = said(&it));
                says
            })
        })
        .into();
    yard.wait_for("/w", |it| it.waiting == 4);
    first.give_up();
    let answers: Vec<_> = asked.into_iter().map(|it| it.join().unwrap()).collect();
    assert!(answers[0].starts_with("failed: the server exited with code 99"), "{answers:?}");
    assert!(answers[1].starts_with("a.m=die b.m=b0"), "{answers:?}");
    assert!(answers[2].starts_with("a.m=die"), "{answers:?}");
}

#[test]
fn a_server_that_cannot_start_tells_why() {
    let mut yard = Yard::new(|_| ());
    yard.setup.launch.args = vec!["fake".into(), "{\"stderr\": \"no configuration\"}\n{\"exit\": 3}".into()];
    let error = started(&yard.pool, yard.setup.clone());
    assert!(error.err().unwrap().contains("exited with code 3: no configuration"));
    let report = yard.report();
    assert_eq!((report.state, report.counts.starts), (ServerState::Pausing, 0));
    assert!(report.last_error.unwrap().contains("exited with code 3"));
    assert_eq!(yard.pool.log("model")[0].lines[0].1, "no configuration");
}

#[test]
fn a_shutdown_leaves_nothing() {
    let yard = Yard::new(|_| ());
    let linters = ["/w", "/v", "/u"].map(|it| yard.linter_of(it));
    let busy = ask(&linters[0], "hang");
    yard.wait_for_state("/w", ServerState::Busy);
    let stuck = ask(&linters[1], "stuck");
    yard.wait_for_state("/v", ServerState::Busy);
    let pids: Vec<i64> = yard.pool.status().iter().map(|it| it.pid.unwrap().into()).collect();
    assert_eq!(pids.len(), 3);
    yard.pool.shutdown(Instant::now() + Duration::from_millis(200));
    check_gone(&pids, Duration::ZERO);
    let gone = "failed: the server was ended";
    assert_eq!((busy.join(), stuck.join()), (gone.to_owned(), gone.to_owned()));
    assert_eq!(says(&linters[2], "x"), "failed: the language servers were shut down");
    let error = started(&yard.pool, yard.setup.clone());
    assert_eq!(error.err().unwrap(), "the language servers were shut down");
}

#[test]
fn what_is_released_ends_and_others_stay() {
    let yard = Yard::new(|_| ());
    let [one, below, other] = ["/w", "/w/sub", "/wider"].map(|it| yard.linter_of(it));
    let busy = ask(&one, "hang");
    yard.wait_for_state("/w", ServerState::Busy);
    let is_below = |it: &ServerReport| it.root.starts_with("/w");
    let supervisors: Vec<i64> =
        yard.pool.status().iter().filter(|it| is_below(it)).map(|it| it.pid.unwrap().into()).collect();
    let pids: Vec<i64> = supervisors.iter().copied().chain(children(&supervisors)).collect();
    assert_eq!(pids.len(), 4);
    yard.pool.release(Path::new("/w"));
    check_gone(&pids, Duration::ZERO);
    assert_eq!(busy.join(), "failed: the server was ended");
    assert_eq!([&one, &below].map(|it| says(it, "x")), ["failed: the server was ended"; 2]);
    assert!(!yard.pool.status().iter().any(is_below), "{:?}", yard.pool.status());
    assert!(says(&other, "x").ends_with("a.m=x"));
    assert_eq!((says(&yard.linter(), "x"), yard.pool.status().len()), ("a.m=x".to_owned(), 2));
}

#[test]
fn nothing_is_left_of_a_pool_that_is_dropped() {
    let yard = Yard::new(|_| ());
    let linters = ["/w", "/v", "/u"].map(|it| yard.linter_of(it));
    let pids: Vec<i64> = yard.pool.status().iter().map(|it| it.pid.unwrap().into()).collect();
    assert!(pids.len() == 3 && pids.iter().all(|it| lives(*it)));
    drop(linters);
    assert!(pids.iter().all(|it| lives(*it)), "the pool is still there");
    drop(yard);
    check_gone(&pids, Duration::ZERO);
}

#[test]
fn nothing_outlives_a_pool_whose_program_is_killed() {
    let mut daemon = Command::new(TESTKIT).args(["pool", "6"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let supervisors: Vec<i64> = line.split_whitespace().map(|it| it.parse().unwrap()).collect();
    let pids: Vec<i64> = supervisors.iter().copied().chain(children(&supervisors)).collect();
    assert_eq!(pids.len(), 12, "a supervisor and a server each");
    assert!(pids.iter().all(|it| lives(*it)));
    daemon.kill().unwrap();
    check_gone(&pids, Duration::from_secs(2));
    daemon.wait().unwrap();
}
