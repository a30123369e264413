//! Output of a run: the report in its formats, the warnings about it, and the exit code.

use check_engine::{Report, not_asked};
use config::root::WorkspaceRoot;
use lint::{Severity, printable};
use overlay::{Revision, WorkspacePath};
use render::{Page, explain_incomplete};
use workspaces::ListedFiles;

use super::{Args, FailLevel, branch::not_found, outputs, round::Round, run::Run, subject::Subject};
use crate::{CliError, Exit, cli::Session, console::Messages};

impl Run<'_> {
    /// Shows the report and draws the conclusion.
    pub(super) fn show(&mut self, round: Round, session: &mut Session) -> Result<Exit, CliError> {
        let revision = round.revision;
        let report = self.report(round);
        let written = self.write(&report, revision, session);
        let (args, workspace) = (self.args, self.subject.workspace());
        report_incomplete(args, session, workspace, &report);
        report_excluded(session, workspace, &report);
        if !args.quiet {
            self.warn(&report, session);
        }
        Ok(if written { exit(args, &report) } else { Exit::Abnormal })
    }

    /// The report, with what the daemon does not know.
    fn report(&mut self, round: Round) -> Report {
        let question = &mut self.question;
        let mut report = round.into_report(self.args.changed.new_only);
        report.add_incomplete(question.missing.drain(..));
        report.excluded.append(&mut question.uncompared);
        report.excluded.sort();
        report.passed_over += question.unnamed;
        report
    }

    /// Writes the report to each place; returns whether all could be written.
    fn write(&self, report: &Report, revision: Revision, session: &mut Session) -> bool {
        let Self { args, outputs, subject, question } = self;
        let texts = subject.texts(revision, &question.request.options.texts);
        let target = &question.request.target;
        let rules = |linter: &str| subject.rules(target, linter).unwrap_or_default();
        let (color, is_terminal) = (session.color, session.process_context.is_terminal);
        outputs::write(outputs, session, |output, out| {
            let page = Page {
                report,
                view: &*texts,
                workspace: subject.workspace(),
                rules: &rules,
                color: color && output.file.is_none(),
                quiet: args.quiet,
                shown: args.shown(is_terminal && output.file.is_none()),
            };
            match args.statistics {
                true => render::statistics(output.format, &page, out),
                false => render::render(output.format, &page, out),
            }
        })
    }

    /// Warns of results that are no error, and maybe not what was meant.
    fn warn(&self, report: &Report, session: &Session) {
        let (messages, workspace) = (&session.messages, self.subject.workspace());
        report_parts(messages, workspace, report);
        if let Subject::Branch(branch) = &self.subject {
            not_found(branch, report).iter().for_each(|it| messages.warning(it));
        }
        warn_of_unchecked(messages, workspace, self.question.those, report);
        report_unavailable(messages, report);
    }

    pub(super) fn show_listed(&self, listed: &ListedFiles, session: &mut Session) -> Result<Exit, CliError> {
        let workspace = self.subject.workspace();
        let written = outputs::write(self.outputs, session, |output, out| {
            render::show_files(output.format, workspace, &listed.files, out)
        });
        let mut report = Report::default();
        report.add_incomplete(listed.incomplete.iter().cloned());
        report_incomplete(self.args, session, workspace, &report);
        Ok(if written { exit(self.args, &report) } else { Exit::Abnormal })
    }
}

pub(super) fn report_incomplete(args: &Args, session: &Session, workspace: &WorkspaceRoot, report: &Report) {
    for sentence in explain_incomplete(workspace, &report.incomplete) {
        if !args.allow_incomplete {
            session.messages.error(&CliError::plugin(sentence));
        } else if !args.quiet {
            session.messages.warning(&sentence);
        }
    }
}

/// Lists the linters that the project's files ask for and that were not asked: a line for each reason.
fn report_unavailable(messages: &Messages, report: &Report) {
    for sentence in not_asked(&report.unavailable) {
        messages.line(&printable(&format!("not asked: {sentence}")));
    }
}

/// Warns of files of which linters do not read a part: once for each linter.
fn report_parts(messages: &Messages, workspace: &WorkspaceRoot, report: &Report) {
    for sentence in render::explain_parts(workspace, report) {
        messages.warning(&sentence);
    }
}

/// Lists with `--verbose` the files that linters leave out for their content, whole or in part, and the reasons.
fn report_excluded(session: &Session, workspace: &WorkspaceRoot, report: &Report) {
    if !session.verbose {
        return;
    }
    for it in &report.excluded {
        let what = if it.in_part { "read in part" } else { "left out" };
        let text = format!("{}: {} is {what}: {}", it.linter, workspace.display(&it.path), it.reason);
        session.messages.line(&printable(&text));
    }
}

/// The files that were asked about.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Those {
    pub(super) are_of_changes: bool,
    /// Whether there are none, since nothing changed.
    pub(super) is_unchanged: bool,
    /// Whether `--exclude` leaves some out.
    pub(super) has_excludes: bool,
}

/// Warns of paths without a checked file, which is no error, and maybe not what was meant.
pub(super) fn warn_of_unchecked(
    messages: &Messages,
    workspace: &WorkspaceRoot,
    those: Those,
    report: &Report,
) {
    let by_configuration = match report.skipped.too_large {
        0 => "the configuration leaves it out",
        _ => "the configuration leaves it out, or it is larger than `max-file-size`",
    };
    for path in &report.left_out {
        let shown = workspace.display(path);
        let why = render::why_left_out(report, path).unwrap_or_else(|| by_configuration.to_owned());
        messages.warning(&printable(&format!("no plugin checked any file under `{shown}`: {why}")));
    }
    let has_gone = report.gone.as_ref().is_some_and(|it| !it.is_empty());
    if report.files > 0 || has_gone || !report.is_complete() || !report.left_out.is_empty() {
        return;
    }
    let text = match (those, render::why_left_out(report, &WorkspacePath::root())) {
        (Those { is_unchanged: true, .. }, _) => "nothing to check: no file changed".to_owned(),
        (_, Some(why)) => format!("no plugin checked any file: {why}"),
        (Those { are_of_changes: true, .. }, None) => {
            "no plugin is interested in any file that changed".to_owned()
        }
        // Files without a plugin would be among those that are left out.
        (Those { has_excludes: true, .. }, None) => "all files were excluded".to_owned(),
        (_, None) => "no plugin is interested in any of these files".to_owned(),
    };
    messages.warning(&printable(&text));
}

pub(super) fn exit(args: &Args, report: &Report) -> Exit {
    let is_answered = report.is_complete() || args.allow_incomplete;
    let count = |least: Severity| report.findings.iter().filter(|it| it.severity >= least).count();
    let is_fine = match (args.max_warnings, args.fail_level) {
        _ if args.exit_zero => true,
        (Some(most), _) => count(Severity::Error) == 0 && count(Severity::Warning) <= most,
        (None, least) => count(least.map_or(Severity::Hint, FailLevel::severity)) == 0,
    };
    match (is_answered, is_fine) {
        (false, _) => Exit::Abnormal,
        (true, false) => Exit::Findings,
        (true, true) => Exit::Clean,
    }
}

impl FailLevel {
    fn severity(self) -> Severity {
        match self {
            Self::Hint => Severity::Hint,
            Self::Info => Severity::Info,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
        }
    }
}
