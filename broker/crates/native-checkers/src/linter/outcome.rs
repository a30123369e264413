//! Outcome for one file of a run's report.

use std::sync::Arc;

use external_tools::is_there;
use lint::{Completeness, Diagnostic, Outcome};
use overlay::{ContentHash, Read, ReadSet, View, WorkspacePath};

use crate::{
    checker::Checker,
    output::Packages,
    runner::{Given, Report},
};

/// Reason for which a file has no findings though the run came to its end.
enum Unseen {
    /// Nothing of the project takes it in.
    LeftOut(String),
    /// Errors elsewhere kept the run from it.
    NotReached(String),
}

pub(super) fn outcome(
    checker: &Checker,
    path: &WorkspacePath,
    given: &Given,
    content: Option<ContentHash>,
    view: &dyn View,
) -> Outcome {
    let report = match given {
        Ok(report) => report,
        Err(why) => return Outcome { content, ..Outcome::without_findings(why.clone()) },
    };
    let diagnostics = report.found.files.get(path).cloned().unwrap_or_default();
    let unseen = || unseen(checker, path, report, view).filter(|_| diagnostics.is_empty());
    let (completeness, left_out) = match (content, &report.found.partial) {
        (None, _) => (Completeness::Failed(format!("`{path}` cannot be read")), None),
        (Some(_), _) if report.found.unanswered.contains(path) => {
            let name = &checker.tool.name;
            (Completeness::Failed(format!("{name}: it does not say which project this is in")), None)
        }
        (Some(_), Some(why)) => (Completeness::Partial(why.clone()), None),
        (Some(_), None) => match unseen() {
            None => (Completeness::Complete, None),
            Some(Unseen::NotReached(why)) => (Completeness::Partial(why), None),
            Some(Unseen::LeftOut(why)) => (Completeness::Excluded, Some(why)),
        },
    };
    let aborted = report.aborted;
    let (reads, lease) = (Arc::new(related(&diagnostics, view)), Some(report.lease.clone()));
    Outcome {
        diagnostics,
        content,
        reads,
        lease,
        aborted,
        left_out,
        ..Outcome::without_findings(completeness)
    }
}

/// For a file in no project.
pub(super) fn in_no_project(checker: &Checker, content: Option<ContentHash>) -> Outcome {
    let markers: Vec<_> =
        checker.roots.iter().filter(|it| !it.is_empty()).map(|it| format!("`{it}`")).collect();
    let why = match markers.is_empty() {
        true => format!("{} does not look at it", checker.tool.name),
        false => {
            format!("it is in no project of {}: there is no {}", checker.tool.name, markers.join(" or "))
        }
    };
    Outcome { content, left_out: Some(why), ..Outcome::without_findings(Completeness::Excluded) }
}

/// Returns why the run did not look at the file, if it lists what it looked at.
fn unseen(checker: &Checker, path: &WorkspacePath, report: &Report, view: &dyn View) -> Option<Unseen> {
    let found = &report.found;
    if let Some(culprit) = found.blocked.get(path) {
        let (name, of) = (&checker.tool.name, package(culprit));
        return Some(Unseen::NotReached(format!(
            "{name} did not look at it: {of}, which it needs, does not compile"
        )));
    }
    if let Some(why) = found.refused.get(path) {
        return Some(Unseen::NotReached(format!("{} did not look at it: {why}", checker.tool.name)));
    }
    let is_listed = found.listed.as_ref().map(|it| it.contains(path));
    match &found.packages {
        Some(packages) => unseen_by_package(checker, path, packages, is_listed, found.has_errors, view),
        None if is_listed == Some(false) => {
            Some(Unseen::LeftOut(format!("{} does not look at it in this project", checker.tool.name)))
        }
        None => None,
    }
}

fn unseen_by_package(
    checker: &Checker,
    path: &WorkspacePath,
    packages: &Packages<WorkspacePath>,
    is_listed: Option<bool>,
    has_errors: bool,
    view: &dyn View,
) -> Option<Unseen> {
    const PACKAGE: &str = "Cargo.toml";
    let package = path.ancestors().skip(1).find(|it| is_there(view, it, PACKAGE))?;
    let is_reached = packages.reached.contains(&package);
    // Files that a target with errors takes in are not known.
    if is_listed == Some(true) || (is_reached && (is_listed.is_none() || packages.failed.contains(&package)))
    {
        return None;
    }
    let (name, of) = (&checker.tool.name, self::package(&package));
    Some(match (has_errors, is_reached) {
        (true, _) => {
            Unseen::NotReached(format!("{name} did not look at {of}: what it depends on does not compile"))
        }
        (false, true) => {
            Unseen::LeftOut(format!("{name} does not look at it: no target of {of} takes it in"))
        }
        (false, false) => {
            Unseen::LeftOut(format!("{name} does not look at {of}: the workspace does not have it"))
        }
    })
}

/// The package in a folder, in a sentence.
fn package(folder: &WorkspacePath) -> String {
    if folder.is_root() { "the package in the root".to_owned() } else { format!("`{folder}`") }
}

/// Hashes of the other files that findings point to.
fn related(findings: &[Diagnostic], view: &dyn View) -> ReadSet {
    let paths = findings.iter().flat_map(|it| &it.related).filter_map(|it| it.path.clone());
    paths.map(Read::Content).map(|it| (it.clone(), it.observe(view))).collect()
}
