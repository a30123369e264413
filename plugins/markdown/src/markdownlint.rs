//! Parts of markdownlint's configuration that rumdl does not read: `extends`, tags of rules, which rules there are, and some of
//! their options ([`options`]). Findings that rumdl has all the same and markdownlint does not are dropped ([`findings`]), and
//! some rules are implemented here ([`checks`]).
//!
//! A base is a file relative to the one that names it, a style that markdownlint ships (`markdownlint/style/prettier`), or a
//! JSON or YAML file of a package in `node_modules`. Left out: bases that are programs.

mod blank_lines;
mod blocks;
mod checks;
mod emphasis;
mod findings;
mod line_length;
mod options;
mod page;
mod reader;
mod styles;
mod table_columns;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use broker_plugin_sdk::config::text_of;
use rumdl_lib::config::{ConfigLoaded, MARKDOWNLINT_CONFIG_FILES, SourcedConfig, resolve_rule_name_alias};
use rumdl_lib::markdownlint_config::{MarkdownlintConfig, load_markdownlint_config};
use rumdl_lib::rule::{LintWarning, Rule};
use serde_json::{Map, Value};

use self::page::Page;

/// Files that extend each other, one after the other.
const DEEPEST: usize = 16;

/// The styles of markdownlint 0.40.
const STYLES: [(&str, &str); 4] = [
    ("all", include_str!("../styles/all.json")),
    ("cirosantilli", include_str!("../styles/cirosantilli.json")),
    ("prettier", include_str!("../styles/prettier.json")),
    ("relaxed", include_str!("../styles/relaxed.json")),
];

/// The rules of markdownlint 0.40. rumdl has more.
const RULES: [&str; 53] = [
    "MD001", "MD003", "MD004", "MD005", "MD007", "MD009", "MD010", "MD011", "MD012", "MD013", "MD014",
    "MD018", "MD019", "MD020", "MD021", "MD022", "MD023", "MD024", "MD025", "MD026", "MD027", "MD028",
    "MD029", "MD030", "MD031", "MD032", "MD033", "MD034", "MD035", "MD036", "MD037", "MD038", "MD039",
    "MD040", "MD041", "MD042", "MD043", "MD044", "MD045", "MD046", "MD047", "MD048", "MD049", "MD050",
    "MD051", "MD052", "MD053", "MD054", "MD055", "MD056", "MD058", "MD059", "MD060",
];

/// Tags of markdownlint, each for several rules.
const TAGS: [(&str, &[&str]); 23] = [
    ("accessibility", &["MD045", "MD059"]),
    ("atx", &["MD018", "MD019", "MD021"]),
    ("atx_closed", &["MD020"]),
    ("blank_lines", &["MD012", "MD022", "MD031", "MD032", "MD047"]),
    ("blockquote", &["MD027", "MD028"]),
    ("bullet", &["MD004", "MD005", "MD007", "MD032"]),
    ("code", &["MD014", "MD031", "MD038", "MD040", "MD046", "MD048"]),
    ("emphasis", &["MD036", "MD037", "MD049", "MD050"]),
    ("hard_tab", &["MD010"]),
    (
        "headings",
        &[
            "MD001", "MD003", "MD018", "MD019", "MD020", "MD021", "MD022", "MD023", "MD024", "MD025",
            "MD026", "MD036", "MD041", "MD043",
        ],
    ),
    ("hr", &["MD035"]),
    ("html", &["MD033"]),
    ("images", &["MD045", "MD052", "MD053", "MD054"]),
    ("indentation", &["MD005", "MD007", "MD027"]),
    ("language", &["MD040"]),
    ("line_length", &["MD013"]),
    ("links", &["MD011", "MD034", "MD039", "MD042", "MD051", "MD052", "MD053", "MD054", "MD059"]),
    ("ol", &["MD029", "MD030", "MD032"]),
    ("spaces", &["MD018", "MD019", "MD020", "MD021", "MD023"]),
    ("spelling", &["MD044"]),
    ("table", &["MD055", "MD056", "MD058", "MD060"]),
    ("url", &["MD034"]),
    ("whitespace", &["MD009", "MD010", "MD012", "MD027", "MD028", "MD030", "MD037", "MD038", "MD039"]),
];

/// Settings of markdownlint's configuration that rumdl does not read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Extras {
    /// Rules that only rumdl has, and that the configuration names nevertheless.
    named: BTreeSet<String>,
    /// Rules that rumdl cannot run as the configuration says.
    pub(crate) unable: BTreeSet<String>,
    /// Values of rules, by codes, and that of `default`.
    rules: Map<String, Value>,
    /// Why a base is not known.
    pub(crate) unresolved: Option<String>,
}

impl Extras {
    /// Whether a rule is one that markdownlint has, or that the configuration names.
    pub(crate) fn has(&self, rule: &str) -> bool {
        (RULES.contains(&rule) || self.named.contains(rule)) && !self.unable.contains(rule)
    }

    /// Rules that are on unless the configuration turns them off, and in rumdl only if it names them.
    pub(crate) fn on_by_default(&self) -> &'static [&'static str] {
        if self.rules.get("default") == Some(&Value::Bool(false)) { &[] } else { &["MD060"] }
    }

    /// Makes rumdl's findings in `text` those that markdownlint would have by those of its rules that are on.
    pub(crate) fn adapt(&self, text: &str, on: &[Box<dyn Rule>], warnings: &mut Vec<LintWarning>) {
        let page = Page::new(&self.rules, text);
        findings::retain(&page, warnings);
        checks::apply(&page, on, warnings);
    }
}

/// Puts into `sourced` what rumdl leaves out of it. None: the configuration is rumdl's own, or there is none.
pub(crate) fn complete(sourced: &mut SourcedConfig<ConfigLoaded>, root: &Path) -> Option<Extras> {
    let files = rule_files(&sourced.loaded_files)?;
    let mut extras = Extras::default();
    let mut rules = Map::new();
    let mut is_needed = false;
    for file in &files {
        match effective(file, root, 0) {
            Ok(found) => {
                is_needed |= found.is_more;
                rules.extend(found.rules);
            }
            Err(why) => extras.unresolved = Some(why),
        }
    }
    let is_own = |it: &&String| resolve_rule_name_alias(it).is_some() && !RULES.contains(&it.as_str());
    extras.named = rules.keys().filter(is_own).cloned().collect();
    is_needed |= options::coerce(&mut rules);
    let merged = serde_json::from_value::<MarkdownlintConfig>(Value::Object(rules.clone()));
    if is_needed && let Ok(merged) = merged {
        let last = files.last().map(|it| it.to_string_lossy());
        let fragment = merged.map_to_sourced_rumdl_config_fragment(last.as_deref());
        sourced.rules = fragment.rules;
        sourced.global.enable = fragment.global.enable;
        sourced.global.disable = fragment.global.disable;
    }
    extras.unable = options::translate(&rules, sourced);
    extras.rules = rules;
    Some(extras)
}

/// The files with rules among those that were loaded, the outermost first. A plain one counts alone: what stands beside it
/// for markdownlint-cli2 has other options then.
fn rule_files(loaded: &[String]) -> Option<Vec<PathBuf>> {
    let name = |it: &PathBuf| it.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let files: Vec<PathBuf> = loaded.iter().map(PathBuf::from).collect();
    let is_markdownlints = |it: &PathBuf| MARKDOWNLINT_CONFIG_FILES.contains(&&*name(it));
    if files.is_empty() || !files.iter().all(is_markdownlints) {
        return None;
    }
    let plain = files.iter().find(|it| !name(it).starts_with(".markdownlint-cli2")).cloned();
    Some(plain.map_or(files, |it| vec![it]))
}

/// Settings of a file and of all that it extends, by codes.
#[derive(Default)]
struct Effective {
    rules: Map<String, Value>,
    /// Whether there are settings that rumdl does not read by itself.
    is_more: bool,
}

fn effective(file: &Path, root: &Path, depth: usize) -> Result<Effective, String> {
    let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
    let MarkdownlintConfig(read) = load_markdownlint_config(&file.to_string_lossy())
        .map_err(|it| it.replace(&*file.to_string_lossy(), &name))?;
    let read = read.into_iter().filter_map(|(key, value)| Some((key, serde_json::to_value(value).ok()?)));
    let mut own: BTreeMap<String, Value> = read.collect();
    let is_normalized =
        own.iter_mut().filter(|it| it.0 != "extends").fold(false, |all, it| options::normalize(it.1) | all);
    let mut all = match own.remove("extends") {
        None | Some(Value::Null) => Effective::default(),
        Some(Value::String(base)) if depth < DEEPEST => {
            Effective { is_more: true, ..extended(&base, file, root, depth + 1)? }
        }
        Some(_) => return Err(format!("`extends` of `{name}` is no name of a base")),
    };
    all.is_more |= put(own, &mut all.rules) | is_normalized;
    Ok(all)
}

/// Puts what is said of rules below their codes, what is said of tags first. Whether there were tags.
fn put(own: BTreeMap<String, Value>, rules: &mut Map<String, Value>) -> bool {
    let (tagged, plain): (Vec<_>, Vec<_>) = own.into_iter().partition(|it| tag(&it.0).is_some());
    let has_tags = !tagged.is_empty();
    for (key, value) in tagged {
        let codes = tag(&key).into_iter().flatten();
        rules.extend(codes.map(|code| ((*code).to_owned(), value.clone())));
    }
    for (key, value) in plain {
        let code = resolve_rule_name_alias(&key).map_or(key, str::to_owned);
        rules.insert(code, value);
    }
    has_tags
}

/// The rules of a tag; a rule of the same name goes before.
fn tag(key: &str) -> Option<&'static [&'static str]> {
    let folded = key.to_ascii_lowercase();
    TAGS.iter().find(|it| it.0 == folded).map(|it| it.1)
}

/// Settings that are extended under a name.
fn extended(base: &str, file: &Path, root: &Path, depth: usize) -> Result<Effective, String> {
    let folder = file.parent().unwrap_or(root);
    let near = folder.join(base);
    if near.is_file() {
        return effective(&near, root, depth);
    }
    if let Some(style) = style(base) {
        let own: BTreeMap<String, Value> = serde_json::from_str(style).map_err(|it| it.to_string())?;
        let mut found = Effective { is_more: true, ..Effective::default() };
        put(own, &mut found.rules);
        return Ok(found);
    }
    if let Some(found) = in_packages(base, folder, root) {
        return effective(&found, root, depth);
    }
    let name = file.strip_prefix(root).unwrap_or(file).display();
    Err(format!(
        "`{name}` extends `{base}`, which is neither a file nor, as data, in `node_modules`: install it, or name a file"
    ))
}

fn style(base: &str) -> Option<&'static str> {
    let name = base.strip_prefix("markdownlint/style/")?;
    let name = name.strip_suffix(".json").unwrap_or(name);
    STYLES.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// A file of data in a package, as Node.js would find it.
fn in_packages(base: &str, folder: &Path, root: &Path) -> Option<PathBuf> {
    if base.starts_with(['.', '/']) {
        return None;
    }
    let folders = folder.ancestors().take_while(|it| it.starts_with(root));
    let places = folders.map(|it| it.join("node_modules").join(base));
    let files = places.flat_map(|it| {
        let with_ending = it.with_added_extension("json");
        [Some(it.clone()), Some(with_ending), main_of(&it), Some(it.join("index.json"))]
    });
    let is_data = |it: &PathBuf| {
        let ending = it.extension().and_then(|it| it.to_str()).unwrap_or_default();
        ["json", "jsonc", "yaml", "yml"].contains(&ending) && it.is_file()
    };
    files.flatten().find(is_data)
}

/// The file that a package names as its main one.
fn main_of(package: &Path) -> Option<PathBuf> {
    let text = text_of(&package.join("package.json")).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    Some(package.join(value.get("main").or_else(|| value.pointer("/exports/."))?.as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_rule() {
        for code in RULES.iter().chain(TAGS.iter().flat_map(|it| it.1)) {
            assert_eq!(resolve_rule_name_alias(code), Some(*code));
        }
        for (name, text) in STYLES {
            let own: BTreeMap<String, Value> = serde_json::from_str(text).unwrap();
            let known = |it: &String| {
                matches!(&**it, "comment" | "default")
                    || tag(it).is_some()
                    || resolve_rule_name_alias(it).is_some()
            };
            assert!(own.keys().all(known), "{name}");
        }
    }
}
