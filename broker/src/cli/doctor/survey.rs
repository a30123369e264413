//! Which languages there are in a workspace, and who looks at the files of each.

use std::collections::{BTreeMap, BTreeSet};

use checker::Router;
use language_servers::Profile;
use overlay::WorkspacePath;

use super::diagnosis::{Language, Plugin};

/// All files, counted.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) files: u64,
    /// That with the most files first; files of no language last.
    pub(super) languages: Vec<Language>,
    pub(super) plugins: Vec<Plugin>,
    by_server: BTreeMap<String, u64>,
}

/// Who looks at the files of one language.
#[derive(Default)]
struct Seen {
    files: u64,
    plugins: BTreeSet<String>,
    servers: BTreeSet<String>,
}

impl Survey {
    pub(super) fn of(
        paths: impl IntoIterator<Item = WorkspacePath>,
        router: &Router,
        known: &[Profile],
    ) -> Self {
        let mut survey = Self::default();
        let mut seen: BTreeMap<Option<String>, Seen> = BTreeMap::new();
        for path in paths {
            survey.files += 1;
            let servers: Vec<_> = known.iter().filter(|it| it.covers(&path)).collect();
            let plugins: Vec<_> = router.linters_for(&path).collect();
            let of_server = servers.first().map(|it| it.language(&path));
            // A plugin may be for several.
            let of_plugin =
                || plugins.iter().find_map(|it| it.interest().languages.first()).map(String::as_str);
            let of_grammar = || syntax::Language::of(&path).map(syntax::Language::name);
            let language = of_server.or_else(of_grammar).or_else(of_plugin).map(str::to_owned);
            let seen = seen.entry(language).or_default();
            seen.files += 1;
            seen.plugins.extend(plugins.iter().map(|it| it.identity().name.clone()));
            for it in servers {
                seen.servers.insert(it.name.clone());
                *survey.by_server.entry(it.name.clone()).or_default() += 1;
            }
        }
        let language = |(name, it): (Option<String>, Seen)| Language {
            name,
            files: it.files,
            plugins: it.plugins.into_iter().collect(),
            servers: it.servers.into_iter().collect(),
        };
        survey.languages = seen.into_iter().map(language).collect();
        survey.languages.sort_by_key(|it| (it.name.is_none(), std::cmp::Reverse(it.files)));
        survey.plugins = router.linters().iter().map(|it| Plugin::of(&**it)).collect();
        survey
    }

    /// How many files there are for this server to check.
    pub(super) fn files_of(&self, it: &Profile) -> u64 {
        self.by_server.get(&it.name).copied().unwrap_or_default()
    }
}
