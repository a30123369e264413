//! Language servers through the program, with a server that does what its documents say.

mod answers;
mod processes;
mod trust;

use std::{
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant},
};

use serde_json::Value;
use tests::{broker, place::Place};

/// A workspace whose configuration names the server.
fn place(more: &str) -> Place {
    let testkit = broker().with_file_name("language-servers-testkit");
    assert!(testkit.exists(), "{} is missing: run the tests with ./dev test", testkit.display());
    let config = format!(
        "[servers]\nuse = ['model']\n[servers.define.model]\ncommand = ['{}', 'model']\nglobs = ['*.m']\n\
         barrier = 'pull'\n{more}",
        testkit.display()
    );
    Place::new(&[("broker.toml", &config), ("a.m", "of the disk"), ("b.m", "other")])
}

fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn check(it: &Place, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = it.run(&[&["check", "--output-format", "json"], arguments].concat());
    let (exit, stdout, stderr) = told(&output);
    (exit, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}")))
}

fn messages(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|it| it["message"].as_str().unwrap()).collect()
}

fn json_of(output: &Output) -> Value {
    let (_, stdout, stderr) = told(output);
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"))
}

/// The server runs below a shell that leaves a trace in the workspace, and says something.
fn traced_place() -> Place {
    let it = place("");
    let testkit = broker().with_file_name("language-servers-testkit");
    let script = format!("touch ran; echo hello >&2; exec {} model", testkit.display());
    let config = format!(
        "[servers]\nuse = ['model']\n[servers.define.model]\ncommand = ['sh', '-c', '{script}']\n\
         globs = ['*.m']\nbarrier = 'pull'\n"
    );
    it.write("broker.toml", config);
    it
}
