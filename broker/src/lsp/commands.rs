//! `workspace/executeCommand`: the table of commands, and the commands about rules. Those about branches are in `branches`.

use std::rc::Rc;

use gen_lsp_types::{
    ApplyWorkspaceEditParams, ApplyWorkspaceEditRequest, ExecuteCommandParams, MessageType,
    ShowDocumentParams, ShowDocumentRequest, Uri,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use workspaces::{ErrorKind, Side};

use super::{
    branches, edits,
    failure::Failure,
    folder::Folder,
    rule_list::{full_name, markdown},
    server::Server,
    target,
    text::Text,
};

pub(super) const OPEN_RULE: &str = "broker.openRule";
pub(super) const DISABLE_RULE: &str = "broker.disableRule";

/// Names of all commands.
pub(super) const NAMES: [&str; 11] = [
    "broker.listBranches",
    "broker.forkBranch",
    "broker.diffBranch",
    "broker.checkBranch",
    "broker.commitBranch",
    "broker.discardBranch",
    "broker.rebaseBranch",
    "broker.runInBranch",
    "broker.explainRule",
    OPEN_RULE,
    DISABLE_RULE,
];

/// Executes a command.
pub(super) async fn execute(server: Rc<Server>, params: ExecuteCommandParams) -> Result<Value, Failure> {
    let mut arguments = params.arguments.unwrap_or_default();
    if arguments.len() > 1 {
        return Err(Failure::invalid_params("a command has one argument, an object"));
    }
    let argument = arguments.pop().unwrap_or_else(|| json!({}));
    let server = &server;
    match params.command.as_str() {
        "broker.listBranches" => branches::list(server, parsed(argument)?).await,
        "broker.forkBranch" => branches::fork(server, parsed(argument)?).await,
        "broker.diffBranch" => branches::diff(server, parsed(argument)?).await,
        "broker.checkBranch" => branches::check(server, parsed(argument)?).await,
        "broker.commitBranch" => branches::commit(server, parsed(argument)?).await,
        "broker.discardBranch" => branches::discard(server, parsed(argument)?).await,
        "broker.rebaseBranch" => branches::rebase(server, parsed(argument)?).await,
        "broker.runInBranch" => branches::run(server, parsed(argument)?).await,
        "broker.explainRule" => explain(server, &parsed::<Rule>(argument)?).await,
        DISABLE_RULE if argument.get("uri").is_none() => Err(Failure::invalid_params("`uri` is missing")),
        OPEN_RULE => open(server, &parsed::<Rule>(argument)?).await,
        DISABLE_RULE => disable(server, &parsed::<Rule>(argument)?).await,
        other => Err(Failure::invalid_params(format!("there is no command `{other}`"))),
    }
}

fn parsed<T: DeserializeOwned>(argument: Value) -> Result<T, Failure> {
    serde_json::from_value(argument).map_err(Failure::invalid_params)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    rule: String,
    /// URI of a document in the folder whose rules are searched.
    uri: Option<String>,
}

impl Rule {
    fn folder(&self, server: &Server) -> Result<Rc<Folder>, Failure> {
        let of_document = self.uri.as_ref().and_then(|it| {
            let open = server.document(it).and_then(|it| it.folder().cloned());
            open.or_else(|| server.folder_of(it).map(|it| it.0))
        });
        let folder = of_document.or_else(|| server.folders().into_iter().next());
        folder.ok_or_else(|| Failure::failed("no folder is open"))
    }
}

async fn explain(server: &Rc<Server>, argument: &Rule) -> Result<Value, Failure> {
    let rules = server.rules.of(&*argument.folder(server)?).await?;
    let rule = rules.find(&argument.rule).ok_or_else(|| no_rule(&argument.rule))?;
    Ok(json!({"rule": full_name(rule), "markdown": markdown(rule), "url": rule.rule.url}))
}

fn no_rule(name: &str) -> Failure {
    Failure::failed(format!("no linter that lists its rules has one called `{name}`"))
}

/// Shows the rule's page in a browser; its description as a message if the client cannot open pages or the rule has none.
async fn open(server: &Rc<Server>, argument: &Rule) -> Result<Value, Failure> {
    let rules = server.rules.of(&*argument.folder(server)?).await?;
    let rule = rules.find(&argument.rule).ok_or_else(|| no_rule(&argument.rule))?;
    if server.traits.shows_documents
        && let Some(url) = &rule.rule.url
    {
        let uri = Uri(url.clone());
        let params = ShowDocumentParams { uri, external: Some(true), take_focus: None, selection: None };
        if server.peer.ask::<ShowDocumentRequest>(&params).await.is_ok_and(|it| it.success) {
            return Ok(Value::Null);
        }
    }
    server.peer.show(MessageType::Info, markdown(rule));
    Ok(Value::Null)
}

/// Adds the rule to `ignore` in the folder's `broker.toml`. The client makes the edit.
async fn disable(server: &Rc<Server>, argument: &Rule) -> Result<Value, Failure> {
    let folder = argument.folder(server)?;
    let connection = folder.served().await?;
    for name in config::FILE_NAMES {
        let uri = format!("{}/{name}", folder.uri);
        let open = server.document(&uri);
        let version = open.as_ref().map(|it| it.version());
        let text = match open {
            Some(document) => document.state().text.as_str().to_owned(),
            None => match server.read(&target::base(&connection), name, Side::Now).await {
                Ok(bytes) => String::from_utf8(bytes.into())
                    .map_err(|_| Failure::failed(format!("{name} is no UTF-8")))?,
                Err(error) if error.kind == ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            },
        };
        let changed = edits::ignoring(&text, &argument.rule)?;
        let edits = Text::new(text, server.traits.encoding).edits_to(&changed);
        return apply(server, edits::of_document(&server.traits, &uri, version, edits), "Disable a rule")
            .await;
    }
    let uri = format!("{}/broker.toml", folder.uri);
    let edit = edits::of_new_file(&server.traits, &uri, edits::ignoring("", &argument.rule)?);
    let edit = edit.ok_or_else(|| {
        Failure::failed(format!(
            "there is no broker.toml; make one that says `ignore = [\"{}\"]`",
            argument.rule
        ))
    })?;
    apply(server, edit, "Disable a rule").await
}

/// Sends `workspace/applyEdit`. An error if the client does not apply the edit.
pub(super) async fn apply(
    server: &Rc<Server>,
    edit: gen_lsp_types::WorkspaceEdit,
    label: &str,
) -> Result<Value, Failure> {
    if !server.traits.apply_edit {
        return Err(Failure::failed("this editor takes no edits from a server (`workspace/applyEdit`)"));
    }
    let params = ApplyWorkspaceEditParams { label: Some(label.to_owned()), edit, ..Default::default() };
    let answer = server.peer.ask::<ApplyWorkspaceEditRequest>(&params).await;
    let refused =
        |it: Failure| Failure::failed(format!("the editor did not make the change: {}", it.message()));
    let answer = answer.map_err(refused)?;
    if answer.applied {
        return Ok(Value::Null);
    }
    let reason = answer.failure_reason.unwrap_or_else(|| "it does not say why".to_owned());
    Err(Failure::failed(format!("the editor did not make the change: {reason}")))
}
