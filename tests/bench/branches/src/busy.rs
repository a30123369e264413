//! Clients that keep the branches of a running daemon busy while something else is measured, until standard input ends.

use std::{
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use anyhow::{Context as _, Result};
use broker_proto::v1::{Completeness, Priority};
use tokio::task::JoinSet;

use crate::{
    daemon::{Client, base, branch},
    samples::Samples,
};

/// Work that keeps a daemon busy, and its amount.
#[derive(Debug, Clone, Default)]
pub(crate) struct Busy {
    pub(crate) folder: PathBuf,
    pub(crate) socket: PathBuf,
    /// The file that is edited and checked in each branch.
    pub(crate) file: String,
    pub(crate) branches: usize,
    pub(crate) clients: usize,
}

/// Edits and checks without a pause. Says when it begins, and in the end how much it was.
pub(crate) async fn run(busy: &Busy) -> Result<()> {
    let first = Client::connect(&busy.socket).await?;
    let workspace = first.open(&busy.folder).await?;
    let text = std::fs::read_to_string(busy.folder.join(&busy.file))?;
    let mut branches = Vec::new();
    for _ in 0..busy.branches {
        branches.push(first.fork(base(&workspace)).await?.0);
    }
    let ends = Arc::new(AtomicBool::new(false));
    let mut clients = JoinSet::new();
    for number in 0..busy.clients {
        let own: Vec<_> = branches.iter().skip(number).step_by(busy.clients).cloned().collect();
        let client = Client::connect(&busy.socket).await?;
        let (file, text, ends) = (busy.file.clone(), text.clone(), Arc::clone(&ends));
        clients.spawn(async move { check(&client, &own, &file, &text, &ends).await });
    }
    say("busy")?;
    let begun = Instant::now();
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    ends.store(true, Ordering::Relaxed);
    let (mut times, mut complete) = (Samples::default(), 0);
    while let Some(ended) = clients.join_next().await {
        let own = ended??;
        times.join(own.times);
        complete += own.complete;
    }
    for id in branches {
        first.discard(&id).await?;
    }
    let rate = times.count() as f64 / begun.elapsed().as_secs_f64();
    say(&format!("{} checks were made, {complete} of them complete, {rate:.0} a second", times.count()))
}

/// Work of one client.
#[derive(Default)]
struct Done {
    times: Samples,
    complete: usize,
}

/// Edits and checks one branch after the other, each time with a text that there has not been.
async fn check(
    client: &Client,
    branches: &[String],
    file: &str,
    text: &str,
    ends: &AtomicBool,
) -> Result<Done> {
    let mut done = Done::default();
    for (round, id) in branches.iter().cycle().enumerate() {
        if ends.load(Ordering::Relaxed) {
            break;
        }
        let comment = if Path::new(file).extension().is_some_and(|it| it == "py") { "#" } else { "//" };
        client.write(id, file, &format!("{text}{comment} {id} {round}\n")).await?;
        let checked = client.check_any(branch(id), &[file], Priority::Agent).await?;
        done.complete += usize::from(checked.summary.completeness() == Completeness::Complete);
        done.times.add(checked.time);
    }
    Ok(done)
}

fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush().context("nothing reads what is told")
}
