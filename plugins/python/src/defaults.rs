//! Where the defaults are not ruff's: in a project that does not configure ruff.
//!
//! A project that chose no linter gets reports of what is broken, and none of style: what pyflakes finds (F, but for f-strings without
//! placeholders), what does not parse or run (E9), pylint's errors (PLE), comparisons of versions that go wrong (YTT), and those rules of flake8-bugbear that are
//! nearly always right. In 113 projects that were read for it, 5,962 of 6,111 findings were of other rules, 2,290 of them in projects that run another
//! linter. As soon as ruff is configured, or rules are selected, all is as ruff has it, and nothing here counts.

use ruff_linter::registry::Rule;

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
const HARMLESS: [&str; 1] = [
    // An f-string without placeholders.
    "F541",
];

/// Whether a rule of ruff's defaults is off here.
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

/// What is said of that where a rule is explained that is one of ruff's defaults.
pub(crate) fn note(is_ruffs_default: bool, rule: Rule) -> &'static str {
    match rule {
        _ if !is_ruffs_default => "",
        _ if is_off(rule) => {
            "\n\n## In Broker\nOff where ruff is not configured: there only what is broken is reported."
        }
        Rule::UndefinedName => {
            "\n\n## In Broker\nWhere ruff is not configured, names are not reported that are bound through `globals()` or `exec`, \
             or whose absence is handled (`except NameError: return`), names in code that no supported version of Python gets to \
             (`if sys.version_info < (3,):`), names of the form `__name__`, and in notebooks those that IPython has (`_`, `Out`)."
        }
        Rule::ExceptWithNonExceptionClasses => {
            "\n\n## In Broker\nWhere ruff is not configured, conditional expressions are not reported whose branches are exceptions or \
             tuples of them (`except known + ((extra,) if extra else ()):`)."
        }
        Rule::UnusedImport => {
            "\n\n## In Broker\nWhere ruff is not configured, `from . import submodule` is not reported in `__init__.pyi`, which \
             declares the submodule."
        }
        _ => "",
    }
}

/// The codes of ruff's default rules that are off in a project without a configuration of ruff.
pub(crate) fn off(defaults: impl Iterator<Item = Rule>) -> Vec<String> {
    defaults.filter(|it| is_off(*it)).map(|it| it.noqa_code().to_string()).collect()
}
