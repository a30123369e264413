//! Check that the engine takes a folder with a configuration of a linter for a project.

use std::{collections::BTreeSet, fs, path::Path};

use super::{files, root};

/// Files of configuration that make no project, with the reason.
const NO_PROJECTS: &[(&str, &str)] = &[
    ("", "the root of the workspace, which is no file"),
    (".editorconfig", "editors have it in folders of all kinds"),
    ("Containerfile", "it is checked, and configures nothing"),
    ("Dockerfile", "it is checked, and configures nothing"),
    ("Cargo.lock", "it lies beside a Cargo.toml"),
    ("action.yaml", "it is checked, and configures nothing"),
    ("action.yml", "it is checked, and configures nothing"),
    ("config.toml", "programs of all kinds have it: cargo's is in `.cargo`"),
    ("go.sum", "it lies beside a go.mod"),
    ("py.typed", "it marks a package below a project"),
];

/// Keys of tables of checkers, language servers and plugins that name files of configuration.
const CONFIGURATION: [&str; 5] = ["config-files", "configured-by", "depends-on", "projects", "roots"];

/// Plugins that know more files than their manifests name: those of other linters, and of programs.
const FURTHER: [(&str, &str); 2] =
    [("plugins/css/src/workspace.rs", "PLACES"), ("plugins/javascript/src/neighbours.rs", "FILES")];

#[test]
fn configuration_of_linters_makes_a_project() {
    let mut wanted: BTreeSet<_> = tables().iter().flat_map(configuration_files).collect();
    wanted.extend(FURTHER.iter().flat_map(|(file, constant)| strings_of(file, constant)));
    assert!(wanted.len() > 100, "{wanted:?}");
    for (name, reason) in NO_PROJECTS {
        assert!(wanted.remove(*name), "nothing reads `{name}` any more: {reason}");
    }
    let known = strings_of("broker/crates/config/src/root/projects.rs", "PROJECTS");
    let missing: Vec<_> = wanted.iter().filter(|it| !known.contains(*it)).collect();
    assert!(
        missing.is_empty(),
        "no project begins with {missing:?}: name them in PROJECTS, or here with a reason"
    );
}

/// The tables of checkers and language servers, and the manifests of plugins.
fn tables() -> Vec<toml::Table> {
    let read = |path: &Path| toml::from_str::<toml::Table>(&fs::read_to_string(path).unwrap()).unwrap();
    let list = |file: &str, key: &str| {
        let tables = read(&root().join(file))[key].as_array().unwrap().clone();
        tables.into_iter().map(|it| it.as_table().unwrap().clone()).collect::<Vec<_>>()
    };
    let manifests =
        files("broker-plugin.toml").into_iter().filter(|it| it.starts_with(root().join("plugins")));
    let mut tables: Vec<_> = manifests.map(|it| read(&it)).collect();
    tables.extend(list("broker/crates/native-checkers/src/checkers.toml", "checker"));
    tables.extend(list("broker/crates/language-servers/src/servers.toml", "server"));
    tables
}

/// The names of files in a table; patterns are none.
fn configuration_files(table: &toml::Table) -> Vec<String> {
    let values = CONFIGURATION.iter().filter_map(|it| table.get(*it)?.as_array()).flatten();
    let names = values.map(|it| it.as_str().unwrap().split('#').next().unwrap().to_owned());
    names.filter(|it| !it.contains('*')).collect()
}

/// The strings in the list that a constant is.
fn strings_of(file: &str, constant: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let list = text.split(&format!("const {constant}: ")).nth(1).unwrap().split("];\n").next().unwrap();
    let code = list.lines().filter(|it| !it.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    code.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}
