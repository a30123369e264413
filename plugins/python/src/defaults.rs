//! Defaults that differ from ruff's: for projects that do not configure ruff.
//!
//! A project that chose no linter gets reports of what is broken, and of nothing else. This is decided here, in three steps:
//!
//! 1. A rule is on if it tells what is broken ([`is_off`]): what pyflakes finds (F, but for f-strings without placeholders), what
//!    does not parse or run (E9), pylint's errors (PLE), comparisons of versions that go wrong (YTT, but for those that will once
//!    there are Python 4 and 10), and those rules of flake8-bugbear that are nearly always right.
//! 2. Of these, rules about what is left over are off in files in which it is there on purpose ([`LEFT_ON_PURPOSE`]).
//! 3. Single findings that may be no mistake are suppressed ([`crate::false_positives`]).
//!
//! In 113 projects that were read for it, 5,962 of 6,111 findings were of other rules, 2,290 of them in projects that run another
//! linter. As soon as ruff is configured, or rules are selected, all is as ruff has it, and nothing here counts.

use ruff_linter::registry::Rule;

use crate::purpose::Purpose;

/// Rules of flake8-bugbear (B) about code that does not do what it says.
const CERTAIN: [&str; 13] = [
    "B002", // ++n
    "B012", // return in finally
    "B015", // a comparison whose result is not used
    "B016", // raise "text"
    "B021", // an f-string as docstring
    "B022", // suppress()
    "B025", // an exception handled twice
    "B029", // except ():
    "B030", // except of what is no exception
    "B031", // a group of groupby used twice
    "B032", // a: b where a = b is meant
    "B033", // a value twice in a set
    "B035", // one key for all of a dict
];

/// Wrong more often than right in code that does what its author meant.
const OFTEN_WRONG: [&str; 1] = [
    // `raise` in a function that is called while an exception is handled.
    "PLE0704",
];

/// Right about code that does what its author meant all the same.
const HARMLESS: [&str; 8] = [
    // An f-string without placeholders.
    "F541", // What goes wrong with Python 4.
    "YTT201", "YTT202", "YTT203", "YTT204", // What goes wrong with Python 10.
    "YTT301", "YTT302", "YTT303",
];

/// Rules about what is left over, by the files in which it is there on purpose.
const LEFT_ON_PURPOSE: [(Purpose, &[&str]); 5] = [
    // Imports are offered, also by `import *`, or there for their effects.
    (Purpose::Package, &["F401", "F822"]),
    (Purpose::Fixtures, &["F401"]),
    // Values are computed to see that they can be. A comparison that is not used is a check that was forgotten.
    (Purpose::Test, &["F841", "F842"]),
    // A program writes what may be needed.
    (Purpose::Generated, &["F401", "F841", "F842"]),
    // What is left over is the other project's.
    (Purpose::Vendored, &["F401", "F811", "F841", "F842"]),
];

/// Whether a rule of ruff's defaults is off without a configuration of ruff.
pub(crate) fn is_off(rule: Rule) -> bool {
    let code = rule.noqa_code().to_string();
    let (linter, number) = code.split_at(code.find(|it: char| it.is_ascii_digit()).unwrap_or(code.len()));
    let is_broken = match linter {
        "F" | "PLE" | "YTT" => true,
        "E" => number.starts_with('9'),
        _ => CERTAIN.contains(&&*code),
    };
    !is_broken || OFTEN_WRONG.contains(&&*code) || HARMLESS.contains(&&*code)
}

/// Whether a rule that is on by default is off in files with these purposes.
pub(crate) fn is_off_for(purposes: &[Purpose], code: &str) -> bool {
    LEFT_ON_PURPOSE.iter().any(|(purpose, codes)| purposes.contains(purpose) && codes.contains(&code))
}

/// Returns a section on differences from ruff's defaults for the explanation of a rule.
pub(crate) fn note(is_ruffs_default: bool, rule: Rule) -> &'static str {
    match rule {
        _ if !is_ruffs_default => "",
        _ if is_off(rule) => {
            "\n\n## In Broker\nOff where ruff is not configured: there only what is broken is reported."
        }
        Rule::UndefinedName => {
            "\n\n## In Broker\nWhere ruff is not configured, names are not reported that are bound through `globals()` or `exec`, \
             submodules that a package's `__init__` imports (`from .sub import name` binds `sub`), names \
             whose absence is handled (`except NameError: return`), names in code that no supported version of Python gets to \
             (`if sys.version_info < (3,):`), names of the form `__name__`, and in notebooks those that IPython has (`_`, `Out`)."
        }
        Rule::UndefinedExport => {
            "\n\n## In Broker\nWhere ruff is not configured, it is off in `__init__` files: a name may be that of a submodule."
        }
        Rule::ExceptWithNonExceptionClasses => {
            "\n\n## In Broker\nWhere ruff is not configured, conditional expressions are not reported whose branches are exceptions or \
             tuples of them (`except known + ((extra,) if extra else ()):`)."
        }
        Rule::InvalidAllFormat => {
            "\n\n## In Broker\nWhere ruff is not configured, only values are reported that are known to be neither a list nor a tuple: \
             not results of functions, names, and attributes."
        }
        Rule::UnusedImport => {
            "\n\n## In Broker\nWhere ruff is not configured, it is off in `__init__`, in `conftest.py`, in folders such as `vendor` and in files \
             that say that they are generated. Imports that are tried (`except ImportError`) are not reported, nor imports in tests that are fixtures: \
             functions of the file have parameters of the same name, or the file asks for them by name (`usefixtures(\"name\")`)."
        }
        Rule::UnusedVariable | Rule::UnusedAnnotation => {
            "\n\n## In Broker\nWhere ruff is not configured, it is off in tests, in folders such as `vendor`, and in files that say that they \
             are generated."
        }
        Rule::UselessComparison => {
            "\n\n## In Broker\nWhere ruff is not configured, comparisons are not reported that are there for the exception that they \
             raise: in `with raises(…)` and its like, and where they are all that a `try` does."
        }
        Rule::RedefinedWhileUnused => {
            "\n\n## In Broker\nWhere ruff is not configured, it is off in folders such as `vendor`, and definitions are not reported that decorators may register, other than those \
             of the standard library and pytest; nor `_`, and in tests parameters that are fixtures."
        }
        Rule::ImportShadowedByLoopVar => {
            "\n\n## In Broker\nWhere ruff is not configured, `_` is not reported."
        }
        _ => "",
    }
}

/// The codes of ruff's default rules that are off in a project without a configuration of ruff.
pub(crate) fn off(defaults: impl Iterator<Item = Rule>) -> Vec<String> {
    defaults.filter(|it| is_off(*it)).map(|it| it.noqa_code().to_string()).collect()
}
