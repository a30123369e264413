//! Configuration of a file: the nearest `selene.toml`, and never one above the root. If there is none, each `.luacheckrc` counts
//! from the root down, since luacheck may be run in each of their folders.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use broker_plugin_sdk::Settings;
use broker_plugin_sdk::config::{ByFolder, ConfigFiles, is_there};
use globset::{Glob, GlobSet, GlobSetBuilder};
use selene_lib::{CheckerConfig, LintVariation};

use crate::defaults;
use crate::lint::Linter;
use crate::luacheckrc::Luacheckrc;
use crate::rules::Selection;
use crate::warm_up;

const NAME: &str = "selene.toml";

/// A configuration, made ready.
pub(crate) struct Project {
    /// Folder that the patterns of `exclude` are relative to.
    base: PathBuf,
    exclude: GlobSet,
    pub(crate) linter: Rc<Linter>,
    /// The file, and what it says of lints; none without a configuration.
    configured: Option<(PathBuf, HashMap<String, LintVariation>)>,
    /// Configurations of luacheck; none if there is a `selene.toml`.
    luacheck: Vec<Rc<Luacheckrc>>,
}

impl Project {
    /// Whether a file is excluded; `is_chosen` if the user selected the lints.
    pub(crate) fn excludes(&self, file: &Path, is_chosen: bool) -> bool {
        self.exclude.is_match(file.strip_prefix(&self.base).unwrap_or(file))
            || !is_chosen && self.luacheck.iter().any(|it| it.excludes(file))
    }

    /// Whether luacheck would ignore a finding of a lint about a name.
    pub(crate) fn ignores(&self, code: &str, name: &str) -> bool {
        self.luacheck.iter().any(|it| it.ignores(code, name))
    }

    /// The configuration file.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.configured.as_ref().map(|it| it.0.as_path())
    }

    /// Whether a lint is on if the user selects none.
    pub(crate) fn turns_on(&self, code: &str) -> bool {
        let Some((_, lints)) = &self.configured else {
            return !defaults::is_off(code) && !self.ignores(code, "");
        };
        lints
            .get(code)
            .map_or_else(|| defaults::is_on_in_selene(code), |it| !matches!(it, LintVariation::Allow))
    }
}

/// A project, or a sentence about the configuration that should have made one.
type Found = Result<Rc<Project>, Rc<str>>;

/// A directory tree and the projects found in it so far.
pub(crate) struct Projects {
    files: ConfigFiles,
    selection: Selection,
    /// Linter for files without a configuration.
    unconfigured: Rc<Linter>,
    known: ByFolder<Found>,
}

impl Projects {
    pub(crate) fn new() -> Self {
        let unconfigured = Rc::new(Linter::unconfigured());
        warm_up::run(&unconfigured);
        Self {
            files: ConfigFiles::default(),
            selection: Selection::default(),
            unconfigured,
            known: ByFolder::default(),
        }
    }

    pub(crate) fn configure(&mut self, settings: &Settings, selection: Selection) {
        self.files = ConfigFiles::new(settings);
        self.selection = selection;
        self.known.clear();
    }

    pub(crate) fn root(&self) -> &Path {
        self.files.root()
    }

    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The project that `file` is part of.
    pub(crate) fn of(&self, file: &Path) -> Found {
        self.directory(if self.files.is_fixed() { self.root() } else { self.files.folder_of(file) })
    }

    fn directory(&self, dir: &Path) -> Found {
        self.known.get_or(dir, || self.find(dir))
    }

    fn find(&self, dir: &Path) -> Found {
        if let Some(config) = self.files.named() {
            return self.load(config, self.root());
        }
        let config = dir.join(NAME);
        if !self.files.is_fixed() && is_there(&config) {
            return self.load(&config, dir);
        }
        let inherited = match self.files.above(dir) {
            Some(above) => self.directory(above)?,
            None => Rc::new(self.unconfigured(Vec::new())),
        };
        Ok(self.with_luacheck(inherited, dir))
    }

    fn unconfigured(&self, luacheck: Vec<Rc<Luacheckrc>>) -> Project {
        let (base, linter) = (self.root().to_path_buf(), self.unconfigured.clone());
        Project { base, exclude: GlobSet::empty(), linter, configured: None, luacheck }
    }

    /// The project, and besides what holds for it a `.luacheckrc` in `dir`.
    fn with_luacheck(&self, inherited: Rc<Project>, dir: &Path) -> Rc<Project> {
        if inherited.configured.is_some() || self.files.is_fixed() {
            return inherited;
        }
        match Luacheckrc::read(dir) {
            Some(own) => {
                let all = inherited.luacheck.iter().cloned().chain([Rc::new(own)]).collect();
                Rc::new(self.unconfigured(all))
            }
            None => inherited,
        }
    }

    /// `base` is where selene would run.
    fn load(&self, config: &Path, base: &Path) -> Found {
        let text = self.files.read(config)?;
        let project = self.project(&text, config, base);
        project.map(Rc::new).map_err(|it| self.files.unusable(config, it).into())
    }

    fn project(&self, text: &str, file: &Path, base: &Path) -> Result<Project, String> {
        let config: CheckerConfig<toml::Value> = toml::from_str(text).map_err(|it| one_line(&it))?;
        let exclude = patterns(&config.exclude).map_err(|it| format!("in `exclude`: {it}"))?;
        // Folders in selene's order: the one it runs in, then that of the configuration.
        let mut folders = vec![base.to_path_buf()];
        folders.extend(file.parent().filter(|it| *it != base).map(Path::to_path_buf));
        let configured = Some((file.to_path_buf(), config.lints.clone()));
        let linter = Rc::new(Linter::configured(config, &folders, self.root())?);
        Ok(Project { base: base.to_path_buf(), exclude, linter, configured, luacheck: Vec::new() })
    }
}

fn patterns(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern)?);
    }
    set.build()
}

/// toml's messages have the place in their first line, and the reason in their last.
fn one_line(error: &toml::de::Error) -> String {
    let told = error.to_string();
    let place = told.lines().next().and_then(|it| it.strip_prefix("TOML parse error at "));
    let message = error.message().replace('\n', ", ");
    place.map_or_else(|| message.clone(), |place| format!("{place}: {message}"))
}
