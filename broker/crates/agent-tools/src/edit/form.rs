//! Which form an edit is written in, by what it is.

use std::{borrow::Cow, fmt};

use overlay::WorkspacePath;

use super::{codex, file_kind::FileKind, search_replace, sketch, text::lines_of, unified};

/// The forms that an edit may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Changed pieces of a file with markers such as `... existing code ...` between them.
    Sketch,
    /// Text without markers: a whole file, or one piece of it.
    Whole,
    /// `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.
    SearchReplace,
    /// A diff as `diff -u` and git print it, with or without names and line numbers.
    UnifiedDiff,
    /// `*** Begin Patch`.
    CodexPatch,
}

impl Form {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sketch => "sketch",
            Self::Whole => "whole file or part",
            Self::SearchReplace => "SEARCH/REPLACE blocks",
            Self::UnifiedDiff => "unified diff",
            Self::CodexPatch => "codex patch",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A form has signs that no other has. Files that are patches themselves are edited by the other forms.
pub(super) fn recognise(path: &WorkspacePath, edit: &str) -> Form {
    let is_patch = matches!(path.extension(), Some("diff" | "patch" | "rej"));
    let bare = unfenced(path, edit);
    if codex::is_patch(&bare) {
        Form::CodexPatch
    } else if search_replace::is_one(&bare) {
        Form::SearchReplace
    } else if !is_patch && unified::is_diff(&bare) {
        Form::UnifiedDiff
    } else if sketch::has_marker(&bare, FileKind::of(path)) {
        Form::Sketch
    } else {
        Form::Whole
    }
}

/// The edit without a fence of Markdown around all of it. In a Markdown file, fences are its own text.
pub(super) fn unfenced<'a>(path: &WorkspacePath, edit: &'a str) -> Cow<'a, str> {
    let is_markdown = matches!(path.extension(), Some("md" | "markdown" | "mdx"));
    let lines = lines_of(edit);
    let (Some(first), Some(last)) = (
        lines.iter().position(|it| !it.trim().is_empty()),
        lines.iter().rposition(|it| !it.trim().is_empty()),
    ) else {
        return edit.into();
    };
    let is_fenced = !is_markdown
        && first < last
        && lines[first].starts_with("```")
        && lines[last] == "```"
        && !lines[first + 1..last].iter().any(|it| it.starts_with("```"));
    if !is_fenced {
        return edit.into();
    }
    // An empty line in place of each fence, so that lines are counted as the agent counts them.
    let blanked =
        |(at, it): (usize, &&str)| if at == first || at == last { String::new() } else { (*it).to_owned() };
    let lines: Vec<_> = lines.iter().enumerate().map(blanked).collect();
    (lines.join("\n") + "\n").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_their_signs() {
        let form = |edit: &str| recognise(&WorkspacePath::new("a.py").unwrap(), edit);
        for (edit, want) in [
            ("*** Begin Patch\n*** Delete File: a\n*** End Patch\n", Form::CodexPatch),
            ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", Form::SearchReplace),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", Form::UnifiedDiff),
            ("@@\n a\n-b\n+c\n", Form::UnifiedDiff),
            ("```diff\n@@ -1 +1 @@\n-a\n+b\n```\n", Form::UnifiedDiff),
            ("a\n# ... existing code ...\nb\n", Form::Sketch),
            ("```python\na\n# ...\nb\n```", Form::Sketch),
            ("a\nb\n", Form::Whole),
            ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", Form::Whole),
            ("- a\n+ b\n", Form::Whole),
        ] {
            assert_eq!(form(edit), want, "{edit}");
        }
    }

    #[test]
    fn fences_around_an_edit_are_no_text() {
        let bare = |path: &str, edit: &str| unfenced(&WorkspacePath::new(path).unwrap(), edit).into_owned();
        assert_eq!(bare("a.py", "```python\na\n```\n"), "\na\n\n");
        assert_eq!(bare("a.md", "```python\na\n```\n"), "```python\na\n```\n");
        assert_eq!(bare("a.py", "```\na\n```\nb\n```\n"), "```\na\n```\nb\n```\n");
    }
}
