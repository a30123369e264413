//! `--fix`, `--add-suppressions` and `--diff`: what is changed, and where that goes.

use std::sync::Arc;

use bytes::Bytes;
use check_engine::{Incomplete, Report, pipeline::Fixed};
use lint::{Applicability, counted, printable};
use overlay::View as _;
use workspaces::{CheckedView, FixRequest, FixedFile, FixedFiles};

use super::{run::Run, show::report_incomplete, staged, subject::Subject, write};
use crate::{CliError, Exit, cli::Session};

/// Fixes
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct FixArgs {
    /// Make the fixes that keep what the code means: those of findings with the mark `[*]`
    #[arg(long, help_heading = "Fixes")]
    pub(super) fix: bool,

    /// With `--fix` or `--diff`: fixes that may change what the code means, too
    #[arg(long, help_heading = "Fixes")]
    pub(super) unsafe_fixes: bool,

    /// Print the changes that `--fix` would make as a patch, and write nothing
    #[arg(long, help_heading = "Fixes", conflicts_with_all = ["statistics", "baseline_update", "baseline_prune"])]
    pub(super) diff: bool,

    /// Write comments that suppress what is found, such as `# broker: ignore[python/F401] REASON`
    ///
    /// After the code of a line, or on a line of its own where that would be too long. With `--diff`, they are only shown.
    /// Syntax errors are not suppressed, and neither is what is found where no comment can be, such as inside of a string.
    #[arg(
        long,
        value_name = "REASON",
        value_parser = reason,
        help_heading = "Fixes",
        conflicts_with_all = ["fix", "unsafe_fixes", "statistics", "baseline_update", "baseline_prune"]
    )]
    pub(super) add_suppressions: Option<String>,
}

/// Parses the reason that is written behind a suppression.
fn reason(text: &str) -> Result<String, String> {
    let text = text.trim();
    if !text.contains(char::is_alphanumeric) {
        return Err("a suppression must say why".to_owned());
    }
    match text.find(char::is_control) {
        Some(_) => Err("a reason is one line of text".to_owned()),
        None => Ok(text.to_owned()),
    }
}

impl FixArgs {
    pub(super) fn is_asked(&self) -> bool {
        self.fix || self.diff || self.add_suppressions.is_some()
    }

    /// Says how many fixes there are, or how many findings are suppressed.
    pub(super) fn counted(&self, count: usize) -> String {
        match self.add_suppressions {
            None => format!("{} would be made", counted(count, "fix")),
            Some(_) if self.diff => format!("{} would be suppressed", counted(count, "finding")),
            Some(_) => format!("{} suppressed", counted(count, "finding")),
        }
    }

    pub(super) fn check(&self) -> Result<(), CliError> {
        if self.unsafe_fixes && !self.is_asked() {
            let error = CliError::usage("--unsafe-fixes says which fixes to make, not to make any");
            return Err(error.hint("give `--fix` as well, or `--diff`"));
        }
        Ok(())
    }

    pub(super) fn least(&self) -> Applicability {
        if self.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe }
    }
}

/// Fixes that were made, or would be.
pub(super) struct Fixes {
    pub(super) count: usize,
    patch: String,
    incomplete: Vec<Incomplete>,
    files: Vec<FixedFile>,
    /// Fixes in a view, which are still to be written.
    view: Option<Fixed>,
    /// The check of the view that they are made of.
    pub(super) checked: Option<CheckedView>,
}

impl Run<'_> {
    /// Has the fixes made. Those in a view are still to be written.
    pub(super) fn fix(&self, session: &Session) -> Result<Fixes, CliError> {
        let Self { args, subject, question, .. } = self;
        let check = args.baseline.without_update(question.request.clone());
        let is_of_text = question.stdin.is_some() && matches!(subject, Subject::Branch(_));
        let request = FixRequest {
            suppress: args.fixes.add_suppressions.clone(),
            least: args.fixes.least(),
            dry_run: args.fixes.diff || is_of_text,
            with_contents: is_of_text,
            ..FixRequest::of(check)
        };
        let made = subject.wait(subject.daemon().fix_files(request))?;
        let FixedFiles { count, patch, incomplete, files, notes, local, .. } = made;
        let local = local.and_then(Arc::into_inner);
        let (checked, view) = local.map(|it| (it.checked, it.fixed)).unzip();
        self.warn_of_unknown(checked.as_ref().map_or(&[], |it| &it.unknown_rules), session);
        let notes: Vec<_> = match &view {
            Some(fixed) => {
                fixed.notes.iter().map(|it| it.text(|path| subject.workspace().display(path))).collect()
            }
            None => notes.into_iter().map(|it| it.reason).collect(),
        };
        notes.iter().for_each(|it| session.messages.warning(&printable(it)));
        Ok(Fixes { count, patch, incomplete, files, view, checked })
    }

    /// Shows what would be fixed, and nothing else.
    pub(super) fn show_patch(&self, fixes: &Fixes, session: &mut Session) -> Result<Exit, CliError> {
        let args = self.args;
        session.print_text(&fixes.patch)?;
        let mut report = Report::default();
        report.add_incomplete(fixes.incomplete.iter().chain(&self.question.missing).cloned());
        report_incomplete(args, session, self.subject.workspace(), &report);
        if !args.quiet {
            session.messages.line(&format!("{}.", args.fixes.counted(fixes.count)));
        }
        Ok(match (report.is_complete() || args.allow_incomplete, fixes.patch.is_empty() || args.exit_zero) {
            (false, _) => Exit::Abnormal,
            (true, false) => Exit::Findings,
            (true, true) => Exit::Clean,
        })
    }

    /// Has what follows see the fixes. Those of a branch are in it, but for those of the text on standard input.
    pub(super) fn show_fixed(&mut self, fixes: &Fixes, session: &Session) {
        let Self { args, subject, question, .. } = self;
        if let (Subject::View(view), Some(fixed)) = (subject, &fixes.view)
            && fixes.count > 0
        {
            view.show_fixed(args, fixed, session);
        }
        for text in &mut question.request.options.texts {
            if let Some(file) = fixes.files.iter().find(|it| it.path.as_str() == text.path) {
                text.content = file.content.clone();
            }
        }
    }

    /// Returns the number of fixes for the report. Suppressions are reported apart from them.
    pub(super) fn report_fixed(&self, fixes: &Fixes, session: &Session) -> usize {
        if self.args.fixes.add_suppressions.is_none() {
            return fixes.count;
        }
        if fixes.count > 0 && !self.args.quiet {
            session.messages.line(&format!("{}.", self.args.fixes.counted(fixes.count)));
        }
        0
    }

    /// Keeps the fixes: on the disk, in the index as well, or on standard output if that is where the text came from. A branch has them.
    pub(super) fn keep_fixed(&self, fixes: &Fixes, session: &mut Session) -> Result<(), CliError> {
        if fixes.view.is_some() && session.process_context.cancel.is_cancelled() {
            return Err(CliError::files("interrupted: nothing was fixed"));
        }
        if let Some(text) = self.fixed_text(fixes)? {
            return print_fixed(session, &text);
        }
        let (workspace, messages) = (self.subject.workspace(), &session.messages);
        match &fixes.view {
            Some(fixed) if self.args.changed.staged => staged::keep(fixed, workspace, messages),
            Some(fixed) => write::fixes(&fixed.branch, workspace.root(), messages),
            None => Ok(()),
        }
    }

    /// The text that was on standard input, as it is now.
    fn fixed_text(&self, fixes: &Fixes) -> Result<Option<Bytes>, CliError> {
        let Some(path) = &self.question.stdin else { return Ok(None) };
        let Some(fixed) = &fixes.view else {
            let mut texts = self.question.request.options.texts.iter();
            return Ok(texts.find(|it| it.path == path.as_str()).map(|it| it.content.clone()));
        };
        let text = fixed.branch.snapshot().open(path);
        text.map(Some).map_err(|error| CliError::files(format!("cannot read what was fixed: {error}")))
    }
}

/// Prints what the text on standard input became; what is found in it does not belong to it.
fn print_fixed(session: &mut Session, text: &[u8]) -> Result<(), CliError> {
    session.process_context.stdout.write_all(text)?;
    session.process_context.stdout.flush()?;
    session.process_context.stdout = session.messages.writer();
    Ok(())
}
