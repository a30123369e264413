//! Names for findings that survive a shift of their lines.

use std::collections::HashMap;

use check_engine::Finding;
use overlay::{View, WorkspacePath};

use super::text::Text;

/// Names findings by their rule, the text of their line without its indentation, and which of several such
/// they are in their file. Unique within a file, if the findings come file by file.
pub(super) struct Fingerprints<'a> {
    view: &'a dyn View,
    path: Option<WorkspacePath>,
    text: Option<Text>,
    seen: HashMap<blake3::Hash, usize>,
}

impl<'a> Fingerprints<'a> {
    pub(super) fn new(view: &'a dyn View) -> Self {
        Self { view, path: None, text: None, seen: HashMap::new() }
    }

    pub(super) fn of(&mut self, finding: &Finding) -> String {
        self.turn_to(&finding.file.path);
        let mut hasher = blake3::Hasher::new();
        hasher.update(finding.rule.to_string().as_bytes()).update(b"\0");
        hasher.update(self.line_of(finding).unwrap_or_default().trim_ascii());
        let hash = hasher.finalize();
        let count = self.seen.entry(hash).or_default();
        *count += 1;
        format!("{}:{count}", &hash.to_hex()[..16])
    }

    fn turn_to(&mut self, path: &WorkspacePath) {
        if self.path.as_ref() != Some(path) {
            self.text = Text::open(self.view, path);
            self.path = Some(path.clone());
            self.seen.clear();
        }
    }

    /// The line that the finding starts in.
    fn line_of<'f>(&'f self, finding: &'f Finding) -> Option<&'f [u8]> {
        let text = match &finding.cell {
            Some(cell) => cell.text.as_bytes(),
            None => &self.text.as_ref().filter(|it| it.is_that_of(finding))?.bytes,
        };
        Some(line_at(text, finding.span.start as usize))
    }
}

fn line_at(text: &[u8], offset: usize) -> &[u8] {
    let (before, after) = text.split_at(offset.min(text.len()));
    let start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |it| it + 1);
    let end = memchr::memchr2(b'\n', b'\r', after).map_or(text.len(), |it| before.len() + it);
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_an_offset() {
        assert_eq!(line_at(b"a\n  b\nc", 4), b"  b");
        assert_eq!(line_at(b"a\n  b\nc", 99), b"c");
    }
}
