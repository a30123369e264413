//! Where the defaults are not ruff's: in a project that does not configure ruff.
//!
//! Judged samples of findings in well-known packages (`tests/bench/findings`) say which rules are wrong more often than
//! right there. As soon as ruff is configured, or rules are selected, all is as ruff has it, and nothing here counts.

use ruff_linter::registry::Rule;

/// Wrong more often than right in code that does what its author meant.
const OFTEN_WRONG: &[Rule] = &[
    // Of `try: module.name; except AttributeError`, and of properties that do something.
    Rule::UselessExpression, // B018
    // `sorted(…)[0]` below `except IndexError`, for which `min` raises another error.
    Rule::SortedMinMax, // FURB192
    // `str = str`, which binds a builtin in the module, where others import it.
    Rule::SelfAssigningVariable, // PLW0127
];

/// Advice that fails on earlier versions of Python, and rests on ruff's assumption, 3.10, where the project states none.
const NEED_A_VERSION: &[Rule] = &[
    Rule::BitCount,                    // FURB161
    Rule::SliceToRemovePrefixOrSuffix, // FURB188
    Rule::ZipInsteadOfPairwise,        // RUF007
    Rule::NonPEP585Annotation,         // UP006
    Rule::NonPEP604AnnotationUnion,    // UP007
    Rule::DeprecatedImport,            // UP035
    Rule::OutdatedVersionBlock,        // UP036
    Rule::TimeoutErrorAlias,           // UP041
    Rule::NonPEP604AnnotationOptional, // UP045
];

/// Whether ruff's defaults have a rule that is off here, whatever version of Python the project states.
pub(crate) fn is_off(rule: Rule) -> bool {
    OFTEN_WRONG.contains(&rule)
}

/// What is said of that where a rule is explained.
pub(crate) fn note(rule: Rule) -> &'static str {
    if is_off(rule) {
        "\n\n## In Broker\nOff where ruff is not configured: in well-known packages it is wrong more often than right."
    } else if NEED_A_VERSION.contains(&rule) {
        "\n\n## In Broker\nWhere ruff is not configured, off unless `requires-python` in the root's `pyproject.toml`, or \
         `target-version` in `[linters.python]` of `broker.toml`, says which version of Python is meant."
    } else {
        ""
    }
}

/// The codes of ruff's default rules that are off in a project without a configuration of ruff.
pub(crate) fn off(states_a_version: bool) -> Vec<String> {
    let unfounded = if states_a_version { &[][..] } else { NEED_A_VERSION };
    OFTEN_WRONG.iter().chain(unfounded).map(|it| it.noqa_code().to_string()).collect()
}
