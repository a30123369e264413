//! `broker check --branch`: the user's daemon checks, once or again at each change of the branch.

pub(super) mod changed;

use bytes::Bytes;
use check_engine::{Level, Report};
use config::Selectors;
use lint::printable;
use overlay::WorkspacePath;
use scheduler::Class;
use workspaces::{EditRequest, Event, Events, Expected, FileEdit, RequestError, WatchEvent};

use super::{Args, outputs::Output, request, round::Round, run::Run, subject::Subject};
use crate::{
    CliError, Exit,
    cli::Session,
    client::{Opened, not_searched},
};

/// Options of a check of a branch
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

impl BranchArgs {
    /// A command whose messages no person sees is run by a program.
    pub(super) fn class(&self, is_watched: bool) -> Class {
        match self.priority {
            Some(Priority::Interactive) => Class::Interactive,
            Some(Priority::Background) => Class::Background,
            None if is_watched => Class::Interactive,
            Some(Priority::Agent) | None => Class::Agent,
        }
    }
}

/// A branch in the user's daemon.
pub(super) struct Branch {
    pub(super) open: Opened,
    pub(super) id: String,
}

pub(super) fn run(
    args: &Args,
    name: &str,
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
    let open = session.open()?;
    let id = open.branch(name)?.id.to_string();
    let branch = Branch { open, id };
    let question = request::of_branch(args, &branch, session)?;
    let run = Run { args, outputs, subject: Subject::Branch(branch), question };
    if args.watch && !run.question.is_nothing { run.watch(session) } else { run.once(session) }
}

impl Branch {
    /// Writes a file of the branch.
    pub(super) fn write(&self, path: &WorkspacePath, content: Bytes) -> Result<(), CliError> {
        let edit = FileEdit::Write { path: path.to_string(), content, expected: Expected::Anything };
        let edited = self.open.client.daemon().edit_files(EditRequest::of(&self.id, vec![edit]));
        Ok(self.open.client.wait(edited).map(drop)?)
    }
}

/// Remedy for linters that are missed since the daemon does not find them.
pub(super) fn not_found(branch: &Branch, report: &Report) -> Option<String> {
    let missed = report.unavailable.iter().map(|it| it.linter.as_str());
    let failed = report.incomplete.iter().filter(|it| it.level == Level::Failed);
    let missed: Vec<_> = missed.chain(failed.filter_map(|it| it.linter.as_deref())).collect();
    not_searched(&branch.open, &missed)
}

impl Run<'_> {
    /// Round after round; the exit code is that of the last whole one.
    fn watch(mut self, session: &mut Session) -> Result<Exit, CliError> {
        let mut exit = Exit::Clean;
        let mut shown = 0;
        let mut events = self.subject.wait(self.subject.daemon().watch(self.question.request.clone()))?;
        loop {
            let end = match self.next_round(&mut events) {
                _ if self.subject.is_interrupted() => return Ok(exit),
                end => end?,
            };
            exit = match end {
                RoundEnd::Round(round) => {
                    if shown > 0 && !self.args.quiet {
                        session.messages.line(&format!("--- revision {}", round.revision.0));
                    }
                    self.conclude(*round, None, session)?
                }
                RoundEnd::Refused(error) => {
                    session.messages.error(&error);
                    Exit::Abnormal
                }
            };
            shown += 1;
        }
    }

    /// The next whole round; those that a change overtook are passed over.
    fn next_round(&self, events: &mut Events<WatchEvent>) -> Result<RoundEnd, CliError> {
        let mut round = Round::default();
        loop {
            match self.subject.next(events)?.ok_or_else(stopped)? {
                WatchEvent::Superseded(_) => round = Round::default(),
                WatchEvent::Refused(it) => return Ok(RoundEnd::Refused(refused(&it))),
                WatchEvent::Check(event) => {
                    let is_last = matches!(event, Event::Summary(_));
                    round.add(event);
                    if is_last {
                        return Ok(RoundEnd::Round(Box::new(round)));
                    }
                }
            }
        }
    }
}

/// End of a round of a watch.
enum RoundEnd {
    Round(Box<Round>),
    /// The configuration does not allow it; the next change may fix that.
    Refused(CliError),
}

fn stopped() -> RequestError {
    let sentence = "the daemon has stopped watching";
    RequestError::new(workspaces::ErrorKind::Unavailable, ::client::DAEMON_GONE, sentence)
}

fn refused(it: &RequestError) -> CliError {
    let hint = it.hint.as_deref().map(|it| printable(it).into_owned());
    CliError::usage(printable(it.message())).maybe_hint(hint)
}
