//! Which form an edit is written in, by what it is.

use std::{borrow::Cow, collections::HashSet};

use overlay::WorkspacePath;
use syntax::Language;

use super::{
    codex,
    file_kind::FileKind,
    form::Form,
    names::Named,
    search_replace, sketch,
    text::{Text, lines_of},
    unified,
    wrapping::{Around, Found},
};

/// Kind of an edit with a patch in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Patch,
    /// Text of the file, as a test or a document has patches in it.
    Text,
    Either,
}

/// The form of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recognised {
    pub(super) form: Form,
    /// The form as which the edit can be read just as well, as text of the file that has a patch in it, and the file that
    /// the patch names.
    pub(super) or: Option<(Form, String)>,
    /// Whether there is text around the patch, which is left out.
    pub(super) leaves_out: bool,
}

impl Recognised {
    fn one(form: Form) -> Self {
        Self { form, or: None, leaves_out: false }
    }

    /// Returns a note on the edit besides its form, if there is one.
    pub(super) fn note(&self) -> Option<String> {
        self.leaves_out.then(|| "the text around the patch is left out".to_owned())
    }
}

/// A form has signs that no other has. Files that are patches themselves are edited by the other forms.
pub(super) fn recognise(path: &WorkspacePath, before: &str, edit: &str) -> Recognised {
    let text = text_form(path, edit);
    let lines = lines_of(edit);
    let found = if is_patch(path) {
        codex::find(&lines).filter(|it| it.outside.is_empty()).map(|it| (Form::CodexPatch, it))
    } else {
        patch(&lines)
    };
    let blocks =
        lines.iter().position(|it| search_replace::is_start(it)).filter(|_| text == Form::SearchReplace);
    let Some((form, found)) = found.filter(|it| blocks.is_none_or(|blocks| it.1.first < blocks)) else {
        return Recognised::one(text);
    };
    match verdict(&found, path, before, || applies(form, path, before, edit)) {
        Verdict::Patch => Recognised { form, or: None, leaves_out: found.leaves_out() },
        Verdict::Text => Recognised::one(text),
        Verdict::Either => {
            let named = found.named.first().map(Named::shown).filter(|it| !it.is_empty());
            let named = named.unwrap_or(path.as_str()).to_owned();
            Recognised { form, or: Some((text, named)), leaves_out: true }
        }
    }
}

/// `applies` says whether the patch, as one of this file, can be applied.
fn verdict(found: &Found<'_>, path: &WorkspacePath, before: &str, applies: impl Fn() -> bool) -> Verdict {
    if path.is_root() {
        return Verdict::Patch;
    }
    let around = Around::of(&found.outside);
    let is_prose = FileKind::of(path) == FileKind::Prose || path.extension().is_none();
    let is_named = found.named.iter().any(|it| *it != Named::Nothing);
    let is_others = is_named && !found.named.iter().any(|it| it.is_of(path));
    if around.said.is_empty() && !around.has_fences {
        // Without anything around it, it is the patch; but a document or test data may be one of another file.
        let is_data = is_others && (is_prose || Language::of(path).is_none());
        return if is_data { Verdict::Either } else { Verdict::Patch };
    }
    let (is_within, is_chat) = (is_within(&around, path, before), around.is_chat());
    match (is_prose, is_others) {
        (false, true) if is_within => Verdict::Text,
        (false, _) if is_chat && !is_within => Verdict::Patch,
        (true, true) if is_within || (around.is_fenced && !is_chat) => Verdict::Text,
        (true, false) if is_chat && !is_within && (is_named || applies()) => Verdict::Patch,
        _ => Verdict::Either,
    }
}

/// Whether anything shows that the patch is a part of the file's text.
fn is_within(around: &Around<'_>, path: &WorkspacePath, before: &str) -> bool {
    let lines: HashSet<_> = before.lines().map(str::trim).collect();
    let says = |it: &str| it.chars().filter(|it| it.is_alphanumeric()).count() > 1;
    let said = around.said.iter().map(|it| it.text.trim());
    let is_there = said.clone().any(|it| says(it) && lines.contains(it));
    let text = said.collect::<Vec<_>>().join("\n");
    is_there || around.is_quoted || sketch::has_marker(&text, FileKind::of(path)) || has_patch(before)
}

fn has_patch(text: &str) -> bool {
    let lines = lines_of(text);
    codex::find(&lines).or_else(|| unified::find(&lines)).is_some()
}

/// The patch that begins first.
fn patch<'a>(lines: &[&'a str]) -> Option<(Form, Found<'a>)> {
    let codex = codex::find(lines).map(|it| (Form::CodexPatch, it));
    let diff = unified::find(lines).map(|it| (Form::UnifiedDiff, it));
    codex.into_iter().chain(diff).min_by_key(|it| it.1.first)
}

fn is_patch(path: &WorkspacePath) -> bool {
    matches!(path.extension(), Some("diff" | "patch" | "rej"))
}

fn applies(form: Form, path: &WorkspacePath, before: &str, edit: &str) -> bool {
    let file = Text::new(before);
    match form {
        Form::UnifiedDiff => unified::apply_to(path, &file, edit).is_ok(),
        Form::CodexPatch => codex::apply_to(path, &file, edit).is_ok(),
        Form::Sketch | Form::Whole | Form::SearchReplace => false,
    }
}

/// The form of an edit that is no patch.
fn text_form(path: &WorkspacePath, edit: &str) -> Form {
    let bare = unfenced(path, edit);
    if search_replace::is_one(&bare) {
        Form::SearchReplace
    } else if sketch::has_marker(&bare, FileKind::of(path)) {
        Form::Sketch
    } else {
        Form::Whole
    }
}

/// The edit without a fence of Markdown around all of it. In a Markdown file, fences are its own text, but for one that says that
/// Markdown is in it.
pub(super) fn unfenced<'a>(path: &WorkspacePath, edit: &'a str) -> Cow<'a, str> {
    let is_markdown = matches!(path.extension(), Some("md" | "markdown" | "mdx"));
    let lines = lines_of(edit);
    let (Some(first), Some(last)) = (
        lines.iter().position(|it| !it.trim().is_empty()),
        lines.iter().rposition(|it| !it.trim().is_empty()),
    ) else {
        return edit.into();
    };
    let inner = lines.get(first + 1..last).unwrap_or_default();
    let fences = inner.iter().filter(|it| it.starts_with("```")).count();
    let fits = match is_markdown {
        true => matches!(lines[first], "```markdown" | "```md" | "```mdx") && fences.is_multiple_of(2),
        false => lines[first].starts_with("```") && fences == 0,
    };
    let is_fenced = first < last && lines[last] == "```" && fits;
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
        let form = |edit: &str| recognise(&WorkspacePath::new("a.py").unwrap(), "", edit).form;
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
