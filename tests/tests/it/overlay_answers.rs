//! Answers for a branch that differs from the disk are the branch's.

use std::{fs, path::Path, sync::Arc, time::Instant};

use insta::assert_snapshot;
use lint::{Cancel, Completeness, Diagnostic, Job, Outcome, Unit};
use overlay::{Branch, Disk, EditError, Observation, Read, Revision, View, WalkOptions, walk};
use plugin_host::{Configured, Manifest, Settings};
use tests::{daemon::TEST_TIMEOUT, *};

/// A package on disk with one finding in `used.py`.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "pyproject.toml", "[tool.ruff.lint]\nselect = [\"F\"]\n");
    write(folder.path(), "pkg/__init__.py", "");
    write(folder.path(), "pkg/used.py", "import os\n");
    write(folder.path(), "pkg/other.py", "import sys\n\nprint(sys.path)\n");
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn branch(folder: &Path) -> Branch {
    Branch::new(Arc::new(Disk::new(folder).unwrap()))
}

struct Guest {
    linter: Configured,
    _cache: tempfile::TempDir,
}

impl Guest {
    fn new(settings: Settings) -> Self {
        Self::of("python", settings)
    }

    fn of(plugin: &str, settings: Settings) -> Self {
        let cache = tempfile::tempdir().unwrap();
        let linter = bundled(&host(Some(cache.path())), plugin).configured(settings);
        Self { linter, _cache: cache }
    }

    fn outcomes(&self, branch: &Branch, paths: &[&str]) -> Vec<Outcome> {
        check(&self.linter, Arc::new(branch.snapshot()), paths)
    }

    /// Checks a file in which a person types. Returns whether a guest was ready for it, and its findings, the same as a new
    /// one's.
    fn typed(&self, branch: &Branch, file: &str) -> (bool, Vec<Diagnostic>) {
        let units = vec![Unit { path: path(file), named: path("") }];
        let view: Arc<dyn View> = Arc::new(branch.snapshot());
        let (cancel, timeout) = (Cancel::default(), TEST_TIMEOUT);
        let mut said = None;
        let job = Job { view, units, cancel, timeout, is_awaited: true };
        let usage = self.linter.measured(&job, &mut |_, it| said = Some(it));
        let (said, new) = (said.unwrap(), self.outcomes(branch, &[file]).remove(0));
        let was_ready = usage.was_ready;
        assert_eq!(
            (said.completeness, &said.diagnostics),
            (new.completeness, &new.diagnostics),
            "{file}, ready: {was_ready}"
        );
        (was_ready, said.diagnostics)
    }

    /// The codes that a guest finds that was ready.
    fn said_when_ready(&self, branch: &Branch, file: &str) -> String {
        let deadline = Instant::now() + TEST_TIMEOUT;
        loop {
            // A guest is made some time after the answer.
            let (was_ready, found) = self.typed(branch, file);
            if was_ready {
                return found.iter().map(|it| it.code.as_str()).collect::<Vec<_>>().join(" ");
            }
            assert!(Instant::now() < deadline, "none was ever ready");
        }
    }

    /// `path: CODE at START..END` for each finding, or what became of the file.
    fn codes(&self, branch: &Branch, paths: &[&str]) -> String {
        let outcomes = self.outcomes(branch, paths);
        let lines = paths.iter().zip(&outcomes).map(|(path, it)| match &it.completeness {
            Completeness::Complete => {
                let codes = it.diagnostics.iter().map(|it| format!("{}@{}", it.code, it.span.start));
                format!("{path}: {}", codes.collect::<Vec<_>>().join(" "))
            }
            other => format!("{path}: {other:?}"),
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn edited_deleted_and_new_files() {
    let folder = workspace();
    let python = Guest::new(Settings::default());
    let base = branch(folder.path());
    let mut edited = base.fork();
    edited.write(&path("pkg/used.py"), "import os\n\nprint(os.name)\n".into()).unwrap();
    edited.write(&path("pkg/other.py"), "x = 1\n\nprint(undefined)\n".into()).unwrap();
    edited.write(&path("pkg/new.py"), "import re\n".into()).unwrap();
    let files = ["pkg/used.py", "pkg/other.py", "pkg/new.py"];
    assert_snapshot!(python.codes(&base, &files), @r#"
pkg/used.py: F401@7
pkg/other.py: 
pkg/new.py: Failed("the file is not there (any more)")
"#);
    assert_snapshot!(python.codes(&edited, &files), @r#"
pkg/used.py: 
pkg/other.py: F821@13
pkg/new.py: F401@7
"#);
    edited.remove(&path("pkg/used.py")).unwrap();
    assert_snapshot!(python.codes(&edited, &["pkg/used.py"]), @r#"pkg/used.py: Failed("the file is not there (any more)")"#);
}

#[test]
fn edited_configuration() {
    let folder = workspace();
    let python = Guest::new(Settings::default());
    let file = ["pkg/used.py"];
    let mut edited = branch(folder.path());
    let toml = "[tool.ruff.lint]\nselect = [\"F\", \"D100\"]\n";
    edited.write(&path("pyproject.toml"), toml.into()).unwrap();
    assert_snapshot!(python.codes(&edited, &file), @"pkg/used.py: D100@0 F401@7");
    // A nearer one wins, and may extend the other.
    edited
        .write(&path("pkg/ruff.toml"), "extend = \"../pyproject.toml\"\nlint.ignore = [\"F401\"]\n".into())
        .unwrap();
    assert_snapshot!(python.codes(&edited, &file), @"pkg/used.py: D100@0");
    edited.write(&path("pkg/ruff.toml"), "exclude = [\"used.py\"]\n".into()).unwrap();
    assert_snapshot!(python.codes(&edited, &file), @"pkg/used.py: Excluded");
    edited.write(&path("pkg/ruff.toml"), "lint.select = [\"NOPE\"]\n".into()).unwrap();
    assert_snapshot!(python.codes(&edited, &file), @r#"pkg/used.py: Failed("plugin `python` 0.1.0: cannot use `pkg/ruff.toml`: Unknown rule selector `NOPE` in `select` from `pkg/ruff.toml`")"#);
    edited.remove(&path("pkg/ruff.toml")).unwrap();
    edited.remove(&path("pyproject.toml")).unwrap();
    assert_snapshot!(python.codes(&edited, &file), @"pkg/used.py: F401@7");
}

#[test]
fn select_ignore_isolated_config() {
    let folder = workspace();
    write(folder.path(), "other.toml", "lint.select = [\"D103\", \"INP\"]\n");
    write(folder.path(), "pkg/used.py", "import os\n\n\ndef f():\n    return 1\n");
    let base = branch(folder.path());
    let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let file = ["pkg/used.py"];
    let select =
        Settings { select: Some(words(&["D", "F"])), ignore: words(&["D100"]), ..Settings::default() };
    assert_snapshot!(Guest::new(select).codes(&base, &file), @"pkg/used.py: F401@7 D103@16");
    let config = Settings { config: Some(path("other.toml")), ..Settings::default() };
    assert_snapshot!(Guest::new(config).codes(&base, &file), @"pkg/used.py: D103@16");
    let unknown = Settings { select: Some(words(&["F", "ZZZ9", "todo"])), ..Settings::default() };
    let python = Guest::new(unknown);
    assert_eq!(python.linter.unknown_selectors(&no_files()).unwrap(), ["ZZZ9", "todo"]);
    assert_snapshot!(python.codes(&base, &file), @"pkg/used.py: F401@7");
}

#[test]
fn the_read_set_says_what_the_answer_depends_on() {
    let folder = workspace();
    let python = Guest::new(Settings::default());
    let base = branch(folder.path());
    let outcome = &python.outcomes(&base, &["pkg/used.py"])[0];
    let observed = |read: Read| outcome.reads.get(&read);
    assert!(matches!(observed(Read::Content(path("pyproject.toml"))), Some(Observation::Found(_))));
    assert_eq!(observed(Read::Kind(path("pkg/ruff.toml"))), Some(Observation::Missing), "misses count");
    assert_eq!(observed(Read::Content(path("pkg/used.py"))), None, "the unit's own text is `content`");
    let holds = |edit: &dyn Fn(&mut Branch) -> Result<Revision, EditError>| {
        let mut fork = base.fork();
        edit(&mut fork).unwrap();
        outcome.reads.holds_in(&fork.snapshot() as &dyn View)
    };
    assert!(holds(&|it| it.write(&path("pkg/other.py"), "1".into())));
    assert!(
        holds(&|it| it.write(&path("pkg/__init__.py"), "longer than before".into())),
        "it is there, which counts"
    );
    assert!(!holds(&|it| it.remove(&path("pkg/__init__.py"))));
    assert!(!holds(&|it| it.write(&path("pyproject.toml"), "".into())));
    assert!(!holds(&|it| it.write(&path("pkg/ruff.toml"), "".into())));
}

#[test]
fn a_page_rests_on_what_it_links_only_as_far_as_it_asks() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "plain.md", "# A\n\n[there](page.md)\n");
    write(folder.path(), "part.md", "# B\n\n[there](page.md#part)\n");
    write(folder.path(), "page.md", "# Page\n\n## Part\n");
    let cache = tempfile::tempdir().unwrap();
    let markdown = bundled(&host(Some(cache.path())), "markdown").configured(Settings::default());
    let base = branch(folder.path());
    let outcomes = check(&markdown, Arc::new(base.snapshot()), &["plain.md"]);
    let of_part = check(&markdown, Arc::new(base.snapshot()), &["part.md"]);
    let holds = |edit: &dyn Fn(&mut Branch) -> Result<Revision, EditError>| {
        let mut fork = base.fork();
        edit(&mut fork).unwrap();
        [&outcomes, &of_part].map(|it| it[0].reads.holds_in(&fork.snapshot() as &dyn View))
    };
    assert_eq!(
        holds(&|it| it.write(&path("page.md"), "# Page\n\nMore than before.\n".into())),
        [true, false]
    );
    assert_eq!(holds(&|it| it.remove(&path("page.md"))), [false, false]);
}

#[test]
fn a_guest_is_ready_only_where_all_that_it_read_is_the_same() {
    let folder = workspace();
    let python = Guest::new(Settings::default());
    let base = branch(folder.path());
    assert!(!python.typed(&base, "pkg/used.py").0);
    assert_eq!(python.said_when_ready(&base, "pkg/used.py"), "F401");
    let edited = |file: &str, text: &str| {
        let mut fork = base.fork();
        fork.write(&path(file), text.to_owned().into()).unwrap();
        fork
    };
    assert_eq!(python.said_when_ready(&edited("pkg/used.py", "print(a, b)\n"), "pkg/used.py"), "F821 F821");
    let configured = edited("pkg/ruff.toml", "lint.select = [\"E4\", \"I\"]\n");
    for it in [&configured, &base, &configured] {
        assert!(!python.typed(it, "pkg/used.py").0, "another configuration holds");
        let codes = python.said_when_ready(it, "pkg/used.py");
        assert_eq!(codes, if std::ptr::eq(it, &base) { "F401" } else { "" });
    }
    assert!(!python.typed(&configured, "pkg/other.py").0, "it is ready for another file");
}

#[test]
fn a_guest_that_is_ready_has_its_selection() {
    let folder = workspace();
    write(folder.path(), "pkg/used.py", "import os\n\ndef f():\n    pass\n");
    let base = branch(folder.path());
    let said = |select: &[&str]| {
        let select = Some(select.iter().map(|it| (*it).to_owned()).collect());
        Guest::new(Settings { select, ..Settings::default() }).said_when_ready(&base, "pkg/used.py")
    };
    assert_snapshot!(said(&["D103"]), @"D103");
    assert_snapshot!(said(&["DEFAULT", "D103"]), @"F401 D103");
}

#[test]
fn a_guest_that_is_ready_says_what_a_new_one_says_of_all_fixtures() {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("plugins");
    for plugin in bundle() {
        let name = Manifest::parse("bundle", plugin.manifest).unwrap().name;
        let guest = Guest::of(&name, Settings::default());
        let mut was_ready = false;
        for set in fs::read_dir(plugins.join(&name).join("fixtures")).unwrap() {
            let base = branch(&set.unwrap().path());
            let files: Vec<_> = walk(&base.snapshot(), &[path("")], &WalkOptions::default()).collect();
            for file in files {
                was_ready |= (0..3).any(|_| guest.typed(&base, file.as_str()).0);
            }
        }
        assert!(was_ready, "none of {name} was ever ready");
    }
}

#[test]
fn a_plugin_that_was_not_built_is_told_of_each_file() {
    let cache = tempfile::tempdir().unwrap();
    let linter = not_built(&host(Some(cache.path())), "python").configured(Settings::default());
    let python = Guest { linter, _cache: cache };
    assert_snapshot!(python.codes(&branch(workspace().path()), &["pkg/used.py"]), @r#"pkg/used.py: Failed("plugin `python` 0.1.0 was left out when this Broker was built quickly; `./dev build` makes it")"#);
}

#[test]
fn hostile_text() {
    let python = Guest::new(Settings::default());
    let mut branch = Branch::new(Arc::new(overlay::Memory::default()));
    let deep = format!("x = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000));
    let texts: [(&str, Vec<u8>); 7] = [
        ("deep.py", deep.into()),
        ("empty.py", Vec::new()),
        ("nul.py", b"x = 1\0\nimport os\n".to_vec()),
        ("latin1.py", b"# caf\xe9\nimport os\n".to_vec()),
        ("line.py", [b"x = \"".to_vec(), b"a".repeat(10 << 20), b"\"\nimport os\n".to_vec()].concat()),
        ("bom.py", b"\xef\xbb\xbfimport os\r\n".to_vec()),
        ("fine.py", b"import os\n".to_vec()),
    ];
    let paths = texts.clone().map(|(path, _)| path);
    for (file, text) in texts {
        branch.write(&path(file), text.into()).unwrap();
    }
    assert_snapshot!(python.codes(&branch, &paths), @r#"
deep.py: 
empty.py: 
nul.py: invalid-syntax@5 invalid-syntax@6
latin1.py: E902@0
line.py: F401@10485774
bom.py: F401@10
fine.py: F401@7
"#);
}
