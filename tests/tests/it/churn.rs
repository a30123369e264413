//! Branches that come and go: what a daemon has forgotten takes no memory.
//!
//! `BROKER_CHURN` says how many branches; `BROKER_CHURN_SECONDS` ends the run sooner.

use std::time::{Duration, Instant};

use tests::daemon::{Client, Home, ask, base, branch, variable, write};
use tokio::task::JoinSet;

/// Number of concurrent clients.
const CLIENTS: usize = 8;

/// Maximum growth of memory after the warm-up, in MiB.
const SLACK: u64 = 48;

async fn one(client: &Client, workspace: &str, number: usize) {
    let id = client.fork(base(workspace), &format!("branch-{number}")).await.unwrap();
    let text = format!("import os\n\nvalue = marker_{number}\n");
    client.edit(&id, vec![write("pkg/a.py", text)]).await.unwrap();
    let answer = client.check(ask(branch(&id), &["pkg/a.py"])).await.unwrap();
    let found: Vec<_> = answer.findings.iter().map(|it| it.code.as_str()).collect();
    assert_eq!(found, ["F401", "F821"], "{answer:?}");
    client.discard(&id).await.unwrap();
}

/// Branches `from..to`, shared among the clients.
async fn some(client: &Client, workspace: &str, from: usize, to: usize) {
    let mut works = JoinSet::new();
    for worker in 0..CLIENTS {
        let (client, workspace) = (client.clone(), workspace.to_owned());
        works.spawn(async move {
            for number in (from + worker..to).step_by(CLIENTS) {
                one(&client, &workspace, number).await;
            }
        });
    }
    while let Some(work) = works.join_next().await {
        work.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_stays_where_it_was() {
    let total = variable("BROKER_CHURN", 500);
    let end = Instant::now() + Duration::from_secs(variable("BROKER_CHURN_SECONDS", 3600) as u64);
    let (home, folder) = (Home::default(), tempfile::tempdir().unwrap());
    std::fs::create_dir(folder.path().join("pkg")).unwrap();
    std::fs::write(folder.path().join("pkg/a.py"), "x = 1\n").unwrap();
    // Little enough for answers that it is full before the warm-up ends.
    let daemon = home.start(&["--cache-memory", "1"]);
    let client = daemon.client().await;
    let workspace = client.open(folder.path()).await;
    let step = (total / 20).max(50);
    let mut curve = Vec::new();
    for from in (0..total).step_by(step) {
        if Instant::now() > end {
            break;
        }
        some(&client, &workspace, from, from + step).await;
        let status = client.status().await;
        assert_eq!(status.branches, 0);
        curve.push(status.resident_bytes >> 20);
        println!("{} branches: {} MiB, {:?}", from + step, curve[curve.len() - 1], status.cache.unwrap());
    }
    let (warm, now) = (curve[curve.len() / 4], curve[curve.len() - 1]);
    assert!(now <= warm + SLACK, "MiB after each {step} branches: {curve:?}");
}
