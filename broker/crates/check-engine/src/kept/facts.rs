//! Facts about the files of a folder, collected while a check of it runs.

use std::{collections::HashMap, sync::Arc};

use overlay::{ChangeLog, Look, ReadSet, View, WorkspacePath};

use super::{FileFacts, FindingCounts};
use crate::{
    FileAnswers, RetryCache, Router,
    engine::{FileRoute, Plan, Tracing},
};

/// Facts about files of a folder from a check.
pub(crate) struct FolderFacts {
    pub(crate) router: Arc<Router>,
    /// Sorted by path.
    pub(crate) files: Vec<(WorkspacePath, Result<FileFacts, Unknown>)>,
    pub(crate) configuration: Arc<ReadSet>,
    pub(crate) retries: Arc<RetryCache>,
}

impl FolderFacts {
    /// Drops the facts about links whose changes `log` does not report.
    #[must_use]
    pub(super) fn told_by(mut self, log: &dyn ChangeLog) -> Self {
        for (path, facts) in &mut self.files {
            if facts.as_ref().is_ok_and(|it| it.is_link) && !log.covers(Look::At(path)) {
                *facts = Err(Unknown::Ever);
            }
        }
        self
    }
}

/// Reason for which it is not known of a file what its answers are, or depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// There is no final answer yet, or not for the file's own text.
    Yet,
    /// A linter wants it whose answers rest on more than they name.
    Ever,
}

/// Collects the facts of files as they are answered.
#[derive(Default)]
pub(crate) struct FactCollector {
    files: HashMap<WorkspacePath, FileFacts>,
    retries: Arc<RetryCache>,
}

impl FactCollector {
    /// The store for answers that are not final.
    pub(crate) fn retries(&self) -> Arc<RetryCache> {
        Arc::clone(&self.retries)
    }

    /// Adds a file of `view`.
    pub(crate) fn add(&mut self, file: &FileAnswers, view: &dyn View, counts: FindingCounts) {
        let path = &file.unit.path;
        let facts = FileFacts::of(file, view, counts);
        self.files.extend(facts.map(|it| (path.clone(), it)));
    }

    /// All that was found out about the files of `plan`.
    pub(crate) fn finish(mut self, plan: &Plan, configuration: Arc<ReadSet>) -> FolderFacts {
        let facts = |(path, route): (&WorkspacePath, &FileRoute)| {
            // The linters were chosen for one text, and may have seen another.
            let is_of_route = |it: &FileFacts| route.content.is_none() || it.content == route.content;
            let facts = match route.tracing {
                Tracing::Unasked => Ok(FileFacts::nothing(route.content)),
                Tracing::Traced => self.files.remove(path).filter(is_of_route).ok_or(Unknown::Yet),
                Tracing::Untraced => Err(Unknown::Ever),
            };
            (path.clone(), facts)
        };
        let files = plan.routes().map(facts).collect();
        FolderFacts { router: Arc::clone(&plan.router), files, configuration, retries: self.retries }
    }
}
