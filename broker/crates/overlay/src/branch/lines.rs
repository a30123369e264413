//! Estimate of the work of comparing two texts by line.
//!
//! The time that takes grows with the size of the texts times the number of lines that differ, which for
//! two large texts with nothing in common is minutes.

use std::collections::HashMap;

/// Lines that differ times all lines; what takes some tenths of a second.
const MAX_WORK: usize = 100_000_000;

/// Whether a comparison of these by line takes too long. An estimate: lines in another order are not seen.
pub(super) fn are_too_different(old: &str, new: &str) -> bool {
    let mut balance: HashMap<&str, isize> = HashMap::new();
    let mut total = 0_usize;
    for (text, by) in [(old, 1), (new, -1)] {
        for line in text.split_inclusive('\n') {
            *balance.entry(line).or_default() += by;
            total += 1;
        }
    }
    let differing: usize = balance.values().map(|it| it.unsigned_abs()).sum();
    differing.saturating_mul(total) > MAX_WORK
}

/// Returns the replacement of all of `old` by all of `new`, as one hunk of a patch.
pub(super) fn whole_hunk(old: &str, new: &str) -> String {
    let range = |text: &str| match text.split_inclusive('\n').count() {
        0 => "0,0".to_owned(),
        count => format!("1,{count}"),
    };
    let mut hunk = format!("@@ -{} +{} @@\n", range(old), range(new));
    for (sign, text) in [('-', old), ('+', new)] {
        for line in text.split_inclusive('\n') {
            hunk.push(sign);
            hunk.push_str(line);
            if !line.ends_with('\n') {
                hunk.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    hunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_texts_with_little_in_common_are_too_different() {
        let text = |word: &str, count: usize| (0..count).map(|n| format!("{word} {n}\n")).collect::<String>();
        assert!(!are_too_different(&text("a", 1000), &text("b", 1000)));
        assert!(are_too_different(&text("a", 20_000), &text("b", 20_000)));
        assert!(!are_too_different(&text("a", 50_000), &(text("a", 50_000) + "one more\n")));
    }

    #[test]
    fn a_whole_hunk_says_where_no_line_ends() {
        assert_eq!(whole_hunk("a\nb\n", "c"), "@@ -1,2 +1,1 @@\n-a\n-b\n+c\n\\ No newline at end of file\n");
        assert_eq!(whole_hunk("", "c\n"), "@@ -0,0 +1,1 @@\n+c\n");
    }
}
