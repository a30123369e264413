//! A request that is under way.

use std::{
    marker::PhantomData,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use lint::Cancel;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{
    ProtocolError, RequestError,
    message::Answer,
    outbox::TICK,
    session::Session,
    state::{Reply, Who},
};

/// Pause before a request is sent again; doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// A request whose answer will be an `R`. Dropping it gives it up, and cancels it at the server.
#[must_use = "a request that is dropped is cancelled"]
pub struct Call<R> {
    session: Arc<Session>,
    method: String,
    params: Box<RawValue>,
    who: Who,
    id: i64,
    reply: Receiver<Reply>,
    answer: PhantomData<fn() -> R>,
}

impl<R> Call<R> {
    pub(crate) fn send(
        session: &Arc<Session>,
        method: &str,
        params: Box<RawValue>,
        who: Who,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Self, RequestError> {
        let (id, reply) = session.send(method, &params, deadline, cancel, who)?;
        let session = Arc::clone(session);
        Ok(Self { session, method: method.to_owned(), params, who, id, reply, answer: PhantomData })
    }

    fn bad_answer(&self, reason: impl ToString) -> RequestError {
        ProtocolError::BadAnswer { method: self.method.clone(), reason: reason.to_string() }.into()
    }

    fn reply(&self, deadline: Instant, cancel: &Cancel) -> Result<Answer, RequestError> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.reply.recv_timeout(TICK.min(left)) {
                Ok(reply) => return Ok(reply?),
                Err(RecvTimeoutError::Disconnected) => return Err(RequestError::Gone),
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                    return Err(RequestError::Cancelled);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(RequestError::TimedOut),
                Err(RecvTimeoutError::Timeout) => self.session.stop_if_it_hangs(),
            }
        }
    }

    fn send_again(&mut self, deadline: Instant, cancel: &Cancel) -> Result<(), RequestError> {
        let (id, reply) = self.session.send(&self.method, &self.params, deadline, cancel, self.who)?;
        (self.id, self.reply) = (id, reply);
        Ok(())
    }
}

impl<R: DeserializeOwned> Call<R> {
    /// Waits for what comes of it. Asks again as long as the answer is that there is none at the moment.
    pub fn wait(mut self, deadline: Instant, cancel: &Cancel) -> Result<R, RequestError> {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.reply(deadline, cancel)? {
                Answer::Result(result) => {
                    return serde_json::from_str(result.get()).map_err(|it| self.bad_answer(it));
                }
                Answer::Refused(refusal) if refusal.is_passing() => {
                    // Nothing tells when the server will not be busy any more.
                    sleep(pause, deadline, cancel)?;
                    pause = LONGEST_PAUSE.min(2 * pause);
                    self.send_again(deadline, cancel)?;
                }
                Answer::Refused(refusal) => return Err(RequestError::Refused(refusal)),
                Answer::Nothing => return Err(self.bad_answer("neither a result nor an error")),
            }
        }
    }
}

impl<R> Drop for Call<R> {
    fn drop(&mut self) {
        self.session.give_up(self.id);
    }
}

/// Sleeps for a pause between two looks at something without a wake-up; the deadline and a cancel end it early.
pub fn sleep(pause: Duration, deadline: Instant, cancel: &Cancel) -> Result<(), RequestError> {
    let end = Instant::now() + pause;
    if cancel.wait(Some(end.min(deadline))) {
        Err(RequestError::Cancelled)
    } else if deadline < end {
        Err(RequestError::TimedOut)
    } else {
        Ok(())
    }
}
