//! A check whose fields are checked, in the words of the engine.

use std::collections::BTreeSet;

use checker::{Files, Refused, Wanted, is_file};
use config::folders;
use overlay::{Revision, View, WalkOptions, WorkspacePath};
use scheduler::Class;

use super::{DaemonError, target::Target};

/// What is to be checked, and how: a request whose fields are checked.
#[derive(Clone)]
pub(super) struct Ask {
    pub(super) target: Target,
    /// Files and directories; everything if there are none.
    pub(super) paths: Vec<WorkspacePath>,
    /// Filter on the files found: only these are checked; no filter if empty.
    pub(super) only: BTreeSet<WorkspacePath>,
    pub(super) revision: Option<Revision>,
    pub(super) class: Class,
    /// Whether files that use those are asked about, too, by linters that look beyond a file.
    pub(super) dependents: bool,
    /// Only what differs from the parent.
    pub(super) new_only: bool,
    pub(super) select: Vec<String>,
    pub(super) ignore: Vec<String>,
    /// Give this up for a newer revision.
    pub(super) supersede: bool,
}

impl Ask {
    /// Whether the question may be about this file, wherever it is found.
    pub(super) fn is_about(&self, path: &WorkspacePath) -> bool {
        self.is_below(path) && (self.only.is_empty() || self.only.contains(path))
    }

    /// Whether it lies where is looked.
    pub(super) fn is_below(&self, path: &WorkspacePath) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|it| path.starts_with(it))
    }

    /// Whether the request selects no rules of its own, so that the configuration decides.
    pub(super) fn asks_every_rule(&self) -> bool {
        self.select.is_empty() && self.ignore.is_empty()
    }
}

pub(super) fn wanted(view: &dyn View, ask: &Ask) -> Wanted {
    let paths = &ask.paths;
    if ask.only.is_empty() && !paths.is_empty() && paths.iter().all(|it| is_file(view, it)) {
        return Wanted::Files(Files::of_named(paths.iter().cloned()));
    }
    let paths = if paths.is_empty() { vec![WorkspacePath::root()] } else { paths.clone() };
    Wanted::Walk { paths, options: walk_options(), only: ask.only.clone() }
}

pub(super) fn walk_options() -> WalkOptions {
    WalkOptions { global_excludes: folders::global_excludes(), ..WalkOptions::default() }
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
