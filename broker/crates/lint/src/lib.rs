//! Findings of linters, and the trait that linters implement.
//!
//! Positions are byte offsets into the file's bytes; [`LineTable`] turns them into lines and columns.
//! Nothing here is serialised: each front and each plugin world converts at its own edge.

mod cancel;
mod counted;
mod delta;
mod diagnostic;
mod finding_key;
mod fingerprint;
mod interpreter;
mod line_map;
mod line_table;
mod linter;
mod printable;
mod profile;
mod rule_aliases;
mod rule_pattern;
pub mod suppress;

pub use cancel::{Cancel, OnCancel};
pub use counted::counted;
pub use delta::{Delta, delta};
pub use diagnostic::{Applicability, CellText, Diagnostic, Edit, Fix, Related, Severity, Span, Tag};
pub use finding_key::{FileFindings, FindingKey};
pub use fingerprint::Fingerprint;
pub use interpreter::{has_extension, interpreter};
pub use line_table::{LineColumn, LineTable};
pub use linter::{
    Because, CHANGED, Completeness, EnabledRule, FixAvailability, Identity, Interest, Job, Lease, Linter,
    Masking, Outcome, Rule, SetupError, Unit,
};
pub use printable::{is_invisible, printable, printable_text};
pub use profile::{Profile, Reads, Runs, Scope};
pub use rule_aliases::RuleAliases;
pub use rule_pattern::{BadPattern, RulePattern};
