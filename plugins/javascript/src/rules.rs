//! The rules of deno_lint, and which of them hold where. Leaves out `no-slow-types` and `no-sloppy-imports`:
//! they are deno's own, look at whole packages, and are not in the crate.

use broker_plugin_sdk::{self as plugin, FixAvailability};
use deno_config::deno_json::LintRulesConfig;
use deno_lint::rules::{LintRule, get_all_rules};

use crate::table::TABLE;
use crate::{defaults, meant};

/// Code of syntax errors. Not a rule of deno's, which prints them as errors of their own.
pub(crate) const SYNTAX_ERROR: &str = "syntax-error";

/// Code of relative imports that lead to no file. Not a rule of deno's.
pub(crate) const UNRESOLVED: &str = "unresolved-import";

/// Rules of deno's that are not in the crate, but may be named in its suppression comments.
pub(crate) const ELSEWHERE: [&str; 2] = ["no-slow-types", "no-sloppy-imports"];

const RECOMMENDED: &str = "recommended";

/// Rules that offer a fix for some of their findings.
const FIXABLE: [&str; 13] = [
    "eqeqeq",
    "jsx-boolean-value",
    "jsx-curly-braces",
    "jsx-no-unescaped-entities",
    "jsx-props-no-spread-multi",
    "no-node-globals",
    "no-process-global",
    "no-unused-vars",
    "no-var",
    "no-window",
    "no-window-prefix",
    "prefer-const",
    "verbatim-module-syntax",
];

/// Kind of project that a file belongs to, for the choice of rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// No deno.json holds for it, and no other linter is configured, as far as their files tell.
    Plain,
    /// Another linter is configured, and no deno.json says anything of linting.
    Elsewhere,
    /// A deno.json holds for it.
    Deno,
    /// A deno.json with a name and exports holds for it: it can be published to JSR.
    Package,
}

impl Kind {
    /// Whether deno's linter is the project's own.
    pub(crate) fn is_of_deno(self) -> bool {
        matches!(self, Self::Deno | Self::Package)
    }
}

/// The rules that `config` leaves on in a project of this kind, as deno chooses them.
pub(crate) fn configured(kind: Kind, config: &LintRulesConfig) -> Vec<&'static str> {
    let is_in = |list: &Option<Vec<String>>, code: &str| list.iter().flatten().any(|it| it == code);
    let is_on = |rule: &dyn LintRule| {
        let by_tag = match &config.tags {
            Some(tags) => has_tag(rule, |tag| tags.iter().any(|it| it == tag)),
            None => is_default(kind, rule),
        };
        (by_tag || is_in(&config.include, rule.code())) && !is_in(&config.exclude, rule.code())
    };
    let of_deno = get_all_rules();
    let of_deno = of_deno.iter().filter(|it| is_on(it.as_ref())).map(|it| it.code());
    let ours = (!kind.is_of_deno()).then_some(UNRESOLVED);
    of_deno.chain(ours).collect()
}

fn is_default(kind: Kind, rule: &dyn LintRule) -> bool {
    match kind {
        Kind::Plain => defaults::is_on(rule.code()),
        Kind::Elsewhere => defaults::is_certain(rule.code()),
        Kind::Deno => has_tag(rule, |it| matches!(it, RECOMMENDED | "workspace")),
        Kind::Package => has_tag(rule, |it| matches!(it, RECOMMENDED | "workspace" | "jsr")),
    }
}

pub(crate) fn has_tag(rule: &dyn LintRule, is_wanted: impl Fn(&str) -> bool) -> bool {
    rule.tags().iter().any(|it| is_wanted(it.display()))
}

/// Every rule, and what stands for a rule.
pub(crate) fn all() -> Vec<plugin::Rule> {
    let syntax = plugin::Rule {
        explanation: "What the parser cannot read, or what JavaScript forbids where it stands.".to_owned(),
        ..plugin::Rule::new(SYNTAX_ERROR, "Code that does not parse")
    };
    let rules = get_all_rules();
    [syntax, unresolved()].into_iter().chain(rules.iter().map(|it| describe(it.as_ref()))).collect()
}

fn unresolved() -> plugin::Rule {
    let explanation = "A relative name that `import`, `export … from`, `import(…)`, `require(…)` or a type imports, where there is no such \
                       file: none of that name, none with an end that TypeScript, Node or bundlers add (`.ts`, `.tsx`, `.d.ts`, `.js`, \
                       `.json`, `.vue`, `/index.ts` …), and none that a `.js` would be made from.\n\nNot reported is what may be made first: \
                       files that git ignores, in folders such as `dist` that are not there, of a grammar or another language beside it, in \
                       `rootDirs` of the nearest `tsconfig.json`, or of a submodule; what may fail on purpose, in `try` or before \
                       `.catch(…)`; lines below `@ts-ignore` or `@ts-expect-error`; input of tests (`fixtures`); and vendored libraries. Off in \
                       projects of Deno's, which checks this when it loads a file.";
    plugin::Rule {
        explanation: explanation.to_owned(),
        default: true,
        ..plugin::Rule::new(UNRESOLVED, "Relative import that leads to no file")
    }
}

fn describe(rule: &dyn LintRule) -> plugin::Rule {
    let code = rule.code();
    let summary = TABLE.iter().find(|it| it.0 == code).map_or(code, |it| it.1);
    let is_fixable = FIXABLE.contains(&code);
    plugin::Rule {
        explanation: explanation(rule),
        url: Some(url(code)),
        fix: if is_fixable { FixAvailability::Sometimes } else { FixAvailability::None },
        default: is_default(Kind::Plain, rule),
        ..plugin::Rule::new(code, summary)
    }
}

fn explanation(rule: &dyn LintRule) -> String {
    let mut tags: Vec<String> = rule.tags().iter().map(|it| format!("`{it}`")).collect();
    tags.sort();
    let is_on = |kind| is_default(kind, rule);
    let mut text = match &tags[..] {
        [] if is_on(Kind::Plain) => {
            "In none of deno's sets of rules: where there is a deno.json, on where it is included by name."
                .to_owned()
        }
        [] => "In none of deno's sets of rules: on where it is included by name.".to_owned(),
        [one] => format!("In deno's set of rules {one}."),
        more => format!("In deno's sets of rules {}.", more.join(", ")),
    };
    if is_on(Kind::Deno) && !is_on(Kind::Plain) {
        text.push_str(" On by default where there is a deno.json or deno.jsonc, and only there.");
    } else if is_on(Kind::Plain) && !is_on(Kind::Elsewhere) {
        text.push_str(defaults::UNUSED);
    }
    text.push_str(match rule.code() {
        "constructor-super" => " Where there is no deno.json, constructors that call `super()` in a branch or always throw are let pass.",
        "no-unreachable" => " Where there is no deno.json, only what comes behind a jump or a loop without an end is told, but for `break`.",
        code => meant::explanation(code),
    });
    text
}

pub(crate) fn url(code: &str) -> String {
    format!("https://docs.deno.com/lint/rules/{code}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_line() {
        let rules: Vec<&str> = get_all_rules().iter().map(|it| it.code()).collect();
        let table: Vec<&str> = TABLE.iter().map(|it| it.0).collect();
        let mut sorted = rules.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, table);
        assert!(FIXABLE.iter().all(|it| rules.contains(it)));
    }

    #[test]
    fn defaults() {
        let count = |kind| configured(kind, &LintRulesConfig::default()).len();
        assert_eq!((count(Kind::Deno), count(Kind::Package)), (87, 88));
        assert_eq!((count(Kind::Plain), count(Kind::Elsewhere)), (35, 34));
        assert_eq!(all().iter().filter(|it| it.default).count(), 36, "with syntax errors");
    }

    #[test]
    fn deno_chooses() {
        let list = |it: &[&str]| Some(it.iter().map(|it| (*it).to_owned()).collect());
        let chosen = |tags, include, exclude| {
            configured(Kind::Deno, &LintRulesConfig { tags, include, exclude }).join(" ")
        };
        assert_eq!(chosen(list(&[]), list(&["eqeqeq", "no-var"]), list(&["no-var"])), "eqeqeq");
        assert_eq!(
            chosen(list(&["fresh"]), None, list(&["no-such-rule"])),
            "fresh-handler-export fresh-server-event-handlers jsx-button-has-type jsx-no-children-prop \
             jsx-no-comment-text-nodes jsx-no-unescaped-entities jsx-no-useless-fragment \
             jsx-void-dom-elements-no-children react-no-danger react-no-danger-with-children \
             react-rules-of-hooks"
        );
    }
}
