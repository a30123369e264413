//! `--fix` and `--diff` of a branch: the daemon makes the fixes, as one edit of the branch.

use broker_proto::v1 as pb;
use checker::Report;
use lint::{counted, printable};

use super::report::incomplete;
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
    check: &pb::CheckRequest,
) -> Result<pb::FixFilesResponse, CliError> {
    let applicability =
        if args.fixes.unsafe_fixes { pb::Applicability::Unsafe } else { pb::Applicability::Safe };
    let request = pb::FixFilesRequest {
        branch_id: branch.to_owned(),
        kinds: check.kinds.clone(),
        paths: check.paths.clone(),
        only_paths: check.only_paths.clone(),
        select: check.select.clone(),
        ignore: check.ignore.clone(),
        applicability: applicability.into(),
        dry_run: args.fixes.diff,
        if_revision: None,
        request_id: String::new(),
        priority: check.priority,
        ..pb::FixFilesRequest::default()
    };
    Ok(open.client.call(open.client.checks().fix_files(request))?)
}

/// Warns of what was not fixed.
pub(super) fn report(fixed: &pb::FixFilesResponse, messages: &Messages) {
    fixed.unfixed.iter().for_each(|it| messages.warning(&printable(&it.reason)));
}

/// Shows what would be fixed, and nothing else.
pub(super) fn show(
    args: &Args,
    open: &Opened,
    fixed: &pb::FixFilesResponse,
    session: &mut Session,
) -> Result<Exit, CliError> {
    session.print_text(&fixed.patch)?;
    let mut report = Report::default();
    report.add_incomplete(fixed.incomplete.iter().map(incomplete));
    report_incomplete(args, session, &open.workspace, &report);
    if !args.quiet {
        session.messages.line(&format!("{} would be made.", counted(fixed.fixes as usize, "fix")));
    }
    Ok(exit_of_patch(args, &report, &fixed.patch))
}
