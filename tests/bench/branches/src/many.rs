//! Five hundred branches: what they weigh, and how soon each is answered.

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

const BRANCHES: usize = 500;
const EDITS: usize = 3;
const CLIENTS: usize = 32;

/// Branches that are made before anything is weighed, so that what is made once is not counted.
const WARM_UP: usize = 20;
const REPEATS: usize = 300;

const KIB: f64 = 1024.0;

/// The path and the new text of an edit: every branch's own, and of every round.
fn edit(tree: &Corpus, number: usize, round: usize) -> (&str, String) {
    let (path, text) = &tree.large[number % tree.large.len()];
    let extra =
        format!("import os\n\n\ndef edit_{number}_{round}(value):\n    unused = {round}\n    return value\n");
    (path, format!("{text}{extra}"))
}

pub(crate) async fn measure(daemon: &Daemon, tree: &Corpus, table: &mut Table) -> Result<()> {
    let client = daemon.connect().await?;
    let workspace = client.open(&tree.root).await?;
    say("500 branches");
    let branches = weigh(&client, &workspace, tree, table).await?;
    forks_over_grpc(&client, &branches[0], table).await?;
    say("one changed file, alone");
    alone(&client, &branches[0], tree, table).await?;
    say("one changed file, while all branches are checked");
    together(daemon, &branches, tree, table).await
}

async fn weigh(client: &Client, workspace: &str, tree: &Corpus, table: &mut Table) -> Result<Vec<String>> {
    let mut edits = Samples::default();
    make(client, workspace, tree, WARM_UP, &mut edits).await?;
    let before = client.resident_bytes().await?;
    let (branches, bytes) = make(client, workspace, tree, BRANCHES, &mut edits).await?;
    let after = client.resident_bytes().await?;
    let each = after.saturating_sub(before) as f64 / BRANCHES as f64;
    table.add("memory of a branch with 3 edited files of 500 lines, in all", each / KIB, "KiB", None);
    let own = each - bytes as f64 / BRANCHES as f64;
    table.add(
        "memory of a branch beyond the bytes of its edits",
        own / KIB,
        "KiB",
        Some(Target::AtMost(64.0)),
    );
    table.times("edit of one file, acknowledged durable", &edits, None, None);
    Ok(branches)
}

/// So many branches with edits of their own, and the bytes of those.
async fn make(
    client: &Client,
    workspace: &str,
    tree: &Corpus,
    count: usize,
    times: &mut Samples,
) -> Result<(Vec<String>, usize)> {
    let (mut branches, mut bytes) = (Vec::new(), 0);
    for number in 0..count {
        let (id, _) = client.fork(base(workspace)).await?;
        for round in 0..EDITS {
            let (path, text) = edit(tree, number * EDITS + round, count);
            times.add(client.write(&id, path, &text).await?);
            bytes += text.len();
        }
        branches.push(id);
    }
    Ok((branches, bytes))
}

async fn forks_over_grpc(client: &Client, parent: &str, table: &mut Table) -> Result<()> {
    let mut times = Samples::default();
    for _ in 0..REPEATS {
        let (id, time) = client.fork(branch(parent)).await?;
        times.add(time);
        client.discard(&id).await?;
    }
    table.times("fork over gRPC, durable, of a branch with edits", &times, Some(1.0), Some(1.0));
    Ok(())
}

async fn alone(client: &Client, id: &str, tree: &Corpus, table: &mut Table) -> Result<()> {
    let (mut times, mut beyond) = (Samples::default(), Samples::default());
    for round in 0..REPEATS {
        let (path, text) = edit(tree, 0, 10_000 + round);
        client.write(id, path, &text).await?;
        let checked = client.check(branch(id), &[path], Priority::Agent).await?;
        times.add(checked.time);
        beyond.add(checked.beyond_queueing());
    }
    table.times("check of a changed file of 500 lines, alone", &times, None, None);
    table.times("  beyond queueing", &beyond, None, Some(10.0));
    Ok(())
}

/// All branches, each with a file of new content, by clients that take one after the other.
async fn together(daemon: &Daemon, branches: &[String], tree: &Corpus, table: &mut Table) -> Result<()> {
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let client = daemon.connect().await?;
        let share = branches.iter().enumerate().skip(number).step_by(CLIENTS);
        let share: Vec<_> = share
            .map(|(index, id)| {
                let (path, text) = edit(tree, index * EDITS, 20_000 + index);
                (id.clone(), path.to_owned(), text)
            })
            .collect();
        clients.spawn(async move { check_share(&client, share).await });
    }
    let (mut total, mut beyond, mut queued) = (Samples::default(), Samples::default(), Samples::default());
    while let Some(ended) = clients.join_next().await {
        let [own_total, own_beyond, own_queued] = ended??;
        total.join(own_total);
        beyond.join(own_beyond);
        queued.join(own_queued);
    }
    table.times("check of a changed file, 500 branches by 32 clients", &total, None, None);
    table.times("  beyond queueing", &beyond, None, Some(10.0));
    table.times("  queueing", &queued, None, None);
    Ok(())
}

async fn check_share(client: &Client, share: Vec<(String, String, String)>) -> Result<[Samples; 3]> {
    let mut samples = [Samples::default(), Samples::default(), Samples::default()];
    for (id, path, text) in share {
        client.write(&id, &path, &text).await?;
        let checked = client.check(branch(&id), &[&path], Priority::Agent).await?;
        let times = [checked.time, checked.beyond_queueing(), checked.queued()];
        samples.iter_mut().zip(times).for_each(|(samples, time)| samples.add(time));
    }
    Ok(samples)
}
