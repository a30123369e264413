//! CRLF and LF in one file. Says nothing of files that end all their lines in one way, whichever it is, nor of
//! a lone CR, which is data far more often than a line's end.

use std::path::Path;

use broker_plugin_sdk::{Applicability, Diagnostic, Edit, Fix};

use crate::rules::MIXED_LINE_ENDINGS;

/// A fix with more edits is no help to anybody.
const MAX_EDITS: usize = 10_000;

/// Formats whose line breaks mean something: changing them changes what is recorded.
const RECORDS: [&str; 5] = ["diff", "patch", "eml", "mbox", "rej"];

pub(crate) fn check(path: &Path, content: &[u8], found: &mut Vec<Diagnostic>) {
    if memchr::memchr(b'\r', content).is_none() {
        return;
    }
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    if RECORDS.contains(&ending) {
        return;
    }
    let (crlf, lf) = count(content);
    if crlf == 0 || lf == 0 {
        return;
    }
    let keep_crlf = crlf > lf;
    let odd: Vec<usize> =
        breaks(content).filter(|(_, is_crlf)| *is_crlf != keep_crlf).map(|(at, _)| at).collect();
    let Some(&first) = odd.first() else {
        return;
    };
    let (names, numbers) =
        if keep_crlf { (["CRLF", "LF"], [crlf, lf]) } else { (["LF", "CRLF"], [lf, crlf]) };
    let message = format!("{} lines end in {}, but {} in {}", numbers[0], names[0], numbers[1], names[1]);
    let span = if keep_crlf { first..first + 1 } else { first..first + 2 };
    let diagnostic = Diagnostic::new(MIXED_LINE_ENDINGS, message, span);
    found.push(if odd.len() > MAX_EDITS { diagnostic } else { diagnostic.with_fix(fix(&odd, keep_crlf)) });
}

/// Lines that end in CRLF, and in LF alone.
fn count(content: &[u8]) -> (usize, usize) {
    breaks(content)
        .fold((0, 0), |(crlf, lf), (_, is_crlf)| if is_crlf { (crlf + 1, lf) } else { (crlf, lf + 1) })
}

/// Returns the start of each line break, and whether it is CRLF.
fn breaks(content: &[u8]) -> impl Iterator<Item = (usize, bool)> {
    memchr::memchr_iter(b'\n', content).map(|at| match at.checked_sub(1) {
        Some(before) if content[before] == b'\r' => (before, true),
        _ => (at, false),
    })
}

fn fix(odd: &[usize], keep_crlf: bool) -> Fix {
    let (length, replacement, name) = if keep_crlf { (1, "\r\n", "CRLF") } else { (2, "\n", "LF") };
    let edits =
        odd.iter().map(|at| Edit { span: (*at..at + length).into(), replacement: replacement.to_owned() });
    Fix {
        message: Some(format!("End every line in {name}")),
        // A string or a test fixture may hold the other ending on purpose.
        applicability: Applicability::Unsafe,
        edits: edits.collect(),
    }
}
