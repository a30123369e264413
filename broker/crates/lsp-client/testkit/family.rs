//! Processes that a server starts and that do not want to be found.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

/// Starts one that leaves the session, or one that also loses its parent. Returns its process id.
#[expect(clippy::zombie_processes, reason = "it is the supervisor that has to ask after it")]
pub(crate) fn spawn(kind: &str) -> i32 {
    let command = match kind {
        "session" => "grandchild",
        "orphan" => "orphan",
        other => panic!("no relative `{other}`"),
    };
    let mut child = this(command).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if kind == "orphan" {
        child.wait().unwrap();
    }
    line.trim().parse().unwrap()
}

#[expect(clippy::zombie_processes, reason = "it is the supervisor that has to ask after it")]
pub(crate) fn orphan() {
    rustix::process::setsid().unwrap();
    this("grandchild").spawn().unwrap();
}

/// Says its number and stays.
pub(crate) fn grandchild() {
    rustix::process::setsid().unwrap();
    println!("{}", std::process::id());
    std::io::stdout().flush().unwrap();
    stay();
}

pub(crate) fn stay() -> ! {
    loop {
        thread::park();
    }
}

/// Returns when this file exists.
pub(crate) fn wait_for(file: &str) {
    while !std::path::Path::new(file).exists() {
        thread::sleep(Duration::from_millis(1));
    }
}

fn this(command: &str) -> Command {
    let mut it = Command::new(std::env::current_exe().unwrap());
    it.arg(command);
    it
}
