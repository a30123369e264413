//! Manifest of a plugin: facts about it that are read without running it.

use std::collections::BTreeMap;

use ignore::gitignore::GitignoreBuilder;
use lint::{RuleAliases, RulePattern};
use overlay::WorkspacePath;
use serde::{Deserialize, Deserializer, de::Error as _};
use wasmparser::{Encoding, Parser, Payload};

use crate::{Capability, OptionSchemas, PluginError, error::Name};

/// The version of `broker:plugin` that this host speaks.
pub(crate) const API: &str = "0.1.0";

const SECTION: &str = "broker:plugin";

/// A plugin's `broker-plugin.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    pub name: String,
    pub version: String,
    /// The version of `broker:plugin` that it was built for.
    pub api: String,
    pub description: String,
    #[serde(default)]
    pub languages: Vec<String>,
    /// Which files it wants to see, as gitignore-style globs.
    pub globs: Vec<String>,
    /// Names of programs: files without an extension whose first line (`#!`) names one of them are wanted as well.
    #[serde(default)]
    pub interpreters: Vec<String>,
    /// Names of the native configuration files it reads.
    #[serde(default)]
    pub config_files: Vec<String>,
    /// The rules that say that a file cannot be parsed, so that others may have found less: codes, with a `*` at the
    /// end for any that begin so.
    #[serde(default, deserialize_with = "rules")]
    pub syntax_errors: Vec<RulePattern>,
    /// The rules whose fixes are made before all others of a file.
    #[serde(default, deserialize_with = "rules")]
    pub fixes_first: Vec<RulePattern>,
    /// Names that its rules share with rules of other linters that find the same.
    #[serde(default, deserialize_with = "aliases")]
    pub same_as: RuleAliases,
    /// Files or folders of the workspace, without any of which it has nothing to say. Some of its rules may be there.
    #[serde(default, deserialize_with = "paths")]
    pub needs: Vec<WorkspacePath>,
    /// Whether it uses the sizes of files that it has not opened. If not, `stat` of a path reports a size of 0, and an answer
    /// holds after an edit of a file whose existence alone was checked.
    #[serde(default = "yes")]
    pub file_sizes: bool,
    /// Options that can be set in `[linters.NAME]` of `broker.toml`.
    #[serde(default)]
    pub options: OptionSchemas,
    /// Capabilities that the plugin asks for beyond the files it is shown. Without all of them, it is not used.
    #[serde(default)]
    pub capabilities: Vec<Capability>,
}

/// The part that is read first, so that a plugin of the future is called just that and not malformed.
#[derive(Deserialize)]
struct Header {
    name: String,
    version: String,
    api: String,
}

impl Manifest {
    /// Reads the manifest out of a component; `origin` is what to call it until its name is known.
    pub fn of_component(origin: &str, wasm: &[u8]) -> Result<Self, PluginError> {
        Self::parse(origin, &Self::text_of_component(origin, wasm)?)
    }

    /// The manifest's text, as it stands in the component.
    pub fn text_of_component(origin: &str, wasm: &[u8]) -> Result<String, PluginError> {
        section(origin, wasm)
    }

    /// Parses the text of a `broker-plugin.toml`.
    pub fn parse(origin: &str, text: &str) -> Result<Self, PluginError> {
        let unusable = |reason: String| PluginError::Manifest { plugin: origin.to_owned(), reason };
        let invalid = |error: toml::de::Error| unusable(in_line(text, &error));
        let header: Header = toml::from_str(text).map_err(invalid)?;
        if !speaks(&header.api) {
            let Header { name: plugin, version, api } = header;
            return Err(PluginError::WorldVersion { plugin, version, api, supported: API.to_owned() });
        }
        let manifest: Self = toml::from_str(text).map_err(invalid)?;
        if !is_name(&manifest.name) {
            let name = manifest.name.escape_debug();
            return Err(unusable(format!(
                "`{name}` cannot be its name: at most 64 small letters, digits and hyphens, a letter first"
            )));
        }
        if manifest.globs.is_empty() && manifest.interpreters.is_empty() {
            return Err(unusable("`globs` is empty, so that the plugin would never be run".to_owned()));
        }
        if let Some(error) =
            manifest.globs.iter().find_map(|it| GitignoreBuilder::new("").add_line(None, it).err())
        {
            return Err(unusable(format!("in `globs`: {error}")));
        }
        Ok(manifest)
    }

    /// Whether a finding of this rule means that the file cannot be parsed.
    pub fn is_syntax_error(&self, code: &str, name: Option<&str>) -> bool {
        self.syntax_errors.iter().any(|it| it.matches(&self.name, code, name))
    }

    /// Whether fixes of this rule are made before all others.
    pub(crate) fn fixes_first(&self, code: &str, name: Option<&str>) -> bool {
        self.fixes_first.iter().any(|it| it.matches(&self.name, code, name))
    }

    /// Whether ignoring the rules of this selector may leave out syntax errors.
    pub(crate) fn may_ignore_syntax_errors(&self, selector: &str) -> bool {
        let is_meant =
            |it: &RulePattern| it.matches(&self.name, selector, None) || it.to_string().starts_with(selector);
        !self.syntax_errors.is_empty() && (selector == "ALL" || self.syntax_errors.iter().any(is_meant))
    }

    pub(crate) fn full_name(&self) -> Name {
        Name { plugin: self.name.clone(), version: self.version.clone() }
    }
}

fn yes() -> bool {
    true
}

/// Describes the error, with its line if that is known.
fn in_line(text: &str, error: &toml::de::Error) -> String {
    // Counted in bytes: a place may lie within a character.
    let before = |it: std::ops::Range<usize>| text.bytes().take(it.start);
    let line = error.span().map(|it| before(it).filter(|it| *it == b'\n').count() + 1);
    // For something missing the position says nothing.
    match line.filter(|_| !error.message().starts_with("missing field")) {
        Some(line) => format!("line {line}: {}", error.message()),
        None => error.message().to_owned(),
    }
}

fn paths<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<WorkspacePath>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    texts.iter().map(|it| WorkspacePath::new(it).map_err(D::Error::custom)).collect()
}

fn rules<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<RulePattern>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let parsed = texts.iter().map(|it| it.parse().map_err(|why| D::Error::custom(format!("`{it}`: {why}"))));
    parsed.collect()
}

fn aliases<'de, D: Deserializer<'de>>(from: D) -> Result<RuleAliases, D::Error> {
    RuleAliases::new(&BTreeMap::deserialize(from)?).map_err(D::Error::custom)
}

/// Whether the text can be the name of a plugin: it is the prefix of its rules, and the name of files.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_lowercase())
        && text.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-')
        && !text.ends_with('-')
        && text.len() <= 64
}

/// Before 1.0 every minor version is a world of its own.
fn speaks(api: &str) -> bool {
    let minor = |it: &str| it.rsplit_once('.').map(|(minor, _)| minor.to_owned());
    minor(api).is_some() && minor(api) == minor(API)
}

fn section(origin: &str, wasm: &[u8]) -> Result<String, PluginError> {
    let plugin = || origin.to_owned();
    if !wasm.starts_with(b"\0asm") {
        let reason = "it does not begin as WebAssembly does".to_owned();
        return Err(PluginError::NotAComponent { plugin: plugin(), reason });
    }
    let mut found = None;
    for payload in Parser::new(0).parse_all(wasm) {
        let not_a_component =
            |error| PluginError::NotAComponent { plugin: plugin(), reason: format!("{error}") };
        match payload.map_err(not_a_component)? {
            // Only the outermost header counts: a component holds core modules.
            Payload::Version { encoding: Encoding::Module, range, .. } if range.start == 0 => {
                return Err(PluginError::CoreModule { plugin: plugin() });
            }
            Payload::CustomSection(section) if section.name() == SECTION && found.is_none() => {
                found = Some(String::from_utf8_lossy(section.data()).into_owned());
            }
            _ => {}
        }
    }
    let reason = || "it has no custom section `broker:plugin`, which `broker plugin build` makes".to_owned();
    found.ok_or_else(|| PluginError::Manifest { plugin: plugin(), reason: reason() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        name = "no-todo"
        version = "1.2.3"
        api = "0.1.4"
        description = "No TODO stays."
        globs = ["*.rs"]
    "#;

    #[test]
    fn reads_a_manifest() {
        let manifest = Manifest::parse("x.wasm", GOOD).unwrap();
        assert_eq!((manifest.name.as_str(), manifest.globs.len()), ("no-todo", 1));
    }

    #[test]
    fn uses_sizes_unless_it_says_otherwise() {
        let with = |keys: &str| Manifest::parse("x.wasm", &format!("{GOOD}\n{keys}")).unwrap().file_sizes;
        assert_eq!([with(""), with("file-sizes = true"), with("file-sizes = false")], [true, true, false]);
    }

    #[test]
    fn names_what_is_wrong() {
        let error = |from: &str, to: &str| Manifest::parse("x.wasm", &GOOD.replace(from, to)).unwrap_err();
        insta::assert_snapshot!(error("0.1.4", "0.2.0"), @"plugin `no-todo` 1.2.3 is built for broker:plugin 0.2.0, and this Broker speaks 0.1.0; use a Broker that is as new as the plugin, or an older release of the plugin");
        insta::assert_snapshot!(error("globs", "glob"), @"`x.wasm` has no usable manifest: line 6: unknown field `glob`, expected one of `name`, `version`, `api`, `description`, `languages`, `globs`, `interpreters`, `config-files`, `syntax-errors`, `fixes-first`, `same-as`, `needs`, `file-sizes`, `options`, `capabilities`");
        insta::assert_snapshot!(error("\"*.rs\"", "\"*.{rs\""), @"`x.wasm` has no usable manifest: in `globs`: error parsing glob '*.{rs': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)");
        insta::assert_snapshot!(error("\"*.rs\"", ""), @"`x.wasm` has no usable manifest: `globs` is empty, so that the plugin would never be run");
        insta::assert_snapshot!(error("version", "edition"), @"`x.wasm` has no usable manifest: missing field `version`");
    }

    #[test]
    fn a_place_within_a_character_has_a_line() {
        let error = toml::from_str::<toml::Table>("a = 1\nb = [").unwrap_err();
        assert!(error.span().is_some_and(|it| it.start > 6));
        let told = |text: &str| in_line(text, &error);
        assert!(told("a = 1\n\u{10400}\u{10400}").starts_with("line 2: "), "{}", told(""));
        assert!(told("").starts_with("line 1: "), "a place beyond the end");
    }

    #[test]
    fn declares_what_its_rules_share_and_what_goes_first() {
        let with = |keys: &str| Manifest::parse("x.wasm", &format!("{GOOD}\n{keys}"));
        let manifest = with("fixes-first = ['F811']\nsame-as = { F821 = 'undefined-name' }").unwrap();
        assert!(manifest.fixes_first("F811", None) && !manifest.fixes_first("F821", None));
        assert_eq!(manifest.same_as.shared_name("F821", None).as_deref(), Some("undefined-name"));
        insta::assert_snapshot!(with("same-as = { F821 = 'x*' }").unwrap_err(), @"`x.wasm` has no usable manifest: line 8: the star of `x*` stands for nothing, as `F821` has none");
    }

    #[test]
    fn knows_its_syntax_errors() {
        let with = |list: &str| Manifest::parse("x.wasm", &format!("{GOOD}\nsyntax-errors = {list}"));
        let manifest = with("[\"parse-error\", \"SYN*\"]").unwrap();
        let is = |code, name| manifest.is_syntax_error(code, name);
        assert_eq!([is("parse-error", None), is("SYN1", None), is("E9", Some("parse-error"))], [true; 3]);
        assert!(!is("parse-errors", None));
        let may_ignore = |it| manifest.may_ignore_syntax_errors(it);
        assert_eq!(["ALL", "parse-error", "SYN", "SYN7"].map(may_ignore), [true; 4]);
        assert!(!may_ignore("unused"));
        assert!(!Manifest::parse("x.wasm", GOOD).unwrap().is_syntax_error("syntax-error", None));
        insta::assert_snapshot!(with("[\"a b\"]").unwrap_err(), @"`x.wasm` has no usable manifest: line 8: `a b`: no rule has ' ' in its name");
    }

    #[test]
    fn names() {
        for good in ["a", "no-todo", "python3"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "No", "3d", "a_b", "a/b", "..", "a-", "ä", "-a", "a\nb"] {
            assert!(!is_name(bad), "{bad}");
        }
        let error = Manifest::parse("x.wasm", &GOOD.replace("no-todo", "a/b")).unwrap_err();
        insta::assert_snapshot!(error, @"`x.wasm` has no usable manifest: `a/b` cannot be its name: at most 64 small letters, digits and hyphens, a letter first");
    }

    #[test]
    fn names_what_no_plugin_is_granted() {
        let asking = |what: &str| Manifest::parse("x.wasm", &format!("{GOOD}\ncapabilities = [\"{what}\"]"));
        assert_eq!(asking("env:CI").unwrap().capabilities, [Capability::Environment("CI".to_owned())]);
        insta::assert_snapshot!(asking("network").unwrap_err(), @"`x.wasm` has no usable manifest: line 8: `network` is asked for, and no plugin is granted the network");
        insta::assert_snapshot!(asking("teleport").unwrap_err(), @"`x.wasm` has no usable manifest: line 8: `teleport` is an unknown capability; there is only `env:NAME`");
    }

    #[test]
    fn refuses_what_is_no_component() {
        let error = |wasm: &[u8]| Manifest::of_component("x.wasm", wasm).unwrap_err();
        assert!(matches!(error(b"\0asm\x01\0\0\0"), PluginError::CoreModule { .. }));
        assert!(matches!(error(b"\0asm\x0d\0\x01\0"), PluginError::Manifest { .. }));
        assert!(matches!(error(b"\0asm\x0d\0\x01\0\x07\xff"), PluginError::NotAComponent { .. }), "cut off");
        assert!(matches!(error(b"hello"), PluginError::NotAComponent { .. }));
        assert!(matches!(error(b""), PluginError::NotAComponent { .. }));
    }
}
