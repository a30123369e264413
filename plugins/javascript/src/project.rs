//! Which configuration holds for a folder, found as deno finds it: the nearest deno.json or deno.jsonc, joined
//! with that of the workspace it is a member of. Where that says nothing of linting, or is not there, another linter's
//! configuration in the folder or above it makes the project that linter's.
//!
//! Never looks above the root. Leaves out package.json, which says nothing about linting (so the members of an
//! npm workspace are not joined with its root), and the options of tsconfig.json.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use broker_plugin_sdk::config::{ByFolder, ConfigFiles};
use deno_config::deno_json::{CompilerOptions, LintRulesConfig};
use deno_config::glob::FilePatterns;
use deno_config::workspace::{
    WorkspaceDirectory, WorkspaceDirectoryRc, WorkspaceDiscoverOptions, WorkspaceDiscoverStart,
};
use deno_lint::linter::LintConfig;

use crate::files::Files;
use crate::lint::FileLinter;
use crate::neighbours;
use crate::problem;
use crate::reach::Patterns;
use crate::rules::{self, Kind};
use crate::selection::{self, Selection};

const CONFIG_FILES: [&str; 2] = ["deno.json", "deno.jsonc"];

/// Configuration and linter for the files of a folder.
pub(crate) struct Project {
    pub(crate) linter: FileLinter,
    kind: Kind,
    /// None where there is no configuration.
    config: Option<WorkspaceDirectoryRc>,
    /// Patterns of the configuration for the folder that the user named last.
    patterns: RefCell<Option<(PathBuf, Patterns)>>,
}

impl Project {
    /// The deno.json that says which rules are on.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        let config = self.config.as_ref().filter(|_| self.kind.is_of_deno())?;
        deno_path_util::url_to_file_path(&config.member_or_root_deno_json()?.specifier).ok()
    }

    /// Whether deno's walk from `named`, a folder, leads to `file`.
    pub(crate) fn reaches(&self, file: &Path, named: &Path, root: &Path) -> Result<bool, String> {
        let Some(config) = &self.config else {
            return Ok(true);
        };
        let mut last = self.patterns.borrow_mut();
        if last.as_ref().is_none_or(|it| it.0 != named) {
            let patterns = Patterns::new(config, named, root).map_err(|it| it.to_string())?;
            *last = Some((named.to_path_buf(), patterns));
        }
        Ok(last.as_ref().is_some_and(|it| it.1.reach(file)))
    }
}

/// A project, or a sentence about the configuration that should have given one.
type Found = Result<Rc<Project>, Rc<str>>;

/// The projects found so far below a root.
pub(crate) struct Projects {
    files: Files,
    configs: ConfigFiles,
    selection: Selection,
    found: ByFolder<Found>,
}

impl Projects {
    pub(crate) fn new(configs: ConfigFiles, selection: Selection) -> Self {
        let files = Files { root: configs.root().to_path_buf() };
        Self { files, configs, selection, found: ByFolder::default() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.configs.root()
    }

    /// Returns the project of the files in `dir`.
    pub(crate) fn of(&self, dir: &Path) -> Found {
        self.found.get_or(dir, || self.find(dir))
    }

    fn find(&self, dir: &Path) -> Found {
        let above = self.configs.above(dir);
        let is_fixed = self.configs.is_fixed();
        let project = match above {
            Some(_) if !is_fixed && self.has_config(dir)? => self.discover(dir)?,
            Some(above) => self.of(above)?,
            None => self.at_root()?,
        };
        let is_elsewhere = above.is_some_and(|it| self.of(it).is_ok_and(|it| it.kind == Kind::Elsewhere));
        let is_elsewhere = is_elsewhere || !is_fixed && neighbours::has_linter(dir);
        Ok(if is_elsewhere { self.checked_elsewhere(project) } else { project })
    }

    /// Returns the project for the same files in a folder that another linter is configured for.
    fn checked_elsewhere(&self, project: Rc<Project>) -> Rc<Project> {
        if project.kind == Kind::Elsewhere || project.config.as_deref().is_some_and(speaks_of_linting) {
            return project;
        }
        let jsx = project.config.as_deref().map_or_else(|| classic(None, None), jsx);
        let linter = self.linter(Kind::Elsewhere, &LintRulesConfig::default(), jsx, false);
        let config = project.config.clone();
        Rc::new(Project { linter, kind: Kind::Elsewhere, config, patterns: RefCell::default() })
    }

    fn at_root(&self) -> Found {
        match self.configs.named() {
            Some(config) => self.load(WorkspaceDiscoverStart::ConfigFile(config), config),
            None if !self.configs.is_fixed() && self.has_config(self.root())? => self.discover(self.root()),
            None => Ok(Rc::new(self.plain())),
        }
    }

    /// Whether deno would look for a configuration here, and find one.
    fn has_config(&self, dir: &Path) -> Result<bool, Rc<str>> {
        let is_dependency = dir.components().any(|it| it.as_os_str() == "node_modules");
        let files = CONFIG_FILES.map(|it| dir.join(it));
        let Some(file) = files.iter().find(|it| !is_dependency && it.symlink_metadata().is_ok()) else {
            return Ok(false);
        };
        // deno passes silently over what it cannot look at, which may just be a link that leads out of here.
        match file.metadata() {
            Ok(_) => Ok(true),
            Err(error) => Err(problem::sentence(&error, file, &self.configs)),
        }
    }

    fn discover(&self, dir: &Path) -> Found {
        let file = CONFIG_FILES.map(|it| dir.join(it)).into_iter().find(|it| it.is_file());
        let file = file.unwrap_or_else(|| dir.join(CONFIG_FILES[0]));
        self.load(WorkspaceDiscoverStart::Paths(&[dir.to_path_buf()]), &file)
    }

    fn load(&self, start: WorkspaceDiscoverStart, file: &Path) -> Found {
        let said = |error: &dyn std::error::Error| problem::sentence(error, file, &self.configs);
        let options = WorkspaceDiscoverOptions { discover_pkg_json: false, ..Default::default() };
        let config = WorkspaceDirectory::discover(&self.files, start, &options).map_err(|it| said(&it))?;
        let patterns = FilePatterns::new_with_base(config.dir_path());
        let lint = config.to_lint_config(patterns).map_err(|it| said(&it))?;
        let is_package = config.maybe_package_config().is_some();
        let kind = if is_package { Kind::Package } else { Kind::Deno };
        let linter = self.linter(kind, &lint.rules, jsx(&config), !lint.plugins.is_empty());
        Ok(Rc::new(Project { linter, kind, config: Some(config), patterns: RefCell::default() }))
    }

    /// Project for files without a configuration.
    fn plain(&self) -> Project {
        let linter = self.linter(Kind::Plain, &LintRulesConfig::default(), classic(None, None), false);
        Project { linter, kind: Kind::Plain, config: None, patterns: RefCell::default() }
    }

    fn linter(&self, kind: Kind, rules: &LintRulesConfig, jsx: LintConfig, has_plugins: bool) -> FileLinter {
        let codes = selection::apply(&self.selection, &rules::configured(kind, rules));
        FileLinter::new(kind, codes, jsx, has_plugins, &self.selection)
    }
}

/// Whether a deno.json of the workspace configures linting. Many are there for JSR or for tasks alone.
fn speaks_of_linting(config: &WorkspaceDirectory) -> bool {
    config.workspace.deno_jsons().any(|it| it.json.lint.is_some())
}

/// The names that JSX is compiled to, which count as used where there is JSX.
fn jsx(config: &WorkspaceDirectory) -> LintConfig {
    let mut merged = CompilerOptions::default();
    for source in config.to_configured_compiler_options_sources() {
        merged.merge_mut(source.compiler_options.unwrap_or_default());
    }
    let text = |name: &str| merged.0.get(name).and_then(|it| it.as_str());
    match text("jsx") {
        None | Some("react") => classic(text("jsxFactory"), text("jsxFragmentFactory")),
        Some(_) => LintConfig { default_jsx_factory: None, default_jsx_fragment_factory: None },
    }
}

pub(crate) fn classic(factory: Option<&str>, fragment: Option<&str>) -> LintConfig {
    let name =
        |it: Option<&str>, default: &str| Some(it.filter(|it| is_name(it)).unwrap_or(default).to_owned());
    LintConfig {
        default_jsx_factory: name(factory, "React.createElement"),
        default_jsx_fragment_factory: name(fragment, "React.Fragment"),
    }
}

/// Whether a text is a name with names after dots. (The crate panics on others.)
fn is_name(text: &str) -> bool {
    let is_start = |it: char| it.is_ascii_alphabetic() || matches!(it, '_' | '$');
    let is_part =
        |it: &str| it.starts_with(is_start) && it.chars().all(|it| is_start(it) || it.is_ascii_digit());
    text.split('.').all(is_part)
}
