//! Recognition of files that are one expression and no program: an object or a function that another program evaluates, as
//! CouchDB does with its design functions and `eval("config = " + text)` with a configuration.

use std::path::Path;

use deno_ast::swc::ast::{Expr, ExprStmt, Stmt};
use deno_ast::{MediaType, ModuleItemRef, ParseParams, ParsedSource};

/// Whether the text, which is no program, is one expression, maybe with `;` behind it.
pub(crate) fn is_one(path: &Path, text: &str) -> bool {
    let expression = text.trim_end().trim_end_matches(';');
    // The line break ends a comment.
    let wrapped = format!("({expression}\n)");
    parse(path, wrapped).is_some_and(|it| it.diagnostics().is_empty() && is_in_parentheses(&it))
}

fn parse(path: &Path, text: String) -> Option<ParsedSource> {
    let specifier = deno_path_util::url_from_file_path(path).ok()?;
    let media_type = match MediaType::from_specifier(&specifier) {
        MediaType::JavaScript => MediaType::Jsx,
        other => other,
    };
    let params = ParseParams {
        specifier,
        text: text.into(),
        media_type,
        capture_tokens: false,
        scope_analysis: false,
        maybe_syntax: None,
    };
    deno_ast::parse_program(params).ok()
}

/// Whether the parentheses around the text are one pair: `a) + (b` has two.
fn is_in_parentheses(parsed: &ParsedSource) -> bool {
    let is_pair = |it: &ModuleItemRef<'_>| matches!(it, ModuleItemRef::Stmt(Stmt::Expr(ExprStmt { expr, .. })) if matches!(**expr, Expr::Paren(_)));
    let program = parsed.program_ref();
    let mut items = program.body();
    items.next().is_some_and(|it| is_pair(&it)) && items.next().is_none()
}
