//! Reports of scripted linters, and what is left of them.

#[cfg(target_os = "linux")]
mod kept;

use lint::{Diagnostic, Severity, Span};
use lint_testkit::Scripted;
use overlay::{Memory, WalkOptions};

use super::*;
use crate::{Finding, LocalChecker, Options, Report, baseline::Mark, collect, local::FixedLinters};

const ALL: Reach = Reach { every_rule: true, every_file: true };

/// A linter `l` that finds each `!` (rule `X`) and each `?` (rule `Y`).
fn linter(files: &[(&str, &str)]) -> Scripted {
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
            shared_name: None,
            fixes: vec![],
            related: vec![],
        });
        linter = linter.finds(path, found.collect());
    }
    linter
}

fn check(
    files: &[(&str, &str)],
    linter: Scripted,
    every_rule: bool,
) -> Result<(Arc<dyn View>, Collected), Refused> {
    let view: Arc<dyn View> = Arc::new(Memory::from_files(files.iter().copied()).unwrap());
    let checker = LocalChecker::new(Options { jobs: 1, ..Options::default() }).unwrap();
    let wanted = Wanted::Files(collect(&*view, &[WorkspacePath::root()], &WalkOptions::default()));
    let mut request =
        checker.request(Arc::clone(&view), wanted, Arc::new(FixedLinters(vec![Arc::new(linter)])));
    request.policy.every_rule = every_rule;
    let (collected, _) = checker.check(&request, Arc::new(|_, _| ()))?;
    Ok((view, collected))
}

fn lines(findings: &[Finding]) -> Vec<String> {
    let line = |it: &Finding| {
        format!("{}:{} {} {:?}", it.file.path, it.range.start.line, it.rule, it.severity).to_lowercase()
    };
    findings.iter().map(line).collect()
}

/// Applies what the files say; `baseline` is applied after.
fn reported(
    files: &[(&str, &str)],
    baseline: Option<&Baseline>,
    every_rule: bool,
) -> (Report, Vec<(Mark, u32)>) {
    let (view, mut collected) = check(files, linter(files), every_rule).unwrap();
    let reach = Reach { every_rule, ..ALL };
    let stale = baseline.map(|it| collected.leave_out_known(it, &*view, reach)).unwrap_or_default();
    (collected.report, stale)
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
    let (report, _) = reported(&files, None, true);
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
    let (report, _) = reported(&files, None, false);
    assert_eq!(lines(&report.findings), ["a.py:2 broker/invalid-suppression warning"]);

    let partly = linter(&files).partly("a.py", "it is long");
    let (_, collected) = check(&files, partly, true).unwrap();
    assert_eq!(lines(&collected.report.findings), ["a.py:2 broker/invalid-suppression warning"]);
}

#[test]
fn what_the_baseline_knows_is_left_out() {
    let first = [("a.py", "a!\nb!\n"), ("sub/b.py", "c?\n")];
    let (view, mut collected) = check(&first, linter(&first), true).unwrap();
    let mut baseline = Baseline::default();
    collected.make_known(&mut baseline, &*view, ALL);
    assert_eq!((collected.report.findings.len(), collected.report.baselined), (0, 3));
    let later = [("a.py", "new\nb!\nx!\n"), ("moved.py", "  c?\n")];
    let (report, stale) = reported(&later, Some(&baseline), true);
    assert_eq!(lines(&report.findings), ["a.py:3 l/x error"]);
    assert_eq!(report.baselined, 2);
    let stale: Vec<_> = stale.iter().map(|(it, count)| format!("{} {} {count}", it.path, it.rule)).collect();
    assert_eq!(stale, ["a.py l/X 1"]);
    assert_eq!(reported(&later, Some(&baseline), false).1, [], "not every rule was asked about");
}

#[test]
fn a_bad_configuration_is_an_error() {
    let files = [("broker.toml", "slect = []"), ("a.py", "a!")];
    let refused = check(&files, linter(&files), true).err().unwrap();
    let Refused::Setup(failure) = refused else { panic!("{refused:?}") };
    assert_eq!(failure.to_string(), "broker.toml:1:1: unknown key `slect`");
}
