//! Compares the findings in the fixtures, and the texts after their fixes, with the expected ones.

use std::{fs, io, path::PathBuf};

use bytes::Bytes;
use lint::{Cancel, Completeness, Outcome};
use overlay::WorkspacePath;

use crate::{
    Check, Fixtures, Report,
    answers::{Bench, told},
    fixes::fixed,
    fixtures::{FINDINGS, FIXED},
};
use plugin_host::Plugin;

/// A file of `invalid/` as the plugin sees it now.
struct Seen {
    path: WorkspacePath,
    text: Bytes,
    /// The error is why there is no answer, which no fixture expects.
    findings: Result<String, String>,
    /// `None` if no fix changes it; the error if fixing comes to no end.
    fixed: Result<Option<String>, String>,
}

/// The cause of what `--update` mends.
const NOT_WRITTEN: &str = "no expectation is written";

pub(crate) fn check(bench: &Bench<'_>, report: &mut Report) {
    let valid = check_valid(bench, report);
    let seen = seen(bench);
    for it in &seen {
        compare(bench, it, report);
    }
    match valid + seen.len() {
        0 if bench.fixtures.sets().iter().all(|(_, set)| set.files.is_empty()) => {
            report.add(Check::Golden, crate::Verdict::Note, "", "there are no fixtures");
        }
        0 => {
            let globs = bench.plugin.manifest().globs.join(", ");
            report.fail(Check::Golden, "fixtures", format!("`globs` names none of these files: {globs}"));
        }
        count => report.pass(Check::Golden, format!("as the fixtures say: {}", lint::counted(count, "file"))),
    }
}

/// Returns the number of valid fixtures.
fn check_valid(bench: &Bench<'_>, report: &mut Report) -> usize {
    let set = &bench.fixtures.valid;
    let files: Vec<_> = bench.wanted(&set.files).collect();
    let paths: Vec<_> = files.iter().map(|(path, _)| path.clone()).collect();
    for ((path, text), outcome) in files.iter().zip(bench.ask(set.view(), &paths)) {
        let subject = format!("valid/{path}");
        let told = told(&outcome, text);
        if let Completeness::Failed(why) | Completeness::Pending(why) = &outcome.completeness {
            report.no_answer(Check::Golden, subject, "there is no answer", why, text);
            continue;
        }
        let is_excluded = outcome.completeness == Completeness::Excluded;
        let is_silent = is_excluded || (outcome.diagnostics.is_empty() && is_complete(&outcome));
        if !is_silent {
            report.fail(Check::Golden, subject, format!("nothing should be found:\n{told}"));
            continue;
        }
        // Without expectation, a file may be left out or not.
        if let Some(expected) = set.beside(path, FINDINGS).filter(|it| *it != told) {
            let differs = match (is_excluded, told.is_empty()) {
                (true, _) => "it is left out otherwise",
                (false, true) => "it is not left out",
                (false, false) => "it is read in part",
            };
            let message = format!("{differs}:\n{}", difference(&expected, &told));
            report.fail(Check::Golden, subject, message);
        }
    }
    files.len()
}

fn is_complete(outcome: &Outcome) -> bool {
    outcome.completeness == Completeness::Complete
}

fn seen(bench: &Bench<'_>) -> Vec<Seen> {
    let set = &bench.fixtures.invalid;
    // A configuration file may be there for the other fixtures alone.
    let is_asked =
        |path: &WorkspacePath| !bench.is_configuration(path) || set.beside(path, FINDINGS).is_some();
    let files: Vec<_> = bench.wanted(&set.files).filter(|(path, _)| is_asked(path)).collect();
    let paths: Vec<_> = files.iter().map(|(path, _)| path.clone()).collect();
    let outcomes = bench.ask(set.view(), &paths);
    let seen = files.iter().zip(outcomes).map(|((path, text), outcome): (_, Outcome)| Seen {
        path: path.clone(),
        text: text.clone(),
        findings: match &outcome.completeness {
            Completeness::Failed(why) | Completeness::Pending(why) => Err(why.clone()),
            Completeness::Complete | Completeness::Excluded | Completeness::Partial(_) => {
                Ok(told(&outcome, text))
            }
        },
        fixed: fixed(bench, set, path, text, &outcome),
    });
    seen.collect()
}

fn compare(bench: &Bench<'_>, seen: &Seen, report: &mut Report) {
    let set = &bench.fixtures.invalid;
    let subject = format!("invalid/{}", seen.path);
    let findings = match &seen.findings {
        Ok(findings) => findings,
        Err(why) => {
            return report.no_answer(Check::Golden, subject, "there is no answer", why, &seen.text);
        }
    };
    match set.beside(&seen.path, FINDINGS) {
        None if findings.is_empty() => report.fail(Check::Golden, &subject, "nothing is found in it"),
        None => {
            let message = format!("there is no `{subject}{FINDINGS}`; --update writes it:\n{findings}");
            report.fail_for(NOT_WRITTEN.to_owned(), Check::Golden, &subject, message);
        }
        Some(expected) if expected == *findings && findings.is_empty() => {
            report.fail(Check::Golden, &subject, "nothing is found in it");
        }
        Some(expected) if expected == *findings => {}
        Some(expected) => {
            let message = format!("the findings differ:\n{}", difference(&expected, findings));
            report.fail(Check::Golden, &subject, message);
        }
    }
    let fixed = match &seen.fixed {
        Ok(fixed) => fixed,
        Err(why) => return report.fail(Check::Golden, subject, why),
    };
    match (set.beside(&seen.path, FIXED), fixed) {
        (None, None) => {}
        (Some(expected), Some(fixed)) if expected == *fixed => {}
        (None, Some(_)) => {
            let message = format!("there is no `{subject}{FIXED}`; --update writes it");
            report.fail_for(NOT_WRITTEN.to_owned(), Check::Golden, &subject, message);
        }
        (Some(_), None) => report.fail(
            Check::Golden,
            &subject,
            format!("no fix changes it, but there is `{subject}{FIXED}`"),
        ),
        (Some(expected), Some(fixed)) => {
            let message = format!("what the fixes make of it differs:\n{}", difference(&expected, fixed));
            report.fail(Check::Golden, &subject, message);
        }
    }
}

/// The lines that only one of them has.
fn difference(expected: &str, found: &str) -> String {
    let missing = |sign: char, of: &str, in_: &str| {
        let lines: Vec<&str> = in_.lines().collect();
        of.lines().filter(|it| !lines.contains(it)).map(|it| format!("{sign} {it}\n")).collect::<String>()
    };
    let lines = missing('-', expected, found) + &missing('+', found, expected);
    if lines.is_empty() { "the same lines in another order or number\n".to_owned() } else { lines }
}

/// Writes the plugin's present findings as the expectations of the fixtures; returns the files that changed.
pub fn update(plugin: &Plugin, fixtures: &Fixtures, cancel: &Cancel) -> io::Result<Vec<PathBuf>> {
    let bench = Bench::new(plugin, fixtures, cancel);
    let mut changed = Vec::new();
    update_valid(&bench, &mut changed)?;
    for it in seen(&bench) {
        let beside = |ending: &str| fixtures.folder.join("invalid").join(format!("{}{ending}", it.path));
        // A missing answer is reported by the check.
        let Ok(findings) = &it.findings else { continue };
        write(beside(FINDINGS), Some(findings), &mut changed)?;
        // Fixes that come to no end are reported by the check.
        if let Ok(fixed) = &it.fixed {
            write(beside(FIXED), fixed.as_deref(), &mut changed)?;
        }
    }
    Ok(changed)
}

/// A file that is left out is to stay so; findings in the valid fixtures are reported by the check.
fn update_valid(bench: &Bench<'_>, changed: &mut Vec<PathBuf>) -> io::Result<()> {
    let set = &bench.fixtures.valid;
    let files: Vec<_> = bench.wanted(&set.files).collect();
    let paths: Vec<_> = files.iter().map(|(path, _)| path.clone()).collect();
    for ((path, text), outcome) in files.iter().zip(bench.ask(set.view(), &paths)) {
        let file = bench.fixtures.folder.join("valid").join(format!("{path}{FINDINGS}"));
        match outcome.completeness {
            Completeness::Excluded => write(file, Some(&told(&outcome, text)), changed)?,
            Completeness::Complete if outcome.left_out.is_some() => {
                write(file, Some(&told(&outcome, text)), changed)?;
            }
            Completeness::Complete => write(file, None, changed)?,
            Completeness::Failed(_) | Completeness::Pending(_) | Completeness::Partial(_) => {}
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "fixtures are the author's files, and no workspace is open")]
fn write(path: PathBuf, text: Option<&str>, changed: &mut Vec<PathBuf>) -> io::Result<()> {
    let now = fs::read_to_string(&path).ok();
    if now.as_deref() == text {
        return Ok(());
    }
    match text {
        Some(text) => fs::write(&path, text)?,
        None => fs::remove_file(&path)?,
    }
    changed.push(path);
    Ok(())
}
