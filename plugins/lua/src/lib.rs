//! The selene linter as a Broker plugin: the crate itself, the project's own `selene.toml` and standard libraries, and
//! the answers of `selene`.
//!
//! Start reading at [`Lua`], then [`projects`] (which configuration holds), [`standard_library`], [`lint`] (run selene)
//! and [`convert`] (say it in the plugin's words).
//!
//! Not as selene does it, each where selene's way would be of no use here:
//! - The nearest `selene.toml` counts, as if selene ran in its folder; selene looks only where it runs.
//! - Where there is none, only the lints of [`defaults`] are on, what may be meant as it is passes ([`false_positives`]; comments
//!   for luacheck count, [`luacheck`]), what a `.luacheckrc` excludes or ignores is left out ([`luacheckrc`]), and a file may be
//!   of any version of Lua.
//! - A standard library with `vim`, `jit`, `ffi` or `ngx` in it is of LuaJIT as well, and escapes in strings are those of the
//!   versions that a file may be of ([`escapes`]); selene knows those of Lua 5.1.
//! - Bytes that are no UTF-8 are none of Lua's business: what is found elsewhere in such a file is told.
//! - `lua53` is Lua 5.3 ([`standard_library`]), and standard libraries have what Lua's manuals say ([`corrections`]).
//! - Not syntax errors, as they are none in Lua: a byte order mark, a first line that starts with `#`, page breaks between
//!   words and, from Lua 5.2 on, statements that are no more than a `;`, and `break` where more comes after it ([`lenient`]).
//! - `&` and `|` in expressions of Luau are syntax errors, where selene breaks off ([`luau`]).
//! - The standard library `roblox` is a download. Without it (a `roblox.yml` in the project) the lints that need it are off.
//!
//! Left out: other endings than `.lua` and `.luau`; LuaJIT's names with letters that are not ASCII, which are syntax errors
//! here as with selene.

mod convert;
mod corrections;
mod defaults;
mod escapes;
mod false_positives;
mod lenient;
mod lint;
mod luacheck;
mod luacheckrc;
mod luau;
mod nesting;
mod projects;
mod rules;
mod standard_library;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod warm_up;

use broker_plugin_sdk::{
    Diagnostic, Plugin, Report, Rule, RulesOn, Settings, SettingsError, SourceFile, Span,
};

use projects::Projects;

/// The plugin: a workspace with the projects found in it so far.
pub struct Lua {
    projects: Projects,
}

impl Plugin for Lua {
    const SELECTS_ITSELF: bool = true;

    fn new() -> Self {
        Self { projects: Projects::new() }
    }

    fn configure(&mut self, settings: &Settings) -> Result<(), SettingsError> {
        let (selection, unknown) = rules::selection(settings);
        self.projects.configure(settings, selection);
        SettingsError::unless_known(unknown)
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        let path = self.projects.root().join(&file.path);
        let project = self.projects.of(&path).map_err(|it| it.to_string())?;
        let selection = self.projects.selection();
        if !file.is_explicit() && project.excludes(&path, selection.is_chosen()) {
            return Ok(Report::excluded());
        }
        let text = file.text();
        let mut report = match nesting::objection(&text) {
            Some(why) => {
                return Ok(Report::partial(why));
            }
            None => project.linter.run(&file.path, &text, selection),
        };
        report.diagnostics.retain(|it| {
            let name = text.get(it.span.start as usize..it.span.end as usize).unwrap_or_default();
            let is_ignored = !selection.includes(&*it.code, false) && project.ignores(&it.code, name);
            !is_ignored && !is_of_other_text(it, &file.content, &text)
        });
        Ok(report)
    }

    fn rules_on(&mut self, path: &str) -> Result<RulesOn, String> {
        let path = self.projects.root().join(path);
        let project = self.projects.of(&path).map_err(|it| it.to_string())?;
        let selection = self.projects.selection();
        let is_on = |it: &Rule| match &*it.code {
            rules::PARSE_ERROR => !selection.ignores(rules::PARSE_ERROR),
            code if project.linter.lacks(code) => false,
            code => selection.includes(code, project.turns_on(code)),
        };
        let on = rules::all().into_iter().filter(is_on).map(|it| it.code);
        Ok(RulesOn::new(on, project.file()))
    }
}

/// Whether a finding is about bytes that are no UTF-8, which do not matter to Lua: selene saw letters in their place, and may
/// mistake two texts for the same.
fn is_of_other_text(found: &Diagnostic, content: &[u8], text: &str) -> bool {
    let related = found.related.iter().filter(|it| it.path.is_none()).map(|it| &it.span);
    let differs = |it: &Span| {
        let range = it.start as usize..it.end as usize;
        content.get(range.clone()) != text.as_bytes().get(range)
    };
    // A text that does not parse with letters does not parse at all.
    found.code != rules::PARSE_ERROR && related.chain([&found.span]).any(differs)
}

broker_plugin_sdk::plugin!(Lua, "../broker-plugin.toml");
