//! Checkers in shadow folders of real workspaces, and what real tools printed.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test makes its own files, may fail, and says what it passes over"
)]

mod fixture;
mod rests;
mod runs;
mod texts;
mod tools;
