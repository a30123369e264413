//! Code actions: fixes, suppressions, and commands about rules.
//!
//! Edits for a whole file are computed when the client resolves the action, if it can.

use std::rc::Rc;

use check_engine::pipeline::Reported;
use gen_lsp_types::{
    CodeAction, CodeActionDisabled, CodeActionKind, CodeActionParams, CodeActionTriggerKind, Command,
    Diagnostic, TextEdit, WorkspaceEdit,
};
use lint::{Applicability, Span, suppress};
use linters::LinterKind;
use overlay::{ContentHash, WorkspacePath};
use scheduler::Class;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;
use workspaces::{CheckRequest, FixRequest, TargetId};

use super::{
    capabilities::{FIX_ALL, SUPPRESS},
    commands,
    diagnostics::{self, FixData},
    document::{Checked, Document, DocumentLocation},
    edits,
    failure::Failure,
    folder::Folder,
    queries::{in_time, with_server},
    server::Server,
};

/// `data` of an action whose edit is computed when it is resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Deferred {
    uri: String,
    version: i32,
    what: DeferredKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum DeferredKind {
    /// All safe fixes; only those of these rules, unless the list is empty.
    FixAll(Vec<String>),
    /// A suppression comment on a line, counted from 1; for the whole file if there is no line.
    Suppress { rule: String, line: Option<u32> },
}

/// Placeholder for the reason in a suppression comment.
const REASON: &str = "TODO: say why";

/// `textDocument/codeAction`: own actions, and those of a language server that answers soon enough. Where the client asks at
/// each move of the cursor, own actions have to be there as soon.
pub(super) async fn offer(
    server: Rc<Server>,
    document: Rc<Document>,
    version: i32,
    params: CodeActionParams,
    of_server: Option<impl Future<Output = Result<Value, Failure>>>,
) -> Result<Value, Failure> {
    let asked_at = Instant::now();
    if document.folder().is_none() {
        return Ok(json!([]));
    }
    let is_automatic = params.context.trigger_kind == Some(CodeActionTriggerKind::Automatic);
    let own = own(&server, &document, version, params);
    let own = async {
        match is_automatic {
            true => in_time(asked_at, own).await.unwrap_or_else(|| Ok(Vec::new())),
            false => own.await,
        }
    };
    let Some(of_server) = of_server else { return Ok(json!(own.await?)) };
    let (own, of_server) = with_server(asked_at, own, of_server).await;
    let mut all = own?;
    // An error of the language server must not hide Broker's own actions.
    let of_server = of_server.and_then(Result::ok).and_then(|it| it.as_array().cloned());
    all.extend(of_server.unwrap_or_default());
    Ok(json!(all))
}

async fn own(
    server: &Rc<Server>,
    document: &Rc<Document>,
    version: i32,
    params: CodeActionParams,
) -> Result<Vec<Value>, Failure> {
    let checked = document.result_of(version).await?;
    let offer = Offer { server, document, checked: &checked, only: params.context.only };
    let mut actions = offer.actions(checked.text.index().span(params.range));
    if !server.traits.resolves_edits {
        for it in &mut actions {
            *it = CodeAction { data: None, ..resolved(server, it.clone()).await? };
        }
        actions.retain(|it| it.disabled.is_none() || server.traits.disabled_actions);
    }
    Ok(actions.into_iter().filter_map(|it| shown(server, it)).collect())
}

/// The action in JSON. A client without code action literals gets its command, if it has one.
fn shown(server: &Server, action: CodeAction) -> Option<Value> {
    match server.traits.code_action_literals {
        true => Some(json!(action)),
        false => action.command.map(|it| json!(it)),
    }
}

/// One `textDocument/codeAction` request.
struct Offer<'o> {
    server: &'o Rc<Server>,
    document: &'o Rc<Document>,
    checked: &'o Checked,
    only: Option<Vec<CodeActionKind>>,
}

impl Offer<'_> {
    fn actions(&self, span: Span) -> Vec<CodeAction> {
        let touches = |it: &&Reported| {
            it.0.span.start <= span.end && span.start <= it.0.span.end && it.0.cell.is_none()
        };
        let here: Vec<_> = self.checked.found.findings.iter().filter(touches).collect();
        let is_editable = matches!(self.document.place, DocumentLocation::Base(..));
        let mut actions = Vec::new();
        if is_editable {
            here.iter().for_each(|it| actions.extend(self.fixes(it)));
            actions.extend(self.fix_rules(&here));
            actions.extend(self.fix_all());
            here.iter().for_each(|it| actions.extend(self.suppressions(it)));
        }
        here.iter().for_each(|it| actions.extend(self.about_rule(it, is_editable)));
        let mut seen = std::collections::HashSet::new();
        actions.retain(|it| self.is_wanted(it) && (it.edit.is_some() || seen.insert(it.title.clone())));
        actions
    }

    /// Whether the client asks for actions of this kind, or of a kind that contains it.
    fn is_wanted(&self, action: &CodeAction) -> bool {
        let Some(only) = &self.only else { return true };
        let kind = action.kind.as_ref().map(kind_name).unwrap_or_default();
        only.iter().map(kind_name).any(|it| {
            it.is_empty() || kind == it || kind.strip_prefix(&it).is_some_and(|rest| rest.starts_with('.'))
        })
    }

    fn diagnostic(&self, it: &Reported) -> Option<Diagnostic> {
        let place = self.checked.found.findings.iter().position(|other| std::ptr::eq(other, it))?;
        self.checked.diagnostics.get(place).cloned()
    }

    /// One action per fix of a finding, except fixes that are only for display.
    fn fixes(&self, it: &Reported) -> Vec<CodeAction> {
        let data = diagnostics::data(it, &self.checked.text.index());
        let made = data.fixes.into_iter().filter(|it| it.applicability != "display");
        made.enumerate().map(|(number, fix)| self.fix(it, fix, number == 0)).collect()
    }

    fn fix(&self, it: &Reported, fix: FixData, is_first: bool) -> CodeAction {
        let is_safe = fix.applicability == "safe";
        let what = if fix.title.is_empty() { format!("Fix: {}", it.0.message) } else { fix.title };
        let title = if is_safe { what } else { format!("{what} (may change what the code does)") };
        CodeAction {
            title,
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: self.diagnostic(it).map(|it| vec![it]),
            is_preferred: (is_safe && is_first && self.server.traits.preferred_actions).then_some(true),
            edit: Some(self.edit(fix.edits)),
            ..CodeAction::default()
        }
    }

    fn edit(&self, edits: Vec<TextEdit>) -> WorkspaceEdit {
        edits::of_document(&self.server.traits, &self.document.uri, Some(self.checked.version), edits)
    }

    /// One action per rule with several safe fixes in the file.
    fn fix_rules(&self, here: &[&Reported]) -> Vec<CodeAction> {
        let count = |rule: &str| {
            self.checked
                .found
                .findings
                .iter()
                .filter(|it| has_safe_fix(it) && diagnostics::rule(it) == rule)
                .count()
        };
        let mut rules: Vec<_> =
            here.iter().filter(|it| has_safe_fix(it)).map(|it| diagnostics::rule(it)).collect();
        rules.sort();
        rules.dedup();
        rules.retain(|it| count(it) > 1);
        let action = |rule: String| CodeAction {
            title: format!("Fix all of {rule} in this file"),
            kind: Some(CodeActionKind::QuickFix),
            data: Some(self.deferred(DeferredKind::FixAll(vec![rule]))),
            ..CodeAction::default()
        };
        rules.into_iter().map(action).collect()
    }

    fn fix_all(&self) -> Option<CodeAction> {
        let is_any = self.checked.found.findings.iter().any(has_safe_fix);
        let is_asked = self.only.is_some();
        (is_any && (is_asked || self.server.traits.resolves_edits)).then(|| CodeAction {
            title: "Fix all that can be fixed safely".to_owned(),
            kind: Some(CodeActionKind::Custom(FIX_ALL.into())),
            data: Some(self.deferred(DeferredKind::FixAll(Vec::new()))),
            ..CodeAction::default()
        })
    }

    fn suppressions(&self, it: &Reported) -> Vec<CodeAction> {
        // Syntax errors and incomplete checks cannot be suppressed.
        if it.0.rule.is_syntax_error || &*it.0.rule.linter == suppress::LINTER {
            return Vec::new();
        }
        let rule = diagnostics::rule(it);
        let line = Some(it.0.range.start.line);
        let action = |title: String, line| CodeAction {
            title,
            kind: Some(CodeActionKind::Custom(SUPPRESS.into())),
            diagnostics: self.diagnostic(it).map(|it| vec![it]),
            data: Some(self.deferred(DeferredKind::Suppress { rule: rule.clone(), line })),
            ..CodeAction::default()
        };
        vec![
            action(format!("Suppress {rule} on this line"), line),
            action(format!("Suppress {rule} in this file"), None),
        ]
    }

    /// Commands about the rule of a finding.
    fn about_rule(&self, it: &Reported, is_editable: bool) -> Vec<CodeAction> {
        let rule = diagnostics::rule(it);
        let command = |title: String, name: &str, argument: Value| CodeAction {
            command: Some(Command {
                title: title.clone(),
                command: name.to_owned(),
                arguments: Some(vec![argument]),
                ..Command::default()
            }),
            title,
            kind: Some(CodeActionKind::QuickFix),
            ..CodeAction::default()
        };
        let mut actions =
            vec![command(format!("Explain {rule}"), commands::OPEN_RULE, json!({"rule": rule}))];
        if is_editable && self.server.traits.apply_edit {
            let argument = json!({"rule": rule, "uri": self.document.uri});
            actions.push(command(format!("Disable {rule} in broker.toml"), commands::DISABLE_RULE, argument));
        }
        actions
    }

    fn deferred(&self, what: DeferredKind) -> Value {
        json!(Deferred { uri: self.document.uri.clone(), version: self.checked.version, what })
    }
}

fn kind_name(kind: &CodeActionKind) -> String {
    json!(kind).as_str().unwrap_or_default().to_owned()
}

fn has_safe_fix(it: &Reported) -> bool {
    it.0.fixes.iter().any(|it| it.applicability == Applicability::Safe)
}

/// `codeAction/resolve`
pub(super) async fn resolve(server: Rc<Server>, action: CodeAction) -> Result<Value, Failure> {
    let action = resolved(&server, action).await?;
    match &action.disabled {
        Some(it) if !server.traits.disabled_actions => Err(Failure::failed(it.reason.clone())),
        _ => Ok(json!(action)),
    }
}

/// The action with its edit, or disabled if there can be none.
async fn resolved(server: &Rc<Server>, mut action: CodeAction) -> Result<CodeAction, Failure> {
    let Some(data) = action.data.clone() else { return Ok(action) };
    let deferred: Deferred = serde_json::from_value(data).map_err(Failure::invalid_params)?;
    let document = server.expect_document(&deferred.uri)?;
    if document.version() != deferred.version {
        return Err(Failure::content_modified());
    }
    let DocumentLocation::Base(folder, path) = &document.place else { return Ok(action) };
    let edits = match &deferred.what {
        DeferredKind::FixAll(rules) => fixed(folder, &document, path, rules).await?,
        DeferredKind::Suppress { rule, line } => match suppression(&document, path, rule, *line) {
            Ok(edits) => edits,
            Err(reason) => {
                action.disabled = Some(CodeActionDisabled { reason });
                return Ok(action);
            }
        },
    };
    let version = Some(deferred.version);
    action.edit = Some(edits::of_document(&server.traits, &deferred.uri, version, edits));
    Ok(action)
}

/// Edits that apply all safe fixes, including those that earlier ones make possible.
async fn fixed(
    folder: &Rc<Folder>,
    document: &Rc<Document>,
    path: &WorkspacePath,
    rules: &[String],
) -> Result<Vec<TextEdit>, Failure> {
    let connection = folder.served().await?;
    let (path, text) = (folder.resolved(path), document.state().text);
    let check = CheckRequest {
        paths: vec![path.as_str().to_owned()],
        select: rules.to_vec(),
        kinds: vec![LinterKind::Plugin],
        class: Class::Interactive,
        ..CheckRequest::of(TargetId::Workspace(connection.workspace))
    };
    let request = FixRequest { dry_run: true, with_contents: true, ..FixRequest::of(check) };
    let answer = folder.workspaces.fix_files(request).await?;
    let Some(file) = answer.files.into_iter().find(|it| it.path == path) else {
        return Ok(Vec::new());
    };
    if file.checked != ContentHash::of(text.as_str().as_bytes()) {
        return Err(Failure::content_modified());
    }
    let fixed = std::str::from_utf8(&file.content).map_err(Failure::internal)?;
    Ok(text.edits_to(fixed))
}

/// Edits that write a suppression comment. An error is the reason why there is no place for one.
fn suppression(
    document: &Rc<Document>,
    path: &WorkspacePath,
    rule: &str,
    line: Option<u32>,
) -> Result<Vec<TextEdit>, String> {
    let text = document.state().text;
    let rules = [rule.to_owned()];
    let bytes = bytes::Bytes::copy_from_slice(text.as_str().as_bytes());
    let edits = match line {
        Some(line) => check_engine::suppression(path, &bytes, line, &rules, REASON)?,
        None => check_engine::file_suppression(path, &bytes, &rules, REASON)?,
    };
    let index = text.index();
    let edit = |it: lint::Edit| TextEdit { range: index.range(it.span), new_text: it.replacement };
    Ok(edits.into_iter().map(edit).collect())
}
