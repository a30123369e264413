//! What commits changed, by git.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use crate::languages;

/// A file before and after a commit.
pub(crate) struct Commit {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

pub(crate) struct Repository {
    folder: String,
    batch: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Commits of a repository that are looked at, evenly over its history.
const COMMITS: usize = 1500;

/// Bytes.
const LARGEST: usize = 300_000;

impl Repository {
    pub(crate) fn open(folder: &str) -> Self {
        let mut batch = Command::new("git")
            .args(["-C", folder, "cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (batch.stdin.take().unwrap(), BufReader::new(batch.stdout.take().unwrap()));
        Self { folder: folder.to_owned(), batch, input, output }
    }

    pub(crate) fn commits(&self) -> Vec<String> {
        let all = self.git(&["rev-list", "--no-merges", "HEAD"]);
        let all: Vec<_> = all.lines().collect();
        all.iter().step_by((all.len() / COMMITS).max(1)).map(|it| (*it).to_owned()).collect()
    }

    /// The files that a commit modified, if a sketch can say what it did to them: line endings and the end of the file
    /// are as before.
    pub(crate) fn changes(&mut self, commit: &str) -> Vec<Commit> {
        let raw = self.git(&["diff-tree", "-r", "--no-commit-id", "--diff-filter=M", commit]);
        let changed = raw.lines().filter_map(|it| {
            let (fields, path) = it.split_once('\t')?;
            let fields: Vec<_> = fields.split(' ').collect();
            languages::of(path).map(|_| (fields[2].to_owned(), fields[3].to_owned(), path.to_owned()))
        });
        let changed: Vec<_> = changed.take(4).collect();
        let texts = changed.into_iter().filter_map(|(before, after, path)| {
            let (before, after) = (self.blob(&before)?, self.blob(&after)?);
            Some(Commit { id: commit[..10].to_owned(), path, before, after })
        });
        let texts: Vec<_> = texts.collect();
        texts.into_iter().filter(is_sayable).collect()
    }

    fn blob(&mut self, id: &str) -> Option<String> {
        writeln!(self.input, "{id}").unwrap();
        let mut head = String::new();
        self.output.read_line(&mut head).unwrap();
        let size: usize = head.trim().rsplit(' ').next()?.parse().ok()?;
        let mut bytes = vec![0; size + 1];
        self.output.read_exact(&mut bytes).unwrap();
        bytes.pop();
        (size <= LARGEST).then(|| String::from_utf8(bytes).ok()).flatten()
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").arg("-C").arg(&self.folder).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = self.batch.kill();
        let _ = self.batch.wait();
    }
}

fn is_sayable(it: &Commit) -> bool {
    let has_returns = |text: &str| (text.contains("\r\n"), text.replace("\r\n", "").contains('\n'));
    let blank_end = |text: &str| text.lines().rev().take_while(|it| it.trim().is_empty()).count();
    blank_end(&it.before) == blank_end(&it.after)
        && it.before.ends_with('\n') == it.after.ends_with('\n')
        && has_returns(&it.before) == has_returns(&it.after)
        && !it.before.is_empty()
        && !it.after.is_empty()
        && it.before.starts_with('\u{feff}') == it.after.starts_with('\u{feff}')
}
