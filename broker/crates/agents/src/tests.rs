//! Calls with a linter that is held until it is released.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use check_engine::{Engine, Router};
use config::{Selectors, SetupFailure};
use lint::{
    Completeness, Diagnostic, Identity, Interest, Job, Linter, Outcome, Profile, Rule, SetupError, Severity,
    Span,
};
use linters::{
    Catalog, Diagnosis, LinterKind, LinterName, Provider, RuleSet, Rules, Selected, WorkspaceContext,
};
use overlay::{ContentHash, Revision, View};
use parking_lot::{Condvar, Mutex};
use serde_json::{Value, json};
use tempfile::TempDir;
use workspaces::{BATCH, BranchRequest, Parts, Side, TargetId};

use super::*;

mod stale;

const TEST_TIMEOUT: Duration = Duration::from_secs(120);

/// A linter that finds each line that is its own name.
struct Finder {
    identity: Identity,
    interest: Interest,
    profile: Profile,
    gate: Option<Arc<Gate>>,
}

/// Holds the linter that has it, and counts the files that it was asked about.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    changed: Condvar,
    asked: AtomicUsize,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock() = true;
        self.changed.notify_all();
    }

    fn pass(&self) {
        self.asked.fetch_add(1, SeqCst);
        self.changed.wait_while(&mut self.is_open.lock(), |it| !*it);
    }
}

impl Finder {
    fn linter(name: &str, profile: Profile, gate: Option<Arc<Gate>>) -> Arc<dyn Linter> {
        let identity = Identity { name: name.into(), version: "1".into(), digest: ContentHash::of(b"") };
        let interest = Interest { globs: vec!["*.txt".to_owned()], ..Interest::default() };
        Arc::new(Self { identity, interest, profile, gate })
    }

    fn find(&self, text: &str) -> Vec<Diagnostic> {
        let name = &self.identity.name;
        let found = text.match_indices(&**name).map(|(at, _)| Diagnostic {
            code: "X".to_owned(),
            name: None,
            message: format!("no {name}"),
            severity: Severity::Error,
            cell: None,
            span: Span::new(at as u32, (at + name.len()) as u32),
            tags: Vec::new(),
            url: None,
            shared_name: None,
            fixes: Vec::new(),
            related: Vec::new(),
        });
        found.collect()
    }
}

impl Linter for Finder {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn interest(&self) -> &Interest {
        &self.interest
    }

    fn rules(&self, _view: &Arc<dyn View>) -> Result<Vec<Rule>, SetupError> {
        Ok(Vec::new())
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn context(&self, _view: &Arc<dyn View>) -> Option<ContentHash> {
        Some(ContentHash::of(b""))
    }

    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Outcome)) {
        for (index, unit) in job.units.iter().enumerate() {
            self.gate.iter().for_each(|it| it.pass());
            let text = job.view.open(&unit.path).unwrap();
            let outcome = Outcome {
                diagnostics: self.find(std::str::from_utf8(&text).unwrap()),
                content: Some(ContentHash::of(&text)),
                ..Outcome::without_findings(Completeness::Complete)
            };
            answer(index, outcome);
        }
    }
}

/// Provider of a fixed list of linters.
#[derive(Clone)]
struct These(Vec<Arc<dyn Linter>>);

impl Provider for These {
    fn kind(&self) -> LinterKind {
        LinterKind::Server
    }

    fn open(
        &self,
        _context: &Arc<WorkspaceContext>,
        _view: &Arc<dyn View>,
    ) -> Result<Box<dyn Catalog>, SetupFailure> {
        Ok(Box::new(self.clone()))
    }
}

impl Catalog for These {
    fn names(&self) -> Result<Vec<LinterName>, SetupFailure> {
        let name =
            |it: &Arc<dyn Linter>| LinterName { name: it.identity().name.clone(), rules: RuleSet::Open };
        Ok(self.0.iter().map(name).collect())
    }

    fn select(&self, _selectors: &Selectors) -> Result<Selected, SetupFailure> {
        Ok(Selected { router: Arc::new(Router::new(&self.0)), unknown: Vec::new() })
    }

    fn rules(&self, _linter: &str) -> Result<Option<Rules>, SetupFailure> {
        Ok(Some(Rules::Open))
    }

    fn diagnose(&self, _selectors: &Selectors) -> Result<Vec<Diagnosis>, SetupFailure> {
        Ok(Vec::new())
    }
}

struct Fixture {
    agents: Arc<Agents>,
    workspace: String,
    gate: Arc<Gate>,
    folders: [TempDir; 2],
}

impl Drop for Fixture {
    /// No thread may be left waiting.
    fn drop(&mut self) {
        self.gate.open();
    }
}

impl Fixture {
    /// A workspace with two files, a linter `quick`, and a linter `slow` that is held.
    async fn new() -> Self {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for name in ["a.txt", "b.txt"] {
            std::fs::write(folders[0].path().join(name), "slow was here\n").unwrap();
        }
        let gate = Arc::<Gate>::default();
        let quick = Finder::linter("quick", Profile::LOCAL, None);
        let slow = Finder::linter("slow", Profile::SERVER, Some(Arc::clone(&gate)));
        let options =
            scheduler::Options { workers: 2, interactive_workers: 0, ..scheduler::Options::default() };
        let daemon = Daemon::new(Parts {
            plugins: linters::plugins::Plugins::none().unwrap(),
            servers: linters::servers::Servers::of_user(),
            others: vec![Arc::new(These(vec![quick, slow]))],
            engine: Engine::new(options, 4, Some(Arc::new(check_engine::answers(None))), "test").unwrap(),
            state_dir: Some(folders[1].path().to_owned()),
            batch: BATCH,
            idle_exit: None,
            policy_memory: 1 << 20,
            #[cfg(target_os = "linux")]
            launcher: shadow::Launcher::this_program(),
        });
        let opened = daemon.open_workspace(folders[0].path().to_owned(), None).await.unwrap();
        let agents = Arc::new(Agents::new(daemon, None, None));
        Self { agents, workspace: opened.info.id.to_string(), gate, folders }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.call_on(None, tool, arguments).await
    }

    /// Calls a tool in a session whose branch is named.
    async fn call_on(&self, branch: Option<&str>, tool: &str, arguments: Value) -> Reply {
        let call = Call {
            workspace: self.workspace.clone(),
            session: "s".to_owned(),
            branch: branch.map(str::to_owned),
            tool: tool.to_owned(),
            arguments: arguments.as_object().unwrap().clone(),
            deadline: None,
            traceparent: None,
        };
        self.agents.call(call).await.unwrap()
    }

    async fn edit(&self, file: &str, text: &str) -> Reply {
        let arguments = json!({ "target_file": file, "code_edit": text, "wait": 2 });
        let reply = self.call("edit_file", arguments).await;
        assert!(!reply.is_error, "{}", reply.text);
        reply
    }

    /// Saves a file as its user would, and waits until the base has it.
    async fn save(&self, file: &str, text: &str) {
        std::fs::write(self.folders[0].path().join(file), text).unwrap();
        let base = TargetId::Workspace(self.workspace.clone());
        let has_it = async {
            while self.agents.daemon.read_file(&base, file, Side::Now).await.unwrap().bytes != text {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TEST_TIMEOUT, has_it).await.unwrap();
    }

    fn disk(&self, file: &str) -> String {
        std::fs::read_to_string(self.folders[0].path().join(file)).unwrap()
    }

    /// Waits until the checks of this revision that go on have ended.
    async fn settled(&self, revision: u64) {
        let session =
            Arc::clone(&self.agents.sessions.get(&(self.workspace.clone(), "s".to_owned(), None)).unwrap());
        let request = BranchRequest {
            workspace: Some(self.workspace.clone()),
            branch: session.branch().to_owned(),
            with_tree_hash: false,
            with_conflicts: false,
        };
        let branch = self.agents.daemon.get_branch(request).await.unwrap().info.id.to_string();
        session.late.join(&TargetId::Branch(branch), Revision(revision), TEST_TIMEOUT).await;
    }
}

const TEXT: &str = "slow was here\nquick\nslow\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_may_name_the_branch_of_its_session() {
    let it = Fixture::new().await;
    let edit = json!({ "target_file": "mine.txt", "code_edit": "b\n", "check": false });
    let edited = it.call_on(Some("mine"), "edit_file", edit).await;
    assert_eq!(edited.branch(), Some("mine"), "{}", edited.text);
    let read = json!({ "target_file": "mine.txt" });
    assert!(!it.call_on(Some("mine"), "read_file", read.clone()).await.is_error);
    assert!(it.call("read_file", read).await.is_error, "the session's branch is another");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_answers_while_a_linter_is_held_and_the_next_call_has_the_rest() {
    let it = Fixture::new().await;
    let edited = it.edit("a.txt", TEXT).await;
    let check = &edited.structured["check"];
    assert_eq!(check["ok"], false);
    assert_eq!(check["still_asked"], json!([{ "linter": "slow", "files": 1 }]));
    assert_eq!((&check["total"], &check["findings"][0]["rule"]), (&json!(1), &json!("quick/X")), "{check}");
    assert!(edited.text.contains("not computed yet, still checking: slow 1 file"), "{}", edited.text);
    let before = it.call("list_dir", json!({})).await;
    assert_eq!(before.structured.get("since_last_call"), None, "{}", before.text);
    it.gate.open();
    it.settled(1).await;
    let next = it.call("list_dir", json!({})).await;
    assert!(
        next.text.starts_with(
            "since your last call: 1 new finding in a.txt (revision 1):\na.txt:3:1 error slow/X no slow\n"
        ),
        "{}",
        next.text
    );
    assert_eq!(next.structured["since_last_call"][0]["findings"][0]["line"], 3);
    assert_eq!(it.gate.asked.load(SeqCst), 2, "once about the parent, once about the branch");
    assert_eq!(it.call("list_dir", json!({})).await.structured.get("since_last_call"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_joins_what_is_asked_already() {
    let it = Fixture::new().await;
    it.edit("a.txt", TEXT).await;
    let check = it.call("check", json!({ "paths": ["a.txt"], "wait": 120 }));
    let release = async { it.gate.open() };
    let (check, ()) = tokio::join!(check, release);
    assert_eq!((&check.structured["total"], check.structured.get("still_asked")), (&json!(2), None));
    assert_eq!(it.gate.asked.load(SeqCst), 2, "{}", check.text);
    let next = it.call("list_dir", json!({})).await;
    assert_eq!(next.structured.get("since_last_call"), None, "the check had it");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_longer_holds_is_asked_again() {
    let it = Fixture::new().await;
    it.edit("a.txt", TEXT).await;
    let newer =
        json!({ "target_file": "a.txt", "code_edit": "slow was here\nslow\n\nslow\n", "check": false });
    it.call("edit_file", newer).await;
    it.gate.open();
    it.settled(1).await;
    let outdated = it.call("list_dir", json!({})).await;
    assert_eq!(outdated.structured.get("since_last_call"), None, "{}", outdated.text);
    it.settled(2).await;
    let next = it.call("list_dir", json!({})).await;
    assert!(
        next.text.starts_with("since your last call: 2 new findings in a.txt (revision 2):"),
        "{}",
        next.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_on_condition_is_sent_again_once_the_answer_is_there() {
    let it = Fixture::new().await;
    let edit =
        json!({ "target_file": "a.txt", "code_edit": "slow was here\nfine\n", "if_clean": true, "wait": 1 });
    let refused = it.call("edit_file", edit.clone()).await;
    assert!(
        refused.text.starts_with("not applied, since not all is checked yet (send it again)"),
        "{}",
        refused.text
    );
    assert!(!refused.text.contains("through step"), "{}", refused.text);
    it.gate.open();
    let edit =
        json!({ "wait": 120, "target_file": "a.txt", "code_edit": edit["code_edit"], "if_clean": true });
    assert_eq!(it.call("edit_file", edit).await.structured["applied"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_edit_shows_nothing_of_version_control() {
    let it = Fixture::new().await;
    let git = it.folders[0].path().join(".git");
    std::fs::create_dir(&git).unwrap();
    std::fs::write(git.join("config"), "[remote]\n\turl = secret\n").unwrap();
    let edit = json!({ "target_file": "src/../.git/config", "code_edit": "x" });
    let refused = it.call("edit_file", edit).await;
    assert!(refused.is_error && !refused.text.contains("secret"), "{}", refused.text);
    assert!(refused.text.contains("version control"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_answers_before_its_caller_leaves() {
    let it = Fixture::new().await;
    let edit = PreviewEdit::Code { target_file: "a.txt".to_owned(), code_edit: TEXT.to_owned() };
    let preview = Preview {
        workspace: it.workspace.clone(),
        before: Vec::new(),
        edits: vec![edit],
        deadline: Some(Duration::from_secs(3)),
    };
    let reply = tokio::time::timeout(Duration::from_secs(3), it.agents.preview(preview)).await;
    let found = reply.expect("it is in time").unwrap().structured;
    assert_eq!((&found["total"], &found["findings"][0]["rule"]), (&json!(1), &json!("quick/X")));
    assert_eq!(found["still_asked"][0]["linter"], "slow");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_does_not_undo_what_its_user_saves_during_its_check() {
    let it = Fixture::new().await;
    let lines: String = (0..9).map(|it| format!("line {it}\n")).collect();
    it.save("a.txt", &lines).await;
    let step = |old: &str, new: &str| json!({ "target_file": "a.txt", "old_string": old, "new_string": new });
    let steps = json!({ "edits": [step("line 1", "one"), step("line 2", "two")], "wait": 120 });
    let (edited, saved) = tokio::join!(it.call("edit_file", steps), async {
        let is_asked = async {
            while it.gate.asked.load(SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TEST_TIMEOUT, is_asked).await.unwrap();
        let saved = lines.replace("line 8", "saved");
        it.save("a.txt", &saved).await;
        it.gate.open();
        saved
    });
    assert!(!edited.is_error, "{}", edited.text);
    let committed = it.call("branch_commit", json!({})).await;
    assert!(!committed.is_error, "{}", committed.text);
    assert_eq!(it.disk("a.txt"), saved.replace("line 1", "one").replace("line 2", "two"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_file_keeps_what_changed_since_it_was_read() {
    let it = Fixture::new().await;
    it.gate.open();
    let lines: String = (0..30).map(|it| format!("line {it}\n")).collect();
    it.save("a.txt", &lines).await;
    it.call("read_file", json!({ "target_file": "a.txt" })).await;
    let saved = lines.replace("line 28\n", "saved\n");
    it.save("a.txt", &saved).await;
    let edited = it.edit("a.txt", &lines.replace("line 2\n", "two\n")).await;
    assert!(
        edited.text.contains("merged with what changed in the file since you read it"),
        "{}",
        edited.text
    );
    let refused = json!({ "target_file": "a.txt", "code_edit": lines.replace("line 28\n", "mine\n") });
    it.call("branch_commit", json!({})).await;
    assert_eq!(it.disk("a.txt"), saved.replace("line 2\n", "two\n"));
    it.save("a.txt", &saved.replace("saved", "saved again")).await;
    let refused = it.call("edit_file", refused).await;
    assert!(refused.is_error, "{}", refused.text);
    assert!(refused.text.contains("has changed since you read it"), "{}", refused.text);
    assert!(it.disk("a.txt").contains("saved again"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_waits_for_a_check_lets_others_pass() {
    let it = Fixture::new().await;
    it.edit("a.txt", "slow was here\nfine\n").await;
    it.call("branch_fork", json!({ "name": "other" })).await;
    let other = json!({ "branch": "other", "target_file": "c.txt", "code_edit": "fine\n", "check": false });
    assert!(!it.call("edit_file", other).await.is_error);
    let waiting = it.call("branch_commit", json!({ "if_clean": true }));
    let passing = async {
        let committed = it.call("branch_commit", json!({ "branch": "other" })).await;
        assert!(!committed.is_error, "{}", committed.text);
        it.gate.open();
    };
    let (waited, ()) = tokio::join!(waiting, passing);
    assert!(!waited.is_error, "{}", waited.text);
    assert_eq!((it.disk("a.txt").as_str(), it.disk("c.txt").as_str()), ("slow was here\nfine\n", "fine\n"));
}
