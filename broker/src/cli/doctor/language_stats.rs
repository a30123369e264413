//! Languages of a workspace, and the linters of each.

use std::collections::{BTreeMap, BTreeSet};

use linters::Diagnosis;
use overlay::{View, WorkspacePath};

use super::diagnosis::{Language, Plugin};

/// Files of a workspace by language, and what checks them.
#[derive(Debug, Default)]
pub(super) struct LanguageStats {
    pub(super) files: u64,
    /// Languages, the one with the most files first; files of no language last.
    pub(super) languages: Vec<Language>,
    pub(super) plugins: Vec<Plugin>,
    by_server: BTreeMap<String, u64>,
}

/// Linters of the files of one language.
#[derive(Default)]
struct Seen {
    files: u64,
    plugins: BTreeSet<String>,
    servers: BTreeSet<String>,
}

impl LanguageStats {
    /// Counts files by language and linter. Linters in Broker itself count only if they are asked.
    pub(super) fn of(
        view: &dyn View,
        paths: impl IntoIterator<Item = WorkspacePath>,
        linters: &[Diagnosis],
    ) -> Self {
        let (servers, others): (Vec<_>, Vec<_>) = linters.iter().partition(|it| it.program.is_some());
        let plugins: Vec<_> = others.into_iter().filter(|it| it.standing.is_asked()).collect();
        let mut stats = Self::default();
        let mut seen: BTreeMap<Option<String>, Seen> = BTreeMap::new();
        for path in paths {
            stats.files += 1;
            let of_file = |all: &[&'_ Diagnosis]| -> Vec<_> {
                all.iter().copied().filter(|it| it.covers(view, &path)).map(|it| it.name.clone()).collect()
            };
            let of_server = servers.iter().find_map(|it| it.language(view, &path));
            // A plugin may be for several.
            let of_plugin = || plugins.iter().find_map(|it| it.language(view, &path));
            let of_grammar = || syntax::Language::of(&path).map(|it| it.name().to_owned());
            let language = of_server.or_else(of_grammar).or_else(of_plugin);
            let seen = seen.entry(language).or_default();
            seen.files += 1;
            seen.plugins.extend(of_file(&plugins));
            for name in of_file(&servers) {
                *stats.by_server.entry(name.clone()).or_default() += 1;
                seen.servers.insert(name);
            }
        }
        let language = |(name, it): (Option<String>, Seen)| Language {
            name,
            files: it.files,
            plugins: it.plugins.into_iter().collect(),
            servers: it.servers.into_iter().collect(),
        };
        stats.languages = seen.into_iter().map(language).collect();
        stats.languages.sort_by_key(|it| (it.name.is_none(), std::cmp::Reverse(it.files)));
        stats.plugins = plugins.into_iter().map(Plugin::of).collect();
        stats
    }

    /// Returns the number of files for this server to check.
    pub(super) fn files_of(&self, server: &str) -> u64 {
        self.by_server.get(server).copied().unwrap_or_default()
    }
}
