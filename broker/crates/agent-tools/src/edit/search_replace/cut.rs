//! Cuts a block whose text has lines of `=` itself, as headings and conflicts have.
//!
//! A cut is right if what is above it is in the file. Of two cuts, the later one also has the line of `=` and what follows it
//! in the file: if that says something, it stands there by no accident.

use overlay::WorkspacePath;

use super::{
    super::{
        file_kind::FileKind,
        outcome::{Reason, Refused},
        text::{Text, is_blank},
    },
    Block, Fence, fence,
    pair::{Pair, Placed},
};

/// Lines of `=` in a block from which on not all cuts are tried.
const MAX_MIDDLES: usize = 64;

/// The replacement that a block makes in a text, cut in the way that fits it.
pub(super) fn find(
    path: &WorkspacePath,
    part: usize,
    block: &Block<'_>,
    file: &Text<'_>,
) -> Result<Placed, Refused> {
    let plain: Vec<_> = block.body.iter().map(|it| unescaped(it)).collect();
    let mut ways = vec![&block.body];
    ways.extend(Some(&plain).filter(|it| **it != block.body));
    ways.retain(|_| block.middles.len() <= MAX_MIDDLES);
    for lines in ways {
        let cuts = block.middles.iter().map(|it| (*it, pair(part, lines, *it).find(file)));
        let fitting: Vec<_> = cuts.filter(|it| is_found(&it.1)).collect();
        if !fitting.is_empty() {
            return chosen(path, part, block, fitting, file);
        }
    }
    if let [middle] = block.middles[..] {
        return pair(part, &block.body, middle).find(file);
    }
    Err(Reason::Uncut { part, line: block.line, is_found: false }.into())
}

fn pair<'a>(part: usize, lines: &[&'a str], middle: usize) -> Pair<'a> {
    Pair { part, search: lines[..middle].to_vec(), replace: lines[middle + 1..].to_vec() }
}

/// Whether the lines that are searched for are in the file, at one place or at several.
fn is_found(outcome: &Result<Placed, Refused>) -> bool {
    match outcome {
        Ok(_) => true,
        Err(refused) => matches!(refused.reason, Reason::FoundOften { .. }),
    }
}

/// The last of the cuts that fit, unless only blank lines set it off from the one before, or it would write a line of `=` of
/// which nothing says that it is meant.
fn chosen(
    path: &WorkspacePath,
    part: usize,
    block: &Block<'_>,
    mut fitting: Vec<(usize, Result<Placed, Refused>)>,
    file: &Text<'_>,
) -> Result<Placed, Refused> {
    let takes_rows = || {
        FileKind::of(path) == FileKind::Prose
            || file.lines().iter().any(|it| fence(it) == Some(Fence::Middle))
    };
    let line = |middle: usize| block.line + middle + 1;
    let ends: Vec<_> = fitting.iter().map(|it| it.0).collect();
    let says = |from: usize, to: usize| block.body[from + 1..to].iter().any(|it| !is_blank(it));
    let next = |end: usize| block.middles.iter().copied().find(|it| *it > end);
    let is_sure = match ends[..] {
        [.., one, other] if !says(one, other) => false,
        [.., last] => next(last).is_none_or(|it| says(last, it) && takes_rows()),
        [] => true,
    };
    let count = block.middles.len();
    match fitting.pop() {
        Some((middle, Ok(mut placed))) if is_sure => {
            if count > 1 {
                let note = format!(
                    "part {part} is cut at line {} of the edit, as the file has the lines above",
                    line(middle)
                );
                placed.notes.insert(0, note);
            }
            Ok(placed)
        }
        Some((_, Err(refused))) if is_sure => Err(refused),
        last => {
            let readings = fitting.into_iter().chain(last).rev().filter_map(|(middle, it)| {
                let text = file.changed(it.ok()?.change);
                Some((format!("part {part} is cut at line {} of the edit", line(middle)), text))
            });
            let reason = Reason::Uncut { part, line: block.line, is_found: true };
            Err(Refused::with_readings(reason, &file.replaced(&[], None), readings.collect()))
        }
    }
}

/// A line of signs without the backslash that some models are taught to put before it.
fn unescaped(line: &str) -> &str {
    let rest = line
        .strip_prefix('\\')
        .filter(|it| ["<<<<<", "=====", ">>>>>", "|||||", "-----"].iter().any(|sign| it.starts_with(sign)));
    rest.unwrap_or(line)
}
