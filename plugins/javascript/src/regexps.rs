//! `no-invalid-regexp` by oxc's parser of regular expressions, in place of deno_lint's.
//!
//! deno_lint's is of 2022: it takes sets (`/[\w--a]/v`), modifiers (`(?i:a)`), names that are in two alternatives and newer
//! scripts of Unicode for errors, and gives up with a panic at some broken references. So the rule is run here, with the
//! crate's code and comments; of a pattern whose flags are not known it says only what is wrong with all of them.

use deno_ast::swc::ast::{CallExpr, Callee, Expr, ExprOrSpread, Lit, NewExpr, Regex};
use deno_ast::swc::ecma_visit::{Visit, VisitWith, noop_visit_type};
use deno_ast::{SourceRange, SourceRangedForSpanned};
use deno_lint::context::Context;
use deno_lint::rules::{LintRule, program_ref};
use deno_lint::tags::Tags;
use deno_lint::{Program, ProgramRef};
use oxc_allocator::Allocator;
use oxc_regular_expression::{LiteralParser, Options};

pub(crate) const CODE: &str = "no-invalid-regexp";

/// Prefix of oxc's messages, which the rule's own message has as well.
const PREFIX: &str = "Invalid regular expression: ";

/// Flags that are tried if a pattern's flags are not known: they differ in the patterns that they allow.
const ANY_FLAGS: [&str; 3] = ["", "u", "v"];

/// The rule with its code and its sets.
#[derive(Debug)]
pub(crate) struct ValidRegexps {
    tags: Tags,
}

impl ValidRegexps {
    pub(crate) fn in_place_of(rule: &dyn LintRule) -> Self {
        Self { tags: rule.tags() }
    }
}

impl LintRule for ValidRegexps {
    fn lint_program_with_ast_view<'view>(&self, context: &mut Context<'view>, program: Program<'view>) {
        let mut patterns =
            Patterns { unresolved: context.parsed_source().unresolved_context(), found: Vec::new() };
        match program_ref(program) {
            ProgramRef::Module(it) => it.visit_with(&mut patterns),
            ProgramRef::Script(it) => it.visit_with(&mut patterns),
        }
        for (range, problem) in patterns.found {
            context.add_diagnostic(range, CODE, format!("{PREFIX}{problem}"));
        }
    }

    fn code(&self) -> &'static str {
        CODE
    }

    fn tags(&self) -> Tags {
        self.tags
    }
}

/// The patterns that do not compile.
struct Patterns {
    unresolved: deno_ast::swc::common::SyntaxContext,
    found: Vec<(SourceRange, String)>,
}

impl Patterns {
    fn call(&mut self, callee: &Expr, arguments: &[ExprOrSpread], range: SourceRange) {
        let Expr::Ident(name) = callee else { return };
        if name.sym == *"RegExp"
            && name.ctxt == self.unresolved
            && let [pattern, flags @ ..] = arguments
            && let Some(pattern) = string(pattern)
        {
            let problem = match flags {
                [] => problem(pattern, ""),
                [flags, ..] => {
                    string(flags).map_or_else(|| problem_with_any(pattern), |it| problem(pattern, it))
                }
            };
            self.found.extend(problem.map(|it| (range, it)));
        }
    }
}

impl Visit for Patterns {
    noop_visit_type!();

    fn visit_regex(&mut self, it: &Regex) {
        self.found.extend(problem(&it.exp, &it.flags).map(|problem| (it.range(), problem)));
    }

    fn visit_call_expr(&mut self, it: &CallExpr) {
        if let Callee::Expr(callee) = &it.callee {
            self.call(callee, &it.args, it.range());
        }
        it.visit_children_with(self);
    }

    fn visit_new_expr(&mut self, it: &NewExpr) {
        self.call(&it.callee, it.args.as_deref().unwrap_or_default(), it.range());
        it.visit_children_with(self);
    }
}

/// The value of a string that has no lone surrogates.
fn string(argument: &ExprOrSpread) -> Option<&str> {
    match &*argument.expr {
        Expr::Lit(Lit::Str(it)) if argument.spread.is_none() => it.value.as_str(),
        _ => None,
    }
}

/// Why a pattern does not compile with these flags.
fn problem(pattern: &str, flags: &str) -> Option<String> {
    let allocator = Allocator::default();
    let parsed = LiteralParser::new(&allocator, pattern, Some(flags), Options::default()).parse();
    let message = parsed.err()?.message.to_string();
    Some(message.strip_prefix(PREFIX).unwrap_or(&message).to_owned())
}

/// Why a pattern compiles with none of the flags.
fn problem_with_any(pattern: &str) -> Option<String> {
    let mut problems = ANY_FLAGS.iter().map(|flags| problem(pattern, flags));
    let first = problems.next()??;
    problems.all(|it| it.is_some()).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_every_edition() {
        for (pattern, flags) in [
            (r"[\p{Lu}--[A-F]]", "v"),
            (r"[[0-9a-f]&&\d]", "v"),
            (r"[\q{ab|c}x]", "gv"),
            ("🐙\\/", "g"),
            ("🐙|[🐙-🦑]", "u"),
            ("(?<day>\\d\\d)-|-(?<day>\\d)", ""),
            ("(?i-m:a)(?s:.)(?-i:b)", ""),
            (r"\p{Script=Kawi}\p{Script_Extensions=Nagm}", "u"),
            (r"\p{RGI_Emoji}", "v"),
            (r"\k<a>\c", ""),
            (r"a{,2}]", ""),
            ("", "dgimsuy"),
            ("\n/", ""),
        ] {
            assert_eq!(problem(pattern, flags), None, "/{pattern}/{flags}");
        }
    }

    #[test]
    fn what_does_not_compile() {
        for (pattern, flags) in [
            ("(", ""),
            ("a)", ""),
            ("[b", ""),
            ("*", ""),
            ("[z-a]", ""),
            ("a{2,1}", ""),
            ("(?<a>b)(?<a>c)", ""),
            (r"(?<a>b)\k<c>", ""),
            (r"(?<\u0041\u0042>a)\k<AB", ""),
            ("(?ii:a)", ""),
            ("\\", ""),
            (r"\p{Script=Nope}", "u"),
            ("a{,2}]", "u"),
            ("[a--b", "v"),
            ("a", "gg"),
            ("a", "uv"),
            ("a", "z"),
        ] {
            assert!(problem(pattern, flags).is_some(), "/{pattern}/{flags}");
        }
        assert_eq!(problem_with_any("a{,2}]"), None, "right without flags");
        assert_eq!(problem_with_any(r"[\p{L}--[a]]"), None, "right with one of them");
        assert!(problem_with_any("(").is_some());
    }
}
