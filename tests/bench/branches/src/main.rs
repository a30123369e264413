//! Measures a daemon with 500 branches and with busy clients, and prints what was aimed at beside it.
//!
//! usage: bench-branches BROKER [--cache FOLDER] [--json FILE] [--small] [--only whole|many|pressure]
//!        bench-branches BROKER --tree FOLDER... [--rounds N] [--idle SECONDS] [--json FILE]
//!        bench-branches BROKER --busy FOLDER --socket FILE --file PATH [--branches N] [--clients N]
//!
//! With `--tree` it measures these folders as they are, and nothing else: the first whole check, then branches with one
//! edit each and what is new in them, the edited file alone, and what the daemon weighs, also after `--idle`.
//!
//! With `--busy` it measures nothing: it keeps branches of a daemon that runs already busy while others measure.
//!
//! `--small` leaves the tree of 50,000 files out. Times are what a client sees, in milliseconds, unless they
//! are said to be beyond queueing: then they are the daemon's own.

#![allow(clippy::disallowed_methods, reason = "what is written here is in no workspace of a daemon")]

mod busy;
mod corpus;
mod daemon;
mod forks;
mod many;
mod pressure;
mod samples;
mod table;
mod tree;
mod whole;

use std::{env, io::Write as _, path::PathBuf, time::Duration};

use anyhow::{Context as _, Result, bail};
use busy::Busy;
use corpus::corpus;
use daemon::Daemon;
use serde_json::{Value, json};
use table::Table;

/// The whole measurement is given up after so long.
const LIMIT: Duration = Duration::from_secs(3_600);

const USAGE: &str = "usage: bench-branches BROKER [--cache FOLDER] [--json FILE] [--small] [--tree FOLDER]";

/// Edits of each folder of `--tree`.
const ROUNDS: usize = 50;

struct Args {
    broker: PathBuf,
    cache: PathBuf,
    json: Option<PathBuf>,
    small: bool,
    only: Option<String>,
    trees: Vec<PathBuf>,
    rounds: usize,
    idle: Duration,
    busy: Busy,
}

impl Args {
    fn new(broker: PathBuf, cache: PathBuf) -> Self {
        let (rounds, idle) = (ROUNDS, Duration::ZERO);
        let busy = Busy { branches: 20, clients: 2, ..Busy::default() };
        Self { broker, cache, json: None, small: false, only: None, trees: Vec::new(), rounds, idle, busy }
    }
}

fn main() -> Result<()> {
    let args = parse(env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    if !args.busy.folder.as_os_str().is_empty() {
        return runtime.block_on(busy::run(&args.busy));
    }
    let measured = runtime.block_on(async { tokio::time::timeout(LIMIT, report(&args)).await });
    let (text, rows) = measured.context("the measurement took too long")??;
    let cores = std::thread::available_parallelism()?;
    let mut out = std::io::stdout().lock();
    write!(out, "branches and busy clients, on {cores} cores\n{text}")?;
    if let Some(path) = &args.json {
        let text = json!({ "cores": cores, "rows": rows }).to_string();
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Measurements, as a table and as data.
async fn report(args: &Args) -> Result<(String, Value)> {
    if args.trees.is_empty() {
        let table = measure(args).await?;
        return Ok((table.text(), table.json()));
    }
    let rows = trees(args).await?;
    Ok((tree::table(&rows), tree::json(&rows)))
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args> {
    let broker = words.next().context(USAGE)?;
    let home =
        env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cache")));
    let cache = home.unwrap_or_else(env::temp_dir).join("broker-bench");
    let mut args = Args::new(broker.into(), cache);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--cache" => args.cache = words.next().context("--cache wants a folder")?.into(),
            "--json" => args.json = Some(words.next().context("--json wants a file")?.into()),
            "--only" => args.only = Some(words.next().context("--only wants a name")?),
            "--small" => args.small = true,
            "--tree" => args.trees.push(words.next().context("--tree wants a folder")?.into()),
            "--rounds" => args.rounds = number(words.next()).context("--rounds wants a number")?,
            "--busy" => args.busy.folder = words.next().context("--busy wants a folder")?.into(),
            "--socket" => args.busy.socket = words.next().context("--socket wants a file")?.into(),
            "--file" => args.busy.file = words.next().context("--file wants a path")?,
            "--branches" => args.busy.branches = number(words.next()).context("--branches wants a number")?,
            "--clients" => args.busy.clients = number(words.next()).context("--clients wants a number")?,
            "--idle" => {
                args.idle = Duration::from_secs(number(words.next()).context("--idle wants seconds")?)
            }
            other => bail!("no such option: {other}"),
        }
    }
    Ok(args)
}

fn number<N: std::str::FromStr>(word: Option<String>) -> Option<N> {
    word?.parse().ok()
}

async fn trees(args: &Args) -> Result<Vec<tree::Row>> {
    let mut rows = Vec::new();
    for folder in &args.trees {
        rows.push(tree::measure(&Daemon::start(&args.broker)?, folder, args.rounds, args.idle).await?);
    }
    Ok(rows)
}

async fn measure(args: &Args) -> Result<Table> {
    let mut table = Table::default();
    let broker = &args.broker;
    let is_asked = |name| args.only.as_deref().is_none_or(|it| it == name);
    say("files");
    let repository = corpus(&args.cache, "repository", 2_000)?;
    let tree = if args.small { None } else { Some(corpus(&args.cache, "tree", 50_000)?) };
    let large = tree.as_ref().unwrap_or(&repository);
    if is_asked("whole") {
        whole::measure(&Daemon::start(broker)?, &repository, "2,000 files", true, &mut table).await?;
        if let Some(tree) = &tree {
            whole::measure(&Daemon::start(broker)?, tree, "50,000 files", false, &mut table).await?;
        }
    }
    if is_asked("many") {
        say("forks");
        forks::in_process(&large.root, &large.large, &mut table)?;
        many::measure(&Daemon::start(broker)?, large, &mut table).await?;
    }
    if is_asked("pressure") {
        pressure::measure(&Daemon::start(broker)?, large, &mut table).await?;
    }
    Ok(table)
}

/// Shows what is being done.
#[expect(clippy::print_stderr, reason = "progress, beside the table")]
fn say(what: &str) {
    eprintln!("• {what}");
}
