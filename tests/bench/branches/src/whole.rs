//! The whole workspace, seen from a new branch that changed one file.

use anyhow::Result;
use broker_proto::v1::{CheckRequest, Priority};

use crate::{
    corpus::Corpus,
    daemon::{Client, Daemon, base, branch},
    samples::Samples,
    say,
    table::{Table, Target},
};

/// For a check of everything in a repository of 2,000 files, beyond the changed file's own; in milliseconds.
const TARGET: f64 = 15.0;

/// One is measured for a target, and often; otherwise a few times, for information.
fn repeats(has_target: bool) -> usize {
    if has_target { 200 } else { 10 }
}

pub(crate) async fn measure(
    daemon: &Daemon,
    tree: &Corpus,
    name: &str,
    has_target: bool,
    table: &mut Table,
) -> Result<()> {
    let client = daemon.connect().await?;
    let workspace = client.open(&tree.root).await?;
    say(&format!("{name}: the base, for the first time"));
    let first = client.check(base(&workspace), &[], Priority::Agent).await?;
    table.add(format!("{name}: base, first check"), first.time.as_secs_f64() * 1000.0, "ms", None);
    table.add(format!("{name}: findings"), f64::from(first.summary.findings), "", None);
    say(&format!("{name}: new branches"));
    let mut own = Samples::default();
    for round in 0..repeats(has_target) {
        let (id, path) = changed(&client, &workspace, tree, round + 5_000).await?;
        own.add(client.check(branch(&id), &[path], Priority::Agent).await?.time);
        client.discard(&id).await?;
    }
    table.times(&format!("{name}: the changed file alone, of a new branch"), &own, None, None);
    let limit = has_target.then_some(TARGET + own.p50());
    for new_only in [false, true] {
        let what = if new_only { ", new findings only" } else { "" };
        let mut times = Samples::default();
        let (mut cached, mut all) = (0, 0);
        for round in 0..repeats(has_target) {
            let number = round + if new_only { 1_000 } else { 0 };
            let (id, _) = changed(&client, &workspace, tree, number).await?;
            let request = CheckRequest {
                target: Some(branch(&id)),
                new_only,
                priority: Priority::Agent.into(),
                ..Default::default()
            };
            let checked = client.ask(request).await?;
            times.add(checked.time);
            let (own_cached, own_all) = checked.cached();
            (cached, all) = (cached + own_cached, all + own_all);
            client.discard(&id).await?;
        }
        // What differs from the parent takes a look at both.
        let limit = limit.filter(|_| !new_only);
        table.times(&format!("{name}: all of a new branch{what}"), &times, limit, None);
        let rate = 100.0 * cached as f64 / all as f64;
        table.add(
            format!("{name}: answers from the cache{what}"),
            rate,
            "%",
            has_target.then_some(Target::AtLeast(99.0)),
        );
    }
    Ok(())
}

/// A new branch with one changed file.
async fn changed<'t>(
    client: &Client,
    workspace: &str,
    tree: &'t Corpus,
    round: usize,
) -> Result<(String, &'t str)> {
    let (id, _) = client.fork(base(workspace)).await?;
    let (path, text) = &tree.large[round % tree.large.len()];
    client.write(&id, path, &format!("{text}import os\nvalue_{round} = {round}\n")).await?;
    Ok((id, path))
}
