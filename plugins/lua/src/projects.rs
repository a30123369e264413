//! Which configuration holds for a file: the nearest `selene.toml`, and never one above the root. Where there is none, each
//! `.luacheckrc` counts from the root down, since luacheck may be run in each of their folders.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use globset::{Glob, GlobSet, GlobSetBuilder};
use rustc_hash::FxHashMap;
use selene_lib::{CheckerConfig, LintVariation};

use crate::defaults;
use crate::lint::Linter;
use crate::luacheckrc::Luacheckrc;
use crate::rules::Selection;
use crate::warm_up;

const NAME: &str = "selene.toml";

/// What the user asked for on the command line.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) selection: Selection,
    pub(crate) isolated: bool,
    /// Relative to the root.
    pub(crate) config: Option<String>,
}

/// A configuration, made ready.
pub(crate) struct Project {
    /// What `exclude` is relative to.
    base: PathBuf,
    exclude: GlobSet,
    pub(crate) linter: Rc<Linter>,
    /// The file, and what it says of lints; none without a configuration.
    configured: Option<(PathBuf, HashMap<String, LintVariation>)>,
    /// None where there is a configuration.
    luacheck: Vec<Rc<Luacheckrc>>,
}

impl Project {
    /// Whether a file is left out; `is_chosen` if the user selected the lints.
    pub(crate) fn excludes(&self, file: &Path, is_chosen: bool) -> bool {
        self.exclude.is_match(file.strip_prefix(&self.base).unwrap_or(file))
            || !is_chosen && self.luacheck.iter().any(|it| it.excludes(file))
    }

    /// Whether luacheck would ignore what a lint says of a name.
    pub(crate) fn ignores(&self, code: &str, name: &str) -> bool {
        self.luacheck.iter().any(|it| it.ignores(code, name))
    }

    /// The configuration file.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.configured.as_ref().map(|it| it.0.as_path())
    }

    /// Whether a lint is on if the user asks for none.
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
    root: PathBuf,
    options: Options,
    /// For files that no configuration is about.
    unconfigured: Rc<Linter>,
    /// What holds for the files of a directory. (Not the standard library's map: its order is random.)
    known: FxHashMap<PathBuf, Found>,
}

impl Projects {
    pub(crate) fn new() -> Self {
        let unconfigured = Rc::new(Linter::unconfigured());
        warm_up::run(&unconfigured);
        Self {
            root: PathBuf::from("/"),
            options: Options::default(),
            unconfigured,
            known: FxHashMap::default(),
        }
    }

    pub(crate) fn configure(&mut self, root: &Path, options: Options) {
        self.root = root.to_path_buf();
        self.options = options;
        self.known.clear();
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn selection(&self) -> &Selection {
        &self.options.selection
    }

    /// The project that `file` is part of.
    pub(crate) fn of(&mut self, file: &Path) -> Found {
        let is_fixed = self.options.isolated || self.options.config.is_some();
        let dir =
            if is_fixed { self.root.clone() } else { file.parent().unwrap_or(&self.root).to_path_buf() };
        self.directory(&dir)
    }

    fn directory(&mut self, dir: &Path) -> Found {
        if let Some(known) = self.known.get(dir) {
            return known.clone();
        }
        let found = self.find(dir);
        self.known.insert(dir.to_path_buf(), found.clone());
        found
    }

    fn find(&mut self, dir: &Path) -> Found {
        if let Some(config) = &self.options.config {
            return self.load(&self.root.join(config), &self.root);
        }
        let config = dir.join(NAME);
        if !self.options.isolated && is_there(&config) {
            return self.load(&config, dir);
        }
        let inherited = match dir.parent() {
            Some(parent) if dir != self.root && dir.starts_with(&self.root) => self.directory(parent)?,
            _ => Rc::new(self.unconfigured(Vec::new())),
        };
        Ok(self.with_luacheck(inherited, dir))
    }

    fn unconfigured(&self, luacheck: Vec<Rc<Luacheckrc>>) -> Project {
        let (base, exclude, linter) = (self.root.clone(), GlobSet::empty(), self.unconfigured.clone());
        Project { base, exclude, linter, configured: None, luacheck }
    }

    /// The project, and besides what holds for it a `.luacheckrc` in `dir`.
    fn with_luacheck(&self, inherited: Rc<Project>, dir: &Path) -> Rc<Project> {
        if inherited.configured.is_some() || self.options.isolated {
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
        let name = config.strip_prefix(&self.root).unwrap_or(config).display();
        let project = self.read(config, base);
        project.map(Rc::new).map_err(|problem| format!("cannot use `{name}`: {problem}").into())
    }

    #[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
    fn read(&self, file: &Path, base: &Path) -> Result<Project, String> {
        let text = std::fs::read_to_string(file).map_err(|it| it.to_string())?;
        let config: CheckerConfig<toml::Value> = toml::from_str(&text).map_err(|it| one_line(&it))?;
        let exclude = patterns(&config.exclude).map_err(|it| format!("in `exclude`: {it}"))?;
        // As with selene: where it runs, then where the configuration is.
        let mut folders = vec![base.to_path_buf()];
        folders.extend(file.parent().filter(|it| *it != base).map(Path::to_path_buf));
        let configured = Some((file.to_path_buf(), config.lints.clone()));
        let linter = Rc::new(Linter::configured(config, &folders, &self.root)?);
        Ok(Project { base: base.to_path_buf(), exclude, linter, configured, luacheck: Vec::new() })
    }
}

/// A link that leads nowhere is no file; one that cannot be followed is told when it is read.
pub(crate) fn is_there(file: &Path) -> bool {
    file.metadata().map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true)
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
