//! Stylesheets, as a Broker plugin: syntax errors by raffia, which reads CSS, SCSS and Less, and rules that
//! stylelint recommends, under its names, with its comments and its configuration.
//!
//! Start reading at [`Css`], then [`lint`], [`source`] (text to tree), [`gaps`] (what raffia cannot read), [`broken`] (whether
//! that is the file's fault), [`walk`], [`declarations`], [`values`], [`selectors`], [`workspace`] and [`config`].
//!
//! Why so: Biome's linter for CSS is not on the crate registry (its parser there is of 2024), `swc_css_lints` 30 has 10 of
//! stylelint's recommended rules and reads neither SCSS nor Less, and lightningcss is a minifier under the MPL. raffia is the
//! parser of a formatter that is kept up.
//!
//! Measured on 3,489 stylesheets of 23 packages (742 CSS, 1,812 SCSS, 935 Less): with what [`gaps`] fills in, all can be
//! read, and none is said to have a syntax error. Of 400 copies with one sign left out that Sass or Less refuse, 373 have a
//! syntax error told, 24 are told as not checked, with the line, and 3 pass. On 1,472 of the stylesheets stylelint 17.16 with
//! these rules has 1,488 findings, of which 5 are missing here, and 5 are here only, all of them right.
//!
//! A stylesheet that raffia cannot read, though that is likely not the stylesheet's fault ([`broken`]), and a template are left
//! out, and the log says why: an incomplete answer would fail each run, and nothing in the file could mend it. Minified
//! and built files are left out unless they are named; where stylelint is not configured, leftovers are not told of files that
//! are another project's ([`vendored`](broker_plugin_sdk::vendored)) or compiled ([`built`]).
//!
//! Left out, of what `stylelint-config-recommended` 18 has: `annotation-no-unknown`, `at-rule-descriptor-no-unknown`,
//! `at-rule-descriptor-value-no-unknown`, `at-rule-no-deprecated`, `at-rule-prelude-no-invalid`,
//! `function-calc-no-unspaced-operator`, `media-feature-name-value-no-unknown`, `media-query-no-invalid`,
//! `media-type-no-deprecated`, `nesting-selector-no-missing-scoping-root`, `no-descending-specificity`,
//! `no-invalid-position-declaration`, `no-irregular-whitespace`, `selector-anb-no-unmatchable`, `string-no-newline` and
//! `syntax-string-no-invalid`. Left out as well: style, rules of plugins (`scss/…`), stylesheets in other files, and
//! values of properties that take more than keywords.
//!
//! Unlike stylelint: selectors are the same where they are written the same below the same ones, so that `.a { .b {} }` is
//! not `.a .b {}`; what is `!important` is not overridden by a shorthand that is not; properties in `font: { … }` of Sass are
//! looked up by their whole names; a list of fonts with a variable is not said to lack a generic one; stylesheets of GTK
//! ([`dialect`]) have elements and properties of their own.

mod broken;
mod built;
mod config;
mod declarations;
mod deprecated;
mod dialect;
mod duplicates;
mod fonts;
mod gaps;
mod grid;
mod lint;
mod mask;
mod names;
mod rules;
mod selectors;
mod source;
mod suppress;
#[cfg(test)]
mod tests;
mod tokens;
mod values;
mod walk;
mod workspace;

use std::borrow::Cow;

use broker_plugin_sdk::offsets::without_mark;
use broker_plugin_sdk::{
    Plugin, Report, Rule, RulesOn, Selection, Settings, SettingsError, SourceFile, minified, template,
};

use config::Config;
use lint::Lint;
use names::Names;
use workspace::Workspace;

/// The plugin: where the workspace is, what is wanted, and what CSS knows.
pub struct Css {
    workspace: Workspace,
    names: Names,
    wanted: Selection,
}

impl Plugin for Css {
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        Self { workspace: Workspace::default(), names: Names::new(), wanted: Selection::default() }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        self.workspace = Workspace::new(settings);
        let unknown;
        // A configuration may turn on what is off by default.
        let all: Vec<Rule> = rules::all().into_iter().map(|it| Rule { default: true, ..it }).collect();
        (self.wanted, unknown) = Selection::new(settings, &all);
        SettingsError::unless_known(unknown)
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let path = self.workspace.root().join(&file.path);
        let config = self.workspace.config_of(&path)?;
        let is_left_out = config.leaves_out(&path) || self.workspace.ignores(&file.path);
        let text = file.text();
        let is_built = minified::is_minified(&path, &text) || minified::has_source_map(&text);
        let is_left_out = is_left_out || is_built;
        if !file.is_explicit() && is_left_out || file.content.contains(&0) {
            return Ok(Report::excluded());
        }
        let text = without_front_matter(&text).map_or(text.clone(), Cow::Owned);
        let lint = self.lint(&config);
        let (mark, code) = without_mark(&text);
        let report = lint.report(code, &path).shifted(mark);
        Ok(if matches!(text, Cow::Borrowed(_)) { report } else { report.without_fixes() })
    }

    fn rules_on(&mut self, path: &str) -> Result<RulesOn, String> {
        let path = self.workspace.root().join(path);
        let config = self.workspace.config_of(&path)?;
        let lint = self.lint(&config);
        let on = rules::all().into_iter().map(|it| it.code).filter(|it| lint.turns_on(it, &path));
        Ok(RulesOn::new(on, self.workspace.file_of(&path).as_deref()))
    }
}

impl Css {
    fn lint<'a>(&'a self, config: &'a Config) -> Lint<'a> {
        Lint { root: self.workspace.root(), names: &self.names, config, wanted: &self.wanted }
    }
}

broker_plugin_sdk::plugin!(Css, "../broker-plugin.toml");

/// The text with spaces in place of the front matter that Jekyll and its like take off; none if there is no such.
fn without_front_matter(text: &str) -> Option<String> {
    let length = template::front_matter(text.as_bytes())?;
    let blank = text[..length].bytes().map(|it| if it == b'\n' { '\n' } else { ' ' });
    Some(blank.chain(text[length..].chars()).collect())
}
