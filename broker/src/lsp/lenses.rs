//! Code lenses above a file, if the setting `codeLens` is on: the number of its findings, and the branches that change it.

use std::rc::Rc;

use gen_lsp_types::{CodeLens, Command, Range};
use serde_json::{Value, json};

use super::{
    branches::{self, OfWorkspace},
    document::{Document, DocumentLocation},
    failure::Failure,
    server::Server,
};

/// Limit on branches that are compared with the file.
const MAX_BRANCHES: usize = 50;

pub(super) async fn of_document(server: Rc<Server>, document: Rc<Document>) -> Result<Value, Failure> {
    let DocumentLocation::Base(folder, path) = &document.place else { return Ok(json!([])) };
    if !server.settings().code_lens {
        return Ok(json!([]));
    }
    let path = folder.resolved(path);
    let all = branches::list(&server, OfWorkspace::of(folder)).await?;
    let count = document.checked().map_or(0, |it| it.found.findings.len());
    let title = if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") };
    // A command without a name: the lens is text only.
    let command = Command { title, ..Command::default() };
    let mut lenses = vec![CodeLens { range: Range::default(), command: Some(command), data: None }];
    for branch in all.as_array().into_iter().flatten().take(MAX_BRANCHES) {
        let (Some(id), Some(name)) = (branch["id"].as_str(), branch["name"].as_str()) else { continue };
        if branches::changes(&server, id).await?.iter().any(|it| it.path == path) {
            lenses.push(lens(id, name));
        }
    }
    Ok(json!(lenses))
}

fn lens(id: &str, name: &str) -> CodeLens {
    let command = Command {
        title: format!("changed in branch {name}"),
        command: "broker.diffBranch".to_owned(),
        arguments: Some(vec![json!({"branch": id})]),
        ..Command::default()
    };
    CodeLens { range: Range::default(), command: Some(command), data: None }
}
