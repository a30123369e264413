//! Selection of the files that a linter wants to see: by name, and scripts without an extension by their first lines.
//!
//! Left out: links, whose targets are looked at by their own names, and files with an extension, whatever their first line
//! says.

use std::cell::OnceCell;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use lint::{Interest, has_extension, interpreter};
use overlay::{ContentHash, FileKind, View, WorkspacePath};

/// The largest file that is taken for a script, in bytes.
const LARGEST_SCRIPT: u64 = 1 << 20;

/// A compiled [`Interest`].
#[derive(Clone)]
pub(super) struct Filter {
    globs: Globs,
    interpreters: Box<[String]>,
    left_out: Option<Globs>,
}

impl Filter {
    pub(super) fn of(interest: &Interest) -> Self {
        Self::new(&interest.globs, &interest.interpreters)
    }

    pub(super) fn new(globs: &[String], interpreters: &[String]) -> Self {
        Self {
            globs: Globs::of_globs(globs),
            interpreters: interpreters.iter().cloned().collect(),
            left_out: None,
        }
    }

    pub(super) fn leave_out(&mut self, globs: &[String]) {
        self.left_out = Some(Globs::of_globs(globs));
    }

    pub(super) fn wants(&self, file: &RoutedFile<'_>) -> bool {
        if self.left_out.as_ref().is_some_and(|it| it.want(file.path)) {
            return false;
        }
        self.globs.want(file.path)
            || !self.interpreters.is_empty()
                && file.interpreter().is_some_and(|it| self.interpreters.iter().any(|own| own == it))
    }
}

/// A file whose first line is read once, and only if its name does not say enough.
pub(crate) struct RoutedFile<'v> {
    view: &'v dyn View,
    path: &'v WorkspacePath,
    script: OnceCell<Option<Script>>,
}

struct Script {
    content: ContentHash,
    /// `None` if it is no script.
    interpreter: Option<String>,
}

impl<'v> RoutedFile<'v> {
    pub(super) fn new(view: &'v dyn View, path: &'v WorkspacePath) -> Self {
        Self { view, path, script: OnceCell::new() }
    }

    /// The name of the program that runs it; `None` if its name has an extension, or it is no script.
    fn interpreter(&self) -> Option<&str> {
        self.script.get_or_init(|| self.read()).as_ref()?.interpreter.as_deref()
    }

    fn read(&self) -> Option<Script> {
        let it = if has_extension(self.path) { None } else { self.view.metadata(self.path).ok() }?;
        // A file that is too large is not even hashed: that would read all of it.
        if it.kind != FileKind::File || it.size > LARGEST_SCRIPT {
            return None;
        }
        let (text, content) = self.view.read_hashed(self.path).ok()?;
        Some(Script { content, interpreter: interpreter(self.path, &text).map(str::to_owned) })
    }

    pub(super) fn path(&self) -> &'v WorkspacePath {
        self.path
    }

    /// The hash of what was read so far to say which linters want it.
    pub(super) fn content(&self) -> Option<ContentHash> {
        self.script.get()?.as_ref().map(|it| it.content)
    }
}

/// The globs of a linter, in the words of gitignore.
#[derive(Clone)]
pub(super) enum Globs {
    /// File names, and how they end: all that most linters say, and it is asked of every file.
    Names {
        whole: Vec<String>,
        ends: Vec<String>,
    },
    Any(Gitignore),
}

impl Globs {
    pub(super) fn of_globs(globs: &[String]) -> Self {
        let (mut whole, mut ends) = (Vec::new(), Vec::new());
        for glob in globs {
            match glob.strip_prefix('*') {
                Some(end) if is_plain(end) => ends.push(end.to_owned()),
                None if is_plain(glob) && !glob.is_empty() => whole.push(glob.clone()),
                _ => return Self::Any(matcher(globs)),
            }
        }
        Self::Names { whole, ends }
    }

    pub(super) fn want(&self, path: &WorkspacePath) -> bool {
        match self {
            Self::Any(globs) => globs.matched(path.as_str(), false).is_ignore(),
            Self::Names { whole, ends } => path.file_name().is_some_and(|name| {
                ends.iter().any(|it| name.ends_with(it)) || whole.iter().any(|it| name == it)
            }),
        }
    }
}

/// Whether the glob has no special characters.
fn is_plain(glob: &str) -> bool {
    glob.chars().all(|it| it.is_alphanumeric() || matches!(it, '.' | '_' | '-' | '+'))
}

/// A glob that is none matches nothing.
fn matcher(globs: &[String]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for glob in globs {
        let _never_matches = builder.add_line(None, glob);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[test]
    fn scripts_without_an_extension_are_wanted_for_their_interpreter() {
        let script = "#!/bin/sh\n";
        let files = [("run", script), ("run.txt", script), (".run", script), ("LICENSE", "sh"), ("a.sh", "")];
        let mut view = Memory::from_files(files).unwrap();
        view.insert_symlink(&WorkspacePath::new("link").unwrap(), "run");
        let interest = Interest {
            globs: vec!["*.sh".to_owned()],
            interpreters: vec!["bash".to_owned(), "sh".to_owned()],
            ..Interest::default()
        };
        let wants = |filter: &Filter, path: &str| {
            filter.wants(&RoutedFile::new(&view, &WorkspacePath::new(path).unwrap()))
        };
        let filter = Filter::of(&interest);
        let wanted =
            ["run", "run.txt", ".run", "LICENSE", "a.sh", "link", "gone"].map(|it| wants(&filter, it));
        assert_eq!(wanted, [true, false, false, false, true, false, false]);
        let others = Filter::of(&Interest { interpreters: vec!["python3".to_owned()], ..interest });
        assert!(!wants(&others, "run"));
    }

    #[test]
    fn globs_are_those_of_gitignore() {
        for (globs, path, want) in [
            (&["*.py"][..], "src/deep/a.py", true),
            (&["*.py"], "a.pyi", false),
            (&["*.py", "*.pyi"], "a.pyi", true),
            (&["pyproject.toml"], "sub/pyproject.toml", true),
            (&["/pyproject.toml"], "sub/pyproject.toml", false),
            (&["/pyproject.toml"], "pyproject.toml", true),
            (&["docs/*.md"], "docs/a.md", true),
            (&["docs/*.md"], "other/docs/a.md", false),
            (&["docs/**/*.md"], "docs/x/y/a.md", true),
            (&["*"], ".hidden", true),
            (&["*", "!*.min.js"], "a.min.js", false),
            (&["[", "*.py"], "a.py", true),
            (&["pyproject.toml", "*.py"], "sub/b.py", true),
            (&["pyproject.toml"], "pyproject.toml/a", false),
            (&["a"], "ba", false),
            (&["*", "!a"], "a", false),
            (&[""], "a", false),
            (&[], "a.py", false),
        ] {
            let path = WorkspacePath::new(path).unwrap();
            let globs: Vec<_> = globs.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(Globs::of_globs(&globs).want(&path), want, "{globs:?} {path}");
            assert_eq!(Globs::Any(matcher(&globs)).want(&path), want, "{globs:?} {path}");
        }
    }
}
