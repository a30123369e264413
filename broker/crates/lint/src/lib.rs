//! What linters say, and the one trait they say it through.
//!
//! Positions are byte offsets into the file's bytes; [`LineTable`] turns them into lines and columns.
//! Nothing here is serialised: each front and each plugin world converts at its own edge.

mod diagnostic;
mod line_table;
mod linter;

pub use diagnostic::{Applicability, CellText, Diagnostic, Edit, Fix, Related, Severity, Span, Tag};
pub use line_table::{LineColumn, LineTable};
pub use linter::{
    Cancel, Completeness, FixAvailability, Identity, Interest, Job, Linter, Outcome, Rule, SetupError, Unit,
};
