//! Rules with the number of their findings.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Write},
};

use check_engine::Finding;
use lint::{Rule, counted, printable};
use serde::Serialize;

use super::{MARK, Page, first_line};

/// Rules that are counted below findings.
const MAX_RULES: usize = 20;

#[derive(Serialize)]
pub(super) struct Row<'a> {
    rule: String,
    linter: &'a str,
    code: &'a str,
    name: Option<&'a str>,
    count: usize,
    fixable: usize,
    /// Message of one of the findings.
    message: &'a str,
}

/// Writes the number of `findings` of each rule, for as many rules as a screen has room for.
pub(super) fn counts(page: &Page<'_>, findings: &[&Finding], out: &mut dyn Write) -> io::Result<()> {
    let rows = rows(findings);
    let shown = rows.len().min(MAX_RULES);
    table(page, &rows[..shown], out)?;
    match rows[shown..].iter().map(|it| it.count).sum::<usize>() {
        0 => Ok(()),
        count => {
            writeln!(out, "… {} of {}", counted(count, "finding"), counted(rows.len() - shown, "more rule"))
        }
    }
}

pub(super) fn rows<'f>(findings: &[&'f Finding]) -> Vec<Row<'f>> {
    let mut rows: BTreeMap<(&str, &str), Row<'_>> = BTreeMap::new();
    for finding in findings {
        let rule = &finding.rule;
        let row = rows.entry((&rule.linter, &rule.code)).or_insert_with(|| Row {
            rule: rule.to_string(),
            linter: &rule.linter,
            code: &rule.code,
            name: rule.name.as_deref(),
            count: 0,
            fixable: 0,
            message: &finding.message,
        });
        row.count += 1;
        row.fixable += usize::from(finding.is_fixable());
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

pub(super) fn table(page: &Page<'_>, rows: &[Row<'_>], out: &mut dyn Write) -> io::Result<()> {
    let counts = rows.iter().map(|row| row.count.to_string().len()).max().unwrap_or_default();
    let rules = rows.iter().map(|row| row.rule.chars().count()).max().unwrap_or_default();
    let style = page.style(MARK);
    let summaries = summaries(page, rows);
    for row in rows {
        let mark = match row.fixable {
            0 => "   ".to_owned(),
            some if some == row.count => format!("[{style}*{style:#}]"),
            _ => format!("[{style}-{style:#}]"),
        };
        let known = row.name.or_else(|| summaries.get(row.rule.as_str()).map(String::as_str));
        let what = known.map_or_else(|| format!("such as: {}", first_line(row.message)).into(), printable);
        writeln!(out, "{:>counts$}  {:<rules$}  {mark}  {what}", row.count, row.rule)?;
    }
    Ok(())
}

/// Summaries of the rules that have no name of their own, by rule.
fn summaries<'r>(page: &Page<'_>, rows: &'r [Row<'_>]) -> HashMap<&'r str, String> {
    let mut of_linter: HashMap<&str, Vec<Rule>> = HashMap::new();
    let nameless = rows.iter().filter(|it| it.name.is_none());
    let summary = |row: &'r Row<'_>| {
        let rules = of_linter.entry(row.linter).or_insert_with(|| (page.rules)(row.linter));
        let rule = rules.iter().find(|it| it.code == row.code)?;
        Some((row.rule.as_str(), rule.summary.clone()))
    };
    nameless.filter_map(summary).collect()
}
