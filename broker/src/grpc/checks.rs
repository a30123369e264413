//! `CheckService`.

use std::{sync::Arc, time::Duration};

use broker_proto::{
    v1 as pb,
    v1::{check_response, check_service_server::CheckService, watch_response},
};
use tokio::sync::{mpsc, watch};
use tokio_stream::{Stream, StreamExt as _, wrappers::ReceiverStream};
use tonic::{Code, Request, Response, Status, async_trait, metadata::MetadataMap};
use workspaces::{Ask, Daemon, DaemonError, Event};

use super::{Front, from_proto, status, to_proto};

/// Events that may wait for a client before the check waits, too.
const AHEAD: usize = 16;
const MAX_PATHS: usize = 100_000;
const MAX_SELECTORS: usize = 10_000;
/// Bytes; an unknown selector is compared with every rule, which takes time by its length.
const MAX_SELECTOR: usize = 200;

type Answers<T> = std::pin::Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[async_trait]
impl CheckService for Front {
    type CheckStream = Answers<pb::CheckResponse>;
    type WatchStream = Answers<pb::WatchResponse>;

    async fn check(&self, request: Request<pb::CheckRequest>) -> Result<Response<Self::CheckStream>, Status> {
        let deadline = deadline(request.metadata());
        let ask = ask(&self.0, request.into_inner())?;
        let (events, received) = mpsc::channel(AHEAD);
        let (answers, sent) = mpsc::channel(AHEAD);
        let daemon = Arc::clone(&self.0);
        tokio::spawn(async move {
            // What the client gets ends when the client leaves, and with it everything behind it.
            let forward = forward(received, &answers, |event| pb::CheckResponse { event: Some(event) });
            let check = async {
                let checked = within(deadline, daemon.check(&ask, &events)).await;
                drop(events);
                checked
            };
            let (checked, ()) = tokio::join!(check, forward);
            if let Err(error) = checked {
                let _client_left = answers.send(Err(error)).await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(sent))))
    }

    async fn watch(&self, request: Request<pb::WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let check = request.into_inner().check.ok_or_else(|| status::invalid("check", "it is missing"))?;
        let ask = ask(&self.0, check)?;
        if ask.revision.is_some() {
            return Err(status::invalid("check.revision", "an older revision never changes"));
        }
        let (answers, sent) = mpsc::channel(AHEAD);
        tokio::spawn(rounds(Arc::clone(&self.0), ask, answers));
        Ok(Response::new(Box::pin(ReceiverStream::new(sent))))
    }
}

/// Round after round, until the client leaves, the target goes or the daemon ends.
async fn rounds(daemon: Arc<Daemon>, ask: Ask, answers: mpsc::Sender<Result<pb::WatchResponse, Status>>) {
    let mut changes = ask.target.changes();
    let mut stopping = daemon.stopping.subscribe();
    let chooses_rules = !(ask.select.is_empty() && ask.ignore.is_empty());
    let mut is_first = true;
    loop {
        changes.mark_seen();
        let (events, received) = mpsc::channel(AHEAD);
        let forward = forward(received, &answers, |event| pb::WatchResponse { event: Some(watched(event)) });
        let check = async {
            let checked = tokio::select! {
                checked = daemon.check(&ask, &events) => checked,
                changed = changes.changed() => changed.and(Err(DaemonError::Superseded)),
            };
            drop(events);
            checked
        };
        let (checked, ()) = tokio::join!(check, forward);
        match checked {
            Ok(()) => {}
            Err(DaemonError::Superseded) => {
                let revision = ask.target.revision().0;
                let event = watch_response::Event::Superseded(pb::Superseded { revision });
                if answers.send(Ok(pb::WatchResponse { event: Some(event) })).await.is_err() {
                    return;
                }
                continue;
            }
            // A file can be mended; what the request itself asks for cannot.
            Err(DaemonError::Setup { message, hint }) if !(is_first && chooses_rules) => {
                if answers.send(Ok(refused(message, hint))).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                let _client_left = answers.send(Err(status::of(error))).await;
                return;
            }
        }
        is_first = false;
        tokio::select! {
            changed = changes.changed() => if let Err(error) = changed {
                let _client_left = answers.send(Err(status::of(error))).await;
                return;
            },
            () = answers.closed() => return,
            () = stopped(&mut stopping) => {
                let _client_left = answers.send(Err(status::of(DaemonError::ShuttingDown))).await;
                return;
            }
        }
    }
}

fn refused(message: String, hint: Option<String>) -> pb::WatchResponse {
    let reason = status::BAD_CONFIGURATION.to_owned();
    let refused = pb::RoundRefused { reason, message, hint: hint.unwrap_or_default() };
    pb::WatchResponse { event: Some(watch_response::Event::Refused(refused)) }
}

/// Waits until the daemon is asked to end.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // What `wait_for` gives may not be held while waiting for something else.
    let _gone_is_stopped = stopping.wait_for(|it| *it).await.map(drop);
}

/// Translates events until there are no more or nobody wants them.
async fn forward<T>(
    events: mpsc::Receiver<Event>,
    answers: &mpsc::Sender<Result<T, Status>>,
    wrap: impl Fn(check_response::Event) -> T,
) {
    let mut events = ReceiverStream::new(events);
    while let Some(event) = tokio::select! {
        event = events.next() => event,
        () = answers.closed() => None,
    } {
        for event in to_proto::events(event) {
            if answers.send(Ok(wrap(event))).await.is_err() {
                return;
            }
        }
    }
}

fn ask(daemon: &Daemon, request: pb::CheckRequest) -> Result<Ask, Status> {
    let limit = |what, actual: usize, limit: usize| match actual <= limit {
        true => Ok(()),
        false => {
            let (limit, actual) = (limit as u64, actual as u64);
            Err(status::of(DaemonError::TooMuch { what, limit, actual }))
        }
    };
    limit("paths", request.paths.len(), MAX_PATHS)?;
    limit("only_paths", request.only_paths.len(), MAX_PATHS)?;
    limit("select", request.select.len(), MAX_SELECTORS)?;
    limit("ignore", request.ignore.len(), MAX_SELECTORS)?;
    let longest = request.select.iter().chain(&request.ignore).map(String::len).max();
    limit("bytes of a selector", longest.unwrap_or(0), MAX_SELECTOR)?;
    Ok(Ask {
        target: from_proto::target(daemon, request.target)?,
        paths: request.paths.iter().map(|it| from_proto::path("paths", it)).collect::<Result<_, _>>()?,
        only: request
            .only_paths
            .iter()
            .map(|it| from_proto::path("only_paths", it))
            .collect::<Result<_, _>>()?,
        revision: from_proto::revision(request.revision),
        class: from_proto::class(request.priority)?,
        dependents: request.dependents,
        new_only: request.new_only,
        select: request.select,
        ignore: request.ignore,
        supersede: request.supersede,
    })
}

async fn within(
    deadline: Option<Duration>,
    check: impl Future<Output = Result<(), DaemonError>>,
) -> Result<(), Status> {
    match deadline {
        None => check.await.map_err(status::of),
        Some(deadline) => match tokio::time::timeout(deadline, check).await {
            Ok(checked) => checked.map_err(status::of),
            Err(_) => {
                let message = "the check took longer than the client wanted to wait";
                Err(status::other(Code::DeadlineExceeded, "DEADLINE_EXCEEDED", message))
            }
        },
    }
}

/// The client's deadline, as the protocol has it: up to eight digits and a unit. The transport heeds it only
/// until the first message of a stream.
pub(super) fn deadline(metadata: &MetadataMap) -> Option<Duration> {
    let text = metadata.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let count: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(count.checked_mul(3600)?),
        "M" => Duration::from_secs(count.checked_mul(60)?),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    })
}

/// A round of a watch has the same parts as a check.
fn watched(event: check_response::Event) -> watch_response::Event {
    use watch_response::Event as Watched;
    match event {
        check_response::Event::Started(it) => Watched::Started(it),
        check_response::Event::Findings(it) => Watched::Findings(it),
        check_response::Event::Incomplete(it) => Watched::Incomplete(it),
        check_response::Event::Summary(it) => Watched::Summary(it),
        check_response::Event::Excluded(it) => Watched::Excluded(it),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_those_of_the_protocol() {
        let of = |text: &str| {
            let mut metadata = MetadataMap::new();
            metadata.insert("grpc-timeout", text.parse().unwrap());
            deadline(&metadata)
        };
        assert_eq!(of("2H"), Some(Duration::from_secs(7200)));
        assert_eq!(of("150m"), Some(Duration::from_millis(150)));
        assert_eq!(of("99999999u"), Some(Duration::from_micros(99_999_999)));
        assert_eq!((of("5x"), of("m"), of(""), of("-1S")), (None, None, None, None));
        assert_eq!(deadline(&MetadataMap::new()), None);
    }
}
