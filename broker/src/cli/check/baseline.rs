//! `--baseline`: which findings are known, and how the list of them is kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use check_engine::baseline::Baseline;
use config::{Configs, folders};
use lint::{counted, printable};
use overlay::{WorkspacePath, io_reason};
use workspaces::{CheckRequest, FileText, StaleBaseline, UpdatedBaseline};

use super::{Args, subject::Subject};
use crate::{CliError, cli::Session};

/// Findings that are known
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct BaselineArgs {
    /// Leave out the findings that this file lists as known, in place of the one that `broker.toml` names
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    pub(super) baseline: Option<PathBuf>,

    /// Make what is found now what is known, and tell nothing of it
    #[arg(
        long,
        help_heading = "Baseline",
        conflicts_with_all = ["select", "ignore", "stdin_filename", "show_files", "baseline_prune"]
    )]
    pub(super) baseline_update: bool,

    /// Take out of the file what is not found any more
    #[arg(
        long,
        help_heading = "Baseline",
        conflicts_with_all = ["select", "ignore", "stdin_filename", "show_files"]
    )]
    pub(super) baseline_prune: bool,
}

impl BaselineArgs {
    /// Whether the baseline is written anew.
    pub(super) fn is_written(&self) -> bool {
        self.baseline_update || self.baseline_prune
    }

    /// The file that is named in place of the configured one: its name and text, which is empty if it is about to be made.
    pub(super) fn given(&self, cwd: &Path) -> Result<Option<FileText>, CliError> {
        let Some(file) = &self.baseline else { return Ok(None) };
        let path = name(file)?.to_string();
        Ok(Some(FileText { path, content: self.read(file, cwd)?.to_json().into() }))
    }

    fn read(&self, file: &Path, cwd: &Path) -> Result<Baseline, CliError> {
        match folders::read(&cwd.join(file)) {
            Ok(text) => Ok(Baseline::parse(&name(file)?, &text)?),
            // A file that is about to be written may be missing.
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.baseline_update => {
                Ok(Baseline::default())
            }
            Err(error) => {
                let error = format!("cannot read {}: {}", file.display(), io_reason(&error));
                Err(CliError::files(error).hint("`--baseline-update` makes it"))
            }
        }
    }

    /// The request with an empty baseline, if a new one is to have what is found.
    pub(super) fn without_update(&self, mut check: CheckRequest) -> CheckRequest {
        if self.baseline_update {
            let content = Baseline::default().to_json().into();
            check.options.baseline = Some(FileText { path: "baseline".to_owned(), content });
        }
        check
    }
}

/// Fails if a baseline of a view is to be written and none is named.
pub(super) fn expect_named(args: &Args, subject: &Subject<'_>) -> Result<(), CliError> {
    let Subject::View(view) = subject else { return Ok(()) };
    if !args.baseline.is_written() || args.baseline.baseline.is_some() {
        return Ok(());
    }
    let view = &*view.input.view;
    let configs = if args.isolated { Configs::isolated() } else { Configs::new(view) };
    match configs.workspace()?.baseline() {
        Some(_) => Ok(()),
        None => Err(CliError::usage("no baseline is named")
            .hint("give `--baseline FILE`, or set `file` in the table `baseline` of broker.toml")),
    }
}

/// Writes the list to where it was.
pub(super) fn keep(
    args: &Args,
    subject: &Subject<'_>,
    updated: &UpdatedBaseline,
    session: &Session,
) -> Result<(), CliError> {
    let shown = shown(args, subject, updated.path.as_ref());
    match (&updated.path, &args.baseline.baseline, subject) {
        (Some(path), _, Subject::Branch(branch)) => branch.write(path, updated.content.clone())?,
        (Some(path), _, Subject::View(view)) => {
            write(&view.input.workspace.root().join(path.as_str()), &shown, updated)?;
        }
        (None, Some(file), _) => write(&session.cwd()?.join(file), &shown, updated)?,
        (None, None, _) => return Err(CliError::files("the daemon names no file for the baseline")),
    }
    if !args.quiet {
        session.messages.line(&format!("{shown}: {}", counted(updated.findings, "known finding")));
    }
    Ok(())
}

/// Tells how many entries are stale.
pub(super) fn warn_of_stale(
    args: &Args,
    subject: &Subject<'_>,
    stale: Option<&StaleBaseline>,
    session: &Session,
) {
    let Some(StaleBaseline { path, findings }) = stale else { return };
    session.messages.warning(&format!(
        "{} lists {} that {} not there any more; `--baseline-prune` takes {} out",
        shown(args, subject, path.as_ref()),
        counted(*findings, "finding"),
        if *findings == 1 { "is" } else { "are" },
        if *findings == 1 { "it" } else { "them" }
    ));
}

/// Path of the baseline for messages: that of the configuration, or the one that was given.
fn shown(args: &Args, subject: &Subject<'_>, configured: Option<&WorkspacePath>) -> String {
    let given = || args.baseline.baseline.as_ref().map(|it| it.display().to_string());
    let path = configured.map(|it| printable(&subject.workspace().display(it)).into_owned());
    path.or_else(given).unwrap_or_default()
}

/// Writes a baseline whole or not at all, if it is another than before: a list that is cut off would be of no use.
#[expect(clippy::disallowed_methods, reason = "the baseline is asked for")]
fn write(file: &Path, shown: &str, updated: &UpdatedBaseline) -> Result<(), CliError> {
    if !updated.is_changed && file.exists() {
        return Ok(());
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = file.with_file_name(name);
    let written = fs::write(&new, &updated.content).and_then(|()| fs::rename(&new, file));
    written.map_err(|error| {
        // A rest of it does no harm.
        let _ = fs::remove_file(&new);
        CliError::files(format!("cannot write {shown}: {}", io_reason(&error)))
    })
}

/// Returns the name of the file, for messages about errors in it.
fn name(file: &Path) -> Result<WorkspacePath, CliError> {
    let name = file.file_name().and_then(|it| it.to_str());
    let name = name.ok_or_else(|| CliError::usage(format!("{} names no file", file.display())))?;
    Ok(WorkspacePath::root().child(name))
}
