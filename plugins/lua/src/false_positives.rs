//! Findings of selene's that are wrong, or about what is meant as it is, where no `selene.toml` holds.
//!
//! Which values a variable may have is seen from the assignments alone: one that is no function leaves open what a call
//! of the variable takes.

use std::ops::Range;

use full_moon::ast::lua54::Attribute;
use full_moon::ast::punctuated::Punctuated;
use full_moon::ast::{
    Assignment, Ast, Block, Call, Expression, FunctionArgs, FunctionBody, FunctionCall, FunctionDeclaration,
    GenericFor, LocalAssignment, NumericFor, Parameter, Repeat, Stmt, Suffix, Var, While,
};
use full_moon::node::Node;
use full_moon::tokenizer::TokenReference;
use full_moon::visitors::Visitor;
use rustc_hash::FxHashSet;
use selene_lib::CheckerDiagnostic;

use crate::luacheck;

/// Takes out unused variables that something else asks for: global ones, which the program around may use; parameters, most
/// of which a caller's conventions name (16 of 17 in telescope.nvim); the variables of a loop; of several that are
/// assigned at once all but the last, and further results of a call if another one is used; and those of a text that does
/// nothing itself. And
/// - calls of a variable that has other values than the functions that can be seen, or of an outer function with the name
///   of the variable that is assigned (`local unpack = function(t) return unpack(t, 1, t.n) end`), and calls that have too
///   many arguments only if the last of them, `...` or a call, has a value;
/// - `string.gsub` as a loop, whose replacement is a function or may be one;
/// - calls whose value is not needed, as they do something as well;
/// - loops without a body whose condition calls something;
/// - what a comment for luacheck lets pass.
pub(crate) fn drop_false_positives(found: &mut Vec<CheckerDiagnostic>, ast: &Ast, text: &str) {
    let place = |it: &CheckerDiagnostic| it.diagnostic.primary_label.range.0 as usize;
    let globals = found.iter().filter(|it| it.diagnostic.code == "unscoped_variables").map(place);
    let mut false_positives = FalsePositives { names: globals.collect(), ..FalsePositives::default() };
    false_positives.visit_ast(ast);
    if does_nothing(ast) {
        false_positives.names.extend(ast.nodes().stmts().flat_map(declared));
    }
    let unused = found.iter().filter(|it| it.diagnostic.code == "unused_variable").map(place).collect();
    false_positives.add_further_results(&unused);
    let comments = luacheck::comments(text, &false_positives.bodies);
    found.retain(|it| {
        let at = place(it);
        let is_excused = match it.diagnostic.code {
            "unused_variable" => false_positives.names.contains(&at),
            "mismatched_arg_count" => {
                may_have_none(it)
                    || false_positives.has_other_values(it)
                    || false_positives.is_of_outer(at, text)
            }
            "must_use" => {
                false_positives.replacing.contains(&at) || has_effect(text.get(at..).unwrap_or_default())
            }
            "empty_loop" => false_positives.calls_in_condition(at),
            _ => false,
        };
        !is_excused && !comments.iter().any(|comment| comment.suppresses(&it.diagnostic, text))
    });
}

/// Functions of the standard library that do something besides: the first numbers of a generator are thrown away, and the rest
/// make files, free memory, or run a metamethod.
const WITH_EFFECTS: [&str; 4] = ["collectgarbage", "math.random", "os.tmpname", "tostring"];

/// Whether the call with this text has a side effect.
fn has_effect(call: &str) -> bool {
    let end = call.find(|it: char| !it.is_alphanumeric() && !"._".contains(it)).unwrap_or(call.len());
    WITH_EFFECTS.contains(&&call[..end])
}

/// Whether a text only declares local names, and is there to be included in another (`--- @include`).
fn does_nothing(ast: &Ast) -> bool {
    let is_local = |it: &Stmt| matches!(it, Stmt::LocalFunction(_) | Stmt::LocalAssignment(_));
    ast.nodes().last_stmt().is_none() && ast.nodes().stmts().all(is_local)
}

/// Returns the positions of the names that a statement declares.
fn declared(statement: &Stmt) -> Vec<usize> {
    match statement {
        Stmt::LocalFunction(it) => vec![start(it.name())],
        Stmt::LocalAssignment(it) => it.names().iter().map(start).collect(),
        _ => Vec::new(),
    }
}

fn start(name: &TokenReference) -> usize {
    name.token().start_position().bytes()
}

fn bytes(node: &impl Node) -> Option<Range<usize>> {
    node.range().map(|(start, end)| start.bytes()..end.bytes())
}

#[derive(Default)]
struct FalsePositives {
    /// Positions where the variables of false positives are first named.
    names: FxHashSet<usize>,
    /// The names of one assignment, and the number of the first whose value is a further result of a call.
    results: Vec<(Vec<usize>, usize)>,
    /// Values that are assigned to a new local variable, which is not known in them yet.
    values: Vec<(String, Range<usize>)>,
    /// Positions where a variable gets a value that is no function: of its name, or of the statement.
    other_values: FxHashSet<usize>,
    /// Calls of `string.gsub` with a replacement that may be a function.
    replacing: FxHashSet<usize>,
    calls: Vec<usize>,
    /// Loops, and where their conditions are.
    conditions: Vec<(usize, Range<usize>)>,
    /// Bodies of functions.
    bodies: Vec<Range<usize>>,
}

impl FalsePositives {
    fn add<'a>(&mut self, names: impl Iterator<Item = &'a TokenReference>) {
        self.names.extend(names.map(start));
    }

    /// `local ok, reason = f()` has a second result to say what the first is.
    fn add_further_results(&mut self, unused: &FxHashSet<usize>) {
        for (names, first) in std::mem::take(&mut self.results) {
            if names.iter().any(|it| !unused.contains(it)) {
                self.names.extend(&names[first..]);
            }
        }
    }

    /// Whether a call is that of an outer function with the name of the variable that is assigned.
    fn is_of_outer(&self, call: usize, text: &str) -> bool {
        let calls = |name: &str| text.get(call..).is_some_and(|it| it.starts_with(name));
        self.values.iter().any(|(name, range)| range.contains(&call) && calls(name))
    }

    /// selene names all places where the called variable is defined or assigned.
    fn has_other_values(&self, found: &CheckerDiagnostic) -> bool {
        let places = &found.diagnostic.secondary_labels;
        places.iter().any(|it| self.other_values.contains(&(it.range.0 as usize)))
    }

    fn calls_in_condition(&self, of_loop: usize) -> bool {
        let conditions = self.conditions.iter().filter(|it| it.0 == of_loop);
        conditions.into_iter().any(|(_, range)| self.calls.iter().any(|it| range.contains(it)))
    }

    fn add_loop(&mut self, of_loop: &impl Node, block: &Block, condition: Option<Range<usize>>) {
        let is_empty = block.last_stmt().is_none() && block.stmts().next().is_none();
        if let (true, Some(at), Some(condition)) = (is_empty, bytes(of_loop), condition) {
            self.conditions.push((at.start, condition));
        }
    }
}

/// Whether the arguments are too many only because of the last one, which is `...` or a call and may have no value: for those
/// selene writes "at least" and counts them as one.
fn may_have_none(found: &CheckerDiagnostic) -> bool {
    let message = &found.diagnostic.message;
    let counts: Vec<usize> = message.split(' ').filter_map(|it| it.parse().ok()).collect();
    message.contains("at least") && matches!(counts[..], [taken, supplied] if supplied == taken + 1)
}

/// Whether the last expression of a list may have more than one value.
fn has_many_values(last: Option<&Expression>) -> bool {
    match last {
        Some(Expression::FunctionCall(_)) => true,
        Some(Expression::Symbol(it)) => it.token().to_string() == "...",
        _ => false,
    }
}

/// Whether a replacement can only be text, so that the only effect of `string.gsub` is its result.
fn is_text(replacement: &Expression) -> bool {
    matches!(replacement, Expression::String(_) | Expression::Number(_) | Expression::BinaryOperator { .. })
}

impl Visitor for FalsePositives {
    /// If there were a local variable of this name, it would be named first where it is declared.
    fn visit_function_declaration(&mut self, node: &FunctionDeclaration) {
        self.add(node.name().names().iter().take(1));
    }

    fn visit_function_body(&mut self, node: &FunctionBody) {
        let names = node.parameters().iter().filter_map(|it| match it {
            Parameter::Name(it) | Parameter::Ellipsis(it) => Some(start(it)),
            _ => None,
        });
        for name in names {
            self.names.insert(name);
            self.other_values.insert(name);
        }
        self.bodies.extend(bytes(node));
    }

    fn visit_generic_for(&mut self, node: &GenericFor) {
        self.add(node.names().iter());
        self.other_values.extend(node.names().iter().map(start));
        self.add_loop(node, node.block(), bytes(node.expressions()));
    }

    fn visit_numeric_for(&mut self, node: &NumericFor) {
        self.add(std::iter::once(node.index_variable()));
    }

    fn visit_while(&mut self, node: &While) {
        self.add_loop(node, node.block(), bytes(node.condition()));
    }

    fn visit_repeat(&mut self, node: &Repeat) {
        self.add_loop(node, node.block(), bytes(node.until()));
    }

    fn visit_function_call(&mut self, node: &FunctionCall) {
        let Some(at) = bytes(node) else { return };
        self.calls.push(at.start);
        let arguments = node.suffixes().find_map(|it| match it {
            Suffix::Call(Call::AnonymousCall(FunctionArgs::Parentheses { arguments, .. })) => Some(arguments),
            _ => None,
        });
        if arguments.and_then(|it| it.iter().nth(2)).is_some_and(|it| !is_text(it)) {
            self.replacing.insert(at.start);
        }
    }

    fn visit_assignment(&mut self, node: &Assignment) {
        let mut values = node.expressions().iter();
        for variable in node.variables() {
            let is_function = matches!(values.next(), Some(Expression::Function(_)));
            if let (false, Var::Name(name)) = (is_function, variable) {
                self.other_values.insert(start(name));
            }
        }
    }

    fn visit_local_assignment(&mut self, node: &LocalAssignment) {
        self.add(node.names().iter().take(node.names().len().saturating_sub(1)));
        // A variable that is closed at the end of its scope is used by that.
        let closes = |it: Option<&Attribute>| it.is_some_and(|it| it.name().token().to_string() == "close");
        let closed = node.names().iter().zip(node.attributes()).filter(|it| closes(it.1));
        self.add(closed.map(|it| it.0));
        for (name, value) in node.names().iter().zip(node.expressions()) {
            self.values.extend(bytes(value).map(|it| (name.token().to_string(), it)));
            if !matches!(value, Expression::Function(_)) {
                self.other_values.insert(start(name));
            }
        }
        self.add_results(node, node.names(), node.expressions());
    }
}

impl FalsePositives {
    /// Names that have no value of their own, but a further result of the last.
    fn add_results(
        &mut self,
        node: &LocalAssignment,
        names: &Punctuated<TokenReference>,
        values: &Punctuated<Expression>,
    ) {
        if names.len() > values.len() && has_many_values(values.iter().last()) {
            self.results.push((names.iter().map(start).collect(), values.len()));
            self.other_values.extend(bytes(node).map(|it| it.start));
        }
    }
}
