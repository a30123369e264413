//! Checks that are repeated at each change.

use std::sync::Arc;

use tokio::{sync::mpsc, time::timeout};

use super::{
    Daemon, DaemonError,
    ask::Ask,
    check::{CHANNEL_CAPACITY, CheckRequest},
    events::{Events, WatchEvent},
    watching::Watching,
};

/// Events of a watch, which ends with an error. Dropping it ends the watch.
pub type WatchEvents = mpsc::Receiver<Result<WatchEvent, DaemonError>>;

type Sender = mpsc::Sender<Result<WatchEvent, DaemonError>>;

impl Daemon {
    /// Starts round after round, until the client leaves, its deadline is over, the target goes or the daemon ends.
    pub fn watch(self: &Arc<Self>, request: CheckRequest) -> Result<WatchEvents, DaemonError> {
        let deadline = request.deadline;
        let ask = self.ask(request)?;
        if ask.revision.is_some() {
            return Err(DaemonError::invalid("check.revision", "an older revision never changes"));
        }
        let (events, received) = mpsc::channel(CHANNEL_CAPACITY);
        let daemon = Arc::clone(self);
        tokio::spawn(telemetry::in_current_span(async move {
            let rounds = daemon.rounds(&ask, &events);
            let ended = match deadline {
                None => rounds.await,
                Some(deadline) => {
                    timeout(deadline, rounds).await.unwrap_or(Err(DaemonError::DeadlineExceeded))
                }
            };
            if let Err(error) = ended {
                let _client_left = events.send(Err(error)).await;
            }
        }));
        Ok(received)
    }

    async fn rounds(self: &Arc<Self>, ask: &Ask, events: &Sender) -> Result<(), DaemonError> {
        let mut changes = Watching::new(&ask.target);
        let chooses_rules = !(ask.select.is_empty() && ask.ignore.is_empty());
        let mut is_first = true;
        loop {
            changes.mark_seen();
            let checked = tokio::select! {
                checked = self.run_check(ask, Events::Watch(events)) => checked,
                changed = changes.changed() => changed.and(Err(DaemonError::Superseded)),
            };
            let send = async |event| events.send(Ok(event)).await.is_ok();
            let is_heard = match checked {
                Ok(()) => true,
                Err(DaemonError::Superseded) => {
                    if send(WatchEvent::Superseded(ask.target.revision())).await {
                        continue;
                    }
                    false
                }
                // Configuration files can be corrected while watching; the request cannot.
                Err(error @ DaemonError::Setup { .. }) if !(is_first && chooses_rules) => {
                    send(WatchEvent::Refused(error.into())).await
                }
                Err(error) => return Err(error),
            };
            if !is_heard {
                return Ok(());
            }
            is_first = false;
            tokio::select! {
                changed = changes.changed() => changed?,
                () = events.closed() => return Ok(()),
                () = self.stopped() => return Err(DaemonError::ShuttingDown),
            }
        }
    }
}
