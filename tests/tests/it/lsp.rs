//! `broker lsp`, held to the protocol by a client that believes nothing (`tests::editor`).

mod actions;
mod branches;
mod commits;
mod config;
mod diagnostics;
mod documents;
mod faults;
mod folders;
mod help;
mod lifecycle;
mod messages;
mod negotiation;
mod proxy;
mod pushed;
mod sync;
mod told;
mod workspace_reports;

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tests::{
    daemon::{Client as Grpc, TEST_TIMEOUT, base},
    editor::{Client, Editor, codes, uri},
    guest,
    place::{Ending, Place},
};
use tokio::runtime::Runtime;

/// Text with one finding, whose fix removes it.
const UNUSED: &str = "import os\n";

const F401: &str = "python/F401";

/// No rule about the order of imports, which would find something in most texts here.
const RUFF: (&str, &str) = ("ruff.toml", "lint.select = [\"F\"]\n");

/// A workspace with one file that has one finding.
fn place() -> Place {
    Place::new(&[("broker.toml", ""), RUFF, ("a.py", UNUSED)])
}

/// A session in such a workspace in which the file is open.
fn opened(client: Client) -> (Place, Editor, String) {
    let place = place();
    let mut editor = Editor::start(&place, client);
    let uri = editor.open(&place, "a.py");
    (place, editor, uri)
}

/// Returns the findings in a document.
#[track_caller]
fn found(editor: &mut Editor, uri: &str) -> Vec<String> {
    codes(&editor.findings(uri))
}

/// A daemon with the guest that misbehaves, which `broker lsp` then finds.
fn serve_guest(place: &Place) -> Ending {
    let plugin = guest("guest_misbehaves");
    let mut command = place.command(&["daemon", "serve", "--plugin", plugin.to_str().unwrap()]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("serving at "), "{line}");
    Ending(child)
}

/// The daemon of a test as another client sees it.
struct Daemon {
    runtime: Runtime,
    client: Grpc,
}

impl Daemon {
    /// The one that runs for this place.
    fn of(place: &Place) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(Grpc::at(&place.own("run/broker.sock")));
        Self { runtime, client }
    }

    /// A file of the base as the daemon shows it, if there is one: an editor's text before the disk's.
    fn text(&self, place: &Place, path: &str) -> Option<String> {
        self.runtime.block_on(async {
            let workspace = self.client.open(&place.root()).await;
            let (_, bytes) = self.client.read(base(&workspace), path).await.ok()?;
            Some(String::from_utf8(bytes).unwrap())
        })
    }

    /// Tasks that run now.
    fn running(&self) -> u32 {
        let status = self.runtime.block_on(self.client.status());
        let classes = status.scheduler.unwrap_or_default().classes;
        classes.iter().map(|it| it.running).sum()
    }

    /// Waits until the daemon shows this text, which it may be told a moment later.
    fn until_text(&self, place: &Place, path: &str, text: &str) {
        until(&format!("{path} is {text:?}"), || self.text(place, path).as_deref() == Some(text));
    }

    fn until_running(&self, count: u32) {
        until(&format!("{count} tasks run"), || self.running() == count);
    }
}

/// Polls for what has no event.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + TEST_TIMEOUT;
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "this never came: {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Runs a command of the program, which has to succeed.
#[track_caller]
fn ok(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn ok_with_input(place: &Place, arguments: &[&str], input: &str) {
    let output = place.run_with_input(arguments, input);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Process id of the daemon of a place.
fn daemon_pid(place: &Place) -> Option<String> {
    let output = place.run(&["daemon", "status", "--output-format", "json"]);
    let status: Value = serde_json::from_slice(&output.stdout).ok()?;
    Some(status["pid"].to_string())
}

fn kill(pid: &str) {
    assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
}

/// Whether a process exists that has not ended.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|it| !it.is_empty() && !it.trim_start().starts_with('Z'))
}

fn file_uri(place: &Place, path: &str) -> String {
    uri(&place.root().join(path))
}

fn document(uri: &str) -> Value {
    json!({ "textDocument": { "uri": uri } })
}
