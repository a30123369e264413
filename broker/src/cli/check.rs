//! `broker check`

mod baseline;
mod changed;
mod fixes;
mod input;
mod inspect;
mod linters;
mod outputs;
mod remote;
mod staged;
mod timing;
mod watch;
mod write;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use checker::{
    Files, Incomplete, LocalChecker, Options, Report, Timings, Unavailable, answers, default_jobs,
    pipeline::{Fixed, Lineup as _, Reach},
};
use config::{Choice, Glob, root::WorkspaceRoot};
use lint::{Severity, printable};
use overlay::{View as _, WorkspacePath};
use render::{Page, Shown, explain_incomplete};
use workspaces::ListedFiles;

use self::{
    baseline::BaselineArgs,
    changed::ChangedArgs,
    fixes::FixArgs,
    input::Input,
    inspect::Inspector,
    linters::{Linters, Loaded},
    outputs::{Output, OutputArgs},
    watch::Watched,
};
use super::Session;
use crate::{CliError, Exit, cli::PluginArgs, console::Messages};

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
    branch: remote::BranchArgs,

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
    if let Some(branch) = &args.branch.branch {
        return remote::run(args, branch, &outputs, session);
    }
    session.quiet = args.quiet;
    let mut input = Input::of(args, session, None)?;
    let options = args.options(session);
    let loaded = Loaded::new(args, session, options.jobs)?;
    let linters = Arc::new(Linters::of(args, &input, &loaded)?);
    let checker = LocalChecker::new(options.clone());
    let checker = checker.map_err(|error| CliError::files(format!("cannot start checking: {error}")))?;
    let run = Run { args, outputs: &outputs, checker: &checker, options: &options };
    if !args.watch {
        return run.once(session, &mut input, &linters);
    }
    let watched = Watched::begin(&input, &outputs, session)?;
    Ok(watch::watch(args, session, &watched, |session| {
        let mut input = Input::of(args, session, Some(watched.view()))?;
        let linters = Arc::new(Linters::of(args, &input, &loaded)?);
        run.once(session, &mut input, &linters)
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
        args.max_findings = Some(MOST_BY_PLUGIN);
        if !self.paths.is_empty() {
            args.paths = self.paths.to_vec();
        }
        run(&args, session)
    }
}

/// Parts of a run that stay the same from round to round.
struct Run<'a> {
    args: &'a Args,
    outputs: &'a [Output],
    checker: &'a LocalChecker,
    options: &'a Options,
}

impl Run<'_> {
    /// Checks, fixes if that was asked for, and shows what there is to say.
    fn once(
        &self,
        session: &mut Session,
        input: &mut Input,
        linters: &Arc<Linters>,
    ) -> Result<Exit, CliError> {
        let Self { args, outputs, .. } = *self;
        let files = input.files(args);
        if args.show_files {
            return show_files(args, outputs, session, input, linters, files);
        }
        let kept = args.baseline.load(args, input, session)?;
        let known = args.baseline.left_out(kept.as_ref());
        let messages = session.messages.clone();
        let every_rule = args.requested().has_default();
        let reach = Reach { every_rule, every_file: input.is_whole_workspace() && args.exclude.is_empty() };
        let watched = session.process_context.watched && !args.quiet;
        let inspector =
            Inspector { args, linters, checker: self.checker, messages: &messages, watched, reach };
        let mut request = inspector.request(&input.view, files.clone());
        let timings = Arc::new(Timings::default());
        if args.timing {
            request.schedule.answered = timings.collector();
        }
        request.dependents = input.dependents(args, &files).map(Arc::new);
        if let Some(comparison) = input.comparison(args) {
            request.compare(comparison, known.cloned());
        }
        let mut inspected = inspector.inspect(&request, known.map(|it| &**it))?;
        if !args.quiet {
            let unknown = linters.unknown_rules(&inspected.graded_rules)?;
            unknown.iter().for_each(|it| messages.warning(&printable(it)));
        }
        if args.fixes.is_asked() {
            let (report, least) = (&inspected.collected.report, args.fixes.least());
            let fixed = match &args.fixes.add_suppressions {
                None => self.checker.fix(&request, &files, report, least, known.cloned()),
                Some(reason) => self.checker.suppress(&request, &files, report, reason, known.cloned()),
            };
            let fixed = fixed.map_err(inspect::refused)?;
            fixes::report(&fixed, &messages, |path| input.workspace.display(path));
            if args.fixes.diff {
                let mut report = inspected.collected.report;
                report.add_incomplete(known_before(input, linters));
                return show_patch(args, session, input, &fixed, &report);
            }
            if fixed.count > 0 {
                input.view = Arc::new(fixed.branch.snapshot());
                request.view = Arc::clone(&input.view);
                request.dependents = input.dependents(args, &files).map(Arc::new);
                inspected = inspector.inspect(&request, known.map(|it| &**it))?;
                match args.fixes.add_suppressions {
                    None => inspected.collected.report.fixed = fixed.count,
                    Some(_) if args.quiet => {}
                    Some(_) => messages.line(&format!("{}.", args.fixes.counted(fixed.count))),
                }
            }
            keep_fixed(args, session, input, self.options, &fixed)?;
        }
        if args.timing {
            timing::show(&timings.take(), &input.workspace, &messages);
        }
        args.baseline.keep(kept, &mut inspected, input, reach, session, args.quiet)?;
        finish(args, outputs, session, input, linters, inspected.collected.report)
    }
}

/// Keeps the fixes: on the disk, in the index as well, or on standard output if that is where the text came from.
fn keep_fixed(
    args: &Args,
    session: &mut Session,
    input: &Input,
    options: &Options,
    fixed: &Fixed,
) -> Result<(), CliError> {
    if options.cancel.is_cancelled() {
        return Err(CliError::files("interrupted: nothing was fixed"));
    }
    let Some(path) = input.stdin_path() else {
        return match args.changed.staged {
            true => staged::keep(fixed, &input.workspace, &session.messages),
            false => fixes::commit(fixed, input.workspace.root(), &session.messages),
        };
    };
    let text = fixed.branch.snapshot().open(path);
    let text = text.map_err(|error| CliError::files(format!("cannot read what was fixed: {error}")))?;
    print_fixed(session, &text)
}

/// Prints what the text on standard input became; what is found in it does not belong to it.
fn print_fixed(session: &mut Session, text: &[u8]) -> Result<(), CliError> {
    session.process_context.stdout.write_all(text)?;
    session.process_context.stdout.flush()?;
    session.process_context.stdout = session.messages.writer();
    Ok(())
}

/// Shows what would be fixed, and nothing else.
fn show_patch(
    args: &Args,
    session: &mut Session,
    input: &Input,
    fixed: &Fixed,
    report: &Report,
) -> Result<Exit, CliError> {
    let patch = fixes::patch(&fixed.branch.snapshot())?;
    session.print_text(&patch)?;
    report_incomplete(args, session, &input.workspace, report);
    if !args.quiet {
        session.messages.line(&format!("{}.", args.fixes.counted(fixed.count)));
    }
    Ok(exit_of_patch(args, report, &patch))
}

fn exit_of_patch(args: &Args, report: &Report, patch: &str) -> Exit {
    match (report.is_complete() || args.allow_incomplete, patch.is_empty() || args.exit_zero) {
        (false, _) => Exit::Abnormal,
        (true, false) => Exit::Findings,
        (true, true) => Exit::Clean,
    }
}

/// Shows what would be checked; what could not be is told as it would be then.
fn show_files(
    args: &Args,
    outputs: &[Output],
    session: &mut Session,
    input: &mut Input,
    linters: &Linters,
    files: Files,
) -> Result<Exit, CliError> {
    let router = linters.route(&input.view, &files)?;
    let incomplete = known_before(input, linters).chain(Incomplete::unreadable(&files.skipped)).collect();
    let listed = ListedFiles { files: router.listing(&*input.view, &files.units), incomplete };
    show_listed(args, outputs, session, &input.workspace, &listed)
}

fn show_listed(
    args: &Args,
    outputs: &[Output],
    session: &mut Session,
    workspace: &WorkspaceRoot,
    listed: &ListedFiles,
) -> Result<Exit, CliError> {
    let written = outputs::write(outputs, session, |output, out| {
        render::show_files(output.format, workspace, &listed.files, out)
    });
    let mut report = Report::default();
    report.add_incomplete(listed.incomplete.iter().cloned());
    report_incomplete(args, session, workspace, &report);
    Ok(if written { exit(args, &report) } else { Exit::Abnormal })
}

/// Returns the files and linters that are known to be missing before anything is checked.
fn known_before(input: &mut Input, linters: &Linters) -> impl Iterator<Item = Incomplete> {
    input.missing.drain(..).chain(linters.broken())
}

/// Shows the report and draws the conclusion.
fn finish(
    args: &Args,
    outputs: &[Output],
    session: &mut Session,
    input: &mut Input,
    linters: &Linters,
    mut report: Report,
) -> Result<Exit, CliError> {
    report.add_incomplete(known_before(input, linters));
    report.excluded.append(&mut input.uncompared);
    report.excluded.sort();
    let rules = |name: &str| linters.rules(&input.view, name);
    let (color, is_terminal) = (session.color, session.process_context.is_terminal);
    let written = outputs::write(outputs, session, |output, out| {
        let page = Page {
            report: &report,
            view: &*input.view,
            workspace: &input.workspace,
            rules: &rules,
            color: color && output.file.is_none(),
            quiet: args.quiet,
            shown: args.shown(is_terminal && output.file.is_none()),
        };
        match args.statistics {
            true => render::statistics(output.format, &page, out),
            false => render::render(output.format, &page, out),
        }
    });
    report_incomplete(args, session, &input.workspace, &report);
    report_excluded(session, &input.workspace, &report);
    if !args.quiet {
        report_unavailable(&session.messages, &report);
        report_parts(&session.messages, &input.workspace, &report);
        let those = Those { are_of_changes: input.is_of_changes(), is_unchanged: input.is_unchanged() };
        warn_of_unchecked(&session.messages, &input.workspace, those, &report);
    }
    Ok(if written { exit(args, &report) } else { Exit::Abnormal })
}

fn report_incomplete(args: &Args, session: &Session, workspace: &WorkspaceRoot, report: &Report) {
    for sentence in explain_incomplete(workspace, &report.incomplete) {
        if !args.allow_incomplete {
            session.messages.error(&CliError::plugin(sentence));
        } else if !args.quiet {
            session.messages.warning(&sentence);
        }
    }
}

/// Warns of linters that could not be asked: once for each reason.
fn report_unavailable(messages: &Messages, report: &Report) {
    for sentence in not_asked(&report.unavailable) {
        messages.warning(&printable(&sentence));
    }
}

/// Warns of files of which linters do not read a part: once for each linter.
fn report_parts(messages: &Messages, workspace: &WorkspaceRoot, report: &Report) {
    for sentence in render::explain_parts(workspace, report) {
        messages.warning(&sentence);
    }
}

fn not_asked(unavailable: &[Unavailable]) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for it in unavailable {
        match by_reason.iter_mut().find(|(reason, _)| *reason == it.reason) {
            Some((_, linters)) => linters.push(&it.linter),
            None => by_reason.push((&it.reason, vec![&it.linter])),
        }
    }
    let sentence = |(reason, linters): (&str, Vec<&str>)| {
        let were = if linters.len() == 1 { "was" } else { "were" };
        format!("{} {were} not asked: {reason}", linters.join(", "))
    };
    by_reason.into_iter().map(sentence).collect()
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
struct Those {
    are_of_changes: bool,
    /// Whether there are none, since nothing changed.
    is_unchanged: bool,
}

/// Warns of paths without a checked file, which is no error, and maybe not what was meant.
fn warn_of_unchecked(messages: &Messages, workspace: &WorkspaceRoot, those: Those, report: &Report) {
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
        (_, None) => "no plugin is interested in any of these files".to_owned(),
    };
    messages.warning(&printable(&text));
}

fn exit(args: &Args, report: &Report) -> Exit {
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

/// Parses a glob as `exclude` of a configuration file accepts it.
fn pattern(text: &str) -> Result<String, String> {
    Glob::try_from(text.to_owned()).map(|it| it.as_str().to_owned())
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
    fn shown(&self, is_terminal: bool) -> Shown {
        match self.max_findings {
            Some(most) => Shown::First(most),
            None if is_terminal => Shown::MostSevere(MOST_ON_TERMINAL),
            None => Shown::All,
        }
    }

    fn options(&self, session: &Session) -> Options {
        // Not the default's: asking for the number of processors reads several files.
        let jobs = self.jobs.map_or_else(default_jobs, usize::from);
        let folder = session.process_context.cache_dir.as_ref().filter(|_| !self.no_cache);
        let again = self.watch || self.fixes.is_asked();
        let cache = (folder.is_some() || again).then(|| Arc::new(answers(folder.map(PathBuf::as_path))));
        let cancel = session.process_context.cancel.clone();
        Options { jobs, timeout: self.timeout, cancel, cache, build: crate::BUILD }
    }
}

/// Findings that a check by one plugin shows.
const MOST_BY_PLUGIN: usize = 100;

/// Findings on a terminal, where no number is given.
const MOST_ON_TERMINAL: usize = 50;

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
