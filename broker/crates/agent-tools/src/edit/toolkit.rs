//! Shared tools of one edit: syntax trees, and a flag that cancels the work.

use syntax::Trees;

use super::outcome::{Reason, Refused};

#[derive(Clone, Copy)]
pub(super) struct Toolkit<'a> {
    pub(super) trees: &'a Trees,
    /// True once the edit is cancelled. Checked between parts of the work.
    pub(super) cancel: &'a dyn Fn() -> bool,
}

impl<'a> Toolkit<'a> {
    /// Never cancelled.
    pub(super) fn new(trees: &'a Trees) -> Self {
        Self { trees, cancel: &|| false }
    }

    /// Refuses to go on once the work is cancelled.
    pub(super) fn go_on(self) -> Result<(), Refused> {
        if (self.cancel)() { Err(Reason::Cancelled.into()) } else { Ok(()) }
    }
}
