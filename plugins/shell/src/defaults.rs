//! Rules that are on where shuck is not configured: those that ShellCheck has on, as far as shuck finds the same. Each of [`LIKE_SHELLCHECK`]
//! was compared with ShellCheck 0.11 on scripts of 16 projects and of a Debian system: of 100 findings, at least 99 were ShellCheck's,
//! to the line.
//!
//! Off, though ShellCheck has them on: rules with fewer than that, or of which no finding was there to compare; and SC1091, since which
//! files are checked together is not known here. Unused and unset variables (SC2034, SC2154) are reported only in scripts that run no
//! other text. All of shuck's own defaults are on where there is a `.shuck.toml`, and every rule can be selected. [`crate::false_positives`]
//! suppresses some findings of what is on.

use shuck_linter::{LinterSettings, Rule, RuleSet, ShellCheckCodeMap};

use crate::rules::{code, is_of_syntax};

/// Mistakes in any shell, and what a script that says it is for `sh` cannot have; what only the parser finds comes on top.
const MISTAKES: [&str; 78] = [
    "K006", "K008", "SC1019", "SC1020", "SC1035", "SC1037", "SC1044", "SC1073", "SC1114", "SC1115", "SC1128",
    "SC1143", "SC2034", "SC2068", "SC2069", "SC2070", "SC2071", "SC2072", "SC2081", "SC2088", "SC2105",
    "SC2112", "SC2113", "SC2127", "SC2141", "SC2144", "SC2145", "SC2146", "SC2154", "SC2156", "SC2168",
    "SC2210", "SC2211", "SC2212", "SC2213", "SC2214", "SC2215", "SC2216", "SC2222", "SC2239", "SC2240",
    "SC2242", "SC2252", "SC2270", "SC2282", "SC2318", "SC2319", "SC3001", "SC3002", "SC3003", "SC3005",
    "SC3006", "SC3008", "SC3009", "SC3010", "SC3011", "SC3012", "SC3014", "SC3015", "SC3016", "SC3020",
    "SC3022", "SC3024", "SC3030", "SC3032", "SC3042", "SC3044", "SC3046", "SC3047", "SC3050", "SC3052",
    "SC3053", "SC3054", "SC3057", "SC3059", "SC3060", "SC3073", "X033",
];

/// Other rules that ShellCheck has on by default.
pub(crate) const LIKE_SHELLCHECK: [&str; 65] = [
    "SC1003", "SC1007", "SC1090", "SC1112", "SC2001", "SC2005", "SC2006", "SC2013", "SC2015", "SC2016",
    "SC2018", "SC2019", "SC2021", "SC2027", "SC2028", "SC2038", "SC2044", "SC2045", "SC2046", "SC2048",
    "SC2059", "SC2062", "SC2063", "SC2064", "SC2078", "SC2086", "SC2091", "SC2094", "SC2102", "SC2103",
    "SC2115", "SC2116", "SC2119", "SC2120", "SC2124", "SC2125", "SC2126", "SC2128", "SC2140", "SC2143",
    "SC2155", "SC2157", "SC2162", "SC2163", "SC2164", "SC2166", "SC2178", "SC2181", "SC2184", "SC2198",
    "SC2206", "SC2207", "SC2221", "SC2223", "SC2235", "SC2254", "SC2294", "SC2327", "SC2328", "SC3037",
    "SC3040", "SC3043", "SC3045", "SC3061", "SC3067",
];

pub(crate) fn rules() -> RuleSet {
    let (theirs, map) = (of_shuck(), ShellCheckCodeMap::default());
    let is_listed = |it: Rule| {
        let code = code(it, &map);
        MISTAKES.iter().chain(&LIKE_SHELLCHECK).any(|it| *it == code)
    };
    Rule::iter().filter(|it| is_of_syntax(*it) && theirs.contains(*it) || is_listed(*it)).collect()
}

/// Whether a rule is on in zsh, whose words and expansions are others: what does not rest on them.
pub(crate) fn holds_in_zsh(rule: Rule) -> bool {
    is_of_syntax(rule)
        || matches!(
            rule,
            Rule::PipeToKill
                | Rule::InvalidExitStatus
                | Rule::StatusCaptureAfterBranchTest
                | Rule::NonAbsoluteShebang
                | Rule::IndentedShebang
                | Rule::SpaceAfterHashBang
                | Rule::ShebangNotOnFirstLine
                | Rule::IfsSetToLiteralBackslashN
                | Rule::ForkBombPattern
        )
}

/// Rules that are on where shuck is configured. SC1091 is not: which files are checked together is not known here.
pub(crate) fn of_shuck() -> RuleSet {
    let mut rules = LinterSettings::default_rules();
    rules.remove(Rule::UntrackedSourceFile);
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_is_a_rule_and_stands_once() {
        let map = ShellCheckCodeMap::default();
        let known: Vec<_> = Rule::iter().map(|it| code(it, &map)).collect();
        for (at, it) in MISTAKES.iter().chain(&LIKE_SHELLCHECK).enumerate() {
            assert!(known.iter().any(|known| known == it), "{it}");
            assert!(!MISTAKES.iter().chain(&LIKE_SHELLCHECK).skip(at + 1).any(|other| other == it), "{it}");
        }
    }
}
