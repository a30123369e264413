//! Questions that no language server gets: what is wrong with them, and why there is no server.

use lint::LineColumn;
use scheduler::Class;
use tests::api::{Refusal, RefusalExt as _, base, branch, refusal};
use workspaces::{ErrorKind, MethodRequest, QueryKind, QueryRequest, TargetId};

use super::{Fixture, Way};

both! {
    a_question_that_makes_no_sense_is_refused,
    a_method_that_makes_no_sense_is_refused,
    no_server_runs_where_the_user_does_not_trust,
}

fn ask(target: TargetId, kind: QueryKind) -> QueryRequest {
    QueryRequest {
        target,
        kind,
        path: "a.py".to_owned(),
        position: Some(LineColumn { line: 1, column: 1 }),
        end: None,
        text: String::new(),
        only: Vec::new(),
        server: None,
        apply: false,
        class: Class::Agent,
        deadline: None,
    }
}

fn field(refused: Refusal) -> String {
    assert_eq!(refused.what(), (ErrorKind::Invalid, "INVALID_FIELD"));
    refused.facts["field"].clone()
}

async fn a_question_that_makes_no_sense_is_refused(way: Way) {
    let it = Fixture::new(way, &[("a.py", "x = 1\n")]).await;
    let about = base(&it.workspace);
    let hover = || ask(about.clone(), QueryKind::Hover);
    let wrong = async |request| field(refusal(it.client.query(request).await));
    assert_eq!(wrong(QueryRequest { position: None, ..hover() }).await, "position");
    let nowhere = Some(LineColumn { line: 0, column: 1 });
    assert_eq!(wrong(QueryRequest { position: nowhere, ..hover() }).await, "position");
    assert_eq!(wrong(QueryRequest { path: "../a.py".to_owned(), ..hover() }).await, "path");
    assert_eq!(wrong(ask(about.clone(), QueryKind::Rename)).await, "text");
    let rename = QueryRequest { text: "y".to_owned(), ..ask(about.clone(), QueryKind::Rename) };
    assert_eq!(
        wrong(QueryRequest { apply: true, ..rename.clone() }).await,
        "apply",
        "the base is not edited"
    );
    let long = it.client.query(QueryRequest { text: "y".repeat((1 << 20) + 1), ..rename }).await;
    assert_eq!(refusal(long).what(), (ErrorKind::Invalid, "LIMIT_EXCEEDED"));
    let missing = it.client.query(ask(branch("none"), QueryKind::Hover)).await;
    assert_eq!(refusal(missing).what(), (ErrorKind::NotFound, "NOT_FOUND"));
}

async fn a_method_that_makes_no_sense_is_refused(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let call = async |server: &str, params: &str| {
        let (target, method) = (base(&it.workspace), "x/y".to_owned());
        let server = Some(server.to_owned()).filter(|it| !it.is_empty());
        let (params, class) = (params.to_owned(), Class::Interactive);
        it.client.call_method(MethodRequest { target, server, method, params, class, deadline: None }).await
    };
    assert_eq!(field(refusal(call("", "").await)), "server");
    assert_eq!(field(refusal(call("ty", "{").await)), "params_json");
    assert_eq!(
        field(refusal(call("", r#"{"textDocument": {"uri": "file:///elsewhere/a.py"}}"#).await)),
        "server"
    );
    let refused = refusal(call("ty", "").await);
    assert_eq!(refused.what(), (ErrorKind::Refused, "SERVER_UNAVAILABLE"));
}

async fn no_server_runs_where_the_user_does_not_trust(way: Way) {
    let own = "[servers]\nuse = ['own']\n[servers.define.own]\ncommand = ['sh']\nglobs = ['*.py']\nbarrier = 'pull'\n";
    let it = Fixture::new(way, &[("a.py", "x = 1\n"), ("broker.toml", own)]).await;
    let id = it.fork().await;
    for target in [base(&it.workspace), branch(&id)] {
        let refused = refusal(it.client.query(ask(target, QueryKind::Hover)).await);
        assert_eq!(refused.what(), (ErrorKind::Refused, "SERVER_UNAVAILABLE"));
        assert!(refused.sentence.contains("is not trusted"), "{}", refused.sentence);
    }
}
