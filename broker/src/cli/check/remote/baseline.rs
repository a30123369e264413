//! `--baseline-update` and `--baseline-prune` of a branch: the daemon makes the list, which goes to where it was.

use workspaces::{BaselineRequest, CheckRequest, EditRequest, Expected, FileEdit};

use crate::{
    CliError,
    cli::{
        Session,
        check::{Args, baseline},
    },
    client::Opened,
};

/// Writes the list anew, and has `check` use it.
pub(super) fn update(
    args: &Args,
    open: &Opened,
    branch: &str,
    check: &mut CheckRequest,
    session: &Session,
) -> Result<(), CliError> {
    let request = BaselineRequest { check: check.clone(), prune: args.baseline.baseline_prune };
    let updated = open.client.wait(open.client.daemon().update_baseline(request))?;
    let shown = match (&updated.path, &args.baseline.baseline) {
        (Some(path), _) => {
            let (path, expected) = (path.to_string(), Expected::Anything);
            let edit = FileEdit::Write { path: path.clone(), content: updated.content, expected };
            open.client.wait(open.client.daemon().edit_files(EditRequest::of(branch, vec![edit])))?;
            open.display(&path)
        }
        (None, Some(file)) => {
            let shown = file.display().to_string();
            baseline::write(&session.cwd()?.join(file), &shown, &updated.content)?;
            if let Some(known) = &mut check.options.baseline {
                known.content = updated.content;
            }
            shown
        }
        (None, None) => return Err(CliError::files("the daemon names no file for the baseline")),
    };
    if !args.quiet {
        session.messages.line(&baseline::size(&shown, updated.findings));
    }
    Ok(())
}
