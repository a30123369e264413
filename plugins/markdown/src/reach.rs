//! Which files the configuration leaves out: `exclude` and `include`, the `ignores` of markdownlint-cli2, and
//! `.markdownlintignore`. Leaves `.gitignore` to the host.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use rumdl_lib::config::Cli2Ignore;
use rumdl_lib::discovery::{
    ExcludeMatchers, MARKDOWNLINTIGNORE, expand_include_directory, normalize_pattern_for_base,
};
use rustc_hash::FxHashMap;

use crate::settings::Settings;

/// Patterns of the root's configuration that select files.
pub(crate) struct Gate {
    base: PathBuf,
    exclude: ExcludeMatchers,
    include: Override,
    ignores: Vec<Cli2Ignore>,
}

impl Gate {
    pub(crate) fn new(root: &Settings) -> Self {
        let global = &root.config.global;
        Self {
            base: root.base.clone(),
            exclude: ExcludeMatchers::new(&global.exclude),
            include: includes(&global.include, &root.base),
            ignores: root.config.cli2_ignores.iter().filter(|it| it.root).cloned().collect(),
        }
    }

    /// Whether `file` is looked at when `named` is walked. A pattern that excludes a folder does not count below it if it was
    /// named.
    pub(crate) fn lets_through(&self, file: &Path, named: &Path, root: &Path) -> bool {
        let is_excluded = self.excludes(file) && !self.excludes(&named.join("any.md"));
        // The option `include` counts for the whole project alone, as in rumdl.
        let is_included = named != root || !self.include.matched(file, false).is_ignore();
        !is_excluded && is_included && !self.ignores.iter().any(|it| ignores(it, file, named))
    }

    fn excludes(&self, file: &Path) -> bool {
        let relative = file.strip_prefix(&self.base).ok().map(Path::to_string_lossy);
        self.exclude.excludes_file(relative.as_deref(), file)
    }
}

fn ignores(scope: &Cli2Ignore, file: &Path, named: &Path) -> bool {
    scope.matches(file) || scope.prunes_walked_path(file, named)
}

/// Patterns that cannot be read are passed over, as in rumdl.
fn includes(patterns: &[String], base: &Path) -> Override {
    let mut builder = OverrideBuilder::new(base);
    for pattern in patterns {
        for rule in expand_include_directory(&normalize_pattern_for_base(pattern, Some(base))) {
            let _ = builder.add(&rule);
        }
    }
    builder.build().unwrap_or_else(|_| Override::empty())
}

/// The `.markdownlintignore` files found so far, by directory.
#[derive(Default)]
pub(crate) struct IgnoreFiles(FxHashMap<PathBuf, Rc<Gitignore>>);

impl IgnoreFiles {
    /// Whether one of the ignore files matches `file`. The nearest that has a pattern for it decides.
    pub(crate) fn name(&mut self, file: &Path, root: &Path) -> bool {
        let directories = file.ancestors().skip(1).take_while(|it| it.starts_with(root));
        for directory in directories {
            let here = self.in_directory(directory);
            let found = here.matched_path_or_any_parents(file, false);
            if !found.is_none() {
                return found.is_ignore();
            }
        }
        false
    }

    fn in_directory(&mut self, directory: &Path) -> Rc<Gitignore> {
        if let Some(known) = self.0.get(directory) {
            return known.clone();
        }
        let mut builder = GitignoreBuilder::new(directory);
        // An ignore file that does not exist, or cannot be read, has no patterns.
        drop(builder.add(directory.join(MARKDOWNLINTIGNORE)));
        let found = Rc::new(builder.build().unwrap_or_else(|_| Gitignore::empty()));
        self.0.insert(directory.to_path_buf(), found.clone());
        found
    }
}
