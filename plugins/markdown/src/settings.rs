//! The settings that hold for the files of a directory.

use std::path::{Path, PathBuf};

use broker_plugin_sdk::warn;
use rumdl_lib::config::{Config, ConfigLoaded, SourcedConfig, default_registry, validate_config_sourced};
use rumdl_lib::rule::Rule;

use crate::markdownlint::{self, Extras};
use crate::rules;
use crate::selection::{self, Selection, Source};

/// A configuration and the rules that it turns on.
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) rules: Vec<Box<dyn Rule>>,
    /// Folder that patterns in the configuration are relative to.
    pub(crate) base: PathBuf,
    /// Whether there is a configuration file.
    pub(crate) is_configured: bool,
    /// Path of the configuration file, the nearest of those that extend each other.
    pub(crate) file: Option<PathBuf>,
    /// Whether the rules are those of [`crate::defaults`].
    pub(crate) has_defaults: bool,
    /// Settings of markdownlint's configuration, if that one applies. markdownlint checks each file by itself.
    pub(crate) markdownlint: Option<Extras>,
    /// Why something that the configuration rests on is not known.
    pub(crate) unresolved: Option<String>,
}

impl Settings {
    pub(crate) fn new(mut sourced: SourcedConfig<ConfigLoaded>, selection: &Selection, root: &Path) -> Self {
        let extras = markdownlint::complete(&mut sourced, root);
        // rumdl prints these warnings.
        for warning in validate_config_sourced(&sourced, default_registry()) {
            warn(&warning.message);
        }
        for code in extras.iter().flat_map(|it| &it.unable) {
            warn(&format!("{code} is off: an option of it is one that only markdownlint has"));
        }
        let base = sourced.project_root.clone().unwrap_or_else(|| root.to_path_buf());
        let is_configured = !sourced.loaded_files.is_empty();
        let file = sourced.loaded_files.last().map(PathBuf::from);
        let config: Config = sourced.into_validated_unchecked().into();
        let unresolved = extras.as_ref().and_then(|it| it.unresolved.clone());
        let source = match &extras {
            // Without a configuration that can be read, the defaults hold, so that at least broken text is reported.
            _ if unresolved.is_some() || !is_configured => Source::Nothing,
            Some(extras) => Source::Markdownlint(extras),
            None => Source::Rumdl,
        };
        let rules = selection::apply(selection, &rules::under(&config), &config.global, source);
        let has_defaults = !is_configured && !selection.is_chosen();
        let markdownlint = extras;
        Self { config, rules, base, is_configured, file, has_defaults, markdownlint, unresolved }
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
