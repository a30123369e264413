//! Linters of a workspace and what is missing, as data. The comments here are the descriptions in the JSON Schema of it.

use std::path::Path;

use linters::{Level, Program, ProgramKind, Standing, Way};
use schemars::JsonSchema;
use serde::Serialize;

use super::language_stats::LanguageStats;
use crate::client;

/// Who checks a workspace, and what is missing for it. Fields may be added.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Diagnosis {
    /// Version of this format.
    version: u32,
    /// The workspace's folder.
    pub(super) root: String,
    /// Whether programs may run code of it.
    pub(super) trusted: bool,
    /// Whether all that Broker knows may run confined in it, also what runs code of it.
    pub(super) confined: bool,
    /// Whether `servers.use` in `broker.toml` says which language servers are asked. Else the project's files do.
    pub(super) named: bool,
    /// How many files there are.
    pub(super) files: u64,
    /// The plugins that take part.
    pub(super) plugins: Vec<Plugin>,
    /// That with the most files first; files of no language last.
    pub(super) languages: Vec<Language>,
    /// Those that there are files for, and those that are to be asked anyway.
    pub(super) servers: Vec<Server>,
    /// How `broker run` runs commands here; `null` if that was not looked at.
    pub(super) runs: Option<Runs>,
    /// What is to be used and is not there.
    pub(super) missing: Vec<Missing>,
    /// The servers that are used and that the running daemon, which was started with another `PATH`, finds in
    /// another place than this command, or that only one of them finds.
    pub(super) elsewhere: Vec<Elsewhere>,
}

/// How `broker run` runs commands in this workspace on this system, which was tried.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Runs {
    /// How the folder is made that a command runs in, such as `overlayfs` or `copy`; `null` if it cannot be made.
    pub(super) backend: Option<String>,
    /// Whether commands are isolated from the system.
    pub(super) isolated: bool,
    /// What cannot be promised.
    pub(super) lacks: Vec<String>,
    /// Why commands cannot be isolated.
    pub(super) error: Option<String>,
    /// What makes this system isolate them.
    pub(super) remedy: Option<String>,
}

/// What the running daemon finds, which is asked about branches.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Elsewhere {
    /// The name of a language server.
    pub(super) server: String,
    /// The program that the daemon finds; `null` if none.
    pub(super) program: Option<String>,
}

/// A plugin.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Plugin {
    pub(super) name: String,
    pub(super) version: String,
    /// What it is for; nothing for any file.
    pub(super) languages: Vec<String>,
}

/// The files of one language.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Language {
    /// `null` for files that are in none.
    pub(super) name: Option<String>,
    /// How many.
    pub(super) files: u64,
    /// The plugins that check some of them, by name.
    pub(super) plugins: Vec<String>,
    /// The language servers that could check some of them, by name.
    pub(super) servers: Vec<String>,
}

/// An external linter: a language server or a checker.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Whether it is asked, once it is there and may run.
    pub(super) used: bool,
    /// Why it is used, or why it is not.
    pub(super) reason: Reason,
    /// Its program; `null` if it is not installed.
    pub(super) program: Option<String>,
    /// As it calls itself, if it was started to ask for that. `null` for a command of which it is not known how to ask.
    pub(super) version: Option<String>,
    /// Why it could not be started.
    pub(super) error: Option<String>,
    /// Whether it runs confined, so that it needs no trust.
    pub(super) confined: bool,
    /// Why it may not run.
    pub(super) refused: Option<String>,
    /// How many files there are for it.
    pub(super) files: u64,
    /// How to install it.
    pub(super) install: String,
    /// What one may expect of it that it does not tell, and what does.
    pub(super) limits: Option<String>,
    /// What it says is wrong with it, where the running daemon has asked it.
    pub(super) unwell: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// A language server.
    Server,
    /// A command that runs for each check, in a shadow folder.
    Checker,
}

/// Why a server is used (the first three), or why it is not.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Reason {
    /// `servers.use` names it, or there is a table `checkers.NAME`.
    Named,
    /// The project has chosen just this server, by this file or table of a TOML file.
    Configured { marker: String },
    /// The project is of a kind that it is for, by this file or table of a TOML file, and it goes first.
    Project { marker: String },
    /// `servers.use` names others, or none, or there is no table `checkers.NAME`.
    NotNamed {
        /// File or table of a TOML file by which the project configures it all the same.
        #[serde(skip_serializing_if = "Option::is_none")]
        marker: Option<String>,
    },
    /// A plugin is asked instead, though this file names another version than the plugin's.
    OtherVersion { version: String, marker: String },
    /// Another one checks the types of this language.
    Instead { server: String },
    /// The project has none of these. With no markers at all it is only used if it is named.
    NotConfigured { markers: Vec<String> },
    /// It would be used, but `select` in `broker.toml` leaves it out.
    NotSelected,
}

/// Something to be used that is not there.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Missing {
    /// The name of an external linter, or `trust`.
    pub(super) what: String,
    /// What is wrong, in a few words.
    pub(super) why: String,
    /// The command that helps.
    pub(super) remedy: String,
}

impl Diagnosis {
    pub(super) fn new(root: &Path, named: bool, stats: LanguageStats, servers: Vec<Server>) -> Self {
        let LanguageStats { files, languages, plugins, .. } = stats;
        Self {
            version: 1,
            root: root.to_string_lossy().into_owned(),
            trusted: false,
            confined: false,
            named,
            files,
            plugins,
            languages,
            servers,
            runs: None,
            missing: Vec::new(),
            elsewhere: Vec::new(),
        }
    }

    pub(super) fn level(&mut self, level: Level) {
        self.trusted = level == Level::Trusted;
        self.confined = level == Level::Confined;
    }

    /// Adds the problem that a server of the daemon reports of itself.
    pub(super) fn keep_unwell(&mut self, name: &str, unwell: String) {
        let named = self.servers.iter_mut().filter(|it| it.name == name);
        named.for_each(|it| it.unwell = Some(unwell.clone()));
    }

    /// Adds the programs that the daemon finds for servers that are used.
    pub(super) fn keep_elsewhere(&mut self, all: Vec<client::Elsewhere>) {
        let is_used = |it: &client::Elsewhere| self.servers.iter().any(|of| of.used && of.name == it.server);
        let elsewhere = |it: client::Elsewhere| Elsewhere {
            server: it.server,
            program: it.by_daemon.map(|it| it.to_string_lossy().into_owned()),
        };
        self.elsewhere = all.into_iter().filter(is_used).map(elsewhere).collect();
    }

    /// Whether the daemon lacks a server that is used, so that checks of branches are not complete.
    pub(super) fn daemon_misses_some(&self) -> bool {
        self.elsewhere.iter().any(|it| it.program.is_none())
    }

    /// Adds what is missing, and returns the whole.
    pub(super) fn finish(mut self) -> Self {
        let is_used = |it: &&Server| it.used && it.files > 0;
        let missing: Vec<_> = self.servers.iter().filter(is_used).filter_map(Server::missing).collect();
        let is_named =
            |it: &&Server| it.used && it.refused.is_some() && (self.named || it.kind == Kind::Checker);
        let named: Vec<_> = self.servers.iter().filter(is_named).map(|it| it.name.as_str()).collect();
        if !self.trusted && !named.is_empty() {
            let why = format!("{} may run only in a workspace that is trusted", named.join(", "));
            self.missing.push(Missing { what: "trust".to_owned(), why, remedy: self.how_to_trust() });
        }
        self.missing.extend(missing);
        self
    }

    pub(super) fn how_to_trust(&self) -> String {
        let is_plain = |it: char| it.is_alphanumeric() || "/._-+".contains(it);
        match self.root.chars().all(is_plain) {
            true => format!("broker trust {}", self.root),
            false => format!("broker trust '{}'", self.root.replace('\'', r"'\''")),
        }
    }
}

impl Plugin {
    pub(super) fn of(it: &linters::Diagnosis) -> Self {
        Self { name: it.name.clone(), version: it.version.clone(), languages: it.languages.clone() }
    }
}

impl Server {
    pub(super) fn new(name: &str, reason: Reason, program: &Program, files: u64) -> Self {
        Self {
            name: name.to_owned(),
            kind: match program.kind {
                ProgramKind::LanguageServer => Kind::Server,
                ProgramKind::Command => Kind::Checker,
            },
            used: reason.is_for_it(),
            reason,
            program: program.path.as_ref().map(|it| it.to_string_lossy().into_owned()),
            version: None,
            error: None,
            confined: program.way == Ok(Way::Confined),
            refused: program.way.as_ref().err().cloned(),
            files,
            install: program.install.clone(),
            limits: program.limits.clone(),
            unwell: None,
        }
    }

    pub(super) fn keep_version(&mut self, version: Result<String, String>) {
        match version {
            Ok(version) => self.version = Some(version).filter(|it| !it.is_empty()),
            Err(error) => self.error = Some(error),
        }
    }

    fn missing(&self) -> Option<Missing> {
        let why = match (&self.program, &self.error) {
            (None, _) => "not installed".to_owned(),
            (Some(_), Some(error)) => format!("does not start ({error})"),
            (Some(_), None) => return None,
        };
        Some(Missing { what: self.name.clone(), why, remedy: self.install.clone() })
    }
}

impl Reason {
    fn is_for_it(&self) -> bool {
        matches!(self, Self::Named | Self::Configured { .. } | Self::Project { .. })
    }

    /// Converts the standing of a program; `None` for one that only linters in Broker itself have.
    pub(super) fn of(standing: &Standing) -> Option<Self> {
        Some(match standing.clone() {
            Standing::Named => Self::Named,
            Standing::Configured { marker } => Self::Configured { marker },
            Standing::Project { marker } => Self::Project { marker },
            Standing::NotNamed { marker } => Self::NotNamed { marker },
            Standing::OtherVersion { version, marker } => Self::OtherVersion { version, marker },
            Standing::Instead { linter } => Self::Instead { server: linter },
            Standing::NotConfigured { markers } => Self::NotConfigured { markers },
            Standing::NotSelected => Self::NotSelected,
            Standing::Always | Standing::Broken(_) => return None,
        })
    }
}

/// The schema of the JSON.
#[cfg(test)]
pub(super) fn schema() -> serde_json::Value {
    let mut schema =
        schemars::SchemaGenerator::from(schemars::generate::SchemaSettings::draft2020_12().for_serialize())
            .into_root_schema_for::<Diagnosis>()
            .to_value();
    schema["title"] = "broker doctor --output-format json".into();
    schema
}
