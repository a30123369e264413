//! The client with servers that are real processes: scripted ones, and a real one if there is one.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests look at /proc, say what they measure, and stop at what is unexpected"
)]

mod actor;
mod bench;
mod crowd;
mod edits;
mod faults;
mod fixture;
mod gain;
mod isolation;
mod killed;
mod languages;
mod linter;
mod model;
mod outside;
mod pool;
mod processes;
mod push;
mod query;
mod real;
mod real_biome;
mod real_configs;
mod real_deletes;
mod real_imports;
mod real_json;
mod real_outside;
mod real_queries;
mod session;
mod start;
mod table;
#[path = "../../testkit/options.rs"]
mod testkit;
mod unanswered;
mod words;
mod yard;
