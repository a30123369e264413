//! The audit log: a line of JSON for each call, in a file that is rotated.
//!
//! Holds who asked what of which branch, how long that took and how much came back; no texts of files.

use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{Call, Reply};

/// Log entry of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The handle of the workspace.
    pub workspace: String,
    pub session: String,
    pub tool: String,
    /// The file that it was about, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    pub duration_ms: u64,
    /// Bytes of the text that was answered.
    pub bytes: usize,
    pub is_error: bool,
}

/// Writes the log, if there is a folder for it.
pub(crate) struct Audit {
    file: Option<PathBuf>,
    /// Lock of the writers, so that lines stay whole and one of them rotates.
    turn: Mutex<()>,
}

/// Bytes of the file from which on it is put aside.
const LARGE: u64 = 8 << 20;

/// Number of files that were put aside and are kept.
const ASIDE: usize = 3;

/// Bytes of all files, about.
pub const LOG_LIMIT: u64 = LARGE * (ASIDE as u64 + 1);

/// The files of the log in its folder, whether or not they are there.
pub fn log_files(folder: &Path) -> Vec<PathBuf> {
    let file = log_file(folder);
    (1..=ASIDE).rev().map(|it| aside(&file, it)).chain([file.clone()]).collect()
}

/// Path of the log in its folder.
pub fn log_file(folder: &Path) -> PathBuf {
    folder.join("agents.jsonl")
}

/// The last `count` calls, the oldest first. Lines that are none are passed over: a writer may have been killed.
pub fn read_log(folder: &Path, count: usize) -> io::Result<Vec<LogEntry>> {
    let mut entries = Vec::new();
    for file in log_files(folder) {
        match read(&file) {
            Ok(text) => entries.extend(text.lines().filter_map(|it| serde_json::from_str(it).ok())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let first = entries.len().saturating_sub(count);
    Ok(entries.split_off(first))
}

impl Audit {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { file: folder.map(|it| log_file(&it)), turn: Mutex::default() }
    }

    /// A log that cannot be written holds up no call.
    pub(crate) fn write(&self, call: &Call, reply: &Reply, took: Duration) {
        let Some(file) = &self.file else { return };
        let line = serde_json::to_string(&LogEntry::of(call, reply, took));
        let Ok(mut line) = line else { return };
        line.push('\n');
        let _turn = self.turn.lock();
        let _unwritten = append(file, &line);
    }
}

impl LogEntry {
    fn of(call: &Call, reply: &Reply, took: Duration) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
        Self {
            at_ms: millis(since),
            workspace: call.workspace.clone(),
            session: call.session.clone(),
            tool: cut(&call.tool),
            file: call.arguments.get("target_file").and_then(|it| it.as_str()).map(cut),
            branch: reply.branch().map(str::to_owned),
            revision: reply.revision(),
            duration_ms: millis(took),
            bytes: reply.text.len(),
            is_error: reply.is_error,
        }
    }
}

/// Bytes of what an agent names that the log keeps.
const LONGEST: usize = 4 << 10;

fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST)].to_owned()
}

#[expect(clippy::disallowed_methods, reason = "the log lies in the state folder, in no workspace")]
fn append(file: &Path, line: &str) -> io::Result<()> {
    if fs::metadata(file).is_ok_and(|it| it.len() >= LARGE) {
        for number in (1..ASIDE).rev() {
            let _missing = fs::rename(aside(file, number), aside(file, number + 1));
        }
        fs::rename(file, aside(file, 1))?;
    }
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(line.as_bytes())
}

#[expect(clippy::disallowed_methods, reason = "the log lies in the state folder, in no workspace")]
fn read(file: &Path) -> io::Result<String> {
    fs::read(file).map(|it| String::from_utf8_lossy(&it).into_owned())
}

fn aside(file: &Path, number: usize) -> PathBuf {
    file.with_extension(format!("{number}.jsonl"))
}
