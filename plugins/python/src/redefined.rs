//! Functions and classes of one name in which each is used: their decorators may register them, as those of routes and handlers
//! do. Decorators of the standard library and pytest are known not to.

use ruff_python_ast::helpers::map_callable;
use ruff_python_ast::name::UnqualifiedName;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Decorator, Expr, Identifier, ModModule, Parameter, PythonVersion, Stmt};
use ruff_python_stdlib::builtins::is_python_builtin;
use ruff_python_stdlib::sys::is_known_standard_library;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::handled::last_name;

/// Packages besides the standard library's whose decorators register nothing.
const KNOWN: [&str; 3] = ["mock", "pytest", "typing_extensions"];

/// Functions that register, in whatever module: `atexit.register`.
const REGISTERING: &str = "register";

/// Functions of pytest that take names of fixtures: `usefixtures`, `request.getfixturevalue`, and `lazy_fixture` of plugins.
const ASKING: [&str; 5] = ["usefixtures", "getfixturevalue", "getfuncargvalue", "lazy_fixture", "lf"];

/// Definitions and parameters of a module.
#[derive(Default)]
pub(crate) struct Definitions<'a> {
    /// Full names that imports bind, by local name.
    imports: FxHashMap<&'a str, String>,
    /// Decorators of definitions, by the place of the name.
    decorators: FxHashMap<TextRange, &'a [Decorator]>,
    /// Names of parameters.
    parameters: FxHashSet<&'a str>,
    /// Places of parameters.
    places: FxHashSet<TextRange>,
    /// Names that imports bind, by the place of the import.
    imported: FxHashMap<TextRange, &'a str>,
    /// Names of fixtures that are asked for as text: `usefixtures("database")`.
    asked: FxHashSet<&'a str>,
}

impl<'a> Definitions<'a> {
    pub(crate) fn of(module: &'a ModModule) -> Self {
        let mut definitions = Self::default();
        definitions.visit_body(&module.body);
        definitions
    }

    /// Whether a decorator may register the definition whose name is at this place.
    pub(crate) fn may_register(&self, name: TextRange) -> bool {
        self.decorators.get(&name).is_some_and(|all| all.iter().any(|it| self.registers(&it.expression)))
    }

    /// Whether an import may be a fixture of pytest, which passes it to parameters of this name, or runs it where it is asked for
    /// by name.
    pub(crate) fn is_fixture(&self, import: TextRange) -> bool {
        let names = self.imported.get(&import);
        names.is_some_and(|it| self.parameters.contains(it) || self.asked.contains(it))
    }

    pub(crate) fn is_parameter(&self, name: TextRange) -> bool {
        self.places.contains(&name)
    }

    fn registers(&self, decorator: &Expr) -> bool {
        let Some(name) = UnqualifiedName::from_expr(map_callable(decorator)) else { return true };
        let [first, .., last] = name.segments() else {
            return name.segments().first().is_none_or(|it| self.may_be_registrar(it));
        };
        *last == REGISTERING || self.may_be_registrar(first)
    }

    /// Whether a name is neither from the standard library nor from another known module.
    fn may_be_registrar(&self, name: &str) -> bool {
        let minor = PythonVersion::latest().minor;
        let Some(path) = self.imports.get(name) else { return !is_python_builtin(name, minor, false) };
        let (module, last) = (path.split('.').next().unwrap_or_default(), path.rsplit('.').next());
        last == Some(REGISTERING) || !is_known_standard_library(minor, module) && !KNOWN.contains(&module)
    }

    fn import(&mut self, place: TextRange, bound: &'a str, path: String) {
        self.imports.insert(bound, path);
        self.imported.insert(place, bound);
    }

    fn define(&mut self, name: &Identifier, decorators: &'a [Decorator]) {
        self.decorators.insert(name.range(), decorators);
    }
}

impl<'a> Visitor<'a> for Definitions<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => self.define(&it.name, &it.decorator_list),
            Stmt::ClassDef(it) => self.define(&it.name, &it.decorator_list),
            Stmt::Import(it) => it.names.iter().for_each(|it| {
                let first = it.name.split('.').next().unwrap_or_default();
                let (bound, path) = it.asname.as_ref().map_or((first, first), |name| (name, &it.name));
                self.import(it.range(), bound, path.to_owned());
            }),
            Stmt::ImportFrom(it) => {
                let module = it.module.as_ref().filter(|_| it.level == 0).map_or("", |it| it.as_str());
                it.names.iter().for_each(|it| {
                    let bound = it.asname.as_ref().unwrap_or(&it.name);
                    self.import(it.range(), bound, format!("{module}.{}", it.name));
                });
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(it) = expr
            && ASKING.contains(&last_name(&it.func))
        {
            self.asked.extend(it.arguments.args.iter().filter_map(text));
        }
        visitor::walk_expr(self, expr);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.parameters.insert(&parameter.name);
        self.places.insert(parameter.name.range());
        visitor::walk_parameter(self, parameter);
    }
}

fn text(expr: &Expr) -> Option<&str> {
    expr.as_string_literal_expr().map(|it| it.value.to_str())
}
