//! Places where an exception is expected: imports that are tried, and comparisons made for the exception that they raise.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandler, Expr, ModModule, Stmt, StmtTry, StmtWith};
use ruff_text_size::{Ranged, TextRange};

use crate::handled::{last_name, names, range};
use crate::ranges::Ranges;

/// Exceptions of a module that is not there.
const IMPORT: [&str; 2] = ["ImportError", "ModuleNotFoundError"];

/// Exceptions that include them.
const WIDE: [&str; 2] = ["Exception", "BaseException"];

/// Functions whose block should raise or warn, or may raise.
const EXPECTING: [&str; 12] = [
    "raises",
    "assertRaises",
    "assertRaisesRegex",
    "assertRaisesMessage",
    "assert_raises",
    "assert_raises_regex",
    "warns",
    "assertWarns",
    "assertWarnsRegex",
    "assert_warns",
    "deprecated_call",
    "suppress",
];

/// The places of a module where exceptions are expected.
#[derive(Default)]
pub(crate) struct Expected {
    pub(crate) imports: Ranges,
    pub(crate) comparisons: Ranges,
}

impl Expected {
    pub(crate) fn of(module: &ModModule) -> Self {
        let mut search = Search::default();
        search.visit_body(&module.body);
        Self {
            imports: search.imports.into_iter().collect(),
            comparisons: search.comparisons.into_iter().collect(),
        }
    }
}

#[derive(Default)]
struct Search {
    imports: Vec<TextRange>,
    comparisons: Vec<TextRange>,
}

impl Search {
    fn tried(&mut self, stmt: &StmtTry) {
        let catching = stmt.handlers.iter().filter(|it| catches_import(it, &stmt.body)).map(Ranged::range);
        let catching: Vec<_> = catching.collect();
        self.imports.extend(range(&stmt.body).filter(|_| !catching.is_empty()));
        // A fallback is tried as well.
        self.imports.extend(catching);
        let compares = |it: &Stmt| it.as_expr_stmt().is_some_and(|it| it.value.is_compare_expr());
        if !stmt.handlers.is_empty() && stmt.body.iter().all(compares) {
            self.comparisons.extend(range(&stmt.body));
        }
    }

    fn block(&mut self, with: &StmtWith) {
        let calls = with.items.iter().filter_map(|it| it.context_expr.as_call_expr());
        for call in calls.filter(|it| EXPECTING.contains(&last_name(&it.func))) {
            self.comparisons.extend(range(&with.body));
            let is_import = call.arguments.args.iter().any(|it| names(it, &IMPORT));
            self.imports.extend(range(&with.body).filter(|_| is_import));
        }
    }
}

impl Visitor<'_> for Search {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Try(it) => self.tried(it),
            Stmt::With(it) => self.block(it),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }
}

/// Whether a handler is there for an import. A handler that catches everything is, if there is nothing else to catch.
fn catches_import(handler: &ExceptHandler, body: &[Stmt]) -> bool {
    let ExceptHandler::ExceptHandler(handler) = handler;
    let is_wide = |it: &Expr| names(it, &WIDE);
    match handler.type_.as_deref() {
        Some(it) if !is_wide(it) => names(it, &IMPORT),
        Some(it) if names(it, &IMPORT) => true,
        _ => body
            .iter()
            .all(|it| matches!(it, Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Assign(_) | Stmt::Pass(_))),
    }
}
