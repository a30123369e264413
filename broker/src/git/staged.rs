//! The index as a view: what would be committed, and nothing else.

use std::{
    collections::HashSet,
    io::{self, Read as _, Write as _},
    process::Stdio,
    sync::Arc,
    thread,
};

use bytes::Bytes;
use overlay::{Branch, ContentHash, EditError, FileKind, Listing, Metadata, Snapshot, View, WorkspacePath};

use super::{Changed, DIFF, Git, cannot_run};
use crate::CliError;

/// A file of the index.
struct Entry {
    path: WorkspacePath,
    kind: Kind,
    blob: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File { executable: bool },
    Symlink,
}

/// A repository's own folder says which ignore files count; nothing in it is ever checked.
const REPOSITORY: [&str; 2] = [".git", ".jj"];

/// Shows those files that the index names, so that neither a file nor a configuration that git does not know
/// has a say.
struct Index {
    /// With the index's text where the working copy has another.
    view: Snapshot,
    named: HashSet<WorkspacePath>,
    folders: HashSet<WorkspacePath>,
}

impl Git {
    /// The files that are staged, and `view` as it would be if the index were all there is.
    pub(crate) fn staged(&self, view: Arc<dyn View>) -> Result<(Changed, Arc<dyn View>), CliError> {
        let head = self.head()?;
        let staged = self.differences(&["--cached", &head])?;
        let unstaged = self.run(&[&DIFF[..], &["--"]].concat())?;
        let mut unstaged = Changed::of(&unstaged).paths;
        unstaged.extend(self.not_looked_at()?);
        let list = self.run(&["ls-files", "--stage", "-z"])?;
        let list = || list.split(|it| *it == 0).filter_map(|it| str::from_utf8(it).ok());
        // What is not merged yet, or a repository of its own, is left as it is.
        let entries: Vec<_> = list().filter_map(Entry::of).filter(|it| unstaged.contains(&it.path)).collect();
        let texts = self.blobs(&entries)?;
        let mut branch = Branch::new(view);
        for (entry, text) in entries.iter().zip(texts) {
            lay(&mut branch, entry, text)
                .map_err(|error| CliError::files(format!("cannot look at the index: {error}")))?;
        }
        let named = list().filter_map(|it| WorkspacePath::new(it.split_once('\t')?.1).ok());
        Ok((staged, Arc::new(Index::new(branch.snapshot(), named.collect()))))
    }

    /// Files that git takes for unchanged, or for rightly missing, because it was told so.
    fn not_looked_at(&self) -> Result<Vec<WorkspacePath>, CliError> {
        let list = self.run(&["ls-files", "-v", "-z"])?;
        let list = list.split(|it| *it == 0).filter_map(|it| str::from_utf8(it).ok());
        let flagged = |line: &str| {
            let (tag, path) = line.split_once(' ')?;
            let is_flagged = tag == "S" || tag.chars().all(|it| it.is_ascii_lowercase());
            is_flagged.then(|| WorkspacePath::new(path).ok())?
        };
        Ok(list.filter_map(flagged).collect())
    }

    fn blobs(&self, entries: &[Entry]) -> Result<Vec<Vec<u8>>, CliError> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.command(&["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| cannot_run(&error))?;
        let names: String = entries.iter().map(|it| it.blob.clone() + "\n").collect();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut printed = Vec::new();
        // git answers while it is still being asked; neither may wait for the other.
        let read = thread::scope(|scope| {
            scope.spawn(|| stdin.map(|mut it| it.write_all(names.as_bytes())));
            stdout.map(|mut it| it.read_to_end(&mut printed)).transpose()
        });
        let ended = child.wait();
        read.and(ended).map_err(|error| cannot_run(&error))?;
        texts(&printed, entries).ok_or_else(|| CliError::files("git cat-file gave no staged text"))
    }
}

impl Index {
    fn new(view: Snapshot, named: HashSet<WorkspacePath>) -> Self {
        let folders = named.iter().flat_map(|it| it.ancestors().skip(1)).collect();
        Self { view, named, folders }
    }

    /// What lies in a repository of its own, which the index names as one, is shown as it is.
    fn shows(&self, path: &WorkspacePath) -> bool {
        path.is_root()
            || self.folders.contains(path)
            || path.components().next().is_some_and(|it| REPOSITORY.contains(&it))
            || path.ancestors().any(|it| self.named.contains(&it))
    }

    fn expect(&self, path: &WorkspacePath) -> io::Result<()> {
        if self.shows(path) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl View for Index {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.expect(path)?;
        self.view.read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        self.expect(path)?;
        self.view.metadata(path)
    }

    /// What is hidden may be anywhere.
    fn edits(&self) -> Vec<WorkspacePath> {
        vec![WorkspacePath::root()]
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.expect(path)?;
        let mut listing = self.view.list(path)?;
        listing.entries.retain(|it| self.shows(&path.child(&it.name)));
        Ok(listing)
    }

    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        self.expect(path)?;
        self.view.hash(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.expect(path)?;
        self.view.read_link(path)
    }
}

impl Entry {
    /// `100644 HASH 0<tab>path`
    fn of(line: &str) -> Option<Self> {
        let (facts, path) = line.split_once('\t')?;
        let mut facts = facts.split(' ');
        let kind = match facts.next()? {
            "100644" => Kind::File { executable: false },
            "100755" => Kind::File { executable: true },
            "120000" => Kind::Symlink,
            _ => return None,
        };
        let blob = facts.next()?.to_owned();
        (facts.next()? == "0").then_some(())?;
        Some(Self { path: WorkspacePath::new(path).ok()?, kind, blob })
    }
}

/// The texts that `cat-file --batch` printed: each after a line `HASH blob SIZE` and before a newline.
fn texts(mut printed: &[u8], entries: &[Entry]) -> Option<Vec<Vec<u8>>> {
    let mut texts = Vec::with_capacity(entries.len());
    for entry in entries {
        let end = printed.iter().position(|it| *it == b'\n')?;
        let header = str::from_utf8(&printed[..end]).ok()?;
        let size = header.strip_prefix(&entry.blob)?.strip_prefix(" blob ")?.parse().ok()?;
        let rest = &printed[end + 1..];
        texts.push(rest.get(..size)?.to_vec());
        printed = rest.get(size + 1..)?;
    }
    Some(texts)
}

fn lay(branch: &mut Branch, entry: &Entry, text: Vec<u8>) -> Result<(), EditError> {
    let path = &entry.path;
    let present = branch.snapshot().metadata(path).ok().map(|it| it.kind);
    let fits = match present {
        None => true,
        Some(kind) => kind == FileKind::File && entry.kind != Kind::Symlink,
    };
    if !fits {
        branch.remove(path)?;
    }
    match entry.kind {
        Kind::Symlink => _ = branch.symlink(path, &String::from_utf8_lossy(&text))?,
        Kind::File { executable } => {
            branch.write(path, text.into())?;
            branch.set_executable(path, executable)?;
        }
    }
    Ok(())
}
