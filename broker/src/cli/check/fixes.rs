//! `--fix`, `--add-suppressions` and `--diff`: what is changed, and where that goes.

use std::path::Path;

use checker::pipeline::Fixed;
use lint::{Applicability, counted, printable};
use overlay::{Snapshot, WorkspacePath, unified};

use super::write;
use crate::{CliError, console::Messages};

/// Fixes
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct FixArgs {
    /// Make the fixes that keep what the code means: those of findings with the mark `[*]`
    #[arg(long, help_heading = "Fixes")]
    pub(super) fix: bool,

    /// With `--fix` or `--diff`: fixes that may change what the code means, too
    #[arg(long, help_heading = "Fixes")]
    pub(super) unsafe_fixes: bool,

    /// Print the changes that `--fix` would make as a patch, and write nothing
    #[arg(long, help_heading = "Fixes", conflicts_with_all = ["statistics", "baseline_update", "baseline_prune"])]
    pub(super) diff: bool,

    /// Write comments that suppress what is found, such as `# broker: ignore[python/F401] REASON`
    ///
    /// After the code of a line, or on a line of its own where that would be too long. With `--diff`, they are only shown.
    /// Syntax errors are not suppressed, and neither is what is found where no comment can be, such as inside of a string.
    #[arg(
        long,
        value_name = "REASON",
        value_parser = reason,
        help_heading = "Fixes",
        conflicts_with_all = ["fix", "unsafe_fixes", "statistics", "baseline_update", "baseline_prune"]
    )]
    pub(super) add_suppressions: Option<String>,
}

/// Parses the reason that is written behind a suppression.
fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if !text.contains(char::is_alphanumeric) {
        return Err("a suppression must say why".to_owned());
    }
    match text.find(char::is_control) {
        Some(_) => Err("a reason is one line of text".to_owned()),
        None => Ok(text.to_owned()),
    }
}

impl FixArgs {
    pub(super) fn is_asked(&self) -> bool {
        self.fix || self.diff || self.add_suppressions.is_some()
    }

    /// Says how many fixes there are, or how many findings are suppressed.
    pub(super) fn counted(&self, count: usize) -> String {
        match self.add_suppressions {
            None => format!("{} would be made", counted(count, "fix")),
            Some(_) if self.diff => format!("{} would be suppressed", counted(count, "finding")),
            Some(_) => format!("{} suppressed", counted(count, "finding")),
        }
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
