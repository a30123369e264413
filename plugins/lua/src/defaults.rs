//! What holds where there is no `selene.toml`: what is broken rather than what is not to everybody's taste, and nothing
//! that rests on which names there are. A program that Lua is built into has names of its own, and nobody has said which.
//!
//! With selene's own defaults there is a finding per 3 to 30 lines in most programs that never asked for them: 1 per 4 in
//! Wesnoth's and per 12 in Knot Resolver's, nearly all of them undefined variables; 1 per 19 in Prosody's, half of them
//! functions that the standard library does not have; 1 per 15 in Nmap's, which writes its conditions in parentheses and
//! uses escapes of Lua 5.2. With what is left, there is one per 120 lines in the 432,541 lines of thirteen programs.

use std::collections::HashMap;

use full_moon::LuaVersion;
use full_moon::ast::{Ast, FunctionDeclaration};
use full_moon::visitors::Visitor;
use rustc_hash::FxHashSet;
use selene_lib::standard_library::StandardLibrary;
use selene_lib::{CheckerConfig, CheckerDiagnostic, LintVariation};

use crate::standard_library;

/// Off without a configuration.
pub(crate) const OFF: [&str; 10] = [
    "bad_string_escape",              // knows the escapes of Lua 5.1 alone
    "global_usage",                   // taste
    "incorrect_standard_library_use", // rests on names
    "manual_table_clone",             // Luau alone has what it wants
    "mixed_table",                    // taste
    "multiple_statements",            // taste
    "parenthese_conditions",          // taste
    "shadowing",                      // taste
    "undefined_variable",             // rests on names
    "unscoped_variables",             // rests on names
];

/// All versions of Lua but Luau.
pub(crate) fn plain() -> LuaVersion {
    LuaVersion::lua54().with_luajit()
}

pub(crate) fn config() -> CheckerConfig<toml::Value> {
    let lints: HashMap<String, LintVariation> =
        OFF.iter().map(|it| ((*it).to_owned(), LintVariation::Allow)).collect();
    CheckerConfig { lints, ..CheckerConfig::default() }
}

/// The names of all versions.
pub(crate) fn standard_library() -> StandardLibrary {
    let mut all = StandardLibrary::default();
    for name in ["lua51", "lua53", "luau"] {
        if let Some(library) = standard_library::built_in(name) {
            standard_library::extend(&mut all, library);
        }
    }
    all
}

/// That a variable is never used rests on names, too, where it is a global one: the program around may use it.
pub(crate) fn drop_globals(found: &mut Vec<CheckerDiagnostic>, ast: &Ast) {
    let place = |it: &CheckerDiagnostic| it.diagnostic.primary_label.range.0 as usize;
    let globals = found.iter().filter(|it| it.diagnostic.code == "unscoped_variables").map(place);
    let mut globals = Globals(globals.collect());
    globals.visit_ast(ast);
    found.retain(|it| it.diagnostic.code != "unused_variable" || !globals.0.contains(&place(it)));
}

/// Where a global variable is first named.
struct Globals(FxHashSet<usize>);

impl Visitor for Globals {
    /// If there were a local variable of this name, it would be named first where it is declared.
    fn visit_function_declaration(&mut self, node: &FunctionDeclaration) {
        let name = node.name().names().iter().next();
        self.0.extend(name.map(|it| it.token().start_position().bytes()));
    }
}

/// Whether a lint is off where nothing is configured.
pub(crate) fn is_off(code: &str) -> bool {
    // The second is off in selene itself.
    OFF.contains(&code) || code == "high_cyclomatic_complexity"
}
