//! `--fix` and `--diff` of a branch: the daemon makes the fixes, as one edit of the branch.

use checker::Report;
use lint::{Applicability, counted, printable};
use workspaces::{CheckRequest, FixRequest, FixedFiles, TargetId};

use crate::{
    CliError, Exit,
    cli::{
        Session,
        check::{Args, exit_of_patch, report_incomplete},
    },
    client::Opened,
    console::Messages,
};

/// Makes the fixes in what `check` is about, or with `--diff` only says what they would be.
pub(super) fn fix(
    args: &Args,
    open: &Opened,
    branch: &str,
    check: &CheckRequest,
) -> Result<FixedFiles, CliError> {
    let least = if args.fixes.unsafe_fixes { Applicability::Unsafe } else { Applicability::Safe };
    let request = FixRequest {
        kinds: check.kinds.clone(),
        paths: check.paths.clone(),
        only_paths: check.only_paths.clone(),
        select: check.select.clone(),
        ignore: check.ignore.clone(),
        least,
        dry_run: args.fixes.diff,
        class: check.class,
        ..FixRequest::of(TargetId::Branch(branch.to_owned()))
    };
    Ok(open.client.wait(open.client.daemon().fix_files(request))?)
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
        session.messages.line(&format!("{} would be made.", counted(fixed.count, "fix")));
    }
    Ok(exit_of_patch(args, &report, &fixed.patch))
}
