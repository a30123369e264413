//! Tools that are to be pinned, each at a version that the user asks for, that the project's files name, or that this Broker knows.

use std::collections::BTreeSet;

use config::closest;
use overlay::{View, WorkspacePath};
use tool_store::{Catalogue, Kind, LockedTool, Recommendation, Tool, demanded, recommended};

use super::{super::Session, installer::Installer};
use crate::CliError;

/// A tool that is to be pinned.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) tool: &'static Tool,
    /// Version that the user asks for.
    asked: Option<String>,
    /// Version that the project's files name.
    named: Option<String>,
}

impl Chosen {
    pub(super) fn of_project(tool: &'static Tool, view: &dyn View) -> Self {
        let named = demanded(tool, view, &WorkspacePath::root()).map(|it| it.version);
        Self { tool, asked: None, named }
    }

    /// Reads `NAME` or `NAME@VERSION`.
    fn parse(text: &str, view: &dyn View) -> Result<Self, CliError> {
        let (name, version) =
            text.split_once('@').map_or((text, None), |(name, version)| (name, Some(version)));
        let it = Self::of_project(known(name)?, view);
        let is_exact = |it: &str| {
            it.starts_with(|it: char| it.is_ascii_digit())
                && it.chars().all(|it| it.is_ascii_alphanumeric() || "._-+".contains(it))
        };
        match version {
            Some(version) if !is_exact(version) => {
                let error = CliError::usage(format!("`{version}` is no version of {name}"));
                Err(error.hint("a version is exact, as in `ruff@0.15.9`"))
            }
            version => Ok(Self { asked: version.map(str::to_owned), ..it }),
        }
    }

    /// The pinned tool, if it stays: the user asks for no version, and the project's files name no other.
    pub(super) fn kept<'l>(&self, pinned: &'l [LockedTool]) -> Option<&'l LockedTool> {
        let is_named = |it: &LockedTool| self.named.as_ref().is_none_or(|named| *named == it.version);
        find(&self.tool.name, pinned).filter(|it| self.asked.is_none() && (it.exact || is_named(it)))
    }

    /// The tool with its files. Those of a version that is pinned already are known.
    pub(super) fn locked(
        &self,
        pinned: &[LockedTool],
        installer: &Installer,
        session: &Session,
    ) -> Result<LockedTool, CliError> {
        let version = self.asked.as_ref().or(self.named.as_ref());
        let exact = self.asked.is_some() && self.asked != self.named;
        let there = find(&self.tool.name, pinned).filter(|it| Some(&it.version) == version);
        let locked = match there {
            Some(it) => it.clone(),
            None => installer.locked(self.tool, version.map(String::as_str), session)?,
        };
        Ok(LockedTool { exact, ..locked })
    }
}

/// The tools that the user names, and with `and_recommended` those that the workspace asks for.
pub(super) fn chosen(
    names: &[String],
    and_recommended: bool,
    disk: &dyn View,
    session: &Session,
) -> Result<Vec<Chosen>, CliError> {
    let mut tools: Vec<_> = names.iter().map(|it| Chosen::parse(it, disk)).collect::<Result<_, _>>()?;
    if and_recommended {
        let found = recommended(Catalogue::own(), disk);
        if found.is_empty() {
            session.messages.line("nothing in this workspace asks for a tool");
        }
        for Recommendation { tool, file, version } in found {
            let at = version.as_ref().map(|it| format!("@{it}")).unwrap_or_default();
            session.messages.line(&format!("{}{at}: for {file}", tool.name));
            tools.push(Chosen { tool, asked: None, named: version });
        }
    }
    let mut seen = BTreeSet::new();
    tools.retain(|it| seen.insert(&it.tool.name));
    Ok(tools)
}

pub(super) fn find<'l>(name: &str, pinned: &'l [LockedTool]) -> Option<&'l LockedTool> {
    pinned.iter().find(|it| it.name == name)
}

fn known(name: &str) -> Result<&'static Tool, CliError> {
    let catalogue = Catalogue::own();
    let runtime = || CliError::usage(format!("{name} is installed with the tools that need it"));
    let found = catalogue.find(name).map(|it| if it.kind == Kind::Runtime { Err(runtime()) } else { Ok(it) });
    found.unwrap_or_else(|| {
        let error = CliError::usage(format!("no tool `{name}` is known"));
        Err(match closest(name, catalogue.tools.iter().map(|it| it.name.as_str())) {
            Some(close) => error.hint(format!("did you mean `{close}`?")),
            None => error.hint("`broker server list --tools` has them all"),
        })
    })
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    const HOOKS: &str = "- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: v0.15.9\n";

    fn parsed(text: &str) -> Result<Chosen, CliError> {
        Chosen::parse(text, &Memory::from_files([(".pre-commit-config.yaml", HOOKS)]).unwrap())
    }

    #[test]
    fn unknown_names_come_with_the_closest() {
        let unknown = |name: &str| parsed(name).unwrap_err();
        assert_eq!(unknown("node").message, "node is installed with the tools that need it");
        let error = unknown("pyrihgt");
        assert_eq!(
            (error.message.as_str(), error.hint.as_deref()),
            ("no tool `pyrihgt` is known", Some("did you mean `pyright`?"))
        );
        for wrong in ["ruff@", "ruff@^1", "ruff@latest", "ruff@>=1", "ruff@1/2"] {
            assert!(unknown(wrong).message.ends_with("` is no version of ruff"), "{wrong}");
        }
    }

    #[test]
    fn a_tool_that_is_pinned_stays_where_nothing_asks_for_another() {
        let locked = |version: &str, exact| {
            let locked = Catalogue::own().find("ruff").unwrap().locked().unwrap();
            [LockedTool { version: version.to_owned(), exact, ..locked }]
        };
        let stays =
            |name: &str, version: &str, exact| parsed(name).unwrap().kept(&locked(version, exact)).is_some();
        assert!(stays("ruff", "0.15.9", false) && stays("ruff", "0.15.2", true));
        assert!(!stays("ruff", "0.15.2", false) && !stays("ruff@0.15.2", "0.15.9", true));
    }
}
