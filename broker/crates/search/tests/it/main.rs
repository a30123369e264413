//! Search over real folders: against ripgrep, and against a plain scan.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the disk themselves, and may fail"
)]

mod code;
mod fixture;
mod half_built;
mod queries;
mod ripgrep;
