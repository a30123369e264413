//! Reading and editing the files of a branch.

use std::{
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use config::folders;
use overlay::{Revision, io_reason};
use workspaces::{EditRequest, Expected as ExpectedContent, FileEdit, Side};

use super::{Edited, Expected, Shape};
use crate::{CliError, cli::Session, client::Opened};

/// Print a file as the branch has it
#[derive(Debug, clap::Args)]
pub(super) struct Read {
    branch: String,

    path: PathBuf,

    /// As it was at this revision
    #[arg(long, value_name = "REVISION")]
    revision: Option<u64>,
}

/// Give a file of the branch a new content; it need not exist yet
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker branch write try-it src/app.py new.py            the content of another file
  echo 'x = 1' | broker branch write try-it src/app.py    what comes in")]
pub(super) struct Write {
    branch: String,

    path: PathBuf,

    /// Where the content is; `-` for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    content: PathBuf,

    /// Make the file one that may be executed
    #[arg(long)]
    executable: bool,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    shape: Shape,
}

/// Apply a patch to the branch: all of it as one revision, or nothing
///
/// Understands what `git diff` and `diff -u` print. The paths in it are relative to the workspace's root.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker branch patch try-it fix.patch
  git diff | broker branch patch try-it")]
pub(super) struct Patch {
    branch: String,

    /// Where the patch is; `-` for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    patch: PathBuf,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    shape: Shape,
}

/// Remove files, links and whole folders from the branch
#[derive(Debug, clap::Args)]
pub(super) struct Rm {
    branch: String,

    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    shape: Shape,
}

/// Give a file, link or folder of the branch another name
#[derive(Debug, clap::Args)]
pub(super) struct Mv {
    branch: String,

    from: PathBuf,

    to: PathBuf,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    shape: Shape,
}

impl Write {
    pub(super) fn input(&self, session: &mut Session) -> Result<Vec<u8>, CliError> {
        input(&self.content, session)
    }
}

impl Patch {
    pub(super) fn input(&self, session: &mut Session) -> Result<Vec<u8>, CliError> {
        input(&self.patch, session)
    }
}

/// The bytes of the file, or of standard input.
pub(super) fn input(file: &Path, session: &mut Session) -> Result<Vec<u8>, CliError> {
    let cannot = |what: &str, error| CliError::usage(format!("cannot read {what}: {}", io_reason(&error)));
    if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        let read = session.process_context.stdin.read_to_end(&mut bytes);
        read.map_err(|error| cannot("standard input", error))?;
        return Ok(bytes);
    }
    let cwd = session.process_context.cwd.as_ref().map(PathBuf::as_path).unwrap_or(Path::new("."));
    folders::read(&cwd.join(file)).map_err(|error| cannot(&file.display().to_string(), error))
}

pub(super) fn read(args: &Read, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let path = open.path(&args.path)?;
    let branch = open.branch(&args.branch)?;
    let side = args.revision.map_or(Side::Now, |it| Side::Revision(Revision(it)));
    let bytes = open.read(&branch.id, path.as_str(), side)?.bytes;
    if session.process_context.is_terminal {
        return session.print_text(&String::from_utf8_lossy(&bytes));
    }
    let out = &mut session.process_context.stdout;
    Ok(out.write_all(&bytes).and_then(|()| out.flush())?)
}

pub(super) fn write(
    args: &Write,
    content: Vec<u8>,
    open: &Opened,
    session: &mut Session,
) -> Result<(), CliError> {
    let path = open.path(&args.path)?.to_string();
    let (content, expected) = (content.into(), ExpectedContent::Anything);
    let mut edits = vec![FileEdit::Write { path: path.clone(), content, expected }];
    if args.executable {
        edits.push(FileEdit::SetExecutable { path, executable: true });
    }
    edit(&args.branch, edits, &args.expected, &args.shape, open, session)
}

pub(super) fn patch(
    args: &Patch,
    patch: Vec<u8>,
    open: &Opened,
    session: &mut Session,
) -> Result<(), CliError> {
    let patch = String::from_utf8(patch).map_err(|_| CliError::usage("the patch is not UTF-8"))?;
    let edits = vec![FileEdit::Patch(patch)];
    edit(&args.branch, edits, &args.expected, &args.shape, open, session)
}

pub(super) fn rm(args: &Rm, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let remove = |path: &PathBuf| Ok(FileEdit::Remove { path: open.path(path)?.to_string() });
    let edits = args.paths.iter().map(remove).collect::<Result<_, CliError>>()?;
    edit(&args.branch, edits, &args.expected, &args.shape, open, session)
}

pub(super) fn mv(args: &Mv, open: &Opened, session: &mut Session) -> Result<(), CliError> {
    let (from, to) = (open.path(&args.from)?.to_string(), open.path(&args.to)?.to_string());
    let edits = vec![FileEdit::Rename { from, to }];
    edit(&args.branch, edits, &args.expected, &args.shape, open, session)
}

fn edit(
    branch: &str,
    edits: Vec<FileEdit>,
    expected: &Expected,
    shape: &Shape,
    open: &Opened,
    session: &mut Session,
) -> Result<(), CliError> {
    let branch = open.branch(branch)?.id.to_string();
    let request = EditRequest { if_revision: expected.revision(), ..EditRequest::of(branch, edits) };
    let Revision(revision) = open.client.wait(open.client.daemon().edit_files(request))?;
    shape.print(session, &Edited { revision }, || format!("revision {revision}\n"))
}
