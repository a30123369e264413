//! A definition that a branch changed, and whether that matters for a use.

use syntax::DefinitionKind;

use super::{
    edit::EditPlace,
    names::{Key, Use},
    signature::Signature,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionChange {
    /// Deleted, renamed or moved to another file. Also of a file that is imported, and of an import.
    Gone,
    /// Other parameters.
    Signature,
    /// Added by both branches.
    Added,
}

/// A definition that a branch changed.
#[derive(Debug)]
pub(super) struct ChangedDefinition {
    pub(super) key: Key,
    pub(super) change: DefinitionChange,
    pub(super) kind: DefinitionKind,
    pub(super) is_member: bool,
    /// Whether it is an import, which is for the file alone.
    pub(super) is_local: bool,
    pub(super) place: EditPlace,
    /// Signatures before and after.
    pub(super) signatures: [Vec<Signature>; 2],
}

impl ChangedDefinition {
    /// Whether it is used by the name of its type.
    pub(super) fn is_constructor(&self) -> bool {
        self.is_member && matches!(&*self.key.name, "__init__" | "__new__" | "constructor")
    }

    /// Name that uses have.
    pub(super) fn used_as(&self) -> &str {
        match &self.key.container {
            Some(container) if self.is_constructor() => container,
            _ => &self.key.name,
        }
    }

    /// Whether the change may break a use that was right before.
    pub(super) fn matters_for(&self, it: &Use) -> bool {
        if self.change == DefinitionChange::Gone {
            return !self.is_constructor();
        }
        let [before, after] = &self.signatures;
        let of_type = self.is_member && it.qualifier.as_deref() == self.key.container.as_deref();
        let breaks = |now: &Signature, then: &Signature| match &it.call {
            Some(call) => now.breaks(then, call, of_type),
            None => !self.is_constructor() && now.is_narrower(then),
        };
        before.iter().any(|then| !after.is_empty() && after.iter().all(|now| breaks(now, then)))
    }
}
