//! Finds the workspace that paths belong to, and turns paths on the disk into workspace paths and back.

mod projects;

use std::{
    collections::HashMap,
    env, fs, io,
    path::{Component, Path, PathBuf},
};

use overlay::{WorkspacePath, io_reason};

use self::projects::PROJECTS;
use crate::SetupFailure;

/// A folder that is checked as one, and the folder that its paths are shown from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceRoot {
    root: PathBuf,
    cwd: PathBuf,
}

/// A path that was given, found in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub path: WorkspacePath,
    pub is_dir: bool,
}

/// What became of the paths that were given.
#[derive(Debug)]
pub struct LocatedPaths {
    pub workspace: WorkspaceRoot,
    pub located: Vec<Located>,
    /// As given, with the reason.
    pub missing: Vec<(String, String)>,
}

/// A path that was given and exists.
struct There<'g> {
    given: &'g Path,
    real: PathBuf,
    is_dir: bool,
}

/// A folder with one of these is the root of a repository.
const REPOSITORIES: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// A folder with this is a package, whose name is part of those of its modules.
const PACKAGE: &str = "__init__.py";

/// Folders that are no project's root, whatever they contain.
const SHARED: [&str; 6] = ["/", "/tmp", "/var/tmp", "/private/tmp", "/home", "/Users"];

impl There<'_> {
    fn dir(&self) -> &Path {
        if self.is_dir { &self.real } else { self.real.parent().unwrap_or(&self.real) }
    }
}

impl WorkspaceRoot {
    /// A workspace with a known root, whose paths are shown as they are seen from `cwd`. Both must be
    /// absolute and free of links.
    pub fn new(root: PathBuf, cwd: PathBuf) -> Self {
        Self { root, cwd }
    }

    /// The workspace that holds all of `given`.
    pub fn of_paths(
        cwd: &Path,
        given: &[PathBuf],
        home: Option<&Path>,
    ) -> Result<LocatedPaths, SetupFailure> {
        let cwd = canonical(cwd)?;
        let mut there = Vec::new();
        let mut missing = Vec::new();
        for path in given {
            match real_path(&cwd.join(path)) {
                Ok((real, is_dir)) => there.push(There { given: path, real, is_dir }),
                Err(error) => missing.push((path.display().to_string(), io_reason(&error))),
            }
        }
        let Some(common) = common_ancestor(there.iter().map(There::dir)) else {
            return Err(nothing_there(&missing));
        };
        check_repositories(&there, &common)?;
        let workspace = Self { root: root_above(&common, home), cwd };
        let locate = |it: There<'_>| Ok(Located { path: workspace.locate(&it.real)?, is_dir: it.is_dir });
        let located = there.into_iter().map(locate).collect::<Result<_, SetupFailure>>()?;
        Ok(LocatedPaths { workspace, located, missing })
    }

    /// The workspace that would hold `path`, which need not exist, and where in it that would be.
    pub fn of_future_path(
        cwd: &Path,
        path: &Path,
        home: Option<&Path>,
    ) -> Result<(Self, WorkspacePath), SetupFailure> {
        let cwd = canonical(cwd)?;
        let unusable = |why: &str| SetupFailure::new(format!("cannot use {}: {why}", path.display()));
        // A path forgets a slash at its end.
        if [&b"/"[..], b"/."].iter().any(|end| path.as_os_str().as_encoded_bytes().ends_with(end)) {
            return Err(unusable("it names a directory"));
        }
        let path = future_path(&cwd.join(path)).map_err(|error| unusable(&io_reason(&error)))?;
        let dir = path.ancestors().skip(1).find(|it| it.is_dir()).unwrap_or(&cwd);
        let workspace = Self { root: root_above(dir, home), cwd };
        let path = workspace.locate(&path)?;
        Ok((workspace, path))
    }

    /// The marked workspace around `path`, which need not exist, and where in it that would be. `None` where no folder above
    /// has a marker: a repository, or a project's file.
    pub fn marked_around(path: &Path, home: Option<&Path>) -> Option<(Self, WorkspacePath)> {
        let path = future_path(path).ok()?;
        let dir = path.ancestors().skip(1).find(|it| it.is_dir())?;
        let root = marked_above(dir, &shared_folders(home))?;
        let workspace = Self { cwd: root.clone(), root };
        let path = workspace.locate(&path).ok()?;
        Some((workspace, path))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The workspace path of an existing file, or `None` if it lies elsewhere.
    pub fn find(&self, path: &Path) -> io::Result<Option<WorkspacePath>> {
        let (path, _) = real_path(&self.cwd.join(path))?;
        Ok(self.locate(&path).ok())
    }

    fn locate(&self, path: &Path) -> Result<WorkspacePath, SetupFailure> {
        let unusable = |why: &str| SetupFailure::new(format!("cannot check {}: {why}", path.display()));
        let relative =
            path.strip_prefix(&self.root).map_err(|_| unusable("it lies outside of the workspace"))?;
        let relative = relative.to_str().ok_or_else(|| unusable("its name is not UTF-8"))?;
        WorkspacePath::new(relative).map_err(|error| unusable(&error.to_string()))
    }

    /// `path` as a person in the current folder would name it: relative if it is below, else absolute.
    pub fn display(&self, path: &WorkspacePath) -> String {
        let path = self.root.join(path.as_str());
        let shown = path.strip_prefix(&self.cwd).unwrap_or(&path);
        if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.to_string_lossy().into_owned() }
    }
}

fn canonical(cwd: &Path) -> Result<PathBuf, SetupFailure> {
    fs::canonicalize(cwd).map_err(|error| SetupFailure::new(format!("cannot use {}: {error}", cwd.display())))
}

/// The path with every link above its last component followed; a link to a folder is followed as well.
fn real_path(path: &Path) -> io::Result<(PathBuf, bool)> {
    fs::symlink_metadata(path)?;
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !path.is_dir() => Ok((fs::canonicalize(parent)?.join(name), false)),
        _ => Ok((fs::canonicalize(path)?, true)),
    }
}

/// As [`real_path`], for a path whose end may be missing.
fn future_path(path: &Path) -> io::Result<PathBuf> {
    match real_path(path) {
        Ok((path, false)) => Ok(path),
        Ok((_, true)) => Err(io::ErrorKind::IsADirectory.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (Some(parent), Some(Component::Normal(name))) =
                (path.parent(), path.components().next_back())
            else {
                return Err(error);
            };
            let parent = if parent.is_dir() { fs::canonicalize(parent)? } else { future_path(parent)? };
            Ok(parent.join(name))
        }
        Err(error) => Err(error),
    }
}

fn common_ancestor<'p>(mut dirs: impl Iterator<Item = &'p Path>) -> Option<PathBuf> {
    let first = dirs.next()?.to_owned();
    Some(dirs.fold(first, |common, dir| {
        common.ancestors().find(|it| dir.starts_with(it)).unwrap_or(Path::new("/")).to_owned()
    }))
}

/// Fails if the paths belong to several repositories, or only some of them to one.
fn check_repositories(there: &[There<'_>], common: &Path) -> Result<(), SetupFailure> {
    let [first, rest @ ..] = there else { return Ok(()) };
    if rest.is_empty() || repository_above(common).is_some() {
        return Ok(());
    }
    let mut known = HashMap::new();
    let mut repository = |dir| *known.entry(dir).or_insert_with(|| repository_above(dir));
    let own = repository(first.dir());
    let Some(other) = rest.iter().find(|it| repository(it.dir()) != own) else { return Ok(()) };
    let (one, other) = (first.given.display(), other.given.display());
    let error = SetupFailure::new(format!("`{one}` and `{other}` belong to different repositories"));
    Err(error.hint("check them one at a time"))
}

fn holds(dir: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| dir.join(name).exists())
}

fn repository_above(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|it| holds(it, &REPOSITORIES))
}

/// The nearest repository, else the topmost project, else the folder that holds the topmost Python
/// package, so that its modules keep their names, else the folder itself.
fn root_above(dir: &Path, home: Option<&Path>) -> PathBuf {
    let shared = shared_folders(home);
    let packages = || unshared(dir, &shared).take_while(|it| holds(it, &[PACKAGE]));
    let package = || packages().last()?.parent().map(Path::to_owned);
    marked_above(dir, &shared).or_else(package).unwrap_or_else(|| dir.to_owned())
}

/// The nearest repository, else the topmost project.
fn marked_above(dir: &Path, shared: &[PathBuf]) -> Option<PathBuf> {
    let project = || unshared(dir, shared).filter(|it| holds(it, PROJECTS)).last();
    repository_above(dir).or_else(project).map(Path::to_owned)
}

/// Folders from `dir` upwards, below all that are shared.
fn unshared<'d>(dir: &'d Path, shared: &[PathBuf]) -> impl Iterator<Item = &'d Path> {
    dir.ancestors().take_while(|it| !shared.iter().any(|shared| shared == it))
}

/// Real paths of the folders that are no project's root.
fn shared_folders(home: Option<&Path>) -> Vec<PathBuf> {
    let own = home.map(Path::to_owned).into_iter().chain([env::temp_dir()]);
    let own = own.filter_map(|it| fs::canonicalize(it).ok());
    own.chain(SHARED.map(PathBuf::from)).collect()
}

fn nothing_there(missing: &[(String, String)]) -> SetupFailure {
    if missing.is_empty() {
        return SetupFailure::new("no path to check was given");
    }
    let each: Vec<_> = missing.iter().map(|(path, reason)| format!("{path}: {reason}")).collect();
    SetupFailure::new(format!("cannot check {}", each.join("; ")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use tempfile::TempDir;

    use super::*;

    /// A folder with these files, and its real path.
    fn folder(files: &[&str]) -> (TempDir, PathBuf) {
        let dir = TempDir::new().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let path = fs::canonicalize(dir.path()).unwrap();
        (dir, path)
    }

    #[track_caller]
    fn check(files: &[&str], cwd: &str, given: &[&str], root: &str, paths: &[&str]) {
        let (_dir, base) = folder(files);
        let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
        let found = WorkspaceRoot::of_paths(&base.join(cwd), &given, None).unwrap();
        assert_eq!(found.workspace.root(), base.join(root).components().collect::<PathBuf>());
        let located: Vec<_> = found.located.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(located, paths);
    }

    #[test]
    fn the_nearest_repository_is_the_root() {
        let files = [".git/HEAD", "a/.git/HEAD", "a/pyproject.toml", "a/b/pyproject.toml", "a/b/c.py"];
        check(&files, "a/b", &["c.py"], "a", &["b/c.py"]);
        check(&files, "", &["a/b/c.py", "."], "", &["a/b/c.py", ""]);
    }

    #[test]
    fn else_the_topmost_project() {
        let files = ["x/p/ruff.toml", "x/p/a/pyproject.toml", "x/p/a/b.py", "x/c.py"];
        check(&files, "x/p/a", &["b.py"], "x/p", &["a/b.py"]);
        check(&files, "x", &["p/a", "p"], "x/p", &["a", ""]);
    }

    #[test]
    fn the_configuration_of_a_linter_makes_a_project() {
        for name in [
            ".hadolint.yaml",
            "selene.toml",
            ".markdownlint.json",
            ".brokerignore",
            "tsconfig.json",
            ".eslintrc",
            ".eslintrc.yml",
            "eslint.config.cts",
            ".oxlintrc.jsonc",
            ".biome.json",
            "stylelint.config.mjs",
            ".config/stylelintrc.yaml",
            "ty.toml",
            "go.work",
        ] {
            check(&[&format!("x/{name}"), "x/sub/deep/a"], "x", &["sub"], "x", &["sub"]);
            check(&[&format!("x/{name}"), "x/sub/deep/a"], "x/sub", &["deep/a"], "x", &["sub/deep/a"]);
        }
    }

    #[test]
    fn else_what_the_paths_have_in_common() {
        let files = ["x/a/b.py", "x/c/d.py"];
        check(&files, "x", &["a/b.py"], "x/a", &["b.py"]);
        check(&files, "", &["x/a/b.py", "x/c"], "x", &["a/b.py", "c"]);
        check(&files, "x/a", &["../c/../a/b.py"], "x/a", &["b.py"]);
    }

    #[test]
    fn a_package_keeps_its_name() {
        let files = ["x/p/__init__.py", "x/p/q/__init__.py", "x/p/q/a.py", "x/p/r/b.py"];
        check(&files, "x/p/q", &["a.py"], "x", &["p/q/a.py"]);
        check(&files, "x/p", &["."], "x", &["p"]);
        check(&files, "x/p", &["r"], "x/p/r", &[""]);
        check(&[&files[..], &["x/p/q/ruff.toml"]].concat(), "x/p/q", &["a.py"], "x/p/q", &["a.py"]);
        let (_dir, base) = folder(&["__init__.py", "p/__init__.py"]);
        assert_eq!(root_above(&base.join("p"), Some(&base)), base, "no higher than the home folder");
    }

    #[test]
    fn paths_of_several_repositories_are_refused() {
        let (_dir, base) = folder(&["a/.git/HEAD", "a/src/x.py", "b/.jj/x", "b/y.py", "c/z.py", "c/d/z.py"]);
        let refused = |given: &[&str]| {
            let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
            WorkspaceRoot::of_paths(&base, &given, None).err().map(|it| (it.message, it.hint.unwrap()))
        };
        let of = |one: &str, other: &str| {
            let message = format!("`{one}` and `{other}` belong to different repositories");
            Some((message, "check them one at a time".to_owned()))
        };
        assert_eq!(refused(&["a", "a/src/x.py", "b/y.py", "c"]), of("a", "b/y.py"));
        assert_eq!(refused(&["c/z.py", "c", "a/src"]), of("c/z.py", "a/src"));
        assert_eq!(refused(&["a", "a/src/x.py"]), None);
        assert_eq!(refused(&["c/z.py", "c/d"]), None);
        fs::create_dir(base.join(".git")).unwrap();
        assert_eq!(refused(&["a", "b/y.py", "c"]), None, "one repository holds them all");
    }

    #[test]
    fn shared_folders_are_nobodys_project() {
        let (_dir, base) = folder(&["pyproject.toml", "x/a.py"]);
        assert_eq!(root_above(&base.join("x"), Some(&base)), base.join("x"), "below the home folder");
        assert_eq!(root_above(&base.join("x"), None), base);
    }

    #[cfg(unix)]
    #[test]
    fn links_above_a_path_are_followed() {
        let (_dir, base) = folder(&["real/.git/HEAD", "real/src/a.py"]);
        std::os::unix::fs::symlink("real/src", base.join("link")).unwrap();
        std::os::unix::fs::symlink("a.py", base.join("real/src/b.py")).unwrap();
        let given = ["link/a.py", "link/b.py", "link"].map(PathBuf::from);
        let found = WorkspaceRoot::of_paths(&base, &given, None).unwrap();
        assert_eq!(found.workspace.root(), base.join("real"));
        let located: Vec<_> = found.located.iter().map(|it| (it.path.as_str(), it.is_dir)).collect();
        assert_eq!(located, [("src/a.py", false), ("src/b.py", false), ("src", true)]);
    }

    #[test]
    fn missing_paths_are_told() {
        let (_dir, base) = folder(&["a.py"]);
        let found = WorkspaceRoot::of_paths(&base, &["a.py".into(), "b.py".into()], None).unwrap();
        assert_eq!(found.missing, [("b.py".to_owned(), "no such file or directory".to_owned())]);
        let error = WorkspaceRoot::of_paths(&base, &["b.py".into()], None).unwrap_err();
        assert_eq!(error.message, "cannot check b.py: no such file or directory");
        let error = WorkspaceRoot::of_paths(&base, &["b.py".into(), "c".into()], None).unwrap_err();
        let both = "cannot check b.py: no such file or directory; c: no such file or directory";
        assert_eq!(error.message, both);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_not_utf8_is_told() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let (_dir, base) = folder(&[]);
        let name = OsStr::from_bytes(b"\xff.py");
        fs::write(base.join(name), "").unwrap();
        let error = WorkspaceRoot::of_paths(&base, &[name.into()], None).unwrap_err();
        assert!(error.message.ends_with("its name is not UTF-8"), "{error}");
    }

    #[test]
    fn a_future_path_needs_no_folder() {
        let (_dir, base) = folder(&[".git/HEAD", "a/b.py"]);
        let find = |path: &str| WorkspaceRoot::of_future_path(&base.join("a"), Path::new(path), None);
        let (workspace, path) = find("new/deep/c.py").unwrap();
        assert_eq!((workspace.root(), path.as_str()), (&*base, "a/new/deep/c.py"));
        assert_eq!(find("b.py").unwrap().1.as_str(), "a/b.py");
        assert_eq!(find("../d.py").unwrap().1.as_str(), "d.py");
        assert!(find("..").unwrap_err().message.ends_with("it is a directory"));
        for folder in ["new/", "new/.", "b.py/", "./"] {
            assert!(find(folder).unwrap_err().message.ends_with("it names a directory"), "{folder}");
        }
    }

    #[test]
    fn a_marked_workspace_has_a_repository_or_a_project() {
        let (_dir, base) =
            folder(&["git/.git/HEAD", "project/a/ruff.toml", "package/__init__.py", "plain/a.py"]);
        let find = |path: &str| {
            let (workspace, path) = WorkspaceRoot::marked_around(&base.join(path), Some(&base))?;
            Some((workspace.root().to_owned(), path.as_str().to_owned()))
        };
        let of = |root: &str, path: &str| Some((base.join(root), path.to_owned()));
        assert_eq!(find("git/new/a.py"), of("git", "new/a.py"));
        assert_eq!(find("project/a/b/c.py"), of("project/a", "b/c.py"));
        for unmarked in ["package/a.py", "plain/a.py", "plain/new/a.py", "gone.py", "git"] {
            assert_eq!(find(unmarked), None, "{unmarked}");
        }
    }

    #[test]
    fn paths_are_shown_from_where_one_is() {
        let workspace = |cwd: &str| WorkspaceRoot::new("/w".into(), cwd.into());
        let path = WorkspacePath::new("a/b.py").unwrap();
        assert_eq!(workspace("/w").display(&path), "a/b.py");
        assert_eq!(workspace("/w/a").display(&path), "b.py");
        assert_eq!(workspace("/").display(&path), "w/a/b.py");
        assert_eq!(workspace("/w/c").display(&path), "/w/a/b.py");
        assert_eq!(workspace("/w").display(&WorkspacePath::root()), ".");
    }
}
