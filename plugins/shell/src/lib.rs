//! shuck, a linter for shell scripts written in Rust, as a Broker plugin: its rules, which ShellCheck's codes name as well,
//! its configuration, and what of ShellCheck's own says the same.
//!
//! Start reading at [`Shell`], then [`config`] (which rules hold for a file), [`lint`] (run the linter), [`convert`] (say it
//! in the plugin's words) and [`rules`].
//!
//! Why shuck: ShellCheck is written in Haskell, `brush-parser` and `yash-syntax` only parse (the latter under the GPL), and
//! tree-sitter's grammar finds fault with good scripts.
//!
//! Rules have ShellCheck's codes and severities, and shuck's own code where ShellCheck has no such rule. Without a configuration of shuck,
//! those are on that ShellCheck has on ([`defaults`]), as far as their findings show in a script alone
//! ([`false_positives`]): no commands that the script asks for first ([`guards`]), no words that cannot be split ([`arrays`]) or are meant
//! to be ([`patterns`]), and no output that goes elsewhere ([`outputs`]). Rules that cannot report anything in a script do not
//! run ([`wanted`]).
//!
//! Not as shuck does it, each where its way would be of no use here:
//! - of a script that cannot be parsed only that is reported, as `syntax-error` whatever rule of shuck's finds it, and not what
//!   else seems to be wrong in what could be made of it;
//! - a script that shuck's parser gives up, though it may be right, is left out, and the log says so;
//! - where lines end in CRLF and the parser stumbles over it, that is reported, once, as ShellCheck does;
//! - a `}` in a word (`find . -exec rm \{} \;`) is no syntax error ([`script`]);
//! - fixes that can change what a script does are unsafe, though shuck calls some of them safe;
//! - within backticks, SC2086 points to what it means ([`backticks`]);
//! - a script that does not say what shell it is for, but that it ends in `.sh`, is read as bash's, and one whose `#!` is behind
//!   comments or empty lines as that shell's ([`dialect`]);
//! - what BusyBox's `sh` has is not reported in scripts of Alpine's images ([`busybox`]);
//! - the words of SC2295, SC1019 and SC2145 are ours: shuck's say that patterns should not have variables, that
//!   `[ -f x]` lacks its operand, and that `"x $@"` becomes one word;
//! - a test whose `]` has no space before it has one finding, SC1073, with the fix of SC1019 or SC1020 ([`brackets`]);
//! - `configure` as Autoconf makes it, and what cannot be read after an `exit` or `exec`, is left out where nothing of
//!   shuck's is chosen;
//! - `untracked-source-file` (SC1091) is off: which files are checked together is not known here.
//!
//! Four rules of ShellCheck that shuck has not are ours ([`extra`], [`commands`]).
//!
//! Scripts in workflows and composite actions of GitHub are read by the same rules ([`workflow`]).
//!
//! Left out: shells that are none of shuck's (fish), tests of Bats, which are no scripts of a shell before Bats translates
//! them, and contracts and plugins of zsh in the configuration.

mod arrays;
mod backticks;
mod brackets;
mod busybox;
mod closed;
mod commands;
mod conditions;
mod config;
mod continuations;
mod convert;
mod defaults;
mod dialect;
mod ends;
mod extra;
mod false_positives;
mod finds;
mod guards;
mod lint;
mod loops;
mod options;
mod outputs;
mod patterns;
mod rules;
// `std::fs::canonicalize`, which shuck asks for, wants it where the C library has none.
#[path = "../../markdown/src/real_path.rs"]
#[cfg(target_family = "wasm")]
mod real_path;
mod script;
mod selection;
mod shellcheck;
mod splats;
#[cfg(test)]
mod tests;
mod tree;
mod variables;
mod wanted;
mod workflow;

use std::borrow::Cow;
use std::path::Path;

use broker_plugin_sdk::offsets::without_mark;
use broker_plugin_sdk::{Plugin, Report, Rule, RulesOn, Settings, SettingsError, SourceFile};
use shuck_linter::ShellCheckCodeMap;

use config::{Config, Workspace};
use selection::Selection;
use workflow::Workflow;

/// The plugin: where the workspace is, what is wanted, and the configurations that were found.
pub struct Shell {
    workspace: Workspace,
    selection: Selection,
    map: ShellCheckCodeMap,
}

impl Plugin for Shell {
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        let map = ShellCheckCodeMap::default();
        Self { workspace: Workspace::default(), selection: Selection::default(), map }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        self.workspace = Workspace::new(settings);
        let unknown;
        (self.selection, unknown) = Selection::new(settings, &self.map);
        SettingsError::unless_known(unknown)
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all(&self.map)
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        if file.content.contains(&0) {
            return Ok(Report::excluded());
        }
        let text = file.text();
        let path = self.workspace.root().join(&file.path);
        let config = self.workspace.config_of(&path, &self.map)?;
        let (mark, code) = without_mark(&text);
        if workflow::is_file(&file.path) {
            return Ok(self.workflow(&path, code, &config).shifted(mark));
        }
        let report = lint::report(code, &path, &config, &self.selection, &self.map).shifted(mark);
        Ok(if matches!(text, Cow::Borrowed(_)) { report } else { report.without_fixes() })
    }

    fn rules_on(&mut self, name: &str) -> Result<RulesOn, String> {
        let path = self.workspace.root().join(name);
        let config = self.workspace.config_of(&path, &self.map)?;
        let in_steps = workflow::is_file(name);
        let mut on = lint::rules_on(&path, &config, &self.selection);
        if in_steps {
            on = on.subtract(&workflow::without(&self.map));
        }
        let syntax = self.selection.reports_syntax_errors().then(|| rules::SYNTAX_ERROR.to_owned());
        let extras = lint::extras_on(&config, &self.selection).into_iter().map(|it| it.code());
        let extras = extras.filter(|it| !in_steps || !workflow::is_without(it)).map(str::to_owned);
        let codes = on.iter().map(|it| rules::code(it, &self.map)).chain(extras).chain(syntax);
        Ok(RulesOn::new(codes, config.file.as_deref()))
    }
}

impl Shell {
    /// Findings in the scripts of a workflow or an action of GitHub, of which `text` is all behind the byte order mark.
    fn workflow(&self, path: &Path, text: &str, config: &Config) -> Report {
        Workflow { path, config, selection: &self.selection, map: &self.map }.report(text)
    }
}

broker_plugin_sdk::plugin!(Shell, "../broker-plugin.toml");
