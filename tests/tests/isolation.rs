//! Many branches of one workspace, many clients at once: no answer knows of another branch or another time.
//!
//! `BROKER_OPERATIONS` says how many operations, `BROKER_SEED` which.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test may fail")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use overlay::ContentHash;
use tests::daemon::{Answer, Client, Home, Random, ask, base, branch, gather, variable, write};
use tokio::task::JoinSet;
use tonic::Code;

const BRANCHES: u64 = 60;
const CLIENTS: u64 = 16;
/// Every third branch leaves the last of them alone.
const FILES: [&str; 5] = ["a.py", "b.py", "pkg/c.py", "pkg/d.py", "pkg/shared.py"];
/// Files that only the base changes.
const OTHERS: [&str; 2] = ["base_only.py", "pkg/base_only.py"];

type Texts = BTreeMap<&'static str, String>;

/// A branch as its clients know it.
struct Known {
    number: u64,
    id: String,
    /// Held during an edit, so that it is known which revision it will make.
    editing: tokio::sync::Mutex<()>,
    /// What the branch itself wrote, at each revision.
    texts: Mutex<Vec<Texts>>,
}

/// Every text that a path of the base ever had, by its hash.
type Base = Mutex<BTreeMap<(String, String), String>>;

#[derive(Default)]
struct Counts {
    edits: AtomicU64,
    checks: AtomicU64,
    findings: AtomicU64,
    cancelled: AtomicU64,
    superseded: AtomicU64,
    base: AtomicU64,
}

struct World {
    branches: Vec<Known>,
    base: Base,
    counts: Counts,
    stop: AtomicBool,
}

fn hash(text: &str) -> String {
    ContentHash::of(text.as_bytes()).to_string()
}

impl Known {
    fn files(&self) -> &'static [&'static str] {
        if self.number.is_multiple_of(3) { &FILES[..FILES.len() - 1] } else { &FILES }
    }

    /// A text that says whose it is and since when.
    fn marker(&self, revision: u64) -> String {
        format!("marker_{}_{revision}_", self.number)
    }

    async fn edit(&self, client: &Client, random: &mut Random) {
        let _revision_is_known = self.editing.lock().await;
        let mut texts = self.texts.lock().unwrap().last().unwrap().clone();
        let revision = self.texts.lock().unwrap().len() as u64;
        let first = random.below(self.files().len() as u64) as usize;
        let mut edits = Vec::new();
        for path in self.files()[first..].iter().take(1 + random.below(3) as usize) {
            let padding = "# padding\n".repeat(random.below(4) as usize);
            let text = format!("{padding}print({})\n", self.marker(revision));
            edits.push(write(path, text.clone()));
            texts.insert(path, text);
        }
        // Before it is sent: an answer may be there before this client knows that the edit is done.
        self.texts.lock().unwrap().push(texts);
        assert_eq!(client.edit(&self.id, edits).await.unwrap(), revision);
    }

    fn at(&self, revision: u64) -> Texts {
        self.texts.lock().unwrap()[revision as usize].clone()
    }
}

impl World {
    /// Each finding is of the text that its file has in this branch at this revision.
    fn expect(&self, known: &Known, answer: &Answer, asked: &[&str]) {
        let texts = known.at(answer.summary.revision);
        assert_eq!(answer.started.revision, answer.summary.revision);
        for it in &answer.findings {
            let base = self.base.lock().unwrap();
            let text = match texts.get(it.path.as_str()) {
                Some(text) => text,
                None => &base[&(it.path.clone(), it.content_hash.clone())],
            };
            assert_eq!(it.content_hash, hash(text), "{it:?}");
            let span = it.span.as_ref().unwrap();
            let there = &text[span.start as usize..span.end as usize];
            assert_eq!(it.message, format!("Undefined name `{there}`"), "{it:?}");
        }
        for (path, _) in texts.iter().filter(|(path, _)| asked.is_empty() || asked.contains(*path)) {
            let found = answer.findings.iter().filter(|it| it.path == **path).count();
            let excuse = answer.incomplete.iter().any(|it| it.path == **path);
            assert!(found == 1 || excuse && found == 0, "{found} findings in {path}: {answer:?}");
        }
        if !asked.is_empty() && asked.iter().all(|it| texts.contains_key(it)) {
            assert_eq!(answer.incomplete, [], "nothing of what the branch wrote changes under it");
            assert_eq!(answer.summary.content_hash, content_hash(&texts, asked));
        }
        self.counts.findings.fetch_add(answer.findings.len() as u64, Ordering::Relaxed);
    }

    async fn check(&self, client: &Client, known: &Known, random: &mut Random) {
        let least = known.texts.lock().unwrap().len() as u64 - 2;
        let files = known.files();
        let first = random.below(files.len() as u64) as usize;
        let asked = match random.below(4) {
            0 => &[],
            1 => &files[first..],
            _ => &files[first..=first],
        };
        let mut request = ask(branch(&known.id), asked);
        request.supersede = random.below(4) == 0;
        request.priority = random.below(4) as i32;
        self.counts.checks.fetch_add(1, Ordering::Relaxed);
        let answer = async { gather(client.checks().check(request).await?.into_inner()).await };
        let patience = if random.below(5) == 0 { random.below(3_000) } else { 60_000_000 };
        match tokio::time::timeout(Duration::from_micros(patience), answer).await {
            Ok(Ok(answer)) => {
                assert!(answer.summary.revision >= least, "an answer from before the question");
                self.expect(known, &answer, asked);
            }
            Ok(Err(status)) if status.code() == Code::Aborted => {
                self.counts.superseded.fetch_add(1, Ordering::Relaxed);
            }
            Ok(Err(status)) => panic!("{status:?}"),
            // Dropping it is how a client cancels.
            Err(_) => {
                assert!(patience < 60_000_000, "a check takes too long");
                self.counts.cancelled.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Changes the base as other programs do, until told to stop.
    fn change_base(&self, root: &Path, beside: &Path, mut random: Random) {
        let paths = [FILES.as_slice(), &OTHERS].concat();
        let mut round = 1;
        while !self.stop.load(Ordering::Relaxed) {
            let path = paths[random.below(paths.len() as u64) as usize];
            self.write_base(root, beside, path, round);
            round += 1;
            std::thread::sleep(Duration::from_micros(random.below(4_000)));
        }
        self.counts.base.store(round, Ordering::Relaxed);
    }

    fn write_base(&self, root: &Path, beside: &Path, path: &str, round: u64) {
        let text = format!("print(base_{}_{round})\n", path.len());
        self.base.lock().unwrap().insert((path.to_owned(), hash(&text)), text.clone());
        let new = beside.join("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, root.join(path)).unwrap();
    }
}

/// As the summary has it: over paths and hashes, sorted by path.
fn content_hash(texts: &Texts, asked: &[&str]) -> String {
    let mut bytes = Vec::new();
    for (path, text) in texts.iter().filter(|it| asked.contains(it.0)) {
        bytes.extend_from_slice(path.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(ContentHash::of(text.as_bytes()).as_bytes());
    }
    ContentHash::of(&bytes).to_string()
}

async fn work(world: Arc<World>, client: Client, operations: u64, mut random: Random) {
    for _ in 0..operations {
        let known = &world.branches[random.below(BRANCHES) as usize];
        if random.below(3) == 0 {
            known.edit(&client, &mut random).await;
            world.counts.edits.fetch_add(1, Ordering::Relaxed);
        } else {
            world.check(&client, known, &mut random).await;
        }
    }
}

async fn branches(client: &Client, workspace: &str) -> Vec<Known> {
    let mut branches = Vec::new();
    for number in 0..BRANCHES {
        let id = client.fork(base(workspace), "").await.unwrap();
        let texts = Mutex::new(vec![Texts::new()]);
        let known = Known { number, id, editing: tokio::sync::Mutex::default(), texts };
        known.edit(client, &mut Random(number)).await;
        branches.push(known);
    }
    branches
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_answer_knows_of_another_branch_or_time() {
    let operations = variable("BROKER_OPERATIONS", 4_000) as u64;
    let mut random = Random(variable("BROKER_SEED", 1) as u64);
    let (home, folder) = (Home::default(), tempfile::tempdir().unwrap());
    let (root, beside) = (folder.path().join("root"), folder.path().to_owned());
    fs::create_dir_all(root.join("pkg")).unwrap();
    let daemon = home.start(&[]);
    let client = daemon.client().await;
    let workspace = client.open(&root).await;
    let branches = branches(&client, &workspace).await;
    let (base, counts) = (Base::default(), Counts::default());
    let world = Arc::new(World { branches, base, counts, stop: AtomicBool::new(false) });
    [FILES.as_slice(), &OTHERS].concat().iter().for_each(|it| world.write_base(&root, &beside, it, 0));
    let changing = {
        let (world, random) = (Arc::clone(&world), Random(random.below(u64::MAX)));
        std::thread::spawn(move || world.change_base(&root, &beside, random))
    };
    let mut works = JoinSet::new();
    for _ in 0..CLIENTS {
        let random = Random(random.below(u64::MAX));
        works.spawn(work(Arc::clone(&world), daemon.client().await, operations / CLIENTS, random));
    }
    while let Some(work) = works.join_next().await {
        work.unwrap();
    }
    world.stop.store(true, Ordering::Relaxed);
    changing.join().unwrap();
    let counts = &world.counts;
    let of = |it: &AtomicU64| it.load(Ordering::Relaxed);
    println!(
        "{} edits, {} checks ({} cancelled, {} superseded), {} findings, {} changes of the base",
        of(&counts.edits),
        of(&counts.checks),
        of(&counts.cancelled),
        of(&counts.superseded),
        of(&counts.findings),
        of(&counts.base),
    );
    assert!(of(&counts.findings) > 0 && of(&counts.cancelled) > 0);
}
