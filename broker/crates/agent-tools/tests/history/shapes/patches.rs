//! A change as a patch or as blocks.

use crate::{
    change::{Change, Span},
    file::{Case, Group},
    random::Random,
};

fn signed(change: &Change<'_>, span: &Span) -> String {
    let mut text = String::new();
    let mut push = |sign: char, line: &str| text.extend([&*sign.to_string(), line, "\n"]);
    let (before, after) = (&change.before.lines, &change.after.lines);
    let mut at = span.old.start;
    for op in &change.ops {
        let (old, new) = (op.old_range(), op.new_range());
        if old.start < span.old.start || old.end > span.old.end {
            continue;
        }
        before[at..old.start].iter().for_each(|it| push(' ', it));
        before[old.clone()].iter().for_each(|it| push('-', it));
        after[new].iter().for_each(|it| push('+', it));
        at = old.end;
    }
    before[at..span.old.end].iter().for_each(|it| push(' ', it));
    text
}

pub(super) fn unified(change: &Change<'_>, random: &mut Random) -> Option<Case> {
    let (shape, head) = match random.one_in(2) {
        true => ("unified diff, wrong numbers", "@@ -7,3 +7,4 @@"),
        false => ("unified diff without numbers", "@@"),
    };
    let hunks = change.spans(3, 3);
    let hunks: String = hunks.iter().map(|it| format!("{head}\n{}", signed(change, it))).collect();
    let edit = format!("--- a/{0}\n+++ b/{0}\n{hunks}", change.before.path);
    Some(change.case(Group::Form, shape, edit))
}

pub(super) fn codex(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    change.before.text.ends_with('\n').then_some(())?;
    let chunks = change.spans(3, 3);
    let chunks: String = chunks.iter().map(|it| format!("@@\n{}", signed(change, it))).collect();
    let head = format!("*** Begin Patch\n*** Update File: {}\n", change.before.path);
    Some(change.case(Group::Form, "codex patch", format!("{head}{chunks}*** End Patch\n")))
}

pub(super) fn blocks(change: &Change<'_>, _: &mut Random) -> Option<Case> {
    let spans = change.spans(3, 3);
    spans.iter().all(|it| !it.old.is_empty() && !it.new.is_empty()).then_some(())?;
    let block = |it: &Span| {
        let old = change.before.lines[it.old.clone()].join("\n");
        let new = change.after.lines[it.new.clone()].join("\n");
        format!("<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")
    };
    Some(change.case(Group::Form, "SEARCH/REPLACE blocks", spans.iter().map(block).collect()))
}
