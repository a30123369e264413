//! A linter for tests that says what it was told to say.

#![allow(clippy::unwrap_used, reason = "only tests use it")]

pub mod sample;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use lint::{
    Completeness, Diagnostic, FixAvailability, Identity, Interest, Job, Lease, Linter, Outcome, Profile,
    Rule, SetupError,
};
use overlay::{ContentHash, View, WorkspacePath};
use parking_lot::Mutex;

/// A rule that is on by default and says nothing of itself.
pub fn rule(code: &str, name: &str) -> Rule {
    Rule {
        code: code.to_owned(),
        name: name.to_owned(),
        summary: String::new(),
        explanation: String::new(),
        url: None,
        fix: FixAvailability::None,
        default: true,
    }
}

/// See the methods for what it can be told.
pub struct Scripted {
    identity: Identity,
    interest: Interest,
    rules: Vec<Rule>,
    diagnostics: BTreeMap<String, Vec<Diagnostic>>,
    cells: BTreeMap<String, Vec<&'static str>>,
    completeness: BTreeMap<String, Completeness>,
    left_out: BTreeMap<String, String>,
    is_deterministic: bool,
    silent: BTreeSet<String>,
    panics: BTreeSet<String>,
    /// The answers rest on all of this file, which no read set says.
    rests_on: Option<WorkspacePath>,
    /// `None`: a server's if it rests on a file, and else one of a linter that runs here.
    profile: Option<Profile>,
    /// Bounds the reuse of its answers.
    lease: Option<Lease>,
    /// The units it was asked about, with what they were named by.
    asked: Mutex<Vec<(String, String)>>,
}

impl Scripted {
    pub fn new(name: &str, globs: &[&str]) -> Self {
        let globs = globs.iter().map(|it| (*it).to_owned()).collect();
        Self {
            identity: Identity { name: name.into(), version: "1.0.0".into(), digest: ContentHash::of(b"") },
            interest: Interest { globs, ..Interest::default() },
            rules: Vec::new(),
            diagnostics: BTreeMap::new(),
            cells: BTreeMap::new(),
            completeness: BTreeMap::new(),
            left_out: BTreeMap::new(),
            is_deterministic: false,
            silent: BTreeSet::new(),
            panics: BTreeSet::new(),
            rests_on: None,
            profile: None,
            lease: None,
            asked: Mutex::default(),
        }
    }

    pub fn about(mut self, language: &str) -> Self {
        self.interest.languages.push(language.to_owned());
        self
    }

    pub fn knows(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    pub fn finds(mut self, path: &str, diagnostics: Vec<Diagnostic>) -> Self {
        self.diagnostics.insert(path.to_owned(), diagnostics);
        self
    }

    pub fn cells(mut self, path: &str, cells: Vec<&'static str>) -> Self {
        self.cells.insert(path.to_owned(), cells);
        self
    }

    pub fn answers(mut self, path: &str, completeness: Completeness) -> Self {
        self.completeness.insert(path.to_owned(), completeness);
        self
    }

    /// Leaves the file out for its content.
    pub fn leaves_out(mut self, path: &str, reason: &str) -> Self {
        self.left_out.insert(path.to_owned(), reason.to_owned());
        self.answers(path, Completeness::Excluded)
    }

    /// Leaves a part of the file out for its content.
    pub fn reads_in_part(mut self, path: &str, reason: &str) -> Self {
        self.left_out.insert(path.to_owned(), reason.to_owned());
        self
    }

    pub fn fails(self, path: &str, reason: &str) -> Self {
        self.answers(path, Completeness::Failed(reason.to_owned()))
    }

    pub fn partly(self, path: &str, reason: &str) -> Self {
        self.answers(path, Completeness::Partial(reason.to_owned()))
    }

    /// Would fail again in the same way.
    pub fn is_deterministic(mut self) -> Self {
        self.is_deterministic = true;
        self
    }

    /// Breaks the contract: gives no answer for `path`.
    pub fn forgets(mut self, path: &str) -> Self {
        self.silent.insert(path.to_owned());
        self
    }

    pub fn panics(mut self, path: &str) -> Self {
        self.panics.insert(path.to_owned());
        self
    }

    pub fn rests_on(mut self, path: &str) -> Self {
        self.rests_on = Some(WorkspacePath::new(path).unwrap());
        self
    }

    pub fn works(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    pub fn leased(mut self, lease: Lease) -> Self {
        self.lease = Some(lease);
        self
    }

    pub fn asked(&self) -> Vec<(String, String)> {
        let mut asked = self.asked.lock().clone();
        asked.sort();
        asked
    }
}

impl Linter for Scripted {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn interest(&self) -> &Interest {
        &self.interest
    }

    fn rules(&self, _view: &Arc<dyn View>) -> Result<Vec<Rule>, SetupError> {
        Ok(self.rules.clone())
    }

    fn profile(&self) -> Profile {
        let of_server = self.rests_on.as_ref().map(|_| Profile::SERVER);
        self.profile.or(of_server).unwrap_or(Profile::LOCAL)
    }

    fn context(&self, view: &Arc<dyn View>) -> Option<ContentHash> {
        view.hash(self.rests_on.as_ref()?).ok()
    }

    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) {
        for (index, unit) in job.units.iter().enumerate() {
            let path = unit.path.as_str();
            self.asked.lock().push((path.to_owned(), unit.named.to_string()));
            assert!(!self.panics.contains(path), "the script says so");
            if self.silent.contains(path) {
                continue;
            }
            let cells = self.cells.get(path).into_iter().flatten().map(|it| (*it).into()).collect();
            let outcome = Outcome {
                diagnostics: self.diagnostics.get(path).cloned().unwrap_or_default(),
                cells,
                completeness: self.completeness.get(path).cloned().unwrap_or(Completeness::Complete),
                content: job.view.open(&unit.path).ok().map(|it| ContentHash::of(&it)),
                reads: Arc::default(),
                lease: self.lease.clone(),
                aborted: false,
                is_deterministic: self.is_deterministic,
                left_out: self.left_out.get(path).cloned(),
            };
            answer(index, outcome);
        }
    }
}
