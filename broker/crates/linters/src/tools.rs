//! The tools of the store that a workspace pins in `broker.lock`. Its servers and checkers find them before those in `PATH`.

use config::folders;
use external_tools::is_there;
use language_servers::{Environment, profiles};
use native_checkers::checkers;
use overlay::{View, WorkspacePath};
use tool_store::{Catalogue, Store, Tool};

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

/// Whether the workspace that `disk` shows pins a tool with this program.
pub(crate) fn is_pinned(disk: &dyn View, tool: &external_tools::Tool) -> bool {
    let tools = Lock::read(disk).map(|it| it.tools).unwrap_or_default();
    tools.iter().any(|it| Catalogue::own().find(&it.name).is_some_and(|it| is_program_of(it, tool)))
}

fn is_program_of(tool: &Tool, linter: &external_tools::Tool) -> bool {
    linter.command.first().is_some_and(|it| tool.programs.contains_key(it))
}

/// Whether the project that `disk` shows configures a checker that runs a program of this tool, so that it is asked if it is pinned.
pub fn is_configured(tool: &Tool, disk: &dyn View) -> bool {
    let root = WorkspacePath::root();
    let markers =
        checkers().iter().filter(|it| is_program_of(tool, &it.tool)).flat_map(|it| &it.configured_by);
    markers.into_iter().any(|it| is_there(disk, &root, it))
}

/// The linters that Broker has for the programs of a tool, by their names.
#[derive(Debug, PartialEq, Eq)]
pub struct Use {
    pub servers: Vec<&'static str>,
    pub checkers: Vec<&'static str>,
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
    use tool_store::Kind;

    use super::*;

    /// Tools of the catalogue that only a definition in `broker.toml` asks so far.
    const UNDEFINED: [&str; 7] = [
        "tsgolint",
        "stylelint",
        "dockerfile-language-server",
        "hadolint",
        "markdownlint-cli2",
        "sqlfluff",
        "typos",
    ];

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
    fn what_the_lock_file_pins() {
        let mypy = Catalogue::own().find("mypy").unwrap();
        let mut lock = Lock::default();
        lock.tools.push(mypy.locked().unwrap());
        let files = [("broker.lock", lock.to_text()), ("mypy.ini", String::new())];
        let files = files.iter().map(|(path, text)| (*path, text.as_str()));
        let disk = Memory::from_files(files).unwrap();
        let of =
            |name: &str| is_pinned(&disk, &checkers().iter().find(|it| it.tool.name == name).unwrap().tool);
        assert!(of("mypy") && !of("pylint"));
        assert!(is_configured(mypy, &disk));
        assert!(!is_configured(Catalogue::own().find("shellcheck").unwrap(), &disk));
    }
}
