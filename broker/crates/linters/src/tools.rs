//! The tools of the store that a workspace pins in `broker.lock`. Its servers and checkers find them before those in `PATH`.

use std::path::PathBuf;

use check_engine::{ADD_TOOLS, MissingLinter, Need};
use config::folders;
use external_tools::Executes;
use language_servers::{Environment, profiles};
use native_checkers::{Checker, checkers};
use overlay::{View, WorkspacePath};
use tool_store::{Catalogue, Demand, Kind, LockedTool, NODE, Store, Tool};

use crate::lock::{LOCK_FILE, Lock};

/// The user's store; `None` for a user without a home.
pub fn store() -> Option<Store> {
    folders::data_dir().map(|it| Store::in_data(&it))
}

/// The environment in which servers and checkers are found and run in the workspace that `disk` shows, and the linters whose tool is
/// not there as it is pinned, or is pinned at another version than the project's files name: those may run with another version, or not
/// at all. What a branch pins does not count.
pub fn with_tools(environment: Environment, disk: &dyn View) -> (Environment, Vec<MissingLinter>) {
    let pinned = match Lock::read(disk) {
        Ok(lock) => lock.tools,
        Err(reason) => return (environment, vec![unreadable(reason)]),
    };
    let Some(store) = store().filter(|_| !pinned.is_empty()) else { return (environment, Vec::new()) };
    let (folders, mut missing) = programs(&store, &pinned);
    missing.extend(pinned.iter().filter_map(|it| pinned_otherwise(it, disk)));
    (environment.with_programs(folders), missing)
}

fn programs(store: &Store, pinned: &[LockedTool]) -> (Vec<PathBuf>, Vec<MissingLinter>) {
    let (mut folders, mut missing) = (Vec::new(), Vec::new());
    for it in pinned {
        match store.programs(it) {
            Ok(folder) => folders.push(folder),
            // The one in `PATH` may be as good.
            Err(_) if it.name == NODE => {}
            Err(reason) => missing.extend(without(it, &reason)),
        }
    }
    (folders, missing)
}

/// The linter that a tool is missing for, of several the first.
fn without(pinned: &LockedTool, reason: &str) -> Option<MissingLinter> {
    let tool = Catalogue::own().find(&pinned.name)?;
    let linter = linters().find(|it| is_program_of(tool, it))?;
    Some(missing(linter, LOCK_FILE, reason.to_owned()))
}

fn missing(linter: &external_tools::Tool, marker: &str, reason: String) -> MissingLinter {
    MissingLinter {
        linter: linter.name.clone(),
        globs: linter.globs.clone(),
        reason,
        need: Need::Optional,
        marker: Some(marker.to_owned()),
    }
}

/// Entry for a tool that is pinned at another version than the project's files name, unless the user asked for just that version.
fn pinned_otherwise(pinned: &LockedTool, disk: &dyn View) -> Option<MissingLinter> {
    let Demand { version, file } = demand(&pinned.name, disk).filter(|it| it.version != pinned.version)?;
    let command = format!("broker server add {}@{version}", pinned.name);
    let entry = without(pinned, &format!("{LOCK_FILE} has {}: {command}", pinned.version))?;
    let linter = format!("{} {version}", entry.linter);
    (!pinned.exact).then_some(MissingLinter { linter, marker: Some(file), ..entry })
}

/// The version of a tool that files in the root name.
fn demand(name: &str, disk: &dyn View) -> Option<Demand> {
    tool_store::demanded(Catalogue::own().find(name)?, disk, &WorkspacePath::root())
}

/// The version that the project's files name of a checker's tool, if the plugin that is asked in its place is of another.
pub(crate) fn demand_beside_plugin(checker: &Checker, disk: &dyn View) -> Option<Demand> {
    checker.replaces.as_ref()?;
    demand(&checker.tool.name, disk)
}

/// Entry for a checker whose plugin is asked instead, at another version than the project's files name.
pub(crate) fn other_version(checker: &Checker, disk: &dyn View) -> Option<MissingLinter> {
    let Demand { version, file } = demand_beside_plugin(checker, disk)?;
    Some(missing(&checker.tool, &file, format!("{ADD_TOOLS}{}@{version}", checker.tool.name)))
}

/// Advice that ends with the command which adds a tool, with the version that the project's files name.
pub(crate) fn with_version(advice: &str, disk: &dyn View) -> Option<String> {
    let (_, name) = advice.rsplit_once("broker server add ")?;
    demand(name, disk).map(|it| format!("{advice}@{}", it.version))
}

/// Without it, it is not known which tools are to be used.
fn unreadable(reason: String) -> MissingLinter {
    let (linter, globs) = (LOCK_FILE.to_owned(), vec!["*".to_owned()]);
    MissingLinter { linter, globs, reason, need: Need::Missing, marker: None }
}

/// Every server and checker that Broker has.
fn linters() -> impl Iterator<Item = &'static external_tools::Tool> {
    profiles().iter().map(|it| &it.tool).chain(checkers().iter().map(|it| &it.tool))
}

/// Tools that the workspace that `disk` shows pins, of those that are nothing but checkers.
pub(crate) fn pinned_checkers(disk: &dyn View) -> Vec<&'static Tool> {
    let tools = Lock::read(disk).map(|it| it.tools).unwrap_or_default();
    let known = tools.iter().filter_map(|it| Catalogue::own().find(&it.name));
    known.filter(|it| it.kind == Kind::Checker).collect()
}

pub(crate) fn is_program_of(tool: &Tool, linter: &external_tools::Tool) -> bool {
    linter.command.first().is_some_and(|it| tool.programs.contains_key(it))
}

/// The linters that Broker has for the programs of a tool, by their names.
#[derive(Debug, PartialEq, Eq)]
pub struct Use {
    pub servers: Vec<&'static str>,
    pub checkers: Vec<&'static str>,
}

/// Whether a linter that runs a program of this tool runs code of the workspace by it.
pub fn runs_code(tool: &Tool) -> bool {
    let Use { servers, checkers: commands } = asked_as(tool);
    let servers = profiles().iter().map(|it| &it.tool).filter(|it| servers.contains(&it.name.as_str()));
    let commands = checkers().iter().map(|it| &it.tool).filter(|it| commands.contains(&it.name.as_str()));
    servers.chain(commands).any(|it| it.executes != Executes::Nothing)
}

/// The plugin that a checker is asked in the place of.
pub fn replaced_plugin(checker: &str) -> Option<&'static str> {
    checkers().iter().find(|it| it.tool.name == checker)?.replaces.as_deref()
}

/// The linters that run a program of this tool.
pub fn asked_as(tool: &Tool) -> Use {
    fn names<'t>(tool: &Tool, linters: impl Iterator<Item = &'t external_tools::Tool>) -> Vec<&'t str> {
        linters.filter(|it| is_program_of(tool, it)).map(|it| it.name.as_str()).collect()
    }
    Use {
        servers: names(tool, profiles().iter().map(|it| &it.tool)),
        checkers: names(tool, checkers().iter().map(|it| &it.tool)),
    }
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[test]
    fn tools_are_asked_by_the_linters_that_run_them() {
        let of = |name: &str| asked_as(Catalogue::own().find(name).unwrap());
        assert_eq!(of("pyright"), Use { servers: vec!["pyright"], checkers: vec!["pyright-cli"] });
        assert_eq!(of("eslint"), Use { servers: vec![], checkers: vec!["eslint-cli"] });
        let of_none = |it: &&Tool| asked_as(it) == Use { servers: vec![], checkers: vec![] };
        let mut tools = Catalogue::own().tools.iter().filter(|it| it.kind != Kind::Runtime);
        assert_eq!(tools.find(of_none).map(|it| &it.name), None);
    }

    #[test]
    fn linters_whose_tool_is_in_the_store_name_the_command_that_adds_it() {
        for linter in linters() {
            let tools = Catalogue::own().tools.iter().filter(|it| it.package.is_some());
            let stand_in = checkers().iter().find(|it| it.stands_in_for.as_ref() == Some(&linter.name));
            let asked = stand_in.map_or(linter, |it| &it.tool);
            let tool = tools.clone().find(|it| is_program_of(it, asked));
            let added = linter.install.strip_prefix("broker server add ");
            assert_eq!(added, tool.map(|it| it.name.as_str()), "{}", linter.name);
        }
        let sentence = |it: &external_tools::Tool| it.not_installed_sentence();
        let mypy = checkers().iter().find(|it| it.tool.name == "mypy").unwrap();
        assert_eq!(sentence(&mypy.tool), format!("{}mypy", check_engine::ADD_TOOLS));
    }

    #[test]
    fn checkers_that_the_lock_file_pins() {
        let mut lock = Lock::default();
        let locked = |name: &str| Catalogue::own().find(name).unwrap().locked().unwrap();
        lock.tools.extend(["mypy", "pyright", "ty"].map(locked));
        let disk = Memory::from_files([("broker.lock", &*lock.to_text())]).unwrap();
        let names: Vec<_> = pinned_checkers(&disk).iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["mypy"]);
    }

    #[test]
    fn a_tool_that_is_pinned_and_not_installed_is_missed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::in_data(folder.path());
        let locked = |name: &str| Catalogue::own().find(name).unwrap().locked().unwrap();
        let old = LockedTool { version: "0.0.1".to_owned(), ..locked("ty") };
        let (folders, missing) = programs(&store, &[locked("node"), locked("pyright"), old]);
        assert!(folders.is_empty());
        let told: Vec<_> = missing.iter().map(|it| format!("{}: {}", it.linter, it.reason)).collect();
        let reason = "pinned in broker.lock and not installed: broker server install";
        let other = "ty: `ty` in broker.lock is not the package of ty".to_owned();
        assert_eq!(told, [format!("pyright: {reason}"), other]);
    }

    #[test]
    fn a_lock_file_that_cannot_be_read_is_reported() {
        let disk = Memory::from_files([("broker.lock", "version = 1\n<<<<<<< HEAD\n")]).unwrap();
        let (_, missing) = with_tools(Environment::of_shell(), &disk);
        assert_eq!((missing[0].linter.as_str(), missing[0].need), ("broker.lock", Need::Missing));
        assert!(missing[0].reason.starts_with("broker.lock:2 makes no sense"), "{}", missing[0].reason);
    }
}
