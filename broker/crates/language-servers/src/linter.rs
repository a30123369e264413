//! A language server as a linter: what it is called, which files it wants, and what its answers rest on.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use external_tools::OutsideAge;
use lint::{
    CHANGED, Cancel, Completeness, Identity, Interest, Job, Linter, Masking, Outcome, Rule, SetupError, Tag,
};
use lsp_client::{Launch, Limits, Supervisor};
use overlay::{ContentHash, View, WorkspacePath};

use crate::{
    Environment, Pool, Priority, Profile, Question, ServerReply,
    actor::Setup,
    dependents::dependents,
    pool::{ReplicaSet, ServerInputs, SetupDigest},
    profile::fill_text,
};

/// Pause between a server's death and the next start.
const RESTART_PAUSE: Duration = Duration::from_millis(100);

/// A server's program.
pub struct ServerProgram<'e> {
    pub path: PathBuf,
    pub supervisor: Supervisor,
    pub environment: &'e Environment,
}

/// A server that is asked for diagnostics, of one workspace and in one configuration. It is one of a pool's, and
/// has a process while it is needed.
pub struct LanguageServer {
    replicas: Arc<ReplicaSet>,
    setup: Setup,
    /// Identity, with a digest of the setup and of the state outside of the workspace when the answers were named.
    identity: Identity,
    interest: Interest,
}

impl LanguageServer {
    /// The server of a profile, which is started when it is needed. `disk` is the folder `root`, which the server reads itself.
    pub fn new(
        pool: &Pool,
        profile: &Profile,
        root: &Path,
        disk: Arc<dyn View>,
        program: ServerProgram<'_>,
        age: OutsideAge,
    ) -> Result<Self, SetupError> {
        let tool = &profile.tool;
        let ServerProgram { path, supervisor, environment } = program;
        let offline = OFFLINE.iter().map(|(name, value)| ((*name).into(), Some((*value).into())));
        let own = tool.env.iter().map(|(key, it)| (key.into(), Some(fill_text(it, root).into())));
        let launch = Launch {
            supervisor,
            program: path,
            args: tool.arguments().iter().map(OsString::from).collect(),
            env: environment.changes().into_iter().chain(offline).chain(own).collect(),
            own_folder: profile.own_folder_variables(),
            cwd: root.to_owned(),
            nice: SERVER_NICENESS,
        };
        let (root, limits) = (root.to_owned(), Limits::default());
        let setup = Setup { profile: profile.clone(), root, disk, launch, limits, pause: RESTART_PAUSE };
        Self::seen(pool, setup, age).map_err(|message| SetupError {
            linter: tool.name.clone(),
            message,
            hint: None,
        })
    }

    /// Creates the server of a complete setup. Its answers are named by the program's file and not by the version that
    /// the server reports once it is started.
    pub fn in_pool(pool: &Pool, setup: Setup) -> Result<Self, String> {
        Self::seen(pool, setup, OutsideAge::Now)
    }

    fn seen(pool: &Pool, setup: Setup, age: OutsideAge) -> Result<Self, String> {
        let outside = pool.outside_state(&setup.root);
        let (profile, digest) = (&setup.profile, SetupDigest::of(&setup, &outside, age));
        let replicas = pool.replicas(setup.clone(), digest, outside)?;
        let identity =
            Identity { name: profile.tool.name.clone(), version: String::new(), digest: digest.name() };
        let interest = Interest {
            languages: profile.tool.languages.clone(),
            globs: profile.tool.globs.clone(),
            interpreters: Vec::new(),
        };
        Ok(Self { replicas, setup, identity, interest })
    }

    /// Returns the name and version that the server reports; starts it if they are not known yet.
    pub fn version(&self, deadline: Instant, cancel: &Cancel) -> Result<String, String> {
        self.replicas.version(deadline, cancel)
    }

    /// Asks something else than for findings. See [`Server::query`](crate::Server::query).
    pub fn query(
        &self,
        view: &Arc<dyn View>,
        question: Question,
        priority: Priority,
        deadline: Instant,
        cancel: &Cancel,
    ) -> ServerReply {
        self.replicas.look_outside();
        let inputs = ServerInputs::of(view, &self.setup.profile);
        let edited = self.replicas.tell_changes(&**view, &inputs.contents);
        let mut reply = self.replicas.query(Arc::clone(view), question, priority, deadline, cancel);
        if let Ok(answer) = &mut reply.answer {
            let changed = || format!("files {CHANGED}");
            let changed = || (!inputs.hold_in(view, &self.setup.profile)).then(changed);
            answer.partial =
                answer.partial.take().or_else(changed).or_else(|| inputs.hidden(&edited, &**view));
        }
        reply
    }
}

impl Linter for LanguageServer {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn interest(&self) -> &Interest {
        &self.interest
    }

    /// Returns no rules: no server reports its own.
    fn rules(&self, _view: &Arc<dyn View>) -> Result<Vec<Rule>, SetupError> {
        Ok(Vec::new())
    }

    /// Most analyse only what compiles.
    fn masking(&self) -> Masking {
        Masking::Errors
    }

    fn profile(&self) -> lint::Profile {
        lint::Profile::SERVER
    }

    /// Names all files of its kind, and those that it is configured by. What its processes watch outside is looked at
    /// before, so that no answer is given again that rests on what was there.
    fn context(&self, view: &Arc<dyn View>) -> Option<ContentHash> {
        self.replicas.look_outside();
        Some(ServerInputs::of(view, &self.setup.profile).digest)
    }

    fn dependents(&self, view: &Arc<dyn View>, changed: &[WorkspacePath]) -> Vec<WorkspacePath> {
        dependents(&self.replicas.imports, &self.setup.profile, &**view, changed)
    }

    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) {
        self.replicas.look_outside();
        let inputs = ServerInputs::of(&job.view, &self.setup.profile);
        let edited = self.replicas.tell_changes(&*job.view, &inputs.contents);
        let mut outcomes = Vec::new();
        for (number, units) in job.units.chunks(MAX_FILES_PER_REQUEST).enumerate() {
            let units: Vec<_> = units.iter().map(|it| it.path.clone()).collect();
            let time = job.timeout.saturating_mul(u32::try_from(units.len()).unwrap_or(u32::MAX));
            let deadline = Instant::now() + time.min(MAX_REQUEST_TIME);
            let mut keep = |index, outcome| outcomes.push((number * MAX_FILES_PER_REQUEST + index, outcome));
            let priority = if job.is_awaited { Priority::Interactive } else { Priority::Background };
            self.replicas.ask(Arc::clone(&job.view), units, priority, deadline, &job.cancel, &mut keep);
        }
        let is_another = self.identity.digest
            != SetupDigest::of(&self.setup, &self.replicas.outside, OutsideAge::Now).name();
        let installed = is_another.then(|| "something was installed while it was asked".to_owned());
        let unsure = installed.or_else(|| inputs.hidden(&edited, &*job.view));
        for (index, mut outcome) in outcomes {
            if let (Some(why), Completeness::Complete) = (&unsure, &outcome.completeness) {
                outcome.completeness = Completeness::Partial(why.clone());
            }
            for it in &mut outcome.diagnostics {
                if self.setup.profile.is_syntax_error(&it.code) {
                    it.tags.push(Tag::SyntaxError);
                }
                it.shared_name = self.setup.profile.tool.same_as.shared_name(&it.code, it.url.as_deref());
            }
            let reads = Arc::new(inputs.related(&outcome));
            answer(index, Outcome { reads, ..outcome });
        }
    }
}

/// Variables that keep a server from installing anything or using the network because it was started here. Nothing
/// listens on the port: connections are refused at once. A profile's own environment goes before this.
const OFFLINE: [(&str, &str); 9] = [
    ("http_proxy", NOWHERE),
    ("https_proxy", NOWHERE),
    ("all_proxy", NOWHERE),
    ("HTTP_PROXY", NOWHERE),
    ("HTTPS_PROXY", NOWHERE),
    ("ALL_PROXY", NOWHERE),
    ("npm_config_offline", "true"),
    ("PIP_NO_INDEX", "1"),
    ("NO_UPDATE_NOTIFIER", "1"),
];

const NOWHERE: &str = "http://127.0.0.1:9";

/// Niceness of the processes: people and their editors go first.
const SERVER_NICENESS: i32 = 5;

/// Maximum number of files in one request to the server: servers refuse too many questions, and other requests get
/// their turn.
const MAX_FILES_PER_REQUEST: usize = 128;

/// An instant that far away can be told.
const MAX_REQUEST_TIME: Duration = Duration::from_secs(24 * 3600);
