//! Installations that succeed, and those that leave nothing.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{collections::BTreeMap, process::Command, thread};

use tar::EntryType;

use super::*;
use crate::{
    Tool, UserSettings,
    package::Integrity,
    testing::{Answer, Registry as Server, package, tarball, wheel},
};

/// A registry, a store, and tools of packages of npm.
struct Place {
    server: Server,
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { server: Server::new(), folder: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> Store {
        Store::in_data(self.folder.path())
    }

    /// The tool `a`, whose package of npm has these bytes.
    fn plan(&self, bytes: &[u8]) -> Plan {
        self.server.put("/a/-/a-1.0.0.tgz", Answer::Body(bytes.to_vec()));
        plan("package = 'npm:a@1.0.0'\nprograms = { a = 'node_modules/a/a' }", &[line("npm:a@1.0.0", bytes)])
    }

    fn install(&self, plan: &Plan) -> Result<Installed, Error> {
        self.install_in(&self.store(), plan)
    }

    fn install_in(&self, store: &Store, plan: &Plan) -> Result<Installed, Error> {
        let url = &self.server.url;
        let variables =
            BTreeMap::from(["NPM_CONFIG_REGISTRY", "PIP_INDEX_URL"].map(|it| (it.to_owned(), url.clone())));
        let registries = Registries::new(UserSettings { variables, ..UserSettings::default() });
        store.install(plan, &registries, &|_| {}, &Cancel::default())
    }

    /// The error of an installation, of which nothing is left.
    fn fails(&self, store: &Store, plan: &Plan) -> String {
        let error = self.install_in(store, plan).unwrap_err().to_string();
        let left = fs::read_dir(self.folder.path().join("tools")).unwrap().map(|it| it.unwrap().file_name());
        let left: Vec<_> = left.filter(|it| !it.to_str().unwrap().ends_with(".lock")).collect();
        assert!(left.is_empty() && !store.has(plan), "{left:?}");
        let host = self.server.url.trim_start_matches("http://").trim_end_matches('/');
        error.replace(host, "HOST").replace(self.folder.path().to_str().unwrap(), "DATA")
    }
}

fn line(package: &str, bytes: &[u8]) -> String {
    format!("{package} {} {}", Integrity::Sha512(Vec::new()).of(bytes), bytes.len())
}

fn plan(definition: &str, files: &[String]) -> Plan {
    plan_with(definition, files, Some("3.12"))
}

fn plan_with(definition: &str, files: &[String], python: Option<&str>) -> Plan {
    let common = "name = 'a'\nkind = 'checker'\nlicence = 'MIT'\n";
    let tool: Tool = toml::from_str(&format!("{common}{definition}")).unwrap();
    let files = files.iter().map(|it| it.parse().unwrap()).collect();
    let locked = LockedTool { name: "a".to_owned(), version: "1.0.0".to_owned(), exact: false, files };
    let target = Target { platform: Platform::here().unwrap(), python: python.map(str::to_owned) };
    Plan::new(&tool, &locked, &target).unwrap()
}

const PROGRAM: &str = "#!/bin/sh\necho \"$0 $1\"\n";

fn run(program: &Path) -> String {
    let output = Command::new(program).arg("x").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_tool_is_installed_once_and_then_needs_no_registry() {
    let place = Place::new();
    let plan = place.plan(&package(&[
        ("a", PROGRAM),
        ("package.json", "{\"scripts\": {\"postinstall\": \"touch /tmp/x\"}}"),
    ]));
    let Installed { folder, was_there } = place.install(&plan).unwrap();
    assert!(!was_there && place.store().has(&plan));
    let program = folder.join("bin/a");
    assert_eq!(run(&program), format!("{} x\n", program.display()));
    place.server.put("/a/-/a-1.0.0.tgz", Answer::Status(500));
    assert_eq!(place.install(&plan).unwrap(), Installed { folder, was_there: true });
    assert_eq!(place.server.asked.lock().unwrap().len(), 1);
}

/// Changed files are made again; caches of Python beside them are no damage.
#[test]
fn a_damaged_tool_is_installed_again() {
    let place = Place::new();
    let plan = place.plan(&package(&[("a", PROGRAM), ("b", "b")]));
    let Installed { folder, .. } = place.install(&plan).unwrap();
    let (program, link) = (folder.join("node_modules/a/a"), folder.join("bin/a"));
    let damages: [&dyn Fn(); 5] = [
        &|| fs::remove_file(&program).unwrap(),
        &|| fs::write(&program, "").unwrap(),
        &|| fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap(),
        &|| fs::remove_file(&link).unwrap(),
        &|| fs::write(folder.join("node_modules/a/b"), "c").unwrap(),
    ];
    for damage in damages {
        damage();
        assert!(!place.install(&plan).unwrap().was_there);
        assert_eq!(run(&link), format!("{} x\n", link.display()));
        fs::write(folder.join("node_modules/a/b.pyc"), "").unwrap();
        assert!(place.install(&plan).unwrap().was_there);
    }
}

#[test]
fn a_wheel_and_its_dependencies_are_laid_out_in_one_folder() {
    let place = Place::new();
    let own = wheel(&[("a/__init__.py", 0o100_644, ""), ("a/__main__.py", 0o100_644, "import b")]);
    let other = wheel(&[("b.py", 0o100_644, "print('b')")]);
    let files = [("a", &own), ("b", &other)].map(|(name, bytes)| {
        let page = format!("<a href='/{name}-1-py3-none-any.whl'>{name}</a>");
        place.server.put(&format!("/{name}/"), Answer::Body(page.into_bytes()));
        place.server.put(&format!("/{name}-1-py3-none-any.whl"), Answer::Body(bytes.clone()));
        line(&format!("pypi:{name}@1"), bytes) + &format!(" file:{name}-1-py3-none-any.whl")
    });
    let plan = plan("package = 'pypi:a@1'\nprograms = { a = 'a' }\nruntime = 'python'", &files);
    let folder = place.install(&plan).unwrap().folder;
    assert!(folder.join("lib/a/__main__.py").is_file() && folder.join("lib/b.py").is_file());
    insta::assert_snapshot!(fs::read_to_string(folder.join("bin/a")).unwrap(), @r#"
    #!/bin/sh
    here=$(cd "${0%/*}/.." && pwd -P)
    python=python3
    command -v "$python" > /dev/null || python=python3
    exec "$python" -I -c "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('a', run_name='__main__', alter_sys=True)" "$here/lib" "$@"
    "#);
}

/// Linters look for it without asking a Python for its version.
#[test]
fn what_is_for_any_python_is_one_tool() {
    let definition = "package = 'pypi:a@1.0.0'\nprograms = { a = 'a' }\nruntime = 'python'";
    let digest = |rest: &str, python| {
        let file = line("pypi:a@1.0.0", b"") + " file:a-1.0.0-py3-none-any.whl" + rest;
        plan_with(definition, &[file], python).digest
    };
    assert_eq!(digest("", Some("3.12")), digest("", None));
    assert_ne!(digest("", None), digest(" python:3.12", Some("3.12")));
}

#[test]
fn packages_within_packages_are_laid_out_as_by_npm() {
    let place = Place::new();
    let (own, inner) = (package(&[("cli.js", "")]), package(&[("index.js", "")]));
    place.server.put("/a/-/a-1.0.0.tgz", Answer::Body(own.clone()));
    place.server.put("/b/-/b-2.0.0.tgz", Answer::Body(inner.clone()));
    let files =
        [line("npm:a@1.0.0", &own), line("npm:b@2.0.0", &inner) + " at:node_modules/a/node_modules/b"];
    let plan =
        plan("package = 'npm:a@1.0.0'\nprograms = { a = 'node_modules/a/cli.js' }\nruntime = 'node'", &files);
    let folder = place.install(&plan).unwrap().folder;
    assert!(folder.join("node_modules/a/node_modules/b/index.js").is_file());
    insta::assert_snapshot!(fs::read_to_string(folder.join("bin/a")).unwrap(), @r#"
    #!/bin/sh
    here=$(cd "${0%/*}/.." && pwd -P)
    exec node "$here/node_modules/a/cli.js" "$@"
    "#);
}

#[test]
fn nothing_is_left_of_what_fails() {
    let place = Place::new();
    let whole = package(&[("a", PROGRAM)]);
    let plan = place.plan(&whole);
    let with = |answer| {
        place.server.put("/a/-/a-1.0.0.tgz", answer);
        place.fails(&place.store(), &plan)
    };
    let mut tampered = whole.clone();
    let middle = tampered.len() / 2;
    tampered[middle] ^= 1;
    let wrong = with(Answer::Body(tampered));
    assert!(
        wrong.starts_with("npm:a@1.0.0 from HOST is not what is expected: it has the digest sha512-"),
        "{wrong}"
    );
    let half = with(Answer::Cut(whole[..middle].to_vec(), whole.len()));
    assert_eq!(
        half,
        format!("the download of npm:a@1.0.0 from HOST broke off: {middle} of {} bytes came", whole.len())
    );
    insta::assert_snapshot!(with(Answer::Status(502)), @"cannot fetch npm:a@1.0.0 from HOST: it answered 502");
    insta::assert_snapshot!(with(Answer::Status(404)), @"HOST has no npm:a@1.0.0");
    assert!(place.install(&place.plan(&whole)).is_ok(), "what failed is in the way of nothing");
}

#[test]
fn an_archive_that_leads_out_leaves_nothing() {
    let place = Place::new();
    let fails = |name: &str, kind| {
        let entries = [("package/a", EntryType::Regular, 0o755, PROGRAM), (name, kind, 0o644, "/etc/passwd")];
        place.fails(&place.store(), &place.plan(&tarball(&entries)))
    };
    insta::assert_snapshot!(fails("package/../../../../x", EntryType::Regular), @"cannot unpack npm:a@1.0.0: `package/../../../../x` in it leads out of the package");
    insta::assert_snapshot!(fails("package/link", EntryType::Symlink), @"cannot unpack npm:a@1.0.0: `package/link` in it is a link");
    let without = place.plan(&package(&[("b", PROGRAM)]));
    insta::assert_snapshot!(place.fails(&place.store(), &without), @"a has no program `a` at node_modules/a/a");
}

#[test]
fn a_full_disk_leaves_nothing() {
    let place = Place::new();
    let plan = place.plan(&package(&[("a", PROGRAM), ("large", &"large ".repeat(1000))]));
    let full = Store { room: Room(3000), ..place.store() };
    insta::assert_snapshot!(place.fails(&full, &plan), @"the disk of DATA/tools is full: there is no room for npm:a@1.0.0");
    assert!(place.install(&plan).is_ok());
}

/// The lock is one of the system's between open files, as two processes have them.
#[test]
fn many_at_once_install_it_once() {
    let place = Place::new();
    let plan = place.plan(&package(&[("a", PROGRAM)]));
    let installed: Vec<_> = thread::scope(|scope| {
        let all: Vec<_> = (0..8).map(|_| scope.spawn(|| place.install(&plan).unwrap())).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(installed.iter().filter(|it| !it.was_there).count(), 1);
    assert_eq!(place.server.asked.lock().unwrap().len(), 1);
}

#[test]
fn what_a_process_left_that_was_killed_is_replaced() {
    let place = Place::new();
    let plan = place.plan(&package(&[("a", PROGRAM)]));
    let left = place.folder.path().join(format!("tools/{}.new/node_modules/b", plan.digest));
    fs::create_dir_all(&left).unwrap();
    fs::set_permissions(place.folder.path().join("tools"), fs::Permissions::from_mode(0o700)).unwrap();
    let folder = place.install(&plan).unwrap().folder;
    assert!(folder.join("node_modules/a").is_dir() && !folder.join("node_modules/b").exists());
}

#[test]
fn one_who_has_had_enough_is_not_kept() {
    let place = Place::new();
    let plan = place.plan(&package(&[("a", PROGRAM)]));
    overlay::private_folder(&place.folder.path().join("tools")).unwrap();
    let _other = place.store().lock(&plan, &Cancel::default()).unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    let registries = Registries::new(UserSettings::default());
    let error = place.store().install(&plan, &registries, &|_| {}, &cancel).unwrap_err();
    assert_eq!(error.to_string(), "interrupted");
}

#[test]
fn progress_ends_with_the_whole() {
    let place = Place::new();
    let plan = place.plan(&package(&[("a", PROGRAM)]));
    let variables = BTreeMap::from([("NPM_CONFIG_REGISTRY".to_owned(), place.server.url.clone())]);
    let registries = Registries::new(UserSettings { variables, ..UserSettings::default() });
    let last = std::cell::Cell::new(None);
    place.store().install(&plan, &registries, &|it| last.set(Some(it)), &Cancel::default()).unwrap();
    assert_eq!(last.get(), Some(Progress { received: plan.size(), total: plan.size() }));
}

#[test]
fn what_no_workspace_uses_is_removed() {
    let place = Place::new();
    let unused = place.plan(&package(&[("a", PROGRAM)]));
    place.install(&unused).unwrap();
    let stamp = open(&place.store().stamp(&unused)).unwrap();
    stamp.set_modified(SystemTime::now() - KEPT - DAY).unwrap();
    let other = place.plan(&package(&[("a", PROGRAM), ("b", "")]));
    place.install(&other).unwrap();
    assert!(place.store().has(&other) && !place.store().has(&unused));
    assert!(!place.store().stamp(&unused).exists());
}

#[test]
fn a_removal_that_broke_off_is_brought_to_its_end() {
    let place = Place::new();
    let (unused, other) = (place.plan(&package(&[("a", PROGRAM)])), place.plan(&package(&[("b", "")])));
    let tools = place.folder.path().join("tools");
    overlay::private_folder(&tools).unwrap();
    let going = tools.join(format!("{}.new", unused.digest));
    fs::create_dir(&going).unwrap();
    for it in [&unused, &other] {
        let stamp = open(&place.store().stamp(it)).unwrap();
        stamp.set_modified(SystemTime::now() - KEPT - DAY).unwrap();
    }
    place.store().prune(SystemTime::now());
    assert!(!going.exists() && fs::read_dir(&tools).unwrap().next().is_none());
}

#[test]
fn an_installation_is_a_use() {
    let place = Place::new();
    let (first, second) = (package(&[("a", PROGRAM)]), package(&[("a", PROGRAM), ("b", "")]));
    let plan = place.plan(&first);
    overlay::private_folder(&place.folder.path().join("tools")).unwrap();
    let stamp = open(&place.store().stamp(&plan)).unwrap();
    stamp.set_modified(SystemTime::now() - KEPT - DAY).unwrap();
    place.install(&plan).unwrap();
    place.install(&place.plan(&second)).unwrap();
    assert!(place.store().has(&plan));
}

#[test]
fn a_lock_is_the_file_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let removed = open(&path).unwrap();
    assert!(is_named(&removed, &path));
    fs::remove_file(&path).unwrap();
    assert!(!is_named(&removed, &path));
    let new = open(&path).unwrap();
    assert!(is_named(&new, &path) && !is_named(&removed, &path));
}
