//! Property of every text and every change: a sketch gives the change, or is refused.

use proptest::{collection::vec, prelude::*};

use super::*;

/// Lines of which some are often the same, as in code; most are not, or the place of a sketch cannot be known.
fn line_of(numbers: std::ops::Range<u32>) -> impl Strategy<Value = String> {
    let (names, nested) = (numbers.clone(), numbers.clone());
    prop_oneof![
        6 => numbers.prop_map(|it| format!("    call_number_{it}();")),
        2 => nested.prop_map(|it| format!("        nested_call_{it}();")),
        2 => names.prop_map(|it| format!("function name_{it}() {{")),
        1 => Just("}".to_owned()),
        1 => Just(String::new()),
    ]
}

fn line() -> impl Strategy<Value = String> {
    line_of(0..50_000)
}

/// A changed span: where it starts, how many lines go, and what comes. Spans are as far apart as the first number says.
fn changes() -> impl Strategy<Value = Vec<(usize, usize, Vec<String>)>> {
    vec((0..12_usize, 0..3_usize, vec(line_of(50_000..90_000), 0..3)), 1..3)
}

struct Made {
    before: Vec<String>,
    after: Vec<String>,
    edit: String,
    /// Whether no context is empty or blank.
    has_context: bool,
}

/// The text after the changes, and a sketch of them with so many lines of context.
fn made(before: Vec<String>, changes: &[(usize, usize, Vec<String>)], context: usize) -> Made {
    let (mut after, mut at) = (Vec::new(), 0);
    let mut spans: Vec<(usize, usize, usize, usize)> = Vec::new();
    let mut has_context = true;
    for (gap, gone, new) in changes {
        let start = (at + gap).min(before.len());
        let end = (start + gone).min(before.len());
        after.extend_from_slice(&before[at..start]);
        let (up, down) = (context.min(start), context.min(before.len() - end));
        let says = |lines: &[String]| lines.is_empty() || lines.iter().any(|it| it.len() > 1);
        has_context &= says(&before[start - up..start]) && says(&before[end..end + down]);
        let first = after.len() - up.min(after.len());
        after.extend(new.iter().cloned());
        let span = (start - up, end + down, first, after.len() + down);
        match spans.last_mut().filter(|it| span.0 <= it.1) {
            Some(last) => (last.1, last.3) = (span.1, span.3),
            None => spans.push(span),
        }
        at = end;
    }
    after.extend_from_slice(&before[at..]);
    let mut lines = Vec::new();
    let mut upto = 0;
    for (start, end, from, to) in spans {
        lines.extend((start > upto).then(|| "// ... existing code ...".to_owned()));
        lines.extend_from_slice(&after[from..to.min(after.len())]);
        upto = end;
    }
    lines.extend((upto < before.len()).then(|| "// ... existing code ...".to_owned()));
    Made { before, after, edit: lines.join("\n"), has_context }
}

fn applied(before: &str, edit: &str) -> Result<String, Refused> {
    let path = WorkspacePath::new("a.txt").unwrap();
    apply(&path, before, edit, None, &Trees::new(1 << 16)).map(|it| it.text)
}

/// Blank lines next to a marker or at the ends of a sketch say nothing, and lines that stand twice little.
fn is_clear(made: &Made) -> bool {
    let is_unique = [&made.before, &made.after].into_iter().all(|lines| {
        let mut said: Vec<_> = lines.iter().filter(|it| it.len() > 1).collect();
        let count = said.len();
        said.sort_unstable();
        said.dedup();
        said.len() == count
    });
    let ends = [made.before.first(), made.before.last(), made.after.first(), made.after.last()];
    is_unique && made.has_context && ends.iter().all(|it| it.is_some_and(|it| !it.is_empty()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_sketch_gives_the_change_or_is_refused(before in vec(line(), 1..60), changes in changes(), context in 3..5_usize) {
        let made = made(before, &changes, context);
        if !is_clear(&made) {
            return Ok(());
        }
        let text = |lines: &[String]| lines.iter().map(|it| format!("{it}\n")).collect::<String>();
        if let Ok(got) = applied(&text(&made.before), &made.edit) {
            prop_assert_eq!(got, text(&made.after), "{}", made.edit);
        }
    }

    #[test]
    fn unique_lines_are_always_found(at in 4..36_usize, gone in 0..3_usize, new in 1..4_usize) {
        let before: Vec<_> = (0..40).map(|it| format!("line number {it}")).collect();
        let new: Vec<_> = (0..new).map(|it| format!("new line {it}")).collect();
        let made = made(before, &[(at, gone, new)], 3);
        let text = |lines: &[String]| lines.iter().map(|it| format!("{it}\n")).collect::<String>();
        if at + gone < 40 {
            prop_assert_eq!(applied(&text(&made.before), &made.edit).unwrap(), text(&made.after));
        }
    }

    #[test]
    fn endings_and_marks_stay(before in vec(line(), 1..40), changes in changes(), ending in prop_oneof!["\n", "\r\n"],
                              has_mark: bool, is_ended: bool) {
        let made = made(before, &changes, 3);
        let text = |lines: &[String]| {
            let text = lines.join(&ending) + if is_ended { &ending } else { "" };
            if has_mark { format!("\u{feff}{text}") } else { text }
        };
        if !is_clear(&made) || made.before.len() == 1 {
            return Ok(());
        }
        if let Ok(got) = applied(&text(&made.before), &made.edit) {
            prop_assert_eq!(got, text(&made.after), "{}", made.edit);
        }
    }

    #[test]
    fn nothing_panics(before in ".{0,200}", edit in "[ a-c{}\n#.+@*<>=-]{0,120}") {
        let _ = applied(&before, &edit);
        for head in ["@@ -1 +1 @@\n", "*** Begin Patch\n*** Update File: a.txt\n", "<<<<<<< SEARCH\n", "# ...\n"] {
            let _ = applied(&before, &format!("{head}{edit}\n*** End Patch\n>>>>>>> REPLACE\n"));
        }
    }
}
