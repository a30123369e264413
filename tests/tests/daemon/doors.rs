//! How clients come in: the socket, TCP, health, reflection; and how a daemon comes and goes.

use std::{fs, os::unix::fs::PermissionsExt as _};

use broker_proto::v1 as pb;
use tests::daemon::{Client, Home, refusal};
use tonic::{
    Code, Request,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::Fixture;

const SERVICES: [&str; 6] = ["Branch", "Check", "Daemon", "File", "Rule", "Workspace"];

#[tokio::test]
async fn every_service_is_healthy_and_described() {
    let it = Fixture::new(&[]).await;
    let mut health = HealthClient::new(it.client.channel.clone());
    let services = SERVICES.map(|it| format!("broker.v1.{it}Service"));
    for service in [String::new()].into_iter().chain(services.clone()) {
        let answer = health.check(HealthCheckRequest { service: service.clone() }).await.unwrap();
        assert_eq!(answer.into_inner().status, 1, "{service} is serving");
    }
    macro_rules! listed {
        ($version:ident) => {{
            use tonic_reflection::pb::$version::{
                ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
                server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
            };
            let ask = Some(MessageRequest::ListServices(String::new()));
            let ask = ServerReflectionRequest { host: String::new(), message_request: ask };
            let mut client = ServerReflectionClient::new(it.client.channel.clone());
            let answers = client.server_reflection_info(tokio_stream::once(ask)).await.unwrap();
            let answer = answers.into_inner().message().await.unwrap().unwrap().message_response;
            let Some(MessageResponse::ListServicesResponse(all)) = answer else { panic!("{answer:?}") };
            all.service.into_iter().map(|it| it.name).collect::<Vec<_>>()
        }};
    }
    for listed in [listed!(v1), listed!(v1alpha)] {
        assert!(services.iter().all(|it| listed.contains(it)), "{listed:?}");
    }
}

#[tokio::test]
async fn only_the_user_reaches_the_socket() {
    let it = Fixture::new(&[]).await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&it.home.socket()), 0o600);
    assert_eq!(mode(&it.home.path("run")), 0o700);
    assert_eq!(mode(&it.home.state().join("workspaces").join(&it.workspace)), 0o700);
}

#[tokio::test]
async fn a_second_daemon_finds_the_first() {
    let it = Fixture::new(&[]).await;
    let second = it.home.command(&[]).output().unwrap();
    assert!(second.status.success());
    assert_eq!(String::from_utf8(second.stdout).unwrap(), it.daemon.said[0]);
    assert!(it.home.log().contains(&format!("(process {})", it.daemon.pid())), "{}", it.home.log());
    assert_eq!(it.client.status().await.pid, it.daemon.pid());
}

#[tokio::test]
async fn a_socket_that_a_killed_daemon_left_is_replaced() {
    let mut it = Fixture::new(&[]).await;
    it.daemon.kill();
    assert!(it.home.socket().exists());
    it.daemon = it.home.start(&[]);
    assert_eq!(it.daemon.client().await.status().await.pid, it.daemon.pid());
}

#[tokio::test]
async fn without_clients_it_ends_and_leaves_nothing() {
    let home = Home::default();
    let daemon = home.start(&["--idle-exit", "1"]);
    let client = daemon.client().await;
    assert_eq!(client.status().await.idle_exit_seconds, 1);
    drop(client);
    assert!(daemon.ended().await, "{}", home.log());
    assert!(!home.socket().exists());
}

#[tokio::test]
async fn it_ends_when_asked() {
    let it = Fixture::new(&[]).await;
    it.client.daemon().shutdown(pb::ShutdownRequest {}).await.unwrap();
    assert!(it.daemon.ended().await);
    assert!(!it.home.socket().exists());
}

async fn over_tcp(said: &str) -> (Channel, String) {
    let (address, token) =
        said.trim().strip_prefix("serving at ").unwrap().split_once(", token in ").unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    (endpoint.connect().await.unwrap(), fs::read_to_string(token).unwrap())
}

#[tokio::test]
async fn a_port_wants_the_token() {
    let home = Home::default();
    let daemon = home.start(&["--tcp", "127.0.0.1:0"]);
    let (channel, token) = over_tcp(&daemon.said[1]).await;
    let client = Client::new(channel.clone());
    let ask = |shown: Option<String>| {
        let mut request = Request::new(pb::GetStatusRequest {});
        if let Some(shown) = shown {
            request.metadata_mut().insert("authorization", shown.parse().unwrap());
        }
        let client = client.clone();
        async move { client.daemon().get_status(request).await }
    };
    for wrong in [None, Some("Bearer x".to_owned()), Some(token.clone())] {
        let (code, reason, _) = refusal(ask(wrong).await);
        assert_eq!((code, reason.as_str()), (Code::Unauthenticated, "NO_TOKEN"));
    }
    let status = ask(Some(format!("Bearer {token}"))).await.unwrap();
    assert_eq!(status.into_inner().pid, daemon.pid());
    let health = HealthClient::new(channel).check(HealthCheckRequest::default()).await;
    assert_eq!(health.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test]
async fn a_port_is_not_promised_by_a_daemon_without_it() {
    let home = Home::default();
    let mut daemon = home.start(&[]);
    let refused = home.command(&["--tcp", "127.0.0.1:0"]).output().unwrap();
    assert_eq!((refused.status.code(), &*refused.stdout), (Some(2), &b""[..]));
    let pid = daemon.pid();
    let want = format!("(process {pid}): it does not listen for TCP\nhint: end it first: `broker stop`");
    assert!(home.log().contains(&want), "{}", home.log());
    daemon.kill();

    let daemon = home.start(&["--tcp", "127.0.0.1:0"]);
    let again = home.command(&["--tcp", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "any port will do");
    assert_eq!(String::from_utf8(again.stdout).unwrap(), daemon.said.concat());
    let address = daemon.client().await.status().await.tcp_address;
    assert!(daemon.said[1].starts_with(&format!("serving at {address}, token in ")));
    assert_eq!(home.command(&["--tcp", &address]).output().unwrap().status.code(), Some(0));
    let refused = home.command(&["--tcp", "127.0.0.1:1"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        home.log().contains(&format!("it listens on {address} and not on 127.0.0.1:1")),
        "{}",
        home.log()
    );
}

#[test]
fn other_machines_are_kept_out_unless_asked() {
    let home = Home::default();
    let refused = home.command(&["--tcp", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(home.log().contains("--allow-remote"), "{}", home.log());
    assert!(!home.socket().exists());
    home.start(&["--tcp", "0.0.0.0:0", "--allow-remote"]);
}
