//! `--fix` and `--diff`: which fixes are made, and where they go.

use std::path::Path;

use checker::pipeline::Fixed;
use lint::{Applicability, printable};
use overlay::{Snapshot, WorkspacePath, unified};

use super::write;
use crate::{CliError, console::Messages};

/// Fixes
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct FixArgs {
    /// Make the fixes that keep what the code means
    #[arg(long, help_heading = "Fixes")]
    pub(super) fix: bool,

    /// With `--fix` or `--diff`: fixes that may change what the code means, too
    #[arg(long, help_heading = "Fixes")]
    pub(super) unsafe_fixes: bool,

    /// Print the changes that `--fix` would make as a patch, and write nothing
    #[arg(long, help_heading = "Fixes", conflicts_with_all = ["statistics", "baseline_update", "baseline_prune"])]
    pub(super) diff: bool,
}

impl FixArgs {
    pub(super) fn is_asked(&self) -> bool {
        self.fix || self.diff
    }

    pub(super) fn check(&self) -> Result<(), CliError> {
        if self.unsafe_fixes && !self.is_asked() {
            let error = CliError::usage("--unsafe-fixes says which fixes to make, not to make any");
            return Err(error.hint("give `--fix` as well, or `--diff`"));
        }
        Ok(())
    }

    pub(super) fn least(&self) -> Applicability {
        if self.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe }
    }
}

/// Warns of what was not fixed.
pub(super) fn report(fixed: &Fixed, messages: &Messages, display: impl Fn(&WorkspacePath) -> String) {
    fixed.notes.iter().for_each(|it| messages.warning(&printable(&it.text(&display))));
}

/// The changes as a patch; empty if there are none.
pub(super) fn patch(fixed: &Snapshot) -> Result<String, CliError> {
    const CONTEXT: usize = 3;
    let before = fixed.base_of();
    let changes = fixed.changes(&before);
    let patch = changes.and_then(|it| unified(&it, &before, fixed, CONTEXT));
    patch.map_err(|error| CliError::files(format!("cannot compare: {error}")))
}

/// Writes the changes to the workspace, all or none.
pub(super) fn commit(fixed: &Fixed, root: &Path, messages: &Messages) -> Result<(), CliError> {
    write::fixes(&fixed.branch, root, messages)
}
