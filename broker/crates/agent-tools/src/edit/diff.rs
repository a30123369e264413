//! A change as a short text for an agent to look at.

use std::time::Duration;

use similar::TextDiff;

/// Limit on the time for a diff; one that takes longer has fewer, larger hunks.
pub(super) const DIFF_TIME: Duration = Duration::from_secs(1);

/// Lines around each change.
const CONTEXT: usize = 2;

/// Lines of a diff that are shown; of a longer one, its start and its end.
const SHOWN: usize = 120;

/// Lines of the diff of a reading that is not applied.
const BRIEF: usize = 12;

/// A unified diff without names.
pub(super) fn short(before: &str, after: &str) -> String {
    shown(before, after, SHOWN)
}

/// A unified diff in a few lines.
pub(super) fn brief(before: &str, after: &str) -> String {
    shown(before, after, BRIEF)
}

fn shown(before: &str, after: &str, most: usize) -> String {
    let (head, tail) = common_ends(before, after);
    // Common text at both ends is left out of the comparison, and needed only as context.
    let (start, line) = back(before, head, CONTEXT + 1);
    let end = forward(before, before.len() - tail, CONTEXT + 1);
    let after_end = after.len() - (before.len() - end);
    let mut options = TextDiff::configure();
    options.timeout(DIFF_TIME);
    let diff = options.diff_lines(&before[start..end], &after[start..after_end]);
    let text = diff.unified_diff().context_radius(CONTEXT).to_string();
    shortened(&moved(&text, line), most)
}

/// Bytes that two texts have in common at their starts and their ends, in whole lines.
fn common_ends(before: &str, after: &str) -> (usize, usize) {
    let lines = |text| str::split_inclusive(text, '\n');
    let head = lines(before).zip(lines(after)).take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum();
    let (before, after) = (&before[head..], &after[head..]);
    let from_end = lines(before).rev().zip(lines(after).rev());
    (head, from_end.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum())
}

/// Returns the start of some lines before `at`, and the number of the lines before those.
fn back(text: &str, at: usize, lines: usize) -> (usize, usize) {
    let kept: usize = text[..at].split_inclusive('\n').rev().take(lines).map(str::len).sum();
    let start = at - kept;
    (start, text[..start].matches('\n').count())
}

fn forward(text: &str, at: usize, lines: usize) -> usize {
    at + text[at..].split_inclusive('\n').take(lines).map(str::len).sum::<usize>()
}

/// The heads of hunks, `line` lines further on.
fn moved(diff: &str, line: usize) -> String {
    let side = |it: &str| {
        let (sign, numbers) = it.split_at(1);
        let (start, count) = numbers.split_once(',').unwrap_or((numbers, ""));
        let start = start.parse::<usize>().unwrap_or_default() + line;
        if count.is_empty() { format!("{sign}{start}") } else { format!("{sign}{start},{count}") }
    };
    let moved = |it: &str| match it.split(' ').collect::<Vec<_>>()[..] {
        ["@@", old, new, "@@"] => format!("@@ {} {} @@\n", side(old), side(new)),
        _ => format!("{it}\n"),
    };
    diff.lines().map(moved).collect()
}

fn shortened(diff: &str, most: usize) -> String {
    let lines: Vec<_> = diff.lines().collect();
    let Some(left_out) = lines.len().checked_sub(most).filter(|it| *it > 0) else { return diff.to_owned() };
    let (head, tail) = (&lines[..most * 2 / 3], &lines[lines.len() - most / 3..]);
    format!("{}\n({left_out} lines of the diff are left out)\n{}\n", head.join("\n"), tail.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_the_start_of_the_file() {
        let before: String = (1..=20).map(|it| format!("{it}\n")).collect();
        let after = before.replace("10\n", "ten\n");
        assert_eq!(short(&before, &after), "@@ -8,5 +8,5 @@\n 8\n 9\n-10\n+ten\n 11\n 12\n");
        assert_eq!(short("a\n", "a\nb\n"), "@@ -1 +1,2 @@\n a\n+b\n");
        assert_eq!(short("a", "a"), "");
    }

    #[test]
    fn long_ones_are_shortened() {
        let after: String = (1..=500).map(|it| format!("{it}\n")).collect();
        let diff = short("", &after);
        assert_eq!(diff.lines().count(), SHOWN + 1);
        assert!(diff.contains("lines of the diff are left out"), "{diff}");
    }
}
