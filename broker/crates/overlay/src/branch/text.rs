//! Edits of parts of a text, by byte offsets.

use super::{Branch, EditError, Revision, edit::Links, tree::Node};
use crate::{FileKind, WorkspacePath};

/// Puts `replacement` in place of a part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// UTF-8 bytes from the beginning of the text before all edits.
    pub start: u32,
    /// As `start`; the byte there is the first that stays.
    pub end: u32,
    pub replacement: String,
}

impl Branch {
    /// Edits parts of the text file at `path` as one. All offsets are into the present text, so the order
    /// of the list matters only for insertions at the same place. Links are followed.
    pub fn edit_text(&mut self, path: &WorkspacePath, edits: &[TextEdit]) -> Result<Revision, EditError> {
        let path = self.locate(path, Links::Follow)?;
        match self.look_at(&path)? {
            None => return Err(EditError::NotFound(path)),
            Some((FileKind::File, _)) => {}
            Some((FileKind::Directory, _)) => return Err(EditError::IsADirectory(path)),
            Some((FileKind::Symlink | FileKind::Other, _)) => return Err(EditError::NotAFile(path)),
        }
        // The text that is edited is the one that is remembered, whatever the base has a moment later.
        let taken = self.state().tree.taken(&path)?;
        let Node::File(file) = taken.node else { return Err(EditError::NotAFile(path)) };
        let text = str::from_utf8(&file.bytes).map_err(|_| EditError::NotText(path.clone()))?;
        let edited = apply(&path, text, edits)?;
        let node = Node::file(edited.into(), file.executable);
        self.put_made_on(taken.origins, &path, node, "edit")
    }
}

fn apply(path: &WorkspacePath, text: &str, edits: &[TextEdit]) -> Result<String, EditError> {
    let mut sorted: Vec<&TextEdit> = edits.iter().collect();
    sorted.sort_by_key(|it| (it.start, it.end));
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (index, edit) in sorted.iter().enumerate() {
        expect_within(path, text, edit)?;
        if let Some(before) = index.checked_sub(1).map(|it| sorted[it])
            && before.end > edit.start
        {
            let (first, second) = ((before.start, before.end), (edit.start, edit.end));
            return Err(EditError::Overlap { path: path.clone(), first, second });
        }
        result.push_str(&text[done..edit.start as usize]);
        result.push_str(&edit.replacement);
        done = edit.end as usize;
    }
    result.push_str(&text[done..]);
    Ok(result)
}

fn expect_within(path: &WorkspacePath, text: &str, edit: &TextEdit) -> Result<(), EditError> {
    let (start, end) = (edit.start, edit.end);
    if start > end || end as usize > text.len() {
        return Err(EditError::OutOfBounds { path: path.clone(), start, end, length: text.len() });
    }
    match [start, end].into_iter().find(|it| !text.is_char_boundary(*it as usize)) {
        Some(offset) => Err(EditError::InsideCharacter { path: path.clone(), offset }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Memory, View as _};

    fn check(text: &str, edits: &[(u32, u32, &str)]) -> Result<String, String> {
        let path = WorkspacePath::new("a").unwrap();
        let mut branch = Branch::new(Arc::new(Memory::from_files([("a", text)]).unwrap()));
        let edits: Vec<_> = edits
            .iter()
            .map(|&(start, end, new)| TextEdit { start, end, replacement: new.to_owned() })
            .collect();
        branch.edit_text(&path, &edits).map_err(|it| it.to_string())?;
        Ok(String::from_utf8(branch.snapshot().read(&path).unwrap().to_vec()).unwrap())
    }

    #[test]
    fn offsets_are_of_the_text_before() {
        assert_eq!(check("one two", &[(4, 7, "2"), (0, 3, "1")]).as_deref(), Ok("1 2"));
        assert_eq!(check("ab", &[(1, 1, "x"), (1, 1, "y"), (2, 2, "!")]).as_deref(), Ok("axyb!"));
        assert_eq!(check("abc", &[(1, 2, ""), (1, 1, "+")]).as_deref(), Ok("a+c"));
        assert_eq!(check("same", &[]).as_deref(), Ok("same"));
    }

    #[test]
    fn errors_name_the_place() {
        let error = |text, edits: &[_]| check(text, edits).unwrap_err();
        assert_eq!(error("ab", &[(1, 3, "")]), "the edit of bytes 1 to 3 of `a` is not within its 2 bytes");
        assert_eq!(error("ab", &[(2, 1, "")]), "the edit of bytes 2 to 1 of `a` is not within its 2 bytes");
        assert_eq!(error("é", &[(0, 1, "")]), "byte 1 of `a` is inside a character");
        assert_eq!(
            error("abcd", &[(2, 4, ""), (0, 3, "")]),
            "two edits of `a` overlap: bytes 0 to 3 and 2 to 4"
        );
    }

    #[test]
    fn what_is_not_text_is_refused() {
        let mut branch = Branch::new(Arc::new(Memory::from_files([("a", b"\xff")]).unwrap()));
        let error = branch.edit_text(&WorkspacePath::new("a").unwrap(), &[]).unwrap_err();
        assert!(matches!(error, EditError::NotText(_)), "{error}");
        assert_eq!(branch.revision(), Revision(0));
    }
}
