//! Changes of commits, and the files of the last one, by git.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
};

use crate::languages;

/// A file before and after a commit.
pub(crate) struct Commit {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// A file that a commit modified, with the names of its contents.
pub(crate) struct Modified {
    commit: String,
    pub(crate) path: String,
    before: String,
    after: String,
}

pub(crate) struct Repository {
    folder: String,
    batch: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Bytes.
const LARGEST: usize = 300_000;

/// Parts of paths whose files are copies of other projects, or made by a program.
const FOREIGN: [&str; 7] =
    ["node_modules/", "vendor/", "third_party/", "/dist/", ".min.", ".lock", "single_include/"];

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

    /// The last part of its folder that says something.
    pub(crate) fn name(&self) -> String {
        let mut parts = self.folder.rsplit('/').filter(|it| !["", "repo", ".git"].contains(it));
        parts.next().unwrap_or("repository").to_owned()
    }

    pub(crate) fn commits(&self) -> Vec<String> {
        self.git(&["rev-list", "--no-merges", "HEAD"]).lines().map(str::to_owned).collect()
    }

    /// Files of the languages that are known, as the commits modified them.
    pub(crate) fn modified(&self, commits: &[String]) -> Vec<Vec<Modified>> {
        let mut git = Command::new("git")
            .args(["-C", &self.folder, "diff-tree", "--stdin", "-r", "--diff-filter=M"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut input, wanted) = (git.stdin.take().unwrap(), commits.join("\n") + "\n");
        let writer = thread::spawn(move || input.write_all(wanted.as_bytes()));
        let output = git.wait_with_output().unwrap();
        let _ = writer.join();
        let mut all: Vec<Vec<Modified>> = Vec::new();
        let mut commit = "";
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Some(raw) = line.strip_prefix(':') else {
                commit = commits.iter().find(|it| *it == line).map_or("", |it| &it[..10]);
                all.push(Vec::new());
                continue;
            };
            let Some((fields, path)) = raw.split_once('\t').filter(|it| is_own(it.1)) else { continue };
            let fields: Vec<_> = fields.split(' ').collect();
            let (before, after) = (fields[2].to_owned(), fields[3].to_owned());
            let modified = Modified { commit: commit.to_owned(), path: path.to_owned(), before, after };
            all.last_mut().unwrap().push(modified);
        }
        all
    }

    /// The texts, if a sketch can say what was done to them: line endings and the end of the file are as before.
    pub(crate) fn commit(&mut self, modified: Modified) -> Option<Commit> {
        let (before, after) = (self.blob(&modified.before)?, self.blob(&modified.after)?);
        let commit = Commit { id: modified.commit, path: modified.path, before, after };
        is_sayable(&commit).then_some(commit)
    }

    /// The paths of the last commit's files, with the names of their contents.
    pub(crate) fn files(&self) -> Vec<(String, String)> {
        let all = self.git(&["ls-tree", "-r", "HEAD"]);
        let files = all.lines().filter_map(|it| {
            let (fields, path) = it.split_once('\t')?;
            let id = fields.strip_prefix("100")?.rsplit(' ').next()?;
            is_own(path).then(|| (path.to_owned(), id.to_owned()))
        });
        files.collect()
    }

    pub(crate) fn blob(&mut self, id: &str) -> Option<String> {
        writeln!(self.input, "{id}").unwrap();
        let mut head = String::new();
        self.output.read_line(&mut head).unwrap();
        let size: usize = head.trim().rsplit(' ').next()?.parse().ok()?;
        let mut bytes = vec![0; size + 1];
        self.output.read_exact(&mut bytes).unwrap();
        bytes.pop();
        (size <= LARGEST).then(|| String::from_utf8(bytes).ok()).flatten().filter(|it| !has_two_endings(it))
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

fn is_own(path: &str) -> bool {
    languages::of(path).is_some() && !path.starts_with('"') && !FOREIGN.iter().any(|it| path.contains(it))
}

fn has_two_endings(text: &str) -> bool {
    text.contains("\r\n") && text.replace("\r\n", "").contains('\n')
}

fn is_sayable(it: &Commit) -> bool {
    let blank_end = |text: &str| text.lines().rev().take_while(|it| it.trim().is_empty()).count();
    blank_end(&it.before) == blank_end(&it.after)
        && it.before.ends_with('\n') == it.after.ends_with('\n')
        && it.before.contains("\r\n") == it.after.contains("\r\n")
        && !it.before.is_empty()
        && !it.after.is_empty()
        && it.before.starts_with('\u{feff}') == it.after.starts_with('\u{feff}')
}
