//! Runs that wait for each other, end each other, and are kept.

use std::sync::mpsc::channel;

use super::*;

const LONG: Duration = Duration::from_secs(600);

fn runner(runs: usize) -> Runner {
    Runner::new(RunnerLimits { runs, questions: 1, kept: 2 })
}

fn name(text: &str) -> ContentHash {
    ContentHash::of(text.as_bytes())
}

impl Runner {
    fn quick(&self, of: &str, count: &AtomicUsize, longest: Duration) -> Given {
        self.get(name(of), RunKind::Command, &Cancel::default(), |_| {
            count.fetch_add(1, SeqCst);
            Ok(self.report(RunFindings::default(), false, longest))
        })
    }
}

#[test]
fn the_last_reports_are_kept() {
    let (runner, count) = (runner(1), AtomicUsize::new(0));
    for (of, runs) in [("a", 1), ("a", 1), ("b", 2), ("c", 3), ("b", 3), ("a", 4)] {
        runner.quick(of, &count, LONG).unwrap();
        assert_eq!(count.load(SeqCst), runs, "{of}");
    }
    runner.quick("short", &count, Duration::ZERO).unwrap();
    runner.quick("short", &count, Duration::ZERO).unwrap();
    assert_eq!(count.load(SeqCst), 6);
}

#[test]
fn reports_with_many_findings_are_not_kept() {
    let (runner, count) = (runner(1), AtomicUsize::new(0));
    let finding = lint::Diagnostic {
        code: "C".to_owned(),
        name: None,
        message: String::new(),
        severity: lint::Severity::Error,
        cell: None,
        span: lint::Span::new(0, 1),
        tags: Vec::new(),
        url: None,
        shared_name: None,
        fixes: Vec::new(),
        related: Vec::new(),
    };
    let path = overlay::WorkspacePath::new("a").unwrap();
    let found = RunFindings { files: [(path, vec![finding; 3])].into(), ..RunFindings::default() };
    let given = runner
        .get(name("large"), RunKind::Command, &Cancel::default(), |_| Ok(runner.report(found, false, LONG)));
    assert!(given.is_ok());
    runner.quick("small", &count, LONG).unwrap();
    runner.0.state.lock().keep_few(3);
    assert_eq!(runner.0.state.lock().kept.len(), 2);
    runner.0.state.lock().keep_few(2);
    assert_eq!(runner.0.state.lock().kept.len(), 1);
}

#[test]
fn who_asks_the_same_waits_for_one_run() {
    let (runner, count) = (runner(2), AtomicUsize::new(0));
    let (begun, is_begun) = channel();
    let (go, may_go) = channel();
    std::thread::scope(|scope| {
        let (runner, count) = (&runner, &count);
        let first = scope.spawn(move || {
            runner.get(name("a"), RunKind::Command, &Cancel::default(), |_| {
                begun.send(()).unwrap();
                may_go.recv().unwrap();
                count.fetch_add(1, SeqCst);
                Ok(runner.report(RunFindings::default(), true, LONG))
            })
        });
        is_begun.recv().unwrap();
        let second = scope.spawn(|| runner.quick("a", count, LONG));
        // The second may come before the first is done, or after.
        go.send(()).unwrap();
        for it in [first, second] {
            assert!(it.join().unwrap().unwrap().aborted);
        }
    });
    assert_eq!(count.load(SeqCst), 1);
}

#[test]
fn a_run_goes_on_as_long_as_one_waits() {
    let runner = runner(1);
    let (first, second) = (Cancel::default(), Cancel::default());
    let given = runner.get(name("a"), RunKind::Command, &first, |stop| {
        let flight = Arc::clone(&runner.0.state.lock().flights[&name("a")]);
        flight.join(&second);
        first.cancel();
        assert!(!stop.is_cancelled());
        second.cancel();
        assert!(stop.is_cancelled());
        Err(interrupted())
    });
    assert_eq!(given.unwrap_err(), interrupted());
    assert!(runner.0.state.lock().flights.is_empty() && runner.0.state.lock().running == [0, 0]);
}

#[test]
fn no_more_run_than_may() {
    let runner = runner(1);
    let cancelled = Cancel::default();
    cancelled.cancel();
    let inner = runner.get(name("a"), RunKind::Command, &Cancel::default(), |_| {
        runner.get(name("b"), RunKind::Command, &cancelled, |_| panic!("there is no room for it"))
    });
    assert_eq!(inner.unwrap_err(), interrupted());
}

#[test]
fn questions_do_not_wait_for_commands() {
    let runner = runner(1);
    let given = runner.get(name("build"), RunKind::Command, &Cancel::default(), |_| {
        let report = || Ok(runner.report(RunFindings::default(), false, LONG));
        runner.get(name("question"), RunKind::Question, &Cancel::default(), |_| report())
    });
    assert!(given.is_ok());
}

#[test]
fn waits_end_when_they_are_cancelled() {
    let (runner, cancel) = (runner(1), Cancel::default());
    let given = runner.get(name("a"), RunKind::Command, &Cancel::default(), |stop| {
        std::thread::scope(|scope| {
            // Two threads wait: one for the run, the other for its turn.
            let waits = ["a", "b"].map(|it| {
                let (runner, cancel) = (&runner, &cancel);
                scope.spawn(move || {
                    runner.get(name(it), RunKind::Command, cancel, |_| panic!("there is no room for it"))
                })
            });
            cancel.cancel();
            for it in waits {
                assert_eq!(it.join().unwrap().unwrap_err(), interrupted());
            }
        });
        assert!(!stop.is_cancelled());
        Ok(runner.report(RunFindings::default(), false, LONG))
    });
    assert!(given.is_ok());
}

#[test]
fn what_breaks_off_leaves_nothing_behind() {
    let runner = runner(1);
    let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runner.get(name("a"), RunKind::Command, &Cancel::default(), |_| panic!("on purpose"))
    }));
    assert!(
        broken.is_err()
            && runner.0.state.lock().flights.is_empty()
            && runner.0.state.lock().running == [0, 0]
    );
    assert!(runner.quick("a", &AtomicUsize::new(0), LONG).is_ok());
}
