//! The files of a view that a checker's answers may rest on, and one name for all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use overlay::{ContentHash, FileKind, Observation, Read, View, WalkOptions, WorkspacePath, walk};

use crate::{checker::Checker, globs::Globs};

/// Files that a checker's findings depend on, with the content of each.
pub(crate) struct Inputs {
    pub(crate) contents: BTreeMap<WorkspacePath, Observation>,
    /// Hash over all of it.
    pub(crate) digest: ContentHash,
}

impl Inputs {
    /// Returns the files that match `depends-on` as far as git does not ignore them; and, since generated files are read all the
    /// same, the ignored files that match a glob of an ending, such as `*.rs`, but for folders of caches and dependencies.
    pub(crate) fn of(view: &dyn View, checker: &Checker) -> Self {
        let all = Globs::new(&checker.depends_on);
        let mut paths: BTreeSet<_> = walk(view, &[WorkspacePath::root()], &WalkOptions::default())
            .filter(|it| all.matches(it))
            .collect();
        let kinds = checker.depends_on.iter().chain(&checker.tool.globs);
        let kinds = Globs::new(kinds.filter(|it| it.starts_with("*.")));
        descend(view, &WorkspacePath::root(), &mut |it| {
            if kinds.matches(&it) {
                paths.insert(it);
            }
        });
        let mut names: BTreeMap<WorkspacePath, Vec<&str>> = BTreeMap::new();
        for path in &paths {
            if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                names.entry(folder).or_default().push(name);
            }
        }
        let mut contents = BTreeMap::new();
        for (folder, names) in &names {
            let seen = Read::observe_contents(view, folder, names, u64::MAX);
            contents.extend(names.iter().map(|it| folder.child(it)).zip(seen));
        }
        Self { digest: digest(&contents), contents }
    }
}

/// Marks a folder whose content can be made again: <https://bford.info/cachedir/>.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Version control's own, and what others wrote.
const NOT_ENTERED: [&str; 9] =
    [".git", ".hg", ".svn", ".jj", ".broker-given", "node_modules", ".venv", "venv", "site-packages"];

/// All files below a folder, links not followed.
fn descend(view: &dyn View, folder: &WorkspacePath, found: &mut impl FnMut(WorkspacePath)) {
    let Ok(listing) = view.list(folder) else { return };
    if listing.entries.iter().any(|it| it.name == CACHE_TAG) {
        return;
    }
    for entry in listing.entries {
        match entry.kind {
            FileKind::File => found(folder.child(&entry.name)),
            FileKind::Directory if !NOT_ENTERED.contains(&entry.name.as_str()) => {
                descend(view, &folder.child(&entry.name), found);
            }
            FileKind::Directory | FileKind::Symlink | FileKind::Other => {}
        }
    }
}

fn digest(contents: &BTreeMap<WorkspacePath, Observation>) -> ContentHash {
    /// Number of files that could not be read: the observation of one is never the same as anything.
    static FAILED: AtomicU64 = AtomicU64::new(0);
    let mut text = String::new();
    for (path, seen) in contents {
        let _to_a_string = match seen {
            Observation::Found(hash) => writeln!(text, "{path}\0{hash}"),
            Observation::Failed => writeln!(text, "{path}\0{}", FAILED.fetch_add(1, Relaxed)),
            other => writeln!(text, "{path}\0{other:?}"),
        };
    }
    ContentHash::of(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[test]
    fn what_counts() {
        let files = [
            (".git/HEAD", ""),
            (".gitignore", "generated\ntarget\n"),
            ("src/a.rs", ""),
            ("data.json", ""),
            ("generated/b.rs", ""),
            ("generated/b.json", ""),
            ("target/CACHEDIR.TAG", ""),
            ("target/c.rs", ""),
            ("node_modules/d.rs", ""),
        ];
        let of = |checker: &str, files: &[(&str, &str)]| {
            let view = Memory::from_files(files.iter().copied()).unwrap();
            Inputs::of(&view, Checker::named(checker).unwrap())
        };
        let names =
            |it: &Inputs| it.contents.keys().map(WorkspacePath::to_string).collect::<Vec<_>>().join(" ");
        let all = of("cargo-check", &files);
        assert_eq!(names(&all), ".gitignore data.json generated/b.rs src/a.rs");
        assert_eq!(names(&of("go-vet", &files)), ".gitignore data.json src/a.rs");
        assert_eq!(names(&of("shellcheck", &files)), "");
        let with = |path: &'static str, text: &'static str| {
            let files: Vec<_> = files.into_iter().filter(|it| it.0 != path).chain([(path, text)]).collect();
            of("cargo-check", &files).digest == all.digest
        };
        assert!(with("target/c.rs", "x") && with("generated/b.json", "x"));
        assert!(!with("data.json", "x") && !with("generated/b.rs", "x") && !with("new.txt", ""));
    }
}
