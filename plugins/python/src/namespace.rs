//! Global names that come to be without an assignment to them: through `globals()`, the module's or the builtins'
//! dictionary, or `exec`. Includes names that the code asks for (`"name" in globals()`), as it knows that they may be missing.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{CmpOp, Expr, ExprCall, ExprCompare, IpyEscapeKind, ModModule, Stmt};
use rustc_hash::FxHashSet;

/// Methods of a dictionary that bind names.
const WRITING: [&str; 4] = ["update", "setdefault", "__setitem__", "__ior__"];

/// Functions that only read the dictionary that they are given.
const READING: [&str; 18] = [
    "eval",
    "dict",
    "list",
    "set",
    "sorted",
    "len",
    "print",
    "pprint",
    "repr",
    "str",
    "iter",
    "id",
    "type",
    "isinstance",
    "__import__",
    "timeit",
    "Timer",
    "get_type_hints",
];

const BUILTINS: [&str; 3] = ["builtins", "__builtins__", "__builtin__"];

/// Magic commands that bind names.
const MAGIC: [&str; 3] = ["run", "pylab", "store"];

/// Names of a module that ruff does not know.
#[derive(Default)]
pub(crate) struct Namespace {
    is_open: bool,
    names: FxHashSet<String>,
    /// Variables that hold the dictionary of the module or of the builtins.
    dictionaries: FxHashSet<String>,
    /// Variables that hold the module itself.
    modules: FxHashSet<String>,
    depth_of_functions: usize,
}

impl Namespace {
    pub(crate) fn of(module: &ModModule) -> Self {
        let mut namespace = Self::default();
        namespace.visit_body(&module.body);
        namespace
    }

    pub(crate) fn may_have(&self, name: &str) -> bool {
        self.is_open || self.names.contains(name)
    }

    fn is_dictionary(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(it) => it.id == "__builtins__" || self.dictionaries.contains(it.id.as_str()),
            Expr::Attribute(it) => it.attr.as_str() == "__dict__" && self.is_module(&it.value),
            Expr::Call(it) => match (builtin(&it.func), &*it.arguments.args) {
                ("globals", []) => true,
                ("locals" | "vars", []) => self.depth_of_functions == 0,
                ("vars", [module]) => self.is_module(module),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the call lists names that can be read here: `dir()`, `dir(module)`, `locals()` and `vars()`, those of a function
    /// included.
    fn is_list(&self, call: &ExprCall) -> bool {
        match (builtin(&call.func), &*call.arguments.args) {
            ("dir" | "locals" | "vars", []) => call.arguments.keywords.is_empty(),
            ("dir" | "vars", [module]) => self.is_module(module),
            _ => false,
        }
    }

    /// Whether the expression is this module, or that of the builtins.
    fn is_module(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(it) => BUILTINS.contains(&it.id.as_str()) || self.modules.contains(it.id.as_str()),
            Expr::Subscript(it) => name(&it.value) == "modules" && name(&it.slice) == "__name__",
            Expr::Call(it) => {
                ["import_module", "__import__"].contains(&name(&it.func))
                    && it.arguments.args.first().is_some_and(|it| name(it) == "__name__")
            }
            _ => false,
        }
    }

    /// Takes in one name, or any if it is not written out.
    fn bind(&mut self, key: Option<&Expr>) {
        match key {
            Some(Expr::StringLiteral(it)) => drop(self.names.insert(it.value.to_str().to_owned())),
            _ => self.is_open = true,
        }
    }

    fn store(&mut self, target: &Expr) {
        match target {
            Expr::Subscript(it) if self.is_dictionary(&it.value) => self.bind(Some(&it.slice)),
            Expr::Attribute(it) if self.is_module(&it.value) => {
                self.names.insert(it.attr.to_string());
            }
            Expr::Tuple(it) => it.elts.iter().for_each(|it| self.store(it)),
            Expr::List(it) => it.elts.iter().for_each(|it| self.store(it)),
            _ => {}
        }
    }

    /// Takes in variables that stand for a dictionary or a module.
    fn alias(&mut self, targets: &[Expr], value: &Expr) {
        let variables = targets.iter().filter_map(|it| Some(it.as_name_expr()?.id.to_string()));
        if self.is_dictionary(value) {
            self.dictionaries.extend(variables);
        } else if self.is_module(value) {
            self.modules.extend(variables);
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let (args, keywords) = (&*call.arguments.args, &*call.arguments.keywords);
        let of = call.func.as_attribute_expr().map(|it| &*it.value);
        match (name(&call.func), of) {
            ("update", Some(of)) if self.is_dictionary(of) && args.is_empty() => {
                self.is_open |= keywords.iter().any(|it| it.arg.is_none());
                self.names.extend(keywords.iter().filter_map(|it| Some(it.arg.as_ref()?.to_string())));
            }
            ("update" | "__ior__", Some(of)) if self.is_dictionary(of) => self.is_open = true,
            (method, Some(of)) if WRITING.contains(&method) && self.is_dictionary(of) => {
                self.bind(args.first());
            }
            ("install", Some(of)) if name(of) == "gettext" => drop(self.names.insert("_".to_owned())),
            ("run_line_magic" | "magic", Some(_)) => self.magic(args.first().map_or("", literal)),
            ("setattr" | "hasattr", None) if args.first().is_some_and(|it| self.is_module(it)) => {
                self.bind(args.get(1));
            }
            ("exec" | "execfile", None) if args.len() == 1 && keywords.is_empty() => self.is_open = true,
            (function, _) if !READING.contains(&function) => {
                let named = keywords.iter().filter(|it| it.arg.is_some()).map(|it| &it.value);
                self.is_open |= args.iter().chain(named).any(|it| self.is_dictionary(it));
            }
            _ => {}
        }
    }

    /// `"name" in globals()`.
    fn question(&mut self, compare: &ExprCompare) {
        let ([CmpOp::In | CmpOp::NotIn], [container]) = (&*compare.ops, &*compare.comparators) else {
            return;
        };
        let is_list = container.as_call_expr().is_some_and(|it| self.is_list(it));
        if (is_list || self.is_dictionary(container)) && compare.left.is_string_literal_expr() {
            self.bind(Some(&compare.left));
        }
    }

    fn magic(&mut self, command: &str) {
        self.is_open |= command.split_whitespace().next().is_some_and(|it| MAGIC.contains(&it));
    }
}

impl Visitor<'_> for Namespace {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(it) => {
                it.targets.iter().for_each(|it| self.store(it));
                self.alias(&it.targets, &it.value);
            }
            Stmt::AnnAssign(it) => {
                self.store(&it.target);
                it.value.iter().for_each(|value| self.alias(std::slice::from_ref(&it.target), value));
            }
            Stmt::AugAssign(it) => {
                self.store(&it.target);
                self.is_open |= self.is_dictionary(&it.target);
            }
            Stmt::IpyEscapeCommand(it) if it.kind == IpyEscapeKind::Magic => self.magic(&it.value),
            _ => {}
        }
        let is_function = stmt.is_function_def_stmt();
        self.depth_of_functions += usize::from(is_function);
        visitor::walk_stmt(self, stmt);
        self.depth_of_functions -= usize::from(is_function);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Call(it) => self.call(it),
            Expr::Compare(it) => self.question(it),
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

/// The name of a built-in function: `dir`, or `builtins.dir`, and no method with that name.
fn builtin(function: &Expr) -> &str {
    match function {
        Expr::Attribute(it) if !BUILTINS.contains(&name(&it.value)) => "",
        _ => name(function),
    }
}

/// The last part of a dotted name.
fn name(expr: &Expr) -> &str {
    match expr {
        Expr::Name(it) => &it.id,
        Expr::Attribute(it) => &it.attr,
        _ => "",
    }
}

fn literal(expr: &Expr) -> &str {
    expr.as_string_literal_expr().map_or("", |it| it.value.to_str())
}
