//! Connections of clients (the socket, TCP, health, reflection), and starts and ends of a daemon.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        net::{UnixListener, UnixStream},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use broker_proto::v1 as pb;
use tests::daemon::{Client, Home, refusal};
use tonic::{
    Code, Request,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use super::Process;

const SERVICES: [&str; 6] = ["Branch", "Check", "Daemon", "File", "Rule", "Workspace"];

#[tokio::test]
async fn every_service_is_healthy_and_described() {
    let it = Process::new(&[]).await;
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
    let it = Process::new(&[]).await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&it.home.socket()), 0o600);
    assert_eq!(mode(&it.home.path("run")), 0o700);
    assert_eq!(mode(&it.home.state().join("workspaces").join(&it.workspace)), 0o700);
}

#[tokio::test]
async fn a_second_daemon_finds_the_first() {
    let it = Process::new(&[]).await;
    let second = it.home.command(&[]).output().unwrap();
    assert!(second.status.success());
    assert_eq!(String::from_utf8(second.stdout).unwrap(), it.daemon.said[0]);
    assert!(it.home.log().contains(&format!("(process {})", it.daemon.pid())), "{}", it.home.log());
    assert_eq!(it.client.status().await.pid, it.daemon.pid());
}

#[tokio::test]
async fn a_socket_that_a_killed_daemon_left_is_replaced() {
    let mut it = Process::new(&[]).await;
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
    let it = Process::new(&[]).await;
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

#[test]
fn a_path_too_long_for_a_socket_says_what_helps() {
    let home = Home::default();
    let socket = home.path(&"x".repeat(120)).join("broker.sock");
    let ended = home.command(&["--socket", socket.to_str().unwrap()]).status().unwrap();
    assert_eq!(ended.code(), Some(2));
    assert!(home.log().contains("to a shorter path"), "{}", home.log());
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
    let wrong =
        [(None, "NO_TOKEN"), (Some(token.clone()), "NO_TOKEN"), (Some("Bearer x".to_owned()), "WRONG_TOKEN")];
    for (shown, want) in wrong {
        let (code, reason, _) = refusal(ask(shown).await);
        assert_eq!((code, reason.as_str()), (Code::Unauthenticated, want));
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
    let want =
        format!("(process {pid}): it does not listen for TCP\nhint: end it first: `broker daemon stop`");
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

/// The user in whose name a stranger acts, where the tests may act in another's.
const STRANGER: u32 = 65_534;

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

/// This very test as another user, in a copy that this user can reach; it ends when its input is closed.
fn stranger(home: &Home, does: &str, socket: &Path) -> Child {
    let program = home.path("stranger");
    // A process of its own makes the copy: what another test starts meanwhile would inherit the open file, which then cannot run.
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success());
    for folder in [home.path(""), home.path("run")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(program);
    command.args(["--ignored", "--exact", "--nocapture", "daemon::doors::acts_as_a_stranger"]);
    command.env("BROKER_TEST_STRANGER", does).env("BROKER_TEST_SOCKET", socket).current_dir("/");
    command.uid(STRANGER).gid(STRANGER);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Returns the result of the stranger's call.
fn says(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_answer = |it: &String| it.ends_with("served") || it.ends_with("turned away");
    lines.find(is_answer).unwrap_or_default()
}

#[test]
#[ignore = "a process of the tests beside it"]
fn acts_as_a_stranger() {
    let Some(does) = std::env::var_os("BROKER_TEST_STRANGER") else { return };
    let socket = PathBuf::from(std::env::var_os("BROKER_TEST_SOCKET").unwrap());
    if does == "listens" {
        let listener = UnixListener::bind(&socket).unwrap();
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o777)).unwrap();
        println!("listening");
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut bytes = [0; 3];
                if stream.unwrap().read_exact(&mut bytes).is_ok() {
                    println!("believed");
                }
            }
        });
    } else {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let _may_be_closed = stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
        let mut bytes = [0; 9];
        println!("{}", if stream.read_exact(&mut bytes).is_ok() { "served" } else { "turned away" });
    }
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Returns the exit code and the output of a command that runs in a folder of its own.
fn told(home: &Home, runtime: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(tests::broker());
    command.args(arguments).current_dir(home.path("")).env("HOME", home.path("")).env("NO_COLOR", "1");
    command.env("BROKER_RUNTIME_DIR", runtime).env("BROKER_STATE_DIR", home.state()).stdin(Stdio::null());
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

const COMMANDS: [&[&str]; 5] = [
    &["daemon", "status"],
    &["daemon", "stop"],
    &["branch", "list"],
    &["check", "--branch", "x"],
    &["server", "list"],
];

#[test]
fn a_command_believes_no_folder_that_others_can_enter() {
    let home = Home::default();
    fs::create_dir(home.path("run")).unwrap();
    let _listener = UnixListener::bind(home.socket()).unwrap();
    for mode in [0o755, 0o770, 0o1777] {
        fs::set_permissions(home.path("run"), fs::Permissions::from_mode(mode)).unwrap();
        for arguments in COMMANDS {
            let (exit, said) = told(&home, &home.path("run"), arguments);
            let want = format!(
                "error: cannot use {}: others can enter it (chmod 700 would keep them out)\n\
                 hint: set BROKER_RUNTIME_DIR to a folder of your own\n",
                home.path("run").display()
            );
            assert_eq!((exit, said), (Some(2), want), "{arguments:?}");
        }
    }
    fs::set_permissions(home.path("run"), fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(home.path("run"), home.path("link")).unwrap();
    let (exit, said) = told(&home, &home.path("link"), &["daemon", "status"]);
    assert!(exit == Some(2) && said.contains("it is a link or a file, not a folder"), "{said}");
    let (exit, said) = told(&home, &home.path("none"), &["daemon", "status"]);
    assert_eq!((exit, said.as_str()), (Some(1), ""), "where there is no folder, there is no daemon");
    assert!(!home.path("none").exists());
}

#[test]
fn a_command_believes_no_daemon_of_another_user() {
    if !is_root() {
        println!("skipped: only root can act as another user");
        return;
    }
    let home = Home::default();
    fs::create_dir(home.path("run")).unwrap();
    fs::create_dir(home.path("own")).unwrap();
    std::os::unix::fs::chown(home.path("run"), Some(STRANGER), None).unwrap();
    let mut listening = stranger(&home, "listens", &home.socket());
    let mut said_by_it = BufReader::new(listening.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(said_by_it.any(|it| it.ends_with("listening")));
    for arguments in COMMANDS {
        let (exit, said) = told(&home, &home.path("run"), arguments);
        let why = format!("it belongs to another user (uid {STRANGER}; yours is 0)");
        assert!(exit == Some(2) && said.contains(&why), "{arguments:?}: {said}");
    }
    // Also where it stands in a folder of the user's own, however it came there.
    fs::set_permissions(home.path("own"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::rename(home.socket(), home.path("own/broker.sock")).unwrap();
    for arguments in COMMANDS {
        let (exit, said) = told(&home, &home.path("own"), arguments);
        let why = format!("a process of another user (uid {STRANGER}) listens at");
        assert!(exit == Some(2) && said.contains(&why), "{arguments:?}: {said}");
    }
    drop(listening.stdin.take());
    listening.wait().unwrap();
    assert!(!said_by_it.any(|it| it.ends_with("believed")), "nothing was sent to it");
}

#[tokio::test]
async fn a_process_of_another_user_is_turned_away() {
    if !is_root() {
        println!("skipped: only root can act as another user");
        return;
    }
    let it = Process::new(&[]).await;
    // If the folder and the socket do not keep other users out, the daemon does.
    fs::set_permissions(it.home.socket(), fs::Permissions::from_mode(0o777)).unwrap();
    let mut caller = stranger(&it.home, "calls", &it.home.socket());
    let said = says(&mut caller);
    drop(caller.stdin.take());
    caller.wait().unwrap();
    assert!(said.ends_with("turned away"), "{said}");
    assert_eq!(it.client.status().await.pid, it.daemon.pid(), "the user is served as before");
}
