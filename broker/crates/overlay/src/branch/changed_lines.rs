//! Places at which two versions of a text differ.

use diffy::{DiffOptions, Line};

use super::lines::are_too_different;

/// A place of a text that was changed. Texts have whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLines {
    /// Line at which it begins in the text after, from 1.
    pub line: u32,
    pub removed: String,
    pub added: String,
}

/// Returns the places at which `after` differs from `before`, from top to bottom. Of texts with very little in common, one.
pub fn changed_lines(before: &str, after: &str) -> Vec<ChangedLines> {
    if before == after {
        return Vec::new();
    }
    if are_too_different(before, after) {
        return vec![ChangedLines { line: 1, removed: before.to_owned(), added: after.to_owned() }];
    }
    let mut options = DiffOptions::new();
    options.set_context_len(0);
    let patch = options.create_patch(before, after);
    let hunks = patch.hunks().iter();
    hunks
        .map(|hunk| {
            let (mut removed, mut added) = (String::new(), String::new());
            for line in hunk.lines() {
                match line {
                    Line::Context(_) => {}
                    Line::Delete(text) => removed.push_str(text),
                    Line::Insert(text) => added.push_str(text),
                }
            }
            let line = u32::try_from(hunk.new_range().start().max(1)).unwrap_or(u32::MAX);
            ChangedLines { line, removed, added }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_line_and_both_texts() {
        let places = changed_lines("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n");
        let places: Vec<_> = places.iter().map(|it| (it.line, &*it.removed, &*it.added)).collect();
        assert_eq!(places, [(2, "b\n", "B\n"), (5, "", "e\n")]);
        assert_eq!(changed_lines("a", "a"), []);
    }
}
