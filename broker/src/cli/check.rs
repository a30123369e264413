//! `broker check`

mod input;
mod linters;

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use self::{input::Input, linters::Linters};
use super::Session;
use crate::{
    CliError, ErrorKind, Exit, Workspace,
    check::{Files, Incomplete, Options, Report, Router, check, default_jobs},
    console::Messages,
    plugins::PluginArgs,
    progress::Progress,
    render::{self, Format, Page, explain_incomplete, printable},
};

/// Check files
///
/// Finds the workspace that the paths belong to, asks every plugin about the files it is interested in,
/// and prints what they find. Exits with 0 if there are no findings, with 1 if there are, and with 2 if
/// something that was asked for could not be done.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files and directories to check, or `-` for standard input
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Check the text on standard input as if it were this file, which need not exist
    #[arg(long, value_name = "PATH")]
    stdin_filename: Option<PathBuf>,

    /// How to print findings
    #[arg(long, value_enum, default_value_t = Format::Full, value_name = "FORMAT", help_heading = "Output")]
    output_format: Format,

    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output_file: Option<PathBuf>,

    /// Print findings only: no summary, no warnings
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    /// Print how often each rule was found instead of the findings
    #[arg(long, help_heading = "Output")]
    statistics: bool,

    /// List the files that would be checked, with their linters, and check nothing
    #[arg(long, help_heading = "Output", conflicts_with_all = ["statistics", "stdin_filename"])]
    show_files: bool,

    /// Check these rules only: `F401`, a prefix or group such as `F` or `ALL`, or `python/F401` for one plugin
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    select: Option<Vec<String>>,

    /// Leave these rules out
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    ignore: Vec<String>,

    /// Read no configuration files
    #[arg(long, help_heading = "Rules", conflicts_with = "config")]
    isolated: bool,

    /// Use this configuration file, in the plugin's own format, and no other
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    config: Option<PathBuf>,

    #[command(flatten)]
    plugins: PluginArgs,

    /// Check files that `.gitignore` and its kin leave out, too
    #[arg(long, help_heading = "Files")]
    no_respect_gitignore: bool,

    /// How many files to check at once [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Running")]
    jobs: Option<u16>,

    /// The longest that one plugin may take for one file
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds, help_heading = "Running")]
    timeout: Duration,

    /// Reuse no answers of earlier runs (this version keeps none)
    #[arg(long, help_heading = "Running")]
    no_cache: bool,

    /// Exit with 0 even if there are findings
    #[arg(long, help_heading = "Running")]
    exit_zero: bool,

    /// Do not exit with 2 because something could not be checked
    #[arg(long, help_heading = "Running")]
    allow_incomplete: bool,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    if args.statistics && matches!(args.output_format, Format::Sarif | Format::Github) {
        return Err(
            CliError::usage("--statistics has no such format").hint("it has full, concise, json and jsonl")
        );
    }
    session.loader.quiet = args.quiet;
    let mut input = Input::of(args, session)?;
    let options = args.options(session);
    let linters = Linters::of(args, &input, session, options.jobs)?;
    let files = input.files(args);
    if args.show_files {
        return show_files(args, session, &mut input, &linters, &files);
    }
    let progress = Progress::new(session.messages.clone(), session.surroundings.watched && !args.quiet);
    let report =
        check(&input.view, files, &linters.used, &options, &|done, total| progress.update(done, total));
    drop(progress);
    finish(args, session, &mut input, &linters, report)
}

/// Shows what would be checked; what could not be is told as it would be then.
fn show_files(
    args: &Args,
    session: &mut Session,
    input: &mut Input,
    linters: &Linters,
    files: &Files,
) -> Result<Exit, CliError> {
    let router = Router::new(&linters.used);
    args.write(session, |out| {
        render::show_files(args.output_format, &input.workspace, &files.units, &router, out)
    })?;
    let mut report = Report::default();
    report.add_incomplete(known_before(input, linters).chain(Incomplete::unreadable(&files.skipped)));
    tell_incomplete(args, session, input, &report);
    Ok(exit(args, &report))
}

/// What is known to be missing before anything is checked.
fn known_before<'a>(input: &'a mut Input, linters: &'a Linters) -> impl Iterator<Item = Incomplete> {
    input.missing.drain(..).chain(linters.plugins.broken.iter().cloned())
}

/// Shows the report and draws the conclusion.
fn finish(
    args: &Args,
    session: &mut Session,
    input: &mut Input,
    linters: &Linters,
    mut report: Report,
) -> Result<Exit, CliError> {
    report.add_incomplete(known_before(input, linters));
    let rules = |name: &str| linters.rules(name);
    let page = Page {
        report: &report,
        view: &*input.view,
        workspace: &input.workspace,
        rules: &rules,
        color: session.color && args.output_file.is_none(),
        quiet: args.quiet,
    };
    args.write(session, |out| match args.statistics {
        true => render::statistics(args.output_format, &page, out),
        false => render::render(args.output_format, &page, out),
    })?;
    tell_incomplete(args, session, input, &report);
    if !args.quiet {
        warn_of_unchecked(&session.messages, &input.workspace, &report);
    }
    Ok(exit(args, &report))
}

fn tell_incomplete(args: &Args, session: &Session, input: &Input, report: &Report) {
    for sentence in explain_incomplete(&input.workspace, &report.incomplete) {
        if !args.allow_incomplete {
            session.messages.error(&CliError::plugin(sentence));
        } else if !args.quiet {
            session.messages.warning(&sentence);
        }
    }
}

/// What is no fault, and maybe not what was meant.
fn warn_of_unchecked(messages: &Messages, workspace: &Workspace, report: &Report) {
    for path in &report.left_out {
        let shown = workspace.shown(path);
        let text = format!("no plugin checked any file under `{shown}`: the configuration leaves it out");
        messages.warning(&printable(&text));
    }
    if report.files == 0 && report.is_complete() && report.left_out.is_empty() {
        messages.warning("no plugin is interested in any of these files");
    }
}

fn exit(args: &Args, report: &Report) -> Exit {
    let is_answered = report.is_complete() || args.allow_incomplete;
    let is_fine = report.findings.is_empty() || args.exit_zero;
    match (is_answered, is_fine) {
        (false, _) => Exit::Abnormal,
        (true, false) => Exit::Findings,
        (true, true) => Exit::Clean,
    }
}

impl Args {
    fn options(&self, session: &Session) -> Options {
        // Not the default's: asking for the number of processors reads several files.
        let jobs = self.jobs.map_or_else(default_jobs, usize::from);
        Options { jobs, timeout: self.timeout, cancel: session.surroundings.cancel.clone() }
    }

    /// Hands out the place where the output goes. That its reader has gone is nobody's fault.
    fn write(
        &self,
        session: &mut Session,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        let buffered = |to: &mut dyn Write| {
            let mut out = BufWriter::with_capacity(64 << 10, to);
            write(&mut out).and_then(|()| out.flush())
        };
        let written = match &self.output_file {
            Some(path) => buffered(&mut create(path)?),
            None => buffered(&mut session.surroundings.stdout),
        };
        match written.map_err(CliError::from) {
            Err(error) if error.kind == ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }
}

fn create(path: &Path) -> Result<File, CliError> {
    File::create(path).map_err(|error| CliError::files(format!("cannot write {}: {error}", path.display())))
}

fn seconds(text: &str) -> Result<Duration, String> {
    const YEAR: f64 = 365.0 * 24.0 * 3600.0;
    let seconds = text.parse().ok().filter(|it: &f64| !it.is_nan());
    let seconds = seconds.ok_or_else(|| "not a number of seconds".to_owned())?;
    if seconds > YEAR {
        return Err(format!("a year, which is {YEAR} seconds, is the longest there is"));
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(Duration::ZERO) | Err(_) => Err("no file can be checked in no time".to_owned()),
        Ok(duration) => Ok(duration),
    }
}

#[cfg(test)]
mod tests;
