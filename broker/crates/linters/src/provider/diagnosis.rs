//! Facts about a linter that are available without asking it about a file.

use std::path::PathBuf;

use check_engine::{Router, SharedLinter};
use overlay::{View, WorkspacePath};

use crate::Way;

/// A linter that there could be in a workspace, and why it is asked or not.
pub struct Diagnosis {
    pub name: String,
    /// Empty if it has to be started to tell.
    pub version: String,
    /// Languages that the linter is for; empty if it is for any file.
    pub languages: Vec<String>,
    pub standing: Standing,
    /// `None` if it runs in Broker itself.
    pub program: Option<Program>,
    files: FilesOf,
}

/// For a file that it covers, the language that it takes the file for, if any.
type FilesOf = Box<dyn Fn(&dyn View, &WorkspacePath) -> Option<Option<String>> + Send + Sync>;

/// A linter's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub kind: ProgramKind,
    /// Path of the program; `None` if it is not installed.
    pub path: Option<PathBuf>,
    /// Way in which it runs here, or the reason why it does not.
    pub way: Result<Way, String>,
    /// Instructions to install the program.
    pub install: String,
    /// Findings that users may expect of the program and that it does not report, and what reports them.
    pub limits: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramKind {
    LanguageServer,
    /// A command that runs for each check.
    Command,
}

/// Why a linter is asked (the first four), or why it is not. Whether it is installed and trusted is another question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The linter is for every workspace.
    Always,
    /// The configuration names it.
    Named,
    /// The project has chosen just this linter, by this file or table of a TOML file.
    Configured { marker: String },
    /// The project is of a kind that it is for, by this file or table of a TOML file, and it goes first.
    Project { marker: String },
    /// The configuration names others, or none, though the project may have this file or table of a file for it.
    NotNamed { marker: Option<String> },
    /// A plugin does the same, though this file names another version than the plugin's.
    OtherVersion { version: String, marker: String },
    /// Another linter does the same.
    Instead { linter: String },
    /// The project has none of these. With no markers at all it is only asked if it is named.
    NotConfigured { markers: Vec<String> },
    /// The linter would be asked, but none of its rules are selected.
    NotSelected,
    /// The linter cannot be used, for this reason.
    Broken(String),
}

impl Standing {
    pub fn is_asked(&self) -> bool {
        match self {
            Self::Always | Self::Named | Self::Configured { .. } | Self::Project { .. } => true,
            Self::NotNamed { .. }
            | Self::OtherVersion { .. }
            | Self::Instead { .. }
            | Self::NotConfigured { .. }
            | Self::NotSelected
            | Self::Broken(_) => false,
        }
    }
}

impl Diagnosis {
    /// Diagnosis of a linter that runs in Broker itself.
    pub fn of_linter(linter: SharedLinter, standing: Standing) -> Self {
        let identity = linter.identity();
        let languages = linter.interest().languages.clone();
        let (first, router) = (languages.first().cloned(), Router::new(&[SharedLinter::clone(&linter)]));
        Self {
            name: identity.name.clone(),
            version: identity.version.clone(),
            languages,
            standing,
            program: None,
            files: Box::new(move |view, path| router.linters_for(view, path).first().map(|_| first.clone())),
        }
    }

    /// Diagnosis of one that does not work.
    pub fn of_broken(name: &str, reason: String) -> Self {
        Self {
            name: name.to_owned(),
            version: String::new(),
            languages: Vec::new(),
            standing: Standing::Broken(reason),
            program: None,
            files: Box::new(|_, _| None),
        }
    }

    /// Diagnosis of one that runs outside. `files` says for a file that it covers, which language it takes the file for, if any.
    pub fn of_program(
        name: String,
        languages: Vec<String>,
        standing: Standing,
        program: Program,
        files: impl Fn(&WorkspacePath) -> Option<Option<String>> + Send + Sync + 'static,
    ) -> Self {
        let files = Box::new(move |_: &dyn View, path: &WorkspacePath| files(path));
        Self { name, version: String::new(), languages, standing, program: Some(program), files }
    }

    /// Whether the linter may have findings in the file.
    pub fn covers(&self, view: &dyn View, path: &WorkspacePath) -> bool {
        (self.files)(view, path).is_some()
    }

    /// The language that it takes the file for, if it covers it and knows languages.
    pub fn language(&self, view: &dyn View, path: &WorkspacePath) -> Option<String> {
        (self.files)(view, path).flatten()
    }
}
