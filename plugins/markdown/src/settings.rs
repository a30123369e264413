//! The settings that hold for the files of a directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rumdl_lib::config::editorconfig::{self, EditorConfigSettings};
use rumdl_lib::config::{
    Config, ConfigLoaded, ConfigValidated, SourcedConfig, default_registry, validate_config_sourced,
};
use rumdl_lib::rule::Rule;

use crate::{rules, selection::Selection};

/// A configuration and the rules that it turns on.
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) rules: Vec<Box<dyn Rule>>,
    /// What patterns in the configuration are relative to.
    pub(crate) base: PathBuf,
    /// With the origin of each value: `.editorconfig` fills in only what no other file says.
    sourced: SourcedConfig<ConfigValidated>,
}

impl Settings {
    pub(crate) fn new(sourced: SourcedConfig<ConfigLoaded>, selection: &Selection, root: &Path) -> Self {
        for warning in validate_config_sourced(&sourced, default_registry()) {
            warn(&warning.message);
        }
        Self::validated(sourced.into_validated_unchecked(), selection, root)
    }

    fn validated(sourced: SourcedConfig<ConfigValidated>, selection: &Selection, root: &Path) -> Self {
        let base = sourced.project_root.clone().unwrap_or_else(|| root.to_path_buf());
        let configured = !sourced.loaded_files.is_empty();
        let config: Config = sourced.clone().into();
        let rules = selection.apply(&rules::under(&config), &config.global, configured);
        Self { config, rules, base, sourced }
    }

    /// Whether a configuration file says anything.
    pub(crate) fn is_configured(&self) -> bool {
        !self.sourced.loaded_files.is_empty()
    }

    /// The path as the configuration's patterns name it.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.base).unwrap_or(path)
    }

    /// Whether a fix of this rule's findings is one that the configuration lets rumdl make.
    pub(crate) fn may_fix(&self, code: &str) -> bool {
        let names = |list: &[String]| list.iter().any(|it| it.eq_ignore_ascii_case(code));
        let global = &self.config.global;
        !names(&global.unfixable) && (global.fixable.is_empty() || names(&global.fixable))
    }
}

/// Variants of some settings, by what `.editorconfig` says of a file.
#[derive(Default)]
pub(crate) struct Variants(BTreeMap<(PathBuf, EditorConfigSettings), Rc<Settings>>);

impl Variants {
    /// `settings` with what `.editorconfig` adds for `file`, if the configuration wants it read.
    pub(crate) fn of(
        &mut self,
        settings: Rc<Settings>,
        file: &Path,
        selection: &Selection,
        root: &Path,
    ) -> Rc<Settings> {
        if !settings.config.global.editorconfig {
            return settings;
        }
        let found = editorconfig::resolve(file);
        for warning in &found.warnings {
            warn(&warning.message);
        }
        if found.settings.is_empty() {
            return settings;
        }
        let directory = file.parent().unwrap_or(root).to_path_buf();
        let variant = self.0.entry((directory, found.settings)).or_insert_with(|| {
            let mut sourced = settings.sourced.clone();
            editorconfig::apply(&mut sourced, &found.settings, found.origin.as_deref());
            Rc::new(Settings::validated(sourced, selection, root))
        });
        variant.clone()
    }
}

/// What rumdl prints as a warning about its configuration goes to the host's log.
fn warn(message: &str) {
    #[cfg(target_family = "wasm")]
    broker_plugin_sdk::log(broker_plugin_sdk::Level::Warn, message);
    #[cfg(not(target_family = "wasm"))]
    let _ = message; // tests have no host
}
