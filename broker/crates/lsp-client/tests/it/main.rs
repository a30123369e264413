//! The client with servers that are real processes, which do what a script says.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at /proc, and stop at what is unexpected"
)]

mod alive;
mod faults;
mod fixture;
mod processes;
mod session;
mod start;
#[path = "../../testkit/options.rs"]
mod testkit;
