//! A session at work: three threads around the state. One reads what the server says, one writes what it is
//! told, one keeps what it writes to its standard error. The reader is the one that ends the session.

use std::{
    io::{self, BufReader, Read},
    process::ChildStdin,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    thread,
    time::{Duration, Instant},
};

use lint::Cancel;
use parking_lot::{Condvar, Mutex};
use serde_json::{Value, value::RawValue};

use crate::{
    Broken, Epoch, Event, EventKind, EventSink, Exit, Id, Limits, ProtocolError, RequestError,
    log::Log,
    message::{self, Answer, Message},
    outbox::{NotTaken, Outbox, TICK},
    process::{Pipes, Process},
    state::{Reply, State, Who},
    transport::{frame, read_frame},
};

/// Time for a server whose output has ended, before it is killed.
const TIME_TO_EXIT: Duration = Duration::from_millis(500);

/// Time for the supervisor to kill the server, before both are killed.
const TIME_TO_KILL: Duration = Duration::from_secs(2);

/// Number of lines of standard error that explain a death.
const LAST_LINES: usize = 20;

pub(crate) struct Session {
    pub(crate) epoch: Epoch,
    pub(crate) limits: Limits,
    /// Settings from which `workspace/configuration` is answered.
    pub(crate) settings: Value,
    pub(crate) folders: Value,
    pub(crate) process: Process,
    pub(crate) stderr: Arc<Log>,
    /// Messages that the server sent to be shown or logged.
    pub(crate) messages: Log,
    pub(crate) state: Mutex<State>,
    changed: Condvar,
    outbox: Outbox,
    events: EventSink,
}

/// Parameters that differ from one session to another.
pub(crate) struct Setup {
    pub(crate) epoch: Epoch,
    pub(crate) limits: Limits,
    pub(crate) settings: Value,
    pub(crate) folders: Value,
    pub(crate) state: State,
    pub(crate) events: EventSink,
}

impl Session {
    pub(crate) fn start(setup: Setup, process: Process, pipes: Pipes) -> io::Result<Arc<Self>> {
        let Setup { epoch, limits, settings, folders, state, events } = setup;
        let outbox = Outbox::new(limits.outbox);
        let (stderr, messages) = Default::default();
        let (state, changed) = (Mutex::new(state), Condvar::new());
        let session = Self {
            epoch,
            limits,
            settings,
            folders,
            process,
            stderr,
            messages,
            state,
            changed,
            outbox,
            events,
        };
        let session = Arc::new(session);
        let Pipes { input, output, errors } = pipes;
        let (alive, end_of_errors) = channel::<()>();
        session.spawn("ls-stderr", move |it| {
            it.stderr.follow(errors);
            drop(alive);
        })?;
        session.spawn("ls-write", move |it| it.write(input))?;
        session
            .spawn("ls-read", move |it| it.read(output, &end_of_errors))
            .inspect_err(|_| session.abandon())?;
        Ok(session)
    }

    fn spawn(self: &Arc<Self>, name: &str, work: impl FnOnce(&Self) + Send + 'static) -> io::Result<()> {
        let session = Arc::clone(self);
        thread::Builder::new().name(name.to_owned()).spawn(move || work(&session))?;
        Ok(())
    }

    /// Returns the new request's number and where its reply will come. Once the request is on its way, only
    /// the reply or the end of the session settles it.
    pub(crate) fn send(
        &self,
        method: &str,
        params: &RawValue,
        deadline: Instant,
        cancel: &Cancel,
        who: Who,
    ) -> Result<(i64, Receiver<Reply>), RequestError> {
        let (id, reply) = self.state.lock().register(who)?;
        let sent = self.send_numbered(id, method, params, deadline, cancel);
        if sent.is_err() {
            self.state.lock().forget(id);
        }
        sent.map(|()| (id, reply))
    }

    fn send_numbered(
        &self,
        id: i64,
        method: &str,
        params: &RawValue,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(), RequestError> {
        let body = message::request(&Id::Number(id), method, params).map_err(|it| unsendable(method, &it))?;
        match self.outbox.push(frame(&body), deadline, cancel) {
            // When it is closed, the session is over or about to be, and the reply tells why.
            Ok(()) | Err(NotTaken::Closed) => Ok(()),
            Err(NotTaken::Full) => Err(RequestError::TimedOut),
            Err(NotTaken::Cancelled) => Err(RequestError::Cancelled),
        }
    }

    pub(crate) fn notify(
        &self,
        method: &str,
        params: &RawValue,
        deadline: Instant,
        who: Who,
    ) -> Result<(), RequestError> {
        if let Some(reason) = self.state.lock().refusal(who) {
            return Err(reason.into());
        }
        let body = message::notification(method, params).map_err(|it| unsendable(method, &it))?;
        self.outbox.push(frame(&body), deadline, &Cancel::default()).map_err(|it| match it {
            NotTaken::Full | NotTaken::Cancelled => RequestError::TimedOut,
            NotTaken::Closed => self.state.lock().refusal(who).unwrap_or(Broken::Closed).into(),
        })
    }

    /// The request is not waited for any more: its reply goes nowhere, and the server may stop.
    pub(crate) fn give_up(&self, id: i64) {
        let was_waiting = self.state.lock().give_up(id, Instant::now());
        let params = serde_json::value::to_raw_value(&serde_json::json!({ "id": id }));
        if let (true, Ok(params)) = (was_waiting && self.limits.cancels, params)
            && let Ok(body) = message::notification("$/cancelRequest", &params)
        {
            // If there is no room, the server goes on in vain.
            let _ = self.outbox.offer(frame(&body));
        }
    }

    /// Stops a server that has answered nothing at all for long, although a request was given up.
    pub(crate) fn stop_if_it_hangs(&self) {
        let after = self.limits.hang;
        let is_over = |it: Instant| it.elapsed() >= after;
        let hangs = self.state.lock().owes_since().is_some_and(is_over);
        if hangs {
            self.break_off(Broken::Protocol(ProtocolError::Hangs { after }));
        }
    }

    /// Answers what the server asked, without waiting.
    pub(crate) fn respond(
        &self,
        id: &Id,
        answer: &Result<Box<RawValue>, crate::Refusal>,
    ) -> Result<(), ProtocolError> {
        let bad = |it: serde_json::Error| ProtocolError::BadMessage { reason: it.to_string() };
        let body = message::response(id, answer).map_err(bad)?;
        match self.outbox.offer(frame(&body)) {
            Ok(()) | Err(NotTaken::Closed) => Ok(()),
            Err(_) => Err(ProtocolError::AsksOnly { limit: self.limits.outbox }),
        }
    }

    pub(crate) fn tell(&self, kind: EventKind, size: usize) -> Result<(), ProtocolError> {
        self.events.push(Event { epoch: self.epoch, kind }, size)
    }

    /// Wakes those who wait for something in the state to become different.
    pub(crate) fn state_changed(&self) {
        self.changed.notify_all();
    }

    /// Waits until `is_there` says something.
    pub(crate) fn wait_for<T>(
        &self,
        deadline: Instant,
        cancel: &Cancel,
        is_there: impl Fn(&State) -> Option<T>,
    ) -> Result<T, RequestError> {
        let mut state = self.state.lock();
        loop {
            if let Some(it) = is_there(&state) {
                return Ok(it);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if cancel.is_cancelled() {
                return Err(RequestError::Cancelled);
            } else if left.is_zero() {
                return Err(RequestError::TimedOut);
            }
            self.changed.wait_for(&mut state, TICK.min(left));
        }
    }

    pub(crate) fn wait_for_exit(&self, deadline: Instant) -> Option<Exit> {
        self.wait_for(deadline, &Cancel::default(), |it| it.exit).ok()
    }

    /// Kills the server. Does not wait for its end.
    pub(crate) fn abandon(&self) {
        self.state.lock().close();
        self.outbox.close();
    }

    /// Ends all waits, and kills the server.
    fn break_off(&self, reason: Broken) -> Broken {
        let reason = self.state.lock().break_off(reason);
        self.outbox.close();
        self.state_changed();
        reason
    }

    fn write(&self, input: ChildStdin) {
        if let Err(after) = self.outbox.write_to(input, self.limits.not_reading) {
            self.break_off(Broken::Protocol(ProtocolError::NotReading { after }));
        }
        // The input is closed now, so the supervisor kills the server.
        if self.wait_for_exit(Instant::now() + TIME_TO_KILL).is_none() {
            self.process.kill(Instant::now() + TIME_TO_KILL);
        }
    }

    fn read(&self, output: impl Read, end_of_errors: &Receiver<()>) {
        match self.read_messages(output) {
            // The exit of the process is a better reason.
            Ok(()) | Err(ProtocolError::Truncated) => {}
            Err(error) => drop(self.break_off(Broken::Protocol(error))),
        }
        let exit = self.exit();
        // The rest of standard error is still to be read.
        let _ = end_of_errors.recv_timeout(TIME_TO_EXIT);
        let reason = self.break_off(Broken::Died { exit, stderr: self.stderr.tail(LAST_LINES) });
        self.events.push_end(self.epoch, reason);
        self.state.lock().exit = Some(exit);
        self.state_changed();
    }

    fn read_messages(&self, output: impl Read) -> Result<(), ProtocolError> {
        let mut output = BufReader::with_capacity(64 << 10, output);
        while let Some(body) = read_frame(&mut output, self.limits.message)? {
            self.handle(&body)?;
        }
        Ok(())
    }

    fn handle(&self, body: &[u8]) -> Result<(), ProtocolError> {
        let bad = |it: serde_json::Error| ProtocolError::BadMessage { reason: it.to_string() };
        match Message::parse(body).map_err(bad)? {
            Message::Request { id, method, params } => self.answer(&id, &method, params.as_deref()),
            Message::Notification { method, params } => {
                if method == "$/progress" {
                    self.state.lock().is_alive();
                }
                self.notice(method, params)
            }
            Message::Response { id: Some(Id::Number(id)), answer } => {
                // The request of a late answer was given up.
                let _ = self.state.lock().resolve(id, answer);
                Ok(())
            }
            Message::Response { answer, .. } => {
                self.note_stray(&answer);
                Ok(())
            }
        }
    }

    fn note_stray(&self, answer: &Answer) {
        if let Answer::Refused(refusal) = answer {
            self.messages.push(&refusal.to_string());
        }
    }

    fn exit(&self) -> Exit {
        self.process.wait(Instant::now() + TIME_TO_EXIT).unwrap_or_else(|| {
            self.outbox.close();
            self.process.wait(Instant::now() + 3 * TIME_TO_KILL).unwrap_or(Exit::Unknown)
        })
    }
}

pub(crate) fn unsendable(method: &str, error: &serde_json::Error) -> RequestError {
    ProtocolError::BadParams { method: method.to_owned(), reason: error.to_string() }.into()
}
