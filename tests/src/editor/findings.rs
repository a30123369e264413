//! Checks of findings and other results: ranges lie in the text that they are about, and only supported fields are sent.

use gen_lsp_types::Range;
use serde_json::Value;

use super::{Asked, Editor, path_of};

/// The last published diagnostics of a document.
#[derive(Debug, Clone)]
pub struct Published {
    pub version: Option<i32>,
    pub findings: Vec<Value>,
}

impl Editor {
    pub(super) fn take_published(&mut self, params: &Value) {
        if self.client.can("/textDocument/diagnostic") {
            self.fail(&format!("published to a client that asks: {params}"));
        }
        let uri = params["uri"].as_str().unwrap();
        let version = params["version"].as_i64().map(|it| i32::try_from(it).unwrap());
        let findings = params["diagnostics"].as_array().unwrap().clone();
        if let Some(document) = self.documents.get(uri) {
            let before = self.published.get(uri).and_then(|it| it.version);
            match version {
                // The document was closed and opened again: this may be the empty list for the closed one.
                None if before.is_none() && findings.is_empty() && self.closed.contains(uri) => {}
                None => self.fail(&format!("findings in an open document without its version: {params}")),
                Some(it) if before.is_some_and(|before| it < before) => {
                    self.fail(&format!("findings of version {it} after those of {before:?}: {params}"));
                }
                Some(it) if it > document.version => {
                    self.fail(&format!("version {it} was not sent: {params}"))
                }
                Some(it) => self.check_findings(&findings, uri, document.text_of(it)),
            }
        } else {
            self.check_findings(&findings, uri, None);
        }
        self.published.insert(uri.to_owned(), Published { version, findings });
    }

    /// Checks findings in a document. `text` is the text that they are about, if that is known.
    pub(super) fn check_findings(&self, findings: &[Value], uri: &str, text: Option<&str>) {
        let of =
            if self.client.can("/textDocument/diagnostic") { "diagnostic" } else { "publishDiagnostics" };
        for finding in findings {
            let may = |name: &str| self.client.can(&format!("/textDocument/{of}/{name}"));
            let has = |name: &str| finding.get(name).is_some();
            let tags = finding["tags"].as_array().into_iter().flatten();
            let shown = self.client.capability(&format!("/textDocument/{of}/tagSupport/valueSet"));
            let shown = shown.and_then(Value::as_array).cloned().unwrap_or_default();
            let fault = match () {
                () if !finding["severity"].as_u64().is_some_and(|it| (1..=4).contains(&it)) => "no severity",
                () if tags.clone().any(|it| !shown.contains(it)) => "a tag that the client cannot show",
                () if has("relatedInformation") && !may("relatedInformation") => "places that it cannot show",
                () if has("codeDescription") && !may("codeDescriptionSupport") => {
                    "a link that it cannot show"
                }
                () if has("codeDescription") && !has("code") => "a link of no code",
                () if has("data") && !may("dataSupport") => "data that it does not keep",
                () if finding["message"].as_str().is_none_or(str::is_empty) => "no message",
                () if finding["source"].as_str().is_none_or(str::is_empty) => "no source",
                () => "",
            };
            if !fault.is_empty() {
                self.fail(&format!("{fault}: {finding}"));
            }
            self.check_places(finding, uri, text);
        }
    }

    /// Checks the result of a request.
    pub(super) fn check_result(&self, asked: &Asked, result: &Value) {
        let own = asked.params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default();
        match asked.method.as_str() {
            "initialize" => return self.check_introduction(result),
            "textDocument/diagnostic" => self.check_report(result, own, asked.text.as_deref()),
            "workspace/diagnostic" => {
                for item in result["items"].as_array().unwrap() {
                    self.check_workspace_report(item);
                }
            }
            "textDocument/codeAction" => self.check_actions(&asked.params, result),
            "textDocument/completion" => self.check_completions(result),
            "workspace/executeCommand" => return,
            _ => {}
        }
        self.check_places(result, own, asked.text.as_deref());
    }

    fn check_introduction(&self, result: &Value) {
        let offered = self.client.capability("/general/positionEncodings").and_then(Value::as_array);
        let chosen = result.pointer("/capabilities/positionEncoding");
        let is_offered = |it| offered.is_some_and(|all| all.contains(it)) || *it == "utf-16";
        if chosen.is_some_and(|it| !is_offered(it)) {
            self.fail(&format!("an encoding that was not offered: {result}"));
        }
    }

    fn check_report(&self, report: &Value, uri: &str, text: Option<&str>) {
        match report["kind"].as_str() {
            Some("full") => self.check_findings(report["items"].as_array().unwrap(), uri, text),
            Some("unchanged") if report["resultId"].is_string() => {}
            _ => self.fail(&format!("neither full nor unchanged: {report}")),
        }
        for (uri, report) in report["relatedDocuments"].as_object().into_iter().flatten() {
            self.check_report(report, uri, self.known_text(uri).as_deref());
        }
    }

    pub(super) fn check_workspace_report(&self, item: &Value) {
        let uri = item["uri"].as_str().unwrap();
        let text = match (self.documents.get(uri), item["version"].as_i64()) {
            (Some(document), Some(version)) => document.text_of(version as i32).map(str::to_owned),
            (Some(_), None) => {
                self.fail(&format!("a report of an open document without its version: {item}"))
            }
            (None, _) => self.known_text(uri),
        };
        self.check_report(item, uri, text.as_deref());
    }

    /// The text of an open document, or of a file on the disk.
    fn known_text(&self, uri: &str) -> Option<String> {
        let document = self.documents.get(uri).map(|it| it.text.clone());
        document.or_else(|| {
            let path = path_of(uri).filter(|_| self.client.looks_at_disk)?;
            std::fs::read_to_string(path).ok()
        })
    }

    fn check_completions(&self, result: &Value) {
        let items = result.get("items").unwrap_or(result).as_array();
        for item in items.into_iter().flatten() {
            let has_snippets = self.client.can("/textDocument/completion/completionItem/snippetSupport");
            let kind = item.get("kind").and_then(Value::as_u64).unwrap_or(1);
            if !(1..=25).contains(&kind) || (item["insertTextFormat"] == 2 && !has_snippets) {
                self.fail(&format!("a completion that no client knows: {item}"));
            }
        }
    }

    /// Checks all ranges in a value. A range belongs to the document that its object or one around it names, else to `uri`.
    pub(super) fn check_places(&self, value: &Value, uri: &str, text: Option<&str>) {
        match value {
            Value::Object(fields) if fields.contains_key("start") && fields.contains_key("end") => {
                let Ok(range) = serde_json::from_value::<Range>(value.clone()) else { return };
                let fault = text.and_then(|it| self.encoding().fault(it, range));
                if let Some(fault) = fault {
                    self.fail(&format!("{uri}: {fault}: {value}"));
                }
            }
            Value::Object(fields) => {
                let beside = ["uri", "targetUri"].into_iter().find_map(|it| fields.get(it)?.as_str());
                let versioned = fields.get("textDocument").and_then(|it| it["uri"].as_str());
                for (name, it) in fields {
                    let other =
                        if name.starts_with("file:") { Some(name.as_str()) } else { beside.or(versioned) };
                    match other.filter(|it| *it != uri && name != "originSelectionRange") {
                        Some(other) => self.check_places(it, other, self.known_text(other).as_deref()),
                        None => self.check_places(it, uri, text),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|it| self.check_places(it, uri, text)),
            _ => {}
        }
    }
}

/// `line:character-line:character source/code` of each finding, by position.
pub fn told(findings: &[Value]) -> Vec<String> {
    let mut all: Vec<_> = findings.iter().map(|it| (place(&it["range"]["start"]), shown(it))).collect();
    all.sort();
    all.into_iter().map(|it| it.1).collect()
}

fn place(at: &Value) -> (u64, u64) {
    (at["line"].as_u64().unwrap(), at["character"].as_u64().unwrap())
}

fn shown(finding: &Value) -> String {
    let (start, end) = (place(&finding["range"]["start"]), place(&finding["range"]["end"]));
    let code = finding["code"].as_str().unwrap_or("-");
    format!("{}:{}-{}:{} {}/{code}", start.0, start.1, end.0, end.1, finding["source"].as_str().unwrap())
}

/// `source/code` of each finding, sorted.
pub fn codes(findings: &[Value]) -> Vec<String> {
    let rule =
        |it: &Value| format!("{}/{}", it["source"].as_str().unwrap(), it["code"].as_str().unwrap_or("-"));
    let mut all: Vec<_> = findings.iter().map(rule).collect();
    all.sort();
    all
}
