//! A report with one of everything, which each format's snapshot shows.

use std::{
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use check_engine::{Incomplete, Level, Options, Report, Subject, check, collect};
use config::root::WorkspaceRoot;
use lint::Cancel;
use lint_testkit::sample::{linters, view};
use overlay::{WalkOptions, WorkspacePath};

use super::{DisplayLimit, Format, Page};

pub fn workspace() -> WorkspaceRoot {
    WorkspaceRoot::new(PathBuf::from("/home/ada/space"), PathBuf::from("/home/ada/space/src"))
}

pub fn report() -> Report {
    let view = view();
    let files = collect(&*view, &[WorkspacePath::root()], &WalkOptions::default());
    let options = Options { jobs: 1, cancel: Cancel::default(), ..Options::default() };
    let mut report = check(&view, files, &linters(), &options, Arc::new(|_, _| ())).unwrap();
    report.add_incomplete([Incomplete {
        subject: Subject::Argument("missing.py".to_owned()),
        linter: None,
        level: Level::Failed,
        reason: "no such file or directory".to_owned(),
    }]);
    report.skipped.special = 2;
    report.duration = Duration::from_millis(42);
    report
}

pub fn render(format: Format) -> String {
    render_with(format, |_| ())
}

pub fn render_with(format: Format, change: impl Fn(&mut Page<'_>)) -> String {
    write_with(change, |page, out| super::render(format, page, out))
}

pub fn write(write: impl Fn(&Page<'_>, &mut dyn Write) -> io::Result<()>) -> String {
    write_with(|_| (), write)
}

fn write_with(
    change: impl Fn(&mut Page<'_>),
    write: impl Fn(&Page<'_>, &mut dyn Write) -> io::Result<()>,
) -> String {
    let (report, view, workspace) = (report(), view(), workspace());
    let rules = |name: &str| {
        let linter = linters().into_iter().find(|it| it.identity().name == name);
        linter.map(|it| it.rules(&view).unwrap()).unwrap_or_default()
    };
    let mut page = Page {
        report: &report,
        view: &*view,
        workspace: &workspace,
        rules: &rules,
        color: false,
        shown: DisplayLimit::All,
        quiet: false,
    };
    change(&mut page);
    let mut out = Vec::new();
    write(&page, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
