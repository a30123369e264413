//! Asking the plugin.

use std::{cell::Cell, sync::Arc, time::Instant};

use bytes::Bytes;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use lint::{Cancel, Completeness, Diagnostic, Job, LineTable, Outcome, Unit};
use overlay::{Memory, View, WorkspacePath};
use plugin_host::{Configured, Plugin, Settings, Usage};

use crate::{CHECK_TIMEOUT, Fixtures, SHORT_TIMEOUT};

/// Path at which a guest sees the fixtures: not `/`, since no workspace is there.
const ROOT: &str = "/workspace";

/// A plugin and the fixtures that it is tried on.
pub(crate) struct Bench<'p> {
    pub(crate) plugin: &'p Plugin,
    pub(crate) fixtures: &'p Fixtures,
    pub(crate) linter: Configured,
    globs: Gitignore,
    cancel: Cancel,
    /// Whether a file took longer than it may.
    ran_out: Cell<bool>,
}

/// A file and its text.
pub(crate) type File = (WorkspacePath, Bytes);

impl<'p> Bench<'p> {
    pub(crate) fn new(plugin: &'p Plugin, fixtures: &'p Fixtures, cancel: &Cancel) -> Self {
        let settings = &fixtures.settings;
        let linter = plugin.configured(Settings {
            root: ROOT.to_owned(),
            select: settings.select.clone(),
            ignore: settings.ignore.clone(),
            environment: settings.environment.clone(),
            ..Settings::default()
        });
        let (globs, cancel) = (matcher(&plugin.manifest().globs), cancel.clone());
        Self { plugin, fixtures, linter, globs, cancel, ran_out: Cell::new(false) }
    }

    /// Whether further questions are of no use: a file took longer than it may, or the answer is not wanted.
    pub(crate) fn is_over(&self) -> bool {
        self.ran_out.get() || self.cancel.is_cancelled()
    }

    /// Selects the files that the plugin wants to see.
    pub(crate) fn wanted<'f>(&self, files: &'f [File]) -> impl Iterator<Item = &'f File> {
        let interpreters = &self.plugin.manifest().interpreters;
        let runs = |path: &WorkspacePath, text: &[u8]| {
            lint::interpreter(path, text).is_some_and(|it| interpreters.iter().any(|own| own == it))
        };
        let is_wanted = move |(path, text): &&'f File| {
            self.globs.matched(path.as_str(), false).is_ignore() || runs(path, text)
        };
        files.iter().filter(is_wanted)
    }

    /// Whether the file configures the plugin, so that an error in it may keep the plugin from its work.
    pub(crate) fn is_configuration(&self, path: &WorkspacePath) -> bool {
        let manifest = self.plugin.manifest();
        manifest.config_files.iter().any(|it| path.file_name() == Some(it))
            || manifest.needs.iter().any(|it| path.starts_with(it))
    }

    /// Returns the outcomes of one instance for the files, asked one after the other.
    pub(crate) fn ask(&self, view: Arc<dyn View>, paths: &[WorkspacePath]) -> Vec<Outcome> {
        self.measure(view, paths).0
    }

    /// Returns the outcomes like `ask`, and their cost.
    pub(crate) fn measure(&self, view: Arc<dyn View>, paths: &[WorkspacePath]) -> (Vec<Outcome>, Cost) {
        let units = paths.iter().map(|it| Unit { path: it.clone(), named: WorkspacePath::root() }).collect();
        let timeout = if self.ran_out.get() { SHORT_TIMEOUT } else { CHECK_TIMEOUT };
        let job = Job { view, units, cancel: self.cancel.clone(), timeout, is_awaited: false };
        let mut outcomes: Vec<Option<Outcome>> = vec![None; paths.len()];
        let start = Instant::now();
        let usage = self.linter.measured(&job, &mut |index, outcome| outcomes[index] = Some(outcome));
        // Many files together may take longer than one file may.
        let failed = outcomes.iter().flatten().any(|it| matches!(it.completeness, Completeness::Failed(_)));
        if failed && start.elapsed() > CHECK_TIMEOUT {
            self.ran_out.set(true);
        }
        let cost = Cost { microseconds: start.elapsed().as_micros(), usage };
        let missing = || Outcome::without_findings(Completeness::Failed("there was no answer".to_owned()));
        (outcomes.into_iter().map(|it| it.unwrap_or_else(missing)).collect(), cost)
    }

    /// Returns the outcome for a text in the place of a file, where all else is as in `view`.
    pub(crate) fn ask_of(&self, view: &Memory, path: &WorkspacePath, text: Bytes) -> Outcome {
        let mut view = view.clone();
        view.insert_file(path, text, false);
        let mut outcomes = self.ask(Arc::new(view), std::slice::from_ref(path));
        outcomes.swap_remove(0)
    }
}

pub(crate) struct Cost {
    pub(crate) microseconds: u128,
    pub(crate) usage: Usage,
}

fn matcher(globs: &[String]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for glob in globs {
        let _never_matches = builder.add_line(None, glob);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// An outcome as a fixture has it: one line for each finding, and one for an answer that is not whole.
pub(crate) fn told(outcome: &Outcome, text: &[u8]) -> String {
    let mut lines: Vec<String> = outcome.diagnostics.iter().map(|it| line(it, outcome, text)).collect();
    match &outcome.completeness {
        Completeness::Complete => lines.extend(outcome.left_out.iter().map(|why| format!("in part: {why}"))),
        Completeness::Excluded => {
            let why = outcome.left_out.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            lines.push(format!("excluded{why}"));
        }
        Completeness::Partial(why) => lines.push(format!("partial: {why}")),
        Completeness::Pending(why) => lines.push(format!("pending: {why}")),
        Completeness::Failed(why) => lines.push(format!("failed: {why}")),
    }
    lines.iter().map(|it| format!("{it}\n")).collect()
}

/// Lines and columns from 1, columns in characters.
fn line(it: &Diagnostic, outcome: &Outcome, text: &[u8]) -> String {
    let cell = it.cell.and_then(|cell| outcome.cells.get(cell as usize));
    let table = LineTable::new(cell.map_or(text, |it| it.as_bytes()));
    let (start, end) = (table.scalar(it.span.start), table.scalar(it.span.end));
    let cell = it.cell.map_or_else(String::new, |it| format!("cell {}, ", it + 1));
    let severity = it.severity.name();
    let fix = if it.fixes.is_empty() { "" } else { " [fix]" };
    let message = it.message.replace('\n', "\\n");
    format!(
        "{cell}{}:{}-{}:{} {severity} {}: {message}{fix}",
        start.line, start.column, end.line, end.column, it.code
    )
}
