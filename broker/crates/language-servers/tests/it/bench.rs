//! An actor over a workspace in memory, with a server at its other end.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use language_servers::{Barrier, Canary, Deletes, Priority, Profile, Server, Setup};
use lint::{Cancel, Completeness, Outcome};
use lsp_client::Limits;
use overlay::{Branch, Memory, View, WorkspacePath};

use crate::{
    fixture::{TESTKIT, far},
    testkit,
};

/// Files that the server reads itself, according to the actor.
const FILES: [(&str, &str); 4] = [("a.m", "a0"), ("b.m", "b0"), ("dir/c.m", "c0"), ("m.toml", "config")];

pub(crate) fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

pub(crate) struct Bench {
    pub(crate) disk: Arc<dyn View>,
    pub(crate) server: Server,
}

/// For a server that sees everything.
pub(crate) fn profile() -> Profile {
    let mut profile = Profile::named("ty").unwrap().clone();
    profile.tool.name = "model".to_owned();
    profile.tool.languages = vec!["m".to_owned()];
    profile.tool.globs = vec!["*.m".to_owned()];
    profile.config_files = vec!["m.toml".to_owned()];
    profile.canary = None::<Canary>;
    profile.sees.new_files = true;
    profile.sees.deletes = Deletes::Watched;
    profile
}

pub(crate) fn disk() -> Arc<dyn View> {
    Arc::new(Memory::from_files(FILES).unwrap())
}

/// With the testkit's server of this name.
pub(crate) fn setup(args: &[&str], profile: Profile) -> Setup {
    let launch = testkit::launch(Path::new(TESTKIT), args);
    let pause = Duration::from_millis(1);
    Setup { profile, root: PathBuf::from("/w"), disk: disk(), launch, limits: Limits::default(), pause }
}

/// Returns the setup of a scripted server with the capabilities that any profile needs.
pub(crate) fn scripted(script: &str, change: impl FnOnce(&mut Profile)) -> Setup {
    let hello = r#"
        {"expect": "initialize", "answer": {"capabilities": {"diagnosticProvider": {}, "executeCommandProvider": {}}}}
        {"expect": "initialized"}
    "#;
    let mut profile = profile();
    change(&mut profile);
    setup(&["fake", &format!("{hello}{script}")], profile)
}

impl Bench {
    pub(crate) fn model() -> Self {
        Self::model_with(|_| ())
    }

    pub(crate) fn model_with(change: impl FnOnce(&mut Profile)) -> Self {
        let mut profile = profile();
        change(&mut profile);
        Self::of(setup(&["model"], profile))
    }

    /// A server that publishes about what it is sent, and would believe any older state.
    pub(crate) fn publishing() -> Self {
        let mut profile = profile();
        profile.barrier = Barrier::Reopen;
        Self::of(setup(&["model", "publishes"], profile))
    }

    /// The script begins after the beginning.
    pub(crate) fn scripted(script: &str, change: impl FnOnce(&mut Profile)) -> Self {
        Self::of(scripted(script, change))
    }

    pub(crate) fn of(setup: Setup) -> Self {
        Self { disk: Arc::clone(&setup.disk), server: Server::new(setup) }
    }

    pub(crate) fn branch(&self) -> Branch {
        Branch::new(Arc::clone(&self.disk))
    }

    /// A branch with these files; without text, a file is deleted.
    pub(crate) fn view(&self, edits: &[(&str, Option<&str>)]) -> Arc<dyn View> {
        let mut branch = self.branch();
        for (name, text) in edits {
            match text {
                Some(text) => branch.write(&path(name), text.to_string().into()).unwrap(),
                None => branch.remove(&path(name)).unwrap(),
            };
        }
        Arc::new(branch.snapshot())
    }

    pub(crate) fn ask(&self, view: &Arc<dyn View>, units: &[&str]) -> Vec<Outcome> {
        self.ask_until(view, units, far(), &Cancel::default())
    }

    pub(crate) fn ask_until(
        &self,
        view: &Arc<dyn View>,
        units: &[&str],
        deadline: Instant,
        cancel: &Cancel,
    ) -> Vec<Outcome> {
        let mut outcomes = vec![None; units.len()];
        let paths = units.iter().map(|it| path(it)).collect();
        self.server.ask(
            Arc::clone(view),
            paths,
            Priority::Background,
            deadline,
            cancel,
            &mut |index, outcome| {
                assert!(outcomes[index].replace(outcome).is_none(), "answered twice");
            },
        );
        outcomes.into_iter().map(Option::unwrap).collect()
    }

    /// Returns the server's findings in one unit: messages, or the reason why there are none.
    pub(crate) fn says(&self, edits: &[(&str, Option<&str>)], unit: &str) -> String {
        said(&self.ask(&self.view(edits), &[unit])[0])
    }
}

pub(crate) fn said(outcome: &Outcome) -> String {
    let found: Vec<_> = outcome.diagnostics.iter().map(|it| it.message.as_str()).collect();
    let found = found.join(", ");
    match &outcome.completeness {
        Completeness::Complete => found,
        Completeness::Excluded => "excluded".to_owned(),
        Completeness::Partial(reason) => format!("{found} [{reason}]"),
        Completeness::Pending(reason) => format!("pending: {reason}"),
        Completeness::Failed(reason) => format!("failed: {reason}"),
    }
}
