//! Commands of `find` that leave something out before an `-o`.

use shuck_ast::{Command, Stmt, Word};

use crate::tree::range;

/// Words by which `find` leaves out what is before an `-o`.
const PRUNING: [&str; 3] = ["-prune", "-quit", "-false"];

/// Words of `find` that have no operand.
const WITHOUT_OPERAND: [&str; 16] = [
    "-a",
    "-and",
    "-depth",
    "-empty",
    "-executable",
    "-follow",
    "-mount",
    "-nogroup",
    "-not",
    "-nouser",
    "-o",
    "-or",
    "-readable",
    "-true",
    "-writable",
    "-xdev",
];

/// Whether `find` runs the action at a place where what is before the `-o` is not so, on purpose:
/// `\( … -prune -o -false \) -o -exec …`. An expansion of several words may hold `-prune` as well.
pub(crate) fn may_prune(statement: &Stmt, at: usize, text: &str) -> bool {
    let Command::Simple(find) = &statement.command else { return false };
    let words: Vec<&Word> = find.args.iter().take_while(|it| it.span.start.offset() < at).collect();
    let is_pruning = |(at, it): (usize, &&Word)| match it.try_static_text(text) {
        Some(it) => PRUNING.contains(&&*it),
        None => !is_operand(&words, at, text) && may_be_several(&text[range(it.span)]),
    };
    words.iter().enumerate().any(is_pruning)
}

/// Whether a word is the first, which is a folder, or what a test is given: `-name`, `-path`, `-newer`.
fn is_operand(words: &[&Word], at: usize, text: &str) -> bool {
    let Some(before) = at.checked_sub(1).map(|it| words[it].try_static_text(text)) else { return true };
    before.is_some_and(|it| it.starts_with('-') && !WITHOUT_OPERAND.contains(&&*it))
}

/// Whether an expansion may be more than one word: `"$@"`, `$options`.
fn may_be_several(written: &str) -> bool {
    written.contains('@') || !written.starts_with('"')
}
