//! `--fix` and `--diff` of a branch: the daemon makes the fixes, as one edit of the branch.

use checker::Report;
use lint::printable;
use overlay::WorkspacePath;
use workspaces::{CheckRequest, FixRequest, FixedFiles};

use crate::{
    CliError, Exit,
    cli::{
        Session,
        check::{Args, exit_of_patch, print_fixed, report_incomplete},
    },
    client::Opened,
    console::Messages,
};

/// Makes the fixes in what `check` is about, or with `--diff` only says what they would be.
pub(super) fn fix(args: &Args, open: &Opened, check: &CheckRequest) -> Result<FixedFiles, CliError> {
    let is_of_stdin = !check.options.texts.is_empty() && args.stdin_filename.is_some();
    let request = FixRequest {
        suppress: args.fixes.add_suppressions.clone(),
        least: args.fixes.least(),
        dry_run: args.fixes.diff || is_of_stdin,
        with_contents: is_of_stdin,
        ..FixRequest::of(check.clone())
    };
    Ok(open.client.wait(open.client.daemon().fix_files(request))?)
}

/// Prints what the text on standard input became, and has `check` be about that.
pub(super) fn print(
    fixed: &FixedFiles,
    path: &WorkspacePath,
    check: &mut CheckRequest,
    session: &mut Session,
) -> Result<(), CliError> {
    let text = check.options.texts.iter_mut().find(|it| it.path == path.as_str());
    let Some(text) = text else { return Ok(()) };
    if let Some(file) = fixed.files.iter().find(|it| it.path == *path) {
        text.content = file.content.clone();
    }
    print_fixed(session, &text.content)
}

/// Returns the number of fixes for the report. Suppressions are reported apart from them.
pub(super) fn count(args: &Args, fixed: Option<&FixedFiles>, session: &Session) -> usize {
    let count = fixed.map_or(0, |it| it.count);
    if args.fixes.add_suppressions.is_none() {
        return count;
    }
    if count > 0 && !args.quiet {
        session.messages.line(&format!("{}.", args.fixes.counted(count)));
    }
    0
}

/// Warns of what was not fixed.
pub(super) fn report(fixed: &FixedFiles, messages: &Messages) {
    fixed.notes.iter().for_each(|it| messages.warning(&printable(&it.reason)));
}

/// Shows what would be fixed, and nothing else.
pub(super) fn show(
    args: &Args,
    open: &Opened,
    fixed: &FixedFiles,
    session: &mut Session,
) -> Result<Exit, CliError> {
    session.print_text(&fixed.patch)?;
    let mut report = Report::default();
    report.add_incomplete(fixed.incomplete.iter().cloned());
    report_incomplete(args, session, &open.workspace, &report);
    if !args.quiet {
        session.messages.line(&format!("{}.", args.fixes.counted(fixed.count)));
    }
    Ok(exit_of_patch(args, &report, &fixed.patch))
}
