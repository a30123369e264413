//! Checks: which files, which linters for each, their answers, and what is reported of them.
//!
//! Start reading at `pipeline`, the one way of a check. Linters are known only as [`lint::Linter`] and files only as an
//! [`overlay::View`]; plugins, command lines, clients and output formats are unknown here.

mod answer;
pub mod baseline;
mod codec;
mod collect;
mod contents;
mod coverage;
mod dependents;
mod engine;
mod finding;
pub mod fix;
mod interest;
mod kept;
mod local;
pub mod pipeline;
mod place;
pub mod policy;
mod report;
mod router;
mod suppression;
#[cfg(test)]
mod tests;
mod timings;

use std::{path::Path, thread::available_parallelism};

use scheduler::{Cache, CacheOptions};

pub use self::local::{LocalChecker, Options, check};
pub use self::{
    answer::{Answer, OnAnswer, Timing},
    codec::AnswerCodec,
    collect::{Files, Wanted, collect},
    coverage::{Coverage, Others},
    dependents::Dependents,
    engine::{
        BatchSize, Due, Engine, EngineRequest, FileAnswers, Listener, Refused, RetryCache, Route, Totals,
        Unfinished,
    },
    finding::{
        ADD_TOOLS, CheckedFile, Edit, Excluded, Finding, FindingCell, Fix, IN_PARENT, Incomplete, Level,
        NOT_YET, Range, Related, RuleRef, Subject, Unavailable, not_asked,
    },
    report::{Checked, Counts, Report},
    router::{Absent, ListedFile, MissingLinter, Need, Router, SharedLinter},
    suppression::{file_suppression, suppression},
    timings::{AnswerTime, Timings},
};
pub use self::{
    collect::{is_file, with_file_settings},
    place::read,
};

/// The number of processors.
pub fn default_jobs() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Answers of earlier runs, with the default bounds: those that are kept in the cache folder, or without one those that
/// are forgotten when the run ends.
pub fn answers(cache_dir: Option<&Path>) -> Cache<Answer> {
    let folder = cache_dir.map(|it| it.join("answers"));
    Cache::new(CacheOptions { folder, ..CacheOptions::default() }, AnswerCodec)
}
