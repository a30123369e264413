//! Findings for relative imports that lead to no file. Which names those are say [`crate::imports`] and [`crate::targets`].

use std::ffi::OsStr;
use std::path::Path;

use broker_plugin_sdk::{Diagnostic, samples, vendored};
use deno_ast::StartSourcePos;

use crate::eslint::Disabled;
use crate::imports::Import;
use crate::rules::UNRESOLVED;
use crate::targets::Target;

/// Names under which linters have the rule, for comments that disable it.
const NAMES: [&str; 4] = [UNRESOLVED, "no-unresolved", "no-missing-import", "no-missing-require"];

/// Names of folders of parts of programs, besides those of tests.
const DATA: [&str; 5] = ["template", "templates", "playground", "playgrounds", "sandbox"];

/// Comments by which TypeScript ignores the errors of the line below.
const IGNORING: [&str; 2] = ["@ts-ignore", "@ts-expect-error"];

/// Findings in the file at `path`, below `root`.
pub(crate) fn findings(
    path: &Path,
    root: &Path,
    text: &str,
    imports: &[Import],
    disabled: &Disabled<'_>,
) -> Vec<Diagnostic> {
    let relative = path.strip_prefix(root).unwrap_or(path);
    if imports.is_empty() || is_broken_on_purpose(relative) || text.contains("@ts-nocheck") {
        return Vec::new();
    }
    let is_disabled = |at: usize| {
        let place = Some(StartSourcePos::START_SOURCE_POS + at);
        NAMES.iter().any(|it| disabled.has_at(it, place)) || is_ignored(text, at)
    };
    let targets: Vec<_> = imports.iter().map(|it| (it, Target::of(&it.name, path, root))).collect();
    let is_program = targets.iter().any(|it| it.1 == Target::Found);
    let data = data_folder(relative).map(|it| root.join(it));
    // A test that asks for a part of the program counts.
    let may_be_data = |target: &Path| {
        let has_folder = target.parent().is_some_and(Path::is_dir);
        data.as_ref().is_some_and(|it| target.starts_with(it) || !is_program && !has_folder)
    };
    let is_reported = |it: &Import, target: &Path| !may_be_data(target) && !is_disabled(it.bytes.start);
    let missing = targets.iter().filter_map(|(it, target)| match target {
        Target::Missing(target) if is_reported(it, target) => Some(finding(it)),
        _ => None,
    });
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() || vendored::is_vendored(relative, text) { Vec::new() } else { missing }
}

fn is_broken_on_purpose(relative: &Path) -> bool {
    let is_called_so =
        |it: &OsStr| ["missing", "fixture"].iter().any(|word| it.to_string_lossy().contains(word));
    let mut folders = relative.iter().rev().skip(1);
    samples::is_broken_on_purpose(relative) || folders.any(is_called_so)
}

/// The outermost folder above a file that has tests with their data, or templates: what files there import of it may be missing on
/// purpose, or be put there when it is used elsewhere. None for a file that is a test by its name.
fn data_folder(relative: &Path) -> Option<&Path> {
    let name = relative.file_name()?;
    // `a.test.ts` is a test, and `test.ts` may be what one reads.
    let is_plain = relative.file_stem().is_some_and(|it| it == "test" || it == "tests");
    if !is_plain && samples::is_of_tests(Path::new(name)) {
        return None;
    }
    let folders = relative.ancestors().skip(1).filter(|it| {
        let name = it.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        DATA.contains(&name) || samples::is_of_tests(&it.join("a"))
    });
    folders.last()
}

fn finding(it: &Import) -> Diagnostic {
    let message = format!("`{}` leads to no file", it.name);
    Diagnostic::error(UNRESOLVED, message, it.bytes.clone())
}

/// Whether TypeScript ignores the errors of a line.
fn is_ignored(text: &str, at: usize) -> bool {
    let before = text[..at].rsplit('\n').nth(1).unwrap_or_default();
    IGNORING.iter().any(|it| before.contains(it))
}
