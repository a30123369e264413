//! Configuration files, read by sqruff's own reader. Values at which it would break off are reported before ([`values`]).

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr;

use broker_plugin_sdk::config::{ConfigFiles, is_there};
use hashbrown::HashMap;
use sqruff_lib::core::config::{ConfigLoader, FluffConfig, Value};
use sqruff_lib_core::dialects::init::DialectKind;

use crate::{renamed, template, values};

/// Sections with their keys.
pub(crate) type Values = HashMap<String, Value>;

/// Names of the configuration files that sqruff's reader looks for in a folder, in order of precedence.
const NAMES: [&str; 5] = [".sqlfluff", ".sqruff", ".sqruff.ini", "pyproject.toml", "sqruff.toml"];

/// Keys from which sqruff reads lists, and the keys under which it keeps them.
const LISTS_OF_SQRUFF: [(&str, &str); 4] = [
    ("ignore", "ignore"),
    ("warnings", "warnings"),
    ("rules", "rule_allowlist"),
    ("exclude_rules", "rule_denylist"),
];

/// Limit where none is configured; sqruff's own is 20,000. Natively 50,000 bytes take 0.1 to 0.7 seconds (of one condition
/// with thousands of `OR`, five times as long); from some 70,000 on, sqruff's `max_parse_nodes` ends most attempts.
const LARGE: usize = 50_000;

/// The values that hold for a folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    values: Values,
    /// Name of the dialect, where `values` have none.
    dialect: Option<String>,
}

impl Config {
    pub(crate) fn new(values: Values, dialect: Option<String>) -> Self {
        Self { values, dialect }
    }

    fn core(&self, key: &str) -> Option<&Value> {
        self.values.get("core")?.as_map()?.get(key)
    }

    /// Whether a configuration file has any settings.
    pub(crate) fn is_configured(&self) -> bool {
        !self.values.is_empty()
    }

    pub(crate) fn dialect(&self) -> Option<&str> {
        self.core("dialect").and_then(Value::as_string).or(self.dialect.as_deref())
    }

    /// None: none is named.
    pub(crate) fn templater(&self) -> Option<&str> {
        self.core("templater")?.as_string()
    }

    /// Whether a category of findings is ignored: `parsing`, `lexing`, `linting`.
    pub(crate) fn ignores(&self, category: &str) -> bool {
        let all = self.core("ignore").and_then(Value::as_array).unwrap_or_default();
        all.iter().filter_map(Value::as_string).any(|it| it.trim() == category)
    }

    pub(crate) fn has_extension(&self, file: &Path) -> bool {
        let name = file.file_name().map(|it| it.to_string_lossy().to_lowercase()).unwrap_or_default();
        let all = self.core("sql_file_exts").and_then(Value::as_array);
        let ends = |it: &Value| it.as_string().is_some_and(|it| name.ends_with(&it.trim().to_lowercase()));
        all.is_none_or(|it| it.iter().any(ends))
    }

    /// Why a file of so many bytes is left out, if it is.
    pub(crate) fn is_too_large(&self, bytes: usize) -> Option<String> {
        let limit = match self.core("large_file_skip_byte_limit") {
            None if bytes > LARGE => {
                let why = "that sqruff reads in about a second; `large_file_skip_byte_limit` may be set";
                return Some(format!("larger than the {LARGE} bytes {why}"));
            }
            Some(Value::Int(limit)) => usize::try_from(*limit).ok(),
            Some(Value::String(limit)) => limit.trim().parse().ok(),
            _ => None,
        };
        let limit = limit.filter(|it| *it > 0 && bytes > *it)?;
        Some(format!("larger than the {limit} bytes of `large_file_skip_byte_limit`"))
    }

    /// In sqruff's form, with other rules or another dialect if they are given.
    pub(crate) fn to_sqruff(&self, rules: Option<&[&str]>, dialect: Option<DialectKind>) -> FluffConfig {
        let mut values = self.values.clone();
        let core = values.entry("core".into()).or_insert_with(|| Value::Map(HashMap::new()));
        if let Some(core) = core.as_map_mut() {
            if !self.templater().is_none_or(template::is_own) {
                core.insert("templater".into(), Value::String("raw".into()));
            }
            rename_rules(core);
            if let Some(rules) = rules {
                core.insert("rules".into(), Value::String(rules.join(",").into()));
                core.remove("exclude_rules");
            }
        }
        let named = self.dialect().and_then(|it| DialectKind::from_str(it).ok());
        let dialect = dialect.or(named).unwrap_or_default();
        if values.contains_key("dialect") {
            set_dialect(&mut values, dialect);
            return FluffConfig::new(values, None, None);
        }
        combined(ready(dialect), values, dialect)
    }
}

/// Puts the codes of today into the lists of rules.
fn rename_rules(core: &mut Values) {
    for list in ["rules", "exclude_rules", "warnings"] {
        if let Some(Value::String(rules)) = core.get_mut(list) {
            *rules = renamed::in_list(rules).into();
        }
    }
}

thread_local! {
    /// Results of `FluffConfig::new` by dialect: each takes many milliseconds. They are made once, and some ahead of time.
    static READY: RefCell<Vec<(DialectKind, FluffConfig)>> = const { RefCell::new(Vec::new()) };
}

/// sqruff's defaults for a dialect.
pub(crate) fn ready(dialect: DialectKind) -> FluffConfig {
    READY.with_borrow_mut(|all| {
        if let Some((_, known)) = all.iter().find(|it| it.0 == dialect) {
            return known.clone();
        }
        let mut values = Values::new();
        set_dialect(&mut values, dialect);
        let new = FluffConfig::new(values, None, None);
        all.push((dialect, new.clone()));
        new
    })
}

fn set_dialect(values: &mut Values, dialect: DialectKind) {
    let core = values.entry("core".into()).or_insert_with(|| Value::Map(HashMap::new()));
    if let Some(core) = core.as_map_mut() {
        core.insert("dialect".into(), Value::String(dialect.as_ref().into()));
    }
}

/// Result that `FluffConfig::new` would have for `values`; `config` has the dialect already.
fn combined(mut config: FluffConfig, mut values: Values, dialect: DialectKind) -> FluffConfig {
    set_dialect(&mut values, dialect);
    add(&mut config.raw, values);
    if let Some(core) = config.raw.get_mut("core").and_then(Value::as_map_mut) {
        for (key, list) in LISTS_OF_SQRUFF {
            match core.get(key) {
                // No list at all, which is not the same as sqruff's default.
                Some(Value::None) => drop(core.remove(list)),
                Some(value) => drop(core.insert(list.into(), names(value))),
                None => {}
            }
        }
    }
    config.reload_reflow();
    config
}

/// Names, each without blanks around it.
fn names(value: &Value) -> Value {
    let all = value.as_array().unwrap_or_default();
    let texts = all.iter().filter_map(Value::as_string).flat_map(|it| it.split(','));
    let texts = texts.map(str::trim).filter(|it| !it.is_empty());
    Value::Array(texts.map(|it| Value::String(it.into())).collect())
}

/// Reads the configuration files in a folder.
pub(crate) fn read_folder(dir: &Path, all: &ConfigFiles) -> Result<Values, Rc<str>> {
    let mut values = Values::new();
    for file in files_in(dir) {
        add(&mut values, read_file(&file, all)?);
    }
    Ok(values)
}

/// The file in a folder that counts most, of those that say something.
pub(crate) fn file_in(dir: &Path, all: &ConfigFiles) -> Option<PathBuf> {
    files_in(dir).filter(|it| read_file(it, all).is_ok_and(|it| !it.is_empty())).last()
}

fn files_in(dir: &Path) -> impl Iterator<Item = PathBuf> {
    NAMES.map(|it| dir.join(it)).into_iter().filter(|it| is_there(it))
}

pub(crate) fn read_file(file: &Path, all: &ConfigFiles) -> Result<Values, Rc<str>> {
    let mut values = Values::new();
    let read = ConfigLoader::try_load_config_file(file, &mut values).map_err(|error| {
        // sqruff says first which file it is.
        let full = file.display().to_string();
        let told = error.value.split_once(&full).map_or(error.value.as_str(), |it| it.1);
        told.trim_start_matches([':', ' ']).lines().map(str::trim).collect::<Vec<_>>().join(" ")
    });
    match read.err().or_else(|| values::problem(&values)) {
        Some(problem) => Err(all.unusable(file, problem).into()),
        None => Ok(values),
    }
}

/// The nearer over the farther.
pub(crate) fn add(values: &mut Values, nearer: Values) {
    for (key, value) in nearer {
        match (values.get_mut(&key), value) {
            (Some(Value::Map(old)), Value::Map(new)) => add(old, new),
            (_, value) => {
                values.insert(key, value);
            }
        }
    }
}
