//! The client with servers that are real processes: scripted ones, and a real one if there is one.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at /proc, and stop at what is unexpected"
)]

mod faults;
mod fixture;
mod processes;
mod real;
mod session;
mod start;
