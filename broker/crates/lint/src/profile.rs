//! How a linter works, as far as those who ask it have to know. Does not say what it looks for.

/// What a scheduler, a cache and a listing of rules need to know of a linter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    pub runs: Runs,
    pub scope: Scope,
    pub reads: Reads,
    pub rules: RuleSet,
}

/// Where the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// On the thread that asks, which it keeps busy.
    Here,
    /// In another process, for which the thread only waits.
    Outside,
}

/// What one check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The file that is asked about, and configuration.
    File,
    /// Any file of the project: each check pays for a look at all of them, and other files may have other findings when one
    /// changes.
    Project,
}

/// How it is known what an answer rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Each read goes through the view, which records it.
    Traced,
    /// Reads nobody sees: [`Linter::context`](crate::Linter::context) names all that they may have shown.
    Context,
}

/// Whether the rules of a linter can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSet {
    /// [`Linter::rules`](crate::Linter::rules) has all of them.
    Known,
    /// It may have rules of any name.
    Open,
}

impl Profile {
    /// A linter that runs here and looks at one file at a time.
    pub const LOCAL: Self =
        Self { runs: Runs::Here, scope: Scope::File, reads: Reads::Traced, rules: RuleSet::Known };

    /// A process that holds the whole project and tells neither what it reads nor which rules it has.
    pub const SERVER: Self =
        Self { runs: Runs::Outside, scope: Scope::Project, reads: Reads::Context, rules: RuleSet::Open };
}
