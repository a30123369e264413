//! Options of the nearest `tsconfig.json` by which a relative name leads elsewhere: `rootDirs` and `moduleSuffixes`. A configuration that extends
//! a file which is not there, as those of frameworks do before they have run, may have any.

use std::path::{Path, PathBuf};

use broker_plugin_sdk::config::text_of;
use jsonc_parser::ParseOptions;
use serde_json::Value;

use crate::targets::joined;

const NAMES: [&str; 2] = ["tsconfig.json", "jsconfig.json"];

/// Number of configurations that may extend each other.
const MOST: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct TsConfig {
    roots: Vec<PathBuf>,
    suffixes: Vec<String>,
    /// Whether it extends what is not there.
    is_open: bool,
}

impl TsConfig {
    /// The configuration that is nearest to a folder.
    pub(crate) fn of(folder: &Path, root: &Path) -> Self {
        let mut config = Self::default();
        let folders = folder.ancestors().take_while(|it| it.starts_with(root));
        let mut files = folders.flat_map(|it| NAMES.map(|name| it.join(name)));
        if let Some(file) = files.find(|it| it.is_file()) {
            config.add(&file, MOST);
        }
        config
    }

    /// Adds what a file and those that it extends set, where nothing is set yet.
    fn add(&mut self, file: &Path, depth: usize) {
        let folder = file.parent().unwrap_or(file);
        let Some(value) = text_of(file).ok().and_then(|it| parsed(&it)) else {
            self.is_open = true;
            return;
        };
        let options = &value["compilerOptions"];
        let texts = |key: &str| options[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        if self.roots.is_empty() {
            self.roots = texts("rootDirs").filter_map(|it| joined(folder, it)).collect();
        }
        if self.suffixes.is_empty() {
            self.suffixes = texts("moduleSuffixes").map(str::to_owned).collect();
        }
        let extended = &value["extends"];
        let all = extended.as_array().into_iter().flatten().chain([extended]).filter_map(Value::as_str);
        for it in all.filter(|it| depth > 0 && it.starts_with('.')) {
            let Some(path) = joined(folder, it) else { continue };
            let path = if path.is_file() { path } else { path.with_added_extension("json") };
            self.add(&path, depth - 1);
        }
    }

    /// Whether the file may be another one by these options, or one that is not there yet.
    pub(crate) fn may_have(&self, target: &Path, resolves: impl Fn(&Path) -> bool) -> bool {
        let inside = self.roots.iter().find_map(|it| target.strip_prefix(it).ok());
        let is_in = |root: &PathBuf| inside.is_some_and(|it| !root.is_dir() || resolves(&root.join(it)));
        let is_suffixed = |suffix: &String| {
            let mut name = target.as_os_str().to_owned();
            name.push(suffix);
            !suffix.is_empty() && resolves(Path::new(&name))
        };
        self.is_open || self.roots.iter().any(is_in) || self.suffixes.iter().any(is_suffixed)
    }
}

fn parsed(text: &str) -> Option<Value> {
    jsonc_parser::parse_to_serde_value(text, &ParseOptions::default()).ok()
}
