//! Gain from grouping the questions about one state: the same questions one after the other, in the order they come,
//! and all at once. Counted with the model server; measured with real ones, where they are named:
//! `BROKER_TEST_TY=/path/to/ty cargo test -p language-servers gain -- --nocapture`.

use std::{
    ffi::OsString,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use language_servers::{LanguageServer, Pool, Profile, Setup};
use lint::{Cancel, Completeness, Job, Linter, Unit};
use lsp_client::Limits;
use overlay::{Branch, Disk, View, WorkspacePath};

use crate::{
    bench::{self, path},
    fixture::{far, options, started},
};

const BRANCHES: usize = 6;
const ASKED: usize = 60;

struct Run {
    time: Duration,
    switches: u64,
}

/// Each question is about a branch, and whether its answer is right.
struct Gain {
    pool: Pool,
    linter: LanguageServer,
    views: Vec<Arc<dyn View>>,
    unit: WorkspacePath,
    is_right: fn(&str, usize) -> bool,
}

impl Gain {
    fn ask(&self, branch: usize) {
        let units = vec![Unit { path: self.unit.clone(), named: path("") }];
        let (view, cancel) = (Arc::clone(&self.views[branch]), Cancel::default());
        let job = Job { view, units, cancel, timeout: Duration::from_secs(60), is_awaited: false };
        self.linter.check(&job, &mut |_, it| {
            let says: String = it.diagnostics.iter().map(|it| it.message.as_str()).collect();
            assert_eq!(it.completeness, Completeness::Complete);
            assert!((self.is_right)(&says, branch), "branch {branch}: {says}");
        });
    }

    fn run(&self, work: impl FnOnce()) -> Run {
        let switches = || self.pool.status()[0].counts.switches;
        let (start, before) = (Instant::now(), switches());
        work();
        Run { time: start.elapsed(), switches: switches() - before }
    }

    /// Measures the questions one after the other, and all at once. The first one, which starts the server, is not
    /// counted.
    fn measure(&self, name: &str) -> [Run; 2] {
        self.ask(0);
        let memory = || self.pool.status()[0].memory.unwrap_or(0) >> 20;
        let first = memory();
        let branches = || (0..ASKED).map(|it| it % BRANCHES);
        let in_order = self.run(|| branches().for_each(|it| self.ask(it)));
        let at_once = self.run(|| {
            thread::scope(|scope| branches().for_each(|it| drop(scope.spawn(move || self.ask(it)))));
        });
        let gain = in_order.time.as_secs_f64() / at_once.time.as_secs_f64();
        let (a, b) = (&in_order, &at_once);
        println!("{name}: {ASKED} questions about {BRANCHES} states");
        println!(
            "  in order {:?} with {} switches; at once {:?} with {}: {gain:.1} times",
            a.time, a.switches, b.time, b.switches
        );
        let counts = self.pool.status()[0].counts;
        println!("  {first} MB after the first answer, {} MB now; {counts:?}", memory());
        [in_order, at_once]
    }
}

#[test]
fn of_a_server_that_needs_4_ms_for_a_change() {
    let pool = Pool::default();
    let setup = bench::setup(&["model", "4"], bench::profile());
    let disk = Arc::clone(&setup.disk);
    let linter = started(&pool, setup).unwrap();
    let view = |branch: usize| -> Arc<dyn View> {
        let mut edited = Branch::new(Arc::clone(&disk));
        edited.write(&path("b.m"), format!("branch {branch}").into()).unwrap();
        Arc::new(edited.snapshot())
    };
    let is_right = |says: &str, branch| says == format!("a.m=a0 b.m=branch {branch}");
    let gain = Gain { pool, linter, views: (0..BRANCHES).map(view).collect(), unit: path("a.m"), is_right };
    let [in_order, at_once] = gain.measure("model");
    // Each time to another one, and back to that which was there at the start.
    assert_eq!(in_order.switches, ASKED as u64 - 1);
    assert!(at_once.switches < in_order.switches / 2, "{}", at_once.switches);
}

fn real(name: &str, variable: &str) {
    let Some(program) = std::env::var_os(variable) else {
        println!("skipped: {variable} does not name a server");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let gain = python(name, program, folder.path());
    gain.measure(name);
    gain.pool.shutdown(far());
}

/// In each branch, the function that `b.py` calls gives something else.
fn python(name: &str, program: OsString, folder: &Path) -> Gain {
    let text = |branch: usize| {
        format!("class Marker{branch}: ...\ndef f() -> Marker{branch}: return Marker{branch}()\n")
    };
    std::fs::write(folder.join("a.py"), text(99)).unwrap();
    std::fs::write(folder.join("b.py"), "from a import f\ny: int = f()\n").unwrap();
    let disk: Arc<dyn View> = Arc::new(Disk::new(folder).unwrap());
    let profile = Profile::named(name).unwrap().clone();
    let mut launch = options("").launch;
    launch.program = program.into();
    launch.args = profile.tool.arguments().iter().map(Into::into).collect();
    launch.cwd = folder.to_owned();
    let view = |branch| -> Arc<dyn View> {
        let mut edited = Branch::new(Arc::clone(&disk));
        edited.write(&path("a.py"), text(branch).into()).unwrap();
        Arc::new(edited.snapshot())
    };
    let views = (0..BRANCHES).map(view).collect();
    let (root, pause, limits) = (folder.to_owned(), Duration::from_millis(100), Limits::default());
    let setup = Setup { profile, root, disk: Arc::clone(&disk), launch, limits, pause };
    let pool = Pool::default();
    let linter = started(&pool, setup).unwrap();
    let is_right = |says: &str, branch| {
        let own = says.matches(&format!("Marker{branch}")).count();
        own > 0 && own == says.matches("Marker").count()
    };
    Gain { pool, linter, views, unit: path("b.py"), is_right }
}

#[test]
fn of_ty() {
    real("ty", "BROKER_TEST_TY");
}

#[test]
fn of_pyright() {
    real("pyright", "BROKER_TEST_PYRIGHT");
}

#[test]
fn of_basedpyright() {
    real("basedpyright", "BROKER_TEST_BASEDPYRIGHT");
}
