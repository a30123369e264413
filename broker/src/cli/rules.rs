//! `broker rule list`

mod of_file;

use std::path::PathBuf;

use lint::{FixAvailability, Rule};
use linters::{Catalogs, Rules};
use serde::Serialize;

use super::{AnswerFormat, Session};
use crate::{CliError, Exit, cli::PluginArgs};

/// List rules, with what they are about, whether they are on by default and whether they can be fixed
///
/// Those of language servers and of checkers, which do not list theirs, are missing. With `--file`, those that are on for a file, and
/// what turns them on: the linter by default, a configuration file of its own, or `broker.toml`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker rule list                            every rule, `on` where it is on by default
  broker rule list python/F4                  those whose codes begin so
  broker rule list --file src/app.py          what is on for a file, and why
  broker rule list --file src/app.py E501     why one rule is on, or off")]
pub(super) struct Args {
    /// Only these: a linter, such as `python`, or how codes begin, such as `F4` or `python/F4`
    rules: Vec<String>,

    /// Those that are on for this file, which need not exist
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,

    /// With `--file`, list those that are off as well
    #[arg(long, requires = "file")]
    all: bool,

    /// Print JSON
    #[arg(long, conflicts_with = "output_format")]
    json: bool,

    #[command(flatten)]
    plugins: PluginArgs,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

/// A rule in a list.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    rule: String,
    name: &'a str,
    default: bool,
    fix: &'static str,
    summary: &'a str,
}

/// A rule, and the name of the linter it belongs to.
pub(super) type Known = (String, Rule);

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    if let Some(file) = &args.file {
        return of_file::run(args, file, session);
    }
    let linters = session.linters(&args.plugins)?;
    let known = args.named(all(&linters)?, "")?;
    let rows: Vec<_> = known.iter().map(Row::of).collect();
    let text = if args.is_json() { super::json(&rows) } else { table(&rows) };
    session.print(&text)?;
    Ok(exit(&linters, session))
}

/// Reports the linters that cannot be used.
fn exit(linters: &Catalogs, session: &Session) -> Exit {
    let broken = linters.broken();
    broken.iter().for_each(|it| session.messages.error(&CliError::plugin(&it.reason)));
    if broken.is_empty() { Exit::Clean } else { Exit::Abnormal }
}

impl Args {
    /// Returns the rules that the arguments name, or all. `of` is the source of the rules for an error.
    fn named(&self, mut known: Vec<Known>, of: &str) -> Result<Vec<Known>, CliError> {
        for text in &self.rules {
            if !known.iter().any(|it| is_named(it, text)) {
                let error = CliError::usage(format!("no rule{of} is called `{text}`, nor do codes begin so"));
                return Err(error
                    .hint("`broker rule list` lists all of them, `broker plugin list` those who have them"));
            }
        }
        known.retain(|it| self.rules.is_empty() || self.rules.iter().any(|text| is_named(it, text)));
        Ok(known)
    }

    fn is_json(&self) -> bool {
        self.json || self.output_format == AnswerFormat::Json
    }
}

/// Lists all rules that linters list, with those of Broker itself.
fn all(linters: &Catalogs) -> Result<Vec<Known>, CliError> {
    let mut known = Vec::new();
    for name in linters.listing()? {
        let rules = linters.rules(&name)?.map(Rules::listed).unwrap_or_default();
        known.extend(rules.into_iter().map(|rule| (name.clone(), rule)));
    }
    Ok(known)
}

/// Whether `text` names the rule, its linter, or the beginning of its code.
pub(super) fn is_named((linter, rule): &Known, text: &str) -> bool {
    let begins = |code: &str| {
        let own = rule.code.as_bytes();
        own.len() >= code.len() && own[..code.len()].eq_ignore_ascii_case(code.as_bytes())
            || rule.name == code
    };
    match text.split_once('/') {
        Some((name, code)) => linter == name && begins(code),
        None => linter == text || begins(text),
    }
}

impl<'a> Row<'a> {
    pub(super) fn of((linter, rule): &'a Known) -> Self {
        Self {
            rule: format!("{linter}/{}", rule.code),
            name: &rule.name,
            default: rule.default,
            fix: match rule.fix {
                FixAvailability::None => "none",
                FixAvailability::Sometimes => "sometimes",
                FixAvailability::Always => "always",
            },
            summary: &rule.summary,
        }
    }
}

impl Row<'_> {
    fn linter(&self) -> &str {
        self.rule.split_once('/').map_or(&*self.rule, |(linter, _)| linter)
    }

    /// Readable name of the rule, or the first line of its summary.
    fn title(&self) -> &str {
        if self.name.is_empty() { self.summary.lines().next().unwrap_or_default() } else { self.name }
    }
}

/// `[on]` for what is on by default, `[*]` for what can be fixed.
pub(super) fn table(rows: &[Row<'_>]) -> String {
    let width = rows.iter().map(|it| it.rule.len()).max().unwrap_or_default();
    let line = |it: &Row<'_>| {
        let default = if it.default { "on " } else { "off" };
        let fix = if it.fix == "none" { "   " } else { "[*]" };
        format!("{:width$}  {default}  {fix}  {}\n", it.rule, it.title())
    };
    rows.iter().map(line).collect()
}
