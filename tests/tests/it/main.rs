//! End-to-end tests and the rules of the repository, in one binary: each more would be linked with the whole engine.
//!
//! `cargo test -p tests --test it NAME::` runs those of one module.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests look at the disk themselves, tell what they measure, and may fail"
)]

#[cfg(target_os = "linux")]
mod acp;
mod added_plugins;
mod branch_cli;
mod check;
mod checkers;
mod churn;
mod clean;
mod cli;
#[cfg(target_os = "linux")]
mod confined;
mod daemon;
mod dependents;
mod docs;
mod faults;
mod formats;
mod fuzz_requests;
mod hook;
mod isolation;
mod kill;
mod lsp;
mod modules;
mod opened_files;
mod overlay_answers;
mod parity;
mod plugin_cli;
mod query;
#[cfg(target_os = "linux")]
mod run;
mod servers;
mod syntax;
mod telemetry;
mod tidy;
#[cfg(target_os = "linux")]
mod tools;
mod untouched;
