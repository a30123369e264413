//! A check whose fields are checked, in the words of the pipeline.

use check_engine::{Refused, pipeline::Scope};
use config::Choice;
use linters::LinterKind;
use overlay::{Revision, WorkspacePath};
use scheduler::Class;

use super::{DaemonError, options::ValidOptions, target::Target};

/// Request for a check, whose fields are validated.
#[derive(Clone)]
pub(super) struct Ask<T = Target> {
    pub(super) target: T,
    pub(super) scope: Scope,
    pub(super) revision: Option<Revision>,
    pub(super) class: Class,
    /// Whether files that use the requested ones are asked about, too, by linters that look beyond a file.
    pub(super) dependents: bool,
    /// Only what differs from the parent.
    pub(super) new_only: bool,
    pub(super) select: Vec<String>,
    pub(super) ignore: Vec<String>,
    /// Kinds of linters that are asked; all if there are none.
    pub(super) kinds: Vec<LinterKind>,
    /// Give this up for a newer revision.
    pub(super) supersede: bool,
    pub(super) options: ValidOptions,
}

impl<T> Ask<T> {
    /// Whether every file of the workspace is asked about.
    pub(super) fn is_of_everything(&self) -> bool {
        let Scope { paths, only, walk, .. } = &self.scope;
        let is_root = paths.is_empty() || paths.iter().any(WorkspacePath::is_root);
        is_root && only.is_empty() && walk.excludes.is_empty()
    }

    /// Whether every rule is asked for that the configuration selects.
    pub(super) fn asks_every_rule(&self) -> bool {
        self.requested().has_default()
    }

    /// Selectors of the request.
    pub(super) fn requested(&self) -> Choice {
        let select = (!self.select.is_empty()).then(|| self.select.clone());
        Choice { select, ignore: self.ignore.clone() }
    }
}

pub(super) fn refused(refused: Refused) -> DaemonError {
    match refused {
        Refused::Busy { retry_after } => DaemonError::Busy { retry_after },
        Refused::Superseded => DaemonError::Superseded,
        Refused::ShuttingDown => DaemonError::ShuttingDown,
        Refused::Setup(failure) => failure.into(),
        Refused::Broken(why) => DaemonError::Bug(why),
    }
}
