//! Settings of a file, the question whether ruff's walk would reach it, and its package.
//!
//! Does per directory, on demand and once, what `ruff check .` does while walking from the root. Never looks
//! above the root.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Error;
use broker_plugin_sdk::config::{ByFolder, ConfigFiles, broken_link};
use ruff_linter::UnresolvedRuleSelector;
use ruff_linter::line_width::LineLength;
use ruff_linter::package::PackageRoot;
use ruff_linter::packaging::{detect_package_root, is_package};
use ruff_linter::settings::types;
use ruff_python_ast::PythonVersion;
use ruff_workspace::Settings;
use ruff_workspace::configuration::{Configuration, RuleSelection};
use ruff_workspace::pyproject::{find_fallback_target_version, settings_toml};
use ruff_workspace::resolver::{
    ConfigurationOrigin, ConfigurationTransformer, match_exclusion, resolve_configuration,
};
use serde_json::Value;

use crate::flake8::Flake8;
use crate::purpose::Purpose;
use crate::{defaults, problem, selection};

/// Options that the user set on the command line and in `broker.toml`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) selection: RuleSelection,
    pub(crate) files: ConfigFiles,
    /// Value that applies where no configuration sets it.
    pub(crate) line_length: Option<LineLength>,
    pub(crate) target_version: Option<PythonVersion>,
}

impl Options {
    /// Reads the options in `broker.toml`, a JSON object as the manifest describes it.
    pub(crate) fn read(&mut self, json: &str) {
        let json: Value = serde_json::from_str(json).unwrap_or_default();
        let length = json["line-length"].as_u64().and_then(|it| u16::try_from(it).ok());
        self.line_length = length.and_then(|it| LineLength::try_from(it).ok());
        let version = serde_json::from_value::<types::PythonVersion>(json["target-version"].clone());
        self.target_version = version.ok().map(Into::into);
    }
}

/// Settings, and whether they are this plugin's defaults: neither ruff's configuration nor the user chose the rules.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) settings: Settings,
    pub(crate) is_default: bool,
    /// Configurations of flake8 from the root down. Each one's exclusions apply, since flake8 may be run in each of their
    /// folders.
    flake8: Vec<Rc<Flake8>>,
    /// Codes that the user selected besides.
    more: Rc<[String]>,
}

impl Applied {
    /// Returns a predicate for codes that flake8's configuration or the purposes of a file turn off and the user did not select.
    pub(crate) fn ignoring(&self, file: &Path, purposes: &[Purpose]) -> impl Fn(&str) -> bool {
        let ignoring: Vec<_> = self.flake8.iter().map(|it| it.ignoring(file)).collect();
        let is_off = move |code: &str| self.is_default && defaults::is_off_for(purposes, code);
        move |code| {
            (is_off(code) || ignoring.iter().any(|it| it(code))) && !self.more.iter().any(|it| it == code)
        }
    }

    /// The nearest configuration of flake8 that counts.
    pub(crate) fn flake8_file(&self) -> Option<&Path> {
        self.flake8.last().map(|it| it.file())
    }
}

/// Settings, or a sentence about the configuration that should have given them.
type Resolved = Result<Rc<Applied>, Rc<str>>;

/// A package's root directory and whether it lies in another package's.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    path: PathBuf,
    nested: bool,
}

/// A directory tree and the settings found in it so far.
pub(crate) struct Workspace {
    options: Options,
    /// Resolved settings by directory.
    settings: ByFolder<Resolved>,
    /// The directory that the user named last, and whether those below it are excluded.
    start: PathBuf,
    excluded: ByFolder<Result<bool, Rc<str>>>,
    packages: ByFolder<Option<Rc<Package>>>,
}

impl Workspace {
    pub(crate) fn new(options: Options) -> Self {
        let start = options.files.root().to_path_buf();
        let (settings, excluded, packages) = (ByFolder::default(), ByFolder::default(), ByFolder::default());
        Self { options, settings, start, excluded, packages }
    }

    fn files(&self) -> &ConfigFiles {
        &self.options.files
    }

    pub(crate) fn root(&self) -> &Path {
        self.files().root()
    }

    /// The settings for `file`, which was found at or below `named`; none if ruff would leave it out. What was
    /// named is left out only where its configuration says `force-exclude`.
    pub(crate) fn reach(&mut self, file: &Path, named: &Path) -> Result<Option<Rc<Applied>>, Rc<str>> {
        let dir = self.files().folder_of(file).to_path_buf();
        let is_explicit = file == named;
        let start = if is_explicit { dir.clone() } else { named.to_path_buf() };
        let is_forced = self.directory(&start)?.settings.file_resolver.force_exclude;
        let start = if is_forced { self.root().to_path_buf() } else { start };
        // In this order: the configuration in an excluded directory is not read.
        if self.is_excluded(&dir, start)? {
            return Ok(None);
        }
        let applied = self.directory(&dir)?;
        let settings = &applied.settings;
        let left_out = if is_explicit {
            is_forced && matches_exclusion(file, settings)
        } else {
            matches_exclusion(file, settings) || !is_included(file, settings)
        };
        Ok((!left_out).then_some(applied))
    }

    /// The settings for `file`, and the configuration file that they come from.
    pub(crate) fn holding_for(&self, file: &Path) -> Result<(Rc<Applied>, Option<PathBuf>), Rc<str>> {
        let directory = self.files().folder_of(file);
        let settings = self.directory(directory)?;
        Ok((settings, self.files().find(directory, |it| settings_toml(it).ok().flatten())))
    }

    /// The package that `file` is part of.
    pub(crate) fn package(&self, file: &Path, namespaces: &[PathBuf]) -> Option<Rc<Package>> {
        let dir = file.parent()?;
        self.packages.get_or(dir, || Package::find(dir, self.root(), namespaces).map(Rc::new))
    }

    fn directory(&self, dir: &Path) -> Resolved {
        self.settings.get_or(dir, || self.resolve(dir))
    }

    fn resolve(&self, dir: &Path) -> Resolved {
        let above = self.files().above(dir);
        let is_fixed = self.files().is_fixed();
        if above.is_none() && is_fixed {
            return self.fixed();
        }
        if !is_fixed {
            if let Some(problem) = self.unreadable_config(dir) {
                return Err(problem);
            }
            match settings_toml(dir) {
                Ok(Some(config)) => return self.load(&config, dir, ConfigurationOrigin::Ancestor),
                Ok(None) => {}
                Err(error) => return Err(self.sentence(&error, &dir.join("pyproject.toml"))),
            }
        }
        let inherited = match above {
            Some(above) => self.directory(above)?,
            None => self.default(Vec::new())?,
        };
        self.with_flake8(inherited, dir)
    }

    /// The settings, and besides them what a configuration of flake8 in `dir` leaves out.
    fn with_flake8(&self, inherited: Rc<Applied>, dir: &Path) -> Resolved {
        if !inherited.is_default || self.files().is_fixed() {
            return Ok(inherited);
        }
        match Flake8::read(dir) {
            Some(own) => self.default(inherited.flake8.iter().cloned().chain([Rc::new(own)]).collect()),
            None => Ok(inherited),
        }
    }

    /// ruff passes silently over a configuration that it cannot look at, which here may just be a link that
    /// leads out of the workspace.
    fn unreadable_config(&self, dir: &Path) -> Option<Rc<str>> {
        let (file, error) = broken_link(dir, [".ruff.toml", "ruff.toml", "pyproject.toml"])?;
        Some(self.sentence(&Error::new(error).context("a link that cannot be followed"), &file))
    }

    fn fixed(&self) -> Resolved {
        match self.files().named() {
            Some(config) => self.load(config, self.root(), ConfigurationOrigin::UserSpecified),
            None => self.unconfigured(None, Vec::new()),
        }
    }

    fn load(&self, config: &Path, project: &Path, origin: ConfigurationOrigin) -> Resolved {
        let configuration = resolve_configuration(config, self, origin);
        let settings = configuration.and_then(|it| it.into_settings(project));
        let applied = settings.map(|settings| Applied {
            settings,
            is_default: false,
            flake8: Vec::new(),
            more: Rc::default(),
        });
        applied.map(Rc::new).map_err(|error| self.sentence(&error, config))
    }

    /// Returns the settings where no configuration of ruff was found.
    fn default(&self, flake8: Vec<Rc<Flake8>>) -> Resolved {
        self.unconfigured(find_fallback_target_version(self.root()).map(Into::into), flake8)
    }

    /// Ruff's default rules that are off where it is not configured.
    fn off(&self) -> Vec<String> {
        let settings = Configuration::default().into_settings(self.root()).ok();
        settings.map_or_else(Vec::new, |it| defaults::off(it.linter.rules.iter_enabled()))
    }

    fn unconfigured(&self, target_version: Option<PythonVersion>, flake8: Vec<Rc<Flake8>>) -> Resolved {
        let target_version = target_version.or(self.options.target_version);
        let is_default = self.options.selection.select.is_none();
        let off = if is_default { self.off() } else { Vec::new() };
        let ignore = off.iter().cloned().map(UnresolvedRuleSelector::cli).collect();
        let extend_exclude = flake8.iter().flat_map(|it| it.excluded()).collect();
        let mut configuration = Configuration { target_version, extend_exclude, ..Configuration::default() };
        configuration.lint.rule_selections.push(RuleSelection { ignore, ..RuleSelection::default() });
        // A `noqa` for them is not unused: it is needed where ruff itself runs.
        configuration.lint.external = Some(off);
        let settings = self.transform(configuration).into_settings(self.root());
        let more = selection::codes(&self.options.selection.extend_select).into();
        let applied = settings.map(|settings| Applied { settings, is_default, flake8, more });
        applied.map(Rc::new).map_err(|error| Rc::from(error.to_string()))
    }

    fn sentence(&self, error: &Error, config: &Path) -> Rc<str> {
        problem::sentence(error, config, self.files()).into()
    }

    /// Whether `dir`, or a directory between it and `start`, is excluded; `start` itself never is.
    fn is_excluded(&mut self, dir: &Path, start: PathBuf) -> Result<bool, Rc<str>> {
        if self.start != start {
            self.excluded.clear();
            self.start = start;
        }
        self.is_excluded_below_start(dir)
    }

    fn is_excluded_below_start(&self, dir: &Path) -> Result<bool, Rc<str>> {
        self.excluded.get_or(dir, || match dir.parent() {
            Some(parent) if dir != self.start && dir.starts_with(&self.start) => {
                let is_excluded = self.is_excluded_below_start(parent)?;
                Ok(is_excluded || is_walled_off(dir, &self.directory(parent)?.settings))
            }
            _ => Ok(false),
        })
    }
}

impl ConfigurationTransformer for Workspace {
    fn transform(&self, mut configuration: Configuration) -> Configuration {
        configuration.lint.rule_selections.push(self.options.selection.clone());
        configuration.line_length = configuration.line_length.or(self.options.line_length);
        configuration.target_version = configuration.target_version.or(self.options.target_version);
        // These rules are never run here, so that a `noqa` for them must not be called unused.
        let external = configuration.lint.external.get_or_insert_default();
        external.extend(["EXE001", "EXE002"].map(str::to_owned));
        configuration
    }
}

/// Whether `exclude` or `extend-exclude` names this file or directory.
fn is_walled_off(path: &Path, settings: &Settings) -> bool {
    let name = path.file_name().unwrap_or_default();
    let resolver = &settings.file_resolver;
    match_exclusion(path, name, &resolver.exclude) || match_exclusion(path, name, &resolver.extend_exclude)
}

/// Whether `exclude`, `extend-exclude` or `lint.exclude` names this file.
fn matches_exclusion(file: &Path, settings: &Settings) -> bool {
    let name = file.file_name().unwrap_or_default();
    is_walled_off(file, settings) || match_exclusion(file, name, &settings.linter.exclude)
}

fn is_included(file: &Path, settings: &Settings) -> bool {
    let resolver = &settings.file_resolver;
    resolver.include.is_match(file) || resolver.extend_include.is_match(file)
}

impl Package {
    fn find(dir: &Path, root: &Path, namespaces: &[PathBuf]) -> Option<Self> {
        let path = detect_package_root(dir, namespaces)?;
        let path = if path.starts_with(root) { path } else { root };
        let above = path.ancestors().skip(1).take_while(|it| it.starts_with(root));
        let nested = path == dir && above.into_iter().any(|it| is_package(it, namespaces));
        Some(Self { path: path.to_path_buf(), nested })
    }

    /// Returns the package as ruff's type.
    pub(crate) fn root(&self) -> PackageRoot<'_> {
        if self.nested { PackageRoot::nested(&self.path) } else { PackageRoot::root(&self.path) }
    }
}
