//! Conditions on the version of Python: whether they hold in every version that may run the file, or in none.
//!
//! Versions are ranges: 3, and from the oldest minor version that is supported on. Knows `sys.version_info`, its parts, and
//! the other ways to ask (`sys.version`, `sys.hexversion`, `platform`), variables that are assigned one of them, and names
//! such as `six.PY2`.

use std::cell::RefCell;
use std::cmp::Ordering;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    CmpOp, Expr, ExprAttribute, ExprCall, ExprCompare, ExprSlice, ModModule, PythonVersion, Stmt, UnaryOp,
};
use rustc_hash::FxHashMap;

/// Names that are true in Python 2 only, and in Python 3 only: without `is`, in lower case and without underscores.
const PYTHON_2: [&str; 4] = ["py2", "python2", "py2k", "py27"];
const PYTHON_3: [&str; 3] = ["py3", "python3", "py3k"];

const ANY: u32 = u32::MAX;

/// Limit on variables that are assigned one another.
const DEEPEST: usize = 20;

/// Value of an expression, as far as the version decides it.
#[derive(Clone)]
enum Value {
    Bool(bool),
    Number(u32, u32),
    /// The least and the greatest tuple.
    Numbers(Vec<u32>, Vec<u32>),
    Text(String),
    /// A text that goes on after this.
    LongText(String),
    /// `platform.python_version_tuple()`.
    Texts,
}

/// The conditions of one module.
pub(crate) struct Conditions<'a> {
    oldest: u32,
    assigned: FxHashMap<&'a str, Vec<Assignment<'a>>>,
    /// Cache of variables that were looked up.
    variables: RefCell<FxHashMap<String, Option<Value>>>,
}

impl<'a> Conditions<'a> {
    pub(crate) fn new(module: &'a ModModule, oldest: PythonVersion) -> Self {
        let mut assigned = Assigned::default();
        assigned.visit_body(&module.body);
        Self { oldest: u32::from(oldest.minor), assigned: assigned.0, variables: RefCell::default() }
    }

    /// Whether the condition holds. `None`: the version does not decide it.
    pub(crate) fn holds(&self, condition: &Expr) -> Option<bool> {
        self.truth(condition, DEEPEST)
    }

    fn truth(&self, expr: &Expr, depth: usize) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        match expr {
            Expr::UnaryOp(it) if it.op == UnaryOp::Not => self.truth(&it.operand, depth).map(|it| !it),
            Expr::BoolOp(it) => {
                let decisive = it.op.is_or();
                let known: Vec<_> = it.values.iter().map(|it| self.truth(it, depth)).collect();
                let all = known.iter().all(|it| *it == Some(!decisive));
                if known.contains(&Some(decisive)) { Some(decisive) } else { all.then_some(!decisive) }
            }
            _ => match self.value(expr, depth)? {
                Value::Bool(it) => Some(it),
                _ => None,
            },
        }
    }

    fn value(&self, expr: &Expr, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        match expr {
            Expr::Name(it) => self.known(&it.id, depth),
            Expr::Attribute(it) => self.attribute(it, depth),
            Expr::Subscript(it) => {
                let of = self.value(&it.value, depth)?;
                it.slice
                    .as_slice_expr()
                    .map_or_else(|| part(of.clone(), index(&it.slice)?), |it| start(of.clone(), it))
            }
            Expr::Call(it) => self.call(it, depth),
            Expr::Compare(it) => self.compare(it, depth).map(Value::Bool),
            Expr::UnaryOp(_) | Expr::BoolOp(_) => self.truth(expr, depth).map(Value::Bool),
            _ => literal(expr),
        }
    }

    /// The value of a variable, which is looked for once.
    fn known(&self, name: &str, depth: usize) -> Option<Value> {
        if let Some(value) = self.variables.borrow().get(name) {
            return value.clone();
        }
        let value = self.variable(name, depth);
        self.variables.borrow_mut().insert(name.to_owned(), value.clone());
        value
    }

    /// A variable has its only value, if that is no constant. One that is set by hand or imported is known by its name.
    fn variable(&self, name: &str, depth: usize) -> Option<Value> {
        let assigned = self.assigned.get(name).map_or(&[][..], Vec::as_slice);
        if assigned.iter().all(|it| it.value.is_boolean_literal_expr()) {
            return flag(name).or_else(|| self.of_sys(name).filter(|_| name != "version"));
        }
        let [Assignment { value, index }] = *assigned else { return None };
        let value = self.value(value, depth).filter(|_| literal(value).is_none())?;
        index.map_or(Some(value.clone()), |it| part(value, it))
    }

    fn attribute(&self, attribute: &ExprAttribute, depth: usize) -> Option<Value> {
        let is_of_sys = attribute.value.as_name_expr().is_some_and(|it| it.id.trim_matches('_') == "sys");
        match attribute.attr.as_str() {
            "major" => part(self.value(&attribute.value, depth)?, 0),
            "minor" => part(self.value(&attribute.value, depth)?, 1),
            name if is_of_sys => self.of_sys(name),
            name => flag(name),
        }
    }

    fn of_sys(&self, name: &str) -> Option<Value> {
        match name {
            "version_info" => Some(Value::Numbers(vec![3, self.oldest, 0], vec![3, ANY, ANY])),
            "hexversion" => Some(Value::Number(0x0300_0000 + (self.oldest << 16), 0x03ff_ffff)),
            "version" => Some(Value::LongText("3.".to_owned())),
            _ => None,
        }
    }

    fn compare(&self, compare: &ExprCompare, depth: usize) -> Option<bool> {
        let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { return None };
        let (left, right) = (self.value(&compare.left, depth)?, self.value(right, depth)?);
        compared(&left, *op, &right)
    }

    fn call(&self, call: &ExprCall, depth: usize) -> Option<Value> {
        let function = match &*call.func {
            Expr::Name(it) => it.id.as_str(),
            Expr::Attribute(it) => it.attr.as_str(),
            _ => return None,
        };
        match (function, &*call.arguments.args) {
            ("python_version", []) => Some(Value::LongText("3.".to_owned())),
            ("python_version_tuple", []) => Some(Value::Texts),
            ("int", [text]) => match self.value(text, depth)? {
                Value::Text(it) => it.parse().ok().map(|it| Value::Number(it, it)),
                _ => None,
            },
            ("startswith", [start]) => {
                let text = self.value(&call.func.as_attribute_expr()?.value, depth)?;
                starts_with(&text, start.as_string_literal_expr()?.value.to_str()).map(Value::Bool)
            }
            _ => None,
        }
    }
}

/// `six.PY2`, `IS_PY3` and the like.
fn flag(name: &str) -> Option<Value> {
    let name = name.to_ascii_lowercase().replace('_', "");
    let name = name.strip_prefix("is").unwrap_or(&name);
    let is_3 = PYTHON_3.contains(&name);
    (is_3 || PYTHON_2.contains(&name)).then_some(Value::Bool(is_3))
}

/// `version[index]`.
fn part(of: Value, index: usize) -> Option<Value> {
    match (of, index) {
        (Value::Numbers(from, to), _) => Some(Value::Number(*from.get(index)?, *to.get(index)?)),
        (Value::LongText(_) | Value::Texts, 0) => Some(Value::Text("3".to_owned())),
        _ => None,
    }
}

/// `version[:end]`.
fn start(of: Value, slice: &ExprSlice) -> Option<Value> {
    if slice.step.is_some() || slice.lower.as_deref().is_some_and(|it| index(it) != Some(0)) {
        return None;
    }
    match (of, index(slice.upper.as_deref()?)?) {
        (Value::Numbers(from, to), end) => {
            Some(Value::Numbers(from.get(..end)?.to_vec(), to.get(..end)?.to_vec()))
        }
        (Value::LongText(it), end) => it.get(..end).map(|it| Value::Text(it.to_owned())),
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::NumberLiteral(_) => number(expr).map(|it| Value::Number(it, it)),
        Expr::StringLiteral(it) => Some(Value::Text(it.value.to_str().to_owned())),
        Expr::Tuple(it) => tuple(&it.elts),
        Expr::List(it) => tuple(&it.elts),
        _ => None,
    }
}

fn tuple(items: &[Expr]) -> Option<Value> {
    let items: Option<Vec<u32>> = items.iter().map(number).collect();
    items.map(|it| Value::Numbers(it.clone(), it))
}

fn number(expr: &Expr) -> Option<u32> {
    expr.as_number_literal_expr()?.value.as_int()?.as_u64()?.try_into().ok()
}

fn index(expr: &Expr) -> Option<usize> {
    number(expr)?.try_into().ok()
}

fn starts_with(text: &Value, start: &str) -> Option<bool> {
    match text {
        Value::Text(it) => Some(it.starts_with(start)),
        Value::LongText(it) if start.len() > it.len() && start.starts_with(it.as_str()) => None,
        Value::LongText(it) => Some(it.starts_with(start)),
        _ => None,
    }
}

fn compared(left: &Value, op: CmpOp, right: &Value) -> Option<bool> {
    let (least, greatest) = match (left, right) {
        (Value::Number(a, b), Value::Number(c, d)) => (a.cmp(d), b.cmp(c)),
        (Value::Numbers(a, b), Value::Numbers(c, d)) => (a.cmp(d), b.cmp(c)),
        (Value::Text(a), Value::Text(b)) => (a.cmp(b), a.cmp(b)),
        (Value::LongText(a), Value::Text(b)) if !(b.len() > a.len() && b.starts_with(a.as_str())) => {
            (a.cmp(b), a.cmp(b))
        }
        _ => return None,
    };
    let known = |holds: fn(Ordering) -> bool| (holds(least) == holds(greatest)).then(|| holds(least));
    let equal = match (least, greatest) {
        (Ordering::Less, Ordering::Greater) => None,
        _ => known(Ordering::is_eq),
    };
    match op {
        CmpOp::Lt => known(Ordering::is_lt),
        CmpOp::LtE => known(Ordering::is_le),
        CmpOp::Gt => known(Ordering::is_gt),
        CmpOp::GtE => known(Ordering::is_ge),
        CmpOp::Eq => equal,
        CmpOp::NotEq => equal.map(|it| !it),
        _ => None,
    }
}

/// Value assigned to a variable, and the index of the item if the value is unpacked.
struct Assignment<'a> {
    value: &'a Expr,
    index: Option<usize>,
}

/// Assignments to variables anywhere in a module.
#[derive(Default)]
struct Assigned<'a>(FxHashMap<&'a str, Vec<Assignment<'a>>>);

impl<'a> Assigned<'a> {
    fn add(&mut self, target: &'a Expr, value: &'a Expr, index: Option<usize>) {
        match target {
            Expr::Name(it) => self.0.entry(it.id.as_str()).or_default().push(Assignment { value, index }),
            Expr::Tuple(it) if index.is_none() => {
                let items = it.elts.iter().enumerate().take_while(|it| !it.1.is_starred_expr());
                items.for_each(|(index, it)| self.add(it, value, Some(index)));
            }
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Assigned<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(it) => it.targets.iter().for_each(|target| self.add(target, &it.value, None)),
            Stmt::AnnAssign(it) => it.value.iter().for_each(|value| self.add(&it.target, value, None)),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }
}
