//! Tests that nothing is left of a folder, however it ends.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use shadow::{Exit, Launcher, Layer, Shadow, Stopped};

use crate::fixture::{COPIES, World, run, script, start, testkit};

/// Processes whose command line has this in it.
pub(crate) fn processes_with(mark: &str) -> usize {
    all_with(mark).len()
}

/// Returns the numbers of these processes.
fn all_with(mark: &str) -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let line = |it: &fs::DirEntry| fs::read(it.path().join("cmdline")).unwrap_or_default();
    let found = all.filter(|it| String::from_utf8_lossy(&line(it)).contains(mark));
    found.map(|it| it.file_name().into_string().unwrap()).collect()
}

/// Returns the numbers of these processes that are children of this one.
fn children_with(mark: &str) -> Vec<String> {
    let own = format!("PPid:\t{}\n", std::process::id());
    let is_child = |it: &String| {
        fs::read_to_string(format!("/proc/{it}/status")).is_ok_and(|status| status.contains(&own))
    };
    all_with(mark).into_iter().filter(is_child).collect()
}

/// Waits for up to a minute, which is long enough on a machine that does much besides.
pub(crate) fn wait_until(mut what: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if what() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it never came to be");
}

#[test]
fn exit_codes_are_the_programs_own() {
    for world in World::each(&[]) {
        let shadow = world.open(|_| ());
        let exit = |text: &str| run(&shadow, &world.root(), text).ended.exit;
        assert_eq!(exit("exit 7"), Exit::Code(7));
        assert_eq!(exit("kill -TERM $$"), Exit::Signal(15));
        let mut program = script(&world.root(), "");
        program.command = vec!["no-such-program".into()];
        let ended = crate::fixture::run_program(&shadow, program).ended;
        assert_eq!(ended.exit.code(), 127);
        let mut program = script(&world.root(), "");
        program.command = vec!["/etc/hostname".into()];
        assert_eq!(crate::fixture::run_program(&shadow, program).ended.exit.code(), 126);
    }
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    for world in World::each(&[]) {
        let shadow = world.open(|_| ());
        let ran = run(
            &shadow,
            &world.root(),
            "(setsid sleep 987651 &) ; (setsid sh -c 'sleep 987651 & sleep 987651' &) ; exit 0",
        );
        assert_eq!(ran.ended.exit, Exit::Code(0));
        assert_eq!(processes_with("987651"), 0, "the end is told when nothing is left");
    }
}

#[test]
fn nothing_is_written_after_the_end_is_told() {
    let world = World::new(&[]);
    let shadow = world.open(|_| ());
    // Children of what lost its parent lose theirs a moment later.
    let writer = "(setsid sh -c \"(while :; do echo x >> f; done) & (setsid sh -c 'while :; do echo y >> g; done' &); wait\" &)";
    let ran = run(&shadow, &world.root(), &format!("{writer}; until test -e f -a -e g; do :; done"));
    assert_eq!(ran.ended.exit, Exit::Code(0), "{ran:?}");
    let written = shadow.harvest().unwrap();
    assert_eq!(written.len(), 2);
    assert_eq!(shadow.harvest().unwrap(), written);
}

#[test]
fn a_run_ends_though_another_goes_on() {
    for world in World::each(&[]) {
        let shadow = world.open(|_| ());
        let output = fs::File::create(world.beside("output")).unwrap();
        // No other run of the tests has these.
        let [others, own] = ["53", "54"].map(|it| format!("98{}{it}", std::process::id()));
        let text = format!("(setsid sleep {others} &) ; while :; do true | true; done");
        let _running = start(&shadow, script(&world.root(), &text), &output, &output);
        for _ in 0..20 {
            let ran = run(&shadow, &world.root(), &format!("(setsid sleep {own} &) ; true"));
            assert_eq!(ran.ended.exit, Exit::Code(0));
            assert_eq!(processes_with(&own), 0);
        }
        assert!(processes_with(&others) > 0, "the other's are its own");
    }
}

#[test]
fn a_signal_reaches_the_program() {
    for world in World::each(&[]) {
        let shadow = world.open(|_| ());
        let output = fs::File::create(world.beside("output")).unwrap();
        let text = "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.01; done";
        let mut running = start(&shadow, script(&world.root(), text), &output, &output);
        wait_until(|| fs::read_to_string(world.beside("output")).unwrap().contains("ready"));
        running.signals()(2).unwrap();
        assert_eq!(running.wait().exit, Exit::Code(3));
        assert!(fs::read_to_string(world.beside("output")).unwrap().contains("caught"));
    }
}

#[test]
fn a_folder_that_is_closed_ends_what_runs_in_it() {
    for world in World::each(&[]) {
        let shadow = world.open(|_| ());
        let output = fs::File::create(world.beside("output")).unwrap();
        let mut running = start(&shadow, script(&world.root(), "sleep 987652"), &output, &output);
        wait_until(|| processes_with("987652") > 0);
        drop(shadow);
        assert_eq!(running.wait().stopped, Some(Stopped::Closed));
        wait_until(|| processes_with("987652") == 0);
    }
}

#[test]
fn nothing_is_left_when_one_of_its_processes_is_killed() {
    // The parent, the process that left the namespaces, process 1, the leader of the program.
    for victim in 0..4 {
        nothing_is_left(victim, false, false);
    }
    // The parent and the leader of the program: without isolation nothing looks after the process between them.
    for victim in [0, 2] {
        nothing_is_left(victim, true, false);
    }
}

/// A process that reads a large file, or waits for a pipe, hears of nothing: it is as one that is stopped.
#[test]
fn nothing_is_left_though_process_1_is_busy() {
    nothing_is_left(0, false, true);
}

fn nothing_is_left(victim: usize, is_copy: bool, is_busy: bool) {
    let world = World::new(&[]);
    let mark = format!("98766{victim}{}{}", u8::from(is_copy), u8::from(is_busy));
    let mut parent = Command::new(testkit())
        .arg(world.root())
        .args(["/bin/sh", "-c", &format!("echo ready; (setsid sleep {mark} &) ; sleep {mark}; true")])
        .envs(is_copy.then(|| (COPIES, world.beside("cache"))))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    wait_until(|| processes_with(&mark) > 2);
    let mut chain = vec![parent.id()];
    while let Some(child) = chain.last().and_then(|it| child_of(*it)) {
        chain.push(child);
    }
    if is_busy {
        assert!(Command::new("kill").args(["-STOP", &chain[2].to_string()]).status().unwrap().success());
    }
    let _ = Command::new("kill").args(["-9", &chain[victim].to_string()]).status().unwrap();
    wait_until(|| processes_with(&format!("sleep\0{mark}")) == 0);
    wait_until(|| parent.try_wait().unwrap().is_some());
    wait_until(|| chain.iter().all(|it| !std::path::Path::new(&format!("/proc/{it}")).exists()));
    wait_until(|| groups(&format!("broker-run-{}-*", chain[0])).is_empty());
}

#[test]
fn the_next_folder_takes_a_process_that_waits_for_it_and_is_gone_with_the_launcher() {
    let world = World::new(&[]);
    let program = world.beside("program");
    fs::copy(testkit(), &program).unwrap();
    let launcher = Launcher::new(&program).with_spare();
    let mark = format!("{}\0shadow-enter", program.display());
    let there_are = || processes_with(&mark);
    // A folder's process 1, which may end a little later than the folder, is no child of this process.
    let one_waits = || children_with(&mark).len() == 1;
    let run_once = || {
        let shadow = Shadow::open(&launcher, &world.root(), &Layer::default(), &world.sandbox).unwrap();
        assert_eq!(run(&shadow, &world.root(), "exit 7").ended.exit, Exit::Code(7));
        // The child that entered the namespaces, and process 1.
        wait_until(|| there_are() == 2);
    };
    run_once();
    wait_until(one_waits);
    run_once();
    wait_until(one_waits);
    assert!(Command::new("kill").arg("-9").args(children_with(&mark)).status().unwrap().success());
    wait_until(|| there_are() == 0);
    // A spare process that died is replaced.
    run_once();
    wait_until(one_waits);
    drop(launcher);
    wait_until(|| there_are() == 0);
}

/// Control groups with such names.
fn groups(pattern: &str) -> String {
    let found = Command::new("find").args(["/sys/fs/cgroup", "-name", pattern]).output().unwrap();
    String::from_utf8(found.stdout).unwrap()
}

#[test]
fn a_run_with_limits_is_in_a_control_group_while_it_lasts() {
    for world in World::each(&[]) {
        let shadow = world.open(|_| ());
        let ran = |text: &str| {
            let mut program = script(&world.root(), text);
            program.limits.processes = Some(50);
            crate::fixture::run_program(&shadow, program)
        };
        let own = ran("grep -o 'broker-run-.*' /proc/self/cgroup").output;
        if own.is_empty() {
            // None may be made here.
            return;
        }
        assert_eq!(groups(own.trim()), "");
        let many = ran("for i in $(seq 1000); do sleep 1000 & done; wait; sleep 1000");
        assert_eq!(many.ended.stopped, Some(Stopped::Processes(50)), "{many:?}");
        assert_eq!(groups(&format!("broker-run-{}-*", std::process::id())), "");
    }
}

pub(crate) fn child_of(pid: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}
