//! Which rules hold for a file: the nearest `.shuck.toml` or `shuck.toml`, as shuck finds it, and the nearest
//! `.shellcheckrc`.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use broker_plugin_sdk::Settings;
use broker_plugin_sdk::config::{ByFolder, ConfigFiles, on_line};
use globset::{Glob, GlobMatcher};
use shuck_linter::{
    CompiledPerFileIgnoreList, LinterSettings, PerFileIgnore, RuleSet, ShellCheckCodeMap, ShellDialect,
    apply_rule_selector_layer,
};
use toml::Table;

use crate::defaults;
use crate::dialect;
use crate::extra::Extra;
use crate::options;
use crate::selection::selectors_of;
use crate::shellcheck::ShellCheckRc;

const NAMES: [&str; 2] = [".shuck.toml", "shuck.toml"];
const SHELLCHECK: [&str; 2] = [".shellcheckrc", "shellcheckrc"];

/// Configuration that applies to a file.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) settings: LinterSettings,
    pub(crate) fixable: RuleSet,
    /// Shuck is configured: its findings are reported in its words.
    pub(crate) is_of_shuck: bool,
    /// By ShellCheck's configuration.
    pub(crate) disabled: RuleSet,
    /// By ShellCheck's configuration as well.
    pub(crate) disabled_extras: Vec<Extra>,
    /// The configuration file, shuck's if there is one, or else ShellCheck's.
    pub(crate) file: Option<PathBuf>,
    shells: Vec<(GlobMatcher, ShellDialect)>,
    pub(crate) root: PathBuf,
    /// ShellCheck's configuration names a shell for all files.
    shell: Option<ShellDialect>,
}

/// The workspace and the configurations that were found in it.
#[derive(Default)]
pub(crate) struct Workspace {
    files: ConfigFiles,
    known: ByFolder<Result<Rc<Config>, String>>,
}

impl Workspace {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { files: ConfigFiles::new(settings), ..Self::default() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.files.root()
    }

    pub(crate) fn config_of(&self, file: &Path, map: &ShellCheckCodeMap) -> Result<Rc<Config>, String> {
        let folder = self.files.folder_of(file);
        self.known.get_or(folder, || self.read(folder, map).map(Rc::new))
    }

    fn read(&self, folder: &Path, map: &ShellCheckCodeMap) -> Result<Config, String> {
        let file = self.files.nearest(folder, &NAMES);
        let mut config = match &file {
            Some(file) => self.shuck(file, map)?,
            None => Config::new(self.root().to_path_buf()),
        };
        config.file = file;
        if let Some(file) = self.files.nearest(folder, &SHELLCHECK).filter(|_| !self.files.is_fixed()) {
            let rc = ShellCheckRc::parse(&self.files.read(&file)?, map);
            config.disabled = if rc.disables_all { RuleSet::all() } else { rc.disabled };
            config.disabled_extras = rc.extras;
            config.shell = rc.shell;
            config.file.get_or_insert(file);
        }
        Ok(config)
    }

    fn shuck(&self, file: &Path, map: &ShellCheckCodeMap) -> Result<Config, String> {
        let text = self.files.read(file)?;
        let problem = |it: toml::de::Error| on_line(&text, it.span().map(|it| it.start), it.message());
        let table = text.parse::<Table>().map_err(problem);
        let config = table.and_then(|it| Config::of(&it, self.files.folder_of(file), map));
        config.map_err(|it| self.files.unusable(file, it))
    }
}

impl Config {
    fn new(root: PathBuf) -> Self {
        let settings = LinterSettings::for_rules(defaults::rules().iter());
        Self {
            settings,
            is_of_shuck: false,
            fixable: RuleSet::all(),
            disabled: RuleSet::EMPTY,
            disabled_extras: Vec::new(),
            file: None,
            shells: Vec::new(),
            root,
            shell: None,
        }
    }

    /// Reads the table `[lint]`.
    fn of(table: &Table, root: &Path, map: &ShellCheckCodeMap) -> Result<Self, String> {
        let settings = LinterSettings::for_rules(defaults::of_shuck().iter());
        let mut config = Self { settings, is_of_shuck: true, ..Self::new(root.to_path_buf()) };
        let Some(lint) = table.get("lint") else { return Ok(config) };
        let lint = lint.as_table().ok_or("`lint` should be a table")?;
        let read = Read { lint, map };
        let rules = config.settings.rules;
        config.settings.rules = read.layer(rules, ["select", "extend-select", "ignore"])?;
        config.fixable = read.layer(config.fixable, ["fixable", "extend-fixable", "unfixable"])?;
        let ignores = CompiledPerFileIgnoreList::resolve(root, read.ignores()?);
        config.settings.per_file_ignores = Arc::new(ignores.map_err(|it| format!("{it:#}"))?);
        config.shells = read.shells()?;
        if let Some(options) = lint.get("rule-options") {
            let options = options.as_table().ok_or("`lint.rule-options` should be a table")?;
            options::apply(options, &mut config.settings.rule_options)?;
        }
        Ok(config)
    }

    /// The shell that the configuration names for a file; the last that fits.
    pub(crate) fn shell_of(&self, file: &Path) -> Option<ShellDialect> {
        let path = file.strip_prefix(&self.root).unwrap_or(file);
        let name = Path::new(file.file_name().unwrap_or_default());
        let fits = |it: &&(GlobMatcher, ShellDialect)| {
            it.0.is_match(path) || it.0.is_match(name) || it.0.is_match(file)
        };
        self.shells.iter().rfind(fits).map(|it| it.1).or(self.shell)
    }
}

/// Reads the table `[lint]`.
struct Read<'a> {
    lint: &'a Table,
    map: &'a ShellCheckCodeMap,
}

impl Read<'_> {
    fn layer(&self, current: RuleSet, [select, extend, ignore]: [&str; 3]) -> Result<RuleSet, String> {
        let select = self.lint.get(select).map(|_| self.selectors(select)).transpose()?;
        Ok(apply_rule_selector_layer(
            current,
            select.as_deref(),
            &self.selectors(extend)?,
            &self.selectors(ignore)?,
        ))
    }

    fn selectors(&self, key: &str) -> Result<Vec<shuck_linter::RuleSelector>, String> {
        let Some(value) = self.lint.get(key) else { return Ok(Vec::new()) };
        let wrong = || format!("`lint.{key}` should be an array of rules");
        let mut found = Vec::new();
        for it in value.as_array().ok_or_else(wrong)? {
            found.extend(self.rule(it.as_str().ok_or_else(wrong)?, key)?);
        }
        Ok(found)
    }

    fn rule(&self, selector: &str, key: &str) -> Result<Vec<shuck_linter::RuleSelector>, String> {
        match selectors_of(selector, self.map) {
            none if none.is_empty() => {
                Err(format!("there is no rule `{selector}`, which `lint.{key}` names"))
            }
            some => Ok(some),
        }
    }

    fn ignores(&self) -> Result<Vec<PerFileIgnore>, String> {
        let mut found = Vec::new();
        for key in ["per-file-ignores", "extend-per-file-ignores"] {
            let wrong = || format!("`lint.{key}` should be a table of arrays of rules");
            let Some(value) = self.lint.get(key) else { continue };
            for (pattern, codes) in value.as_table().ok_or_else(wrong)? {
                let mut rules = RuleSet::EMPTY;
                for code in codes.as_array().ok_or_else(wrong)? {
                    for selector in self.rule(code.as_str().ok_or_else(wrong)?, key)? {
                        rules = rules.union(&selector.into_rule_set());
                    }
                }
                found.push(PerFileIgnore::new(pattern.clone(), rules));
            }
        }
        Ok(found)
    }

    fn shells(&self) -> Result<Vec<(GlobMatcher, ShellDialect)>, String> {
        let mut found = Vec::new();
        for key in ["per-file-shell", "extend-per-file-shell"] {
            let wrong = || format!("`lint.{key}` should be a table of names of shells");
            let Some(value) = self.lint.get(key) else { continue };
            for (pattern, shell) in value.as_table().ok_or_else(wrong)? {
                let glob = Glob::new(pattern).map_err(|it| format!("in `lint.{key}`: {it}"))?;
                let name = shell.as_str().ok_or_else(wrong)?;
                let unknown = || format!("`lint.{key}` names `{name}`: it can be {}", dialect::NAMES);
                found.push((glob.compile_matcher(), dialect::named(name).ok_or_else(unknown)?));
            }
        }
        Ok(found)
    }
}
