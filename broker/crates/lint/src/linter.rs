//! The contract between the engine, which wants answers, and linters, which give them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use overlay::{ContentHash, ReadSet, View, WorkspacePath};

use crate::{Cancel, Diagnostic, Profile, diagnostic::CellText};

/// Turns units of a view into diagnostics, reading through the view only.
pub trait Linter: Send + Sync {
    fn identity(&self) -> &Identity;

    fn interest(&self) -> &Interest;

    /// Every rule the linter knows, selected or not; some may be defined in the workspace that `view` shows.
    fn rules(&self, view: &Arc<dyn View>) -> Result<Vec<Rule>, SetupError>;

    /// The rules that are on for the file at `path`, which need not exist; `None` if it cannot tell.
    fn enabled_rules(
        &self,
        _view: &Arc<dyn View>,
        _path: &WorkspacePath,
    ) -> Result<Option<Vec<EnabledRule>>, SetupError> {
        Ok(None)
    }

    /// Findings in a file that mean that the linter may have missed others there.
    fn masking(&self) -> Masking {
        Masking::SyntaxErrors
    }

    /// Returns where the linter runs, what it looks at, and how its reads are known.
    fn profile(&self) -> Profile {
        Profile::LOCAL
    }

    /// Bytes of memory that a job of it may take, as far as that is known.
    fn memory(&self) -> u64 {
        0
    }

    /// For a linter whose reads are not traced: one name for all of the view that its answers may rest on
    /// besides a unit's own text and what their read sets name. Views with equal names get equal answers.
    fn context(&self, _view: &Arc<dyn View>) -> Option<ContentHash> {
        None
    }

    /// The files, without those that `changed`, about which this linter may say something else because those
    /// changed. None for one that looks at nothing but the file itself and at configuration.
    fn dependents(&self, _view: &Arc<dyn View>, _changed: &[WorkspacePath]) -> Vec<WorkspacePath> {
        Vec::new()
    }

    /// Checks the job's units in order and hands over one outcome for each, by its index, exactly once,
    /// whatever happens: what cannot be computed is a `Failed` or `Pending` outcome.
    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome));
}

/// Findings that keep a linter from finding others in the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Masking {
    /// Findings with [`Tag::SyntaxError`](crate::Tag).
    SyntaxErrors,
    /// Any error: what cannot be compiled is not analysed.
    Errors,
    /// Findings that are not all reported, so that any file may have one.
    Unknown,
}

/// Names a linter and everything of it that may change an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    pub version: String,
    /// BLAKE3 of the linter's code, and of the settings it was given.
    pub digest: ContentHash,
}

/// Files that a linter wants to see: any of these is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interest {
    pub languages: Vec<String>,
    /// gitignore-style globs, matched against the workspace-relative path.
    pub globs: Vec<String>,
    /// Names of programs, as `bash`: files without an extension whose first line (`#!`) names one of them.
    pub interpreters: Vec<String>,
}

/// A file to check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub path: WorkspacePath,
    /// The file or folder named by the caller under which this file was found; the file itself if it was
    /// named. What is named is checked even where a linter's configuration leaves it out.
    pub named: WorkspacePath,
}

/// Work for one linter on one view.
pub struct Job {
    pub view: Arc<dyn View>,
    pub units: Vec<Unit>,
    pub cancel: Cancel,
    /// The longest that one unit may take.
    pub timeout: Duration,
    /// A person waits for the answer: where work queues, this goes before what no person waits for.
    pub is_awaited: bool,
}

/// Answer of a linter about one unit.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub diagnostics: Vec<Diagnostic>,
    /// Cells of a notebook, by number; empty for any other file.
    pub cells: Vec<CellText>,
    pub completeness: Completeness,
    /// The hash of the unit's own bytes that the answer is for; `None` if they could not be read.
    pub content: Option<ContentHash>,
    /// Reads of the linter besides the unit's own bytes.
    pub reads: Arc<ReadSet>,
    /// Limit on reuse of an answer that depends on more than a view shows; `None` if it depends on nothing else.
    pub lease: Option<Lease>,
    /// Whether some of the linter's analyses did not run on the unit, as in code that does not compile: a finding that
    /// is missing then is not fixed.
    pub aborted: bool,
    /// Whether another attempt would fail in the same way as long as the text and the reads are the same: for a configuration
    /// that cannot be used, and not for a lack of time.
    pub is_deterministic: bool,
    /// Why a file is `Excluded` that no configuration leaves out: it is a template, or more than the linter's parser knows. Of
    /// one that is `Complete`, why a part of it was not read: no linter can, and the file need not be changed for that.
    pub left_out: Option<String>,
}

impl Outcome {
    /// An answer that consists of the reason why there is none.
    pub fn without_findings(completeness: Completeness) -> Self {
        Self {
            diagnostics: Vec::new(),
            cells: Vec::new(),
            completeness,
            content: None,
            reads: Arc::default(),
            lease: None,
            aborted: false,
            is_deterministic: false,
            left_out: None,
        }
    }
}

/// Reuse of an answer that no read set describes: while the process that gave it lives, and for a limited time.
///
/// Such an answer is never written to a file.
#[derive(Debug, Clone)]
pub struct Lease {
    revoked: Cancel,
    until: Option<Instant>,
}

impl Lease {
    /// Ends when `revoked` is set, and after `longest`.
    pub fn new(revoked: Cancel, longest: Option<Duration>) -> Self {
        Self { revoked, until: longest.and_then(|it| Instant::now().checked_add(it)) }
    }

    pub fn holds(&self) -> bool {
        !self.revoked.is_cancelled() && self.until.is_none_or(|it| Instant::now() < it)
    }
}

/// Two leases are equal if they end together.
impl PartialEq for Lease {
    fn eq(&self, other: &Self) -> bool {
        self.revoked.is_same(&other.revoked) && self.until == other.until
    }
}

/// End of the reason of an answer that is not complete because files changed before it came: the same question again may have it.
pub const CHANGED: &str = "changed while it was checked";

/// Extent of an answer: only in a complete one does "no findings" mean that there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completeness {
    Complete,
    /// The linter's configuration leaves this file out, or [`Outcome::left_out`] says why the linter does.
    Excluded,
    /// The findings stand, but there may be more.
    Partial(String),
    /// Not computed yet.
    Pending(String),
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub code: String,
    pub name: String,
    pub summary: String,
    /// Markdown; empty if there is none.
    pub explanation: String,
    pub url: Option<String>,
    pub fix: FixAvailability,
    /// Whether the rule is on without configuration.
    pub default: bool,
}

/// A rule that is on for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnabledRule {
    pub code: String,
    pub because: Because,
}

/// Reason for which a rule is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because {
    /// The linter, where nothing else is said.
    Default,
    /// A configuration file of the linter's own.
    Configured(String),
    /// The selection that it was given.
    Selected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixAvailability {
    None,
    Sometimes,
    Always,
}

/// Reason for which a linter cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupError {
    pub linter: String,
    pub message: String,
    pub hint: Option<String>,
}

impl std::fmt::Display for SetupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for SetupError {}
