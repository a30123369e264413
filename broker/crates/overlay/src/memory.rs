//! A tree of files held in memory: a base for tests and for texts that belong to no workspace.
//!
//! A tree is filled once and then read. For edits that can be taken apart again there is `Branch`.

use std::{collections::BTreeMap, io};

use bytes::Bytes;

use crate::{Entry, FileKind, Listing, Metadata, PathError, View, WorkspacePath};

/// A small in-memory tree.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    root: Directory,
}

type Directory = BTreeMap<String, Node>;

#[derive(Debug, Clone)]
enum Node {
    File { bytes: Bytes, executable: bool },
    Directory(Directory),
    Symlink(String),
}

impl Memory {
    /// A tree of these files and the directories that they need.
    pub fn from_files<P, C>(files: impl IntoIterator<Item = (P, C)>) -> Result<Self, PathError>
    where
        P: AsRef<str>,
        C: AsRef<[u8]>,
    {
        let mut memory = Self::default();
        for (path, contents) in files {
            let bytes = Bytes::copy_from_slice(contents.as_ref());
            memory.insert_file(&WorkspacePath::new(path.as_ref())?, bytes, false);
        }
        Ok(memory)
    }

    pub fn insert_file(&mut self, path: &WorkspacePath, bytes: Bytes, executable: bool) {
        self.insert(path, Node::File { bytes, executable });
    }

    pub fn insert_dir(&mut self, path: &WorkspacePath) {
        self.insert(path, Node::Directory(Directory::new()));
    }

    pub fn insert_symlink(&mut self, path: &WorkspacePath, target: &str) {
        self.insert(path, Node::Symlink(target.to_owned()));
    }

    /// Puts `node` at `path` in place of whatever stands there or in the way. The root stays.
    fn insert(&mut self, path: &WorkspacePath, node: Node) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
        let mut directory = &mut self.root;
        for part in parent.components() {
            let next = directory.entry(part.to_owned()).or_insert_with(Node::empty_directory);
            directory = next.make_directory();
        }
        directory.insert(name.to_owned(), node);
    }

    fn find(&self, path: &WorkspacePath) -> io::Result<Place<'_>> {
        let mut place = Place::Directory(&self.root);
        for name in path.components() {
            let Place::Directory(directory) = place else { return Err(io::ErrorKind::NotADirectory.into()) };
            place = directory.get(name).ok_or(io::ErrorKind::NotFound)?.place();
        }
        Ok(place)
    }
}

/// A node that is looked at; the root is no [`Node`] but is a place.
#[derive(Clone, Copy)]
enum Place<'a> {
    File(&'a Bytes, bool),
    Directory(&'a Directory),
    Symlink(&'a str),
}

impl Node {
    fn empty_directory() -> Self {
        Self::Directory(Directory::new())
    }

    fn place(&self) -> Place<'_> {
        match self {
            Self::File { bytes, executable } => Place::File(bytes, *executable),
            Self::Directory(directory) => Place::Directory(directory),
            Self::Symlink(target) => Place::Symlink(target),
        }
    }

    fn make_directory(&mut self) -> &mut Directory {
        if !matches!(self, Self::Directory(_)) {
            *self = Self::empty_directory();
        }
        match self {
            Self::Directory(directory) => directory,
            Self::File { .. } | Self::Symlink(_) => unreachable!("it was made a directory above"),
        }
    }
}

impl Place<'_> {
    fn kind(self) -> FileKind {
        match self {
            Self::File(..) => FileKind::File,
            Self::Directory(_) => FileKind::Directory,
            Self::Symlink(_) => FileKind::Symlink,
        }
    }
}

impl View for Memory {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        match self.find(path)? {
            Place::File(bytes, _) => Ok(bytes.clone()),
            Place::Directory(_) => Err(io::ErrorKind::IsADirectory.into()),
            Place::Symlink(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        let place = self.find(path)?;
        let (size, executable) = match place {
            Place::File(bytes, executable) => (bytes.len() as u64, executable),
            Place::Directory(_) | Place::Symlink(_) => (0, false),
        };
        Ok(Metadata { kind: place.kind(), size, executable })
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        let Place::Directory(directory) = self.find(path)? else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        let entry = |(name, node): (&String, &Node)| Entry { name: name.clone(), kind: node.place().kind() };
        Ok(Listing { entries: directory.iter().map(entry).collect(), not_utf8: 0 })
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        match self.find(path)? {
            Place::Symlink(target) => Ok(target.to_owned()),
            Place::File(..) | Place::Directory(_) => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    fn tree() -> Memory {
        let mut memory = Memory::from_files([("src/lib.rs", "pub mod a;"), ("src/a.rs", "")]).unwrap();
        memory.insert_symlink(&path("link"), "src");
        memory.insert_dir(&path("empty"));
        memory
    }

    #[test]
    fn reads_follow_no_link_and_open_does() {
        let tree = tree();
        assert_eq!(tree.read(&path("src/lib.rs")).unwrap(), "pub mod a;");
        assert_eq!(tree.read(&path("link/a.rs")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert_eq!(tree.open(&path("link/a.rs")).unwrap(), "");
        assert_eq!(tree.read(&path("src")).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(tree.read(&path("src/lib.rs/x")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert_eq!(tree.read(&path("missing/x")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn lists_in_order() {
        let names: Vec<_> = tree()
            .list(&WorkspacePath::root())
            .unwrap()
            .entries
            .into_iter()
            .map(|it| (it.name, it.kind))
            .collect();
        let want = [
            ("empty".to_owned(), FileKind::Directory),
            ("link".to_owned(), FileKind::Symlink),
            ("src".to_owned(), FileKind::Directory),
        ];
        assert_eq!(names, want);
    }

    #[test]
    fn later_insertions_win() {
        let mut tree = tree();
        tree.insert_file(&path("link/inner"), "x".into(), true);
        assert!(tree.metadata(&path("link/inner")).unwrap().executable);
        tree.insert_file(&path("src"), "now a file".into(), false);
        assert_eq!(tree.metadata(&path("src")).unwrap().size, 10);
    }
}
