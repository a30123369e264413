//! A run from its start to its end: what it prints goes out, what its client sends goes in.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use shadow::{Ended, Exit, Stopped};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use super::{
    folder::{FolderUse, Harvesting},
    harvest::{Change, Chosen},
    log::OutputStream,
    pipes::End,
    request::RunInput,
    result::{RunEvent, RunResult, Written},
    run::Run,
    start::Live,
};
use crate::{Daemon, DaemonError, task::blocking};

/// Bytes that are read at once.
const CHUNK_SIZE: usize = 32 << 10;

/// SIGKILL.
pub(super) const KILL: i32 = 9;

/// Destination of a run's output.
#[derive(Clone)]
pub(super) enum Sink {
    Client(mpsc::Sender<Result<RunEvent, DaemonError>>),
    /// The log of the run.
    Log(Arc<Run>),
}

/// A run that is over, and the tasks that still pass on what it printed.
pub(super) struct Followed {
    pub(super) result: Arc<RunResult>,
    pub(super) pumps: Vec<JoinHandle<()>>,
}

impl Sink {
    /// Sends the output; returns whether it is taken. Waits for a client that does not read.
    async fn output(&self, stream: OutputStream, bytes: &[u8]) -> bool {
        match self {
            Self::Client(events) => {
                let event = RunEvent::Output(stream, Bytes::copy_from_slice(bytes));
                events.send(Ok(event)).await.is_ok()
            }
            Self::Log(run) => {
                run.log.iter().for_each(|it| it.add(stream, bytes));
                true
            }
        }
    }

    async fn refuse(&self, error: DaemonError) {
        if let Self::Client(events) = self {
            let _client_left = events.send(Err(error)).await;
        }
    }

    /// Waits until the client leaves.
    async fn closed(&self) {
        match self {
            Self::Client(events) => events.closed().await,
            Self::Log(_) => std::future::pending().await,
        }
    }
}

impl Daemon {
    /// Follows a run to its end, and ends it when its client leaves. The folder is free when this returns.
    pub(super) async fn follow(
        self: &Arc<Self>,
        run: &Arc<Run>,
        live: Live,
        inputs: mpsc::Receiver<RunInput>,
        sink: Sink,
    ) -> Followed {
        let start = Instant::now();
        let Live { folder, harvest, mut ended, input, outputs, terminal, .. } = live;
        let over = watch::Sender::new(false);
        let pump = |(stream, end)| tokio::spawn(pump(stream, end, sink.clone(), over.subscribe()));
        let pumps = outputs.into_iter().map(pump).collect();
        let feeding = Feeding { run: Arc::clone(run), input, terminal, sink: sink.clone() };
        let fed = tokio::spawn(feeding.run(inputs));
        let ended = tokio::select! {
            ended = &mut ended => ended,
            () = sink.closed() => {
                run.signal(KILL);
                ended.await
            }
        };
        let ended = ended.unwrap_or_else(|_| lost());
        let duration = start.elapsed();
        fed.abort();
        over.send_replace(true);
        let harvest = harvest.filter(|_| !matches!(ended.exit, Exit::NotStarted { .. }));
        let harvest = match harvest {
            Some((harvesting, chosen)) if ended.is_whole() => {
                Some(self.harvested(run, &folder, harvesting, chosen).await)
            }
            Some(_) => Some(Err(DaemonError::NothingKept(why_nothing_is_kept(&ended)))),
            None => None,
        };
        let choice = folder.choice();
        let caches_error = folder.close().await;
        let result = Arc::new(RunResult::new(&ended, choice, duration, harvest, caches_error));
        if let (Some(log), Some(why)) = (&run.log, &result.not_started) {
            log.add(OutputStream::Stderr, format!("cannot run {}: {why}\n", run.command[0]).as_bytes());
        }
        Followed { result, pumps }
    }

    async fn harvested(
        self: &Arc<Self>,
        run: &Run,
        folder: &FolderUse,
        mut harvesting: Harvesting,
        chosen: Arc<Chosen>,
    ) -> Result<Written, DaemonError> {
        let (Some(opened), Some((branch, _))) = (folder.opened().cloned(), &run.branch) else {
            return Ok(Written::default());
        };
        let entries = folder.written(&chosen).await?;
        let (before, earlier) = (harvesting.before.clone(), std::mem::take(&mut harvesting.earlier));
        let change = move || Change::of(before, &opened, &earlier, &entries, &chosen);
        let change = blocking(change).await?;
        self.keep(branch, change).await
    }
}

fn why_nothing_is_kept(ended: &Ended) -> &'static str {
    match (&ended.exit, ended.stopped) {
        (Exit::Code(_), None) => "the command left processes behind, which may have been writing",
        _ => "the command did not end by itself",
    }
}

/// The end of a program whose thread is gone, which does not happen.
fn lost() -> Ended {
    Ended {
        exit: Exit::Signal(KILL),
        stopped: Some(Stopped::Closed),
        left_some: false,
        processor_time: Duration::ZERO,
        memory: 0,
    }
}

/// Passes on what a program prints.
async fn pump(stream: OutputStream, end: Arc<End>, sink: Sink, mut over: watch::Receiver<bool>) {
    let mut buffer = vec![0; CHUNK_SIZE];
    loop {
        let read = tokio::select! {
            biased;
            read = end.read(&mut buffer) => read,
            _ = over.wait_for(|it| *it) => break,
        };
        // The end of a terminal is an error.
        let Ok(length @ 1..) = read else { return };
        if !sink.output(stream, &buffer[..length]).await {
            return;
        }
    }
    // All that it printed is there by now, and another run of the folder may hold the pipe open.
    while let Ok(length @ 1..) = end.read_now(&mut buffer) {
        if !sink.output(stream, &buffer[..length]).await {
            return;
        }
    }
}

/// Transfer of a client's input to its run.
struct Feeding {
    run: Arc<Run>,
    input: Option<Arc<End>>,
    terminal: Option<Arc<End>>,
    sink: Sink,
}

impl Feeding {
    /// Until the client has no more to say, which closes the input.
    async fn run(mut self, mut inputs: mpsc::Receiver<RunInput>) {
        while let Some(message) = inputs.recv().await {
            if let Err(error) = message.expect_small() {
                self.run.signal(KILL);
                return self.sink.refuse(error).await;
            }
            match message {
                RunInput::Stdin(bytes) => self.write(&bytes).await,
                RunInput::StdinEnd if self.terminal.is_none() => self.input = None,
                RunInput::Resize(size) => {
                    // A terminal that is gone needs no size.
                    let _gone = self.terminal.as_ref().map(|it| it.resize(size));
                }
                RunInput::Signal(signal) => self.run.signal(signal),
                RunInput::StdinEnd | RunInput::Permission(_) => {}
            }
        }
    }

    async fn write(&mut self, bytes: &[u8]) {
        let Some(input) = &self.input else { return };
        if input.write_all(bytes).await.is_err() {
            self.input = None;
        }
    }
}
