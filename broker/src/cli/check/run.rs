//! The one way of `broker check`: from a request to the daemon, through fixes and baselines, to what is shown.

use check_engine::{Excluded, Incomplete};
use lint::printable;
use overlay::WorkspacePath;
use workspaces::{BaselineRequest, CheckRequest, ListedFiles, UpdatedBaseline};

use super::{
    Args, baseline, fixes::Fixes, outputs::Output, round::Round, show::Those, subject::Subject, timing,
};
use crate::{CliError, Exit, cli::Session};

/// One run, or one round of those that watch.
pub(super) struct Run<'a> {
    pub(super) args: &'a Args,
    pub(super) outputs: &'a [Output],
    pub(super) subject: Subject<'a>,
    pub(super) question: Question,
}

/// Request of a run, with facts about it that the daemon does not know.
pub(super) struct Question {
    pub(super) request: CheckRequest,
    /// The file that the text on standard input is.
    pub(super) stdin: Option<WorkspacePath>,
    pub(super) those: Those,
    /// Whether no file is asked about, which a request about a branch cannot say.
    pub(super) is_nothing: bool,
    /// Paths that were given and are not there.
    pub(super) missing: Vec<Incomplete>,
    /// Files that are not compared with what was there before.
    pub(super) uncompared: Vec<Excluded>,
    /// Number of changed files that a request about a branch cannot name.
    pub(super) unnamed: u64,
}

impl Run<'_> {
    /// Checks, fixes if that was asked for, and shows what there is to say.
    pub(super) fn once(mut self, session: &mut Session) -> Result<Exit, CliError> {
        if self.args.show_files {
            return self.show_files(session);
        }
        if self.question.is_nothing {
            return self.conclude(Round::of_nothing(), None, session);
        }
        baseline::expect_named(self.args, &self.subject)?;
        if !self.args.fixes.is_asked() {
            let (round, updated) = self.answer(None, session)?;
            self.warn_of_unknown(&round.unknown_rules, session);
            return self.conclude(round, updated, session);
        }
        let mut fixes = self.fix(session)?;
        if self.args.fixes.diff {
            return self.show_patch(&fixes, session);
        }
        self.show_fixed(&fixes, session);
        let (mut round, updated) = self.answer(Some(&mut fixes), session)?;
        round.fixed_before = self.report_fixed(&fixes, session);
        self.keep_fixed(&fixes, session)?;
        self.conclude(round, updated, session)
    }

    /// Fails if the request makes no sense, whatever is in the files. Checks nothing.
    pub(super) fn expect_understood(&self) -> Result<(), CliError> {
        let daemon = self.subject.daemon();
        self.subject.wait(daemon.check(self.question.request.clone())).map(drop)
    }

    /// Shows what would be checked, and what could not be.
    fn show_files(&mut self, session: &mut Session) -> Result<Exit, CliError> {
        let request = self.question.request.clone();
        let mut listed = match self.question.is_nothing {
            true => ListedFiles::default(),
            false => self.subject.wait(self.subject.daemon().list_checked_files(request))?,
        };
        listed.incomplete.append(&mut self.question.missing);
        self.show_listed(&listed, session)
    }

    /// Checks what the fixes have made of the files, unless that is known; makes the baseline anew if that was asked for.
    fn answer(
        &mut self,
        fixes: Option<&mut Fixes>,
        session: &Session,
    ) -> Result<(Round, Option<UpdatedBaseline>), CliError> {
        let (count, first) = fixes.map(|it| (it.count, it.checked.take())).unwrap_or_default();
        if self.args.baseline.is_written() {
            let (round, updated) = self.update_baseline(session)?;
            return Ok((round.after(first), Some(updated)));
        }
        let round = match first {
            Some(first) if count == 0 => Round::of_view(first),
            first => self.subject.check(self.question.request.clone())?.after(first),
        };
        Ok((round, None))
    }

    /// The baseline as it is to be, and a check with it. That of a branch is written by then.
    fn update_baseline(&mut self, session: &Session) -> Result<(Round, UpdatedBaseline), CliError> {
        let check = self.question.request.clone();
        let request = BaselineRequest { check, prune: self.args.baseline.baseline_prune };
        let mut updated = self.subject.wait(self.subject.daemon().update_baseline(request))?;
        if let Some(checked) = updated.local.take() {
            return Ok((Round::of_view(*checked), updated));
        }
        baseline::keep(self.args, &self.subject, &updated, session)?;
        if let Some(known) = &mut self.question.request.options.baseline {
            known.content = updated.content.clone();
        }
        Ok((self.subject.check(self.question.request.clone())?, updated))
    }

    /// Shows a round, with its times and what it says of the baseline.
    pub(super) fn conclude(
        &mut self,
        round: Round,
        updated: Option<UpdatedBaseline>,
        session: &mut Session,
    ) -> Result<Exit, CliError> {
        let Self { args, subject, .. } = self;
        if args.timing {
            timing::show(&round.timings, subject.workspace(), &session.messages);
        }
        match (&updated, &*subject) {
            (Some(updated), Subject::View(_)) => baseline::keep(args, subject, updated, session)?,
            (None, _) if !args.quiet => baseline::warn_of_stale(args, subject, round.stale.as_ref(), session),
            _ => {}
        }
        self.show(round, session)
    }

    pub(super) fn warn_of_unknown(&self, rules: &[String], session: &Session) {
        rules.iter().for_each(|it| session.messages.warning(&printable(it)));
    }
}
