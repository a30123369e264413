//! A client and the scripted server at its other end.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use lint::Cancel;
use lsp_client::{
    Client, Ended, EventKind, EventSink, Events, Exit, Options, RequestError, StartError, events,
};
use serde_json::{Value, json};

use crate::testkit;

pub(crate) const TESTKIT: &str = env!("CARGO_BIN_EXE_lsp-client-testkit");

/// Beginning of a script that is not about the beginning.
pub(crate) const HELLO: &str = r#"
    {"expect": "initialize", "answer": {"capabilities": {}}}
    {"expect": "initialized"}
"#;

/// End of a script that is not about the end.
pub(crate) const BYE: &str = r#"
    {"expect": "shutdown", "answer": null}
    {"expect": "exit"}
"#;

/// Far away: what waits for it fails.
pub(crate) fn far() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

pub(crate) fn options(script: &str) -> Options {
    testkit::options(Path::new(TESTKIT), script)
}

pub(crate) fn start(options: &Options, sink: &EventSink) -> Result<Client, StartError> {
    Client::start(options, sink, &Cancel::default())
}

pub(crate) struct Fake {
    pub(crate) client: Client,
    pub(crate) events: Events,
}

impl Fake {
    /// With the usual beginning before the script.
    pub(crate) fn new(script: &str) -> Self {
        Self::with(script, |_| ())
    }

    /// With the usual end after it, too.
    pub(crate) fn polite(script: &str) -> Self {
        Self::new(&format!("{script}{BYE}"))
    }

    pub(crate) fn with(script: &str, change: impl FnOnce(&mut Options)) -> Self {
        Self::limited(script, 64 << 20, change)
    }

    pub(crate) fn limited(script: &str, bytes_of_events: usize, change: impl FnOnce(&mut Options)) -> Self {
        let (sink, events) = events(bytes_of_events);
        let mut options = options(&format!("{HELLO}{script}"));
        change(&mut options);
        Self { client: start(&options, &sink).unwrap(), events }
    }

    pub(crate) fn ask(&self, method: &str) -> Result<Value, RequestError> {
        self.client.request(method, &json!({}), far(), &Cancel::default())
    }

    /// With a deadline that is over at once.
    pub(crate) fn ask_in_vain(&self, method: &str) -> RequestError {
        let call = self.client.call::<_, Value>(method, &json!({}), far(), &Cancel::default()).unwrap();
        call.wait(Instant::now(), &Cancel::default()).unwrap_err()
    }

    pub(crate) fn next(&self) -> EventKind {
        self.events.next(far(), &Cancel::default()).expect("an event").kind
    }

    /// The parameters of a notification of the fake's own.
    #[track_caller]
    pub(crate) fn told(&self) -> Value {
        match self.next() {
            EventKind::Other { params, .. } => serde_json::from_str(params.unwrap().get()).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// The rest of the script is what usually comes, and it came.
    #[track_caller]
    pub(crate) fn end(&self) {
        let ended = self.client.shutdown(Duration::from_secs(60));
        let want = Ended { exit: Exit::Code(0), was_killed: false };
        assert_eq!(ended, want, "{:?}", self.client.stderr());
        assert!(self.events.try_next().is_some_and(|it| matches!(it.kind, EventKind::Ended(_))));
    }
}
