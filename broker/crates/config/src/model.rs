//! The keys of `broker.toml`. The comments here are what its JSON Schema says of them.

use std::collections::BTreeMap;

use ignore::gitignore::GitignoreBuilder;
use lint::{RulePattern, Severity};
use plugin_host::Capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signatures::Signers;
use toml::Spanned;

use super::Source;

/// What broker does with the linters' findings.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Settings {
    /// Another configuration file that this one is based on: a path relative to this file. Relative paths and
    /// globs in the other file are seen from this file's folder.
    #[schemars(with = "Option<String>")]
    pub(super) extends: Option<Spanned<String>>,
    /// Check these rules only, as `--select` does: `F401`, `F`, or `python/F401` for one plugin. `DEFAULT` stands for what is
    /// checked without this key.
    pub(super) select: Option<Selected>,
    /// Check these rules as well, as `--extend-select` does.
    pub(super) extend_select: Option<Vec<RuleName>>,
    /// Leave these rules out, as `--ignore` does.
    pub(super) ignore: Option<Vec<RuleName>>,
    /// Severity by rule: `python/F401`, `F401`, `F4*` or `python/*`; the most specific pattern wins.
    pub(super) severity: BTreeMap<RuleKey, RuleLevel>,
    /// What is different for some files.
    pub(super) overrides: Vec<Override>,
    pub(super) suppressions: SuppressionSettings,
    /// Only in the workspace's own file, or one that it extends.
    #[schemars(with = "Option<FileSettings>")]
    pub(super) files: Option<Spanned<FileSettings>>,
    /// In MiB: larger files are left out, and counted among what was skipped. 64 if this is not set; at most 256.
    /// Only in the workspace's own file, or one that it extends.
    #[schemars(with = "Option<MaxFileSize>")]
    pub(super) max_file_size: Option<Spanned<MaxFileSize>>,
    /// Only in the workspace's own file, or one that it extends.
    #[schemars(with = "Option<BaselineSettings>")]
    pub(super) baseline: Option<Spanned<BaselineSettings>>,
    /// Only in the workspace's own file, or one that it extends.
    #[schemars(with = "Option<ServerSettings>")]
    pub(super) servers: Option<Spanned<ServerSettings>>,
    /// Commands to check with, by name, such as `[checkers.cargo-check]`: those that Broker knows, with what is different of
    /// them, and others. They run in a workspace that is trusted, or confined (see `broker trust`), in a shadow folder of what is
    /// checked. Only in the workspace's own file, or one that it extends.
    #[schemars(with = "Option<BTreeMap<String, CheckerDefinition>>")]
    pub(super) checkers: Option<Spanned<BTreeMap<String, CheckerDefinition>>>,
    /// Plugins that the program does not carry, by name; `broker plugin add` writes this and `broker.lock`. Only in
    /// the workspace's own file, or one that it extends.
    #[schemars(with = "Option<BTreeMap<String, PluginSettings>>")]
    pub(super) plugins: Option<Spanned<BTreeMap<String, PluginSettings>>>,
    /// Options of plugins, by name, such as `[linters.sql]`: `broker plugin inspect NAME` lists those that a plugin has. Only in the
    /// workspace's own file, or one that it extends.
    #[schemars(with = "Option<BTreeMap<String, BTreeMap<String, Value>>>")]
    pub(super) linters: Option<Spanned<LinterTables>>,
    /// Only in the workspace's own file, or one that it extends.
    #[schemars(with = "Option<RunSettings>")]
    pub(super) run: Option<Spanned<RunSettings>>,
    /// Only in the workspace's own file, or one that it extends.
    #[schemars(with = "Option<AgentSettings>")]
    pub(super) agents: Option<Spanned<AgentSettings>>,
}

/// Options by name, below the name of their plugin.
pub(super) type LinterTables = BTreeMap<String, Spanned<BTreeMap<String, Spanned<toml::Value>>>>;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Override {
    /// Which files, as in a `.gitignore`: relative to the folder of the configuration file.
    pub(super) paths: Vec<Glob>,
    /// Replaces the top-level `select` and `extend-select`.
    pub(super) select: Option<Selected>,
    /// Added to the top-level `extend-select`.
    #[serde(default)]
    pub(super) extend_select: Vec<RuleName>,
    /// Added to the top-level `ignore`.
    #[serde(default)]
    pub(super) ignore: Vec<RuleName>,
    /// Takes precedence over the top-level `severity`.
    #[serde(default)]
    pub(super) severity: BTreeMap<RuleKey, RuleLevel>,
}

/// Comments such as `broker: ignore[F401]`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct SuppressionSettings {
    /// Whether each suppression must say why. It need not if this is not set.
    pub(super) require_reason: Option<bool>,
    /// Severity of an unused suppression; `warning` by default.
    pub(super) report_unused: Option<RuleLevel>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BaselineSettings {
    /// Baseline file: known findings, which are not reported. A path relative to this file.
    #[schemars(with = "String")]
    pub(super) file: Spanned<String>,
}

/// Which files are checked. Patterns are as in a `.gitignore` in the workspace's root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct FileSettings {
    /// Leave these files and folders out, whatever ignore files say. Files that are named on the command line are checked all
    /// the same, unless `force-exclude` is set.
    pub exclude: Vec<Glob>,
    /// Check only these files among those that are found in folders.
    pub include: Vec<Glob>,
    /// Leave out what `exclude` or a linter's own configuration excludes even if it is named, as hooks name files.
    pub force_exclude: bool,
}

/// What a linter can be given: it holds a file several times over.
const LARGEST: u32 = 256;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "u32")]
pub(super) struct MaxFileSize(#[schemars(range(min = 1, max = 256))] pub(super) u32);

/// Language servers. They run in a workspace that is trusted, or confined: see `broker trust`. `define` counts only in one that is
/// trusted.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ServerSettings {
    /// The servers to ask, by name; `[]` for none. If not set, those that fit the project (see
    /// `broker doctor`).
    #[serde(rename = "use")]
    pub(super) used: Option<Vec<String>>,
    /// Servers that Broker does not know, or what is different of one that it knows, by name.
    pub(super) define: BTreeMap<String, ServerDefinition>,
}

/// A language server. What is not set is as Broker knows it, if it knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ServerDefinition {
    /// The program, a name in `PATH` or a path, and its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The files it checks: names, or `*` and how a name ends, such as `*.zig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub globs: Option<Vec<String>>,
    /// The languages it is for; the first is what files are said to be in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub languages: Option<Vec<String>>,
    /// What proves that an answer is for the present state: `pull` for a server that can be asked for
    /// diagnostics, `version` for one that publishes them with the version of the document, `next-publish` for
    /// one that looks at each file by itself and publishes once for each change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub barrier: Option<String>,
    /// Sent as `initializationOptions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<serde_json::Map<String, Value>>,
    /// Answer to `workspace/configuration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<serde_json::Map<String, Value>>,
    /// Variables of its environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Names of files that it reads from the disk, whatever a branch has in their place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_files: Option<Vec<String>>,
    /// Places outside of the workspace, or in folders of dependencies, that it reads: `~` is the home, `$NAME` each folder of a
    /// variable, `$PREFIX` the folder that it is installed in, `^` the project's folder and each above it, `**/NAME` the folders
    /// of this name anywhere in the workspace, `*` any name or part of one. `$(PROGRAM ARGUMENTS)` stands for the folders that a
    /// program prints. If not set, answers are reused for one minute only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Vec<String>>,
}

/// What commands that the daemon runs (`broker run --branch`) may do without a question. It counts as the disk has it, never
/// a branch, and in a workspace that is trusted: see `broker trust`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RunSettings {
    /// Commands, each by the words that it begins with: `[["cargo"], ["npm", "run"]]`. With this, any other command needs
    /// a permission; without it, none does that reaches nothing but its folder.
    pub allow: Option<Vec<Vec<String>>>,
    /// Files and folders in hidden places that all commands see: absolute paths, or `~` and a path in the home folder.
    pub read: Vec<String>,
    /// Files and folders outside of the workspace that commands may write to, if they ask to.
    pub write: Vec<String>,
    /// Variables that all commands have beyond Broker's own list, by name.
    pub env: Vec<String>,
    /// The network that commands may have if they ask for it: `none` (if not set) is a loopback of the branch's own, `host` the system's.
    pub network: RunNetwork,
}

/// Network of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunNetwork {
    /// A loopback of the branch's own.
    #[default]
    None,
    /// That of the system.
    Host,
}

/// What agents are shown. It counts as the disk has it, never a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct AgentSettings {
    /// Whether `read_file` masks what looks like a secret: private keys, tokens of well-known services, and values of
    /// variables with such names. It does not if this is not set.
    pub mask_secrets: bool,
    /// Seconds that an edit waits for linters, 5 if this is not set. What comes later is told with the next call.
    pub edit_wait: Option<u64>,
    /// Seconds that `check` waits for linters, 30 if this is not set.
    pub check_wait: Option<u64>,
}

/// A command that is a linter. What is not set is as Broker knows it, if it knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct CheckerDefinition {
    /// Whether it is asked; it is if this is not set.
    #[serde(skip_serializing)]
    pub enabled: Option<bool>,
    /// The program, a name or a path from the workspace's root, and its arguments. `${root}` is the project's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The files it reports on, as in a `.gitignore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub globs: Option<Vec<String>>,
    /// The languages that those are in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub languages: Option<Vec<String>>,
    /// Markers of a project's folder, such as `go.mod`, or `Cargo.toml#workspace` for a file with this key; the first that a
    /// folder above a file has counts. Without them the workspace is the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<String>>,
    /// `project` if it looks at all of the project, `files` if it gets files as its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<String>,
    /// The most files that one process gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// What it prints: `cargo`, `sarif`, `checkstyle`, `rdjson`, `rdjsonl`, `json`, `jsonl`, `regex` or `tsgolint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Where it prints that: `stdout` or `stderr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// For `regex`: what a line with a finding looks like, with groups named `path`, `line`, `column`, `end-line`,
    /// `end-column`, `severity`, `code` and `message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What a line looks like that belongs to the finding before it, and names another place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note_pattern: Option<String>,
    /// What a line looks like that names a file it looked at, with a group named `path`. Files that no line names are left out then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed_pattern: Option<String>,
    /// Whether lines that begin with white space belong to the message before them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continued: Option<bool>,
    /// What it prints when it stops looking before the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// For `json` and `jsonl`: where `items`, `path`, `line`, `column`, `end-line`, `end-column`, `severity`, `code`, `name`,
    /// `message`, `hint`, `url` and the edits of a `fix` are. `a.b` is a member of a member, `a[]` each element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<BTreeMap<String, Value>>,
    /// What columns count: `utf-8`, `utf-16`, `code-points`, or `yaml`: bytes that go on in block scalars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// The number of the first line, 1 if this is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u32>,
    /// The number of the first column, 1 if this is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_column: Option<u32>,
    /// The code of findings without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The severity of findings without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<RuleSeverity>,
    /// Severities by its own words for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severities: Option<BTreeMap<String, RuleSeverity>>,
    /// For `tsgolint`: the rules that need types, by their names, each with `off`, `warn` or `error`, or with a list of that and
    /// the rule's options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<BTreeMap<String, Value>>,
    /// Exit codes besides 0 of a run that found something; any other is a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings_codes: Option<Vec<i32>>,
    /// Exit codes of a run that errors it found kept from looking at everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted_codes: Option<Vec<i32>>,
    /// The files that its answers may rest on, as in a `.gitignore`; all if this is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<String>>,
    /// Places outside of the workspace, or in folders of dependencies, that it reads: `~` is the home, `$NAME` each folder of a
    /// variable, `$PREFIX` the folder that it is installed in, `^` the project's folder and each above it, `**/NAME` the folders
    /// of this name anywhere in the workspace, `*` any name or part of one. `$(PROGRAM ARGUMENTS)` stands for the folders that a
    /// program prints. If not set, answers are reused for one minute only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Vec<String>>,
    /// Files and folders of the home folder that it needs; it sees toolchains and what they downloaded anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shows: Option<Vec<String>>,
    /// Variables of its environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// The longest that a run may take, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// The most memory of all processes of a run, in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
}

/// Severity of what a command finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuleSeverity {
    Hint,
    Info,
    Warning,
    Error,
}

/// A plugin of the workspace's own choice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct PluginSettings {
    /// Where it comes from: a path relative to the workspace's root, an `https://` URL, or `oci://` and a reference. Not
    /// needed for one that the command line names.
    #[schemars(with = "Option<String>")]
    pub source: Option<Source>,
    /// The plugin is used only if one of these signed it: public keys of minisign (the line of a `minisign.pub` that begins with
    /// `RW`), public keys in PEM (all of a `cosign.pub`), and identities of sigstore with their issuers.
    pub signed_by: Option<Signers>,
    /// What it may use beyond the workspace's files, such as `env:NAME`. Counts in a workspace that is trusted.
    #[schemars(with = "Option<Vec<String>>")]
    pub grants: Option<Vec<Capability>>,
}

/// Severity of a rule; `off` disables it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuleLevel {
    Off,
    Hint,
    Info,
    Warning,
    Error,
}

/// One or more rules as a linter has them; what they mean, it alone knows.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<RuleName>")]
pub(super) struct Selected(pub(super) Vec<RuleName>);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(super) struct RuleName(pub(super) String);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub(super) struct RuleKey(#[schemars(with = "String")] pub(super) RulePattern);

/// A line of a `.gitignore`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Glob(pub(super) String);

impl Glob {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RuleLevel {
    /// `None` if it is off.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Hint => Some(Severity::Hint),
            Self::Info => Some(Severity::Info),
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }
}

impl TryFrom<u32> for MaxFileSize {
    type Error = String;

    fn try_from(mib: u32) -> Result<Self, String> {
        match mib {
            1..=LARGEST => Ok(Self(mib)),
            _ => Err(format!("files of {mib} MiB cannot be checked: it is a number from 1 to {LARGEST}")),
        }
    }
}

impl TryFrom<Vec<RuleName>> for Selected {
    type Error = &'static str;

    /// An empty list is a mistake.
    fn try_from(names: Vec<RuleName>) -> Result<Self, Self::Error> {
        if names.is_empty() { Err("`select` names no rule") } else { Ok(Self(names)) }
    }
}

impl TryFrom<String> for RuleName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = text.trim();
        if text.is_empty() { Err("a rule has no name") } else { Ok(Self(text.to_owned())) }
    }
}

impl TryFrom<String> for RuleKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|why| format!("`{text}` names no rule: {why}"))
    }
}

impl TryFrom<String> for Glob {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.trim().is_empty() || text.starts_with('#') {
            return Err(format!("`{text}` matches no file"));
        }
        match GitignoreBuilder::new("").add_line(None, &text) {
            Ok(_) => Ok(Self(text)),
            Err(error) => Err(error.to_string()),
        }
    }
}
