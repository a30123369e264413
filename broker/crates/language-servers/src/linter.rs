//! A language server as a linter: what it is called, which files it wants, and what its answers rest on.

use std::{
    ffi::OsString,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use lint::{Cancel, Completeness, Identity, Interest, Job, Linter, Outcome, Rule, SetupError};
use overlay::View;

use crate::{
    Keeper, Launch, Limits, Pool, Profile, Question, Reply,
    actor::Setup,
    pool::{Team, digest, look},
    profile::fill_text,
};

/// Between a server's death and the next.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that is asked for diagnostics, of one workspace and in one configuration. It is one of a pool's, and
/// has a process while it is needed.
pub struct LanguageServer {
    team: Arc<Team>,
    profile: Profile,
    identity: Identity,
    interest: Interest,
}

impl LanguageServer {
    /// Finds the profile's program, and starts it to learn its version. `disk` is the folder `root`, which
    /// the server reads itself.
    pub fn start(
        pool: &Pool,
        profile: &Profile,
        root: &Path,
        disk: Arc<dyn View>,
        keeper: Keeper,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Self, SetupError> {
        let name = &profile.name;
        let refusal = |message, hint| SetupError { linter: name.clone(), message, hint };
        let missing =
            || refusal(format!("{name} is not installed"), Some(format!("to have it: {}", profile.install)));
        let (program, args) = profile.find(root).ok_or_else(missing)?;
        let env = profile.env.iter();
        let launch = Launch {
            keeper,
            program,
            args: args.iter().map(OsString::from).collect(),
            env: env.map(|(key, it)| (key.into(), Some(fill_text(it, root).into()))).collect(),
            cwd: root.to_owned(),
            nice: 0,
        };
        let (root, limits) = (root.to_owned(), Limits::default());
        let setup = Setup { profile: profile.clone(), root, disk, launch, limits, pause: PAUSE };
        Self::in_pool(pool, setup, deadline, cancel).map_err(|message| refusal(message, None))
    }

    /// The same, of a setup that is complete. Starts it only if the pool does not know its version yet.
    pub fn in_pool(pool: &Pool, setup: Setup, deadline: Instant, cancel: &Cancel) -> Result<Self, String> {
        let (profile, digest) = (setup.profile.clone(), digest(&setup));
        let team = pool.team(setup)?;
        let version = team.version(deadline, cancel)?;
        let identity = Identity { name: profile.name.clone(), version, digest };
        let interest = Interest { languages: profile.languages.clone(), globs: profile.globs.clone() };
        Ok(Self { team, profile, identity, interest })
    }

    /// The same, alone in a pool.
    pub fn of(setup: Setup, deadline: Instant, cancel: &Cancel) -> Result<Self, String> {
        Self::in_pool(&Pool::default(), setup, deadline, cancel)
    }

    /// Asks something else than for findings. See [`Server::query`](crate::Server::query).
    pub fn query(
        &self,
        view: &Arc<dyn View>,
        question: Question,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Reply {
        let (reads, contents) = look(view, &self.profile);
        self.team.tell_changes(&**view, &contents);
        let mut reply = self.team.query(Arc::clone(view), question, deadline, cancel);
        if let Ok(found) = &mut reply.found
            && !reads.holds_in(&**view)
        {
            found.partial.get_or_insert_with(|| CHANGED.to_owned());
        }
        reply
    }

    /// Why an answer is not to be kept, although it is whole.
    fn doubt(&self, is_still: bool) -> Option<String> {
        if !is_still {
            return Some(CHANGED.to_owned());
        }
        let (is_another, name) = (self.team.is_another(&self.identity.version), &self.identity.name);
        is_another.then(|| format!("{name} is another version now than `{}`", self.identity.version))
    }
}

const CHANGED: &str = "files have changed while it was asked";

impl Linter for LanguageServer {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn interest(&self) -> &Interest {
        &self.interest
    }

    /// No server tells.
    fn rules(&self) -> Result<Vec<Rule>, SetupError> {
        Ok(Vec::new())
    }

    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) {
        let (reads, contents) = look(&job.view, &self.profile);
        self.team.tell_changes(&*job.view, &contents);
        let units: Vec<_> = job.units.iter().map(|it| it.path.clone()).collect();
        let time = job.timeout.saturating_mul(u32::try_from(units.len()).unwrap_or(u32::MAX));
        let deadline = Instant::now() + time.min(LONGEST);
        let mut outcomes = Vec::new();
        let mut keep = |index, outcome| outcomes.push((index, outcome));
        self.team.ask(Arc::clone(&job.view), units, deadline, &job.cancel, &mut keep);
        let doubt = self.doubt(reads.holds_in(&*job.view));
        for (index, mut outcome) in outcomes {
            if let (Some(reason), Completeness::Complete) = (&doubt, &outcome.completeness) {
                outcome.completeness = Completeness::Partial(reason.clone());
            }
            answer(index, Outcome { reads: Arc::clone(&reads), ..outcome });
        }
    }
}

/// An instant that far away can be told.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
