//! Defaults without a `selene.toml`: lints of broken code rather than of taste, and none that depends on which names exist. A
//! program that Lua is built into has names of its own.
//!
//! With selene's own defaults there is a finding per 3 to 30 lines in most programs that never asked for them: 1 per 4 in
//! Wesnoth's and per 12 in Knot Resolver's, nearly all of them undefined variables; 1 per 19 in Prosody's, half of them
//! functions that the standard library does not have; 1 per 15 in Nmap's, which writes its conditions in parentheses and
//! uses escapes of Lua 5.2. With what is left, there is one per 120 lines in the 432,541 lines of thirteen programs.

use std::collections::HashMap;

use full_moon::LuaVersion;
use selene_lib::standard_library::StandardLibrary;
use selene_lib::{CheckerConfig, LintVariation};

use crate::{corrections, standard_library};

/// Lints that are off without a configuration.
pub(crate) const OFF: [&str; 14] = [
    "bad_string_escape",              // partly taste: quotes that need no escape
    "deprecated",                     // rests on the version, and breaks nothing in those that call it so
    "divide_by_zero",                 // `1/0` is how most write infinity
    "global_usage",                   // taste
    "if_same_then_else",              // two conditions with a line of their own are mostly meant
    "incorrect_standard_library_use", // rests on names
    "manual_table_clone",             // Luau alone has what it wants
    "mixed_table",                    // taste
    "multiple_statements",            // taste
    "parenthese_conditions",          // taste
    "shadowing",                      // taste
    "unbalanced_assignments",         // `local a, b = 1` declares both
    "undefined_variable",             // rests on names
    "unscoped_variables",             // rests on names
];

/// Lints about what is left over, which say nothing where it is another project's or there on purpose.
pub(crate) const LEFT_OVER: [&str; 3] = ["empty_if", "empty_loop", "unused_variable"];

/// All versions of Lua but Luau.
pub(crate) fn plain() -> LuaVersion {
    LuaVersion::lua54().with_luajit()
}

pub(crate) fn config() -> CheckerConfig<toml::Value> {
    let lints: HashMap<String, LintVariation> =
        OFF.iter().map(|it| ((*it).to_owned(), LintVariation::Allow)).collect();
    // A comment in an empty branch says why.
    let comments = toml::Value::Table([("comments_count".to_owned(), true.into())].into_iter().collect());
    let config = ["empty_if", "empty_loop"].map(|it| (it.to_owned(), comments.clone()));
    CheckerConfig { lints, config: config.into(), ..CheckerConfig::default() }
}

/// The names of all versions. The newest version counts, since its functions take what those of the others do.
pub(crate) fn standard_library() -> StandardLibrary {
    let mut all = StandardLibrary::default();
    let older = ["lua51", "luau"].map(standard_library::built_in);
    for library in std::iter::once(corrections::lua54()).chain(older).flatten() {
        standard_library::extend(&mut all, library);
    }
    all
}

/// Whether a lint is off without a configuration.
pub(crate) fn is_off(code: &str) -> bool {
    OFF.contains(&code) || !is_on_in_selene(code)
}

/// Whether a lint is on with a `selene.toml` that does not name it.
pub(crate) fn is_on_in_selene(code: &str) -> bool {
    code != "high_cyclomatic_complexity"
}
