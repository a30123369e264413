//! Changes to the requests that begin a connection or a session.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::message::Message;

/// Command of the MCP server that agents are given, without workspace and branch.
#[derive(Debug, Clone, Default)]
pub(crate) struct McpCommand {
    pub(crate) program: PathBuf,
    /// Variables with which it finds the daemon that the proxy asks.
    pub(crate) variables: Vec<(String, String)>,
}

/// What the client does with files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ClientFiles {
    pub(super) read_text_file: bool,
    pub(super) write_text_file: bool,
}

/// Name of the MCP server. One of the client's of this name would be on another branch, and gives way.
const SERVER: &str = "broker";

/// The protocol's version that is spoken.
const VERSION: u64 = 1;

impl ClientFiles {
    pub(super) fn of(initialize: &Message) -> Self {
        let params = initialize.params::<Value>().unwrap_or_default();
        serde_json::from_value(params["clientCapabilities"]["fs"].clone()).unwrap_or_default()
    }

    pub(super) fn takes(self, is_write: bool) -> bool {
        if is_write { self.write_text_file } else { self.read_text_file }
    }
}

/// The request `initialize` as the agent gets it: its files are the proxy's.
pub(super) fn initialize(message: &Message) -> Vec<u8> {
    message.with_params(|params| {
        if !params.is_object() {
            return;
        }
        if params["protocolVersion"].as_u64().is_some_and(|it| it > VERSION) {
            params["protocolVersion"] = VERSION.into();
        }
        if !params["clientCapabilities"].is_object() {
            params["clientCapabilities"] = json!({});
        }
        let files = &mut params["clientCapabilities"]["fs"];
        if !files.is_object() {
            *files = json!({});
        }
        files["readTextFile"] = true.into();
        files["writeTextFile"] = true.into();
    })
}

/// A request for a session as the agent gets it: with an MCP server on the session's branch.
pub(super) fn with_server(message: &Message, command: &McpCommand, root: &Path, branch: &str) -> Vec<u8> {
    let server = server(command, root, branch);
    message.with_params(|params| {
        let given = params["mcpServers"].take();
        let mut servers = given.as_array().cloned().unwrap_or_default();
        servers.retain(|it| it["name"] != SERVER);
        servers.push(server);
        params["mcpServers"] = servers.into();
    })
}

fn server(command: &McpCommand, root: &Path, branch: &str) -> Value {
    let variable = |(name, value): &(String, String)| json!({ "name": name, "value": value });
    json!({
        "name": SERVER,
        "command": command.program,
        "args": ["agent", "mcp", "--workspace", root, "--branch", branch],
        "env": command.variables.iter().map(variable).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(params: &Value, edit: impl Fn(&Message) -> Vec<u8>) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "m", "params": params });
        let message = Message::all_of(request.to_string().into_bytes()).remove(0);
        let edited: Value = serde_json::from_slice(&edit(&message)).unwrap();
        assert_eq!((&edited["id"], &edited["method"]), (&json!(0), &json!("m")));
        edited["params"].clone()
    }

    #[test]
    fn the_agents_files_are_the_proxys() {
        let files = json!({ "readTextFile": true, "writeTextFile": true });
        for (params, want) in [
            (
                json!({ "protocolVersion": 2, "clientCapabilities": { "terminal": true, "fs": null } }),
                json!({ "protocolVersion": 1, "clientCapabilities": { "terminal": true, "fs": files } }),
            ),
            (
                json!({ "protocolVersion": 1, "clientCapabilities": { "fs": { "readTextFile": false, "_x": 1 } } }),
                json!({ "protocolVersion": 1, "clientCapabilities": {
                    "fs": { "readTextFile": true, "writeTextFile": true, "_x": 1 },
                } }),
            ),
            (json!({ "_meta": 1 }), json!({ "_meta": 1, "clientCapabilities": { "fs": files } })),
            (json!([1]), json!([1])),
        ] {
            assert_eq!(edited(&params, initialize), want);
        }
    }

    #[test]
    fn a_session_gets_one_server_of_the_name() {
        let command =
            McpCommand { program: "/bin/broker".into(), variables: vec![("A".to_owned(), "b".to_owned())] };
        let with = |params| edited(&params, |it| with_server(it, &command, Path::new("/w"), "x"));
        let own = json!({
            "name": "broker", "command": "/bin/broker", "env": [{ "name": "A", "value": "b" }],
            "args": ["agent", "mcp", "--workspace", "/w", "--branch", "x"],
        });
        assert_eq!(with(json!({ "cwd": "/w" })), json!({ "cwd": "/w", "mcpServers": [own] }));
        let other = json!({ "name": "other", "type": "http", "url": "http://x" });
        let given = json!({ "mcpServers": [{ "name": "broker", "command": "y" }, other], "_meta": 1 });
        assert_eq!(with(given), json!({ "mcpServers": [other, own], "_meta": 1 }));
    }
}
