//! SARIF 2.1.0 for code scanning: one run per linter, results written as they come.
//!
//! A notebook's findings are in cells, which SARIF has no word for: they name the cell as a logical
//! location and have neither region nor fixes.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    io::{self, Write},
};

use check_engine::{Edit, Excluded, Finding, Fix, Incomplete, Level, Range, Subject, Unavailable};
use lint::{Rule, Severity};
use overlay::WorkspacePath;
use serde_json::{Value, json};

use super::{Page, fingerprints::Fingerprints, json::list, subject_path, with_placeholders, workspace_path};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const BASE: &str = "SRCROOT";

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[")?;
    for (index, tool) in tools(page).iter().enumerate() {
        writeln!(out, "{}", if index == 0 { "" } else { "," })?;
        run(page, tool, out)?;
    }
    writeln!(out, "]}}")
}

/// A linter that is described in a run.
struct Tool<'a> {
    name: &'a str,
    version: &'a str,
}

/// All that took part; without any, Broker itself says why.
fn tools<'a>(page: &Page<'a>) -> Vec<Tool<'a>> {
    let tool = |it: &'a lint::Identity| Tool { name: &it.name, version: &it.version };
    let mut tools: Vec<_> = page.report.linters.iter().map(tool).collect();
    if tools.is_empty() {
        tools.push(Tool { name: "broker", version: env!("CARGO_PKG_VERSION") });
    }
    tools
}

fn run(page: &Page<'_>, tool: &Tool<'_>, out: &mut dyn Write) -> io::Result<()> {
    let of_tool = || page.report.findings.iter().filter(|it| &*it.rule.linter == tool.name);
    let used: BTreeMap<&str, &Finding> = of_tool().map(|it| (it.rule.code.as_str(), it)).collect();
    let rules = rules(page, tool, &used);
    let indices: HashMap<&str, usize> = used.keys().enumerate().map(|(index, code)| (*code, index)).collect();
    write!(out, "{{\"tool\":{},", json!({ "driver": driver(tool, &rules) }))?;
    write!(out, "\"automationDetails\":{},", json!({ "id": format!("broker/{}/", tool.name) }))?;
    write!(out, "\"columnKind\":\"unicodeCodePoints\",\"originalUriBaseIds\":{},", base(page))?;
    write!(out, "\"invocations\":[{}],\"results\":[", invocation(page, tool))?;
    let mut prints = Fingerprints::new(page.view);
    list(of_tool().map(|it| result(it, indices[it.rule.code.as_str()], prints.of(it))), out)?;
    write!(out, "]}}")
}

fn driver(tool: &Tool<'_>, rules: &[Value]) -> Value {
    json!({
        "name": format!("broker-{}", tool.name),
        "semanticVersion": tool.version,
        "rules": rules,
    })
}

/// Descriptions of the rules that were found, with the linter's documentation of them.
fn rules(page: &Page<'_>, tool: &Tool<'_>, used: &BTreeMap<&str, &Finding>) -> Vec<Value> {
    let known = if used.is_empty() { Vec::new() } else { (page.rules)(tool.name) };
    let known: HashMap<&str, &Rule> = known.iter().map(|it| (it.code.as_str(), it)).collect();
    used.iter().map(|(code, finding)| rule(finding, known.get(code).copied())).collect()
}

fn rule(finding: &Finding, known: Option<&Rule>) -> Value {
    let of = &finding.rule;
    let summary = known.map(|it| it.summary.as_str()).filter(|it| !it.is_empty());
    let message = summary.and_then(with_placeholders);
    let summary = message.as_deref().or(summary);
    let mut rule = json!({
        "id": of.to_string(),
        "shortDescription": { "text": summary.or(of.name.as_deref()).unwrap_or(&of.code) },
        "defaultConfiguration": { "level": level(finding.severity) },
    });
    if let Some(name) = &of.name {
        rule["name"] = json!(name);
    }
    if let Some(url) = of.url.as_ref().or(known.and_then(|it| it.url.as_ref())) {
        rule["helpUri"] = json!(url);
    }
    if let Some(known) = known.filter(|it| !it.explanation.is_empty()) {
        rule["help"] = json!({ "text": known.explanation, "markdown": known.explanation });
    }
    rule
}

fn base(page: &Page<'_>) -> Value {
    let root = page.workspace.root().to_string_lossy();
    let root = root.trim_end_matches('/');
    json!({ BASE: { "uri": format!("file://{}/", uri(root)) } })
}

/// The `invocation` object: whether the run did all it should, and notifications of what it did not.
fn invocation(page: &Page<'_>, tool: &Tool<'_>) -> Value {
    let has_run = |name: &str| page.report.linters.iter().any(|it| it.name == name);
    let concerns = |it: &&Incomplete| it.linter.as_deref().is_none_or(|it| it == tool.name || !has_run(it));
    let notifications: Vec<_> = page.report.incomplete.iter().filter(concerns).map(notification).collect();
    let is_successful = notifications.is_empty();
    let excluded = page.report.excluded.iter().filter(|it| *it.linter == *tool.name);
    let notifications: Vec<_> = notifications.into_iter().chain(excluded.map(left_out)).collect();
    let mut invocation =
        json!({ "executionSuccessful": is_successful, "toolExecutionNotifications": notifications });
    let unavailable =
        page.report.unavailable.iter().filter(|it| it.linter == tool.name || !has_run(&it.linter));
    let not_asked: Vec<_> = unavailable.map(not_asked).collect();
    if !not_asked.is_empty() {
        invocation["toolConfigurationNotifications"] = json!(not_asked);
    }
    invocation
}

/// A linter that would have been asked, were it there: no failure of the run.
fn not_asked(it: &Unavailable) -> Value {
    let told = check_engine::not_asked(std::slice::from_ref(it)).concat();
    json!({ "level": "warning", "message": { "text": format!("not asked: {told}") } })
}

/// A file that the linter leaves out for its content, or of which it does not read a part: no failure either.
fn left_out(it: &Excluded) -> Value {
    let what = if it.in_part { "read in part" } else { "left out" };
    json!({
        "level": "note",
        "message": { "text": format!("{}: {what}: {}", it.linter, it.reason) },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact(&it.path) } }],
    })
}

fn notification(it: &Incomplete) -> Value {
    let linter = it.linter.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
    let level = if it.level == Level::Failed { "error" } else { "warning" };
    let mut notification = json!({
        "level": level,
        "message": { "text": format!("{linter}{}: {}", it.level.name(), it.reason) },
    });
    if let Subject::Path(path) = &it.subject {
        notification["locations"] = json!([{ "physicalLocation": { "artifactLocation": artifact(path) } }]);
    } else if let Some(given) = subject_path(&it.subject) {
        notification["message"]["text"] = json!(format!("{given}: {}", it.reason));
    }
    notification
}

fn result(it: &Finding, rule: usize, fingerprint: String) -> Value {
    let mut result = json!({
        "ruleId": it.rule.to_string(),
        "ruleIndex": rule,
        "level": level(it.severity),
        "message": { "text": &*it.message },
        "locations": [location(it)],
        "partialFingerprints": { "primaryLocationLineHash": fingerprint },
    });
    if !it.related.is_empty() {
        result["relatedLocations"] = related(it);
    }
    // A fix that is words only has no replacements, of which SARIF wants at least one.
    let fixes: Vec<_> = it.fixes.iter().filter(|fix| !fix.edits.is_empty()).collect();
    if it.cell.is_none() && !fixes.is_empty() {
        result["fixes"] = fixes.into_iter().map(|fix| self::fix(it, fix)).collect();
    }
    result
}

fn location(it: &Finding) -> Value {
    let artifact = artifact(&it.file.path);
    match &it.cell {
        Some(cell) => json!({
            "physicalLocation": { "artifactLocation": artifact },
            "logicalLocations": [{ "name": format!("cell {}", cell.index + 1), "kind": "cell" }],
        }),
        None => json!({ "physicalLocation": { "artifactLocation": artifact, "region": region(it.range) } }),
    }
}

fn related(it: &Finding) -> Value {
    let locations = it.related.iter().enumerate().map(|(index, related)| {
        let path = related.path.as_ref().unwrap_or(&it.file.path);
        let mut physical = json!({ "artifactLocation": artifact(path) });
        if let (Some(range), None) = (related.range, &it.cell) {
            physical["region"] = region(range);
        }
        json!({ "id": index, "physicalLocation": physical, "message": { "text": &*related.message } })
    });
    locations.collect()
}

fn fix(it: &Finding, fix: &Fix) -> Value {
    let replacement = |edit: &Edit| json!({ "deletedRegion": region(edit.range), "insertedContent": { "text": &*edit.replacement } });
    let replacements: Vec<_> = fix.edits.iter().map(replacement).collect();
    let changes = json!([{ "artifactLocation": artifact(&it.file.path), "replacements": replacements }]);
    match &fix.message {
        Some(message) => json!({ "description": { "text": &**message }, "artifactChanges": changes }),
        None => json!({ "artifactChanges": changes }),
    }
}

fn region(Range { start, end }: Range) -> Value {
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

fn artifact(path: &WorkspacePath) -> Value {
    json!({ "uri": uri(workspace_path(path)), "uriBaseId": BASE })
}

fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into())
            }
            other => {
                let _to_a_string = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        let text = fixture::render(Format::Sarif);
        let value: Value = serde_json::from_str(&text).unwrap();
        insta::assert_json_snapshot!(value);
    }

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(uri("a b/\u{e9}.py"), "a%20b/%C3%A9.py");
    }
}
