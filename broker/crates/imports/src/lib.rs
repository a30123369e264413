//! Files of a workspace that import others, directly or through further ones, and so may have other findings when some
//! change. The nearest come first.
//!
//! A scan for import statements in the view, for Python, JavaScript and TypeScript, Go, Rust, and C; files
//! of other languages stand alone. No server is asked, since what it takes to ask for the uses of all that a file
//! defines is more than to check all files. Where a statement may mean several files, it means all of them:
//! rather a file too many is checked. What a text imports is remembered: only what changed is read again.
//!
//! Not seen is what is imported by a name that is computed or that a macro makes, what is global without an import
//! (declarations of TypeScript, what a build system adds), what a file adds to a type of another (`impl`), aliases of
//! paths that do not end like the file they stand for, and what is imported only through files that git ignores.
//! The modules of each language say what else they leave out.
//!
//! Syntax trees take 18 times as long for the same imports; `against_trees.rs` checks the scans against them.

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test looks at files of the disk, and says what it measures"
)]
mod against_trees;
mod c;
mod files;
mod go;
mod look;
mod python;
mod rust;
mod script;
mod text;

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    ops::Range,
    sync::Arc,
};

use overlay::{ContentHash, View, WalkOptions, WorkspacePath};
use parking_lot::Mutex;

use files::Files;

/// Bytes of a file that are scanned; its imports are expected there.
const READ: usize = 1 << 20;

/// Imports of the files of a workspace.
#[derive(Default)]
pub struct Imports {
    /// Names by content, for the texts that were there at the last look.
    said: Mutex<Arc<Said>>,
}

/// Files that import certain others, as far as import statements show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    reaching: BTreeSet<WorkspacePath>,
    /// Files that were scanned for imports.
    known: BTreeSet<WorkspacePath>,
}

impl Reach {
    /// Whether the file may be one of these. Also true for a file that was not read.
    pub fn may_hold(&self, path: &WorkspacePath) -> bool {
        self.reaching.contains(path) || !self.known.contains(path)
    }
}

/// Whether the text at `part` of a file is imported there, and may mean one of these files.
pub fn may_mean(
    path: &WorkspacePath,
    text: &str,
    part: Range<usize>,
    among: &BTreeSet<WorkspacePath>,
) -> bool {
    let language = path.extension().and_then(Language::of);
    let (Some(language), Some(word)) = (language, text.get(part.clone())) else { return false };
    let files = Files::only(among);
    let all = match language {
        Language::Python => python::imported_at(text, part),
        Language::Script => vec![word.trim_matches(['"', '\'', '`']).to_owned()],
        Language::C | Language::Go | Language::Rust => Vec::new(),
    };
    all.iter().any(|it| !language.targets(path, it, &files).is_empty())
}

/// The names that a text imports, one in each line.
pub fn imported_names(path: &WorkspacePath, text: &str) -> Arc<str> {
    let language = path.extension().and_then(Language::of);
    language.map_or_else(Arc::default, |it| it.said(text.as_bytes()))
}

/// The files among these that a text with these [names](imported_names) may import, each with its name.
pub fn imported(
    path: &WorkspacePath,
    names: &str,
    among: &BTreeSet<WorkspacePath>,
) -> Vec<(String, WorkspacePath)> {
    let Some(language) = path.extension().and_then(Language::of) else { return Vec::new() };
    let files = Files::only(among);
    let names = names.lines().filter(|it| !it.starts_with(DEFINES) && *it != go::OWN);
    let all = names.flat_map(|name| {
        language.targets(path, name, &files).into_iter().map(move |it| (name.to_owned(), it))
    });
    all.collect()
}

/// Whether a file may define names that others use without an import.
pub fn is_global(path: &WorkspacePath, text: &[u8]) -> bool {
    let is_script = path.extension().and_then(Language::of) == Some(Language::Script);
    let has = |word: &[u8]| text.windows(word.len()).any(|it| it == word);
    is_script && (path.as_str().ends_with(".d.ts") || !has(b"import") && !has(b"export"))
}

/// Prefix of a name that a text defines, and by which others import it.
const DEFINES: char = '=';

/// The names that a text imports or has, one in each line.
type Said = HashMap<(Language, ContentHash), Arc<str>>;

/// The files that have a name by what they say.
type Defined<'f> = HashMap<(Language, String), Vec<&'f WorkspacePath>>;

/// Importers of each file.
type Importers<'f> = HashMap<WorkspacePath, Vec<&'f WorkspacePath>>;

impl Imports {
    /// The files that import one of those that `changed`, the nearest first. Without the changed files themselves, which
    /// need not be there.
    pub fn dependents(
        &self,
        languages: &Languages,
        view: &dyn View,
        changed: &[WorkspacePath],
    ) -> Vec<WorkspacePath> {
        let files = look::files(languages, view, changed, &WalkOptions::default());
        let mut seen: BTreeSet<_> = changed.iter().collect();
        let importers = self.importers(view, &files);
        let mut found = Vec::new();
        let mut todo: VecDeque<_> = changed.iter().collect();
        while let Some(path) = todo.pop_front() {
            for importer in importers.get(path).into_iter().flatten() {
                if seen.insert(importer) {
                    found.push((*importer).clone());
                    todo.push_back(importer);
                }
            }
        }
        found
    }

    /// Returns the files that import one of those that `changed`, directly or through others. A changed file is one of
    /// them if it imports another.
    pub fn reach(&self, languages: &Languages, view: &dyn View, changed: &[WorkspacePath]) -> Reach {
        let options = WalkOptions { respect_ignore_files: false, ..WalkOptions::default() };
        let files = look::files(languages, view, changed, &options);
        let importers = self.importers(view, &files);
        let mut reaching = BTreeSet::new();
        let mut todo: Vec<_> = changed.iter().collect();
        while let Some(path) = todo.pop() {
            let new = importers.get(path).into_iter().flatten().filter(|it| reaching.insert((**it).clone()));
            todo.extend(new.copied());
        }
        let says = |it: &WorkspacePath| it.extension().is_some_and(|it| Language::of(it).is_some());
        Reach { reaching, known: files.all.into_iter().filter(says).collect() }
    }

    fn importers<'f>(&self, view: &dyn View, files: &'f Files) -> Importers<'f> {
        let texts = self.texts(view, files);
        let defined = defined(&texts);
        let mut importers = Importers::new();
        for (path, language, names) in &texts {
            let imported: BTreeSet<_> = names
                .lines()
                .filter(|it| !it.starts_with(DEFINES))
                .flat_map(|it| language.imported(path, it, files, &defined))
                .filter(|it| it != *path)
                .collect();
            for it in imported {
                importers.entry(it).or_default().push(path);
            }
        }
        importers
    }

    /// Names that each file imports or defines.
    fn texts<'f>(&self, view: &dyn View, files: &'f Files) -> Vec<(&'f WorkspacePath, Language, Arc<str>)> {
        let before = Arc::clone(&self.said.lock());
        let (mut said, mut texts) = (Said::new(), Vec::new());
        for (path, language, content) in files.contents(view) {
            let key = (language, content);
            let known = before.get(&key).cloned();
            let Some(names) = known.or_else(|| Some(language.said(&view.open(path).ok()?))) else { continue };
            texts.push((path, language, Arc::clone(&names)));
            said.insert(key, names);
        }
        *self.said.lock() = Arc::new(said);
        texts
    }
}

fn defined<'f>(texts: &[(&'f WorkspacePath, Language, Arc<str>)]) -> Defined<'f> {
    let mut defined = Defined::new();
    for (path, language, names) in texts {
        for name in names.lines().filter_map(|it| it.strip_prefix(DEFINES)) {
            defined.entry((*language, name.to_owned())).or_default().push(path);
        }
    }
    defined
}

/// Languages whose files may import each other. A file of another one is passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Languages(BTreeSet<Language>);

impl Languages {
    /// Languages whose files have one of these extensions. Extensions of no language that is known here count for
    /// nothing.
    pub fn of<'e>(extensions: impl IntoIterator<Item = &'e str>) -> Self {
        Self(extensions.into_iter().filter_map(Language::of).collect())
    }

    /// Whether the file is in one of them.
    pub fn have(&self, path: &WorkspacePath) -> bool {
        path.extension().and_then(Language::of).is_some_and(|it| self.0.contains(&it))
    }
}

/// Syntax of a file's imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Language {
    C,
    Go,
    Python,
    Rust,
    Script,
}

impl Language {
    fn of(extension: &str) -> Option<Self> {
        Some(match extension {
            "py" | "pyi" => Self::Python,
            "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" => Self::Script,
            "vue" | "svelte" | "astro" => Self::Script,
            "go" => Self::Go,
            "rs" => Self::Rust,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Self::C,
            "inc" | "inl" | "ipp" | "tcc" | "tpp" | "def" | "cppm" | "ixx" | "ccm" | "cxxm" | "mpp" => {
                Self::C
            }
            _ => return None,
        })
    }

    fn said(self, text: &[u8]) -> Arc<str> {
        let text = String::from_utf8_lossy(&text[..text.len().min(READ)]);
        let names = match self {
            Self::C => c::names(&text),
            Self::Go => go::names(&text),
            Self::Python => python::names(&text),
            Self::Rust => rust::names(&text),
            Self::Script => script::names(&text),
        };
        names.into_iter().collect::<Vec<_>>().join("\n").into()
    }

    /// The files that one may mean by a name, or that say they have it, in the same crate.
    fn imported(
        self,
        path: &WorkspacePath,
        name: &str,
        files: &Files,
        defined: &Defined,
    ) -> Vec<WorkspacePath> {
        let mut found = self.targets(path, name, files);
        if let Some(all) = defined.get(&(self, name.to_owned())) {
            let own = files.own_crate(path);
            found.extend(all.iter().copied().filter(|it| files.own_crate(it) == own).cloned());
        }
        found
    }

    /// The files that one may mean by a name.
    fn targets(self, path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
        match self {
            Self::C => c::targets(path, name, files),
            Self::Go => go::targets(path, name, files),
            Self::Python => python::targets(path, name, files),
            Self::Rust => rust::targets(path, name, files),
            Self::Script => script::targets(path, name, files),
        }
    }
}

/// The place `path` leads to from the directory of `from`.
fn beside(from: &WorkspacePath, path: &str) -> Option<WorkspacePath> {
    from.parent()?.join(path).ok()
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    /// The dependents of a file among these, the nearest first.
    #[track_caller]
    pub(super) fn check(extension: &str, files: &[(&str, &str)], changed: &str, want: &str) {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let changed = [WorkspacePath::new(changed).unwrap()];
        let imports = Imports::default();
        for _ in ["looks", "remembers"] {
            let found = imports.dependents(&Languages::of([extension]), &view, &changed);
            let paths: Vec<_> = found.iter().map(WorkspacePath::as_str).collect();
            assert_eq!(paths.join(" "), want);
        }
    }

    /// A file depends on another with each of these texts.
    #[track_caller]
    pub(super) fn check_each(
        extension: &str,
        files: &[(&str, &str)],
        importer: &str,
        texts: &[&str],
        changed: &str,
    ) {
        for text in texts {
            super::against_trees::check(importer, text);
            let view = Memory::from_files(files.iter().copied().chain([(importer, *text)])).unwrap();
            let changed = [WorkspacePath::new(changed).unwrap()];
            let found = Imports::default().dependents(&Languages::of([extension]), &view, &changed);
            assert!(found.iter().any(|it| it.as_str() == importer), "{text:?}: {found:?}");
        }
    }

    #[test]
    fn the_nearest_come_first() {
        let files =
            [("a.py", ""), ("d.py", "import a"), ("c.py", "import d\nimport b"), ("b.py", "import c")];
        check("py", &files, "a.py", "d.py c.py b.py");
    }

    #[test]
    fn what_a_file_no_longer_says_is_forgotten() {
        let (imports, python) = (Imports::default(), Languages::of(["py"]));
        let dependents = |text| {
            let view = Memory::from_files([("a.py", ""), ("b.py", text)]).unwrap();
            imports.dependents(&python, &view, &[WorkspacePath::new("a.py").unwrap()]).len()
        };
        assert_eq!((dependents("import a"), dependents("import c"), dependents("import a")), (1, 0, 1));
    }

    #[test]
    fn a_file_that_is_gone_has_them_too() {
        check("py", &[("b.py", "from a import x"), ("n.txt", "import a")], "a.py", "b.py");
    }

    #[test]
    fn other_languages_stand_alone() {
        check("toml", &[("a.toml", ""), ("b.toml", "import = 'a.toml'")], "a.toml", "");
    }

    #[test]
    fn who_imports_what_is_new_is_reached() {
        let files = [
            ("new.py", "import other"),
            ("other.py", ""),
            ("near.py", "import new"),
            ("far.py", "import near"),
            ("alone.py", "import os"),
        ];
        let view = Memory::from_files(files).unwrap();
        let path = |it: &str| WorkspacePath::new(it).unwrap();
        let reach = |changed: &[&str]| {
            let changed: Vec<_> = changed.iter().map(|it| path(it)).collect();
            let reach = Imports::default().reach(&Languages::of(["py"]), &view, &changed);
            let reached = files.iter().filter(|it| reach.may_hold(&path(it.0)));
            reached.map(|it| it.0).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(reach(&["new.py"]), "near.py far.py");
        assert_eq!(reach(&["new.py", "other.py"]), "new.py near.py far.py");
        assert_eq!(reach(&["gone.py"]), "");
        let reach = Imports::default().reach(&Languages::of(["py"]), &view, &[path("new.py")]);
        assert!(reach.may_hold(&path("not/looked/at.py")));
    }

    #[test]
    fn what_is_imported_at_a_place_may_be_new() {
        let new: BTreeSet<_> =
            ["newm.py", "pkg/inner.py", "lib/new.ts"].map(|it| WorkspacePath::new(it).unwrap()).into();
        let means = |file: &str, text: &str| {
            // The part between the marks.
            let (start, end) = (text.find('<').unwrap(), text.find('>').unwrap() - 1);
            let path = WorkspacePath::new(file).unwrap();
            may_mean(&path, &text.replacen(['<', '>'], "", 2), start..end, &new)
        };
        assert!(means("a.py", "import os\nimport <newm>\n"));
        assert!(means("a.py", "from <newm> import x"));
        assert!(means("a.py", "from pkg import os, <inner>\n"));
        assert!(means("pkg/a.py", "from . import <inner>\n"));
        assert!(
            means("pkg/a.py", "from .<inner> import x\n") || means("pkg/a.py", "from <.inner> import x\n")
        );
        assert!(means("a.py", "from pkg import (\n    os,\n    <inner>,\n)\n"));
        assert!(means("a.py", "import <pkg.inner>\n"));
        assert!(!means("a.py", "import <other>\n"));
        assert!(!means("a.py", "from pkg import <os>, inner\n"));
        assert!(!means("a.py", "import newm\nx = pkg.<newm>\n"), "no import");
        assert!(means("lib/a.ts", "import { x } from <'./new'>;"));
        assert!(!means("lib/a.ts", "import { x } from <'./old'>;"));
    }

    #[test]
    fn what_a_text_imports_among_some_files() {
        let among: BTreeSet<_> =
            ["pkg/a.py", "lib/a.ts", "cmd/a/a.go"].map(|it| WorkspacePath::new(it).unwrap()).into();
        let check = |path: &str, text: &str| {
            let path = WorkspacePath::new(path).unwrap();
            let found = imported(&path, &imported_names(&path, text), &among);
            found.iter().map(|(_, it)| it.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(check("b.py", "import os\nfrom pkg import a, b\n"), "pkg/a.py");
        assert_eq!(check("pkg/b.py", "from .a import x\n"), "pkg/a.py");
        assert_eq!(check("lib/b.ts", "import { x } from './a';"), "lib/a.ts");
        assert_eq!(check("main.go", "package main\nimport \"x.y/z/cmd/a\"\n"), "cmd/a/a.go");
        assert_eq!(check("cmd/a/b.go", "package a\nimport \"fmt\"\n"), "");
    }

    #[test]
    fn a_script_without_imports_is_for_all() {
        let is_global =
            |path: &str, text: &str| is_global(&WorkspacePath::new(path).unwrap(), text.as_bytes());
        assert!(is_global("a.ts", "interface I {}") && is_global("a.d.ts", "export {}"));
        assert!(!is_global("a.ts", "export const x = 1") && !is_global("a.py", "x = 1"));
    }
}
