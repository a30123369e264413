//! The model: every path that exists, spelled out, and edits on it done the long way.

use std::{collections::BTreeMap, io};

use overlay::{Memory, WorkspacePath};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModelNode {
    File(String, bool),
    Directory,
    Link(String),
}
pub(crate) use ModelNode::{Directory, File, Link};

/// Every path that exists, spelled out.
#[derive(Debug, Clone)]
pub(crate) struct Model(pub(crate) BTreeMap<String, ModelNode>);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Refusal {
    Root,
    NotFound,
    AlreadyExists,
    NotADirectory,
    IsADirectory,
    NotAFile,
    NotEmpty,
    IntoItself,
    Unreachable,
}

#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Write(String, String),
    Create(String, String),
    Remove(String),
    CreateDir(String),
    Rename(String, String),
    Symlink(String, String),
    SetExecutable(String, bool),
}

pub(crate) fn split(path: &str) -> (String, String) {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    (parent.to_owned(), name.to_owned())
}

pub(crate) fn join(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") }
}

impl Model {
    pub(crate) fn base() -> Self {
        let nodes = [
            ("a", Directory),
            ("a/a", File("aa".into(), false)),
            ("a/b", Directory),
            ("a/b/c", File("abc".into(), true)),
            ("a/c", Link("../b".into())),
            ("b", Directory),
            ("b/a", Directory),
            ("b/b", File("bb".into(), false)),
            ("c", File("c".into(), true)),
        ];
        Self(nodes.into_iter().map(|(path, node)| (path.to_owned(), node)).collect())
    }

    pub(crate) fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        for (path, node) in &self.0 {
            let path = WorkspacePath::new(path).unwrap();
            match node {
                File(text, executable) => memory.insert_file(&path, text.clone().into(), *executable),
                Directory => memory.insert_dir(&path),
                Link(target) => memory.insert_symlink(&path, target),
            }
        }
        memory
    }

    fn get(&self, path: &str) -> Option<&ModelNode> {
        if path.is_empty() { Some(&Directory) } else { self.0.get(path) }
    }

    pub(crate) fn below(&self, directory: &str) -> Vec<String> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        self.0.keys().filter(|it| it.starts_with(&prefix)).cloned().collect()
    }

    /// Why nothing can be looked at here, in the order in which a system meets with it.
    pub(crate) fn look_up(&self, path: &str) -> Result<&ModelNode, io::ErrorKind> {
        let mut above = String::new();
        for name in path.split('/').filter(|it| !it.is_empty()) {
            match self.get(&above) {
                None => return Err(io::ErrorKind::NotFound),
                Some(Directory) => above = join(&above, name),
                Some(_) => return Err(io::ErrorKind::NotADirectory),
            }
        }
        self.get(&above).ok_or(io::ErrorKind::NotFound)
    }

    /// Follows links one at a time, by rewriting the whole path at each.
    fn resolve(&self, path: &str, follow_last: bool, may_create: bool) -> Result<String, Refusal> {
        let mut path = path.to_owned();
        for _ in 0..=40 {
            match self.first_link(&path, follow_last, may_create)? {
                None => return Ok(path),
                Some(rewritten) => path = rewritten,
            }
        }
        Err(Refusal::Unreachable)
    }

    /// The path with its first link or `..` replaced by what that leads to.
    fn first_link(&self, path: &str, follow_last: bool, may_create: bool) -> Result<Option<String>, Refusal> {
        let names: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
        let mut above = String::new();
        for (index, name) in names.iter().enumerate() {
            let rest = names[index + 1..].join("/");
            if *name == ".." {
                let parent = if above.is_empty() { Err(Refusal::Unreachable) } else { Ok(split(&above).0) };
                return self
                    .first_link(&join_rest(&parent?, &rest), follow_last, may_create)
                    .map(|it| Some(it.unwrap_or_else(|| join_rest(&split(&above).0, &rest))));
            }
            let here = join(&above, name);
            match self.get(&here) {
                Some(Link(target)) if follow_last || !rest.is_empty() => {
                    if target.starts_with('/') {
                        return Err(Refusal::Unreachable);
                    }
                    let target: Vec<_> =
                        target.split('/').filter(|it| *it != "." && !it.is_empty()).collect();
                    return Ok(Some(join_rest(&join_rest(&above, &target.join("/")), &rest)));
                }
                Some(File(..) | Link(_)) if !rest.is_empty() => return Err(Refusal::NotADirectory),
                None if !rest.is_empty() || !may_create => return Err(Refusal::NotFound),
                Some(_) | None => above = here,
            }
        }
        Ok(None)
    }

    /// Returns the path that an edit changes: the longest existing part is resolved, the rest is as it was given.
    fn locate(&self, path: &str, follow_last: bool) -> Result<String, Refusal> {
        let mut rest = String::new();
        let mut known = path.to_owned();
        let mut found = self.resolve(&known, follow_last, true);
        while found == Err(Refusal::NotFound) {
            let (parent, name) = split(&known);
            rest = join_rest(&name, &rest);
            found = self.resolve(&parent, true, false);
            known = parent;
        }
        match join_rest(&found?, &rest) {
            root if root.is_empty() => Err(Refusal::Root),
            place => Ok(place),
        }
    }

    fn find(&self, path: &str) -> Result<Option<&ModelNode>, Refusal> {
        match self.look_up(path) {
            Ok(node) => Ok(Some(node)),
            Err(io::ErrorKind::NotFound) => Ok(None),
            Err(_) => Err(Refusal::NotADirectory),
        }
    }

    fn insert_with_parents(&mut self, path: &str, node: ModelNode) {
        let (parent, _) = split(path);
        if !parent.is_empty() && self.get(&parent).is_none() {
            self.insert_with_parents(&parent, Directory);
        }
        self.0.insert(path.to_owned(), node);
    }

    fn insert_new(&mut self, path: &str, node: ModelNode) -> Result<(), Refusal> {
        let path = self.locate(path, false)?;
        if self.find(&path)?.is_some() {
            return Err(Refusal::AlreadyExists);
        }
        self.insert_with_parents(&path, node);
        Ok(())
    }

    fn write(&mut self, path: &str, text: &str) -> Result<(), Refusal> {
        let path = self.locate(path, true)?;
        let executable = match self.find(&path)? {
            None => false,
            Some(File(_, executable)) => *executable,
            Some(Directory) => return Err(Refusal::IsADirectory),
            Some(Link(_)) => return Err(Refusal::NotAFile),
        };
        self.insert_with_parents(&path, File(text.to_owned(), executable));
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<(), Refusal> {
        let path = self.locate(path, false)?;
        self.find(&path)?.ok_or(Refusal::NotFound)?;
        self.below(&path).iter().for_each(|it| drop(self.0.remove(it)));
        self.0.remove(&path);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Refusal> {
        let from = self.locate(from, false)?;
        let moved = self.find(&from)?.ok_or(Refusal::NotFound)?.clone();
        let to = self.locate(to, false)?;
        if from == to {
            return Ok(());
        }
        if moved == Directory && to.starts_with(&format!("{from}/")) {
            return Err(Refusal::IntoItself);
        }
        match (&moved, self.find(&to)?) {
            (_, None) if self.find(&split(&to).0)?.is_none() => return Err(Refusal::NotFound),
            (_, None) => {}
            (Directory, Some(Directory)) if self.below(&to).is_empty() => {}
            (Directory, Some(Directory)) => return Err(Refusal::NotEmpty),
            (Directory, Some(_)) => return Err(Refusal::NotADirectory),
            (_, Some(Directory)) => return Err(Refusal::IsADirectory),
            (_, Some(_)) => {}
        }
        for old in self.below(&from) {
            let node = self.0.remove(&old).unwrap();
            self.0.insert(format!("{to}{}", &old[from.len()..]), node);
        }
        self.0.remove(&from);
        self.0.insert(to, moved);
        Ok(())
    }

    fn set_executable(&mut self, path: &str, value: bool) -> Result<(), Refusal> {
        let path = self.locate(path, true)?;
        match self.find(&path)?.ok_or(Refusal::NotFound)?.clone() {
            File(text, _) => self.0.insert(path, File(text, value)),
            Directory => return Err(Refusal::IsADirectory),
            Link(_) => return Err(Refusal::NotAFile),
        };
        Ok(())
    }

    pub(crate) fn apply(&mut self, edit: &Edit) -> Result<(), Refusal> {
        match edit {
            Edit::Write(path, text) => self.write(path, text),
            Edit::Create(path, text) => self.insert_new(path, File(text.clone(), false)),
            Edit::Remove(path) => self.remove(path),
            Edit::CreateDir(path) => self.insert_new(path, Directory),
            Edit::Rename(from, to) => self.rename(from, to),
            Edit::Symlink(path, target) => self.insert_new(path, Link(target.clone())),
            Edit::SetExecutable(path, value) => self.set_executable(path, *value),
        }
    }
}

fn join_rest(path: &str, rest: &str) -> String {
    if rest.is_empty() { path.to_owned() } else { join(path, rest) }
}
