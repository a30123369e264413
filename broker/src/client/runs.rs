//! Commands that the daemon runs.

use broker_proto::{v1 as pb, v1::run_response::Event};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Response, Status, Streaming};

use super::{Client, interrupted};

/// Messages that may wait to be sent before what makes them waits, too.
const AHEAD: usize = 4;

/// What comes next of a run.
pub(crate) enum RunStep {
    Event(Event),
    /// The user has interrupted.
    Interrupted,
    /// There is no more.
    End,
}

impl Client {
    /// Begins a run: where to send what comes in, and what becomes of it.
    pub(crate) fn run(
        &self,
        start: pb::RunStart,
    ) -> Result<(mpsc::Sender<pb::RunRequest>, Streaming<pb::RunResponse>), Status> {
        let (requests, sent) = mpsc::channel(AHEAD);
        let start = pb::RunRequest { message: Some(pb::run_request::Message::Start(start)) };
        // There is room for the first.
        let _sent = requests.try_send(start);
        let parts = self.call(self.runs().run(ReceiverStream::new(sent)))?;
        Ok((requests, parts))
    }

    /// The next event of a run, or the first interrupt.
    pub(crate) fn next_step(
        &self,
        parts: &mut Streaming<pb::RunResponse>,
        is_interrupted: bool,
    ) -> Result<RunStep, Status> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                part = parts.message() => match part?.map(|it| it.event) {
                    Some(Some(event)) => Ok(RunStep::Event(event)),
                    // An event that this client does not know.
                    Some(None) | None => Ok(RunStep::End),
                },
                () = interrupted(&self.cancel), if !is_interrupted => Ok(RunStep::Interrupted),
            }
        })
    }

    /// As [`call`](Self::call), also when the user has interrupted.
    pub(crate) fn call_anyway<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Status> {
        self.runtime.block_on(call).map(Response::into_inner)
    }
}
