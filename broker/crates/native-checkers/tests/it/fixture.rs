//! A workspace on the disk with branches over it, and a checker that is asked about them.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use lint::{Cancel, Completeness, Job, LineTable, Linter as _, Outcome, SetupError, Unit};
use native_checkers::{Checker, NativeChecker, Runner, RunnerLimits, Setup};
use overlay::{Branch, Disk, Listing, Memory, Metadata, View, WorkspacePath};
use shadow::{Launcher, Sandbox, Storage};
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
    pub(crate) runner: Runner,
    /// Whether checkers run as in a workspace that is not trusted.
    pub(crate) confined: bool,
}

/// A view with other edits.
struct Wrapped {
    inner: Arc<dyn View>,
    edits: Box<dyn Fn() -> Vec<WorkspacePath> + Send + Sync>,
}

impl View for Wrapped {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.inner.read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        self.inner.metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.inner.list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.inner.read_link(path)
    }

    fn edits(&self) -> Vec<WorkspacePath> {
        (self.edits)()
    }
}

pub(crate) fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

/// A variable of the tests' own environment.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

impl World {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
            runner: Runner::new(RunnerLimits { runs: 2, questions: 2, kept: 8 }),
            confined: false,
        };
        fs::create_dir_all(world.folder.path().join("work")).unwrap();
        files.iter().for_each(|(path, text)| world.write(path, text));
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.folder.path().join("work")).unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A program beside the workspace, which is in the `PATH`.
    pub(crate) fn script(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let file = self.folder.path().join("tools/bin").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("#!/bin/sh\n{text}")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn disk(&self) -> Arc<dyn View> {
        Arc::new(Disk::new(&self.root()).unwrap())
    }

    /// The disk, with this done when a folder is made for a run, after its inputs were looked at.
    pub(crate) fn disk_with(&self, then: impl Fn() + Send + Sync + 'static) -> Arc<dyn View> {
        let then = move || {
            then();
            Vec::new()
        };
        Arc::new(Wrapped { inner: self.disk(), edits: Box::new(then) })
    }

    /// Returns a view of these files and no others, as a commit of git's shows them.
    pub(crate) fn commit(files: &[(&str, &str)]) -> Arc<dyn View> {
        let inner = Arc::new(Memory::from_files(files.iter().copied()).unwrap());
        Arc::new(Wrapped { inner, edits: Box::new(|| vec![WorkspacePath::root()]) })
    }

    pub(crate) fn branch(&self, edits: &[(&str, &str)]) -> Arc<dyn View> {
        let mut branch = Branch::new(self.disk());
        for (at, text) in edits {
            branch.write(&path(at), text.as_bytes().to_vec().into()).unwrap();
        }
        Arc::new(branch.snapshot())
    }

    fn setup(&self) -> Setup {
        let home = variable("HOME").map(PathBuf::from).and_then(|it| fs::canonicalize(it).ok());
        let read = shadow::folders(home.as_deref(), &self.root(), variable)
            .into_iter()
            .filter_map(|it| fs::canonicalize(it).ok());
        let stores = shadow::stores(home.as_deref(), &self.root(), variable);
        let mut environment = shadow::environment(variable);
        let tools = self.folder.path().join("tools/bin");
        for (name, value) in &mut environment {
            if name == "PATH" {
                let installed = variable("BROKER_TEST_CHECKERS_PATH").unwrap_or_default();
                let folders = [tools.clone()].into_iter().chain(std::env::split_paths(&installed));
                let path: Vec<_> = folders.chain(std::env::split_paths(value)).collect();
                *value = std::env::join_paths(path).unwrap();
            }
        }
        Setup {
            root: self.root(),
            disk: self.disk(),
            launcher: Launcher::new(env!("CARGO_BIN_EXE_native-checkers-testkit"))
                .with_storage(Storage::new(self.folder.path().join("cache"))),
            sandbox: Sandbox { home, read: read.collect(), stores, space: 1 << 30, ..Sandbox::default() },
            environment,
            confined: self.confined,
        }
    }

    pub(crate) fn checker(&self, checker: &Checker) -> Result<NativeChecker, SetupError> {
        NativeChecker::new(checker, Arc::new(self.setup()), &self.runner)
    }

    /// The version of a checker's program.
    pub(crate) fn version(&self, checker: &Checker) -> Option<Result<String, String>> {
        checker.ask_version(&self.setup(), Instant::now() + Duration::from_secs(60), &Cancel::default())
    }

    /// Returns the findings of a checker for these files, as text.
    pub(crate) fn check(&self, checker: &Checker, view: &Arc<dyn View>, files: &[&str]) -> String {
        render(&ask(&self.checker(checker).unwrap(), view, files, &Cancel::default()), view, files)
    }
}

/// Returns the checker with this definition.
pub(crate) fn defined(definition: &str) -> Checker {
    Checker::defined("own", toml::from_str(definition).unwrap()).unwrap()
}

pub(crate) fn ask(
    linter: &NativeChecker,
    view: &Arc<dyn View>,
    files: &[&str],
    cancel: &Cancel,
) -> Vec<Outcome> {
    let units = files.iter().map(|it| Unit { path: path(it), named: WorkspacePath::root() }).collect();
    let (view, cancel, timeout) = (Arc::clone(view), cancel.clone(), Duration::from_secs(60));
    let mut outcomes: Vec<_> = files.iter().map(|_| None).collect();
    linter.check(&Job { view, units, cancel, timeout, is_awaited: false }, &mut |index, outcome| {
        assert!(outcomes[index].replace(outcome).is_none(), "answered twice");
    });
    outcomes.into_iter().map(|it| it.expect("it gave no answer")).collect()
}

/// Each finding with the text that it is about.
pub(crate) fn render(outcomes: &[Outcome], view: &Arc<dyn View>, files: &[&str]) -> String {
    let mut text = String::new();
    for (outcome, file) in outcomes.iter().zip(files) {
        let aborted = if outcome.aborted { ", aborted" } else { "" };
        let state = match &outcome.completeness {
            Completeness::Complete => "complete".to_owned(),
            Completeness::Excluded => {
                format!("excluded: {}", outcome.left_out.as_deref().unwrap_or_default())
            }
            Completeness::Partial(why) => format!("partial: {why}"),
            Completeness::Pending(why) => format!("pending: {why}"),
            Completeness::Failed(why) => format!("failed: {why}"),
        };
        text += &format!("{file}: {state}{aborted}\n");
        for it in &outcome.diagnostics {
            let severity = format!("{:?}", it.severity).to_lowercase();
            let message = it.message.replace('\n', "\n      ");
            text += &format!("  {} {severity} {}: {message}\n", at(view, file, it.span), it.code);
            for related in &it.related {
                let file = related.path.as_ref().map_or(*file, |it| it.as_str());
                text += &format!(
                    "    {file}:{} {}\n",
                    at(view, file, related.span),
                    related.message.replace('\n', " ")
                );
            }
            for fix in &it.fixes {
                let edits = fix
                    .edits
                    .iter()
                    .map(|edit| format!("{} -> {:?}", at(view, file, edit.span), edit.replacement));
                text +=
                    &format!("    fix ({:?}): {}\n", fix.applicability, edits.collect::<Vec<_>>().join(", "));
            }
        }
    }
    text
}

fn at(view: &Arc<dyn View>, file: &str, span: lint::Span) -> String {
    let bytes = view.read(&path(file)).unwrap();
    let start = LineTable::new(&bytes).scalar(span.start);
    let part = String::from_utf8_lossy(&bytes[span.start as usize..span.end as usize]).into_owned();
    format!("{}:{} {part:?}", start.line, start.column)
}

/// Whether a tool is there; a test that needs a missing tool prints that and is passed over.
pub(crate) fn has(world: &World, checker: &str) -> bool {
    let found = world.checker(Checker::named(checker).unwrap());
    if let Err(error) = &found {
        println!("not tried: {error}");
    }
    let required = std::env::var("BROKER_TEST_CHECKERS_REQUIRED").unwrap_or_default();
    assert!(found.is_ok() || !required.split(',').any(|it| it == checker), "{checker} is required");
    found.is_ok()
}

/// Hash over a folder on the disk: names, contents and times.
pub(crate) fn state_of(folder: &Path) -> String {
    let mut text = String::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        let mut entries: Vec<_> =
            fs::read_dir(folder).into_iter().flatten().map(|it| it.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let found = fs::symlink_metadata(&path).unwrap();
            let content = if found.is_file() {
                overlay::ContentHash::of(&fs::read(&path).unwrap()).to_string()
            } else {
                String::new()
            };
            text += &format!("{} {:?} {content}\n", path.display(), found.modified().unwrap());
            if found.is_dir() {
                todo.push(path);
            }
        }
    }
    overlay::ContentHash::of(text.as_bytes()).to_string()
}
