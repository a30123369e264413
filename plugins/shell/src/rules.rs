//! shuck's rules in the plugin's words.

use broker_plugin_sdk::{self as plugin, FixAvailability, Severity};
use shuck_linter::{Diagnostic, Rule, RuleSet, ShellCheckCodeMap, ShellCheckLevel, rule_metadata};

use crate::extra::Extra;
use crate::{busybox, defaults};

/// Code of the parser's errors. Not a rule of shuck's, which prints them as errors of their own.
pub(crate) const SYNTAX_ERROR: &str = "syntax-error";

pub(crate) fn all(map: &ShellCheckCodeMap) -> Vec<plugin::Rule> {
    let syntax = plugin::Rule {
        explanation: "What the parser cannot read. Where shuck has a rule for what is wrong (a `fi` that is missing: \
                      `missing-fi`), that is what is reported, under its name and with its fix, but under this code. Of such \
                      a script nothing else is reported."
            .to_owned(),
        fix: FixAvailability::Sometimes,
        ..plugin::Rule::new(SYNTAX_ERROR, "A script that cannot be parsed")
    };
    let defaults = defaults::rules();
    let ours = Extra::ALL.into_iter().map(Extra::rule);
    std::iter::once(syntax).chain(Rule::iter().map(|it| describe(it, &defaults, map))).chain(ours).collect()
}

fn describe(rule: Rule, defaults: &RuleSet, map: &ShellCheckCodeMap) -> plugin::Rule {
    let metadata = rule_metadata(rule);
    let summary = metadata.map_or(rule.code(), |it| it.description);
    let mut parts: Vec<String> = metadata.iter().map(|it| it.rationale.to_owned()).collect();
    parts.extend(map.code_for_rule(rule).map(|_| format!("shuck calls it {}.", rule.code())));
    if is_of_syntax(rule) {
        parts.push(format!("Of a script that cannot be parsed, it is reported as `{SYNTAX_ERROR}`."));
    }
    if !defaults.contains(rule) && defaults::of_shuck().contains(rule) {
        parts.push("On by default where there is a `.shuck.toml`, and only there.".to_owned());
    }
    if defaults.contains(rule) && !is_of_syntax(rule) && !defaults::of_shuck().contains(rule) {
        parts.push("Off by default where there is a `.shuck.toml`, as it is in shuck.".to_owned());
    }
    parts.extend(suppressed(rule));
    if busybox::does(rule) {
        parts.push("Where there is no `.shuck.toml`, it is not reported in scripts that BusyBox's `sh` runs, which has it: those \
                    that Dockerfiles copy into images of Alpine, and those that call `apk` or `opkg`.".to_owned());
    }
    if fix_changes_meaning(rule, map) {
        parts.push("Its fix can change what the script does, and is not applied as a safe one.".to_owned());
    }
    // SC1073 has the fix of SC1019 or SC1020 where both are found.
    let is_fixable = rule == Rule::BrokenTestEnd || metadata.is_some_and(|it| it.fix_description.is_some());
    plugin::Rule {
        name: name(rule),
        explanation: parts.join("\n\n"),
        url: Some(url(rule, map)),
        fix: if is_fixable { FixAvailability::Sometimes } else { FixAvailability::None },
        default: defaults.contains(rule),
        ..plugin::Rule::new(code(rule, map), summary.trim_end_matches('.'))
    }
}

/// Findings that are suppressed where shuck is not configured.
fn suppressed(rule: Rule) -> Option<String> {
    let what = suppressed_of_variables(rule)
        .or_else(|| suppressed_of_words(rule))
        .or_else(|| suppressed_of_commands(rule))?;
    Some(format!("Where there is no `.shuck.toml`, {what}"))
}

fn suppressed_of_variables(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::UnusedAssignment | Rule::UndefinedVariable => {
            "only scripts with a `#!` that run no other text (`.`, `source`, `eval`) are looked through."
        }
        Rule::UnquotedArrayExpansion => {
            "these are not reported: arrays whose elements are not known or hold nothing to split (`${a[@]}` after \
             `a=(-x -y)`, `${!a[@]}`), `set -- $@`, and scripts that set `IFS`."
        }
        _ => return None,
    })
}

fn suppressed_of_words(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::NonAbsoluteShebang => {
            "a placeholder (`#!@PREFIX@/bin/sh`) is not reported: something else is put there."
        }
        Rule::IfsSetToLiteralBackslashN => {
            "a backslash before a sign is not reported: in `IFS=\\;` it only quotes."
        }
        Rule::PositionalArgsInString => {
            "it is not reported where the command shows its arguments as one text (`echo`, `printf '%s '`, functions that \
             join them by `$*` or only print them), and where nothing but a prefix or a suffix is added outside of the \
             quotes (`run_\"$@\"`)."
        }
        Rule::TildeInStringComparison => {
            "only what is used as a file is reported: targets of redirections, operands of `cat`, `cd`, `rm` and the like, \
             and `[ -f \"~/x\" ]`. Elsewhere it may be a text to show, to compare, or for another machine."
        }
        _ => return None,
    })
}

fn suppressed_of_commands(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::FindOrWithoutGrouping => {
            "it is not reported where `find` leaves out what is before the `-o` (`-prune`, `-false`), or an expansion may say so."
        }
        Rule::LoopControlOutsideLoop => {
            "one in the condition of a loop is not reported: `while case $# in 0) break ;; esac do`."
        }
        Rule::StderrBeforeStdoutRedirect => {
            "it is not reported where something takes the output: in functions that are called in `$(…)` or before a `|`, or \
             by other scripts, in groups that are redirected, and before `>/dev/tty`."
        }
        Rule::SourcedWithArgs => "`. ./file \"$@\"` is not reported: the file has these arguments anyhow.",
        Rule::DeclareCommand | Rule::LetCommand | Rule::SourceBuiltinInSh => {
            "it is not reported where the script asks for the command (`type shopt && …`, `command -v shopt || return`) or \
             lets it fail (`shopt -s nullglob 2>/dev/null || true`)."
        }
        Rule::TrapErr | Rule::PrintfQFormatInSh => {
            "it is not reported where the script lets it fail (`2>/dev/null || true`)."
        }
        _ => return None,
    })
}

/// Words of ours where shuck's are wrong.
pub(crate) fn message(rule: Rule) -> Option<&'static str> {
    Some(match rule {
        Rule::PatternWithVariable => {
            "quote what is expanded in a pattern (`${a#\"$b\"}`), or it is a pattern as well"
        }
        Rule::MissingBracketSpace => "put a space before the closing test bracket",
        Rule::PositionalArgsInString => {
            "each element stays a word of its own, with the text before the first and behind the last: \
             for one word, write `*` instead of `@`"
        }
        _ => return None,
    })
}

/// `unused-assignment`.
pub(crate) fn name(rule: Rule) -> String {
    let mut made = String::new();
    for it in format!("{rule:?}").chars() {
        if it.is_uppercase() && !made.is_empty() {
            made.push('-');
        }
        made.push(it.to_ascii_lowercase());
    }
    made
}

/// ShellCheck's code where it has the rule, else shuck's, as where the rule of that code is not shuck's.
pub(crate) fn code(rule: Rule, map: &ShellCheckCodeMap) -> String {
    let code = map.code_for_rule(rule).map(|it| format!("SC{it}"));
    let code = code.filter(|code| Extra::ALL.iter().all(|it| it.code() != code));
    code.unwrap_or_else(|| rule.code().to_owned())
}

/// ShellCheck's severity where it has the rule, else shuck's.
pub(crate) fn severity(it: &Diagnostic) -> Severity {
    let level = rule_metadata(it.rule).and_then(|it| it.shellcheck_level);
    match (level, it.severity) {
        (Some(ShellCheckLevel::Error), _) | (None, shuck_linter::Severity::Error) => Severity::Error,
        (Some(ShellCheckLevel::Warning), _) | (None, shuck_linter::Severity::Warning) => Severity::Warning,
        (Some(ShellCheckLevel::Info), _) => Severity::Info,
        (Some(ShellCheckLevel::Style), _) | (None, shuck_linter::Severity::Hint) => Severity::Hint,
    }
}

/// ShellCheck's page where it has the rule, else what shuck's specification says.
pub(crate) fn url(rule: Rule, map: &ShellCheckCodeMap) -> String {
    match map.code_for_rule(rule) {
        Some(code) => format!("https://www.shellcheck.net/wiki/SC{code}"),
        None => format!("https://github.com/ewhauser/shuck/blob/main/docs/rules/{}.yaml", rule.code()),
    }
}

/// Whether only the parser reports a rule.
pub(crate) fn is_of_syntax(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::CPrototypeFragment
            | Rule::DanglingElse
            | Rule::IfBracketGlued
            | Rule::IfMissingThen
            | Rule::LoopWithoutEnd
            | Rule::MissingDoneInForLoop
            | Rule::MissingFi
            | Rule::StrayClosingKeyword
            | Rule::UnterminatedIf
            | Rule::UntilMissingDo
            | Rule::LinebreakBeforeAnd
    )
}

/// Whether the fix, which shuck calls safe, does not leave what a script does alone: it deletes what is run all the same
/// (`return 2>/dev/null || true`) or read as data, writes into a text of several lines or after a `\`, evaluates what is
/// the key of an associative array, or quotes what was split, or quoted already (`: ${x='a b'}`). What is no mistake in itself may be meant.
pub(crate) fn fix_changes_meaning(rule: Rule, map: &ShellCheckCodeMap) -> bool {
    let is_matter_of_intent = defaults::LIKE_SHELLCHECK.contains(&&*code(rule, map));
    is_matter_of_intent
        || matches!(
            rule,
            Rule::UnreachableAfterExit
                | Rule::TrailingDirective
                | Rule::ArrayIndexArithmetic
                | Rule::DoubleQuoteNesting
                | Rule::MixedQuoteWord
                | Rule::DefaultValueInColonAssign
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_line() {
        let all = all(&ShellCheckCodeMap::default());
        assert_eq!(all.len(), Rule::COUNT + 1 + Extra::ALL.len());
        let codes: std::collections::BTreeSet<_> = all.iter().map(|it| &it.code).collect();
        assert_eq!(codes.len(), all.len(), "each code once");
        assert!(all.iter().all(|it| !it.summary.is_empty() && !it.summary.contains('\n')));
        assert_eq!(name(Rule::UnusedAssignment), "unused-assignment");
        let assigned = all.iter().find(|it| it.code == "SC2034").unwrap();
        assert_eq!(assigned.url.as_deref(), Some("https://www.shellcheck.net/wiki/SC2034"));
    }
}
