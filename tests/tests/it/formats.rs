//! Output formats against their schemas and rules: what the snapshots of the renderers show, which have one
//! of everything, and what the program says of files that are out to break them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use quick_xml::{Reader, XmlVersion, events::Event};
use serde_json::{Value, json};
use tests::broker;

const ODD: &str = "\u{e9} \"q\" %;]&,:'.py";
const LABEL: &str = "]]> <a b='\"'> & 5%0A, ;#: \u{1}\u{7f} ##vso[x] ::error::a𐐀b";
/// A byte order mark, tabs, `\r\n`, and characters of four bytes.
const MARKED: &str = "\u{feff}import os\r\nif 1:\r\n\tx = 'a𐐀b', y\r\n";

struct Space(tempfile::TempDir);

impl Space {
    fn new() -> Self {
        let it = Self(tempfile::tempdir().unwrap());
        it.write("pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\", \"F\", \"W\"]\n");
        it
    }

    fn hostile() -> Self {
        let it = Self::new();
        it.write("marked.py", MARKED);
        it.write(ODD, "import os");
        it.write("notes.txt", &format!("<<<<<<< {LABEL}\na\n=======\nb\n>>>>>>> theirs\n"));
        let cell = json!({ "cell_type": "code", "source": ["# a\n", "import os"], "metadata": {}, "outputs": [], "execution_count": null });
        let notebook = json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 });
        it.write("book.ipynb", &notebook.to_string());
        it
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.0.path().join(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(broker());
        command.arg("check").args(words).current_dir(fs::canonicalize(self.0.path()).unwrap());
        command.env("NO_COLOR", "1").env("HOME", self.0.path()).stdin(Stdio::null());
        command.env_remove("XDG_CONFIG_HOME").output().unwrap()
    }

    /// The report of everything and of a file that is not there.
    fn report(&self, format: &str) -> String {
        let output = self.run(&["--output-format", format, ".", "missing.py"]);
        assert_eq!(output.status.code(), Some(2), "{format}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Returns the output in the snapshot of a renderer.
fn shown(format: &str, test: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../broker/crates/render/src/snapshots");
    let file = folder.join(format!("render__{format}__tests__{test}.snap"));
    let text = fs::read_to_string(file).unwrap();
    let (_, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    body.to_owned()
}

/// The report of one of everything, and that of the program.
fn reports(format: &str) -> [String; 2] {
    [shown(format, "looks_so"), Space::hostile().report(format)]
}

#[track_caller]
fn obeys(schema: &str, report: &Value) {
    assert_eq!(complaints(schema, report), [""; 0]);
}

/// Returns the violations of the schema in the report.
fn complaints(schema: &str, report: &Value) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(schema);
    // Broker's own are not beside those of others.
    let file =
        if file.exists() { file } else { Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(schema) };
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    validator.iter_errors(report).map(|it| format!("{}: {it}", it.instance_path)).collect()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn sarif_obeys_its_schema() {
    for report in reports("sarif").map(|it| parsed(&it)) {
        obeys("sarif-2.1.0.json", &report);
        let invocations = report["runs"].as_array().unwrap().iter().map(|it| &it["invocations"][0]);
        assert!(invocations.into_iter().all(|it| it["executionSuccessful"] == false));
    }
}

#[test]
fn json_obeys_our_own_schema() {
    for mut report in reports("json").map(|it| parsed(&it)) {
        obeys("report.schema.json", &report);
        // The schema is not so wide that it says nothing.
        report["summary"].as_object_mut().unwrap().remove("suppressed");
        assert_eq!(complaints("report.schema.json", &report).len(), 1);
    }
    let kinds = [("finding", "findings"), ("incomplete", "incomplete")];
    for lines in reports("jsonl") {
        let mut report = json!({ "version": 1, "findings": [], "incomplete": [] });
        for line in lines.lines().map(parsed) {
            match kinds.iter().find(|(kind, _)| line["type"] == *kind) {
                Some((_, list)) => report[list].as_array_mut().unwrap().push(line),
                None => (report["root"], report["summary"]) = (line["root"].clone(), line),
            }
        }
        obeys("report.schema.json", &report);
    }
}

#[test]
fn gitlab_obeys_its_documentation() {
    for report in reports("gitlab").map(|it| parsed(&it)) {
        obeys("gitlab-code-quality.json", &report);
        let issues = report.as_array().unwrap();
        let prints: BTreeSet<_> = issues.iter().map(|it| it["fingerprint"].as_str().unwrap()).collect();
        assert_eq!(prints.len(), issues.len(), "fingerprints are unique");
    }
}

#[test]
fn fingerprints_survive_a_shift_of_lines() {
    let space = Space::new();
    let prints = |text: &str| {
        space.write("a.py", text);
        let output = space.run(&["--output-format", "gitlab"]);
        let report = parsed(&String::from_utf8(output.stdout).unwrap());
        let it = |it: &Value| it["fingerprint"].as_str().unwrap().to_owned();
        report.as_array().unwrap().iter().map(it).collect::<Vec<_>>()
    };
    let before = prints("import os\nx = (y, y)\n");
    assert_eq!(before.len(), 3);
    assert_eq!(prints("# New.\n\nimport os\n\nx = (y, y)\n"), before);
}

#[test]
fn rdjson_obeys_its_schema() {
    for report in reports("rdjson").map(|it| parsed(&it)) {
        obeys("rdjson.json", &report);
    }
    let lines = [shown("rdjson", "looks_so_in_lines"), Space::hostile().report("rdjsonl")];
    for lines in lines {
        let diagnostics: Vec<_> = lines.lines().map(parsed).collect();
        obeys("rdjson.json", &json!({ "diagnostics": diagnostics }));
    }
}

/// The bytes of a range, as reviewdog cuts them.
fn cut<'t>(text: &'t str, range: &Value) -> &'t str {
    let offset = |at: &Value| {
        let number = |name: &str| usize::try_from(at[name].as_u64().unwrap()).unwrap();
        let lines: usize = text.split_inclusive('\n').take(number("line") - 1).map(str::len).sum();
        lines + number("column") - 1
    };
    &text[offset(&range["start"])..offset(&range["end"])]
}

#[test]
fn rdjson_counts_bytes() {
    let report = parsed(&Space::hostile().report("rdjson"));
    let of_file: Vec<_> = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["location"]["path"] == "marked.py")
        .map(|it| (it["code"]["value"].as_str().unwrap(), cut(MARKED, &it["location"]["range"])))
        .collect();
    assert!(of_file.contains(&("python/F401", "os")), "{of_file:?}");
    assert!(of_file.contains(&("python/F821", "y")), "{of_file:?}");
    let unused = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["location"]["path"] == "marked.py" && it["code"]["value"] == "python/F401");
    let suggestion = &unused.unwrap()["suggestions"][0];
    assert_eq!((cut(MARKED, &suggestion["range"]), &suggestion["text"]), ("import os\r\n", &json!("")));
}

/// An element of an XML document.
#[derive(Debug)]
struct Element {
    /// Path from the root.
    path: String,
    attributes: BTreeMap<String, String>,
}

/// The elements of a well-formed document of characters that XML 1.0 has.
fn elements(xml: &str) -> Vec<Element> {
    let is_fine = |it: char| matches!(it, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    assert!(xml.chars().all(is_fine), "{xml:?}");
    let mut reader = Reader::from_str(xml);
    let (mut elements, mut path) = (Vec::new(), Vec::new());
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Start(it) | Event::Empty(it) => {
                path.push(it.name().0.to_owned());
                let attributes = it.attributes().map(|it| it.unwrap()).map(|it| {
                    let value = it.normalized_value(XmlVersion::Implicit1_0).unwrap().into_owned();
                    (it.key.0.to_owned(), value)
                });
                elements.push(Element { path: path.join("/"), attributes: attributes.collect() });
                if matches!(event, Event::Empty(_)) {
                    path.pop();
                }
            }
            Event::End(_) => _ = path.pop(),
            Event::GeneralRef(it) => {
                assert!(it.is_char_ref() || ["lt", "gt", "amp", "quot", "apos"].contains(&&**it), "{it:?}")
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(path.is_empty());
    elements
}

impl Element {
    fn has(&self, name: &str) -> bool {
        self.attributes.contains_key(name)
    }

    fn number(&self, name: &str) -> usize {
        self.attributes[name].parse().unwrap()
    }
}

/// Format of Checkstyle's own reports, which reviewdog and Jenkins read.
#[test]
fn checkstyle_is_what_its_readers_expect() {
    for xml in reports("checkstyle") {
        let elements = elements(&xml);
        for it in &elements {
            match &*it.path {
                "checkstyle" => assert!(it.has("version")),
                "checkstyle/file" => assert!(!it.attributes["name"].is_empty()),
                "checkstyle/file/error" => {
                    assert!(["error", "warning", "info"].contains(&&*it.attributes["severity"]));
                    assert!(it.has("message") && it.has("source"));
                    assert_eq!(it.has("line"), it.has("column"));
                    assert!(!it.has("line") || it.number("line") > 0 && it.number("column") > 0);
                }
                other => panic!("{other}"),
            }
        }
        assert!(
            elements.iter().any(|it| it.attributes.get("source").is_some_and(|it| it == "broker/incomplete"))
        );
    }
}

/// Format of the XSD of Jenkins' xUnit plugin, which is the strictest of those in use, and counts that agree.
#[test]
fn junit_is_what_its_readers_expect() {
    for xml in reports("junit") {
        let elements = elements(&xml);
        let count = |path: &str| elements.iter().filter(|it| it.path == path).count();
        let sum = |path: &str, of: &str| -> usize {
            elements.iter().filter(|it| it.path == path).map(|it| it.number(of)).sum()
        };
        let case = "testsuites/testsuite/testcase";
        for (of, path) in [
            ("tests", case.to_owned()),
            ("failures", format!("{case}/failure")),
            ("errors", format!("{case}/error")),
        ] {
            assert_eq!(sum("testsuites", of), count(&path), "{of}");
            assert_eq!(sum("testsuites/testsuite", of), count(&path), "{of}");
        }
        assert!(sum("testsuites", "errors") > 0);
        assert_eq!(sum("testsuites/testsuite", "skipped"), count(&format!("{case}/skipped")));
        let mut suite = "";
        let mut cases = BTreeSet::new();
        for it in &elements {
            match &*it.path {
                "testsuites" => assert!(it.has("name") && it.has("time")),
                "testsuites/testsuite" => suite = &it.attributes["name"],
                "testsuites/testsuite/testcase" => {
                    let (class, name) = (&it.attributes["classname"], &it.attributes["name"]);
                    assert!(cases.insert((suite, class, name)), "{name} is there twice");
                }
                "testsuites/testsuite/testcase/skipped" => assert!(it.has("message"), "{it:?}"),
                _ => assert!(it.has("type") && it.has("message"), "{it:?}"),
            }
        }
    }
}

/// Parses a line as the agent of Azure Pipelines does: the properties and the message.
fn command(line: &str) -> (BTreeMap<String, String>, String) {
    let decoded = |text: &str, pairs: &[(&str, &str)]| {
        pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    const DATA: &[(&str, &str)] = &[("%0D", "\r"), ("%0A", "\n"), ("%AZP25", "%")];
    const PROPERTY: &[(&str, &str)] =
        &[("%3B", ";"), ("%5D", "]"), ("%0D", "\r"), ("%0A", "\n"), ("%AZP25", "%")];
    let (head, message) = line.strip_prefix("##vso[task.logissue ").unwrap().split_once(']').unwrap();
    let properties = head.split_terminator(';').map(|it| it.split_once('=').unwrap());
    let properties = properties.map(|(name, value)| (name.to_owned(), decoded(value, PROPERTY)));
    (properties.collect(), decoded(message, DATA))
}

#[test]
fn azure_understands_every_line() {
    for report in reports("azure") {
        for line in report.lines() {
            let (properties, message) = command(line);
            assert!(["error", "warning"].contains(&&*properties["type"]));
            assert!(properties.contains_key("sourcepath") && properties.contains_key("code"), "{line}");
            assert!(!message.is_empty());
        }
    }
    let report = Space::hostile().report("azure");
    let commands: Vec<_> = report.lines().map(command).collect();
    assert!(commands.iter().any(|(properties, _)| properties["sourcepath"] == ODD));
    assert!(commands.iter().any(|(_, message)| message.contains("]]> <a b='\"'> & 5%0A, ;#:")));
}

/// The values of `--output-format`, from the message about an unknown one.
fn formats(space: &Space) -> Vec<String> {
    let message = String::from_utf8(space.run(&["--output-format", "unknown"]).stderr).unwrap();
    let (_, values) = message.split_once("[possible values: ").unwrap();
    let (values, _) = values.split_once(']').unwrap();
    values.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_format_tells_what_is_missing() {
    let space = Space::new();
    space.write("fine.py", "");
    // Those for people count paths, and standard error names them.
    let of_people = ["full", "concise", "grouped"];
    let formats = formats(&space);
    assert!(of_people.iter().all(|it| formats.iter().any(|format| format == it)), "{formats:?}");
    for format in &formats {
        let (clean, incomplete) = (space.run(&["--output-format", format]), space.report(format));
        assert_eq!(clean.status.code(), Some(0), "{format}");
        assert!(!String::from_utf8(clean.stdout).unwrap().contains("missing.py"), "{format}");
        let told = if of_people.contains(&&**format) { "1 path could not be read" } else { "missing.py" };
        assert!(incomplete.contains(told), "{format}: {incomplete}");
    }
}

#[test]
fn an_agent_reads_one_line_per_finding() {
    let space = Space::new();
    space.write("a.py", "import os\nx = (\n  y\n)\n");
    let text = |output: Output| String::from_utf8(output.stdout).unwrap();
    let told = text(space.run(&["--output-format", "agent"]));
    let (told, not_asked) = told.split_once("NOT ASKED ").unwrap();
    assert!(not_asked.starts_with("ty (pyproject.toml): "), "{not_asked}");
    assert_eq!(told, "a.py:1:8 F401 `os` imported but unused [fix]\na.py:3:3 F821 Undefined name `y`\n");
    space.write("a.py", "");
    let clean = text(space.run(&["--output-format", "agent", "a.py"]));
    assert!(clean.ends_with("\nok 1 checked\n"), "{clean}");
}

#[test]
fn several_reports_at_once() {
    let space = Space::hostile();
    let nowhere = "no/such/folder/x.xml";
    let output = space.run(&[
        "--output-format",
        "junit",
        "--output-file",
        nowhere,
        "--output-format",
        "sarif",
        "--output-file",
        "x.sarif",
        "--output-format",
        "github",
        "--output-format",
        "rdjson",
        "-o",
        "x.json",
        "--exit-zero",
    ]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.starts_with("error: cannot write no/such/folder/x.xml: No such file or directory"),
        "{stderr}"
    );
    assert!(output.stdout.starts_with(b"::"));
    obeys("sarif-2.1.0.json", &parsed(&space.read("x.sarif")));
    obeys("rdjson.json", &parsed(&space.read("x.json")));

    let output = space.run(&["--output-format", "json", "--output-format", "sarif"]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
}

#[test]
fn every_schema_says_where_it_is_from() {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || readme.contains(&format!("`{name}`")), "{name}");
    }
}
