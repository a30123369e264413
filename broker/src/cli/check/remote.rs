//! `broker check --branch`: the daemon checks, and what it says is shown as if it had been checked here.

mod baseline;
mod changed;
mod fixes;
mod options;
mod report;
mod texts;

use std::collections::BTreeSet;

use checker::{Level, Report};
use config::Selectors;
use lint::printable;
use overlay::WorkspacePath;
use render::Page;
use scheduler::Class;
use workspaces::{
    CheckRequest, Event, Events, FileText, ListedFiles, PageRequest, RequestError, TargetId, WatchEvent,
};

use self::{report::Round, texts::Texts};
use super::{
    Args, Those, exit,
    input::stdin_filename,
    outputs::{self, Output},
    report_excluded, report_incomplete, report_unavailable, show_listed, timing, warn_of_unchecked,
};
use crate::{
    CliError, Exit,
    cli::Session,
    client::{Client, Opened, not_searched},
};

/// What is said of branches.
#[derive(Debug, clap::Args)]
pub(super) struct BranchArgs {
    /// Check this branch, by its name or id, instead of the files on the disk
    ///
    /// The daemon checks, with the bundled plugins and those that the branch adds; it is started if none runs.
    #[arg(long, value_name = "BRANCH", help_heading = "Branches")]
    pub(super) branch: Option<String>,

    /// Who waits for the answer: what is for a person starts first [default: interactive on a terminal, else agent]
    #[arg(long, value_enum, value_name = "WHO", requires = "branch", help_heading = "Branches")]
    priority: Option<Priority>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Priority {
    /// A person
    Interactive,
    /// A program
    Agent,
    /// No one: it runs when nothing else is waiting
    Background,
}

impl Priority {
    /// A command whose messages no person sees is run by a program.
    fn of(args: &Args, is_watched: bool) -> Class {
        match args.branch.priority {
            Some(Self::Interactive) => Class::Interactive,
            Some(Self::Background) => Class::Background,
            None if is_watched => Class::Interactive,
            Some(Self::Agent) | None => Class::Agent,
        }
    }
}

/// Parts of a remote check that stay the same from round to round.
struct Ask<'a> {
    args: &'a Args,
    outputs: &'a [Output],
    open: &'a Opened,
    branch: String,
    /// Texts that the check has in place of the branch's.
    shown: Vec<FileText>,
    /// Number of changed paths that are not UTF-8, if only changed files are checked.
    changed: Option<u64>,
    /// Whether no file changed.
    is_unchanged: bool,
    /// Number of fixes that were made before.
    fixed: usize,
}

/// What is asked, and of what.
struct Question {
    open: Opened,
    branch: String,
    request: CheckRequest,
    /// The file that the text on standard input is.
    stdin: Option<WorkspacePath>,
    /// Whether only what changed is checked, and how many names of that are not UTF-8.
    changed: Option<u64>,
    /// Whether no file is asked about. To the daemon, no path means every file.
    is_nothing: bool,
}

pub(super) fn run(
    args: &Args,
    branch: &str,
    outputs: &[Output],
    session: &mut Session,
) -> Result<Exit, CliError> {
    if args.stdin_filename.is_none() && args.paths.iter().any(|it| it.as_os_str() == "-") {
        return Err(CliError::usage("--branch leaves no room for the text on standard input")
            .hint("say what file it is with `--stdin-filename`, or put it there: `broker branch write BRANCH PATH -`"));
    }
    args.changed.check_for_branch(args.watch)?;
    // A mistake in the selection is told before a daemon is started.
    Selectors::parse(args.select.as_deref(), &args.ignore)?;
    session.quiet = args.quiet;
    let mut question = question(args, branch, session)?;
    if args.show_files {
        return show_files(args, outputs, question, session);
    }
    if args.baseline.is_written() && !question.is_nothing {
        baseline::update(args, &question.open, &question.branch, &mut question.request, session)?;
    }
    let fixed = match args.fixes.is_asked() && !question.is_nothing {
        true => Some(fixes::fix(args, &question.open, &question.request)?),
        false => None,
    };
    if let Some(fixed) = &fixed {
        fixes::report(fixed, &session.messages);
        if args.fixes.diff {
            return fixes::show(args, &question.open, fixed, session);
        }
        if let Some(path) = &question.stdin {
            fixes::print(fixed, path, &mut question.request, session)?;
        }
    }
    let fixed = fixes::count(args, fixed.as_ref(), session);
    let Question { open, branch, request, changed, is_nothing, .. } = question;
    let is_unchanged = is_nothing && changed == Some(0);
    let shown = request.options.texts.clone();
    let ask = Ask { args, outputs, open: &open, branch, shown, changed, is_unchanged, fixed };
    match () {
        () if is_nothing => ask.show(&Round::of_nothing(), session),
        () if args.watch => ask.watch(request, session),
        () => ask.once(request, session),
    }
}

fn question(args: &Args, branch: &str, session: &mut Session) -> Result<Question, CliError> {
    let open = session.open()?;
    let branch = open.branch(branch)?.id.to_string();
    let stdin = stdin_filename(args)?.map(|it| open.path(&it)).transpose()?;
    let options = options::options(args, &open, session, stdin.as_ref())?;
    let named = match &stdin {
        Some(path) => vec![path.clone()],
        None => args.paths.iter().map(|it| open.path(it)).collect::<Result<Vec<_>, _>>()?,
    };
    let on_disk = args.changed.on_disk(&open.workspace)?;
    let changed = on_disk.as_ref().map(|it| it.not_utf8);
    let only = on_disk.map(|it| changed::paths(&open, &branch, it, args.changed.dependents())).transpose()?;
    let is_nothing = only.as_ref().is_some_and(BTreeSet::is_empty);
    let priority = Priority::of(args, session.process_context.watched);
    let request = request(args, &branch, priority, &named, &only.unwrap_or_default());
    let request = CheckRequest { options, ..request };
    Ok(Question { open, branch, request, stdin, changed, is_nothing })
}

fn show_files(
    args: &Args,
    outputs: &[Output],
    question: Question,
    session: &mut Session,
) -> Result<Exit, CliError> {
    let Question { open, request, is_nothing, .. } = question;
    let listed = match is_nothing {
        true => ListedFiles::default(),
        false => open.client.wait(open.client.daemon().list_checked_files(request))?,
    };
    show_listed(args, outputs, session, &open.workspace, &listed)
}

fn request(
    args: &Args,
    branch: &str,
    class: Class,
    paths: &[WorkspacePath],
    only: &BTreeSet<WorkspacePath>,
) -> CheckRequest {
    // The root is what is checked if there are no paths.
    let is_everything = matches!(paths, [one] if one.is_root());
    let paths = if is_everything { &[] } else { paths };
    CheckRequest {
        paths: paths.iter().map(|it| it.as_str().to_owned()).collect(),
        only_paths: only.iter().map(|it| it.as_str().to_owned()).collect(),
        class,
        dependents: args.changed.dependents(),
        new_only: args.changed.new_only,
        select: args.requested().select.unwrap_or_default(),
        ignore: args.ignore.clone(),
        ..CheckRequest::of(TargetId::Branch(branch.to_owned()))
    }
}

impl Ask<'_> {
    fn once(&self, request: CheckRequest, session: &mut Session) -> Result<Exit, CliError> {
        let client = &self.open.client;
        let mut round = Round::default();
        let answered = client.wait(client.daemon().check(request)).and_then(|mut events| {
            while let Some(event) = client.next(&mut events)? {
                round.add(event);
            }
            Ok(())
        });
        match answered {
            // Results from before the interrupt stand.
            Err(_) if client.is_interrupted() => {}
            answered => answered?,
        }
        self.show(&round, session)
    }

    /// Round after round; the exit code is that of the last whole one.
    fn watch(&self, request: CheckRequest, session: &mut Session) -> Result<Exit, CliError> {
        let client = &self.open.client;
        let mut exit = Exit::Clean;
        let mut shown = 0;
        let events = client.wait(client.daemon().watch(request))?;
        let mut watched = Rounds { events, client };
        loop {
            let told = match watched.next() {
                _ if client.is_interrupted() => return Ok(exit),
                told => told.map_err(CliError::from)?,
            };
            exit = match told {
                RoundEnd::Round(round) => {
                    if shown > 0 && !self.args.quiet {
                        session.messages.line(&format!("--- revision {}", round.revision.0));
                    }
                    self.show(&round, session)?
                }
                RoundEnd::Refused(error) => {
                    session.messages.error(&error);
                    Exit::Abnormal
                }
            };
            shown += 1;
        }
    }

    fn show(&self, round: &Round, session: &mut Session) -> Result<Exit, CliError> {
        let Self { args, outputs, open, .. } = *self;
        let texts = Texts::new(open, &self.branch, round.revision, &self.shown);
        let mut report = round.report(args.changed.new_only);
        report.passed_over += self.changed.unwrap_or(0);
        report.fixed = self.fixed;
        let rules = |linter: &str| rules(&open.client, &self.branch, linter).unwrap_or_default();
        let (color, is_terminal) = (session.color, session.process_context.is_terminal);
        if args.timing {
            timing::show(round.timings(), &open.workspace, &session.messages);
        }
        let written = outputs::write(outputs, session, |output, out| {
            let page = Page {
                report: &report,
                view: &texts,
                workspace: &open.workspace,
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
        report_incomplete(args, session, &open.workspace, &report);
        report_excluded(session, &open.workspace, &report);
        if !args.quiet {
            self.warn(&report, session);
        }
        Ok(if written { exit(args, &report) } else { Exit::Abnormal })
    }

    /// Warns of results that are no error, and maybe not what was meant.
    fn warn(&self, report: &Report, session: &Session) {
        report_unavailable(&session.messages, report);
        let missed = report.unavailable.iter().map(|it| it.linter.as_str());
        let failed = report.incomplete.iter().filter(|it| it.level == Level::Failed);
        let missed: Vec<_> = missed.chain(failed.filter_map(|it| it.linter.as_deref())).collect();
        not_searched(self.open, &missed).iter().for_each(|it| session.messages.warning(it));
        let those = Those { are_of_changes: self.changed.is_some(), is_unchanged: self.is_unchanged };
        warn_of_unchecked(&session.messages, &self.open.workspace, those, report);
    }
}

/// End of a round of a watch.
enum RoundEnd {
    Round(Round),
    /// The configuration does not allow it; the next change may fix that.
    Refused(CliError),
}

/// The rounds of a watch.
struct Rounds<'a> {
    events: Events<WatchEvent>,
    client: &'a Client,
}

impl Rounds<'_> {
    /// The next whole round; those that a change overtook are passed over.
    fn next(&mut self) -> Result<RoundEnd, RequestError> {
        let mut round = Round::default();
        loop {
            let event = self.client.next(&mut self.events)?.ok_or_else(stopped)?;
            match event {
                WatchEvent::Superseded(_) => round = Round::default(),
                WatchEvent::Refused(it) => return Ok(RoundEnd::Refused(refused(&it))),
                WatchEvent::Check(event) => {
                    let is_last = matches!(event, Event::Summary(_));
                    round.add(event);
                    if is_last {
                        return Ok(RoundEnd::Round(round));
                    }
                }
            }
        }
    }
}

fn stopped() -> RequestError {
    let sentence = "the daemon has stopped watching";
    RequestError::new(workspaces::ErrorKind::Unavailable, ::client::DAEMON_GONE, sentence)
}

fn refused(it: &RequestError) -> CliError {
    let hint = it.hint.as_deref().map(|it| printable(it).into_owned());
    CliError::usage(printable(it.message())).maybe_hint(hint)
}

/// Every rule of a linter; formats that describe rules do without what cannot be had.
fn rules(client: &Client, branch: &str, linter: &str) -> Result<Vec<lint::Rule>, RequestError> {
    let target = TargetId::Branch(branch.to_owned());
    let mut rules = Vec::new();
    let mut page = PageRequest { size: 10_000, token: String::new() };
    loop {
        let found = client.wait(client.daemon().list_rules(Some(&target), linter, &page))?;
        rules.extend(found.items.into_iter().map(|it| it.rule));
        page.token = found.next_token;
        if page.token.is_empty() {
            return Ok(rules);
        }
    }
}
