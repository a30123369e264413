//! A person who waits, alone and beside two hundred branches that are busy in the background.

use std::{
    sync::Arc,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use anyhow::Result;
use broker_proto::v1::Priority;
use tokio::task::JoinSet;

use crate::{
    corpus::Corpus,
    daemon::{Client, Daemon, base, branch},
    samples::Samples,
    say,
    table::{Table, Target},
};

const BUSY: usize = 200;

/// Connections that the busy branches share.
const CONNECTIONS: usize = 20;
const REPEATS: usize = 300;

/// Between two looks at whether the branches are busy yet.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub(crate) async fn measure(daemon: &Daemon, tree: &Corpus, table: &mut Table) -> Result<()> {
    let client = daemon.connect().await?;
    let workspace = client.open(&tree.root).await?;
    let (id, _) = client.fork(base(&workspace)).await?;
    say("a person, alone");
    let alone = person(&client, &id, tree, 0).await?;
    say("a person beside 200 busy branches");
    let busy = Busy::start(daemon, &workspace, tree).await?;
    let beside = person(&client, &id, tree, 1_000_000).await;
    let done = busy.end().await;
    let beside = beside?;
    table.times("interactive check of a changed file, alone", &alone, None, None);
    table.times("interactive check of a changed file, beside 200 busy branches", &beside, None, None);
    let difference = beside.p99() - alone.p99();
    table.add("  difference of the p99", difference, "ms", Some(Target::AtMost(5.0)));
    table.add("  checks that the busy branches got done meanwhile", done as f64, "", None);
    Ok(())
}

/// A text that was never seen before.
fn text(tree: &Corpus, file: usize, round: usize) -> (&str, String) {
    let (path, text) = &tree.large[file % tree.large.len()];
    (path, format!("{text}import os\nvalue_{file} = {round}\n"))
}

async fn person(client: &Client, id: &str, tree: &Corpus, from: usize) -> Result<Samples> {
    let mut times = Samples::default();
    for round in from..from + REPEATS {
        let (path, text) = text(tree, 0, round);
        client.write(id, path, &text).await?;
        times.add(client.check(branch(id), &[path], Priority::Interactive).await?.time);
    }
    Ok(times)
}

/// Branches that are checked without end, each time with new content.
struct Busy {
    tasks: JoinSet<Result<()>>,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
}

impl Busy {
    async fn start(daemon: &Daemon, workspace: &str, tree: &Corpus) -> Result<Self> {
        let mut busy = Self { tasks: JoinSet::new(), stop: Arc::default(), done: Arc::default() };
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            clients.push(daemon.connect().await?);
        }
        for number in 0..BUSY {
            let client = clients[number % CONNECTIONS].clone();
            let (id, _) = client.fork(base(workspace)).await?;
            let (stop, done) = (Arc::clone(&busy.stop), Arc::clone(&busy.done));
            let (path, _) = text(tree, number + 1, 0);
            let (path, source) = (path.to_owned(), tree.large[(number + 1) % tree.large.len()].1.clone());
            busy.tasks.spawn(async move {
                for round in 0_u64.. {
                    if stop.load(Relaxed) {
                        break;
                    }
                    client
                        .write(&id, &path, &format!("{source}import os\nother_{number} = {round}\n"))
                        .await?;
                    client.check(branch(&id), &[&path], Priority::Background).await?;
                    done.fetch_add(1, Relaxed);
                }
                Ok(())
            });
        }
        // Until every branch had its turn, they are not all busy.
        while busy.done.load(Relaxed) < BUSY as u64 && busy.tasks.try_join_next().is_none() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        busy.done.store(0, Relaxed);
        Ok(busy)
    }

    async fn end(mut self) -> u64 {
        let done = self.done.load(Relaxed);
        self.stop.store(true, Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            if let Ok(Err(error)) = ended {
                say(&format!("a busy branch gave up: {error}"));
            }
        }
        done
    }
}
