//! Suppresses findings of ruff where ruff is not configured: names that are bound, or known to be missing, in ways that it
//! does not follow, names in code that no supported version of Python gets to, exceptions and lists of exports that it does not look
//! for, and what is there for its effect: imports that are tried, comparisons that should raise, definitions that are registered.

use std::cell::OnceCell;
use std::path::Path;

use ruff_db::diagnostic::Diagnostic;
use ruff_linter::linter::parse_unchecked_source;
use ruff_linter::source_kind::SourceKind;
use ruff_python_ast::{ModModule, PySourceType, PythonVersion};
use ruff_text_size::TextRange;
use rustc_hash::FxHashSet;

use crate::expected::Expected;
use crate::handled::Handled;
use crate::namespace::Namespace;
use crate::purpose::Purpose;
use crate::ranges::Ranges;
use crate::redefined::Definitions;
use crate::{ambient, caught, exports, submodules, unreached};

const UNDEFINED_NAME: &str = "F821";
const UNUSED_IMPORT: &str = "F401";
const SHADOWED_IMPORT: &str = "F402";
const REDEFINED: &str = "F811";
const NO_EXCEPTION: &str = "B030";
const POINTLESS_COMPARISON: &str = "B015";
const EXPORTS: &str = "PLE0605";

const DOUBTED: [&str; 7] =
    [UNDEFINED_NAME, UNUSED_IMPORT, SHADOWED_IMPORT, REDEFINED, NO_EXCEPTION, POINTLESS_COMPARISON, EXPORTS];

/// Start of the names of functions and classes that runners of tests look for.
const TEST: &str = "test";

/// A file that was checked.
pub(crate) struct Checked<'a> {
    pub(crate) path: &'a Path,
    pub(crate) source: &'a SourceKind,
    pub(crate) source_type: PySourceType,
    /// The oldest version that it is for.
    pub(crate) oldest: PythonVersion,
    pub(crate) purposes: &'a [Purpose],
}

/// Drops findings that may be no mistake.
pub(crate) fn suppress(found: &mut Vec<Diagnostic>, file: &Checked<'_>) {
    if !found.iter().any(|it| DOUBTED.contains(&it.secondary_code_or_id())) {
        return;
    }
    let parsed = parse_unchecked_source(file.source, file.source_type, PythonVersion::default());
    let false_positives = FalsePositives::new(file, parsed.syntax());
    found.retain(|it| !false_positives.may_be_right(it));
}

/// Reasons to doubt findings in one file, computed on first use.
struct FalsePositives<'a> {
    file: &'a Checked<'a>,
    module: &'a ModModule,
    namespace: OnceCell<Namespace>,
    handled: OnceCell<Handled<'a>>,
    unreached: OnceCell<Ranges>,
    submodules: OnceCell<FxHashSet<String>>,
    exceptions: OnceCell<Ranges>,
    exports: OnceCell<Ranges>,
    expected: OnceCell<Expected>,
    definitions: OnceCell<Definitions<'a>>,
}

impl<'a> FalsePositives<'a> {
    fn new(file: &'a Checked<'a>, module: &'a ModModule) -> Self {
        let (namespace, handled, unreached, submodules) = Default::default();
        let (exceptions, exports, expected, definitions) = Default::default();
        Self {
            file,
            module,
            namespace,
            handled,
            unreached,
            submodules,
            exceptions,
            exports,
            expected,
            definitions,
        }
    }

    fn may_be_right(&self, found: &Diagnostic) -> bool {
        let Some(range) = found.range() else { return false };
        match found.secondary_code_or_id() {
            UNDEFINED_NAME => self.may_be_bound(range),
            UNUSED_IMPORT => self.expected().imports.contain(range) || self.is_fixture(range),
            SHADOWED_IMPORT => is_placeholder(self.text(range)),
            REDEFINED => self.may_be_used(range, found),
            NO_EXCEPTION => self.exceptions.get_or_init(|| caught::exceptions(self.module)).contain(range),
            POINTLESS_COMPARISON => self.expected().comparisons.contain(range),
            EXPORTS => self.exports.get_or_init(|| exports::sequences(self.module)).contain(range),
            _ => false,
        }
    }

    fn text(&self, range: TextRange) -> &'a str {
        self.file.source.source_code().get(range.to_std_range()).unwrap_or_default()
    }

    fn expected(&self) -> &Expected {
        self.expected.get_or_init(|| Expected::of(self.module))
    }

    fn definitions(&self) -> &Definitions<'a> {
        self.definitions.get_or_init(|| Definitions::of(self.module))
    }

    fn is_test(&self) -> bool {
        self.file.purposes.contains(&Purpose::Test)
    }

    fn may_be_bound(&self, range: TextRange) -> bool {
        let name = self.text(range);
        let namespace = self.namespace.get_or_init(|| Namespace::of(self.module));
        let is_notebook = self.file.source_type.is_ipynb();
        let is_ambient = ambient::is_special(name) || is_notebook && ambient::is_of_ipython(name);
        let unreached = || self.unreached.get_or_init(|| unreached::find(self.module, self.file.oldest));
        let handled = || self.handled.get_or_init(|| Handled::of(self.module));
        let submodules = || self.submodules.get_or_init(|| submodules::bound(self.file.path, self.module));
        is_ambient
            || namespace.may_have(name)
            || submodules().contains(name)
            || handled().has(name, range)
            || unreached().contain(range)
    }

    /// Whether pytest passes what is imported to functions that name it.
    fn is_fixture(&self, import: TextRange) -> bool {
        self.is_test() && self.definitions().is_fixture(import)
    }

    /// Whether the definition that is redefined may have been used before, or is not meant to be used.
    fn may_be_used(&self, range: TextRange, found: &Diagnostic) -> bool {
        let (name, definitions) = (self.text(range), self.definitions());
        if is_placeholder(name) || self.is_test() && definitions.is_parameter(range) {
            return true;
        }
        // Two tests of one name are one, however they are decorated.
        if self.is_test() && name.to_lowercase().starts_with(TEST) {
            return false;
        }
        let mut before = found.secondary_annotations().filter_map(|it| it.get_span().range());
        definitions.may_register(range) && before.any(|it| definitions.may_register(it))
    }
}

/// `_`, the name of what is not used.
fn is_placeholder(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it == b'_')
}
