//! The rules that `per-file-ignores` leaves out for a file, which ruff keeps to itself. Read anew from the configuration files where
//! it is asked which rules are on.

use std::path::{Path, PathBuf};

use broker_plugin_sdk::config::text_of;
use globset::Glob;
use ruff_linter::UnresolvedRuleSelector;
use ruff_linter::fs::normalize_path_to;
use ruff_linter::registry::RuleSet;
use ruff_linter::settings::types::PreviewMode;
use toml::{Table, Value};

/// Limit on files that extend each other.
const DEEPEST: usize = 16;

/// Returns the rules that the configuration file `config` ignores for `file`. A file that cannot be read ignores none: checks
/// report that.
pub(crate) fn ignored(file: &Path, config: &Path) -> RuleSet {
    let mut ignored = RuleSet::empty();
    let (mut has_own, mut next) = (false, Some(config.to_path_buf()));
    for _ in 0..DEEPEST {
        let Some((config, table)) = next.take().and_then(|it| Some((it.clone(), read(&it)?))) else { break };
        let root = config.parent().unwrap_or(&config);
        let lists = |key: &str| {
            let lint = table.get("lint").and_then(|it| it.get(key));
            lint.or_else(|| table.get(key)).and_then(Value::as_table).cloned()
        };
        let own = lists("per-file-ignores").filter(|_| !has_own);
        has_own |= own.is_some();
        for (pattern, codes) in own.into_iter().chain(lists("extend-per-file-ignores")).flatten() {
            if matches(&pattern, root, file) {
                ignored = ignored.union(&rules(&codes));
            }
        }
        next = table.get("extend").and_then(Value::as_str).map(|it| normalize_path_to(it, root));
    }
    ignored
}

/// ruff's own table of a configuration file.
fn read(file: &PathBuf) -> Option<Table> {
    let mut table: Table = text_of(file).ok()?.parse().ok()?;
    if !file.ends_with("pyproject.toml") {
        return Some(table);
    }
    match table.get_mut("tool")?.as_table_mut()?.remove("ruff")? {
        Value::Table(own) => Some(own),
        _ => None,
    }
}

/// Whether a pattern of `per-file-ignores` applies to a file. Ruff matches it with the file's name, and with its path from the
/// configuration's folder.
fn matches(pattern: &str, root: &Path, file: &Path) -> bool {
    let (is_negated, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |it| (true, it));
    fits(pattern, root, file) != is_negated
}

/// Whether a glob without a leading `!` applies to a file.
pub(crate) fn fits(pattern: &str, root: &Path, file: &Path) -> bool {
    let fits =
        |pattern: &str, it: &Path| Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(it));
    let absolute = normalize_path_to(pattern, root);
    let name = Path::new(file.file_name().unwrap_or_default());
    fits(pattern, name) || fits(&absolute.to_string_lossy(), file)
}

fn rules(codes: &Value) -> RuleSet {
    let codes = codes.as_array().into_iter().flatten().filter_map(Value::as_str);
    let selectors = codes.filter_map(|it| UnresolvedRuleSelector::cli(it).resolve(PreviewMode::Enabled).ok());
    selectors.flat_map(|it| it.all_rules().collect::<Vec<_>>()).collect()
}
