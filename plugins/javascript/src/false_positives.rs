//! Suppresses findings of deno_lint that are wrong and, where no linter is configured, findings that are often no mistake.

use std::ops::Range;

use deno_ast::swc::ast::Id;
use deno_ast::view::{
    AssignExpr, AssignTarget, Expr, Lit, Node, NodeKind, NodeTrait, SimpleAssignTarget, TsEntityName,
};
use deno_ast::{ParsedSource, SourceRange, SourceRanged, StartSourcePos};
use deno_lint::diagnostic::{LintDiagnostic, LintDiagnosticRange};
use rustc_hash::FxHashSet;

use crate::{jsdoc, meant};

/// A file as it was parsed.
pub(crate) struct Source<'a> {
    pub(crate) parsed: &'a ParsedSource,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// Whether the finding is wrong whatever is configured.
    pub(crate) fn refutes(&self, finding: &LintDiagnostic) -> bool {
        match finding.details.code.as_str() {
            // Only TypeScript has overloads, and accessors are no overloads.
            "adjacent-overload-signatures" => {
                let is_accessor = |it: &str| it.starts_with("get ") || it.starts_with("set ");
                let method = self.around(finding).0;
                !self.parsed.media_type().is_typed()
                    || is_accessor(method.strip_prefix("static ").unwrap_or(method))
            }
            // `let a!: T` promises an assignment before the first read, which `const` cannot express.
            "prefer-const" => self.around(finding).1.trim_start().starts_with('!'),
            // `import A = B.C` may be an import of a type, whose uses the rule does not see.
            "no-unused-vars" => match self.importer(finding) {
                Some("export") => true,
                Some(_) => finding.range.as_ref().is_some_and(|it| self.used_unseen(&[it.range]).len() == 1),
                None => false,
            },
            _ => false,
        }
    }

    /// Whether the code that a finding is about is often meant: setting a property to its own value runs a setter
    /// (`a.href = a.href`), objects of old browsers are of the type `unknown`, and a type may be compared with a variable.
    pub(crate) fn may_be_meant(&self, finding: &LintDiagnostic) -> bool {
        let text = self.around(finding).0;
        match finding.details.code.as_str() {
            "no-self-assign" => text.contains(['.', '[']),
            "valid-typeof" => !text.starts_with(['"', '\'', '`']) || text.contains("unknown"),
            _ => false,
        }
    }

    /// The word before `import A =`, if the finding is about the name `A`.
    fn importer(&self, finding: &LintDiagnostic) -> Option<&str> {
        let after = self.around(finding).1;
        let before = self.text.get(..bytes(finding).start)?.trim_end();
        let before = before.strip_suffix("type").map_or(before, str::trim_end).strip_suffix("import")?;
        let word = before.split_whitespace().next_back().unwrap_or_default();
        after.trim_start().starts_with('=').then_some(word)
    }

    /// The names among `names` (reported as unused) that are used as types: of classes and namespaces in type annotations,
    /// and of anything in the types of JSDoc comments. Enumerations compiled to JavaScript count as used, too.
    pub(crate) fn used_in_types(&self, names: &[SourceRange]) -> Vec<SourceRange> {
        let text = |it: &SourceRange| {
            let range = it.as_byte_range(StartSourcePos::START_SOURCE_POS);
            self.text.get(range).unwrap_or_default()
        };
        let documented = names.iter().filter(|it| jsdoc::uses(self.parsed.comments(), text(it)));
        documented.copied().chain(self.used_unseen(names)).collect()
    }

    /// The names among `names` whose uses the rule does not see: in a type annotation, or in an enumeration that TypeScript
    /// compiled to JavaScript.
    fn used_unseen(&self, names: &[SourceRange]) -> Vec<SourceRange> {
        let mut names = names.to_vec();
        names.sort_by_key(|it| it.start);
        let is_one = |it: &SourceRange| names.binary_search_by_key(&it.start, |it| it.start).is_ok();
        self.parsed.with_view(|program| {
            let mut open = vec![program.as_node()];
            let (mut declared, mut used, mut spaces) =
                (Vec::new(), FxHashSet::default(), FxHashSet::default());
            while let Some(node) = open.pop() {
                match node {
                    Node::Ident(it) if is_one(&it.range()) => declared.push((it.range(), it.inner.to_id())),
                    Node::TsTypeRef(it) => drop(used.insert(first_name(&it.type_name))),
                    // swc resolves `A` of `A.B` to a parameter `A` as well, which is no namespace: only names are compared.
                    Node::TsQualifiedName(it) => drop(spaces.insert(first_name(&it.left).0)),
                    Node::AssignExpr(it) => used.extend(filled_in(it)),
                    _ => {}
                }
                open.extend(node.children());
            }
            let is_used = |it: &(SourceRange, Id)| used.contains(&it.1) || spaces.contains(&it.1.0);
            declared.into_iter().filter(is_used).map(|it| it.0).collect()
        })
    }

    /// The text that the finding is about, and the text after it.
    fn around(&self, finding: &LintDiagnostic) -> (&str, &str) {
        let range = bytes(finding);
        let text = |it| self.text.get(it).unwrap_or_default();
        (text(range.clone()), text(range.end..self.text.len().max(range.end)))
    }

    /// The findings of the rule `code`, among those at `places`, that are suppressed:
    ///
    /// - `no-unused-vars`: names that the syntax demands (parameters, patterns, `catch`), or that another script may use;
    /// - `no-unreachable`: `break`, and statements without a jump before them;
    /// - `constructor-super`: constructors that call `super()` in a branch, return another object, or always throw;
    /// - other rules: see [`meant`].
    pub(crate) fn excused(&self, code: &str, places: &[SourceRange]) -> Vec<SourceRange> {
        let is_shared = code == "no-unused-vars" && self.parsed.compute_is_script() && !self.is_common_js();
        let is_suppressed = |node| match (code, node) {
            ("no-unused-vars", Node::Ident(_)) => is_excused(node, is_shared),
            // `break` after `throw` or `return` in a `case` is a habit.
            ("no-unreachable", Node::BreakStmt(_)) => true,
            ("no-unreachable", _) => !follows_jump(node),
            ("constructor-super", Node::Constructor(_)) => may_lack_super(node),
            _ => meant::may_be_meant(code, node),
        };
        let mut places = places.to_vec();
        places.sort_by_key(|it| it.start);
        let first_in = |range: SourceRange| {
            let at = places.partition_point(|it| it.start < range.start);
            places.get(at).copied().filter(|it| range.contains(it))
        };
        self.parsed.with_view(|program| {
            let (mut open, mut found) = (vec![program.as_node()], Vec::new());
            while let Some(node) = open.pop() {
                let Some(place) = first_in(node.range()) else { continue };
                if place == node.range() && is_suppressed(node) {
                    found.push(place);
                }
                open.extend(node.children());
            }
            found
        })
    }

    /// Whether the file is a CommonJS module of Node.js, by its use of `exports`, `module` or `require` as globals. Other scripts
    /// do not see its declarations.
    pub(crate) fn is_common_js(&self) -> bool {
        let unresolved = self.parsed.unresolved_context();
        let is_of_node = |it: &Id| it.1 == unresolved && matches!(&*it.0, "exports" | "module" | "require");
        self.parsed.with_view(|program| {
            let mut open = vec![program.as_node()];
            while let Some(node) = open.pop() {
                if matches!(node, Node::Ident(it) if is_of_node(&it.inner.to_id())) {
                    return true;
                }
                open.extend(node.children());
            }
            false
        })
    }
}

fn bytes(finding: &LintDiagnostic) -> Range<usize> {
    let bytes = |it: &LintDiagnosticRange| it.range.as_byte_range(StartSourcePos::START_SOURCE_POS);
    finding.range.as_ref().map(bytes).unwrap_or_default()
}

/// `A` of `A.B.C`.
fn first_name(name: &TsEntityName<'_>) -> Id {
    match name {
        TsEntityName::Ident(it) => it.inner.to_id(),
        TsEntityName::TsQualifiedName(it) => first_name(&it.left),
    }
}

/// `A` of `(function (A) { … })(A = B.A || (B.A = {}))`, as TypeScript compiles an enumeration or a namespace.
fn filled_in(assignment: &AssignExpr<'_>) -> Option<Id> {
    let AssignTarget::Simple(SimpleAssignTarget::Ident(name)) = assignment.left else { return None };
    let call = assignment.parent().as_node().parent().filter(|it| it.kind() == NodeKind::CallExpr)?;
    let callee = call.children().into_iter().next()?;
    let functions = [NodeKind::ArrowExpr, NodeKind::FnExpr];
    let is_function = callee.children().first().is_some_and(|it| functions.contains(&it.kind()));
    (callee.kind() == NodeKind::ParenExpr && is_function).then(|| name.id.inner.to_id())
}

/// Whether a jump (`return` or the like) comes before a statement, or before a statement around it. Other statements that
/// deno_lint reports as unreachable may be reached: it misjudges `break` in nested loops, and code after
/// `try { throw … } catch { … }`.
fn follows_jump(statement: Node<'_>) -> bool {
    let lists = [NodeKind::BlockStmt, NodeKind::Module, NodeKind::Script, NodeKind::SwitchCase];
    let mut node = statement;
    while let Some(parent) = node.parent() {
        let before = |it: &Node<'_>| it.start() < node.start();
        if lists.contains(&parent.kind()) && parent.children().into_iter().take_while(before).any(jumps) {
            return true;
        }
        node = parent;
    }
    false
}

/// Whether control never gets past a statement: it is a jump, has one in each branch, or is a loop without an end.
pub(crate) fn jumps(statement: Node<'_>) -> bool {
    match statement {
        Node::BreakStmt(_) | Node::ContinueStmt(_) | Node::ReturnStmt(_) | Node::ThrowStmt(_) => true,
        Node::BlockStmt(it) => it.children().into_iter().any(jumps),
        Node::IfStmt(it) => jumps(it.cons.as_node()) && it.alt.is_some_and(|it| jumps(it.as_node())),
        Node::WhileStmt(it) => is_true(&it.test) && !breaks(it.body.as_node()),
        Node::DoWhileStmt(it) => is_true(&it.test) && !breaks(it.body.as_node()),
        Node::ForStmt(it) => it.test.is_none() && !breaks(it.body.as_node()),
        _ => false,
    }
}

fn is_true(condition: &Expr<'_>) -> bool {
    matches!(condition, Expr::Lit(Lit::Bool(it)) if it.value())
}

/// Whether a `break` may leave the loop that has this body. A `break` with a label counts, whatever it leaves.
fn breaks(body: Node<'_>) -> bool {
    let mut open = vec![(body, false)];
    while let Some((node, is_nested)) = open.pop() {
        let is_nested = match node {
            Node::BreakStmt(it) if it.label.is_some() || !is_nested => return true,
            Node::Class(_) | Node::Function(_) | Node::ArrowExpr(_) => continue,
            Node::DoWhileStmt(_) | Node::ForInStmt(_) | Node::ForOfStmt(_) | Node::ForStmt(_) => true,
            Node::SwitchStmt(_) | Node::WhileStmt(_) => true,
            _ => is_nested,
        };
        open.extend(node.children().into_iter().map(|it| (it, is_nested)));
    }
    false
}

/// Whether a constructor calls `super()` in a branch, where deno_lint does not look, returns another object, or always
/// throws.
fn may_lack_super(constructor: Node<'_>) -> bool {
    let body = constructor.children().into_iter().filter(|it| it.kind() == NodeKind::BlockStmt);
    let mut open: Vec<_> = body.flat_map(|it| it.children()).collect();
    if open.iter().any(|it| it.kind() == NodeKind::ThrowStmt) {
        return true;
    }
    while let Some(node) = open.pop() {
        match node {
            Node::Class(_) | Node::Function(_) => continue,
            Node::CallExpr(it) if it.callee.as_node().kind() == NodeKind::Super => return true,
            Node::ReturnStmt(it) if it.arg.is_some() => return true,
            _ => open.extend(node.children()),
        }
    }
    false
}

/// Whether an unused name is no mistake. `is_shared`: other scripts see what is declared outside of functions.
fn is_excused(name: Node<'_>, is_shared: bool) -> bool {
    if matches!(name, Node::Ident(it) if is_placeholder(it.sym())) {
        return true;
    }
    for node in name.ancestors() {
        let around = node.parent().map(|it| it.kind());
        let is_outside = is_shared && around == Some(NodeKind::Script);
        match node.kind() {
            // `const a = exports.a = 1` assigns the value elsewhere as well.
            NodeKind::VarDeclarator if node.children().into_iter().any(assigns) => return true,
            // The position of the other elements depends on it.
            NodeKind::ArrayPat => return true,
            // `const { a, ...rest } = b` leaves `a` out of `rest`.
            NodeKind::ObjectPat if node.children().iter().any(|it| it.kind() == NodeKind::RestPat) => {
                return true;
            }
            NodeKind::AssignPat
            | NodeKind::AssignPatProp
            | NodeKind::BindingIdent
            | NodeKind::KeyValuePatProp
            | NodeKind::ObjectPat
            | NodeKind::RestPat
            | NodeKind::VarDeclarator => {}
            NodeKind::VarDecl => {
                return is_outside || matches!(around, Some(NodeKind::ForInStmt | NodeKind::ForOfStmt));
            }
            NodeKind::ClassDecl | NodeKind::FnDecl | NodeKind::TsEnumDecl => return is_outside,
            kind => return PARAMETERS.contains(&kind),
        }
    }
    false
}

/// Whether a value is an assignment, maybe in parentheses.
fn assigns(value: Node<'_>) -> bool {
    match value {
        Node::AssignExpr(_) => true,
        Node::ParenExpr(it) => assigns(it.expr.as_node()),
        _ => false,
    }
}

/// Whether a name is a placeholder of a template, `$name$`, as in webpack's runtime.
fn is_placeholder(name: &str) -> bool {
    name.len() > 2 && name.starts_with('$') && name.ends_with('$')
}

/// Nodes that have parameters or are one.
const PARAMETERS: [NodeKind; 5] = [
    NodeKind::ArrowExpr,
    NodeKind::CatchClause,
    NodeKind::Param,
    NodeKind::SetterProp,
    NodeKind::TsParamProp,
];
