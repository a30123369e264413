//! The tools of the store that a workspace pins in `broker.lock`. Its servers and checkers find them before those in `PATH`.

use config::folders;
use language_servers::{Environment, profiles};
use native_checkers::checkers;
use overlay::View;
use tool_store::{Store, Tool};

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

/// The linters that Broker has for the programs of a tool, by their names.
#[derive(Debug, PartialEq, Eq)]
pub struct Use {
    pub servers: Vec<&'static str>,
    pub checkers: Vec<&'static str>,
}

/// The linters that run a program of this tool.
pub fn asked_as(tool: &Tool) -> Use {
    let runs =
        |it: &external_tools::Tool| it.command.first().is_some_and(|it| tool.programs.contains_key(it));
    Use {
        servers: profiles()
            .iter()
            .map(|it| &it.tool)
            .filter(|it| runs(it))
            .map(|it| it.name.as_str())
            .collect(),
        checkers: checkers()
            .iter()
            .map(|it| &it.tool)
            .filter(|it| runs(it))
            .map(|it| it.name.as_str())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use tool_store::{Catalogue, Kind};

    use super::*;

    /// Tools of the catalogue that only a definition in `broker.toml` asks so far.
    const UNDEFINED: [&str; 8] = [
        "ruff",
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
}
