//! Code actions of a server. An action's edits are asked for in one go with the list, since a server's memory of a list
//! does not outlive a switch.
//!
//! A command is run only if the profile names it: most do more than to ask for edits. What an action with
//! edits would run after them is only told.

use lsp_client::Range;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Edits, NoAnswer, Part, asker::Asker, edits::of_workspace_edit};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    pub title: String,
    /// `quickfix`, `refactor.extract.function`.
    pub kind: Option<String>,
    pub is_preferred: bool,
    /// Reason for which the action cannot be done now.
    pub disabled: Option<String>,
    /// The command that it runs, if it is nothing more.
    pub command: Option<String>,
}

/// The first that is called so, and is of this kind if one is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionChoice {
    pub title: String,
    pub kind: Option<String>,
}

/// `CodeAction` or `Command`: of the latter, `command` is a text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Offered {
    title: String,
    kind: Option<String>,
    #[serde(default)]
    is_preferred: bool,
    disabled: Option<Disabled>,
    edit: Option<Value>,
    command: Option<Runs>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Disabled {
    reason: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Runs {
    Name(String),
    Command { command: String, arguments: Option<Value> },
}

pub(super) fn list(asker: &Asker<'_>, part: &Part, only: &[String]) -> Result<Vec<Action>, NoAnswer> {
    offered(asker, part, only)?.into_iter().map(|it| Ok(action(read(it)?))).collect()
}

fn action(it: Offered) -> Action {
    let runs = it.runs().map(|it| it.0.to_owned());
    Action {
        command: runs.filter(|_| it.edit.is_none()),
        title: it.title,
        kind: it.kind,
        is_preferred: it.is_preferred,
        disabled: it.disabled.map(|it| it.reason),
    }
}

pub(super) fn edits(
    asker: &mut Asker<'_>,
    part: &Part,
    only: &[String],
    chosen: &ActionChoice,
) -> Result<Edits, NoAnswer> {
    let is_chosen = |it: &Value| {
        let is_kind = chosen.kind.as_ref().is_none_or(|kind| it["kind"] == **kind);
        it["title"] == chosen.title && is_kind
    };
    let found = offered(asker, part, only)?.into_iter().find(is_chosen);
    let mut found =
        found.ok_or_else(|| NoAnswer::Failed(format!("nothing here is called `{}`", chosen.title)))?;
    let can_resolve = asker.client.supports("codeAction/resolve");
    let is_command = found["command"].is_string();
    if can_resolve && !is_command && found.get("edit").is_none_or(Value::is_null) {
        found = asker.request("codeAction/resolve", &found)?;
    }
    do_it(asker, read(found)?)
}

fn do_it(asker: &mut Asker<'_>, it: Offered) -> Result<Edits, NoAnswer> {
    if let Some(disabled) = it.disabled {
        return Err(NoAnswer::Failed(disabled.reason));
    }
    let runs = it.runs().map(|(name, arguments)| (name.to_owned(), arguments.clone()));
    match (it.edit, runs) {
        (Some(edit), runs) => {
            let mut edits = of_workspace_edit(asker, edit)?;
            edits.notes.extend(runs.map(|(name, _)| format!("the command `{name}` is not run")));
            Ok(edits)
        }
        (None, Some((name, arguments))) => run(asker, &name, &arguments),
        (None, None) => Ok(Edits::default()),
    }
}

fn run(asker: &mut Asker<'_>, name: &str, arguments: &Value) -> Result<Edits, NoAnswer> {
    if !asker.profile.commands.iter().any(|it| it == name) {
        let reason = format!("the command `{name}` may do more than to ask for edits, and is not run");
        return Err(NoAnswer::Failed(reason));
    }
    let mut all = Vec::new();
    for wanted in asker.execute(name, arguments)? {
        let bad = |it: serde_json::Error| NoAnswer::Failed(format!("an edit is not understood: {it}"));
        all.push(of_workspace_edit(asker, serde_json::from_str(wanted.get()).map_err(bad)?)?);
    }
    // Each counts in what the one before has left, and the server was not told of that.
    match all.len() {
        0 => Err(NoAnswer::Failed(format!("the command `{name}` asked for no edits"))),
        1 => Ok(all.remove(0)),
        n => Err(NoAnswer::Failed(format!("the command `{name}` asked for edits {n} times"))),
    }
}

fn offered(asker: &Asker<'_>, part: &Part, only: &[String]) -> Result<Vec<Value>, NoAnswer> {
    let range = asker.range(part)?;
    let mut context = json!({ "diagnostics": findings(asker, range)?, "triggerKind": 1 });
    if !only.is_empty() {
        context["only"] = json!(only);
    }
    let params = json!({ "textDocument": asker.document()?, "range": range, "context": context });
    let found: Option<Vec<Value>> = asker.request("textDocument/codeAction", &params)?;
    Ok(found.unwrap_or_default())
}

/// Reads the server's findings in the range, in the server's own form: quick fixes are for these.
fn findings(asker: &Asker<'_>, range: Range) -> Result<Vec<Value>, NoAnswer> {
    const PULL: &str = "textDocument/diagnostic";
    let items = if asker.client.supports(PULL) && asker.profile.barrier.is_pull() {
        let mut report: Value = asker.request(PULL, &json!({ "textDocument": asker.document()? }))?;
        serde_json::from_value(report["items"].take()).unwrap_or_default()
    } else {
        asker.published.clone()
    };
    let touches = |it: &Value| {
        let found = serde_json::from_value::<Range>(it["range"].clone());
        found.is_ok_and(|it| it.start <= range.end && range.start <= it.end)
    };
    Ok(items.into_iter().filter(touches).collect())
}

fn read(offered: Value) -> Result<Offered, NoAnswer> {
    let bad = |it: serde_json::Error| NoAnswer::Failed(format!("an action is not understood: {it}"));
    serde_json::from_value(offered).map_err(bad)
}

const NONE: &Value = &Value::Null;

impl Offered {
    fn runs(&self) -> Option<(&str, &Value)> {
        self.command.as_ref().map(|it| match it {
            Runs::Name(name) => (&**name, self.arguments.as_ref().unwrap_or(NONE)),
            Runs::Command { command, arguments } => (&**command, arguments.as_ref().unwrap_or(NONE)),
        })
    }
}
