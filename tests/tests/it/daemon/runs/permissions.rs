//! Permissions of a run without a question, and the clients that are asked otherwise.

use tests::{
    api::{RefusalExt as _, RunPart, branch, refusal, run, shell, write},
    place::Place,
};
use workspaces::{ErrorKind, RunInput, RunRequest, SandboxRequest};

use super::{Fixture, Way, services::service};

both! {
    what_reaches_further_is_asked_about,
    a_branch_allows_nothing,
    what_runs_in_the_background_is_asked_about_too,
    what_one_run_may_read_another_may_not,
}

fn with_network(request: RunRequest) -> RunRequest {
    RunRequest {
        sandbox: SandboxRequest { network: shadow::Network::Host, ..SandboxRequest::default() },
        ..request
    }
}

fn wanted(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(kind, what)| ((*kind).to_owned(), (*what).to_owned())).collect()
}

async fn what_reaches_further_is_asked_about(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let place = it.folder.path().with_extension("beside");
    std::fs::write(&place, "").unwrap();
    let place = place.canonicalize().unwrap();
    let mut request = with_network(shell(branch(&id), "echo ran"));
    request.sandbox.write = vec![place.clone()];
    let place = place.to_str().unwrap();
    let all = wanted(&[("write", place), ("network", "host")]);
    let mut running = it.client.begin_run(request.clone()).await.unwrap();
    assert_eq!(running.allow().await, all);
    assert_eq!(running.end().await.0, "ran\n");
    let mut running = it.client.begin_run(request.clone()).await.unwrap();
    assert_eq!(running.next().await, RunPart::Permission(all.clone()));
    running.inputs.send(RunInput::Permission(false)).await.unwrap();
    let refused = refusal(tokio_stream::StreamExt::next(&mut running.parts).await.unwrap());
    assert_eq!(refused.what(), (ErrorKind::Forbidden, "NOT_PERMITTED"));
    assert_eq!(refused.facts["wanted"], format!("write {place}\nnetwork host"));
    assert!(refused.sentence.contains("network = \"host\""), "{}", refused.sentence);
    // With nothing more to come, no answer comes either.
    let tests::api::Running { inputs, mut parts } = it.client.begin_run(request).await.unwrap();
    drop(inputs);
    let asked = tokio_stream::StreamExt::next(&mut parts).await.unwrap().unwrap();
    assert_eq!(asked, RunPart::Permission(all));
    let refused = refusal(tokio_stream::StreamExt::next(&mut parts).await.unwrap());
    assert_eq!(refused.reason, "NOT_PERMITTED");
    std::fs::remove_file(place).unwrap();
}

async fn a_branch_allows_nothing(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let text = "[run]\nnetwork = \"host\"\n";
    it.client.edit(&id, vec![write("broker.toml", text)]).await.unwrap();
    it.write("broker.toml", text);
    // The configuration is the disk's, but the workspace is not trusted.
    let mut running = it.client.begin_run(with_network(run(branch(&id), &["true"]))).await.unwrap();
    assert_eq!(running.allow().await, wanted(&[("network", "host")]));
    assert_eq!(running.end().await.2.code, 0);
}

async fn what_runs_in_the_background_is_asked_about_too(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let request = with_network(service(branch(&id), "s", "sleep 1000"));
    let mut running = it.client.begin_run(request).await.unwrap();
    assert_eq!(running.allow().await, wanted(&[("network", "host")]));
    running.started().await;
    assert_eq!(it.client.list_runs(None).await.unwrap().len(), 1);
}

async fn what_one_run_may_read_another_may_not(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let hidden = tempfile::tempdir().unwrap();
    std::fs::write(hidden.path().join("secret"), "secret").unwrap();
    let place = hidden.path().canonicalize().unwrap();
    let script = format!("cat {}/secret", place.display());
    let reading = |request: RunRequest| RunRequest {
        sandbox: SandboxRequest { read: vec![place.clone()], ..request.sandbox },
        ..request
    };
    let mut first = it.client.begin_run(reading(service(branch(&id), "s", "sleep 1000"))).await.unwrap();
    assert_eq!(first.allow().await, wanted(&[("read", place.to_str().unwrap())]));
    first.started().await;
    let mut second = it.client.begin_run(shell(branch(&id), &script)).await.unwrap();
    let refused = refusal(tokio_stream::StreamExt::next(&mut second.parts).await.unwrap());
    assert_eq!(refused.what(), (ErrorKind::Refused, "SANDBOX_DIFFERS"));
    assert_eq!(refused.facts["what"], place.to_str().unwrap());
    let mut own = shell(branch(&id), &script);
    own.sandbox.own_folder = true;
    let (stdout, _, exited) = it.client.begin_run(own).await.unwrap().end().await;
    assert_eq!((stdout.as_str(), exited.code), ("", 1));
    let mut same = it.client.begin_run(reading(shell(branch(&id), &script))).await.unwrap();
    same.allow().await;
    assert_eq!(same.end().await.0, "secret");
}

#[test]
fn a_trusted_workspace_says_what_is_allowed() {
    let it = Place::new(&[("broker.toml", "[run]\nallow = [[\"echo\"]]\n")]);
    let exit = |arguments: &[&str]| {
        let output = it.run(arguments);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(exit(&["branch", "fork", "b"]).0, Some(0));
    assert_eq!(
        exit(&["run", "--branch", "b", "--", "true"]).0,
        Some(0),
        "it is not trusted: nothing of it counts"
    );
    assert_eq!(exit(&["trust"]).0, Some(0));
    assert_eq!(exit(&["run", "--branch", "b", "--", "echo", "hello"]).0, Some(0));
    let (code, told) = exit(&["run", "--branch", "b", "--", "true"]);
    assert_eq!(code, Some(125));
    assert!(
        told.contains("does not list the command `true`") && told.contains("allow = [[\"true\"]]"),
        "{told}"
    );
    // A flag that was typed is an answer.
    it.write("broker.toml", "");
    assert_eq!(exit(&["run", "--branch", "b", "--net", "host", "--", "true"]).0, Some(0));
}
