//! Servers that are real processes: those of the testkit, and real ones where they are named.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests look at /proc, say what they measure, and stop at what is unexpected"
)]

mod actor;
#[path = "../../../lsp-client/tests/it/alive.rs"]
mod alive;
mod bench;
mod crowd;
mod edits;
mod fixture;
mod gain;
mod isolation;
mod killed;
mod languages;
mod linter;
mod model;
mod outside;
mod pool;
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
mod table;
#[path = "../../../lsp-client/testkit/options.rs"]
mod testkit;
mod unanswered;
mod words;
mod yard;
