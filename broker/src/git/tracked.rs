//! The index, or a commit, as a view: what git tracks there, and nothing else.
//!
//! Nothing is checked out. Only texts that the working copy has otherwise are read from git: those that differ, and those that git
//! converts.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    io::{self, Read as _, Write as _},
    process::Stdio,
    sync::{Arc, OnceLock},
    thread,
};

use bytes::Bytes;
use overlay::{Branch, ContentHash, EditError, FileKind, Listing, Metadata, Snapshot, View, WorkspacePath};

use super::{Changed, Conversion, DIFF, Git, cannot_run};
use crate::CliError;

/// A file of the index or of a commit.
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

/// Shows those files that git names there, so that neither a file nor a configuration that git does not know
/// has a say.
struct Tracked {
    git: Git,
    /// With git's text where the working copy differs.
    view: Snapshot,
    named: HashSet<WorkspacePath>,
    folders: HashSet<WorkspacePath>,
    /// Files of which git may store other line endings, with the text that it stores once that was looked at.
    converted: HashMap<WorkspacePath, (String, OnceLock<Bytes>)>,
}

/// A working copy as it was at a commit.
pub(crate) struct Before {
    pub(crate) view: Arc<dyn View>,
    /// Changed files of which only a program knows what a working copy had. They are shown as they are now.
    pub(crate) unknown: Vec<WorkspacePath>,
}

impl Git {
    /// The files that are staged, and `view` as it would be if the index were all there is.
    pub(crate) fn staged(&self, view: Arc<dyn View>) -> Result<(Changed, Arc<dyn View>), CliError> {
        let staged = self.differences(&["--cached", &self.head()?])?;
        let unstaged = Changed::of(&self.run(&[&DIFF[..], &["--"]].concat())?).paths;
        let list = self.run(&["ls-files", "--stage", "-z"])?;
        // A file that is not merged yet is left as it is.
        Ok((staged, self.tracked(view, unstaged, &list, Entry::of_index)?))
    }

    /// `view` as it would be if a commit were all there is.
    pub(crate) fn at(&self, commit: &str, view: Arc<dyn View>) -> Result<Arc<dyn View>, CliError> {
        let differing = self.differences(&[commit])?.paths_and_gone();
        let list = self.run(&["ls-tree", "-r", "-z", commit])?;
        self.tracked(view, differing, &list, Entry::of_tree)
    }

    /// `view` with what `changed` since a commit as a working copy had it then. What git ignores stays as it is.
    pub(crate) fn before(
        &self,
        commit: &str,
        changed: &Changed,
        view: Arc<dyn View>,
    ) -> Result<Before, CliError> {
        let list = self.run(&["ls-tree", "-r", "-z", commit])?;
        let entries = entries(&list, Entry::of_tree);
        let mut entries: Vec<_> = entries.filter(|it| changed.has(&it.path)).collect();
        let conversions = self.conversions(files(&entries))?;
        let mut branch = Branch::new(view);
        let old: HashSet<_> = entries.iter().map(|it| &it.path).collect();
        for new in changed.paths.iter().filter(|it| !old.contains(it)) {
            branch.remove(new).map_err(|error| cannot_look(&error))?;
        }
        let is_unknown = |it: &Entry| conversions.get(&it.path) == Some(&Conversion::Smudge);
        let unknown: Vec<_> = entries.extract_if(.., |it| is_unknown(it)).map(|it| it.path).collect();
        self.lay(&mut branch, &entries)?;
        for entry in entries.iter().filter(|it| conversions.contains_key(&it.path)) {
            let text = self.checked_out(&entry.path, &entry.blob)?;
            lay(&mut branch, entry, text).map_err(|error| cannot_look(&error))?;
        }
        Ok(Before { view: Arc::new(branch.snapshot()), unknown })
    }

    /// `view` with the texts of those of the listed files that are `differing`, and without files that are not listed.
    fn tracked(
        &self,
        view: Arc<dyn View>,
        mut differing: BTreeSet<WorkspacePath>,
        list: &[u8],
        entry: fn(&str) -> Option<Entry>,
    ) -> Result<Arc<dyn View>, CliError> {
        differing.extend(self.not_looked_at()?);
        // A repository of its own is left as it is.
        let (mut other, same): (Vec<_>, Vec<_>) =
            entries(list, entry).partition(|it| differing.contains(&it.path));
        let conversions = self.conversions(files(&same))?;
        let mut converted = HashMap::new();
        for it in same {
            match conversions.get(&it.path) {
                None => {}
                Some(Conversion::LineEndings) => _ = converted.insert(it.path, (it.blob, OnceLock::new())),
                Some(Conversion::Text | Conversion::Clean | Conversion::Smudge) => other.push(it),
            }
        }
        let mut branch = Branch::new(view);
        self.lay(&mut branch, &other)?;
        let named = lines(list).filter_map(|it| WorkspacePath::new(it.split_once('\t')?.1).ok());
        Ok(Arc::new(Tracked::new(self.clone(), branch.snapshot(), named.collect(), converted)))
    }

    fn lay(&self, branch: &mut Branch, entries: &[Entry]) -> Result<(), CliError> {
        for (entry, text) in entries.iter().zip(self.blobs(entries)?) {
            lay(branch, entry, text).map_err(|error| cannot_look(&error))?;
        }
        Ok(())
    }

    /// Files that git takes for unchanged, or for rightly missing, because it was told so.
    fn not_looked_at(&self) -> Result<Vec<WorkspacePath>, CliError> {
        let list = self.run(&["ls-files", "-v", "-z"])?;
        let flagged = |line: &str| {
            let (tag, path) = line.split_once(' ')?;
            let is_flagged = tag == "S" || tag.chars().all(|it| it.is_ascii_lowercase());
            is_flagged.then(|| WorkspacePath::new(path).ok())?
        };
        Ok(lines(&list).filter_map(flagged).collect())
    }

    fn blob_text(&self, blob: &str) -> Result<Vec<u8>, CliError> {
        self.run(&["cat-file", "blob", blob])
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
        texts(&printed, entries)
            .ok_or_else(|| CliError::files("git cat-file gave no text of a file that git lists"))
    }
}

impl From<Arc<dyn View>> for Before {
    fn from(view: Arc<dyn View>) -> Self {
        Self { view, unknown: Vec::new() }
    }
}

impl Tracked {
    fn new(
        git: Git,
        view: Snapshot,
        named: HashSet<WorkspacePath>,
        converted: HashMap<WorkspacePath, (String, OnceLock<Bytes>)>,
    ) -> Self {
        let folders = named.iter().flat_map(|it| it.ancestors().skip(1)).collect();
        Self { git, view, named, folders, converted }
    }

    /// The text that git stores, if it may be another than the working copy has.
    fn stored(&self, path: &WorkspacePath) -> io::Result<Option<Bytes>> {
        let Some((blob, text)) = self.converted.get(path) else { return Ok(None) };
        if let Some(text) = text.get() {
            return Ok(Some(text.clone()));
        }
        let here = self.view.read(path)?;
        let stored = match here.contains(&b'\r') {
            true => self.git.blob_text(blob).map_err(io::Error::other)?.into(),
            false => here,
        };
        Ok(Some(text.get_or_init(|| stored).clone()))
    }

    /// Whether the path is visible. Files in a nested repository, which git lists as one entry, are shown as they are.
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

impl View for Tracked {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.expect(path)?;
        self.stored(path)?.map_or_else(|| self.view.read(path), Ok)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        self.expect(path)?;
        let metadata = self.view.metadata(path)?;
        let size = self.stored(path)?.map_or(metadata.size, |it| it.len() as u64);
        Ok(Metadata { size, ..metadata })
    }

    /// Returns the root, as hidden files may be anywhere.
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
        self.stored(path)?.map_or_else(|| self.view.hash(path), |it| Ok(ContentHash::of(&it)))
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.expect(path)?;
        self.view.read_link(path)
    }
}

impl Entry {
    /// `100644 HASH 0<tab>path`
    fn of_index(line: &str) -> Option<Self> {
        let (facts, path) = line.split_once('\t')?;
        let [mode, blob, stage] = facts.split(' ').collect::<Vec<_>>().try_into().ok()?;
        if stage == "0" { Self::new(mode, blob, path) } else { None }
    }

    /// `100644 blob HASH<tab>path`
    fn of_tree(line: &str) -> Option<Self> {
        let (facts, path) = line.split_once('\t')?;
        let [mode, _, blob] = facts.split(' ').collect::<Vec<_>>().try_into().ok()?;
        Self::new(mode, blob, path)
    }

    fn new(mode: &str, blob: &str, path: &str) -> Option<Self> {
        let kind = match mode {
            "100644" => Kind::File { executable: false },
            "100755" => Kind::File { executable: true },
            "120000" => Kind::Symlink,
            _ => return None,
        };
        Some(Self { path: WorkspacePath::new(path).ok()?, kind, blob: blob.to_owned() })
    }
}

/// Lines that git printed, each with a NUL after it.
fn lines(list: &[u8]) -> impl Iterator<Item = &str> {
    list.split(|it| *it == 0).filter_map(|it| str::from_utf8(it).ok())
}

fn entries(list: &[u8], entry: fn(&str) -> Option<Entry>) -> impl Iterator<Item = Entry> {
    lines(list).filter_map(entry)
}

/// The paths of those that are no links.
fn files(entries: &[Entry]) -> impl Iterator<Item = &WorkspacePath> {
    entries.iter().filter(|it| it.kind != Kind::Symlink).map(|it| &it.path)
}

fn cannot_look(error: &EditError) -> CliError {
    CliError::files(format!("cannot look at what git has: {error}"))
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

/// Removes a file or link that stands where git has a folder above `path`.
fn make_folders_possible(branch: &mut Branch, path: &WorkspacePath) -> Result<(), EditError> {
    let mut above: Vec<_> = path.ancestors().skip(1).filter(|it| !it.is_root()).collect();
    above.reverse();
    let in_the_way = above.iter().find(|it| {
        let there = branch.snapshot().metadata(it);
        there.is_ok_and(|it| it.kind != FileKind::Directory)
    });
    if let Some(in_the_way) = in_the_way {
        branch.remove(in_the_way)?;
    }
    Ok(())
}

fn lay(branch: &mut Branch, entry: &Entry, text: Vec<u8>) -> Result<(), EditError> {
    let path = &entry.path;
    make_folders_possible(branch, path)?;
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
