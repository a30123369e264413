//! The rules of sqruff, and which of them are wanted.

use std::sync::LazyLock;

use broker_plugin_sdk::{FixAvailability, Rule, Selectors, Settings};
use sqruff_lib::core::rules::{ErasedRule, RuleGroups};

use crate::defaults;

/// Codes of errors of the parser and of the lexer, as sqruff's suppression comments name them.
pub(crate) const UNPARSABLE: &str = "PRS";
pub(crate) const UNLEXABLE: &str = "LXR";

/// sqruff's rules, by their codes.
pub(crate) static RULES: LazyLock<Vec<ErasedRule>> = LazyLock::new(|| {
    let mut rules = sqruff_lib::rules::rules();
    rules.sort_by_key(|it| it.code());
    rules
});

/// Codes of rules, on top of what is configured.
pub(crate) type Selection = Selectors<&'static str>;

/// The selection, and the selectors that mean nothing.
pub(crate) fn selection(settings: &Settings) -> (Selection, Vec<String>) {
    Selectors::new(settings, |it| Some(expand(it)).filter(|it| !it.is_empty()))
}

/// The selection of every rule.
pub(crate) fn everything() -> Selection {
    Selection { select: Some(expand("ALL")), ..Selection::default() }
}

/// Codes that a code, a name or a group stands for.
fn expand(selector: &str) -> Vec<&'static str> {
    if selector == "ALL" {
        return RULES.iter().map(|it| it.code()).chain([UNPARSABLE, UNLEXABLE]).collect();
    }
    let own = [UNPARSABLE, UNLEXABLE].into_iter().filter(|it| *it == selector);
    let named =
        RULES.iter().filter(|it| it.code() == selector || it.name() == selector || is_in(it, selector));
    named.map(|it| it.code()).chain(own).collect()
}

fn is_in(rule: &ErasedRule, group: &str) -> bool {
    rule.groups().iter().any(|it: &RuleGroups| it.as_ref() == group)
}

/// The rules that are on where nothing is configured.
pub(crate) fn default_codes() -> Vec<&'static str> {
    RULES.iter().filter(|it| is_default(it)).map(|it| it.code()).collect()
}

fn is_default(rule: &ErasedRule) -> bool {
    defaults::CERTAIN.contains(&rule.code())
}

/// Every rule, and what stands for one.
pub(crate) fn all() -> Vec<Rule> {
    let own = |code: &str, summary: &str| {
        Rule {
        name: name_of(code).to_owned(),
        explanation: "Told where the project's configuration, or a comment `-- sqlfluff:dialect:…` in the file, names the \
                      dialect. Elsewhere a file that fits none of a few dialects is left out, but for a statement whose \
                      first word is misspelled (`SELEC a FROM b`). sqruff does not know all that \
                      a database does, so that what it cannot parse may be right: `ignore = parsing,lexing` in the \
                      configuration, or `-- noqa: PRS` on the line, says so. sqruff itself tells it with \
                      `--parsing-errors`."
            .to_owned(),
        default: code == UNPARSABLE,
        ..Rule::new(code, summary)
    }
    };
    let own = [
        own(UNLEXABLE, "Text that is no part of SQL"),
        own(UNPARSABLE, "A statement that does not parse in the dialect that is configured"),
    ];
    let mut all: Vec<Rule> = RULES.iter().map(describe).chain(own).collect();
    all.sort_by(|a, b| a.code.cmp(&b.code));
    all
}

fn describe(rule: &ErasedRule) -> Rule {
    let groups: Vec<_> = rule.groups().iter().map(|it| format!("`{}`", it.as_ref())).collect();
    let mut explanation =
        format!("{}\n\nIn sqruff's groups {}.", rule.long_description().trim(), groups.join(", "));
    match rule.code() {
        "AL04" => explanation.push_str(" Without a configuration, only within one FROM."),
        "CV05" => {
            explanation.push_str(" Without a configuration, only in conditions: WHERE, HAVING, ON and WHEN.")
        }
        _ => {}
    }
    if is_in(rule, "core") && !is_default(rule) {
        explanation.push_str(" On by default where sqruff or sqlfluff is configured, and only there.");
    }
    Rule {
        name: rule.name().to_owned(),
        explanation,
        url: Some(url(rule)),
        fix: if rule.is_fix_compatible() { FixAvailability::Sometimes } else { FixAvailability::None },
        default: is_default(rule),
        ..Rule::new(rule.code(), rule.description())
    }
}

/// The name of what stands for a rule, which is sqruff's category for it, too.
pub(crate) fn name_of(code: &str) -> &'static str {
    if code == UNLEXABLE { "lexing" } else { "parsing" }
}

/// Address of the rule in sqruff's documentation.
pub(crate) fn url(rule: &ErasedRule) -> String {
    format!("https://playground.quary.dev/docs/reference/rules/#{}", rule.name().replace('.', ""))
}
