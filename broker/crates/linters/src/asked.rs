//! Checkers of a workspace: which the configuration and the lock file turn on, and which of them are asked. The one place that
//! decides it, for the checkers themselves and for what they take the place of.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::PathBuf,
};

use check_engine::MissingLinter;
use config::{Selectors, SetupFailure};
use external_tools::is_there;
use language_servers::Environment;
use native_checkers::{Checker, checkers};
use overlay::WorkspacePath;

use crate::{
    confine::{self, Level, Permissions, Way},
    external::Kind,
    lock::LOCK_FILE,
    provider::WorkspaceContext,
    tools,
};

pub(crate) const CHECKERS: Kind<Checker> =
    Kind { known: checkers, define: Checker::defined, tool: |it| &it.tool, table: "checkers" };

/// A workspace as its checkers see it at the moment.
pub(crate) struct Place<'c> {
    permissions: &'c Permissions,
    pub(crate) context: &'c WorkspaceContext,
    pub(crate) level: Level,
    /// Without what leads into the workspace, unless it is trusted.
    pub(crate) environment: Environment,
}

/// Checkers of the configuration.
pub(crate) struct Settings {
    pub(crate) known: Cow<'static, [Checker]>,
    /// Names of those that are to be asked.
    pub(crate) used: BTreeSet<String>,
    /// Names of those that are turned off.
    pub(crate) refused: BTreeSet<String>,
    /// Names without a table, of checkers whose tools the project pins, each with the file by which it asks for it.
    pub(crate) pinned: BTreeMap<String, String>,
    /// Entries for definitions that do not count, by checker.
    pub(crate) passed_over: BTreeMap<String, MissingLinter>,
}

impl<'c> Place<'c> {
    pub(crate) fn of(permissions: &'c Permissions, context: &'c WorkspaceContext) -> Self {
        let level = permissions.level(&context.root);
        let environment = confine::environment(&context.environment, level, &context.root);
        Self { permissions, context, level, environment }
    }

    /// Reads the settings, from the disk: changes to them in a branch do not count.
    pub(crate) fn settings(&self) -> Result<Settings, SetupFailure> {
        let context = &self.context;
        let defined = match context.isolated {
            true => BTreeMap::new(),
            false => confine::config_on_disk(&*context.disk, self.level)?.checkers(),
        };
        let pins = if context.isolated { Vec::new() } else { tools::pinned_checkers(&*context.disk) };
        let pinned = |it: &Checker| {
            let is_open = !defined.contains_key(&it.tool.name);
            let is_pinned = is_open && pins.iter().any(|tool| tools::is_program_of(tool, &it.tool));
            let marker = || self.marker(it).map_or(LOCK_FILE, String::as_str).to_owned();
            is_pinned.then(|| (it.tool.name.clone(), marker()))
        };
        let pinned: BTreeMap<_, _> = checkers().iter().filter_map(pinned).collect();
        let known = CHECKERS.with_defined(&defined, self.level)?;
        let passed_over = CHECKERS.passed_over(&defined, self.level, &context.root);
        let (named, refused): (Vec<_>, Vec<_>) =
            defined.into_iter().partition(|(_, it)| it.enabled != Some(false));
        let used = named.into_iter().map(|it| it.0).chain(pinned.keys().cloned()).collect();
        let refused = refused.into_iter().map(|it| it.0).collect();
        Ok(Settings { known, used, refused, pinned, passed_over })
    }

    /// File or table of a file by which the project configures a checker.
    pub(crate) fn marker<'a>(&self, checker: &'a Checker) -> Option<&'a String> {
        let disk = &*self.context.disk;
        checker.configured_by.iter().find(|it| is_there(disk, &WorkspacePath::root(), it))
    }

    pub(crate) fn way(&self, checker: &Checker) -> Result<Way, String> {
        self.permissions.way(&checker.tool, self.level, &self.context.root)
    }

    /// Path of a checker's program here: of a workspace that is not trusted none is found.
    pub(crate) fn find(&self, checker: &Checker) -> Option<PathBuf> {
        let (root, variable) =
            (&self.context.root, |name: &str| self.environment.get(name).map(OsString::from));
        if self.level == Level::Trusted {
            return checker.tool.find_anywhere(root, &variable);
        }
        let found = checker.tool.without_programs_of_workspace().find_anywhere(root, &variable);
        found.filter(|it| !shadow::leads_through(it, root))
    }

    /// Whether a checker is asked: the configuration uses it and the selectors do not exclude it, or a selector names it.
    pub(crate) fn is_wanted(&self, settings: &Settings, selectors: &Selectors, name: &str) -> bool {
        let is_selected = selectors.select_by_name(name);
        is_selected || (settings.used.contains(name) && selectors.for_server(name).is_some())
    }

    /// Names of the checkers that are asked where this is selected: they are turned on, and nothing keeps them from running. Only
    /// these take the place of others.
    pub(crate) fn asked(&self, settings: &Settings, selectors: &Selectors) -> BTreeSet<String> {
        let is_asked = |it: &&Checker| {
            let name = &it.tool.name;
            selectors.for_server(name).is_some_and(|it| !it.ignore.iter().any(|it| it == "ALL"))
                && self.is_wanted(settings, selectors, name)
                && self.can_run(it)
        };
        settings.known.iter().filter(is_asked).map(|it| it.tool.name.clone()).collect()
    }

    fn can_run(&self, checker: &Checker) -> bool {
        self.find(checker).is_some()
            && self.way(checker).is_ok()
            && confine::sandbox(&self.environment, &self.context.root).is_ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::{collections::BTreeMap as Map, fs, os::unix::fs::PermissionsExt as _, sync::Arc};

    use overlay::Disk;
    use tool_store::Catalogue;

    use super::*;
    use crate::lock::Lock;

    /// Checkers that are asked where `tsgolint` is pinned, with this configuration and selector, and its program there or not.
    fn asked(config: &str, ignored: &[&str], is_installed: bool) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (root, bin) = (top.join("work"), top.join("bin"));
        [&root, &bin].into_iter().for_each(|it| fs::create_dir(it).unwrap());
        let mut lock = Lock::default();
        lock.tools.push(Catalogue::own().find("tsgolint").unwrap().locked().unwrap());
        fs::write(root.join("broker.lock"), lock.to_text()).unwrap();
        fs::write(root.join("broker.toml"), config).unwrap();
        if is_installed {
            fs::write(bin.join("tsgolint"), "").unwrap();
            fs::set_permissions(bin.join("tsgolint"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let environment = Environment::of_daemon_with(bin.as_os_str(), &root, &Map::new());
        let disk = Arc::new(Disk::new(&root).unwrap());
        let context = WorkspaceContext { environment, ..WorkspaceContext::of_shell(&root, disk) };
        let permissions = Permissions::of_test();
        let place = Place::of(&permissions, &context);
        let ignored: Vec<_> = ignored.iter().map(|it| (*it).to_owned()).collect();
        let selectors = Selectors::parse(None, &ignored).unwrap();
        place.asked(&place.settings().unwrap(), &selectors).into_iter().collect()
    }

    #[test]
    fn a_pinned_checker_is_asked_where_nothing_keeps_it_from_that() {
        assert_eq!(asked("", &[], true), ["tsgolint"]);
        assert_eq!(asked("[checkers.tsgolint]", &[], true), ["tsgolint"]);
        let none: [&str; 0] = [];
        assert_eq!(asked("[checkers.tsgolint]\nenabled = false", &[], true), none);
        assert_eq!(asked("", &["tsgolint/ALL"], true), none);
        assert_eq!(asked("", &[], false), none);
    }
}
