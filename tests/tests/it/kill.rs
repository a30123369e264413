//! A daemon that is killed at any moment: what it acknowledged is there again, and no commit is half done.
//!
//! `BROKER_KILLS` says how often.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    hash::{BuildHasher as _, RandomState},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use broker_proto::v1::{self as pb, file_edit::Edit};
use tests::daemon::{Client, Daemon, Home, Random, TEST_TIMEOUT, base, branch, variable, write};
use tokio::task::JoinSet;

const EDITORS: usize = 4;
/// Files that each commit writes, all with its own number.
const TOGETHER: usize = 12;

/// State of one editor: texts by revision, and the last acknowledged revision.
#[derive(Default)]
struct Edited {
    id: String,
    sent: BTreeMap<u64, String>,
    acknowledged: u64,
}

struct Round {
    folder: tempfile::TempDir,
    home: Home,
    editors: Vec<Arc<Mutex<Edited>>>,
    /// The number that the newest commit that was answered wrote, and that the newest one wanted to write.
    committed: Arc<AtomicU64>,
    wanted: Arc<AtomicU64>,
}

/// Edits until the daemon is gone.
async fn edit(client: Client, editor: Arc<Mutex<Edited>>, mut random: Random) {
    loop {
        let (id, revision, text) = {
            let mut editor = editor.lock().unwrap();
            let revision = editor.acknowledged + 1;
            let text = format!("text = {revision}\n").repeat(1 + random.below(200) as usize);
            editor.sent.insert(revision, text.clone());
            (editor.id.clone(), revision, text)
        };
        let path = format!("deep/folder/{}.py", revision % 3);
        match client.edit(&id, vec![write("edited.py", text), write(&path, "x = 1\n")]).await {
            Ok(actual) => assert_eq!(actual, revision),
            Err(_killed) => return,
        }
        editor.lock().unwrap().acknowledged = revision;
    }
}

/// Returns the edits of the commit of this number: writes, and files and a directory that are added and removed.
fn together(number: u64) -> Vec<Edit> {
    let mut edits: Vec<_> = (0..TOGETHER)
        .map(|it| write(&format!("all/{}/{it}.txt", it % 3), format!("{number}\n").repeat(500)))
        .collect();
    if number > 1 {
        edits.push(Edit::Remove(pb::RemovePath { path: format!("only/{}", number - 1) }));
    }
    edits.push(write(&format!("only/{number}/there.txt"), format!("{number}\n")));
    edits
}

/// Commits until the daemon is gone.
async fn commit(client: Client, workspace: String, committed: Arc<AtomicU64>, wanted: Arc<AtomicU64>) {
    loop {
        let number = committed.load(Ordering::SeqCst) + 1;
        let Ok(id) = client.fork(base(&workspace), "").await else { return };
        let Ok(_) = client.edit(&id, together(number)).await else { return };
        wanted.store(number, Ordering::SeqCst);
        match client.commit(&id, &[]).await {
            Ok(_) => committed.store(number, Ordering::SeqCst),
            Err(status) if status.code() == tonic::Code::Aborted => panic!("{status}"),
            Err(_killed) => return,
        }
        if client.discard(&id).await.is_err() {
            return;
        }
    }
}

/// Every file below `folder`.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    found
}

impl Round {
    async fn new() -> Self {
        let new = Self {
            folder: tempfile::tempdir().unwrap(),
            home: Home::default(),
            editors: (0..EDITORS).map(|_| Arc::default()).collect(),
            committed: Arc::default(),
            wanted: Arc::default(),
        };
        fs::write(new.folder.path().join("edited.py"), "text = 0\n").unwrap();
        let daemon = new.home.start(&[]);
        let client = daemon.client().await;
        let workspace = client.open(new.folder.path()).await;
        for editor in &new.editors {
            let id = client.fork(base(&workspace), "").await.unwrap();
            editor.lock().unwrap().id = id;
        }
        new
    }

    /// Works until the daemon is killed.
    async fn run(&self, daemon: &mut Daemon, workspace: &str, random: &mut Random) {
        let mut works = JoinSet::new();
        for editor in &self.editors {
            let random = Random(random.below(u64::MAX));
            works.spawn(edit(daemon.client().await, Arc::clone(editor), random));
        }
        let (committed, wanted) = (Arc::clone(&self.committed), Arc::clone(&self.wanted));
        works.spawn(commit(daemon.client().await, workspace.to_owned(), committed, wanted));
        // Not to wait for anything: to hit another moment each time.
        tokio::time::sleep(Duration::from_micros(random.below(150_000))).await;
        daemon.kill();
        let all = async {
            while let Some(work) = works.join_next().await {
                work.unwrap();
            }
        };
        tokio::time::timeout(TEST_TIMEOUT, all).await.expect("clients notice that the daemon is gone");
    }

    /// Expects that acknowledged edits exist, under the revision that was acknowledged.
    async fn expect_edits(&self, client: &Client) {
        for editor in &self.editors {
            let (id, sent, acknowledged) = {
                let it = editor.lock().unwrap();
                (it.id.clone(), it.sent.clone(), it.acknowledged)
            };
            let revision = client.get(&id).await.unwrap().branch.unwrap().revision;
            assert!((acknowledged..=acknowledged + 1).contains(&revision), "{revision} after {acknowledged}");
            for at in [acknowledged, revision].into_iter().filter(|it| *it > 0) {
                let (_, text) = client.read_at(branch(&id), "edited.py", Some(at)).await.unwrap();
                assert_eq!(String::from_utf8(text).unwrap(), sent[&at]);
            }
            // Edits that were done but not acknowledged are known from now on.
            editor.lock().unwrap().acknowledged = revision;
        }
    }

    /// Each commit happened or did not.
    fn expect_all_or_nothing(&self) {
        let files = files(self.folder.path());
        let all: BTreeSet<_> =
            files.iter().filter(|(path, _)| path.starts_with("all/")).map(|it| it.1).collect();
        assert!(all.len() <= 1, "texts of {} commits", all.len());
        let number = all.first().map_or(0, |it| it.lines().next().unwrap().parse().unwrap());
        let (least, most) = (self.committed.load(Ordering::SeqCst), self.wanted.load(Ordering::SeqCst));
        assert!((least..=least.max(most)).contains(&number), "{number} is not in {least}..={most}");
        let mut expected: BTreeMap<_, _> = [("edited.py".to_owned(), "text = 0\n".to_owned())].into();
        if number > 0 {
            let all = (0..TOGETHER).map(|it| format!("all/{}/{it}.txt", it % 3));
            expected.extend(all.map(|it| (it, format!("{number}\n").repeat(500))));
            expected.insert(format!("only/{number}/there.txt"), format!("{number}\n"));
        }
        assert_eq!(files, expected);
        self.committed.store(number, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_and_nothing_is_half_done() {
    let seed = variable("BROKER_SEED", (RandomState::new().hash_one(0) >> 1) as usize) as u64;
    println!("BROKER_SEED={seed}");
    let mut random = Random(seed);
    let round = Round::new().await;
    for _ in 0..variable("BROKER_KILLS", 10) {
        let mut daemon = round.home.start(&[]);
        let client = daemon.client().await;
        let workspace = client.open(round.folder.path()).await;
        round.expect_all_or_nothing();
        round.expect_edits(&client).await;
        round.run(&mut daemon, &workspace, &mut random).await;
    }
    let daemon = round.home.start(&[]);
    let client = daemon.client().await;
    client.open(round.folder.path()).await;
    round.expect_all_or_nothing();
    round.expect_edits(&client).await;
    let revisions: Vec<_> = round.editors.iter().map(|it| it.lock().unwrap().acknowledged).collect();
    println!("{} commits, edits {revisions:?}", round.committed.load(Ordering::SeqCst));
}
