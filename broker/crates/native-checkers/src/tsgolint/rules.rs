//! Rules that `tsgolint` is asked for: errors of the compiler it reports by itself, these only where a project says so.

use std::collections::BTreeMap;

use lint::Severity;
use overlay::{View, WorkspacePath};
use serde::Serialize;
use serde_json::Value;

use crate::{checker::Checker, jsonc};

/// Configurations of oxlint, which has these rules from `tsgolint`.
const CONFIGS: [&str; 2] = [".oxlintrc.json", ".oxlintrc.jsonc"];

/// Prefixes of the rules there.
const PREFIXES: [&str; 2] = ["typescript/", "@typescript-eslint/"];

/// Rules that need types. Others of the same prefixes are not this tool's.
const NEED_TYPES: [&str; 59] = [
    "await-thenable",
    "consistent-return",
    "consistent-type-exports",
    "dot-notation",
    "no-array-delete",
    "no-base-to-string",
    "no-confusing-void-expression",
    "no-deprecated",
    "no-duplicate-type-constituents",
    "no-floating-promises",
    "no-for-in-array",
    "no-implied-eval",
    "no-meaningless-void-operator",
    "no-misused-promises",
    "no-misused-spread",
    "no-mixed-enums",
    "no-redundant-type-constituents",
    "no-unnecessary-boolean-literal-compare",
    "no-unnecessary-condition",
    "no-unnecessary-qualifier",
    "no-unnecessary-template-expression",
    "no-unnecessary-type-arguments",
    "no-unnecessary-type-assertion",
    "no-unnecessary-type-conversion",
    "no-unnecessary-type-parameters",
    "no-unsafe-argument",
    "no-unsafe-assignment",
    "no-unsafe-call",
    "no-unsafe-enum-comparison",
    "no-unsafe-member-access",
    "no-unsafe-return",
    "no-unsafe-type-assertion",
    "no-unsafe-unary-minus",
    "no-useless-default-assignment",
    "non-nullable-type-assertion-style",
    "only-throw-error",
    "prefer-find",
    "prefer-includes",
    "prefer-nullish-coalescing",
    "prefer-optional-chain",
    "prefer-promise-reject-errors",
    "prefer-readonly",
    "prefer-readonly-parameter-types",
    "prefer-reduce-type-parameter",
    "prefer-regexp-exec",
    "prefer-return-this-type",
    "prefer-string-starts-ends-with",
    "promise-function-async",
    "related-getter-setter-pairs",
    "require-array-sort-compare",
    "require-await",
    "restrict-plus-operands",
    "restrict-template-expressions",
    "return-await",
    "strict-boolean-expressions",
    "strict-void-return",
    "switch-exhaustiveness-check",
    "unbound-method",
    "use-unknown-in-catch-callback-variable",
];

/// Rules by their names.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rules(BTreeMap<String, Setting>);

#[derive(Debug, PartialEq)]
struct Setting {
    severity: Severity,
    options: Option<Value>,
}

/// A rule as `tsgolint` reads it.
#[derive(Debug, Serialize)]
pub(crate) struct Asked<'r> {
    name: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'r Value>,
}

impl Rules {
    /// Returns the rules of the root's configuration of oxlint, if that says `typeAware`, and those of the checker's definition,
    /// which go first. Rules for some files only (`overrides`) do not count.
    pub(crate) fn of(checker: &Checker, view: &dyn View) -> Result<Self, String> {
        let mut rules = Self::default();
        let config = CONFIGS.iter().find_map(|it| jsonc::read(view, &WorkspacePath::root().child(it)));
        if let Some(config) = config.transpose()?.filter(|it| it["options"]["typeAware"] == true) {
            rules.add_project(&config["rules"]);
        }
        for (name, said) in &checker.rules {
            let wrong =
                || format!("`rules.{name}`: a severity, or a list of a severity and options, is expected");
            rules.set(name, said).ok_or_else(wrong)?;
        }
        Ok(rules)
    }

    /// Leaves out what is not understood: oxlint has more kinds of rules.
    fn add_project(&mut self, rules: &Value) {
        for (name, said) in rules.as_object().into_iter().flatten() {
            let name = PREFIXES.iter().find_map(|it| name.strip_prefix(it));
            if let Some(name) = name.filter(|it| NEED_TYPES.contains(it)) {
                self.set(name, said);
            }
        }
    }

    /// `None` if it is no setting of a rule.
    fn set(&mut self, name: &str, said: &Value) -> Option<()> {
        let (severity, options) = match said.as_array() {
            Some(list) => (list.first()?, list.get(1).cloned()),
            None => (said, None),
        };
        let severity = match (severity.as_str(), severity.as_u64()) {
            (Some("off" | "allow"), _) | (_, Some(0)) => {
                self.0.remove(name);
                return Some(());
            }
            (Some("warn" | "warning"), _) | (_, Some(1)) => Severity::Warning,
            (Some("error" | "deny"), _) | (_, Some(2)) => Severity::Error,
            _ => return None,
        };
        self.0.insert(name.to_owned(), Setting { severity, options });
        Some(())
    }

    pub(crate) fn asked(&self) -> Vec<Asked<'_>> {
        self.0.iter().map(|(name, it)| Asked { name, options: it.options.as_ref() }).collect()
    }

    pub(crate) fn severity(&self, name: &str) -> Option<Severity> {
        self.0.get(name).map(|it| it.severity)
    }
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    fn rules(config: &str, own: &str) -> String {
        let view = Memory::from_files([(".oxlintrc.json", config)]).unwrap();
        let checker = Checker::defined("tsgolint", toml::from_str(own).unwrap()).unwrap();
        match Rules::of(&checker, &view) {
            Ok(rules) => {
                let severity = |it: &Asked<'_>| rules.severity(it.name).unwrap().name();
                let line =
                    |it: Asked<'_>| format!("{} {}\n", severity(&it), serde_json::to_string(&it).unwrap());
                rules.asked().into_iter().map(line).collect()
            }
            Err(why) => why,
        }
    }

    #[test]
    fn rules_that_the_project_asks_for() {
        let config = r#"{
            // Comments are allowed.
            "options": { "typeAware": true },
            "rules": {
                "typescript/no-floating-promises": ["error", { "ignoreVoid": true }],
                "@typescript-eslint/await-thenable": "warn",
                "typescript/no-explicit-any": "error",
                "typescript/unbound-method": 0,
                "no-console": "error",
            },
        }"#;
        insta::assert_snapshot!(rules(config, ""), @r#"
        warning {"name":"await-thenable"}
        error {"name":"no-floating-promises","options":{"ignoreVoid":true}}
        "#);
        let own = "rules = { await-thenable = 'off', require-await = 'error' }";
        insta::assert_snapshot!(rules(config, own), @r#"
        error {"name":"no-floating-promises","options":{"ignoreVoid":true}}
        error {"name":"require-await"}
        "#);
        insta::assert_snapshot!(rules(&config.replace("true }", "false }"), ""), @"");
    }

    #[test]
    fn settings_that_are_none() {
        insta::assert_snapshot!(rules("{}", "rules = { require-await = 'loud' }"), @"`rules.require-await`: a severity, or a list of a severity and options, is expected");
        assert!(rules("{", "").starts_with("`.oxlintrc.json` cannot be read: "));
    }
}
