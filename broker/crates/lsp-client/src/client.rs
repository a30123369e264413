//! The handle of a session with a language server: start it, ask it, tell it, end it.

mod call;

use std::{
    io,
    ops::Deref,
    sync::Arc,
    time::{Duration, Instant},
};

use lint::Cancel;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

pub use call::{Call, sleep};

use crate::{
    Broken, EditPolicy, Epoch, EventSink, Exit, Initialize, Launch, Limits, PositionEncoding, RequestError,
    StartError,
    log::Log,
    process::Process,
    session::{Session, Setup, unsendable},
    state::{State, Who},
};

/// Launch of a server, and the parameters of its initialization.
#[derive(Debug, Clone)]
pub struct Options {
    pub launch: Launch,
    pub initialize: Initialize,
    /// Settings from which `workspace/configuration` is answered: section `a.b` is the value at `b` in `a`.
    pub settings: Value,
    pub edits: EditPolicy,
    pub epoch: Epoch,
    pub limits: Limits,
}

/// A session with one server process. Clones share it; when the last is dropped, the server is killed.
#[derive(Clone)]
pub struct Client(Arc<Handle>);

struct Handle {
    session: Owned,
    encoding: PositionEncoding,
    server: Option<String>,
}

/// Kills the server when it is dropped: the session's own threads do not keep it alive.
struct Owned(Arc<Session>);

/// End of a server's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    pub exit: Exit,
    /// Whether the process did not end by itself in time.
    pub was_killed: bool,
}

impl Client {
    /// Returns when the server has answered `initialize` and was sent `initialized`.
    pub fn start(options: &Options, events: &EventSink, cancel: &Cancel) -> Result<Self, StartError> {
        let Launch { supervisor, program, cwd, .. } = &options.launch;
        let session = spawn(options, events).map_err(|source| {
            let (program, cwd) = (supervisor.program.clone(), cwd.clone());
            StartError::Spawn { program, cwd, source }
        })?;
        let started = initialize(Owned(session), options, cancel);
        started.map_err(|source| StartError::Initialize { program: program.clone(), source })
    }

    /// Sends a request and waits for what comes of it. A method without parameters takes `&()`. The answer
    /// that something changed meanwhile is not handed on: the request is sent again.
    pub fn request<P: Serialize + ?Sized, R: DeserializeOwned>(
        &self,
        method: &str,
        params: &P,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<R, RequestError> {
        self.call(method, params, deadline, cancel)?.wait(deadline, cancel)
    }

    /// Sends a request; the answer is waited for later, so that several can be under way. Waits only for
    /// room, if too much is on its way to the server already.
    pub fn call<P: Serialize + ?Sized, R>(
        &self,
        method: &str,
        params: &P,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Call<R>, RequestError> {
        if cancel.is_cancelled() {
            return Err(RequestError::Cancelled);
        }
        Call::send(&self.0.session.0, method, to_json(method, params)?, Who::Caller, deadline, cancel)
    }

    /// Waits only for room, and not longer than a server may read nothing.
    pub fn notify<P: Serialize + ?Sized>(&self, method: &str, params: &P) -> Result<(), RequestError> {
        let deadline = Instant::now() + self.0.session.limits.not_reading;
        self.0.session.notify(method, &to_json(method, params)?, deadline, Who::Caller)
    }

    /// Unit of a position's character in this session.
    pub fn encoding(&self) -> PositionEncoding {
        self.0.encoding
    }

    /// The server's name and version, as it calls itself.
    pub fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    pub fn epoch(&self) -> Epoch {
        self.0.session.epoch
    }

    /// Whether the server announced, at the start or later, that it supports this method.
    pub fn supports(&self, method: &str) -> bool {
        !self.options(method).is_empty()
    }

    /// The options of everything that serves this method; `true` for one without options.
    pub fn options(&self, method: &str) -> Vec<Value> {
        self.0.session.state.lock().capabilities.options(method)
    }

    /// Waits until the server has this method.
    pub fn wait_for(&self, method: &str, deadline: Instant, cancel: &Cancel) -> Result<(), RequestError> {
        let found = self.0.session.wait_for(deadline, cancel, |state| {
            let has_it = !state.capabilities.options(method).is_empty();
            let is_over = state.refusal(Who::Caller).map(|it| Err(it.into()));
            is_over.or(has_it.then_some(Ok(())))
        });
        found.flatten()
    }

    /// Sets the treatment of the server's requests to change files.
    pub fn set_edits(&self, policy: EditPolicy) {
        self.0.session.state.lock().edits = policy;
    }

    /// Returns the reason for which nothing can be asked any more, if there is one.
    pub fn broken(&self) -> Option<Broken> {
        self.0.session.state.lock().refusal(Who::Caller)
    }

    /// The last lines that the server wrote to its standard error.
    pub fn stderr(&self) -> Vec<String> {
        self.0.session.stderr.tail(usize::MAX)
    }

    /// The log of these lines, which goes on while the server runs.
    pub fn log(&self) -> Arc<Log> {
        Arc::clone(&self.0.session.stderr)
    }

    /// Whether the server has answered nothing since a request was given up.
    pub fn owes(&self) -> bool {
        self.0.session.state.lock().owes_since().is_some()
    }

    /// Stops it if that is so for too long. A wait for an answer does the same.
    pub fn stop_if_it_hangs(&self) {
        self.0.session.stop_if_it_hangs();
    }

    /// The last messages that the server wanted to be shown or logged.
    pub fn messages(&self) -> Vec<String> {
        self.0.session.messages.tail(usize::MAX)
    }

    /// The process above the server and everything it has started.
    pub fn pid(&self) -> u32 {
        self.0.session.process.id()
    }

    /// Asks the server to end, and kills it if it has not until `grace` is over. Others learn that it is
    /// gone from now on. Half of the time is for its answer, the rest for it to end.
    pub fn shutdown(&self, grace: Duration) -> Ended {
        let session = &self.0.session;
        let start = Instant::now();
        let is_first = session.state.lock().close();
        if is_first {
            // Whatever it answers, it is told to go.
            let _ = self.farewell(start + grace / 2);
        }
        match session.wait_for_exit(start + grace) {
            Some(exit) => Ended { exit, was_killed: false },
            None => Ended { exit: self.kill(), was_killed: true },
        }
    }

    /// Kills the server and all it has started, and waits until that is done.
    pub fn kill(&self) -> Exit {
        self.0.session.abandon();
        self.0.session.wait_for_exit(Instant::now() + TIME_TO_END).unwrap_or(Exit::Unknown)
    }

    fn farewell(&self, deadline: Instant) -> Result<(), RequestError> {
        let (session, cancel) = (&self.0.session.0, Cancel::default());
        let null = to_json("shutdown", &())?;
        let call = Call::<Value>::send(session, "shutdown", null.clone(), Who::Farewell, deadline, &cancel);
        let _ = call.and_then(|it| it.wait(deadline, &cancel));
        session.notify("exit", &null, deadline, Who::Farewell)
    }
}

/// Time limit longer than all attempts to end an unwilling server.
const TIME_TO_END: Duration = Duration::from_secs(10);

impl Deref for Owned {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

fn spawn(options: &Options, events: &EventSink) -> io::Result<Arc<Session>> {
    let (process, pipes) = Process::start(&options.launch)?;
    let setup = Setup {
        epoch: options.epoch,
        limits: options.limits.clone(),
        settings: options.settings.clone(),
        folders: serde_json::to_value(&options.initialize.folders)?,
        state: State::new(options.edits),
        events: events.clone(),
    };
    Session::start(setup, process, pipes)
}

fn initialize(session: Owned, options: &Options, cancel: &Cancel) -> Result<Client, RequestError> {
    let deadline = Instant::now() + options.limits.start;
    let params = to_json("initialize", &options.initialize.params())?;
    let call = Call::send(&session.0, "initialize", params, Who::Caller, deadline, cancel)?;
    let reply = options.initialize.understand(call.wait(deadline, cancel)?)?;
    session.state.lock().capabilities.set_fixed(reply.capabilities);
    session.notify("initialized", &to_json("initialized", &json!({}))?, deadline, Who::Caller)?;
    Ok(Client(Arc::new(Handle { session, encoding: reply.encoding, server: reply.server })))
}

fn to_json<P: Serialize + ?Sized>(method: &str, params: &P) -> Result<Box<RawValue>, RequestError> {
    to_raw_value(params).map_err(|it| unsendable(method, &it))
}
