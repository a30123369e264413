//! Decides which work of many branches runs when, and which answers need no work. Does not depend on wasm.
//!
//! The next task is chosen by `state`, which has neither threads nor a clock; `runner` gives it both. Work is a closure and
//! its answer a value: what they do and hold is not the scheduler's business. `cache` remembers answers, each with all that
//! it rests on.

mod cache;
mod options;
mod runner;
mod scheduler;
mod state;
mod task;

pub use cache::{
    Answer, Cache, CacheOptions, Codec, Inherited, Key, ReadChecker, ReadIndex, Reads, Seen,
    Stats as CacheStats, surplus_files,
};
pub use options::Options;
pub use runner::Ticket;
pub use scheduler::Scheduler;
pub use state::{ClassStats, Stats};
pub use task::{BranchKey, Class, End, Finished, Rejected, Run, Task, WorkKey};
