//! TypeScript's server, where it is named (see `isolation.rs`): what a branch has deleted is gone, whatever else the
//! branch has, the disk is told of, and was asked before, in a workspace of two projects.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc, time::Duration};

use language_servers::{LanguageServer, Pool};
use lint::{Cancel, Completeness, Job, Linter, Outcome, Unit};
use overlay::{Branch, View};

use crate::{bench::path, fixture::started, isolation::Numbers, real_queries::setup};

const ROUNDS: usize = 150;
const CONFIG: &str = r#"{"compilerOptions": {"strict": true}, "include": ["."]}"#;

/// Each with what it imports.
const UNITS: [(&str, &[&str]); 3] =
    [("one/a.ts", &["b"]), ("one/f.ts", &["b", "d", "sub/s"]), ("two/a.ts", &["b"])];
const IMPORTED: [&str; 4] = ["one/b.ts", "one/d.ts", "one/sub/s.ts", "two/b.ts"];
const NEW: [&str; 3] = ["one/new.ts", "one/sub/new.ts", "two/new.ts"];

struct Project {
    disk: Arc<dyn View>,
    linter: LanguageServer,
    _pool: Pool,
}

fn folder_of(file: &str) -> &str {
    file.split_once('/').unwrap().0
}

fn write_files(root: &Path) {
    fs::create_dir_all(root.join("one/sub")).unwrap();
    fs::create_dir_all(root.join("two")).unwrap();
    for folder in ["one", "two"] {
        fs::write(root.join(folder).join("tsconfig.json"), CONFIG).unwrap();
    }
    for file in IMPORTED {
        fs::write(root.join(file), "export const it = 1;\n").unwrap();
    }
    for (file, imports) in UNITS {
        let names = imports.iter().map(|it| (it.replace('/', "_"), it));
        let text = names.map(|(name, it)| format!("export {{ it as {name} }} from './{it}';\n"));
        fs::write(root.join(file), text.collect::<String>()).unwrap();
    }
}

fn project(root: &Path) -> Option<Project> {
    let Some(program) = std::env::var_os("BROKER_TEST_TYPESCRIPT") else {
        println!("skipped: BROKER_TEST_TYPESCRIPT does not name a server");
        return None;
    };
    write_files(root);
    let setup = setup("typescript", program, root);
    let (disk, pool) = (Arc::clone(&setup.disk), Pool::default());
    Some(Project { disk, linter: started(&pool, setup).unwrap(), _pool: pool })
}

impl Project {
    fn ask(&self, edits: &BTreeMap<&str, Option<String>>, units: &[&str]) -> Vec<Outcome> {
        let mut branch = Branch::new(Arc::clone(&self.disk));
        for (file, text) in edits {
            match text {
                Some(text) => drop(branch.write(&path(file), text.clone().into()).unwrap()),
                None => drop(branch.remove(&path(file)).unwrap()),
            }
        }
        let view: Arc<dyn View> = Arc::new(branch.snapshot());
        let units = units.iter().map(|it| Unit { path: path(it), named: path("") }).collect();
        let job = Job {
            view,
            units,
            cancel: Cancel::default(),
            timeout: Duration::from_secs(60),
            is_awaited: false,
        };
        let mut outcomes = BTreeMap::new();
        self.linter.check(&job, &mut |index, it| drop(outcomes.insert(index, it)));
        outcomes.into_values().collect()
    }

    #[track_caller]
    fn check(&self, edits: &BTreeMap<&str, Option<String>>, units: &[&str]) {
        for (unit, outcome) in units.iter().zip(self.ask(edits, units)) {
            let imports = UNITS.iter().find(|it| it.0 == *unit).unwrap().1;
            let is_gone = |it: &&&str| edits.get(&*format!("{}/{it}.ts", folder_of(unit))) == Some(&None);
            let want: Vec<_> = imports.iter().filter(is_gone).map(|it| format!("'./{it}'")).collect();
            let missed: Vec<_> = outcome
                .diagnostics
                .iter()
                .map(|it| it.message.split_whitespace().find(|it| it.starts_with('\'')).unwrap_or("?"))
                .collect();
            assert_eq!(missed, want, "{unit} with {edits:?}: {outcome:?}");
            assert_eq!(outcome.completeness, Completeness::Complete, "{unit} with {edits:?}: {outcome:?}");
        }
    }
}

#[test]
fn what_is_deleted_is_gone_whatever_else_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let Some(project) = project(&root) else { return };
    let text = || Some("export const c = 1;\n".to_owned());
    let deleted = BTreeMap::from([("one/b.ts", None)]);
    let with_new = BTreeMap::from([("one/b.ts", None), ("one/new.ts", text())]);
    let more = BTreeMap::from([("one/b.ts", None), ("one/d.ts", None), ("one/new.ts", text())]);
    let other = BTreeMap::from([("one/b.ts", None), ("one/sub/new.ts", text())]);
    let units = ["one/f.ts"];
    for edits in [&BTreeMap::new(), &deleted, &deleted, &with_new, &more, &with_new] {
        project.check(edits, &units);
    }
    fs::write(root.join("one/on_disk.ts"), "export const on_disk = 1;\n").unwrap();
    for edits in [&with_new, &other, &BTreeMap::new(), &deleted, &BTreeMap::new()] {
        project.check(edits, &units);
    }
}

#[test]
fn what_is_deleted_is_gone_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let Some(project) = project(&root) else { return };
    let mut numbers = Numbers::new(11);
    let mut edits = BTreeMap::new();
    for round in 0..ROUNDS {
        if numbers.below(4) > 0 {
            edits = random_edits(&mut numbers);
        }
        if numbers.below(5) == 0 {
            let file = root.join(format!("one/on_disk_{}.ts", numbers.below(3)));
            fs::write(file, format!("export const on_disk = {round};\n")).unwrap();
        }
        let units: Vec<_> = UNITS.iter().map(|it| it.0).filter(|_| numbers.below(2) == 0).collect();
        project.check(&edits, &units);
    }
}

/// Returns random edits: some imported files are deleted, some have another text, and there are new files.
fn random_edits(numbers: &mut Numbers) -> BTreeMap<&'static str, Option<String>> {
    let mut edits = BTreeMap::new();
    for file in IMPORTED {
        match numbers.below(6) {
            0 | 1 => drop(edits.insert(file, None)),
            2 => drop(edits.insert(file, Some(format!("export const it = {};\n", numbers.below(3))))),
            _ => {}
        }
    }
    for file in NEW.iter().filter(|_| numbers.below(3) == 0).collect::<Vec<_>>() {
        edits.insert(*file, Some(format!("export const c = {};\n", numbers.below(3))));
    }
    edits
}
