//! Trees to search in, and edits of them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use overlay::{Branch, View, WorkspacePath};

use crate::queries::Random;

/// Names a folder to search in instead of the usual one. It is read only.
const TREE: &str = "BROKER_TEST_SEARCH_TREE";

/// Files of the usual tree.
const FILES: usize = 1_500;

/// A folder of real source files.
pub(crate) struct Tree {
    root: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Tree {
    /// Sources of packages that this program was built from, or the folder that the environment names.
    pub(crate) fn new() -> Self {
        if let Some(root) = std::env::var_os(TREE) {
            return Self { root: root.into(), _temporary: None };
        }
        let folder = tempfile::tempdir().unwrap();
        let mut left = FILES;
        for package in packages() {
            copy(&package, &folder.path().join(package.file_name().unwrap()), &mut left);
        }
        add_special_files(folder.path());
        Self { root: folder.path().to_owned(), _temporary: Some(folder) }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A copy that may be written to.
    pub(crate) fn copied(&self) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&self.root, folder.path(), &mut usize::MAX.clone());
        Self { root: folder.path().to_owned(), _temporary: Some(folder) }
    }
}

/// The folders of cargo's registry, sorted.
fn packages() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"))).unwrap();
    let registries = fs::read_dir(home.join("registry/src")).unwrap();
    let packages = registries.flat_map(|it| fs::read_dir(it.unwrap().path()).unwrap());
    let mut packages: Vec<_> = packages.map(|it| it.unwrap().path()).collect();
    packages.sort();
    packages
}

/// Copies files until there are no more `left`.
fn copy(from: &Path, to: &Path, left: &mut usize) {
    fs::create_dir_all(to).unwrap();
    let mut entries: Vec<_> = fs::read_dir(from).unwrap().map(|it| it.unwrap()).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (kind, target) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() && *left > 0 {
            copy(&entry.path(), &target, left);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path()).unwrap(), target).unwrap();
        } else if kind.is_file() && *left > 0 {
            *left -= 1;
            fs::write(target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

/// Files that tell apart who is searched and how.
fn add_special_files(root: &Path) {
    for (path, text) in [
        (".git/HEAD", &b"ref: refs/heads/main"[..]),
        (".gitignore", b"*.log\n!.github\nbuilt/\n"),
        (".github/workflows/ci.yml", b"on: pull_request # unwrap the struct\n"),
        (".hidden/struct.rs", b"struct Hidden;\n"),
        ("special/trace.log", b"struct Ignored;\n"),
        ("special/built/a.rs", b"struct Ignored;\n"),
        ("special/.ignore", b"!kept.log\nother.md"),
        ("special/kept.log", b"struct Kept;\r\nimpl Kept {}\r\n"),
        ("special/other.md", b"struct Other;"),
        ("special/.rgignore", b""),
        ("special/inner/.git/HEAD", b""),
        ("special/inner/heard.log", b"struct InnerRepository;"),
        ("special/binary", b"struct Before;\nstruct \0 struct After;\n"),
        ("special/latin1.txt", b"struct caf\xe9;\nfn f() {}\n"),
        ("special/marked.txt", b"\xef\xbb\xbfstruct Marked;\n"),
        ("special/wide.txt", b"\xff\xfes\0t\0r\0u\0c\0t\0 \0W\0i\0d\0e\0;\0\n\0"),
        ("special/no_end.txt", b"fn last_line()"),
        ("special/empty.txt", b""),
        ("special/kelvin.txt", "\u{212a}elvin ma\u{17f}k straße STRASSE ÀÉ àé\n".as_bytes()),
        ("node_modules/p/index.js", b"function struct() {}\n"),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink("no_end.txt", root.join("special/link.txt")).unwrap();
}

/// Makes the same `count` edits in a branch and on the disk: texts that change, files that come, go and move, one of the
/// directories, too, and ignore files.
pub(crate) fn edit(
    branch: &mut Branch,
    disk: &Path,
    files: &[WorkspacePath],
    count: usize,
    random: &mut Random,
) {
    let write = |branch: &mut Branch, path: &WorkspacePath, text: Vec<u8>| {
        if branch.write(path, text.clone().into()).is_ok() {
            let target = disk.join(path.as_str());
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(target, text).unwrap();
        }
    };
    for number in 0..count {
        let path = random.choice(files).clone();
        let snapshot = branch.snapshot();
        let (Ok(text), Some(folder)) = (snapshot.read(&path), path.parent()) else { continue };
        match number % 10 {
            0 | 1 => {
                if branch.remove(&path).is_ok() {
                    fs::remove_file(disk.join(path.as_str())).unwrap();
                }
            }
            2 | 3 | 9 => {
                let moved = number == 9 && !folder.is_root();
                let from = if moved { folder } else { path };
                let to =
                    WorkspacePath::new(&format!("moved/{number}/{}", from.file_name().unwrap())).unwrap();
                let parent = to.parent().unwrap();
                branch.create_dir(&parent.parent().unwrap()).ok();
                branch.create_dir(&parent).unwrap();
                fs::create_dir_all(disk.join(parent.as_str())).unwrap();
                if branch.rename(&from, &to).is_ok() {
                    fs::rename(disk.join(from.as_str()), disk.join(to.as_str())).unwrap();
                }
            }
            4 => {
                let ignores = folder.child(".gitignore");
                write(branch, &ignores, format!("/{}\n", path.file_name().unwrap()).into_bytes());
            }
            5 => write(branch, &folder.child(&format!("new{number}.rs")), text.to_vec()),
            _ => {
                let mut text = text.to_vec();
                text.truncate(text.len() / 2);
                text.extend(format!("\nstruct Edited{number}; // unwrap impl\n").bytes());
                write(branch, &path, text);
            }
        }
    }
}

/// The files of a view that are searched.
pub(crate) fn files(view: &dyn View) -> Vec<WorkspacePath> {
    overlay::walk(view, &[WorkspacePath::root()], &search::walk_options(None)).collect()
}

/// A branch over a folder on the disk.
pub(crate) fn branch(root: &Path) -> Branch {
    Branch::new(Arc::new(overlay::Base::open(root, overlay::BaseOptions::default()).unwrap()))
}
