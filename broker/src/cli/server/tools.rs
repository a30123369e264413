//! `broker server add`, `update`, `install` and `remove`: the tools of the store that a workspace pins in `broker.lock`.

use std::{collections::BTreeSet, path::Path};

use config::closest;
use linters::{Level, Permissions, tools};
use overlay::Disk;
use tool_store::{Catalogue, Kind, LockedTool, NODE, Tool, recommended};

use super::{
    super::{Session, plugin::project::Project},
    installer::{Done, Installer, is_of_node},
};
use crate::{CliError, Exit};

/// Add language servers and checkers to the workspace, from the package registries
///
/// Fetches each at the version that this Broker knows, by the settings of npm and pip, verifies its digest and unpacks it into the user's
/// store. No script of a package is run. `broker.lock` pins the version, so that everybody has the same: `broker server install` fetches
/// it on another machine. The servers and checkers of this workspace find it before `PATH`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker server add ty shellcheck
  broker server add --recommended --dry-run
  broker server list --tools")]
pub(super) struct AddArgs {
    /// Names of tools; `broker server list --tools` has them all
    #[arg(required_unless_present = "recommended")]
    name: Vec<String>,

    /// Add those that the files of this workspace ask for
    #[arg(long)]
    recommended: bool,

    /// Print what would be added, and from where, and add nothing
    #[arg(long)]
    dry_run: bool,
}

/// Take the versions of tools that this Broker knows, and write them to `broker.lock`
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
    let mut wanted = Vec::new();
    for tool in chosen(args, &project.root, session)? {
        match (&tool.command, tool.locked()) {
            (None, Some(locked)) => wanted.push(locked),
            (command, _) => {
                let command = command.as_deref().unwrap_or_default();
                session.print(&format!("{}: its own toolchain installs it: {command}\n", tool.name))?;
            }
        }
    }
    let names: Vec<_> = wanted.iter().map(|it| it.name.clone()).collect();
    if names.is_empty() {
        return Ok(Exit::Clean);
    }
    let mut pinned = project.lock.tools.clone();
    // One that is pinned stays at its version.
    wanted.retain(|it| !is_pinned(it, &project.lock.tools));
    pinned.extend(wanted);
    complete(&mut pinned);
    let installer = Installer::new(session)?;
    if args.dry_run {
        session.print(&installer.described(&pinned, &names)?)?;
        return Ok(Exit::Clean);
    }
    let Done { installed, failed, .. } = installer.install(&pinned, &names, session);
    pinned.retain(|it| !failed.contains(&it.name) || is_pinned(it, &project.lock.tools));
    complete(&mut pinned);
    project.lock.tools = pinned;
    project.write_lock()?;
    session.print(&installed.iter().map(|it| format!("added {it}\n")).collect::<String>())?;
    let added: Vec<_> = names.into_iter().filter(|it| !failed.contains(it)).collect();
    remind(&added, &project.root, session);
    Ok(if failed.is_empty() { Exit::Clean } else { Exit::Abnormal })
}

pub(super) fn update(args: &UpdateArgs, session: &mut Session) -> Result<Exit, CliError> {
    let mut project = Project::open(session)?;
    let before = project.lock.tools.clone();
    expect_pinned(&args.name, &before)?;
    let is_meant = |it: &LockedTool| args.name.is_empty() || args.name.contains(&it.name);
    let newest = |it: &LockedTool| {
        Catalogue::own().find(&it.name).and_then(Tool::locked).unwrap_or_else(|| it.clone())
    };
    let mut pinned: Vec<_> =
        before.iter().map(|it| if is_meant(it) { newest(it) } else { it.clone() }).collect();
    complete(&mut pinned);
    // Node is fetched where one of the others needs it.
    let is_fetched = |it: &&LockedTool| is_meant(it) && (it.name != NODE || args.name.contains(&it.name));
    let names: Vec<_> = before.iter().filter(is_fetched).map(|it| it.name.clone()).collect();
    let Done { failed, .. } = Installer::new(session)?.install(&pinned, &names, session);
    let mut text = String::new();
    for it in &mut pinned {
        let Some(old) = before.iter().find(|old| old.name == it.name).filter(|it| is_meant(it)) else {
            continue;
        };
        if failed.contains(&it.name) {
            it.clone_from(old);
        } else if it == old {
            text += &format!("{} {}: unchanged\n", it.name, it.version);
        } else {
            text += &format!("{} {} -> {}\n", it.name, old.version, it.version);
        }
    }
    project.lock.tools = pinned;
    project.write_lock()?;
    session.print(&text)?;
    Ok(if failed.is_empty() { Exit::Clean } else { Exit::Abnormal })
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

/// The tools that are named, and those that the workspace asks for.
fn chosen(args: &AddArgs, root: &Path, session: &mut Session) -> Result<Vec<&'static Tool>, CliError> {
    let mut tools: Vec<_> = args.name.iter().map(|it| known(it)).collect::<Result<_, _>>()?;
    if args.recommended {
        let found = recommended(Catalogue::own(), &Disk::new(root)?);
        if found.is_empty() {
            session.messages.line("nothing in this workspace asks for a tool");
        }
        for it in found {
            session.messages.line(&format!("{}: for {}", it.tool.name, it.file));
            tools.push(it.tool);
        }
    }
    let mut seen = BTreeSet::new();
    tools.retain(|it| seen.insert(&it.name));
    Ok(tools)
}

fn is_pinned(tool: &LockedTool, pinned: &[LockedTool]) -> bool {
    pinned.iter().any(|it| it.name == tool.name)
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
        let unknown = |name: &str| known(name).unwrap_err();
        assert_eq!(unknown("node").message, "node is installed with the tools that need it");
        let error = unknown("pyrihgt");
        assert_eq!(
            (error.message.as_str(), error.hint.as_deref()),
            ("no tool `pyrihgt` is known", Some("did you mean `pyright`?"))
        );
        let error = expect_pinned(&["shellcheck".to_owned()], &pinned(&["ty"])).unwrap_err();
        assert_eq!(error.message, "no tool `shellcheck` was added to this workspace");
    }
}
