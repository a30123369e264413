//! Names and paths in a `Cargo.toml`: of the package, its targets, and renamed dependencies.

use toml::{Table, Value};

pub(in super::super) struct Manifest {
    /// Names of the package and its library, as they are written in code.
    pub names: Vec<String>,
    pub library: String,
    /// Root files of the crates of the package.
    pub roots: Vec<String>,
    /// Names in code, with those of the packages.
    pub renamed: Vec<(String, String)>,
}

impl Manifest {
    pub(in super::super) fn new(text: &str) -> Self {
        let all: Table = text.parse().unwrap_or_default();
        let get = |table, key| all.get(table).and_then(|it| it.get(key)).and_then(Value::as_str);
        let names = [get("package", "name"), get("lib", "name")].into_iter().flatten().map(in_code).collect();
        let library = get("lib", "path").unwrap_or("src/lib.rs").to_owned();
        let targets = ["bin", "test", "example", "bench"].iter().filter_map(|it| all.get(*it)?.as_array());
        let paths = targets.flatten().filter_map(|it| it.get("path")?.as_str());
        let roots = [&*library, "src/main.rs"].into_iter().chain(paths).map(str::to_owned).collect();
        let mut renamed = Vec::new();
        add_renamed(&all, &mut renamed);
        Self { names, library, roots, renamed }
    }
}

/// `x = { package = "y" }`, wherever it stands.
fn add_renamed(table: &Table, found: &mut Vec<(String, String)>) {
    for (key, inner) in table.iter().filter_map(|(key, it)| Some((key, it.as_table()?))) {
        let package = inner.get("package").and_then(Value::as_str);
        found.extend(package.map(|it| (in_code(key), in_code(it))));
        add_renamed(inner, found);
    }
}

fn in_code(name: &str) -> String {
    name.replace('-', "_")
}
