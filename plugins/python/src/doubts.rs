//! Suppresses findings of ruff where ruff is not configured: names that are bound, or known to be missing, in ways that it
//! does not follow, names in code that no supported version of Python gets to, exceptions that it does not look for, and imports of a stub that declare submodules.

use std::cell::OnceCell;
use std::path::Path;

use ruff_db::diagnostic::Diagnostic;
use ruff_linter::linter::parse_unchecked_source;
use ruff_linter::source_kind::SourceKind;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, ModModule, PySourceType, PythonVersion, Stmt, StmtImportFrom};
use ruff_text_size::{Ranged, TextRange};

use crate::handled::Handled;
use crate::namespace::Namespace;
use crate::ranges::Ranges;
use crate::{ambient, caught, unreached};

const UNDEFINED_NAME: &str = "F821";
const UNUSED_IMPORT: &str = "F401";
const NO_EXCEPTION: &str = "B030";

/// Drops findings that may be no mistake.
pub(crate) fn suppress(
    found: &mut Vec<Diagnostic>,
    path: &Path,
    source: &SourceKind,
    source_type: PySourceType,
    oldest: PythonVersion,
) {
    let codes = [UNDEFINED_NAME, UNUSED_IMPORT, NO_EXCEPTION];
    let is_doubtful = |it: &Diagnostic| codes.contains(&it.secondary_code_or_id());
    if !found.iter().any(is_doubtful) {
        return;
    }
    let parsed = parse_unchecked_source(source, source_type, PythonVersion::default());
    let (text, module) = (source.source_code(), parsed.syntax());
    let is_notebook = source_type.is_ipynb();
    let doubts = Doubts { is_notebook, oldest, ..Doubts::new(path, text, module) };
    found.retain(|it| !doubts.may_be_right(it));
}

/// What there is to doubt in one file.
struct Doubts<'a> {
    path: &'a Path,
    text: &'a str,
    module: &'a ModModule,
    is_notebook: bool,
    oldest: PythonVersion,
    namespace: OnceCell<Namespace>,
    handled: OnceCell<Handled<'a>>,
    unreached: OnceCell<Ranges>,
    submodules: OnceCell<Ranges>,
    exceptions: OnceCell<Ranges>,
}

impl<'a> Doubts<'a> {
    fn new(path: &'a Path, text: &'a str, module: &'a ModModule) -> Self {
        let (namespace, handled, unreached, submodules, exceptions) = Default::default();
        let (is_notebook, oldest) = Default::default();
        Self {
            path,
            text,
            module,
            is_notebook,
            oldest,
            namespace,
            handled,
            unreached,
            submodules,
            exceptions,
        }
    }

    fn may_be_right(&self, found: &Diagnostic) -> bool {
        let Some(range) = found.range() else { return false };
        match found.secondary_code_or_id() {
            UNDEFINED_NAME => self.may_be_bound(range),
            UNUSED_IMPORT => self.path.ends_with("__init__.pyi") && self.declares_submodule(range),
            NO_EXCEPTION => self.exceptions.get_or_init(|| caught::exceptions(self.module)).contain(range),
            _ => false,
        }
    }

    fn may_be_bound(&self, range: TextRange) -> bool {
        let Some(name) = self.text.get(range.to_std_range()) else { return false };
        let namespace = self.namespace.get_or_init(|| Namespace::of(self.module));
        let is_ambient = ambient::is_special(name) || self.is_notebook && ambient::is_of_ipython(name);
        let unreached = || self.unreached.get_or_init(|| unreached::find(self.module, self.oldest));
        let handled = || self.handled.get_or_init(|| Handled::of(self.module));
        is_ambient || namespace.may_have(name) || handled().has(name, range) || unreached().contain(range)
    }

    /// Whether the import at `range` makes a submodule an attribute of the package, as the typing specification has it.
    fn declares_submodule(&self, range: TextRange) -> bool {
        let package = self.path.parent().unwrap_or(self.path);
        let submodules = self.submodules.get_or_init(|| {
            let mut imports = Imports { package, declaring: Vec::new() };
            imports.visit_body(&self.module.body);
            imports.declaring.into_iter().collect()
        });
        submodules.contain(range)
    }
}

/// Search for imports that declare submodules.
struct Imports<'a> {
    package: &'a Path,
    declaring: Vec<TextRange>,
}

impl Visitor<'_> for Imports<'_> {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::ImportFrom(it) if self.is_from_package(it) => self.declaring.push(it.range()),
            Stmt::Import(it) => {
                let below = it.names.iter().filter(|it| self.is_below_package(it));
                self.declaring.extend(below.map(Ranged::range).collect::<Vec<_>>());
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }
}

impl Imports<'_> {
    /// `from . import submodule`, and the same with the package's name.
    fn is_from_package(&self, import: &StmtImportFrom) -> bool {
        match &import.module {
            None => import.level == 1,
            Some(module) => import.level == 0 && self.is_package(module),
        }
    }

    /// `import package.submodule`.
    fn is_below_package(&self, import: &Alias) -> bool {
        let mut parents = import.name.match_indices('.').map(|(end, _)| &import.name[..end]);
        parents.any(|it| self.is_package(it))
    }

    fn is_package(&self, name: &str) -> bool {
        self.package.ends_with(name.replace('.', "/"))
    }
}
