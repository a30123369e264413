//! Linters that are commands of the user's own: `cargo check`, `go vet`, `tsc`, a script.
//!
//! A [`Checker`] describes each of them as data; a [`NativeChecker`] is one in a workspace, as a [`lint::Linter`]. It runs in a
//! shadow folder of the view that is checked, so that it sees a branch as the disk would be, and what it writes stays in memory.
//! A [`Runner`] has all runs of a program: how many there are at a time, who waits for the same one, and what came of the last
//! ones.
//!
//! Start reading at `linter.rs`. `output.rs` reads what commands print, `findings.rs` puts it into the places of a view.
//!
//! Left out: who may run commands where (trust), and which checkers a workspace has, is the business of others.

mod checker;
mod findings;
mod globs;
mod inputs;
mod jsonc;
mod layer;
mod linter;
mod output;
mod place;
mod project;
mod run;
mod runner;
mod tsgolint;
mod version;

pub use checker::{Checker, checkers};
pub use linter::NativeChecker;
pub use run::Setup;
pub use runner::{Runner, RunnerLimits};
