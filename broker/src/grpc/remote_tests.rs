//! A client over a connection that stays, as that of `broker agent mcp` does.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use ::client::{Endpoint, EnvironmentOf, Options, Remote};
use agents::{Agents, Call, Tools as _};
use serde_json::{Value, json};
use tokio::{net::UnixListener, task::JoinHandle};
use workspaces::{Daemon, Workspaces as _};

use super::{Door, serve};

/// Serves a daemon at the endpoint.
fn served(endpoint: &Endpoint, state: &Path) -> (Arc<Daemon>, JoinHandle<()>) {
    let daemon = crate::lsp::tests::daemon(state);
    let agents = Arc::new(Agents::new(Arc::clone(&daemon), None, None));
    endpoint.make_folder().unwrap();
    let listener = UnixListener::bind(&endpoint.socket).unwrap();
    let serving = Arc::clone(&daemon);
    let served = async move { serve(&serving, &agents, vec![Door::Unix(listener)]).await.unwrap() };
    (daemon, tokio::spawn(served))
}

fn call(workspace: &str, tool: &str, arguments: &Value) -> Call {
    Call {
        workspace: workspace.to_owned(),
        session: "test".to_owned(),
        branch: None,
        tool: tool.to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
        deadline: None,
        traceparent: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_was_replaced_is_opened_again_for_tools() {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = dir.path().join("w");
    fs::create_dir(&root).unwrap();
    let endpoint = Endpoint { socket: state.path().join("run/broker.sock") };
    let (daemon, serving) = served(&endpoint, &state.path().join("state"));
    let computed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&computed);
    let environment: EnvironmentOf = Arc::new(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        BTreeMap::new()
    });
    let environment = Some(environment);
    let remote = Remote::lazy(Options { endpoint, start: false, notify: None, reopen: true, environment });
    let workspace = remote.open_workspace(root.clone(), None).await.unwrap().info.id;
    remote.list_tools().await.unwrap();
    let read = call(&workspace, "read_file", &json!({"target_file": "a"}));
    let write = call(&workspace, "edit_file", &json!({"target_file": "b", "code_edit": "b\n"}));
    for (round, (call, text)) in [(read, "one"), (write, "two")].into_iter().enumerate() {
        assert_eq!(computed.load(Ordering::SeqCst), round);
        fs::rename(&root, dir.path().join(text)).unwrap();
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), text).unwrap();
        let reply = remote.call_tool(call).await.unwrap();
        assert!(!reply.is_error, "{}", reply.text);
    }
    assert_eq!(computed.load(Ordering::SeqCst), 2);
    daemon.shut_down();
    serving.await.unwrap();
    daemon.release();
}
