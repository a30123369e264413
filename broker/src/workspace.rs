//! Finds the workspace that paths belong to, and turns paths on the disk into workspace paths and back.

use std::{
    env, fs, io,
    path::{Component, Path, PathBuf},
};

use overlay::WorkspacePath;

use crate::CliError;

/// A folder that is checked as one, and the folder that its paths are shown from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
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
pub(crate) struct Found {
    pub(crate) workspace: Workspace,
    pub(crate) located: Vec<Located>,
    /// As given, with the reason.
    pub(crate) missing: Vec<(String, String)>,
}

/// A folder with one of these is the root of a repository.
const REPOSITORIES: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// A folder with one of these is the root of a project, or of a part of one.
const PROJECTS: [&str; 9] = [
    "broker.toml",
    "pyproject.toml",
    "ruff.toml",
    ".ruff.toml",
    "setup.py",
    "setup.cfg",
    "package.json",
    "Cargo.toml",
    "go.mod",
];

/// Folders that belong to nobody's project, whatever lies in them.
const SHARED: [&str; 6] = ["/", "/tmp", "/var/tmp", "/private/tmp", "/home", "/Users"];

impl Workspace {
    /// A workspace with a known root, whose paths are shown as they are seen from `cwd`. Both must be
    /// absolute and free of links.
    pub fn new(root: PathBuf, cwd: PathBuf) -> Self {
        Self { root, cwd }
    }

    /// The workspace that holds all of `given`.
    pub(crate) fn of_paths(cwd: &Path, given: &[PathBuf], home: Option<&Path>) -> Result<Found, CliError> {
        let cwd = canonical(cwd)?;
        let mut real = Vec::new();
        let mut missing = Vec::new();
        for path in given {
            match real_path(&cwd.join(path)) {
                Ok(it) => real.push(it),
                Err(error) => missing.push((path.display().to_string(), reason(&error))),
            }
        }
        let dirs = real
            .iter()
            .map(|(path, is_dir)| if *is_dir { path.as_path() } else { path.parent().unwrap_or(path) });
        let Some(common) = common_ancestor(dirs) else {
            return Err(nothing_there(&missing));
        };
        let workspace = Self { root: root_above(&common, home), cwd };
        let locate = |(path, is_dir): (PathBuf, bool)| Ok(Located { path: workspace.locate(&path)?, is_dir });
        let located = real.into_iter().map(locate).collect::<Result<_, CliError>>()?;
        Ok(Found { workspace, located, missing })
    }

    /// The workspace that would hold `path`, which need not exist, and where in it that would be.
    pub(crate) fn of_future_path(
        cwd: &Path,
        path: &Path,
        home: Option<&Path>,
    ) -> Result<(Self, WorkspacePath), CliError> {
        let cwd = canonical(cwd)?;
        let path = future_path(&cwd.join(path))
            .map_err(|error| CliError::usage(format!("cannot use {}: {}", path.display(), reason(&error))))?;
        let dir = path.ancestors().skip(1).find(|it| it.is_dir()).unwrap_or(&cwd);
        let workspace = Self { root: root_above(dir, home), cwd };
        let path = workspace.locate(&path)?;
        Ok((workspace, path))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The workspace path of an existing file, or `None` if it lies elsewhere.
    pub(crate) fn find(&self, path: &Path) -> io::Result<Option<WorkspacePath>> {
        let (path, _) = real_path(&self.cwd.join(path))?;
        Ok(self.locate(&path).ok())
    }

    fn locate(&self, path: &Path) -> Result<WorkspacePath, CliError> {
        let unusable = |why: &str| CliError::usage(format!("cannot check {}: {why}", path.display()));
        let relative =
            path.strip_prefix(&self.root).map_err(|_| unusable("it lies outside of the workspace"))?;
        let relative = relative.to_str().ok_or_else(|| unusable("its name is not UTF-8"))?;
        WorkspacePath::new(relative).map_err(|error| unusable(&error.to_string()))
    }

    /// `path` as a person in the current folder would name it: relative if it is below, else absolute.
    pub fn shown(&self, path: &WorkspacePath) -> String {
        let path = self.root.join(path.as_str());
        let shown = path.strip_prefix(&self.cwd).unwrap_or(&path);
        if shown.as_os_str().is_empty() { ".".to_owned() } else { shown.to_string_lossy().into_owned() }
    }
}

fn canonical(cwd: &Path) -> Result<PathBuf, CliError> {
    fs::canonicalize(cwd).map_err(|error| CliError::files(format!("cannot use {}: {error}", cwd.display())))
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

/// The nearest repository, else the topmost project, else the folder itself.
fn root_above(dir: &Path, home: Option<&Path>) -> PathBuf {
    let holds = |dir: &Path, names: &[&str]| names.iter().any(|name| dir.join(name).exists());
    if let Some(repository) = dir.ancestors().find(|it| holds(it, &REPOSITORIES)) {
        return repository.to_owned();
    }
    let home = home.and_then(|it| fs::canonicalize(it).ok());
    let temporary = fs::canonicalize(env::temp_dir()).ok();
    let is_shared = |dir: &Path| {
        Some(dir) == home.as_deref()
            || Some(dir) == temporary.as_deref()
            || SHARED.iter().any(|it| dir == *it)
    };
    let mine = dir.ancestors().take_while(|it| !is_shared(it));
    mine.filter(|it| holds(it, &PROJECTS)).last().unwrap_or(dir).to_owned()
}

fn nothing_there(missing: &[(String, String)]) -> CliError {
    match missing {
        [] => CliError::usage("no path to check was given"),
        [(path, reason)] => CliError::usage(format!("cannot check {path}: {reason}")),
        [(path, reason), rest @ ..] => {
            CliError::usage(format!("cannot check {path} ({reason}), nor {} other paths", rest.len()))
        }
    }
}

/// The error in words that do not depend on the platform where that is easy.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
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
        let found = Workspace::of_paths(&base.join(cwd), &given, None).unwrap();
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
    fn else_what_the_paths_have_in_common() {
        let files = ["x/a/b.py", "x/c/d.py"];
        check(&files, "x", &["a/b.py"], "x/a", &["b.py"]);
        check(&files, "", &["x/a/b.py", "x/c"], "x", &["a/b.py", "c"]);
        check(&files, "x/a", &["../c/../a/b.py"], "x/a", &["b.py"]);
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
        let found = Workspace::of_paths(&base, &given, None).unwrap();
        assert_eq!(found.workspace.root(), base.join("real"));
        let located: Vec<_> = found.located.iter().map(|it| (it.path.as_str(), it.is_dir)).collect();
        assert_eq!(located, [("src/a.py", false), ("src/b.py", false), ("src", true)]);
    }

    #[test]
    fn missing_paths_are_told() {
        let (_dir, base) = folder(&["a.py"]);
        let found = Workspace::of_paths(&base, &["a.py".into(), "b.py".into()], None).unwrap();
        assert_eq!(found.missing, [("b.py".to_owned(), "no such file or directory".to_owned())]);
        let error = Workspace::of_paths(&base, &["b.py".into()], None).unwrap_err();
        assert_eq!(error.message, "cannot check b.py: no such file or directory");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_not_utf8_is_told() {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let (_dir, base) = folder(&[]);
        let name = OsStr::from_bytes(b"\xff.py");
        fs::write(base.join(name), "").unwrap();
        let error = Workspace::of_paths(&base, &[name.into()], None).unwrap_err();
        assert!(error.message.ends_with("its name is not UTF-8"), "{error}");
    }

    #[test]
    fn a_future_path_needs_no_folder() {
        let (_dir, base) = folder(&[".git/HEAD", "a/b.py"]);
        let find = |path: &str| Workspace::of_future_path(&base.join("a"), Path::new(path), None);
        let (workspace, path) = find("new/deep/c.py").unwrap();
        assert_eq!((workspace.root(), path.as_str()), (&*base, "a/new/deep/c.py"));
        assert_eq!(find("b.py").unwrap().1.as_str(), "a/b.py");
        assert_eq!(find("../d.py").unwrap().1.as_str(), "d.py");
        assert!(find(".").unwrap_err().message.ends_with("it is a directory"));
    }

    #[test]
    fn paths_are_shown_from_where_one_is() {
        let workspace = |cwd: &str| Workspace::new("/w".into(), cwd.into());
        let path = WorkspacePath::new("a/b.py").unwrap();
        assert_eq!(workspace("/w").shown(&path), "a/b.py");
        assert_eq!(workspace("/w/a").shown(&path), "b.py");
        assert_eq!(workspace("/").shown(&path), "w/a/b.py");
        assert_eq!(workspace("/w/c").shown(&path), "/w/a/b.py");
        assert_eq!(workspace("/w").shown(&WorkspacePath::root()), ".");
    }
}
