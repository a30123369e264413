//! Rules that are on where shuck is not configured: for broken code rather than matters of taste, and none that depends on other
//! scripts or on the environment.
//!
//! shuck's own defaults are ShellCheck's without its style. In the scripts of well-kept projects (oh-my-zsh, nvm, acme.sh,
//! Docker's official images, redis, rbenv …) most of what they find is meant: expansions in single quotes that are awk's
//! (C005), variables that a caller sets or uses (C001, C006), `A= B= command` (C024), sourced files whose names are made
//! (C002), functions whose parameters are optional (C123), `cd` into a folder that was just made (C004), `trap "rm $file" EXIT`
//! (C008), `$BASH_SOURCE` (C100). They are on where there is a `.shuck.toml`, and can be selected. [`crate::false_positives`] suppresses
//! some findings of what is on.

use shuck_linter::{LinterSettings, Rule, RuleSet};

use crate::rules::is_of_syntax;

/// By code; what only the parser finds comes on top.
const ON: [&str; 78] = [
    // Mistakes in any shell.
    "C001", "C006", "C014", "C018", "C022", "C025", "C030", "C031", "C032", "C036", "C043", "C044", "C045",
    "C046", "C047", "C049", "C056", "C060", "C073", "C074", "C075", "C076", "C086", "C087", "C090", "C101",
    "C102", "C103", "C116", "C129", "C134", "C135", "C136", "C138", "C140", "K004", "K006", "K008",
    // Words that are not what they seem.
    "C085", "C091", "S008", "S021", "S052", // What a script that says it is for `sh` cannot have.
    "X001", "X002", "X004", "X005", "X006", "X007", "X008", "X009", "X010", "X011", "X012", "X013", "X014",
    "X015", "X016", "X017", "X018", "X019", "X020", "X023", "X024", "X025", "X031", "X032", "X033", "X042",
    "X045", "X052", "X054", "X056", "X058", "X059", "X060", "X066", "X070",
];

/// On in zsh, whose words and expansions are others: what does not rest on them.
const ON_IN_ZSH: [&str; 9] = ["C046", "C047", "C056", "C060", "C073", "C074", "C075", "C101", "K008"];

pub(crate) fn rules() -> RuleSet {
    let theirs = of_shuck();
    Rule::iter().filter(|it| is_of_syntax(*it) && theirs.contains(*it) || ON.contains(&it.code())).collect()
}

pub(crate) fn holds_in_zsh(rule: Rule) -> bool {
    is_of_syntax(rule) || ON_IN_ZSH.contains(&rule.code())
}

/// Rules that are on where shuck is configured. C003 is not: which files are checked together is not known here.
pub(crate) fn of_shuck() -> RuleSet {
    let mut rules = LinterSettings::default_rules();
    rules.remove(Rule::UntrackedSourceFile);
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_but_of_style_is_on_in_shuck_as_well() {
        let theirs = of_shuck();
        let is_other = |code: &&&str| code.starts_with('S') || theirs.iter().any(|it| it.code() == **code);
        let lost: Vec<_> = ON.iter().filter(|it| !is_other(it)).collect();
        assert!(lost.is_empty(), "{lost:?}");
        assert!(ON_IN_ZSH.iter().all(|code| ON.contains(code)));
    }
}
