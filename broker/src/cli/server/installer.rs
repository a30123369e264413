//! Installation of tools that a workspace pins, with messages for a person.

use std::collections::BTreeSet;

use linters::tools;
use tool_store::{
    Catalogue, Error, Executes, LockedTool, NODE, Package, Plan, Registries, Runtime, Store, Target, Tool,
    UserSettings,
};

use super::super::{Session, words};
use crate::{CliError, progress::Progress};

/// The oldest Node that the tools run with.
const OLDEST_NODE: u32 = 20;

/// All that an installation of tools on this machine needs.
pub(super) struct Installer {
    store: Store,
    registries: Registries,
    target: Target,
    /// Whether there is a Node that is new enough.
    has_node: bool,
}

/// Result of several installations.
#[derive(Default)]
pub(super) struct Done {
    /// A line for each installed tool.
    pub(super) installed: Vec<String>,
    /// Number of those that were there before.
    pub(super) there: usize,
    pub(super) failed: BTreeSet<String>,
}

impl Installer {
    pub(super) fn new(session: &Session) -> Result<Self, CliError> {
        let nowhere = || CliError::files("there is no folder for data: set HOME or BROKER_DATA_DIR");
        let settings =
            UserSettings { home: session.process_context.home.clone(), ..UserSettings::of_process() };
        let unknown = || CliError::usage("no tools are available for this platform");
        Ok(Self {
            store: tools::store().ok_or_else(nowhere)?,
            target: Target::here(&settings).ok_or_else(unknown)?,
            has_node: settings.node().is_some_and(|it| it >= OLDEST_NODE),
            registries: Registries::new(settings),
        })
    }

    /// A tool at a version, or at that of the catalogue, with its files. The registry is asked for those of other versions.
    pub(super) fn locked(
        &self,
        tool: &Tool,
        version: Option<&str>,
        session: &Session,
    ) -> Result<LockedTool, CliError> {
        let unknown = || CliError::usage(format!("{} is in no registry", tool.name));
        let known = tool.locked().ok_or_else(unknown)?;
        match (version.filter(|it| *it != known.version), &tool.package) {
            (Some(version), Some(package)) => {
                let cancel = &session.process_context.cancel;
                let found = self.registries.at_version(tool, package, version, cancel);
                found.map_err(|error| cli_error(&error))
            }
            _ => Ok(known),
        }
    }

    /// The plans of the tools of these names, and of Node where it is needed.
    pub(super) fn plans(
        &self,
        pinned: &[LockedTool],
        names: &[String],
    ) -> Vec<(String, Result<Plan, CliError>)> {
        let needs_node = !self.has_node && names.iter().any(|it| is_of_node(it));
        let is_meant = |it: &LockedTool| match it.name.as_str() {
            NODE if needs_node => true,
            name => names.iter().any(|it| it == name),
        };
        let plan = |it: &LockedTool| {
            let plan = Plan::of_pinned(it, &self.target).map_err(CliError::usage);
            (it.name.clone(), plan)
        };
        pinned.iter().filter(|it| is_meant(it)).map(plan).collect()
    }

    /// Installs all of them. One that cannot be had does not keep the others from being fetched.
    pub(super) fn install(&self, pinned: &[LockedTool], names: &[String], session: &Session) -> Done {
        let (mut done, cancel) = (Done::default(), &session.process_context.cancel);
        for (name, plan) in self.plans(pinned, names) {
            // The one that was interrupted said so.
            if cancel.is_cancelled() {
                done.failed.insert(name);
                continue;
            }
            match plan.and_then(|it| Ok((self.install_one(&it, session)?, it))) {
                Ok((was_there, plan)) => {
                    done.there += usize::from(was_there);
                    done.installed.push(in_words(&plan, was_there));
                }
                Err(error) => {
                    session.messages.error(&error);
                    done.failed.insert(name);
                }
            }
        }
        done
    }

    /// A line for each of the tools that would be installed.
    pub(super) fn described(&self, pinned: &[LockedTool], names: &[String]) -> Result<String, CliError> {
        let plans = self.plans(pinned, names).into_iter().map(|it| it.1);
        let new = plans.filter(|it| !it.as_ref().is_ok_and(|it| self.store.has(it)));
        new.map(|it| it.map(|it| described(&it))).collect()
    }

    /// Returns whether it was there before.
    fn install_one(&self, plan: &Plan, session: &Session) -> Result<bool, CliError> {
        if !self.store.has(plan) {
            let size = words::bytes(plan.size());
            session.messages.line(&format!("fetching {} {} ({size})", plan.name, plan.version));
        }
        let progress = Progress::of_download(session.messages.clone(), session.process_context.watched);
        let on_progress = |it: tool_store::Progress| progress.update(it.received, it.total);
        let installed =
            self.store.install(plan, &self.registries, &on_progress, &session.process_context.cancel);
        progress.end();
        installed.map(|it| it.was_there).map_err(|error| cli_error(&error))
    }
}

pub(super) fn is_of_node(name: &str) -> bool {
    Catalogue::own().find(name).is_some_and(|it| it.runtime == Some(Runtime::Node))
}

fn cli_error(error: &Error) -> CliError {
    let told = match error {
        Error::NoSpace { .. } | Error::Io { .. } => CliError::files(error.to_string()),
        _ => CliError::fetch(error.to_string()),
    };
    match error.hint() {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

/// `ty 0.0.108 (16 MiB, MIT)`
fn in_words(plan: &Plan, was_there: bool) -> String {
    let size = if was_there { "there already".to_owned() } else { words::bytes(plan.size()) };
    let licence = Catalogue::own().find(&plan.name).map_or("", |it| &it.licence);
    format!("{} {} ({size}, {licence})", plan.name, plan.version)
}

fn described(plan: &Plan) -> String {
    let Some(tool) = Catalogue::own().find(&plan.name) else { return String::new() };
    let package = tool.package.as_ref().map(|it| Package { version: plan.version.clone(), ..it.clone() });
    let package = package.map(|it| it.to_string()).unwrap_or_default();
    let executes = executes(tool.executes);
    let (size, licence) = (words::bytes(plan.size()), &tool.licence);
    format!(
        "would add {} {}: {size}, {licence}, from {package}; it executes {executes} of a workspace\n",
        plan.name, plan.version
    )
}

pub(super) fn executes(it: Executes) -> &'static str {
    match it {
        Executes::Nothing => "nothing",
        Executes::Configuration => "configuration",
        Executes::BuildScripts => "build scripts",
    }
}

#[cfg(test)]
mod tests {
    use tool_store::Platform;

    use super::*;

    #[test]
    fn what_is_added_is_described() {
        let target = Target { platform: Platform::LinuxX64, python: None };
        let locked = |name: &str| Catalogue::own().find(name).unwrap().locked().unwrap();
        let [eslint, mut ty] = ["eslint", "ty"].map(locked);
        let lines = ty.files.iter().map(|it| it.to_string().replace("ty@0.0.108", "ty@0.0.1"));
        (ty.files, ty.version) = (lines.map(|it| it.parse().unwrap()).collect(), "0.0.1".to_owned());
        let all = [eslint, ty];
        let described = |it| described(&Plan::of_pinned(it, &target).unwrap());
        let text: String = all.iter().map(described).collect();
        insta::assert_snapshot!(text, @"
        would add eslint 10.15.0: 2 MiB, MIT, from npm:eslint@10.15.0; it executes configuration of a workspace
        would add ty 0.0.1: 16 MiB, MIT, from pypi:ty@0.0.1; it executes nothing of a workspace
        ");
    }
}
