//! A definition of a text: a function, a type, a test, a value, a key or a heading.

use std::ops::Range;

/// A definition and the lines that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Parameters as they are written, which tell overloads apart.
    pub(super) parameters: String,
    pub(super) has_body: bool,
    /// First line of the comments, attributes and decorators that belong to it.
    pub(super) lead: usize,
    /// Line of its name.
    pub(super) head: usize,
    /// Line behind its last one.
    pub(super) end: usize,
    /// Depth of its head, as [`FileKind::level`] counts it.
    pub(super) level: usize,
    /// Number of the definition around it.
    pub(super) parent: Option<usize>,
    /// Whether the definition has a syntax error.
    pub(super) is_broken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Function,
    Type,
    /// `impl` of Rust and extensions of Swift, which add to a type that is defined elsewhere.
    Implementation,
    /// A call that is given a name and a block, such as `it("works", () => …)`.
    Test,
    Value,
    /// A key, a table or a heading of a document.
    Entry,
    /// The text at the start of a module, a class or a function of Python that documents it.
    Docstring,
}

impl Kind {
    /// Whether a definition of this kind has other definitions as members.
    pub(super) fn has_members(self) -> bool {
        matches!(self, Self::Type | Self::Implementation | Self::Entry)
    }

    /// True for a value or a docstring, which is never added or removed as a definition of its own.
    pub(super) fn is_value(self) -> bool {
        matches!(self, Self::Value | Self::Docstring)
    }

    /// Whether a definition of one kind may become one of the other by an edit: a constant that holds a function is a function.
    pub(super) fn is_like(self, other: Self) -> bool {
        let is_callable = |it| matches!(it, Self::Function | Self::Value);
        self == other || (is_callable(self) && is_callable(other))
    }
}

impl Definition {
    /// Returns the lines of the definition from the comments above it on.
    pub(super) fn lines(&self) -> Range<usize> {
        self.lead..self.end
    }

    /// Returns the lines of the definition from its head on.
    pub(super) fn body(&self) -> Range<usize> {
        self.head..self.end
    }
}
