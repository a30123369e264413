//! Reports of scripted linters, and what is left of them.

use lint::{Linter, Severity, Span};
use lint_testkit::Scripted;
use overlay::{Memory, WalkOptions};

use super::*;
use crate::{Options, check, collect};

/// A linter `l` that finds each `!` (rule `X`) and each `?` (rule `Y`).
fn report(files: &[(&str, &str)]) -> (Arc<dyn View>, Report) {
    let view: Arc<dyn View> = Arc::new(Memory::from_files(files.iter().copied()).unwrap());
    let mut linter = Scripted::new("l", &["*.py"]);
    for (path, text) in files {
        let found = text.char_indices().filter(|(_, it)| "!?".contains(*it));
        let found = found.map(|(at, it)| Diagnostic {
            code: if it == '!' { "X" } else { "Y" }.to_owned(),
            name: None,
            message: "m".to_owned(),
            severity: Severity::Error,
            cell: None,
            span: Span::new(at as u32, at as u32 + 1),
            tags: vec![],
            url: None,
            fixes: vec![],
            related: vec![],
        });
        linter = linter.finds(path, found.collect());
    }
    let linters: Vec<Arc<dyn Linter>> = vec![Arc::new(linter)];
    let found = collect(&*view, &[WorkspacePath::root()], &WalkOptions::default());
    let report =
        check(&view, found, &linters, &Options { jobs: 1, ..Options::default() }, Arc::new(|_, _| ()))
            .unwrap();
    (view, report)
}

fn lines(findings: &[Finding]) -> Vec<String> {
    let line = |it: &Finding| {
        format!("{}:{} {} {:?}", it.file.path, it.range.start.line, it.rule, it.severity).to_lowercase()
    };
    findings.iter().map(line).collect()
}

/// Applies what the files say; `baseline` is applied after.
fn told(files: &[(&str, &str)], baseline: Option<&Baseline>, every_rule: bool) -> (Report, Applied) {
    let (view, mut report) = report(files);
    let configs = Configs::new(&*view);
    let rules = RuleIndex::new(|_| Vec::new());
    let policy = Policy { configs: &configs, baseline, every_rule, every_file: true, rules: &rules };
    let applied = apply(&mut report, &*view, &policy).unwrap();
    assert_eq!(applied.marks.len(), report.findings.len());
    (report, applied)
}

#[test]
fn suppressions_then_severities() {
    let config = "[severity]\nX = 'hint'\nY = 'off'\n'broker/*' = 'info'\n";
    let files = [
        ("broker.toml", config),
        ("a.py", "# broker: enable\na!\nb! # broker: ignore[X]\nc? # broker: ignore[Y]\nd?\n"),
        ("b.py", "# broker: ignore\nquiet\n"),
        ("c.txt", "# broker: ignore\nnobody checks this\n"),
    ];
    let (report, _) = told(&files, None, true);
    let unused = ["a.py:1", "b.py:1"].map(|it| format!("{it} broker/unused-suppression info"));
    assert_eq!(lines(&report.findings), [&unused[0], "a.py:2 l/x hint", &unused[1]]);
    assert_eq!((report.suppressed, report.baselined), (2, 0));
    let linters: Vec<_> = report.linters.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(linters, ["l", "broker"]);
    assert_eq!(report.findings[2].fixes[0].edits[0].range.end.line, 2);
}

#[test]
fn what_nobody_can_know_is_not_called_unused() {
    let files = [("a.py", "a # broker: ignore[X]\nb # broker: ignore[\n")];
    let (report, _) = told(&files, None, false);
    assert_eq!(lines(&report.findings), ["a.py:2 broker/invalid-suppression warning"]);

    let (view, mut report) = self::report(&files);
    report.checked[0].coverage = Coverage::default();
    let configs = Configs::new(&*view);
    let rules = RuleIndex::new(|_| Vec::new());
    let policy =
        Policy { configs: &configs, baseline: None, every_rule: true, every_file: true, rules: &rules };
    apply(&mut report, &*view, &policy).unwrap();
    assert_eq!(lines(&report.findings), ["a.py:2 broker/invalid-suppression warning"]);
}

#[test]
fn what_the_baseline_knows_is_left_out() {
    let (first, applied) = told(&[("a.py", "a!\nb!\n"), ("sub/b.py", "c?\n")], None, true);
    assert_eq!(first.findings.len(), 3);
    let baseline = Baseline::of(applied.marks);
    let later = [("a.py", "new\nb!\nx!\n"), ("moved.py", "  c?\n")];
    let (report, applied) = told(&later, Some(&baseline), true);
    assert_eq!(lines(&report.findings), ["a.py:3 l/x error"]);
    assert_eq!(report.baselined, 2);
    let stale: Vec<_> =
        applied.stale.iter().map(|(it, count)| format!("{} {} {count}", it.path, it.rule)).collect();
    assert_eq!(stale, ["a.py l/X 1"]);
    assert_eq!(told(&later, Some(&baseline), false).1.stale, [], "not every rule was asked about");
}

#[test]
fn a_bad_configuration_is_an_error() {
    let (view, mut report) = report(&[("broker.toml", "slect = []"), ("a.py", "a!")]);
    let configs = Configs::new(&*view);
    let rules = RuleIndex::new(|_| Vec::new());
    let policy =
        Policy { configs: &configs, baseline: None, every_rule: true, every_file: true, rules: &rules };
    let error = apply(&mut report, &*view, &policy).unwrap_err();
    assert_eq!(error.to_string(), "broker.toml:1:1: unknown key `slect`");
}

#[test]
fn a_file_that_changed_meanwhile_is_pending() {
    let (_, mut report) = report(&[("a.py", "a!")]);
    let view = Memory::from_files([("a.py", "b")]).unwrap();
    let configs = Configs::new(&view);
    let rules = RuleIndex::new(|_| Vec::new());
    let policy =
        Policy { configs: &configs, baseline: None, every_rule: true, every_file: true, rules: &rules };
    apply(&mut report, &view, &policy).unwrap();
    assert!(report.findings.is_empty());
    assert_eq!(report.incomplete[0].reason, "the file changed while it was checked");
    assert_eq!((report.counts.complete, report.counts.pending), (0, 1));
}
