//! The seam between those who ask linters and those who have some.
//!
//! A kind of linters (plugins, language servers, commands) is a [`Provider`]; what it has for one workspace is a [`Catalog`], which
//! only [`Catalogs`](crate::Catalogs) asks. Nothing is started here.

mod diagnosis;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use check_engine::{Incomplete, MissingLinter, Router};
use config::{Selectors, SetupFailure};
use language_servers::Environment;
use lint::{Cancel, Rule};
use overlay::{Memory, View, WorkspacePath};

pub use self::diagnosis::{Diagnosis, Program, ProgramKind, Standing};
use crate::tools::with_tools;

/// A workspace whose linters are asked, whatever the view.
pub struct WorkspaceContext {
    /// Path of the workspace on the disk.
    pub root: PathBuf,
    /// View of the disk, which no branch can change, and which external programs see.
    pub disk: Arc<dyn View>,
    /// Environment that external programs are started with.
    pub environment: Environment,
    /// Linters whose tool is not there as `broker.lock` pins it.
    pub missing: Vec<MissingLinter>,
    /// Variables of the shell that asks; `None` if it is this process's.
    pub variables: Option<Arc<BTreeMap<String, String>>>,
    /// Read no configuration files.
    pub isolated: bool,
    /// Read this configuration file of a linter's own and no other.
    pub own_config: Option<WorkspacePath>,
}

/// Kind of a linter, by how it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinterKind {
    Plugin,
    /// A language server, or a checker that gets texts and answers as soon.
    Server,
    /// A command, run in a shadow folder.
    Command,
}

/// Provider of one kind of linters.
pub trait Provider: Send + Sync {
    fn kind(&self) -> LinterKind;

    /// Opens the linters for a workspace as `view` shows it. Blocks: configuration is read, and a plugin may be compiled.
    fn open(
        &self,
        context: &Arc<WorkspaceContext>,
        view: &Arc<dyn View>,
    ) -> Result<Box<dyn Catalog>, SetupFailure>;

    /// Ends the processes that it has started.
    fn shut_down(&self) {}
}

/// The linters of one kind that there could be in one state of a workspace.
pub trait Catalog: Send + Sync {
    /// All of them, also those that are not asked or cannot be used.
    fn names(&self) -> Result<Vec<LinterName>, SetupFailure>;

    /// Selects the linters that are asked with these selectors.
    fn select(&self, selectors: &Selectors) -> Result<Selected, SetupFailure>;

    /// Linters of other kinds in whose place linters of this one are asked where this is selected, whatever kinds a request is for,
    /// each with the globs of files where.
    fn replaced(&self, _selectors: &Selectors) -> Result<Vec<(String, Vec<String>)>, SetupFailure> {
        Ok(Vec::new())
    }

    /// Every rule of one linter, selected or not; `None` if there is no linter of this name.
    fn rules(&self, linter: &str) -> Result<Option<Rules>, SetupFailure>;

    /// Whether a linter whose rules cannot be listed is for this workspace, so that an unknown rule may be its.
    fn has_open_rules(&self) -> Result<bool, SetupFailure> {
        Ok(false)
    }

    /// Why each of them is asked where this is selected, or why not.
    fn diagnose(&self, selectors: &Selectors) -> Result<Vec<Diagnosis>, SetupFailure>;

    /// The version that a linter tells once it is started; `None` if there is no such linter, or nothing to be started.
    fn version(&self, _linter: &str, _deadline: Instant, _cancel: &Cancel) -> Option<Result<String, String>> {
        None
    }

    /// Linters that cannot be used, without which no answer is complete.
    fn broken(&self) -> Vec<Incomplete> {
        Vec::new()
    }
}

/// Name of a linter, and whether its rules can be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinterName {
    pub name: String,
    pub rules: RuleSet,
}

/// Rule set of a linter: known if its rules can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSet {
    Known,
    /// The linter may have rules of any name.
    Open,
}

/// Result of a selection.
#[derive(Clone)]
pub struct Selected {
    /// The linters that are asked, those that are missed, and those of which nothing is selected.
    pub router: Arc<Router>,
    /// For each linter whose rules are known, the selectors for it that mean nothing to it.
    pub unknown: Vec<(String, Vec<String>)>,
}

/// The rules of a linter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rules {
    Known(Vec<Rule>),
    /// The linter cannot list its rules.
    Open,
}

impl WorkspaceContext {
    /// No workspace at all.
    pub fn nowhere() -> Self {
        Self::of_shell(Path::new(""), Arc::new(Memory::default()))
    }

    pub(crate) fn is_nowhere(&self) -> bool {
        self.root.as_os_str().is_empty()
    }

    /// A workspace for a command of the user's own shell.
    pub fn of_shell(root: &Path, disk: Arc<dyn View>) -> Self {
        let (environment, missing) = with_tools(Environment::of_shell(), &*disk);
        let (variables, own_config) = (None, None);
        Self { root: root.to_owned(), disk, environment, missing, variables, isolated: false, own_config }
    }
}

impl LinterName {
    pub fn known(name: impl Into<String>) -> Self {
        Self { name: name.into(), rules: RuleSet::Known }
    }

    pub fn open(name: impl Into<String>) -> Self {
        Self { name: name.into(), rules: RuleSet::Open }
    }
}

impl Rules {
    /// Rules that can be listed; empty for an open set.
    pub fn listed(self) -> Vec<Rule> {
        match self {
            Self::Known(rules) => rules,
            Self::Open => Vec::new(),
        }
    }
}
