//! `--baseline`: which findings are known, and how the list of them is kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use checker::{baseline::Baseline, pipeline::Reach};
use config::folders;
use lint::counted;
use overlay::{WorkspacePath, io_reason};
use workspaces::FileText;

use super::{
    Args,
    input::Input,
    inspect::{Inspected, configured_baseline},
};
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

/// The list, and its place.
pub(super) struct Kept {
    /// Path of the baseline for messages.
    shown: String,
    file: PathBuf,
    known: Arc<Baseline>,
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
        let name = name(file)?;
        self.parse(folders::read(&cwd.join(file)), |text| Ok(Baseline::parse(&name, text)?))
    }

    /// Loads the known findings; `None` if no baseline is named.
    pub(super) fn load(
        &self,
        args: &Args,
        input: &Input,
        session: &Session,
    ) -> Result<Option<Kept>, CliError> {
        if let Some(file) = &self.baseline {
            let cwd = session.cwd()?;
            let (shown, known) = (file.display().to_string(), Arc::new(self.read(file, &cwd)?));
            return Ok(Some(Kept { shown, file: cwd.join(file), known }));
        }
        let Some(named) = configured_baseline(args, &*input.view)? else {
            if self.is_written() {
                let error = CliError::usage("no baseline is named");
                return Err(error
                    .hint("give `--baseline FILE`, or set `file` in the table `baseline` of broker.toml"));
            }
            return Ok(None);
        };
        let text = input.view.open(&named).map(|it| it.to_vec());
        let known = match text {
            Err(_) if !self.baseline_update => Baseline::load(&*input.view, &named)?,
            text => self.parse(text, |text| Ok(Baseline::parse(&named, text)?))?,
        };
        let file = input.workspace.root().join(named.as_str());
        Ok(Some(Kept { shown: input.workspace.display(&named), file, known: Arc::new(known) }))
    }

    /// Parses a baseline. A file that is about to be written may be missing.
    fn parse(
        &self,
        text: io::Result<Vec<u8>>,
        parse: impl FnOnce(&[u8]) -> Result<Baseline, CliError>,
    ) -> Result<Baseline, CliError> {
        match text {
            Ok(text) => parse(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.baseline_update => {
                Ok(Baseline::default())
            }
            Err(error) => {
                let file = self.baseline.as_deref().unwrap_or(Path::new("the baseline"));
                let error = format!("cannot read {}: {}", file.display(), io_reason(&error));
                Err(CliError::files(error).hint("`--baseline-update` makes it"))
            }
        }
    }

    /// Returns the known findings that the report leaves out.
    pub(super) fn left_out<'k>(&self, kept: Option<&'k Kept>) -> Option<&'k Arc<Baseline>> {
        kept.map(|it| &it.known).filter(|_| !self.baseline_update)
    }

    /// Writes the list anew if that was asked for, and tells of what is stale if not.
    pub(super) fn keep(
        &self,
        kept: Option<Kept>,
        inspected: &mut Inspected,
        input: &Input,
        reach: Reach,
        session: &Session,
        quiet: bool,
    ) -> Result<(), CliError> {
        let Some(mut kept) = kept else { return Ok(()) };
        let mut known = Baseline::clone(&kept.known);
        if self.baseline_update {
            inspected.collected.make_known(&mut known, &*input.view, reach);
        } else if self.baseline_prune {
            known.prune(&inspected.stale);
        } else {
            let count: u64 = inspected.stale.iter().map(|(_, count)| u64::from(*count)).sum();
            if count > 0 && !quiet {
                session.messages.warning(&kept.stale(count));
            }
            return Ok(());
        }
        let before = std::mem::replace(&mut kept.known, Arc::new(known));
        if kept.known != before || !kept.file.exists() {
            write(&kept.file, &kept.shown, kept.known.to_json().as_bytes())?;
        }
        if !quiet {
            session.messages.line(&size(&kept.shown, kept.known.count() as u64));
        }
        Ok(())
    }
}

impl Kept {
    fn stale(&self, count: u64) -> String {
        let entries = counted(count, "finding");
        format!(
            "{} lists {entries} that {} not there any more; `--baseline-prune` takes {} out",
            self.shown,
            if count == 1 { "is" } else { "are" },
            if count == 1 { "it" } else { "them" }
        )
    }
}

/// Writes a baseline whole or not at all: a list that is cut off would be of no use.
#[expect(clippy::disallowed_methods, reason = "the baseline is asked for")]
pub(super) fn write(file: &Path, shown: &str, text: &[u8]) -> Result<(), CliError> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = file.with_file_name(name);
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, file));
    written.map_err(|error| {
        // A rest of it does no harm.
        let _ = fs::remove_file(&new);
        CliError::files(format!("cannot write {shown}: {}", io_reason(&error)))
    })
}

/// Describes the size of a baseline.
pub(super) fn size(shown: &str, count: u64) -> String {
    format!("{shown}: {}", counted(count, "known finding"))
}

/// Returns the name of the file, for messages about errors in it.
fn name(file: &Path) -> Result<WorkspacePath, CliError> {
    let name = file.file_name().and_then(|it| it.to_str());
    let name = name.ok_or_else(|| CliError::usage(format!("{} names no file", file.display())))?;
    Ok(WorkspacePath::root().child(name))
}
