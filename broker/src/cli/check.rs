//! `broker check`

mod baseline;
mod branch;
mod changed;
mod ephemeral;
mod fixes;
mod outputs;
mod request;
mod round;
mod run;
mod show;
mod staged;
mod subject;
mod texts;
mod timing;
mod view;
mod watch;
mod write;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use config::{Choice, Glob, Selectors};
use render::DisplayLimit;

use self::{
    baseline::BaselineArgs,
    branch::BranchArgs,
    changed::ChangedArgs,
    ephemeral::Ephemeral,
    fixes::FixArgs,
    outputs::OutputArgs,
    run::Run,
    subject::{ShownView, Subject},
    view::Input,
    watch::Watched,
};
use super::Session;
use crate::{CliError, Exit, cli::PluginArgs};

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

    #[command(flatten)]
    outputs: OutputArgs,

    /// Print findings only: no summary, no warnings
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    /// Show people no more findings than this, and say how many more there are
    ///
    /// In the formats full, concise, grouped and agent; the others are for programs, and have all. On a terminal, the 50 most severe
    /// are shown if nothing else is said, errors first, and the others are counted by rule.
    #[arg(long, value_name = "N", help_heading = "Output")]
    max_findings: Option<usize>,

    /// Print how often each rule was found instead of the findings
    #[arg(long, help_heading = "Output")]
    statistics: bool,

    /// List the files that would be checked, with their linters, and check nothing
    ///
    /// Without those that are only asked about because they import others.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["statistics", "stdin_filename"])]
    show_files: bool,

    /// Check these rules only: `F401`, a prefix or group such as `F` or `ALL`, `python/F401` for one plugin, or all rules of
    /// one plugin or language server, `sql/ALL`
    ///
    /// Takes the place of what `broker.toml` selects and ignores. `DEFAULT` stands for what that, or else the linters, select.
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    select: Option<Vec<String>>,

    /// Check these rules as well, besides those that are checked without this option
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    extend_select: Vec<String>,

    /// Leave these rules out, too
    #[arg(long, value_delimiter = ',', value_name = "RULES", help_heading = "Rules")]
    ignore: Vec<String>,

    /// Read no configuration files
    #[arg(long, help_heading = "Rules", conflicts_with = "config")]
    isolated: bool,

    /// Use this configuration file, in the plugin's own format, and no other
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    config: Option<PathBuf>,

    #[command(flatten)]
    branch: BranchArgs,

    #[command(flatten)]
    plugins: PluginArgs,

    #[command(flatten)]
    baseline: BaselineArgs,

    #[command(flatten)]
    fixes: FixArgs,

    #[command(flatten)]
    changed: ChangedArgs,

    /// Check files that `.gitignore` and its kin leave out, too
    #[arg(long, help_heading = "Files")]
    no_respect_gitignore: bool,

    /// Leave out files and folders that match, whatever ignore files say; a pattern is as in a `.gitignore` in the workspace's root
    ///
    /// Besides those of `exclude` in the table `[files]` of `broker.toml`. Files that are named are checked all the same.
    #[arg(long, value_delimiter = ',', value_name = "PATTERN", value_parser = pattern, help_heading = "Files")]
    exclude: Vec<String>,

    /// Leave out what is excluded even if it is named, as hooks name files; also what the linters' own configurations exclude
    #[arg(long, help_heading = "Files")]
    force_exclude: bool,

    /// How many files to check at once [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Running")]
    jobs: Option<u16>,

    /// The longest that one plugin may take for one file
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds, help_heading = "Running")]
    timeout: Duration,

    /// Reuse no answers of earlier runs, and keep none for later ones
    #[arg(long, help_heading = "Running")]
    no_cache: bool,

    /// Print where the time went: each linter's, and the slowest files
    ///
    /// To standard error. Answers that are kept from earlier runs take none: give `--no-cache` to measure all. The times of
    /// processors that work side by side are added up. Linters do not tell how long each rule takes.
    #[arg(long, help_heading = "Running")]
    timing: bool,

    /// Check again whenever something changes, until interrupted
    #[arg(
        long,
        help_heading = "Running",
        conflicts_with_all =
            ["stdin_filename", "show_files", "fix", "add_suppressions", "diff", "baseline_update", "baseline_prune"]
    )]
    watch: bool,

    /// Exit with 0 unless there are findings of at least this severity
    #[arg(long, value_enum, value_name = "LEVEL", help_heading = "Running", conflicts_with = "exit_zero")]
    fail_level: Option<FailLevel>,

    /// Exit with 0 if there are no errors, and no more warnings than this
    #[arg(long, value_name = "N", help_heading = "Running", conflicts_with_all = ["exit_zero", "fail_level"])]
    max_warnings: Option<usize>,

    /// Exit with 0 even if there are findings
    #[arg(long, help_heading = "Running")]
    exit_zero: bool,

    /// Do not exit with 2 because something could not be checked
    #[arg(long, help_heading = "Running")]
    allow_incomplete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailLevel {
    Hint,
    Info,
    Warning,
    Error,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let outputs = args.outputs.outputs()?;
    if args.statistics && !outputs.iter().all(|it| it.format.has_statistics()) {
        return Err(CliError::usage("--statistics has no such format")
            .hint("it has full, concise, grouped, agent, json and jsonl"));
    }
    args.fixes.check()?;
    if let Some(name) = &args.branch.branch {
        return branch::run(args, name, &outputs, session);
    }
    session.quiet = args.quiet;
    let input = Input::of(args, session, None)?;
    // Before anything is loaded: an empty selection is a slip.
    Selectors::parse(args.select.as_deref(), &args.ignore)?;
    let ephemeral = Ephemeral::start(args, session)?;
    let run = |input: Input, session: &Session| -> Result<Run<'_>, CliError> {
        let (subject, question) = ShownView::open(args, input, &ephemeral, session)?;
        Ok(Run { args, outputs: &outputs, subject: Subject::View(subject), question })
    };
    let first = run(input, session)?;
    if !args.watch {
        return first.once(session);
    }
    first.expect_understood()?;
    let watched = Watched::begin(first.subject.workspace(), &outputs, session)?;
    Ok(watch::watch(args, session, &watched, |session| {
        let input = Input::of(args, session, Some(watched.view()))?;
        run(input, session)?.once(session)
    }))
}

/// Checks as `broker check` does, by some rules of the plugin in a file and no other linter.
pub(super) struct ByPlugin<'a> {
    pub(super) file: &'a Path,
    pub(super) rules: &'a [String],
    pub(super) paths: &'a [PathBuf],
    /// Patterns of what is left out.
    pub(super) exclude: Vec<String>,
}

impl ByPlugin<'_> {
    pub(super) fn run(self, session: &mut Session) -> Result<Exit, CliError> {
        let mut args = Args::usual()?;
        args.plugins.plugin = vec![self.file.to_owned()];
        args.select = Some(self.rules.to_vec());
        args.exclude = self.exclude;
        args.max_findings = Some(MAX_FINDINGS_BY_PLUGIN);
        if !self.paths.is_empty() {
            args.paths = self.paths.to_vec();
        }
        run(&args, session)
    }
}

/// Parses a glob as `exclude` of a configuration file accepts it.
fn pattern(text: &str) -> Result<String, String> {
    Glob::try_from(text.to_owned()).map(|it| it.as_str().to_owned())
}

impl Args {
    /// A command line without options.
    fn usual() -> Result<Self, CliError> {
        let command = <Self as clap::Args>::augment_args(clap::Command::new("check"));
        let matches = command.try_get_matches_from(["check"]);
        let parsed = matches.and_then(|it| <Self as clap::FromArgMatches>::from_arg_matches(&it));
        parsed.map_err(|error| CliError::usage(error.to_string()))
    }

    /// Returns the rules that the options select, in place of the configuration or in addition to it.
    fn requested(&self) -> Choice {
        let choice = Choice { select: self.select.clone(), ignore: Vec::new() };
        Choice { ignore: self.ignore.clone(), ..choice.extended(&self.extend_select) }
    }

    /// Selects the findings that an output shows.
    fn shown(&self, is_terminal: bool) -> DisplayLimit {
        match self.max_findings {
            Some(most) => DisplayLimit::First(most),
            None if is_terminal => DisplayLimit::MostSevere(MAX_FINDINGS_ON_TERMINAL),
            None => DisplayLimit::All,
        }
    }
}

/// Findings that a check by one plugin shows.
const MAX_FINDINGS_BY_PLUGIN: usize = 100;

/// Findings on a terminal, where no number is given.
const MAX_FINDINGS_ON_TERMINAL: usize = 50;

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
