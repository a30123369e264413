//! Code actions, and workspace edits that the client applies.

use std::fs;

use gen_lsp_types::Range;
use serde_json::{Value, json};

use super::{Editor, path_of};

impl Editor {
    /// Actions at a part of the text, which must occur once, with the findings there as context.
    pub fn actions(&mut self, uri: &str, part: &str, only: &[&str]) -> Vec<Value> {
        let range = self.encoding().range_of(self.text(uri), part);
        let findings = self.findings(uri);
        self.actions_for(uri, &range, &findings, only)
    }

    /// Actions for a range. The findings that touch it are the context.
    pub fn actions_for(&mut self, uri: &str, range: &Range, findings: &[Value], only: &[&str]) -> Vec<Value> {
        let is_there = |it: &&Value| {
            let at: Range = serde_json::from_value(it["range"].clone()).unwrap();
            at.start <= range.end && range.start <= at.end
        };
        let here: Vec<_> = findings.iter().filter(is_there).cloned().collect();
        let mut context = json!({ "diagnostics": here, "triggerKind": 1 });
        if !only.is_empty() {
            context["only"] = only.into();
        }
        let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
        let actions = self.ask("textDocument/codeAction", params);
        actions.as_array().cloned().unwrap_or_default()
    }

    /// Chooses an action: resolves it, applies its edit, executes its command.
    pub fn choose(&mut self, action: &Value) {
        let resolves = self.capability("/codeActionProvider/resolveProvider") == true;
        let action = match action.get("edit") {
            None if resolves => self.ask("codeAction/resolve", action.clone()),
            _ => action.clone(),
        };
        if action.get("edit").is_none() && action.get("command").is_none() {
            self.fail(&format!("an action that does nothing: {action}"));
        }
        if let Some(edit) = action.get("edit") {
            self.apply(edit).unwrap_or_else(|why| self.fail(&format!("{why}: {action}")));
        }
        if let Some(command) = action.get("command") {
            let params = json!({ "command": command["command"], "arguments": command["arguments"] });
            self.ask("workspace/executeCommand", params);
        }
    }

    pub(super) fn check_actions(&self, params: &Value, actions: &Value) {
        let has_literals = self.client.can("/textDocument/codeAction/codeActionLiteralSupport");
        for action in actions.as_array().into_iter().flatten() {
            if !has_literals {
                if !action["command"].is_string() {
                    self.fail(&format!("a client that knows commands only gets {action}"));
                }
                continue;
            }
            let only = params["context"]["only"].as_array();
            let kind = action["kind"].as_str().unwrap_or_default();
            let is_of = |it: &Value| {
                let it = it.as_str().unwrap();
                it.is_empty() || kind == it || kind.starts_with(&format!("{it}."))
            };
            if only.is_some_and(|it| !it.iter().any(is_of)) {
                self.fail(&format!("only {only:?} was asked for: {action}"));
            }
            for (name, capability) in [
                ("data", "dataSupport"),
                ("isPreferred", "isPreferredSupport"),
                ("disabled", "disabledSupport"),
            ] {
                let may = self.client.can(&format!("/textDocument/codeAction/{capability}"));
                if action.get(name).is_some() && !may {
                    self.fail(&format!("{name} though the client has no {capability}: {action}"));
                }
            }
        }
    }

    /// Applies a workspace edit as an editor does: to open documents, and to other files on the disk.
    pub fn apply(&mut self, edit: &Value) -> Result<(), String> {
        let may_documents = self.client.can("/workspace/workspaceEdit/documentChanges");
        if let Some(changes) = edit.get("documentChanges").and_then(Value::as_array) {
            assert!(may_documents, "an edit that the client does not know: {edit}");
            return changes.iter().try_for_each(|it| self.apply_part(it));
        }
        let changes = edit["changes"].as_object().into_iter().flatten();
        changes.into_iter().try_for_each(|(uri, edits)| self.apply_edits(uri, edits))
    }

    fn apply_part(&mut self, part: &Value) -> Result<(), String> {
        let Some(kind) = part["kind"].as_str() else {
            let (uri, version) =
                (part["textDocument"]["uri"].as_str().unwrap(), &part["textDocument"]["version"]);
            let now = self.documents.get(uri).map(|it| it.version);
            if version.is_i64() && version.as_i64() != now.map(i64::from) {
                return Err(format!("{uri} is at version {now:?}, not {version}"));
            }
            return self.apply_edits(uri, &part["edits"]);
        };
        let known =
            self.client.capability("/workspace/workspaceEdit/resourceOperations").and_then(Value::as_array);
        assert!(known.is_some_and(|it| it.contains(&part["kind"])), "the client cannot do this: {part}");
        let path = |name: &str| path_of(part[name].as_str().unwrap()).unwrap();
        let done = match kind {
            "create" if path("uri").exists() && part["options"]["overwrite"] != true => {
                match part["options"]["ignoreIfExists"] == true {
                    true => Ok(()),
                    false => return Err(format!("{} is there", part["uri"])),
                }
            }
            "create" => {
                fs::create_dir_all(path("uri").parent().unwrap()).and_then(|()| fs::write(path("uri"), ""))
            }
            "rename" => fs::rename(path("oldUri"), path("newUri")),
            "delete" => fs::remove_file(path("uri")),
            other => return Err(format!("no operation {other}")),
        };
        done.map_err(|error| format!("{part}: {error}"))
    }

    fn apply_edits(&mut self, uri: &str, edits: &Value) -> Result<(), String> {
        let open = self.documents.get(uri).map(|it| it.text.clone());
        let text = match (&open, path_of(uri)) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) => fs::read_to_string(path).map_err(|error| format!("{uri}: {error}"))?,
            (None, None) => return Err(format!("{uri} is not open")),
        };
        // Edits are applied from the last to the first, since their positions are those before all edits.
        let encoding = self.encoding();
        let mut all: Vec<(Range, &str)> = Vec::new();
        for edit in edits.as_array().unwrap() {
            let range = serde_json::from_value(edit["range"].clone()).unwrap();
            if let Some(fault) = encoding.fault(&text, range) {
                self.fail(&format!("{uri}: {fault}: {edit}"));
            }
            all.push((range, edit["newText"].as_str().unwrap()));
        }
        all.sort_by_key(|it| it.0.start);
        if all.windows(2).any(|it| it[0].0.end > it[1].0.start) {
            self.fail(&format!("edits of {uri} overlap: {edits}"));
        }
        if open.is_some() {
            let changes: Vec<_> = all.iter().rev().map(|it| super::documents::edit(it.0, it.1)).collect();
            self.change(uri, &changes);
            return Ok(());
        }
        let mut text = text;
        for (range, new) in all.iter().rev() {
            let bytes = encoding.offset(&text, range.start)..encoding.offset(&text, range.end);
            text.replace_range(bytes, new);
        }
        fs::write(path_of(uri).unwrap(), text).map_err(|error| error.to_string())
    }
}

/// The only action whose title contains `part`.
#[track_caller]
pub fn titled<'a>(actions: &'a [Value], part: &str) -> &'a Value {
    let titles: Vec<_> = actions.iter().map(|it| it["title"].as_str().unwrap()).collect();
    let mut found = actions.iter().filter(|it| it["title"].as_str().unwrap().contains(part));
    let first = found.next().unwrap_or_else(|| panic!("no {part:?} in {titles:?}"));
    assert!(found.next().is_none(), "{part:?} is there twice in {titles:?}");
    first
}

/// Actions of a kind or a kind below it.
pub fn of_kind<'a>(actions: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let is_of = |it: &&Value| {
        let own = it["kind"].as_str().unwrap_or_default();
        own == kind || own.starts_with(&format!("{kind}."))
    };
    actions.iter().filter(is_of).collect()
}
