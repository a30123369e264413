//! `broker rule explain`

use std::borrow::Cow;

use config::{KnownRules, Suggestion, unknown_linter};
use lint::{FixAvailability, Rule, suppress};
use linters::{Catalogs, Rules};
use render::with_placeholders;
use serde::Serialize;

use super::{
    AnswerFormat, Session,
    rules::{Known, Row, is_named, table},
};
use crate::{CliError, Exit, cli::PluginArgs};

/// Explain a rule; of a linter, or of how codes begin, list the rules
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// `python/F401`, or `F401` or `unused-import` where that is enough; or `python`, or `python/F4`
    rule: String,

    #[command(flatten)]
    plugins: PluginArgs,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Serialize)]
struct Explanation<'a> {
    rule: String,
    linter: &'a str,
    code: &'a str,
    name: &'a str,
    summary: Cow<'a, str>,
    /// Whether the summary is the message of findings, with placeholders.
    #[serde(skip)]
    is_message: bool,
    fix: &'static str,
    default: bool,
    url: Option<&'a str>,
    explanation: &'a str,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let linters = session.linters(&args.plugins)?;
    let broken = linters.broken();
    broken.iter().for_each(|it| session.messages.error(&CliError::plugin(&it.reason)));
    let linter = args.rule.split_once('/').map(|it| it.0);
    let known = rules(&linters, linter)?;
    let text = match find(&known, &args.rule) {
        Ok((linter, rule)) => explained(args, &Explanation::of(&linter, &rule)),
        Err(error) => listed(args, &known).ok_or(error)?,
    };
    session.print(&text)?;
    Ok(if broken.is_empty() { Exit::Clean } else { Exit::Abnormal })
}

fn explained(args: &Args, explanation: &Explanation<'_>) -> String {
    match args.output_format {
        AnswerFormat::Text => explanation.text(),
        AnswerFormat::Json => super::json(explanation),
    }
}

/// Rules of a linter, or with codes that begin alike; `None` if there are none.
fn listed(args: &Args, known: &[Known]) -> Option<String> {
    let rows: Vec<_> = known.iter().filter(|it| is_named(it, &args.rule)).map(Row::of).collect();
    let text = || match args.output_format {
        AnswerFormat::Text => table(&rows),
        AnswerFormat::Json => super::json(&rows),
    };
    (!rows.is_empty()).then(text)
}

/// The rules of one linter, or of all, with those of Broker itself.
fn rules(linters: &Catalogs, linter: Option<&str>) -> Result<Vec<Known>, CliError> {
    let listing = linters.listing()?;
    let names = match linter {
        None => listing,
        Some(name) if listing.iter().any(|it| it == name) => vec![name.to_owned()],
        Some(name) => return Err(no_rules(name, linters, &listing)?),
    };
    let mut known = Vec::new();
    for name in names {
        let rules = linters.rules(&name)?.map(Rules::listed).unwrap_or_default();
        known.extend(rules.into_iter().map(|rule| (name.clone(), rule)));
    }
    Ok(known)
}

/// Returns the error for a linter that lists no rules, or is not there.
fn no_rules(name: &str, linters: &Catalogs, listing: &[String]) -> Result<CliError, CliError> {
    let is_broken = linters.broken().iter().any(|it| it.linter.as_deref() == Some(name));
    if linters.rules(name)?.is_some() && !is_broken {
        let error =
            CliError::usage(format!("`{name}` is a language server, and those do not explain their rules"));
        return Ok(error.hint("a finding of `broker check` has a link where the server gives one"));
    }
    let plugins: Vec<_> = listing.iter().map(String::as_str).filter(|it| *it != suppress::LINTER).collect();
    Ok(unknown_linter(name, &plugins, &[]).into())
}

fn find(known: &[Known], named: &str) -> Result<Known, CliError> {
    let code = named.split_once('/').map_or(named, |it| it.1);
    let is_meant = |rule: &Rule| rule.code.eq_ignore_ascii_case(code) || rule.name == code;
    let meant: Vec<_> = known.iter().filter(|(_, rule)| is_meant(rule)).collect();
    match meant[..] {
        [] => Err(unknown_rule(known, named)),
        [one] => Ok(one.clone()),
        [..] => {
            let ids: Vec<_> =
                meant.iter().map(|(linter, rule)| format!("`{linter}/{}`", rule.code)).collect();
            let error = CliError::usage(format!("several rules are called `{code}`"));
            Err(error.hint(format!("say which: {}", ids.join(", "))))
        }
    }
}

fn unknown_rule(known: &[Known], named: &str) -> CliError {
    let rules = known.iter().map(|(linter, rule)| (linter.as_str(), rule)).collect();
    let suggestion = KnownRules { rules, ..KnownRules::default() }.suggest(named);
    let hint = suggestion.filter(Suggestion::is_one_rule).map(|it| it.hint());
    CliError::usage(format!("no rule is called `{named}`")).maybe_hint(hint)
}

impl<'a> Explanation<'a> {
    fn of(linter: &'a str, rule: &'a Rule) -> Self {
        let message = with_placeholders(&rule.summary);
        Self {
            rule: format!("{linter}/{}", rule.code),
            linter,
            code: &rule.code,
            name: &rule.name,
            is_message: message.is_some(),
            summary: message.map_or(Cow::Borrowed(&rule.summary), Cow::Owned),
            fix: match rule.fix {
                FixAvailability::None => "none",
                FixAvailability::Sometimes => "sometimes",
                FixAvailability::Always => "always",
            },
            default: rule.default,
            url: rule.url.as_deref(),
            explanation: &rule.explanation,
        }
    }

    fn text(&self) -> String {
        let name = if self.name.is_empty() { String::new() } else { format!(" ({})", self.name) };
        let fix = match self.fix {
            "none" => "cannot be fixed automatically",
            "always" => "can always be fixed automatically",
            _ => "can sometimes be fixed automatically",
        };
        let default = if self.default { "on by default" } else { "off by default" };
        let label = if self.is_message { "Message: " } else { "" };
        let Self { rule, summary, .. } = self;
        let mut text = format!("# {rule}{name}\n\n{label}{summary}\n\nThis rule is {default} and {fix}.\n");
        if let Some(url) = self.url {
            text += &format!("{url}\n");
        }
        if !self.explanation.is_empty() {
            text += &format!("\n{}\n", self.explanation.trim());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(linter: &str, code: &str, name: &str) -> Known {
        let rule = Rule {
            code: code.into(),
            name: name.into(),
            summary: "Checks for unused imports".into(),
            explanation: "## What it does\nIt checks.\n".into(),
            url: Some("https://example.org".into()),
            fix: FixAvailability::Sometimes,
            default: true,
        };
        (linter.into(), rule)
    }

    #[test]
    fn finds_by_code_and_name_and_helps_with_slips() {
        let rules = [known("a", "F401", "unused-import"), known("a", "E1", "one"), known("b", "E1", "two")];
        assert_eq!(find(&rules, "f401").unwrap(), rules[0]);
        assert_eq!(find(&rules, "two").unwrap(), rules[2]);
        let hint = |code| find(&rules, code).unwrap_err().hint;
        assert_eq!(hint("F4O1").as_deref(), Some("did you mean `F401`?"));
        assert_eq!(hint("a/F4O1").as_deref(), Some("did you mean `a/F401`?"));
        assert_eq!(hint("F4"), None, "they are explained one by one");
        assert_eq!(hint("unused-imports").as_deref(), Some("did you mean `unused-import`?"));
        assert_eq!(hint("E1").as_deref(), Some("say which: `a/E1`, `b/E1`"));
        assert_eq!(hint("something else"), None);
    }

    #[test]
    fn looks_so() {
        let (linter, rule) = known("python", "F401", "unused-import");
        insta::assert_snapshot!(Explanation::of(&linter, &rule).text());
    }

    #[test]
    fn a_template_is_told_as_a_message() {
        let (linter, mut rule) = known("python", "F401", "unused-import");
        rule.summary = "`{name}` imported but unused".into();
        let explanation = Explanation::of(&linter, &rule);
        assert!(explanation.text().contains("\n\nMessage: `<name>` imported but unused\n\n"));
        assert!(crate::cli::json(&explanation).contains("\"summary\": \"`<name>` imported but unused\""));
    }
}
