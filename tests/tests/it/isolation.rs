//! Many branches of one workspace, many clients at once: no answer knows of another branch or another time.
//!
//! Besides texts, branches differ in their configuration, in links, in modes, and in files that another file's answer
//! rests on: `doc.md` is the same everywhere, and what it links to is not. Leaves out buffers and `new_only`.
//!
//! `BROKER_OPERATIONS` says how many operations, `BROKER_SEED` which.

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

use broker_proto::v1::{self as pb, file_edit::Edit};
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

/// A link to one of the files that the branch itself wrote.
const LINK: &str = "link.py";
/// Turns the rule off that all Python files break.
const CONFIG: (&str, &str) = ("ruff.toml", "lint.ignore = [\"F821\"]\n");
/// Every branch has this text of the base, with a finding where it has no [`LINKED`].
const DOC: (&str, &str) = ("doc.md", "# doc\n\n[there](there.md)\n");
const LINKED: (&str, &str) = ("there.md", "# there\n");

type Texts = BTreeMap<&'static str, String>;

/// Changes that a branch has of its own.
#[derive(Debug, Clone, Default)]
struct Own {
    texts: Texts,
    /// Target of [`LINK`], if the link exists.
    link: Option<&'static str>,
}

/// A branch as its clients know it.
struct Known {
    number: u64,
    id: String,
    /// Held during an edit, so that it is known which revision it will make.
    editing: tokio::sync::Mutex<()>,
    /// Texts and link that the branch itself wrote, at each revision.
    own: Mutex<Vec<Own>>,
}

/// Every text that a path of the base ever had, by its hash.
type Base = Mutex<BTreeMap<(String, String), String>>;

#[derive(Default)]
struct Counts {
    edits: AtomicU64,
    checks: AtomicU64,
    findings: AtomicU64,
    /// Answers with the rule turned off, those through a link, and those with a finding of [`DOC`].
    ignored: AtomicU64,
    linked: AtomicU64,
    lost: AtomicU64,
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

impl Own {
    fn has(&self, file: (&str, &str)) -> bool {
        self.texts.contains_key(file.0)
    }

    /// The text that the branch itself shows there.
    fn text(&self, path: &str) -> Option<&String> {
        self.texts.get(if path == LINK { self.link? } else { path })
    }

    /// Writes the file if it is not there, and removes it if it is.
    fn toggle(&mut self, (path, text): (&'static str, &str)) -> Edit {
        if self.texts.remove(path).is_some() {
            return remove(path);
        }
        self.texts.insert(path, text.to_owned());
        write(path, text)
    }

    /// Makes the link lead to some file of the branch's own.
    fn lead(&mut self, random: &mut Random) -> Vec<Edit> {
        let files: Vec<_> = self.texts.keys().copied().filter(|it| it.ends_with(".py")).collect();
        let target = files[random.below(files.len() as u64) as usize];
        let (path, link_target) = (LINK.to_owned(), target.to_owned());
        let before = self.link.replace(target).map(|_| remove(LINK));
        let link = Edit::CreateSymlink(pb::CreateSymlink { path, link_target });
        before.into_iter().chain([link]).collect()
    }
}

fn remove(path: &str) -> Edit {
    Edit::Remove(pb::RemovePath { path: path.to_owned() })
}

fn set_executable(path: &str, executable: bool) -> Edit {
    Edit::SetExecutable(pb::SetExecutable { path: path.to_owned(), executable })
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
        let mut own = self.own.lock().unwrap().last().unwrap().clone();
        let revision = self.own.lock().unwrap().len() as u64;
        let first = random.below(self.files().len() as u64) as usize;
        let mut edits = Vec::new();
        for path in self.files()[first..].iter().take(1 + random.below(3) as usize) {
            let padding = "# padding\n".repeat(random.below(4) as usize);
            let text = format!("{padding}print({})\n", self.marker(revision));
            edits.push(write(path, text.clone()));
            own.texts.insert(path, text);
            if random.below(6) == 0 {
                edits.push(set_executable(path, random.below(2) == 0));
            }
        }
        for (file, chance) in [(CONFIG, 8), (LINKED, 4)] {
            if random.below(chance) == 0 {
                edits.push(own.toggle(file));
            }
        }
        if random.below(6) == 0 {
            edits.extend(own.lead(random));
        }
        // Before it is sent: an answer may be there before this client knows that the edit is done.
        self.own.lock().unwrap().push(own);
        assert_eq!(client.edit(&self.id, edits).await.unwrap(), revision);
    }

    fn at(&self, revision: u64) -> Own {
        self.own.lock().unwrap()[revision as usize].clone()
    }
}

impl World {
    /// Each finding is of the text that its file has in this branch at this revision.
    fn expect(&self, known: &Known, answer: &Answer, asked: &[&str]) {
        let own = known.at(answer.summary.revision);
        assert_eq!(answer.started.revision, answer.summary.revision);
        for it in answer.findings.iter().filter(|it| it.path != DOC.0) {
            assert!(!own.has(CONFIG), "the rule is off in this branch: {it:?}");
            let base = self.base.lock().unwrap();
            let text = match own.text(&it.path) {
                Some(text) => text,
                None => &base[&(it.path.clone(), it.content_hash.clone())],
            };
            assert_eq!(it.content_hash, hash(text), "{it:?}");
            let span = it.span.as_ref().unwrap();
            let there = &text[span.start as usize..span.end as usize];
            assert_eq!(it.message, format!("Undefined name `{there}`"), "{it:?}");
        }
        let python = own.texts.keys().copied().filter(|it| it.ends_with(".py")).chain(own.link.map(|_| LINK));
        let python = python.map(|it| (it, usize::from(!own.has(CONFIG))));
        let all = python.chain([(DOC.0, usize::from(!own.has(LINKED)))]);
        for (path, want) in all.filter(|(path, _)| asked.is_empty() || asked.contains(path)) {
            let found = answer.findings.iter().filter(|it| it.path == path).count();
            let excuse = answer.incomplete.iter().any(|it| it.path == path);
            assert!(found == want || excuse && found == 0, "{found} findings in {path}: {own:?} {answer:?}");
            let count = match path {
                LINK if found > 0 => &self.counts.linked,
                path if path == DOC.0 && found > 0 => &self.counts.lost,
                _ if want == 0 => &self.counts.ignored,
                _ => continue,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
        if !asked.is_empty() && asked.iter().all(|it| own.texts.contains_key(it)) {
            assert_eq!(answer.incomplete, [], "nothing of what the branch wrote changes under it");
            assert_eq!(answer.summary.content_hash, content_hash(&own.texts, asked));
        }
        self.counts.findings.fetch_add(answer.findings.len() as u64, Ordering::Relaxed);
    }

    async fn check(&self, client: &Client, known: &Known, random: &mut Random) {
        let least = known.own.lock().unwrap().len() as u64 - 2;
        let files = known.files();
        let first = random.below(files.len() as u64) as usize;
        let asked = match random.below(5) {
            0 => &[],
            1 => &files[first..],
            2 => &[DOC.0][..],
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

/// Hash as the summary has it: over paths and hashes, sorted by path.
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
        let own = Mutex::new(vec![Own::default()]);
        let known = Known { number, id, editing: tokio::sync::Mutex::default(), own };
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
    fs::write(root.join(DOC.0), DOC.1).unwrap();
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
        "{} edits, {} checks ({} cancelled, {} superseded), {} findings ({} by links, {} of links, {} files with \
         the rule off or the link whole), {} changes of the base",
        of(&counts.edits),
        of(&counts.checks),
        of(&counts.cancelled),
        of(&counts.superseded),
        of(&counts.findings),
        of(&counts.linked),
        of(&counts.lost),
        of(&counts.ignored),
        of(&counts.base),
    );
    let seen = [&counts.findings, &counts.cancelled, &counts.linked, &counts.lost, &counts.ignored];
    assert!(seen.into_iter().all(|it| of(it) > 0));
}
