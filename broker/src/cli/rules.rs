//! `broker rules`

use std::path::{Path, PathBuf};

use config::{Choice, root::WorkspaceRoot};
use lint::{FixAvailability, Rule};
use linters::{Catalogs, Rules};
use serde::Serialize;

use super::{AnswerFormat, Session};
use crate::{CliError, Exit, cli::PluginArgs};

/// List rules, with what they are about, whether they are on by default and whether they can be fixed
///
/// Those of language servers and of checkers, which do not list theirs, are missing.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only these: a linter, such as `python`, or how codes begin, such as `F4` or `python/F4`
    rules: Vec<String>,

    /// Only of linters that look at this file
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,

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
    let linters = session.linters(&args.plugins)?;
    let broken = linters.broken();
    broken.iter().for_each(|it| session.messages.error(&CliError::plugin(&it.reason)));
    let mut known = all(&linters)?;
    if let Some(file) = &args.file {
        let looking = looking_at(file, &linters, session)?;
        known.retain(|(linter, _)| looking.contains(linter));
    }
    for text in &args.rules {
        if !known.iter().any(|it| is_named(it, text)) {
            let error = CliError::usage(format!("no rule is called `{text}`, nor do codes begin so"));
            return Err(error.hint("`broker rules` lists all of them, `broker plugins` those who have them"));
        }
    }
    known.retain(|it| args.rules.is_empty() || args.rules.iter().any(|text| is_named(it, text)));
    let rows: Vec<_> = known.iter().map(Row::of).collect();
    let is_json = args.json || args.output_format == AnswerFormat::Json;
    let text = if is_json { super::json(&rows) } else { table(&rows) };
    session.print(&text)?;
    Ok(if broken.is_empty() { Exit::Clean } else { Exit::Abnormal })
}

/// All rules that linters list, with those of Broker itself.
fn all(linters: &Catalogs) -> Result<Vec<Known>, CliError> {
    let mut known = Vec::new();
    for name in linters.listing()? {
        let rules = linters.rules(&name)?.map(Rules::listed).unwrap_or_default();
        known.extend(rules.into_iter().map(|rule| (name.clone(), rule)));
    }
    Ok(known)
}

/// The linters that look at a file, by name.
fn looking_at(file: &Path, linters: &Catalogs, session: &Session) -> Result<Vec<String>, CliError> {
    let home = session.process_context.home.clone();
    let (_, path) = WorkspaceRoot::of_future_path(&session.cwd()?, file, home.as_deref())?;
    let router = linters.router(&Choice::default())?;
    let looking = router.linters_for(&path).map(|it| it.identity().name.clone());
    Ok(looking.collect())
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

/// `[on]` for what is on by default, `[*]` for what can be fixed.
pub(super) fn table(rows: &[Row<'_>]) -> String {
    let width = rows.iter().map(|it| it.rule.len()).max().unwrap_or_default();
    let line = |it: &Row<'_>| {
        let default = if it.default { "on " } else { "off" };
        let fix = if it.fix == "none" { "   " } else { "[*]" };
        let name = if it.name.is_empty() { it.summary.lines().next().unwrap_or_default() } else { it.name };
        format!("{:width$}  {default}  {fix}  {name}\n", it.rule)
    };
    rows.iter().map(line).collect()
}
