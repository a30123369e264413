//! What holds where there is no `selene.toml`: what is broken rather than what is not to everybody's taste, and nothing
//! that rests on which names there are. A program that Lua is built into has names of its own, and nobody has said which.
//!
//! With selene's own defaults there is a finding per 3 to 30 lines in most programs that never asked for them: 1 per 4 in
//! Wesnoth's and per 12 in Knot Resolver's, nearly all of them undefined variables; 1 per 19 in Prosody's, half of them
//! functions that the standard library does not have; 1 per 15 in Nmap's, which writes its conditions in parentheses and
//! uses escapes of Lua 5.2. With what is left, there is one per 120 lines in the 432,541 lines of thirteen programs.

use std::collections::HashMap;
use std::ops::Range;

use full_moon::LuaVersion;
use full_moon::ast::lua54::Attribute;
use full_moon::ast::{
    Ast, FunctionBody, FunctionDeclaration, GenericFor, LocalAssignment, NumericFor, Parameter, Stmt,
};
use full_moon::node::Node;
use full_moon::tokenizer::TokenReference;
use full_moon::visitors::Visitor;
use rustc_hash::FxHashSet;
use selene_lib::standard_library::StandardLibrary;
use selene_lib::{CheckerConfig, CheckerDiagnostic, LintVariation};

use crate::standard_library;

/// Off without a configuration.
pub(crate) const OFF: [&str; 12] = [
    "bad_string_escape",              // knows the escapes of Lua 5.1 alone
    "divide_by_zero",                 // `1/0` is how most write infinity
    "global_usage",                   // taste
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

/// Takes out unused variables that something else asks for: global ones, which the program around may use; parameters, most
/// of which a caller's conventions name (16 of 17 in telescope.nvim); the variables of a loop; of several that are
/// assigned at once all but the last; and those of a text that does nothing itself. And what is taken for a call of the function that it is in:
/// `local unpack = function(t) return unpack(t, 1, t.n) end` calls another.
pub(crate) fn drop_excused(found: &mut Vec<CheckerDiagnostic>, ast: &Ast, text: &str) {
    let place = |it: &CheckerDiagnostic| it.diagnostic.primary_label.range.0 as usize;
    let globals = found.iter().filter(|it| it.diagnostic.code == "unscoped_variables").map(place);
    let mut excused = Excused { names: globals.collect(), values: Vec::new() };
    excused.visit_ast(ast);
    if does_nothing(ast) {
        excused.names.extend(ast.nodes().stmts().flat_map(declared));
    }
    found.retain(|it| match it.diagnostic.code {
        "unused_variable" => !excused.names.contains(&place(it)),
        "mismatched_arg_count" => !excused.is_of_outer(place(it), text),
        _ => true,
    });
}

/// Whether a text only declares local names: it is there to be put into another's (`--- @include`).
fn does_nothing(ast: &Ast) -> bool {
    let is_local = |it: &Stmt| matches!(it, Stmt::LocalFunction(_) | Stmt::LocalAssignment(_));
    ast.nodes().last_stmt().is_none() && ast.nodes().stmts().all(is_local)
}

/// Where the names are that a statement declares.
fn declared(statement: &Stmt) -> Vec<usize> {
    let place = |it: &TokenReference| it.token().start_position().bytes();
    match statement {
        Stmt::LocalFunction(it) => vec![place(it.name())],
        Stmt::LocalAssignment(it) => it.names().iter().map(place).collect(),
        _ => Vec::new(),
    }
}

struct Excused {
    /// Where such a variable is first named.
    names: FxHashSet<usize>,
    /// Values that are assigned to a new local variable, which is not known in them yet.
    values: Vec<(String, Range<usize>)>,
}

impl Excused {
    fn add<'a>(&mut self, names: impl Iterator<Item = &'a TokenReference>) {
        self.names.extend(names.map(|it| it.token().start_position().bytes()));
    }

    /// Whether a call is that of an outer function with the name of the variable that is assigned.
    fn is_of_outer(&self, call: usize, text: &str) -> bool {
        let calls = |name: &str| text.get(call..).is_some_and(|it| it.starts_with(name));
        self.values.iter().any(|(name, range)| range.contains(&call) && calls(name))
    }
}

impl Visitor for Excused {
    /// If there were a local variable of this name, it would be named first where it is declared.
    fn visit_function_declaration(&mut self, node: &FunctionDeclaration) {
        self.add(node.name().names().iter().take(1));
    }

    fn visit_function_body(&mut self, node: &FunctionBody) {
        let names = node.parameters().iter().filter_map(|it| match it {
            Parameter::Name(it) | Parameter::Ellipsis(it) => Some(it),
            _ => None,
        });
        self.add(names);
    }

    fn visit_generic_for(&mut self, node: &GenericFor) {
        self.add(node.names().iter());
    }

    fn visit_numeric_for(&mut self, node: &NumericFor) {
        self.add(std::iter::once(node.index_variable()));
    }

    fn visit_local_assignment(&mut self, node: &LocalAssignment) {
        self.add(node.names().iter().take(node.names().len().saturating_sub(1)));
        // What is closed at its scope's end is used by that.
        let closes = |it: Option<&Attribute>| it.is_some_and(|it| it.name().token().to_string() == "close");
        let closed = node.names().iter().zip(node.attributes()).filter(|it| closes(it.1));
        self.add(closed.map(|it| it.0));
        for (name, value) in node.names().iter().zip(node.expressions()) {
            if let Some((start, end)) = value.range() {
                self.values.push((name.token().to_string(), start.bytes()..end.bytes()));
            }
        }
    }
}

/// Whether a lint is off where nothing is configured.
pub(crate) fn is_off(code: &str) -> bool {
    // The second is off in selene itself.
    OFF.contains(&code) || code == "high_cyclomatic_complexity"
}
