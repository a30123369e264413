//! Rules that are on where no deno.json holds: for certain mistakes rather than matters of taste.
//!
//! deno's own set of rules (`recommended`) is a style that a project takes on with Deno. In projects that never asked for
//! it there is a finding per 200 lines, three quarters of them opinions: `any`, an async function without `await`, a
//! function in a block, a button without a type. Vite and Hono turn the commonest of them off by name in their own linter's
//! configuration. So of the rules in it, these are on:
//! - code that throws when it is run, or that cannot do what it says (a constant that is assigned, a key that is there
//!   twice, a comparison with `NaN`, code after `return`);
//! - names that are declared or imported and not used, where no other linter is configured, but for those that something
//!   else asks for ([`crate::false_positives`]).
//!
//! Six more report only a form that has no other use ([`crate::meant`]): `getter-return`, `no-cond-assign`, `no-ex-assign`,
//! `no-func-assign`, `require-yield`, and `no-sparse-arrays`, which is in none of deno's sets.
//!
//! Not among them, though about mistakes as well: what is mostly meant (classes and globals that are assigned, as polyfills
//! and wrappers do; what transpilers write, as `no-unsafe-finally`; `no-fallthrough`, `no-async-promise-executor`, `no-non-null-asserted-optional-chain`, `no-control-regex`, which finds fault with
//! `/[^\x00-\x7F]/`), what is React's alone (`jsx-key`, `react-rules-of-hooks`), and comments for deno_lint, which other
//! tools' rules may be meant by. Of what is on, [`crate::false_positives`] lets more pass.

/// On, whatever else checks the project; by code.
const CERTAIN: [&str; 33] = [
    "constructor-super",
    "for-direction",
    "getter-return",
    "jsx-no-duplicate-props",
    "no-await-in-sync-fn",
    "no-compare-neg-zero",
    "no-cond-assign",
    "no-const-assign",
    "no-debugger",
    "no-delete-var",
    "no-dupe-args",
    "no-dupe-class-members",
    "no-dupe-else-if",
    "no-dupe-keys",
    "no-duplicate-case",
    "no-empty-character-class",
    "no-ex-assign",
    "no-func-assign",
    "no-import-assertions",
    "no-import-assign",
    "no-invalid-regexp",
    "no-new-symbol",
    "no-obj-calls",
    "no-self-assign",
    "no-setter-return",
    "no-sparse-arrays",
    "no-this-before-super",
    "no-unreachable",
    "no-unsafe-negation",
    "no-unused-labels",
    "require-yield",
    "use-isnan",
    "valid-typeof",
];

/// On where no other linter is configured: that has an opinion of its own of what may be left unused.
const ALONE: &str = "no-unused-vars";

/// Rules, by code, that are off in files of other projects: the code that they report has no effect, so that it breaks nothing,
/// and is not this project's to fix.
const LEFTOVERS: [&str; 10] = [
    "no-debugger",
    "no-dupe-class-members",
    "no-dupe-else-if",
    "no-dupe-keys",
    "no-duplicate-case",
    "no-self-assign",
    "no-sparse-arrays",
    "no-unreachable",
    "no-unused-labels",
    ALONE,
];

/// Whether a rule does not report on vendored files.
pub(crate) fn is_of_leftovers(code: &str) -> bool {
    LEFTOVERS.contains(&code)
}

/// Explanation of that in the rule's description.
pub(crate) const UNUSED: &str = " Where there is no deno.json, names that something else asks for are let pass (parameters, \
     `catch`, elements of an array, the variable of a `for`-`of`, types in a JSDoc comment, placeholders like `$name$`), vendored libraries are left alone, and beside another linter's configuration it is off.";

pub(crate) fn is_certain(code: &str) -> bool {
    CERTAIN.contains(&code)
}

pub(crate) fn is_on(code: &str) -> bool {
    is_certain(code) || code == ALONE
}

#[cfg(test)]
mod tests {
    use deno_lint::rules::get_all_rules;

    use super::*;

    #[test]
    fn every_one_is_a_rule_of_denos_own_set() {
        let rules = get_all_rules();
        let is_in_certain = |code: &&str| is_certain(code);
        let recommended = |code: &&str| {
            rules
                .iter()
                .any(|it| it.code() == *code && crate::rules::has_tag(it.as_ref(), |it| it == "recommended"))
        };
        let lost: Vec<_> = CERTAIN.iter().chain(&[ALONE]).filter(|it| !recommended(it)).collect();
        assert_eq!(lost, [&"no-sparse-arrays"], "in none of deno's sets");
        assert!(crate::meant::RULES.iter().all(is_in_certain));
        assert!(CERTAIN.is_sorted());
    }
}
