//! `broker server add`, `update`, `install` and `remove`: the tools of the store that a workspace pins in `broker.lock`.

use std::{collections::BTreeSet, path::Path};

use config::closest;
use linters::{Level, Permissions, tools};
use overlay::Disk;
use tool_store::{Catalogue, Kind, LockedTool, NODE, Tool};

use super::{
    super::{Session, plugin::project::Project},
    chosen::{Chosen, chosen, find},
    installer::{Done, Installer, is_of_node},
};
use crate::{CliError, Exit};

/// Add language servers and checkers to the workspace, from the package registries
///
/// Fetches each at the version that the project's own files name, or else at the one that this Broker knows, by the settings of npm and
/// pip, verifies its digest and unpacks it into the user's store. No script of a package is run. `broker.lock` pins the version, so that
/// everybody has the same: `broker server install` fetches it on another machine. The servers and checkers of this workspace find it before
/// `PATH`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker server add ty shellcheck
  broker server add ruff@0.15.9
  broker server add --recommended --dry-run
  broker server list --tools")]
pub(super) struct AddArgs {
    /// Names of tools; `broker server list --tools` has them all. With `@` and a version, that of the registry, for tools that are one
    /// package
    #[arg(required_unless_present = "recommended", value_name = "NAME[@VERSION]")]
    name: Vec<String>,

    /// Add those that the files of this workspace ask for
    #[arg(long)]
    recommended: bool,

    /// Print what would be added, and from where, and add nothing. The registry is asked for other versions alone
    #[arg(long)]
    dry_run: bool,
}

/// Take the versions of tools that the project's files name, or else this Broker knows, and write them to `broker.lock`
///
/// A tool that was added at a version of the user's choice (`NAME@VERSION`) stays there, unless it is named.
#[derive(Debug, clap::Args)]
pub(super) struct UpdateArgs {
    /// Only these [default: all that `broker.lock` pins]
    name: Vec<String>,
}

/// Take tools out of `broker.lock`
///
/// The store keeps them for other workspaces, and removes what none has used for three months.
#[derive(Debug, clap::Args)]
pub(super) struct RemoveArgs {
    /// Names of tools that `broker.lock` pins
    #[arg(required = true)]
    name: Vec<String>,
}

pub(super) fn add(args: &AddArgs, session: &mut Session) -> Result<Exit, CliError> {
    let mut project = Project::open(session)?;
    let before = project.lock.tools.clone();
    let disk = Disk::new(&project.root)?;
    let chosen = chosen(&args.name, args.recommended, &disk, session)?;
    let (by_toolchain, chosen): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|it| it.tool.command.is_some());
    for Chosen { tool, .. } in by_toolchain {
        let command = tool.command.as_deref().unwrap_or_default();
        session.print(&format!("{}: its own toolchain installs it: {command}\n", tool.name))?;
    }
    if chosen.is_empty() {
        return Ok(Exit::Clean);
    }
    let installer = Installer::new(session)?;
    let (mut pinned, mut names, mut failed) = (before.clone(), Vec::new(), BTreeSet::new());
    for it in chosen {
        let there = it.kept(&before).cloned();
        match there.map_or_else(|| it.locked(&before, &installer, session), Ok) {
            Ok(locked) => {
                names.push(locked.name.clone());
                put(&mut pinned, locked);
            }
            Err(error) => {
                session.messages.error(&error);
                failed.insert(it.tool.name.clone());
            }
        }
    }
    complete(&mut pinned);
    if args.dry_run {
        session.print(&installer.described(&pinned, &names)?)?;
        return Ok(if failed.is_empty() { Exit::Clean } else { Exit::Abnormal });
    }
    let done = installer.install(&pinned, &names, session);
    failed.extend(done.failed);
    restore(&mut pinned, &before, &failed);
    if pinned != before {
        project.lock.tools = pinned;
        project.write_lock()?;
    }
    session.print(&done.installed.iter().map(|it| format!("added {it}\n")).collect::<String>())?;
    names.retain(|it| !failed.contains(it));
    remind(&names, &project.root, session);
    Ok(if failed.is_empty() { Exit::Clean } else { Exit::Abnormal })
}

pub(super) fn update(args: &UpdateArgs, session: &mut Session) -> Result<Exit, CliError> {
    let mut project = Project::open(session)?;
    let before = project.lock.tools.clone();
    expect_pinned(&args.name, &before)?;
    let is_named = |it: &LockedTool| args.name.contains(&it.name);
    let is_meant = |it: &LockedTool| is_named(it) || args.name.is_empty() && !it.exact;
    let (disk, installer) = (Disk::new(&project.root)?, Installer::new(session)?);
    let (mut pinned, mut failed) = (before.clone(), BTreeSet::new());
    for it in before.iter().filter(|it| is_meant(it)) {
        let tool = Catalogue::own().find(&it.name).map(|it| Chosen::of_project(it, &disk));
        match tool.map(|it| it.locked(&before, &installer, session)) {
            Some(Ok(locked)) => put(&mut pinned, locked),
            Some(Err(error)) => {
                session.messages.error(&error);
                failed.insert(it.name.clone());
            }
            None => {}
        }
    }
    complete(&mut pinned);
    // Node is fetched where one of the others needs it.
    let is_fetched = |it: &&LockedTool| is_meant(it) && (it.name != NODE || is_named(it));
    let names: Vec<_> = before.iter().filter(is_fetched).map(|it| it.name.clone()).collect();
    failed.extend(installer.install(&pinned, &names, session).failed);
    restore(&mut pinned, &before, &failed);
    let is_told = |it: &&LockedTool| !failed.contains(&it.name) && (args.name.is_empty() || is_named(it));
    let both = pinned.iter().filter(is_told).filter_map(|it| Some((it, find(&it.name, &before)?)));
    let text: String = both.map(|(it, old)| changed(it, old)).collect();
    project.lock.tools = pinned;
    project.write_lock()?;
    session.print(&text)?;
    Ok(if failed.is_empty() { Exit::Clean } else { Exit::Abnormal })
}

/// Line about what an update did with a tool.
fn changed(it: &LockedTool, old: &LockedTool) -> String {
    let LockedTool { name, version, .. } = it;
    match it.version == old.version {
        true if it.exact => {
            format!(
                "{name} {version}: stays, as it was added at this version; `broker server update {name}` updates it\n"
            )
        }
        true => format!("{name} {version}: unchanged\n"),
        false => format!("{name} {} -> {version}\n", old.version),
    }
}

pub(super) fn install(session: &mut Session) -> Result<Exit, CliError> {
    let project = Project::open(session)?;
    let names =
        project.lock.tools.iter().map(|it| it.name.clone()).filter(|it| it != NODE).collect::<Vec<_>>();
    let Done { installed, failed, there } =
        Installer::new(session)?.install(&project.lock.tools, &names, session);
    session.print(&format!("{} fetched, {there} there already\n", installed.len() - there))?;
    Ok(if failed.is_empty() { Exit::Clean } else { Exit::Abnormal })
}

pub(super) fn remove(args: &RemoveArgs, session: &mut Session) -> Result<Exit, CliError> {
    let mut project = Project::open(session)?;
    expect_pinned(&args.name, &project.lock.tools)?;
    project.lock.tools.retain(|it| !args.name.contains(&it.name));
    complete(&mut project.lock.tools);
    project.write_lock()?;
    session.print(&args.name.iter().map(|it| format!("removed {it}\n")).collect::<String>())?;
    Ok(Exit::Clean)
}

/// In place of one of the same name.
fn put(pinned: &mut Vec<LockedTool>, tool: LockedTool) {
    pinned.retain(|it| it.name != tool.name);
    pinned.push(tool);
}

/// Takes back what was to be pinned of those that cannot be had.
fn restore(pinned: &mut Vec<LockedTool>, before: &[LockedTool], failed: &BTreeSet<String>) {
    pinned.retain(|it| !failed.contains(&it.name));
    pinned.extend(before.iter().filter(|it| failed.contains(&it.name)).cloned());
    complete(pinned);
}

fn expect_pinned(names: &[String], pinned: &[LockedTool]) -> Result<(), CliError> {
    let Some(unknown) = names.iter().find(|it| !pinned.iter().any(|other| other.name == **it)) else {
        return Ok(());
    };
    let error = CliError::usage(format!("no tool `{unknown}` was added to this workspace"));
    Err(match closest(unknown, pinned.iter().map(|it| it.name.as_str())) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error.hint("`broker server list --tools` says which were"),
    })
}

/// Sorted, and with Node where one of them runs with it: not every machine has one.
fn complete(pinned: &mut Vec<LockedTool>) {
    let node = Catalogue::own().find(NODE).and_then(Tool::locked);
    match pinned.iter().any(|it| is_of_node(&it.name)) {
        true if !pinned.iter().any(|it| it.name == NODE) => pinned.extend(node),
        true => {}
        false => pinned.retain(|it| it.name != NODE),
    }
    pinned.sort_by(|a, b| a.name.cmp(&b.name));
}

/// Prints the remaining steps until added tools run.
fn remind(names: &[String], root: &Path, session: &Session) {
    let added = names.iter().filter_map(|it| Catalogue::own().find(it)).filter(|it| it.kind != Kind::Runtime);
    for tool in added {
        for plugin in tools::asked_as(tool).checkers.iter().filter_map(|it| tools::replaced_plugin(it)) {
            session.messages.line(&format!("{}: asked in place of the plugin {plugin}", tool.name));
        }
    }
    let level = Permissions::of_user().level(root);
    let runs_code = |it: &&String| Catalogue::own().find(it).is_some_and(tools::runs_code);
    let waiting = names.iter().filter(|_| level == Level::Untrusted).filter(runs_code);
    let waiting: Vec<_> = waiting.map(String::as_str).collect();
    if !waiting.is_empty() {
        let waiting = waiting.join(", ");
        let line = format!(
            "{waiting}: asked once you say `broker trust --confined`, since code of the workspace is run: confined, without network"
        );
        session.messages.line(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(names: &[&str]) -> Vec<LockedTool> {
        names.iter().map(|it| Catalogue::own().find(it).unwrap().locked().unwrap()).collect()
    }

    fn completed(names: &[&str]) -> Vec<String> {
        let mut all = pinned(names);
        complete(&mut all);
        all.into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn node_is_pinned_with_what_needs_it() {
        assert_eq!(completed(&["ty", "pyright"]), ["node", "pyright", "ty"]);
        assert_eq!(completed(&["node", "ty"]), ["ty"]);
    }

    #[test]
    fn unknown_names_come_with_the_closest() {
        let error = expect_pinned(&["shellcheck".to_owned()], &pinned(&["ty"])).unwrap_err();
        assert_eq!(error.message, "no tool `shellcheck` was added to this workspace");
    }

    #[test]
    fn what_cannot_be_had_stays_as_it_was() {
        let before = pinned(&["ty"]);
        let mut after = vec![LockedTool { version: "9".to_owned(), ..before[0].clone() }];
        put(&mut after, pinned(&["ruff"]).remove(0));
        restore(&mut after, &before, &["ty", "ruff"].map(str::to_owned).into());
        assert_eq!(after, before);
    }
}
