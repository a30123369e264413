//! Deno's linter as a Broker plugin: the crate that `deno lint` itself is made of, the project's own deno.json,
//! and the answers of `deno lint`.
//!
//! Start reading at [`JavaScript`], then [`project`] (which configuration holds), [`reach`] (whether it leaves the
//! file out), [`lint`] (run the linter), [`false_positives`] (what of it is wrong) and [`convert`] (say it in the plugin's words).
//!
//! Why deno_lint: of the linters for JavaScript that are on the crate registry it is the one that is kept up, and
//! a published program of the same version gives the answers to compare with. `biome_js_analyze` 0.5.7 has more
//! rules (213), but is Biome of 2024, 1.7: no version of Biome that projects use today, and none whose
//! configuration it would read. `oxc_linter` is not on the registry, and its parser alone has no rules.
//! Projects that have ESLint, Biome or oxlint are asked through their language servers.
//!
//! Not as deno does it, each where deno's way would be of no use here:
//! - Where no deno.json holds, only what is certainly wrong is told ([`defaults`]), less again where another linter is
//!   configured ([`neighbours`]), and a `.js` file may have JSX. A deno.json that says nothing of linting, beside another
//!   linter's configuration, is none.
//! - ESLint's comments that disable a rule, or configure it as off, count ([`eslint`]), but in a project of Deno's.
//! - A file that does not parse and whose types are Flow's ([`flow`]) is left out, but in a project of Deno's.
//!   So is one that is a single expression ([`expression`]).
//! - `f<<T>(a: T) => T>()` of TypeScript, which swc takes for a shift, is read ([`shifts`]).
//! - `no-invalid-regexp` is another parser's ([`regexps`]), and `no-setter-return` looks into property descriptors
//!   ([`setters`]), but in a project of Deno's.
//! - What oxc's parser refuses is an error as well ([`second`]), and what it can read and swc cannot is left out, but in a
//!   project of Deno's. What swc would panic at is not given to it ([`hazards`]).
//! - A script whose `await` is a name is parsed as one ([`parse`]), and gets no `import` by a fix ([`modules`]).
//! - Five of deno_lint's findings are wrong, and not told or told in other words: `adjacent-overload-signatures` in
//!   JavaScript, `prefer-const` for `let a!: T`, `no-unused-vars` for `export import A = …` and for `import A = B.C` that is
//!   used as a type, the same finding twice (`no-extra-boolean-cast`), and the message of
//!   `jsx-void-dom-elements-no-children`, which is another rule's.
//! - `no-dupe-keys` points to the key that repeats another one ([`keys`]), but in a project of Deno's.
//! - A relative import that leads to no file is reported ([`unresolved`]), but in a project of Deno's.
//! - Where no deno.json holds, what has no effect is not told of vendored libraries.
//! - Minified files are left out unless they are named, and templates that do not parse always ([`template`]).
//! - Syntax errors that leave the rest readable are findings as well; deno writes them to its log.
//! - `ban-unused-ignore` can be excluded; deno tells it all the same.
//!
//! Left out: `.gitignore` (the host decides which files exist), plugins written in JavaScript (`lint.plugins`),
//! deno's two rules about whole packages (`no-slow-types`, `no-sloppy-imports`), and the scripts in `.vue`, `.svelte`
//! and `.astro` files, which deno does not read, either. Where the crate panics all the same, deno does, too, and the host
//! tells that the file was not checked.

mod convert;
mod defaults;
mod eslint;
mod expression;
mod false_positives;
mod files;
mod flow;
mod getters;
mod hazards;
mod imports;
mod jsdoc;
mod keys;
mod lint;
mod loops;
mod meant;
mod modules;
mod neighbours;
mod nesting;
mod parse;
mod problem;
mod project;
mod reach;
mod regexps;
mod repairs;
mod rules;
mod second;
mod selection;
mod setters;
mod shifts;
mod table;
mod targets;
mod template;
#[cfg(test)]
mod tests;
mod tsconfig;
mod unresolved;
mod warm_up;

use std::path::Path;

use broker_plugin_sdk::config::ConfigFiles;
use broker_plugin_sdk::{Plugin, Report, Rule, RulesOn, Settings, SettingsError, SourceFile, minified};

use project::{Project, Projects};
use selection::Selection;

/// The plugin: a workspace with the projects found in it so far.
pub struct JavaScript {
    projects: Projects,
}

impl JavaScript {
    /// Whether deno's walk from what the user named would not lead to the file.
    fn is_left_out(&self, project: &Project, path: &Path, named: &Path, text: &str) -> Result<bool, String> {
        let reached = project.reaches(path, named, self.projects.root())?;
        Ok(!reached || minified::is_minified(path, text))
    }
}

impl Plugin for JavaScript {
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        warm_up::run();
        Self { projects: Projects::new(ConfigFiles::default(), Selection::default()) }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        let (selection, unknown) = selection::resolve(settings);
        self.projects = Projects::new(ConfigFiles::new(settings), selection);
        SettingsError::unless_known(unknown)
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let path = self.projects.root().join(&file.path);
        let named = self.projects.root().join(&file.named);
        if !file.is_explicit() && reach::is_dependency(&path, &named) {
            return Ok(Report::excluded());
        }
        let project = self.projects.of(path.parent().unwrap_or(&path)).map_err(|it| it.to_string())?;
        let text = match std::str::from_utf8(&file.content) {
            Ok(text) => text,
            Err(error) => return Ok(lint::not_text(error)),
        };
        if !file.is_explicit() && self.is_left_out(&project, &path, &named, text)? {
            return Ok(Report::excluded());
        }
        match nesting::objection(text) {
            Some(why) => Ok(Report::partial(why)),
            None => {
                let report = project.linter.run(&path, text, self.projects.root())?;
                Ok(template::unless_template(&file.path, text, report))
            }
        }
    }

    fn rules_on(&mut self, path: &str) -> Result<RulesOn, String> {
        let path = self.projects.root().join(path);
        let project = self.projects.of(path.parent().unwrap_or(&path)).map_err(|it| it.to_string())?;
        Ok(RulesOn::new(project.linter.codes(), project.file().as_deref()))
    }
}

broker_plugin_sdk::plugin!(JavaScript, "../broker-plugin.toml");
