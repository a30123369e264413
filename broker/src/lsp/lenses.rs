//! Code lenses: above a file, the branches that change it.

use std::rc::Rc;

use gen_lsp_types::{CodeLens, Command, Range};
use serde_json::{Value, json};

use super::{
    branches::{self, OfWorkspace},
    document::{Document, Place},
    failure::Failure,
    server::Server,
};

/// Branches that are looked at.
const MOST: usize = 50;

pub(super) async fn of_document(server: Rc<Server>, document: Rc<Document>) -> Result<Value, Failure> {
    let Place::Base(folder, path) = &document.place else { return Ok(json!([])) };
    let all = branches::list(&server, OfWorkspace::of(folder)).await?;
    let mut lenses = Vec::new();
    for branch in all.as_array().into_iter().flatten().take(MOST) {
        let (Some(id), Some(name)) = (branch["id"].as_str(), branch["name"].as_str()) else { continue };
        if branches::changes(&server, id).await?.iter().any(|it| it.path == path.as_str()) {
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
