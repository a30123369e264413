//! Launch of the testkit's servers in tests.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use language_servers::{LanguageServer, Pool, Setup};
use lint::Cancel;
use lsp_client::{Client, EventSink, Options, StartError};

use crate::testkit;

pub(crate) const TESTKIT: &str = env!("CARGO_BIN_EXE_language-servers-testkit");

/// End of a script that is not about the end.
pub(crate) const BYE: &str = r#"
    {"expect": "shutdown", "answer": null}
    {"expect": "exit"}
"#;

/// Far away: what waits for it fails.
pub(crate) fn far() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A server of a pool, with a process.
pub(crate) fn started(pool: &Pool, setup: Setup) -> Result<LanguageServer, String> {
    let linter = LanguageServer::in_pool(pool, setup)?;
    linter.version(far(), &Cancel::default()).map(|_| linter)
}

pub(crate) fn options(script: &str) -> Options {
    testkit::options(Path::new(TESTKIT), script)
}

pub(crate) fn start(options: &Options, sink: &EventSink) -> Result<Client, StartError> {
    Client::start(options, sink, &Cancel::default())
}
