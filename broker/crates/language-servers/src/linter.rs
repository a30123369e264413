//! A language server as a linter: what it is called, which files it wants, and what its answers rest on.

mod told;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use lint::{Cancel, Completeness, Identity, Interest, Job, Linter, Outcome, Rule, SetupError};
use overlay::{ContentHash, Read, ReadSet, Traced, View, WalkOptions, WorkspacePath, walk};

use self::told::{Contents, Told};
use crate::{
    Keeper, Launch, Limits, Profile, Question, Reply,
    actor::{Server, Setup},
    profile::fill_text,
};

/// Between a server's death and the next.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that is asked for diagnostics, of one workspace and in one configuration.
pub struct LanguageServer {
    server: Server,
    told: Told,
    profile: Profile,
    identity: Identity,
    interest: Interest,
}

impl LanguageServer {
    /// Finds the profile's program, and starts it to learn its version. `disk` is the folder `root`, which
    /// the server reads itself.
    pub fn start(
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
        Self::of(setup, deadline, cancel).map_err(|message| refusal(message, None))
    }

    /// The same, of a setup that is complete.
    pub fn of(setup: Setup, deadline: Instant, cancel: &Cancel) -> Result<Self, String> {
        let profile = setup.profile.clone();
        let digest = digest(&setup);
        let told = Told::new(Arc::clone(&setup.disk), look(&setup.disk, &profile).1);
        let server = Server::new(setup);
        let version = server.start(deadline, cancel)?.unwrap_or_default();
        let identity = Identity { name: profile.name.clone(), version, digest };
        let interest = Interest { languages: profile.languages.clone(), globs: profile.globs.clone() };
        Ok(Self { server, told, profile, identity, interest })
    }
}

/// All that a server may look at of the workspace: its own kind of files, wherever a walk leads. Also by
/// itself, what is in these files.
fn look(view: &Arc<dyn View>, profile: &Profile) -> (Arc<ReadSet>, Contents) {
    let traced = Traced::new(Arc::clone(view));
    let mut names: BTreeMap<WorkspacePath, Vec<String>> = BTreeMap::new();
    for path in walk(&traced, &[WorkspacePath::root()], &WalkOptions::default()) {
        let is_read = profile.covers(&path) || profile.is_config(&path);
        if let (true, Some(directory), Some(name)) = (is_read, path.parent(), path.file_name()) {
            names.entry(directory).or_default().push(name.to_owned());
        }
    }
    let mut contents = Contents::new();
    for (directory, names) in names {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let seen = Read::observe_contents(&**view, &directory, &names);
        contents.extend(names.iter().map(|it| directory.child(it)).zip(seen));
    }
    let walked = traced.read_set();
    let walked = walked.iter().map(|(read, seen)| (read.clone(), seen));
    let read = contents.iter().map(|(path, seen)| (Read::Content(path.clone()), *seen));
    (Arc::new(walked.chain(read).collect()), contents)
}

/// Of all that decides how the server is started and what it is told.
fn digest(setup: &Setup) -> ContentHash {
    let Setup { profile, launch, .. } = setup;
    let Profile { options, settings, capabilities, barrier, sees, .. } = profile;
    let Launch { program, args, env, .. } = launch;
    let text = format!(
        "{program:?} {args:?} {env:?} {options} {settings} {capabilities} {barrier:?} {sees:?} {:?}",
        profile.config_files
    );
    ContentHash::of(text.as_bytes())
}

impl LanguageServer {
    /// Asks something else than for findings. See [`Server::query`].
    pub fn query(
        &self,
        view: &Arc<dyn View>,
        question: Question,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Reply {
        let (reads, contents) = look(view, &self.profile);
        self.told.update(&**view, &contents, |changes| self.server.disk_changed(changes));
        let mut reply = self.server.query(Arc::clone(view), question, deadline, cancel);
        if let Ok(found) = &mut reply.found
            && !reads.holds_in(&**view)
        {
            found.partial.get_or_insert_with(|| CHANGED.to_owned());
        }
        reply
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
        self.told.update(&*job.view, &contents, |changes| self.server.disk_changed(changes));
        let units: Vec<_> = job.units.iter().map(|it| it.path.clone()).collect();
        let time = job.timeout.saturating_mul(u32::try_from(units.len()).unwrap_or(u32::MAX));
        let deadline = Instant::now() + time.min(LONGEST);
        let mut outcomes = Vec::new();
        let mut keep = |index, outcome| outcomes.push((index, outcome));
        self.server.ask(Arc::clone(&job.view), units, deadline, &job.cancel, &mut keep);
        let is_still = reads.holds_in(&*job.view);
        for (index, mut outcome) in outcomes {
            if !is_still && outcome.completeness == Completeness::Complete {
                outcome.completeness = Completeness::Partial(CHANGED.to_owned());
            }
            answer(index, Outcome { reads: Arc::clone(&reads), ..outcome });
        }
    }
}

/// An instant that far away can be told.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
