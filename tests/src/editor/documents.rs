//! Open documents and their findings.

use std::collections::VecDeque;

use gen_lsp_types::Range;
use serde_json::{Value, json};

use super::{Editor, Refused, path_of, uri};
use crate::place::Place;

/// Number of versions whose texts are kept, since findings may be about an older one.
const MAX_VERSIONS: usize = 200;

#[derive(Debug)]
pub struct Document {
    pub version: i32,
    pub text: String,
    /// Texts by version.
    pub(super) history: VecDeque<(i32, String)>,
}

impl Document {
    pub(super) fn text_of(&self, version: i32) -> Option<&str> {
        self.history.iter().find(|it| it.0 == version).map(|it| it.1.as_str())
    }

    fn remember(&mut self) {
        if self.history.len() == MAX_VERSIONS {
            self.history.pop_front();
        }
        self.history.push_back((self.version, self.text.clone()));
    }
}

/// A `didChange` entry that replaces a range.
pub fn edit(range: Range, text: &str) -> Value {
    json!({ "range": range, "text": text })
}

/// A `didChange` entry that replaces the whole text.
pub fn whole(text: &str) -> Value {
    json!({ "text": text })
}

fn language(uri: &str) -> &'static str {
    match uri.rsplit('.').next() {
        Some("py") => "python",
        Some("toml") => "toml",
        Some("js") => "javascript",
        Some("md") => "markdown",
        _ => "plaintext",
    }
}

impl Editor {
    /// Opens a file of the workspace with the text on the disk, and returns its URI.
    pub fn open(&mut self, place: &Place, path: &str) -> String {
        let text = place.read(path);
        self.open_text(&uri(&place.root().join(path)), &text)
    }

    /// Opens a document with a text that need not be on the disk.
    pub fn open_text(&mut self, uri: &str, text: &str) -> String {
        self.open_version(uri, text, 1)
    }

    pub fn open_version(&mut self, uri: &str, text: &str, version: i32) -> String {
        let mut document = Document { version, text: text.to_owned(), history: VecDeque::new() };
        document.remember();
        assert!(self.documents.insert(uri.to_owned(), document).is_none(), "{uri} is open");
        // Versions start again, so that an earlier published version says nothing.
        self.published.remove(uri);
        let document = json!({ "uri": uri, "languageId": language(uri), "version": version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        uri.to_owned()
    }

    /// Makes changes one after another, and sends all in one `didChange`.
    pub fn change(&mut self, uri: &str, changes: &[Value]) {
        let encoding = self.encoding();
        let document = self.documents.get_mut(uri).expect("an open document");
        for change in changes {
            let new = change["text"].as_str().unwrap();
            let Some(range) = change.get("range") else {
                new.clone_into(&mut document.text);
                continue;
            };
            let range: Range = serde_json::from_value(range.clone()).unwrap();
            let start = encoding.offset(&document.text, range.start);
            let end = encoding.offset(&document.text, range.end);
            document.text.replace_range(start..end, new);
        }
        document.version += 1;
        document.remember();
        let identifier = json!({ "uri": uri, "version": document.version });
        let params = json!({ "textDocument": identifier, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    /// Replaces a part of the text, which must occur once.
    #[track_caller]
    pub fn replace(&mut self, uri: &str, part: &str, new: &str) {
        let range = self.encoding().range_of(&self.documents[uri].text, part);
        self.change(uri, &[edit(range, new)]);
    }

    pub fn set_text(&mut self, uri: &str, text: &str) {
        self.change(uri, &[whole(text)]);
    }

    pub fn text(&self, uri: &str) -> &str {
        &self.documents[uri].text
    }

    /// Writes the document to the disk and sends `didSave`.
    pub fn save(&mut self, uri: &str) {
        let path = path_of(uri).expect("a file");
        std::fs::write(path, &self.documents[uri].text).unwrap();
        self.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    }

    pub fn close_document(&mut self, uri: &str) {
        self.documents.remove(uri).expect("an open document");
        self.closed.insert(uri.to_owned());
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// Findings in the current text, pulled or pushed.
    #[track_caller]
    pub fn findings(&mut self, uri: &str) -> Vec<Value> {
        match self.client.can("/textDocument/diagnostic") {
            true => self.pull(uri, None)["items"].as_array().expect("a full report").clone(),
            false => self.published_for(uri, self.documents[uri].version),
        }
    }

    /// Waits until findings of at least this version are published.
    pub fn published_for(&mut self, uri: &str, version: i32) -> Vec<Value> {
        self.wait(&format!("findings of version {version} of {uri}"), |it| {
            let published = it.published.get(uri)?;
            (published.version? >= version).then(|| published.findings.clone())
        })
    }

    /// Waits until the findings satisfy `is_so` because of something other than an edit of the document.
    pub fn findings_until(&mut self, uri: &str, what: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        if !self.client.can("/textDocument/diagnostic") {
            return self.wait(what, |it| {
                let published = it.published.get(uri)?;
                is_so(&published.findings).then(|| published.findings.clone())
            });
        }
        loop {
            let found = self.findings(uri);
            if is_so(&found) {
                return found;
            }
            self.next("workspace/diagnostic/refresh");
        }
    }

    /// Pulls a report, again as long as the server asks for that.
    #[track_caller]
    pub fn pull(&mut self, uri: &str, previous: Option<&str>) -> Value {
        loop {
            match self.try_pull(uri, previous) {
                Ok(report) => return report,
                Err(refused) if refused.code == -32802 && refused.data["retriggerRequest"] == true => {}
                Err(refused) => self.fail(&format!("no report: {refused:?}")),
            }
        }
    }

    pub fn try_pull(&mut self, uri: &str, previous: Option<&str>) -> Result<Value, Refused> {
        let mut params = json!({ "textDocument": { "uri": uri } });
        if let Some(previous) = previous {
            params["previousResultId"] = previous.into();
        }
        let id = self.request("textDocument/diagnostic", params);
        self.answer(id)
    }

    /// Parameters of a request about a position: the start of `part`, which must occur once.
    pub fn at(&self, uri: &str, part: &str) -> Value {
        let range = self.encoding().range_of(&self.documents[uri].text, part);
        json!({ "textDocument": { "uri": uri }, "position": range.start })
    }
}
