//! Which files the configuration leaves out: `.sqlfluffignore`, `.sqruffignore` and `ignore_paths`, each in the words of
//! `.gitignore`. Leaves out `.gitignore` itself: the host decides which files exist.

use std::path::Path;
use std::rc::Rc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use sqruff_lib::core::config::Value;

use crate::config::Values;

const NAMES: [&str; 2] = [".sqlfluffignore", ".sqruffignore"];

/// Ignore patterns, from the root down to a folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignored(Vec<Rc<Gitignore>>);

impl Ignored {
    pub(crate) fn contains(&self, file: &Path) -> bool {
        let matches = |it: &Gitignore| it.matched_path_or_any_parents(file, false).is_ignore();
        self.0.iter().any(|it| file.starts_with(it.path()) && matches(it))
    }

    /// With what `dir` adds, whose configuration is `values`.
    pub(crate) fn with(self: &Rc<Self>, dir: &Path, values: &Values) -> Rc<Self> {
        let mut all = Vec::clone(&self.0);
        for name in NAMES {
            let file = dir.join(name);
            if file.is_file() {
                let mut builder = GitignoreBuilder::new(dir);
                // Lines that make no sense are passed over, as by sqruff.
                drop(builder.add(file));
                all.extend(builder.build().ok().map(Rc::new));
            }
        }
        let paths = values.get("core").and_then(Value::as_map).and_then(|it| it.get("ignore_paths"));
        if let Some(paths) = paths.and_then(Value::as_array).filter(|it| !it.is_empty()) {
            let mut builder = GitignoreBuilder::new(dir);
            for path in paths.iter().filter_map(Value::as_string) {
                drop(builder.add_line(None, path));
            }
            all.extend(builder.build().ok().map(Rc::new));
        }
        if all.len() == self.0.len() { self.clone() } else { Rc::new(Self(all)) }
    }
}
