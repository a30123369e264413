//! Explanation of a rule.

use lint::Rule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::{LinterRule, PageRequest};

use crate::{
    context::Context,
    reply::{Answer, ToolError},
};

pub(super) const EXPLAIN: &str = "Explain a rule, such as python/F401.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Explain {
    rule: String,
    branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Explained {
    rule: String,
    name: String,
    summary: String,
    explanation: String,
    url: Option<String>,
    on_by_default: bool,
}

/// Page size that is larger than the number of all linters' rules together.
const RULES: u32 = 10_000;

pub(super) async fn explain_rule(context: Context, request: Explain) -> Result<Explained, ToolError> {
    let seen = context.seen(request.branch.as_deref()).await?;
    let (linter, code) = match request.rule.split_once('/') {
        Some((linter, code)) => (linter.to_owned(), code),
        None => (String::new(), request.rule.as_str()),
    };
    let page = PageRequest { size: RULES, token: String::new() };
    let rules = context.daemon.rules(Some(&seen.target), linter, &page).await?.items;
    let found = rules.iter().find(|it| it.rule.code == code || it.rule.name == code);
    let none = || {
        ToolError::new(format!("there is no rule `{}`", request.rule))
            .hint("findings name their rule as LINTER/CODE")
    };
    found.map(Explained::of).ok_or_else(none)
}

impl Explained {
    fn of(LinterRule { linter, rule }: &LinterRule) -> Self {
        let Rule { code, name, summary, explanation, url, default, .. } = rule.clone();
        Self { rule: format!("{linter}/{code}"), name, summary, explanation, url, on_by_default: default }
    }
}

impl Answer for Explained {
    fn text(&self) -> String {
        let Self { rule, name, summary, explanation, url, on_by_default } = self;
        let off = if *on_by_default { "" } else { ", off by default" };
        let url = url.as_ref().map(|it| format!("\n{it}")).unwrap_or_default();
        format!("{rule} ({name}{off}): {summary}\n{explanation}{url}")
    }
}
