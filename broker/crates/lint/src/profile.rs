//! Execution profile of a linter, as far as an engine needs it. Does not include what it looks for, or which rules it has.

/// Properties of a linter that a scheduler and a cache need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    pub runs: Runs,
    pub scope: Scope,
    pub reads: Reads,
}

/// Place at which the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// On the thread that asks, which it keeps busy.
    Here,
    /// In another process, for which the thread only waits.
    Outside,
}

/// Files that one check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The file that is asked about, and configuration.
    File,
    /// Any file of the project: each check pays for a look at all of them, and other files may have other findings when one
    /// changes.
    Project,
}

/// Way in which the dependencies of an answer are found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Each read goes through the view, which records it.
    Traced,
    /// Reads are not seen: [`Linter::context`](crate::Linter::context) names all that they may have shown.
    Context,
}

impl Profile {
    /// A linter that runs here and looks at one file at a time.
    pub const LOCAL: Self = Self { runs: Runs::Here, scope: Scope::File, reads: Reads::Traced };

    /// A process that holds the whole project and does not tell what it reads.
    pub const SERVER: Self = Self { runs: Runs::Outside, scope: Scope::Project, reads: Reads::Context };

    /// Whether an answer can change with nothing but the file's text and what its read set names.
    pub fn is_traced(self) -> bool {
        self.scope != Scope::Project && self.reads != Reads::Context
    }
}
