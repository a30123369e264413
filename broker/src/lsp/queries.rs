//! Targets and errors of requests to language servers.

use std::rc::Rc;

use broker_proto::v1 as pb;
use serde_json::Value;
use tonic::Status;

use super::{document::Place, failure::Failure, folder::Folder, server::Server, target};
use crate::client;

/// The answer for an error of the daemon: `null` if there is no language server for the file, else an error.
pub(super) fn no_answer(server: &Server, method: &str, status: Status) -> Result<Value, Failure> {
    match client::reason(&status).as_str() {
        "NO_SERVER" | "NOT_FOUND" => {
            server.log(format!("{method}: {}", status.message()));
            Ok(Value::Null)
        }
        "SERVER_PENDING" => Err(Failure::failed(status.message())),
        _ => Err(status.into()),
    }
}

/// Folder, target and path of an open document; `None` if it is in no served workspace.
pub(super) fn target_of(server: &Server, uri: &str) -> Option<(Rc<Folder>, pb::Target, String)> {
    let document = server.document(uri)?;
    let (folder, target) = match &document.place {
        Place::Base(folder, _) => (folder, target::base(&folder.connection()?)),
        Place::Branch(folder, file) => (folder, target::branch(&file.branch)),
        Place::Elsewhere => return None,
    };
    let path = document.path()?.as_str().to_owned();
    Some((Rc::clone(folder), target, path))
}
