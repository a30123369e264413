//! The tools of the store that a workspace pins in `broker.lock`. Its servers and checkers find them before those in `PATH`.

use config::folders;
use external_tools::Executes;
use language_servers::{Environment, profiles};
use native_checkers::checkers;
use overlay::View;
use tool_store::{Catalogue, Kind, Store, Tool};

use crate::lock::Lock;

/// The user's store; `None` for a user without a home.
pub fn store() -> Option<Store> {
    folders::data_dir().map(|it| Store::in_data(&it))
}

/// The environment in which servers and checkers are found and run in the workspace that `disk` shows. What a branch pins does not
/// count. A lock file that cannot be read is reported with the plugins.
pub fn with_tools(environment: Environment, disk: &dyn View) -> Environment {
    let tools = Lock::read(disk).map(|it| it.tools).unwrap_or_default();
    match store().filter(|_| !tools.is_empty()) {
        Some(store) => environment.with_programs(store.programs(&tools)),
        None => environment,
    }
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

    /// Tools of the catalogue that only a definition in `broker.toml` asks so far.
    const UNDEFINED: [&str; 6] =
        ["stylelint", "dockerfile-language-server", "hadolint", "markdownlint-cli2", "sqlfluff", "typos"];

    #[test]
    fn tools_are_asked_by_the_linters_that_run_them() {
        let of = |name: &str| asked_as(Catalogue::own().find(name).unwrap());
        assert_eq!(of("pyright"), Use { servers: vec!["pyright"], checkers: vec!["pyright-cli"] });
        assert_eq!(of("eslint"), Use { servers: vec![], checkers: vec!["eslint-cli"] });
        let is_asked = |it: &&Tool| asked_as(it) != Use { servers: vec![], checkers: vec![] };
        let others = Catalogue::own().tools.iter().filter(|it| it.kind != Kind::Runtime && !is_asked(it));
        let others: Vec<_> = others.map(|it| it.name.as_str()).filter(|it| *it != "taplo").collect();
        assert_eq!(others, UNDEFINED);
    }

    #[test]
    fn linters_whose_tool_is_in_the_store_name_the_command_that_adds_it() {
        let linters = profiles().iter().map(|it| &it.tool).chain(checkers().iter().map(|it| &it.tool));
        for linter in linters {
            let tools = Catalogue::own().tools.iter().filter(|it| it.package.is_some());
            let tool = tools.clone().find(|it| is_program_of(it, linter));
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
}
