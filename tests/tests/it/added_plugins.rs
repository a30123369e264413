//! Plugins that a workspace adds: from a file, over HTTP, from a registry; and everything that keeps one from being run.

mod fetched;
mod files;
mod refused;

use std::{
    collections::HashMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use insta::assert_snapshot;
use serde_json::{Value, json};
use tests::{guest, place::Place, with_manifest};

/// A workspace with something for `no-todo` to find.
fn place() -> Place {
    Place::new(&[("a.c", "int a; // TODO: b\n")])
}

/// Returns the output of a command, which must succeed.
#[track_caller]
fn ok(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    shown(place, &output.stdout)
}

/// Returns the errors of a command, which must not succeed.
#[track_caller]
fn refused(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    let told = shown(place, &output.stderr);
    // Messages on progress are on standard error as well.
    let told: Vec<_> =
        told.lines().filter(|it| !it.starts_with("compiling") && !it.starts_with("fetching")).collect();
    told.join("\n")
}

fn shown(place: &Place, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).replace(place.root().to_str().unwrap(), "[root]");
    text.replace(place.own("").to_str().unwrap(), "[own]/")
}

/// Exit code and findings of a check, and what is not complete.
fn check(place: &Place, more: &[&str]) -> (Option<i32>, Vec<String>, Vec<String>) {
    let arguments = [&["check", "--output-format", "json"], more].concat();
    let output = place.run(&arguments);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let all = |key: &str| report[key].as_array().unwrap().clone();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let findings =
        all("findings").iter().map(|it| format!("{}/{}", text(&it["linter"]), text(&it["code"]))).collect();
    let incomplete = all("incomplete").iter().map(|it| text(&it["reason"])).collect();
    (output.status.code(), findings, incomplete)
}

const FOUND: &str = "no-todo/anonymous-todo";

fn no_todo() -> Vec<u8> {
    fs::read(guest("no_todo")).unwrap()
}

/// Another component that is as good: it has one more section.
fn no_todo_again() -> Vec<u8> {
    with_manifest(&no_todo(), "")
}

/// `broker.lock` and messages without what differs from build to build.
fn without_digests(text: &str) -> String {
    let mut parts = text.split("sha256:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "sha256:[…]" + part.trim_start_matches(|it: char| it.is_ascii_hexdigit())
    })
}

/// Pages of a server, by path: type and body.
type Pages = Arc<Mutex<HashMap<String, (String, Vec<u8>)>>>;
