//! Subject of a check: a view in the daemon of this process, or a branch in the user's daemon.

use std::sync::Arc;

use check_engine::pipeline::Fixed;
use config::root::WorkspaceRoot;
use lint::Rule;
use overlay::{Revision, View};
use tokio_stream::StreamExt as _;
use workspaces::{CheckRequest, Events, FileText, PageRequest, RequestError, TargetId, Workspaces};

use super::{
    Args, branch::Branch, ephemeral::Ephemeral, request, round::Round, run::Question, texts::Texts,
    view::Input,
};
use crate::{CliError, cli::Session, progress::Progress};

/// Subject of a check, and the daemon that is asked about it.
pub(super) enum Subject<'a> {
    View(ShownView<'a>),
    Branch(Branch),
}

/// A view that the daemon of this process has.
pub(super) struct ShownView<'a> {
    ephemeral: &'a Ephemeral,
    pub(super) input: Input,
    progress: Arc<Progress>,
}

impl<'a> ShownView<'a> {
    /// Hands the view to the daemon.
    pub(super) fn open(
        args: &Args,
        mut input: Input,
        ephemeral: &'a Ephemeral,
        session: &Session,
    ) -> Result<(Self, Question), CliError> {
        let progress = progress(args, session);
        let local = input.local(!args.quiet, session, &progress);
        let target = ephemeral.daemon.open_view(local);
        let question = request::of_view(args, target, &mut input, &session.cwd()?)?;
        Ok((Self { ephemeral, input, progress }, question))
    }

    /// Shows the fixes in place of what was there.
    pub(super) fn show_fixed(&mut self, args: &Args, fixed: &Fixed, session: &Session) {
        self.input.view = Arc::new(fixed.branch.snapshot());
        self.progress = progress(args, session);
        self.ephemeral.daemon.open_view(self.input.local(false, session, &self.progress));
    }
}

fn progress(args: &Args, session: &Session) -> Arc<Progress> {
    let watched = session.process_context.watched && !args.quiet;
    Arc::new(Progress::new(session.messages.clone(), watched))
}

impl Subject<'_> {
    pub(super) fn daemon(&self) -> &dyn Workspaces {
        match self {
            Self::View(it) => &it.ephemeral.daemon,
            Self::Branch(it) => it.open.client.daemon(),
        }
    }

    pub(super) fn workspace(&self) -> &WorkspaceRoot {
        match self {
            Self::View(it) => &it.input.workspace,
            Self::Branch(it) => &it.open.workspace,
        }
    }

    /// Waits for an answer, or for the beginning of one that comes in parts.
    pub(super) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, RequestError>>,
    ) -> Result<T, CliError> {
        match self {
            Self::View(it) => {
                let answered = it.ephemeral.wait(answer);
                it.progress.end();
                answered
            }
            Self::Branch(it) => Ok(it.open.client.wait(answer)?),
        }
    }

    /// The next part of an answer; `None` after the last.
    pub(super) fn next<T>(&self, events: &mut Events<T>) -> Result<Option<T>, CliError> {
        self.wait(async { events.next().await.transpose() })
    }

    /// Checks once. Results from before an interrupt stand.
    pub(super) fn check(&self, request: CheckRequest) -> Result<Round, CliError> {
        let mut round = Round::default();
        let answered = self.wait(self.daemon().check(request)).and_then(|mut events| {
            while let Some(event) = self.next(&mut events)? {
                round.add(event);
            }
            Ok(())
        });
        match answered {
            Err(_) if self.is_interrupted() => {}
            answered => answered?,
        }
        Ok(round)
    }

    /// Whether an answer was not waited for. A view's comes all the same.
    pub(super) fn is_interrupted(&self) -> bool {
        matches!(self, Self::Branch(it) if it.open.client.is_interrupted())
    }

    /// The texts that findings are about; of a branch, those of a revision, with `shown` over them.
    pub(super) fn texts(&self, revision: Revision, shown: &[FileText]) -> Arc<dyn View + '_> {
        match self {
            Self::View(it) => Arc::clone(&it.input.view),
            Self::Branch(it) => Arc::new(Texts::new(&it.open, &it.id, revision, shown)),
        }
    }

    /// Every rule of a linter; formats that describe rules do without what cannot be had.
    pub(super) fn rules(&self, target: &TargetId, linter: &str) -> Result<Vec<Rule>, CliError> {
        let mut rules = Vec::new();
        let mut page = PageRequest { size: 10_000, token: String::new() };
        loop {
            let found = self.wait(self.daemon().list_rules(Some(target), linter, &page))?;
            rules.extend(found.items.into_iter().map(|it| it.rule));
            page.token = found.next_token;
            if page.token.is_empty() {
                return Ok(rules);
            }
        }
    }
}
