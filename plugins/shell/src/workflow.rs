//! Scripts in workflows and composite actions of GitHub: what the steps' `run` gives to a shell.
//!
//! The method is actionlint's with ShellCheck: an expression `${{ … }}` is read as a word of its length, and rules that such
//! words or the variables of `env` mislead are off. Past that, a finding is reported only if it is there as well when a
//! variable's expansion is read in the place of the expression: then it does not depend on what the expression stands for.
//!
//! Start reading at [`report`], then [`steps`] (which scripts, for which shell), [`expressions`] (what is read in place of an
//! expression) and [`source`] (where a part of a script is in the file).
//!
//! Left out: fixes, and scripts of other shells and languages.

mod expressions;
mod source;
mod steps;

use std::borrow::Cow;
use std::path::Path;

use broker_plugin_sdk::{Diagnostic, Report};
use broker_yaml_tree::tree::{Document, Kind};
use broker_yaml_tree::{document, github};
use shuck_linter::{RuleSet, ShellCheckCodeMap};

use crate::config::Config;
use crate::lint::{self, Check};
use crate::selection::Selection;

use expressions::Filler;
use source::Source;
use steps::Step;

/// ShellCheck's codes of rules that do not hold in a step.
const WITHOUT: [&str; 14] = [
    // Rules that actionlint switches off: expressions make words and conditions constant, and `env` sets variables.
    "SC1091", "SC2043", "SC2050", "SC2153", "SC2154", "SC2157",
    "SC2194", // A first line names no interpreter here.
    "SC1113", "SC1114", "SC1115", "SC1128", "SC2096", "SC2148", "SC2239",
];

/// Rules that are off as well if the shell ends at the first command that fails: `cd` need not be checked.
const WITHOUT_ASKING: [&str; 1] = ["SC2164"];

pub(crate) fn is_file(path: &str) -> bool {
    github::File::of(path).is_some()
}

/// Rules that do not hold in any step.
pub(crate) fn without(map: &ShellCheckCodeMap) -> RuleSet {
    lint::rules_named(&WITHOUT, map)
}

pub(crate) fn is_without(code: &str) -> bool {
    WITHOUT.contains(&code)
}

/// State that is shared by the scripts of a file.
pub(crate) struct Workflow<'a> {
    pub(crate) path: &'a Path,
    pub(crate) config: &'a Config,
    pub(crate) selection: &'a Selection,
    pub(crate) map: &'a ShellCheckCodeMap,
}

impl Workflow<'_> {
    /// Nothing is said of a text that is no YAML: the plugin for YAML does.
    pub(crate) fn report(&self, text: &str) -> Report {
        let path = self.path.to_string_lossy();
        let Some(document) = document(text) else {
            return Report::left_out(&path, "its YAML cannot be read");
        };
        let steps = steps::all(&path, text, &document);
        let (mut found, mut unread) = (Vec::new(), Vec::new());
        for it in &steps {
            match self.step(it, text, &document) {
                Ok(of_step) => found.extend(of_step),
                Err(why) => unread.push(why),
            }
        }
        found.sort_by(|a, b| (range(a), &a.code).cmp(&(range(b), &b.code)));
        // A step that several jobs have by an alias is looked at in each.
        found.dedup_by(|a, b| a.code == b.code && range(a) == range(b) && a.message == b.message);
        let report = Report::new(found);
        let Some(first) = unread.first() else { return report };
        report.in_part(&path, &format!("{} of {} scripts cannot be read: {first}", unread.len(), steps.len()))
    }

    /// Findings in a step. The error is why its script cannot be read.
    fn step(&self, step: &Step, text: &str, document: &Document<'_>) -> Result<Vec<Diagnostic>, String> {
        let node = document.node(document.resolved(step.run));
        let Kind::Scalar { text: script, style, .. } = &node.kind else { return Ok(Vec::new()) };
        let source = Source::of(text, node.range.clone(), *style, script);
        let line = || text[..source.first_line().start].matches('\n').count() + 1;
        let found = self.script(script, step).map_err(|why| format!("line {}: {why}", line()))?;
        Ok(found.into_iter().map(|it| self.placed(it, &source)).collect())
    }

    /// Findings that do not depend on what is read in place of the expressions, by places in the script.
    fn script(&self, script: &str, step: &Step) -> Result<Vec<Diagnostic>, Cow<'static, str>> {
        let words = expressions::replaced(script, Filler::Word);
        let mut found = self.check(&words, step)?;
        if !found.is_empty() && words != script {
            let others = self.check(&expressions::replaced(script, Filler::Variable), step)?;
            found.retain(|it| others.iter().any(|other| other.code == it.code && range(other) == range(it)));
        }
        Ok(found)
    }

    fn check(&self, text: &str, step: &Step) -> Result<Vec<Diagnostic>, Cow<'static, str>> {
        let asking: &[&str] = if step.ends_at_errors { &WITHOUT_ASKING } else { &[] };
        let without = [&WITHOUT, asking].concat();
        let check = Check {
            text,
            path: self.path,
            config: self.config,
            selection: self.selection,
            map: self.map,
            shell: step.shell,
            without: &without,
            is_file: false,
        };
        Ok(check.run()?.diagnostics)
    }

    fn placed(&self, it: Diagnostic, source: &Source) -> Diagnostic {
        let span = source.range(it.span.start as usize..it.span.end as usize);
        Diagnostic { span: span.into(), fixes: Vec::new(), related: Vec::new(), ..it }
    }
}

fn range(it: &Diagnostic) -> (u32, u32) {
    (it.span.start, it.span.end)
}
