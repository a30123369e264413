//! Paths of a workspace and of its copy, each in the place of the other: in arguments, variables, links and what is printed.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    path::{Component, Path, PathBuf},
    thread::{self, JoinHandle},
};

use crate::Program;

/// The two places.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    root: PathBuf,
    tree: PathBuf,
    /// Whether programs see the copy at the workspace's path.
    is_shown: bool,
}

impl Paths {
    pub(crate) fn new(root: &Path, tree: &Path) -> Self {
        Self { root: root.to_owned(), tree: tree.to_owned(), is_shown: false }
    }

    /// Sets whether programs see the copy at the workspace's path.
    pub(super) fn shown(self, is_shown: bool) -> Self {
        Self { is_shown, ..self }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    /// The program as it is run in the copy, with its temporary files in a folder of their own.
    pub(crate) fn program(&self, program: Program, temporary: &Path) -> Program {
        let variable = |(name, value): (OsString, OsString)| {
            let value = if name == "TMPDIR" { temporary.into() } else { self.text(&value) };
            (name, value)
        };
        Program {
            command: program.command.iter().map(|it| self.text(it)).collect(),
            environment: program.environment.into_iter().map(variable).collect(),
            folder: moved(&program.folder, &self.root, &self.tree),
            ..program
        }
    }

    /// A text with the copy's path wherever the workspace's stands in it as a whole.
    fn text(&self, text: &OsStr) -> OsString {
        OsString::from_vec(replaced(text.as_bytes(), &self.root, &self.tree))
    }

    /// Returns the target in the copy of a link at `path`: a link into the workspace leads into the copy, and one out of it to
    /// where it leads from the workspace.
    pub(crate) fn link_in_copy(&self, path: &Path, to: &Path) -> PathBuf {
        if self.is_shown {
            return to.to_owned();
        }
        if to.is_absolute() {
            return moved(to, &self.root, &self.tree);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        if stays_inside(folder, to) { to.to_owned() } else { normal(&self.root.join(folder).join(to)) }
    }

    /// Returns the target in the workspace of a link that a program made in the copy.
    pub(crate) fn link_in_workspace(&self, to: &Path) -> PathBuf {
        if self.is_shown {
            return to.to_owned();
        }
        moved(to, &self.tree, &self.root)
    }

    /// A pipe; what is written to it comes out at `to` with the workspace's paths in the place of the copy's.
    pub(crate) fn relay(&self, to: BorrowedFd<'_>) -> io::Result<(OwnedFd, Relay)> {
        let (reader, writer) = io::pipe()?;
        let (mut from, mut to) = (File::from(OwnedFd::from(reader)), File::from(to.try_clone_to_owned()?));
        let mut replacer = Replacer::new(self);
        let relays = move || {
            let mut buffer = [0; 8192];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                if to.write_all(&replacer.next(&buffer[..length])).is_err() {
                    return;
                }
            }
            let _ = to.write_all(&replacer.rest());
        };
        let thread = thread::Builder::new().name("shadow-relay".to_owned()).spawn(relays)?;
        Ok((writer.into(), Relay(thread)))
    }
}

/// Hands on what is printed until all processes that could print have ended.
pub(crate) struct Relay(JoinHandle<()>);

impl Relay {
    pub(crate) fn finish(self) {
        let _ = self.0.join();
    }
}

/// Replaces the copy's path in bytes that come in parts.
struct Replacer {
    from: Vec<u8>,
    to: Vec<u8>,
    /// Bytes that may be the beginning of the path.
    held: Vec<u8>,
}

impl Replacer {
    fn new(paths: &Paths) -> Self {
        let bytes = |it: &Path| it.as_os_str().as_bytes().to_vec();
        Self { from: bytes(&paths.tree), to: bytes(&paths.root), held: Vec::new() }
    }

    fn next(&mut self, part: &[u8]) -> Vec<u8> {
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(part);
        let mut out = Vec::with_capacity(text.len());
        let mut rest = &*text;
        while let Some(at) = rest.iter().position(|it| *it == b'/') {
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix(&*self.from) {
                out.extend_from_slice(&self.to);
                rest = after;
            } else if self.from.starts_with(rest) {
                self.held = rest.to_vec();
                return out;
            } else {
                out.push(b'/');
                rest = &rest[1..];
            }
        }
        out.extend_from_slice(rest);
        out
    }

    fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// A text with `to` where `from` stands: alone, or with more of a path behind it.
fn replaced(text: &[u8], from: &Path, to: &Path) -> Vec<u8> {
    let (from, to) = (from.as_os_str().as_bytes(), to.as_os_str().as_bytes());
    let goes_on = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it) || !it.is_ascii();
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while at < text.len() {
        let rest = &text[at..];
        let begins = at == 0 || !(goes_on(text[at - 1]) || text[at - 1] == b'/');
        match rest.strip_prefix(from) {
            Some(after) if begins && !after.first().is_some_and(|it| goes_on(*it)) => {
                out.extend_from_slice(to);
                at += from.len();
            }
            _ => {
                out.push(rest[0]);
                at += 1;
            }
        }
    }
    out
}

fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
        Ok(rest) => to.join(rest),
        Err(_) => path.to_owned(),
    }
}

/// Whether the target of a link in `folder` is within the workspace, by its text alone.
fn stays_inside(folder: &Path, to: &Path) -> bool {
    let mut depth = folder.components().count();
    for part in to.components() {
        match part {
            Component::ParentDir if depth == 0 => return false,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
    }
    true
}

fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = normal.pop(),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Paths {
        Paths::new(Path::new("/home/a/work"), Path::new("/cache/copies/1/work"))
    }

    #[test]
    fn a_path_is_replaced_where_it_stands_as_a_whole() {
        let text = |it: &str| paths().text(OsStr::new(it)).into_string().unwrap();
        assert_eq!(
            text("--root=/home/a/work/src:/home/a/work"),
            "--root=/cache/copies/1/work/src:/cache/copies/1/work"
        );
        assert_eq!(
            text("/home/a/work2 /home/a/work-x /x/home/a/work"),
            "/home/a/work2 /home/a/work-x /x/home/a/work"
        );
    }

    #[test]
    fn what_is_printed_is_replaced_however_it_is_cut() {
        let text = b"at /cache/copies/1/work/a.rs: /cache/copies/2 /cache/copies/1/work //cache/copies/1/work /cache/";
        let want = "at /home/a/work/a.rs: /cache/copies/2 /home/a/work //home/a/work /cache/";
        for size in 1..text.len() {
            let mut replacer = Replacer::new(&paths());
            let mut out: Vec<u8> = text.chunks(size).flat_map(|it| replacer.next(it)).collect();
            out.extend(replacer.rest());
            assert_eq!(String::from_utf8(out).unwrap(), want, "in parts of {size}");
        }
    }

    #[test]
    fn links_lead_where_they_led() {
        let link =
            |at: &str, to: &str| paths().link_in_copy(Path::new(at), Path::new(to)).display().to_string();
        assert_eq!(link("d/l", "../a"), "../a");
        assert_eq!(link("d/l", "../../other/b"), "/home/a/other/b");
        assert_eq!(link("l", "/home/a/work/a"), "/cache/copies/1/work/a");
        assert_eq!(link("l", "/etc/hosts"), "/etc/hosts");
        let back = paths().link_in_workspace(Path::new("/cache/copies/1/work/a"));
        assert_eq!(back, Path::new("/home/a/work/a"));
        let shown = Paths { is_shown: true, ..paths() };
        assert_eq!(shown.link_in_copy(Path::new("l"), &back), back, "it stands in the workspace's place");
    }
}
