//! External linters of a workspace: what language servers and checkers have in common. They run as `confine.rs` says, are defined in
//! the configuration of a workspace that is trusted, and may not be installed.

use std::{borrow::Cow, collections::BTreeMap, path::Path, path::PathBuf};

use check_engine::{Absent, MissingLinter, Need};
use config::SetupFailure;
use external_tools::Tool;
use lint::SetupError;
use overlay::WorkspacePath;
use serde::Serialize;

use crate::{
    confine::{Level, Way, not_trusted},
    provider::{Diagnosis, Program, ProgramKind, Standing},
};

/// One kind of external linters, with their definitions.
pub(crate) struct Kind<T: 'static> {
    /// Definitions that Broker has.
    pub(crate) known: fn() -> &'static [T],
    /// Makes one of a name and a definition.
    pub(crate) define: fn(&str, toml::Table) -> Result<T, String>,
    pub(crate) tool: fn(&T) -> &Tool,
    /// Table of the configuration in which they are defined.
    pub(crate) table: &'static str,
}

impl<T: Clone> Kind<T> {
    /// All that Broker has and the configuration defines. Unless the workspace is trusted, nothing counts that it says of those that
    /// Broker has.
    pub(crate) fn with_defined<D: Serialize>(
        &self,
        definitions: &BTreeMap<String, D>,
        level: Level,
    ) -> Result<Cow<'static, [T]>, SetupFailure> {
        // Each check asks, and a copy of the definitions takes longer than the rest.
        let mut all = Cow::Borrowed((self.known)());
        for (name, definition) in definitions {
            let definition = toml::Table::try_from(definition).map_err(|error| error.to_string());
            let defined = definition.and_then(|it| (self.define)(name, it));
            let defined = defined.map_err(|why| self.wrong(name, &why))?;
            let own = all.to_mut();
            match own.iter_mut().find(|it| (self.tool)(it).name == *name) {
                Some(known) if level == Level::Trusted => *known = defined,
                Some(_) => {}
                None => own.push(defined),
            }
        }
        Ok(all)
    }

    /// Entries for definitions that do not count in a workspace which is not trusted, by linter.
    pub(crate) fn passed_over<D: Serialize>(
        &self,
        definitions: &BTreeMap<String, D>,
        level: Level,
        root: &Path,
    ) -> BTreeMap<String, MissingLinter> {
        let says_more = |it: &D| toml::Table::try_from(it).is_ok_and(|it| !it.is_empty());
        let of = |it: &T| {
            let tool = (self.tool)(it);
            let definition = definitions.get(&tool.name)?;
            let linter = format!("[{}.{}] of broker.toml", self.table, tool.name);
            let ignored = MissingLinter { linter, ..missing(tool, Need::Optional, not_trusted(root)) };
            says_more(definition).then(|| (tool.name.clone(), ignored))
        };
        let known = (self.known)().iter().filter(|_| level != Level::Trusted);
        known.filter_map(of).collect()
    }

    fn wrong(&self, name: &str, why: &str) -> SetupFailure {
        let failure = SetupFailure::new(format!("{}.{name}, in `broker.toml`: {why}", self.table));
        match self.closest(name, (self.known)()).filter(|it| *it != name) {
            Some(close) => failure.hint(format!("did you mean `{close}`?")),
            None => failure,
        }
    }

    pub(crate) fn closest<'t>(&self, name: &str, all: &'t [T]) -> Option<&'t str> {
        config::closest(name, all.iter().map(|it| (self.tool)(it).name.as_str()))
    }
}

pub(crate) fn absent(tool: &Tool, has_own_rules: bool) -> Absent {
    Absent { globs: tool.globs.clone(), interpreters: Vec::new(), has_own_rules }
}

pub(crate) fn missing(tool: &Tool, need: Need, reason: String) -> MissingLinter {
    MissingLinter { linter: tool.name.clone(), globs: tool.globs.clone(), reason, need, marker: None }
}

/// An error and its hint as one sentence, without the linter's name.
pub(crate) fn why_not(error: SetupError) -> String {
    let message = error.message.strip_prefix(&format!("{} is ", error.linter)).unwrap_or(&error.message);
    match error.hint {
        Some(hint) => format!("{message}: {hint}"),
        None => message.to_owned(),
    }
}

/// Error for a tool whose program was not found. `is_elsewhere`: where it would be looked for if the workspace were trusted there is one.
pub(crate) fn not_found(tool: &Tool, is_elsewhere: bool, way: Result<Way, String>) -> SetupError {
    let failed = |message, hint| SetupError { linter: tool.name.clone(), message, hint };
    match (is_elsewhere, way) {
        (false, _) => tool.not_installed(),
        (true, Err(why)) => failed(why, None),
        (true, Ok(_)) => failed(
            "only the workspace has its program, which does not run before it is trusted".to_owned(),
            Some(format!("see `broker trust`; to have another one: {}", tool.install)),
        ),
    }
}

/// Diagnosis of a tool whose program is at `path`. `language` is that of a file that it checks.
pub(crate) fn diagnosis(
    tool: &Tool,
    kind: ProgramKind,
    path: Option<PathBuf>,
    standing: Standing,
    way: Result<Way, String>,
    language: impl Fn(&WorkspacePath) -> Option<Option<String>> + Send + Sync + 'static,
) -> Diagnosis {
    let program = Program { kind, path, way, install: tool.install.clone(), limits: tool.limits.clone() };
    Diagnosis::of_program(tool.name.clone(), tool.languages.clone(), standing, program, language)
}
