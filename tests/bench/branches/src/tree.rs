//! A folder as it is: the first whole check, then new branches with one edit each, and what the daemon weighs.

use std::{fmt::Write as _, path::Path, time::Duration};

use anyhow::{Result, ensure};
use broker_proto::v1::{CheckRequest, Priority};
use overlay::{Disk, View as _, WalkOptions, WorkspacePath, walk};
use serde_json::{Value, json};

use crate::{
    corpus::Random,
    daemon::{Client, Daemon, base, branch},
    samples::Samples,
    say,
};

const MIB: f64 = 1024.0 * 1024.0;

/// Sizes of the files that are edited: those that people write.
const EDITED: std::ops::RangeInclusive<usize> = 400..=40_000;

/// Start of a comment line, by the ending of the file; files of other endings are not edited.
const COMMENTS: [(&str, &[&str]); 4] = [
    ("#", &["py", "pyi", "sh", "toml", "yml", "yaml", "rb"]),
    (
        "//",
        &["js", "mjs", "cjs", "ts", "tsx", "jsx", "rs", "go", "c", "h", "cc", "cpp", "java", "scss", "less"],
    ),
    ("--", &["lua", "sql"]),
    ("", &["md"]),
];

/// Measurements of one folder.
pub(crate) struct Row {
    files: u32,
    findings: u32,
    first: Duration,
    mib_after_first: f64,
    /// The first comparison, which learns what the others keep.
    first_new_only: Duration,
    new_only: Samples,
    alone: Samples,
    mib_at_end: f64,
    mib_after_idle: f64,
}

/// Measures the folder with `rounds` edits, and once more what the daemon weighs after `idle`.
pub(crate) async fn measure(daemon: &Daemon, folder: &Path, rounds: usize, idle: Duration) -> Result<Row> {
    let folder = folder.canonicalize()?;
    let edited = edited(&folder)?;
    let client = daemon.connect().await?;
    let workspace = client.open(&folder).await?;
    say(&format!("{}: the base, for the first time", folder.display()));
    let first = client.ask_any(whole(base(&workspace), false)).await?;
    let mut row = Row {
        files: first.summary.files,
        findings: first.summary.findings,
        first: first.time,
        mib_after_first: mib(&client).await?,
        first_new_only: Duration::ZERO,
        new_only: Samples::default(),
        alone: Samples::default(),
        mib_at_end: 0.0,
        mib_after_idle: 0.0,
    };
    say(&format!("{}: new branches", folder.display()));
    let mut edits = edited.iter().cycle().enumerate();
    let mut next = || edits.next().map(|(number, path)| text(&folder, path, number)).transpose();
    row.first_new_only = compare(&client, &workspace, next()?).await?;
    for _ in 0..rounds {
        row.new_only.add(compare(&client, &workspace, next()?).await?);
        row.alone.add(alone(&client, &workspace, next()?).await?);
    }
    row.mib_at_end = mib(&client).await?;
    // What is given back while nothing is asked is weighed, no answer waited for.
    tokio::time::sleep(idle).await;
    row.mib_after_idle = mib(&client).await?;
    Ok(row)
}

type Edit = Option<(String, String)>;

/// A whole check of a new branch with this edit: what is new.
async fn compare(client: &Client, workspace: &str, edit: Edit) -> Result<Duration> {
    let (id, _) = edited_branch(client, workspace, edit).await?;
    let checked = client.ask_any(whole(branch(&id), true)).await?;
    client.discard(&id).await?;
    Ok(checked.time)
}

/// A check of the file alone in a new branch with this edit.
async fn alone(client: &Client, workspace: &str, edit: Edit) -> Result<Duration> {
    let (id, path) = edited_branch(client, workspace, edit).await?;
    let request = CheckRequest { paths: vec![path], ..whole(branch(&id), false) };
    let checked = client.ask_any(request).await?;
    client.discard(&id).await?;
    Ok(checked.time)
}

async fn edited_branch(client: &Client, workspace: &str, edit: Edit) -> Result<(String, String)> {
    let (id, _) = client.fork(base(workspace)).await?;
    let (path, text) = edit.unwrap_or_default();
    client.write(&id, &path, &text).await?;
    Ok((id, path))
}

fn whole(target: broker_proto::v1::Target, new_only: bool) -> CheckRequest {
    CheckRequest { target: Some(target), new_only, priority: Priority::Agent.into(), ..Default::default() }
}

async fn mib(client: &Client) -> Result<f64> {
    Ok(client.resident_bytes().await? as f64 / MIB)
}

/// The files that a whole check visits and that can be edited, in an order that is the same each time.
fn edited(folder: &Path) -> Result<Vec<WorkspacePath>> {
    let disk = Disk::new(folder)?;
    let is_fit = |path: &WorkspacePath| {
        comment(path).is_some()
            && disk.read(path).is_ok_and(|it| EDITED.contains(&it.len()) && std::str::from_utf8(&it).is_ok())
    };
    let mut files: Vec<_> = walk(&disk, &[WorkspacePath::root()], &WalkOptions::default()).collect();
    let mut random = Random(7);
    for last in (1..files.len()).rev() {
        files.swap(last, random.below(last + 1));
    }
    let files: Vec<_> = files.into_iter().filter(is_fit).take(MAX_EDITED).collect();
    ensure!(!files.is_empty(), "no file in {} can be edited", folder.display());
    Ok(files)
}

/// More rounds begin with the first file again.
const MAX_EDITED: usize = 1_000;

fn comment(path: &WorkspacePath) -> Option<&'static str> {
    let (_, ending) = path.as_str().rsplit_once('.')?;
    COMMENTS.iter().find(|(_, endings)| endings.contains(&ending)).map(|(comment, _)| *comment)
}

/// The path, and the text on the disk with two lines more.
fn text(folder: &Path, path: &WorkspacePath, number: usize) -> Result<(String, String)> {
    let text = std::fs::read_to_string(folder.join(path.as_str()))?;
    let comment = comment(path).unwrap_or_default();
    Ok((path.as_str().to_owned(), format!("{text}\n{comment} Edit {number} of the bench.\n")))
}

/// A line for each folder, times in milliseconds but for the first check.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:>8} {:>9} {:>9} {:>9} | {:>9} {:>9} {:>9} {:>8} {:>8} | {:>9} {:>9}\n",
        "files",
        "findings",
        "first s",
        "MiB",
        "1st new",
        "new p50",
        "new p99",
        "file p50",
        "file p99",
        "MiB",
        "idle MiB"
    );
    for it in rows {
        let _ = writeln!(
            text,
            "{:>8} {:>9} {:>9.2} {:>9.0} | {:>9.1} {:>9.2} {:>9.2} {:>8.2} {:>8.2} | {:>9.0} {:>9.0}",
            it.files,
            it.findings,
            it.first.as_secs_f64(),
            it.mib_after_first,
            millis(it.first_new_only),
            it.new_only.p50(),
            it.new_only.p99(),
            it.alone.p50(),
            it.alone.p99(),
            it.mib_at_end,
            it.mib_after_idle,
        );
    }
    text
}

pub(crate) fn json(rows: &[Row]) -> Value {
    let row = |it: &Row| {
        json!({
            "files": it.files,
            "findings": it.findings,
            "first_ms": millis(it.first),
            "mib_after_first": it.mib_after_first,
            "first_new_only_ms": millis(it.first_new_only),
            "rounds": it.new_only.count(),
            "new_only_ms": { "p50": it.new_only.p50(), "p99": it.new_only.p99() },
            "alone_ms": { "p50": it.alone.p50(), "p99": it.alone.p99() },
            "mib_at_end": it.mib_at_end,
            "mib_after_idle": it.mib_after_idle,
        })
    };
    rows.iter().map(row).collect()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
