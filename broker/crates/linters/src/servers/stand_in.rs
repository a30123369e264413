//! Checkers in the place of language servers that a project asks for and that are not installed: ESLint's command for its server.

use std::collections::BTreeMap;

use config::ServerSettings;
use language_servers::{Profile, Reason};
use native_checkers::{Checker, checkers};

use super::{ServerContext, Why, chosen};

/// The checker that is asked in the place of a server, if only that is installed.
pub(crate) fn of(profile: &Profile, context: &ServerContext<'_>) -> Option<&'static Checker> {
    let checker = checkers().iter().find(|it| it.stands_in_for.as_ref() == Some(&profile.tool.name))?;
    let variable = |name: &str| context.environment.get(name).map(ToOwned::to_owned);
    let is_needed = context.find(profile).is_none();
    let is_there = || checker.tool.find_anywhere(context.root, &variable).is_some();
    (is_needed && is_there()).then_some(checker)
}

/// Names of the checkers that are asked so, each with the marker that asks for the server. Where the configuration names servers,
/// there are none.
pub(crate) fn all(
    known: &[Profile],
    context: &ServerContext<'_>,
    settings: &ServerSettings,
) -> BTreeMap<&'static str, String> {
    let has_one =
        |it: &&Profile| checkers().iter().any(|own| own.stands_in_for.as_ref() == Some(&it.tool.name));
    let served: Vec<_> = known.iter().filter(has_one).collect();
    let asked = settings.used.is_none().then(|| chosen(&served, context)).into_iter().flatten();
    let standing = asked.filter_map(|it| {
        let Why::Project(Reason::Configured(marker) | Reason::Project(marker)) = it.why else { return None };
        Some((of(it.profile, context)?.tool.name.as_str(), marker.to_owned()))
    });
    standing.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::{
        collections::{BTreeMap as Map, BTreeSet},
        fs,
        path::Path,
        sync::Arc,
    };

    use language_servers::{Environment, profiles};
    use overlay::{Disk, View};

    use super::*;
    use crate::{confine::Level, servers::wanted};

    /// Servers that are wanted in a folder of these files, and checkers that stand in.
    fn asked(files: &[&str], settings: &ServerSettings) -> String {
        asked_beside(files, settings, &BTreeSet::new())
    }

    /// The same where these checkers are asked.
    fn asked_beside(files: &[&str], settings: &ServerSettings, checkers: &BTreeSet<String>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in files.iter().map(|it| root.join(it)) {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let disk: Arc<dyn View> = Arc::new(Disk::new(&root).unwrap());
        let environment = Environment::of_daemon_with(Path::new("/nowhere").as_os_str(), &root, &Map::new());
        let context = ServerContext { root: &root, disk: &disk, environment, level: Level::Trusted };
        let wanted = wanted(profiles(), &context, settings, checkers).unwrap();
        let wanted: Vec<_> = wanted.iter().map(|it| it.profile.tool.name.as_str()).collect();
        format!("{wanted:?} {:?}", all(profiles(), &context, settings))
    }

    #[test]
    fn the_command_of_eslint_stands_in_for_its_server() {
        let automatic = ServerSettings::default();
        let command = "node_modules/.bin/eslint";
        let server = "node_modules/.bin/vscode-eslint-language-server";
        insta::assert_snapshot!(asked(&["eslint.config.mjs"], &automatic), @r#"["eslint"] {}"#);
        insta::assert_snapshot!(asked(&[".eslintrc.json", command], &automatic), @r#"["eslint"] {"eslint-cli": ".eslintrc.json"}"#);
        insta::assert_snapshot!(asked(&[".eslintrc.json", command, server], &automatic), @r#"["eslint"] {}"#);
        insta::assert_snapshot!(asked(&["a.js", command], &automatic), @"[] {}");
        let named = ServerSettings { used: Some(vec!["eslint".to_owned()]), ..automatic };
        insta::assert_snapshot!(asked(&["eslint.config.mjs", command], &named), @r#"["eslint"] {}"#);
    }

    #[test]
    fn servers_give_way_to_a_checker_of_types() {
        let files = ["tsconfig.json", "eslint.config.mjs"];
        let automatic = ServerSettings::default();
        let beside =
            |name: &str, settings: &ServerSettings| asked_beside(&files, settings, &[name.to_owned()].into());
        insta::assert_snapshot!(beside("tsc", &automatic), @r#"["typescript", "eslint"] {}"#);
        insta::assert_snapshot!(beside("tsgolint", &automatic), @r#"["eslint"] {}"#);
        let named = ServerSettings { used: Some(vec!["typescript".to_owned()]), ..automatic };
        insta::assert_snapshot!(beside("tsgolint", &named), @"[] {}");
    }
}
