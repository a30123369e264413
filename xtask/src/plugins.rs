//! Plugins of the repository, and those that a quick build leaves out.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use glob::Pattern;
use toml::de::DeTable;

use crate::run::{Failed, fail};

/// Names of the files that a plugin checks, from its manifest.
#[derive(Clone, Debug)]
pub(crate) struct Plugin {
    pub(crate) name: String,
    pub(crate) globs: Vec<Pattern>,
    pub(crate) interpreters: Vec<String>,
}

/// Plugins that are never left out, since nearly every repository has files for them. All others can be built later without
/// compiling a dependency again, as `lint` sees to (plugins/features).
const ALWAYS: [&str; 3] = ["markdown", "pattern", "text"];

/// All plugins below the folder, by name.
pub(crate) fn read(folder: &Path) -> Result<Vec<Plugin>, Failed> {
    let pattern = folder.join("*/broker-plugin.toml");
    let manifests = glob::glob(&pattern.to_string_lossy()).map_err(|error| fail(&error.to_string(), None))?;
    manifests.flatten().map(|it| plugin(&it)).collect()
}

fn plugin(manifest: &Path) -> Result<Plugin, Failed> {
    let wrong = |why: &dyn std::fmt::Display| fail(&format!("{}: {why}", manifest.display()), None);
    let text = fs::read_to_string(manifest).map_err(|error| wrong(&error))?;
    let name = manifest.parent().and_then(Path::file_name).unwrap_or_default();
    parse(&name.to_string_lossy(), &text).map_err(|why| wrong(&why))
}

fn parse(name: &str, manifest: &str) -> Result<Plugin, String> {
    let table = DeTable::parse(manifest).map_err(|error| error.to_string())?;
    let strings = |key: &str| -> Vec<String> {
        let values = table.get_ref().get(key).and_then(|it| it.get_ref().as_array());
        let strings = values.into_iter().flat_map(|it| it.iter()).filter_map(|it| it.get_ref().as_str());
        strings.map(str::to_owned).collect()
    };
    let globs = strings("globs").iter().map(|it| Pattern::new(it)).collect::<Result<_, _>>();
    let globs = globs.map_err(|error| error.to_string())?;
    Ok(Plugin { name: name.to_owned(), globs, interpreters: strings("interpreters") })
}

impl Plugin {
    pub(crate) fn can_be_left_out(&self) -> bool {
        !ALWAYS.contains(&&*self.name)
    }

    pub(crate) fn component(&self) -> String {
        format!("broker_plugin_{}.wasm", self.name)
    }

    /// Whether the plugin checks the file, by its name or its first line.
    fn is_for(&self, file: &Path) -> bool {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.globs.iter().any(|it| it.matches(&name)) || self.is_interpreted(&name, file)
    }

    fn is_interpreted(&self, name: &str, file: &Path) -> bool {
        if self.interpreters.is_empty() || name.contains('.') {
            return false;
        }
        let line = first_line(file);
        line.starts_with("#!") && self.interpreters.iter().any(|it| line.contains(it))
    }
}

fn first_line(file: &Path) -> String {
    let mut bytes = [0; 256];
    let read = |it: fs::File| it.take(256).read(&mut bytes);
    let is_regular = fs::symlink_metadata(file).is_ok_and(|it| it.is_file());
    let length = if is_regular { fs::File::open(file).and_then(read).unwrap_or_default() } else { 0 };
    String::from_utf8_lossy(&bytes[..length]).lines().next().unwrap_or_default().to_owned()
}

/// Plugins that no file at or below the paths asks for. With an argument that is no path, the files that are
/// checked are not known here, and nothing is left out.
pub(crate) fn left_out(root: &Path, arguments: &[String], mut plugins: Vec<Plugin>) -> Vec<String> {
    let here = [".".to_owned()];
    let named = if arguments.is_empty() { &here[..] } else { arguments };
    let mut paths: Vec<PathBuf> = named.iter().map(|it| root.join(it)).collect();
    if !paths.iter().all(|it| it.exists()) {
        return Vec::new();
    }
    let is_link = |it: &Path| fs::symlink_metadata(it).is_ok_and(|it| it.is_symlink());
    paths.iter_mut().filter(|it| is_link(it)).for_each(|it| *it = fs::canonicalize(&*it).unwrap_or_default());
    while let Some(path) = paths.pop() {
        if plugins.is_empty() {
            break;
        }
        if path.file_name().is_some_and(|it| it == ".git") {
            continue;
        }
        if !path.is_dir() {
            plugins.retain(|it| !it.is_for(&path));
        } else if !is_link(&path) {
            paths.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|it| it.path()));
        }
    }
    plugins.into_iter().map(|it| it.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugins() -> Vec<Plugin> {
        let shell = "globs = [\n  \"*.sh\", \".bashrc\",\n]\ninterpreters = [\"sh\"]\n[options.x]\nglobs = [\"*.no\"]\n";
        let [python, docker] = ["globs = ['*.py', 'ruff.toml']", "globs = ['Dockerfile', 'Dockerfile.*']"];
        [("docker", docker), ("python", python), ("shell", shell)]
            .map(|(name, it)| parse(name, it).unwrap())
            .into()
    }

    /// Names of the plugins that are left out of a check of a folder with these files.
    fn left_out_of(files: &[(&str, &str)], arguments: &[&str]) -> String {
        let name = files.iter().map(|it| it.0.replace('/', "-")).collect::<String>();
        let root = std::env::temp_dir().join(format!("xtask-plugins-{}-{name}", std::process::id()));
        for (file, text) in files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        let arguments: Vec<_> = arguments.iter().map(|it| (*it).to_owned()).collect();
        let found = left_out(&root, &arguments, plugins()).join(" ");
        fs::remove_dir_all(root).unwrap();
        found
    }

    #[test]
    fn files_ask_for_plugins_by_their_names() {
        assert_eq!(left_out_of(&[("a/b.py", "")], &[]), "docker shell");
        assert_eq!(left_out_of(&[("Dockerfile.dev", ""), ("x/.bashrc", "")], &["."]), "python");
        assert_eq!(left_out_of(&[("b.pyc", ""), ("c.no", "")], &[]), "docker python shell");
        assert_eq!(left_out_of(&[(".git/b.py", "")], &[]), "docker python shell");
    }

    #[test]
    fn files_ask_for_plugins_by_their_first_lines() {
        assert_eq!(left_out_of(&[("run", "#!/usr/bin/env bash\n")], &[]), "docker python");
        assert_eq!(left_out_of(&[("run", "text\n#!/bin/sh\n")], &[]), "docker python shell");
        assert_eq!(left_out_of(&[("run.txt", "#!/bin/sh\n")], &[]), "docker python shell");
    }

    #[test]
    fn only_named_paths_count() {
        assert_eq!(left_out_of(&[("a/x.py", ""), ("b/x.sh", "")], &["a"]), "docker shell");
        assert_eq!(left_out_of(&[("x.py", ""), ("x.sh", "")], &["x.sh"]), "docker python");
        assert_eq!(left_out_of(&[("c.py", "")], &["--fix", "."]), "");
    }

    #[test]
    fn manifests_of_the_repository_are_read() {
        let plugins = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins")).unwrap();
        assert!(plugins.len() > 10 && plugins.iter().all(|it| !it.globs.is_empty()));
        for name in ALWAYS {
            assert!(plugins.iter().any(|it| it.name == name), "there is no plugin `{name}`");
        }
    }
}
