//! Edits of parts of a text, by byte offsets.

use super::{
    Branch, EditError, Revision,
    edit::Links,
    tree::{Node, Parents},
};
use crate::{ContentHash, FileKind, WorkspacePath};

/// Puts `replacement` in place of a part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TextEdit {
    /// UTF-8 bytes from the beginning of the text before all edits.
    pub start: u32,
    /// End in the same unit as `start`; the byte there is the first that stays.
    pub end: u32,
    pub replacement: String,
}

impl Branch {
    /// Edits parts of the text file at `path` as one. All offsets are into the present text, so the order
    /// of the list matters only for insertions at the same place. Links are followed.
    pub fn edit_text(&mut self, path: &WorkspacePath, edits: &[TextEdit]) -> Result<Revision, EditError> {
        self.edit_text_of(path, None, edits)
    }

    /// Edits the text if it has this hash. The offsets of edits that were worked out from a
    /// text mean nothing in another one, and the base may change at any time.
    pub fn edit_text_if(
        &mut self,
        path: &WorkspacePath,
        content: ContentHash,
        edits: &[TextEdit],
    ) -> Result<Revision, EditError> {
        self.edit_text_of(path, Some(content), edits)
    }

    fn edit_text_of(
        &mut self,
        path: &WorkspacePath,
        content: Option<ContentHash>,
        edits: &[TextEdit],
    ) -> Result<Revision, EditError> {
        let path = self.locate(path, Links::Follow)?;
        match self.look_at(&path)? {
            None => {
                let missing =
                    |expected| EditError::OtherContent { path: path.clone(), expected, actual: None };
                return Err(content.map_or(EditError::NotFound(path.clone()), |it| missing(Some(it))));
            }
            Some((FileKind::File, _)) => {}
            Some((FileKind::Directory, _)) => return Err(EditError::IsADirectory(path)),
            Some((FileKind::Symlink | FileKind::Other, _)) => return Err(EditError::NotAFile(path)),
        }
        // The text that is edited is the one that is remembered, whatever the base has a moment later.
        let taken = self.state().tree.taken(&path)?;
        let Node::File(file) = taken.node else { return Err(EditError::NotAFile(path)) };
        if let Some(expected) = content.filter(|it| *it != file.hash) {
            return Err(EditError::OtherContent { path, expected: Some(expected), actual: Some(file.hash) });
        }
        let text = str::from_utf8(&file.bytes).map_err(|_| EditError::NotText(path.clone()))?;
        let edited = apply(&path, text, edits)?;
        let node = Node::file(edited.into(), file.executable);
        self.put_made_on(taken.origins, &path, node, Parents::Require, "edit")
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
    if start > end {
        return Err(EditError::Reversed { path: path.clone(), start, end });
    }
    if end as usize > text.len() {
        return Err(EditError::OutOfBounds { path: path.clone(), start, end, length: text.len() });
    }
    match [start, end].into_iter().find(|it| !text.is_char_boundary(*it as usize)) {
        Some(offset) => Err(EditError::InsideCharacter { path: path.clone(), offset }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::{io, sync::Arc};

    use bytes::Bytes;
    use parking_lot::Mutex;

    use super::*;
    use crate::{Listing, Memory, Metadata, Origin, View};

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
        assert_eq!(error("ab", &[(2, 1, "")]), "an edit of `a` ends at byte 1, before it begins, at byte 2");
        assert_eq!(error("é", &[(0, 1, "")]), "byte 1 of `a` is inside a character");
        assert_eq!(
            error("abcd", &[(2, 4, ""), (0, 3, "")]),
            "two edits of `a` overlap: bytes 0 to 3 and 2 to 4"
        );
    }

    /// A base that is saved anew after each look at its text.
    struct Busy(Memory, Mutex<u32>);

    impl View for Busy {
        fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
            let mut reads = self.1.lock();
            *reads += 1;
            self.0.metadata(path)?;
            Ok(format!("one two {reads}").into())
        }

        fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
            self.0.metadata(path)
        }

        fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
            self.0.list(path)
        }

        fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
            self.0.read_link(path)
        }
    }

    /// Whatever is edited, the text that a commit expects is the one that the edit was made on.
    #[test]
    fn what_is_edited_is_what_was_read() {
        let path = WorkspacePath::new("a").unwrap();
        let base = || Arc::new(Busy(Memory::from_files([("a", "")]).unwrap(), Mutex::new(0)));
        let seen = |n: u32| ContentHash::of(format!("one two {n}").as_bytes());
        let origin = |branch: &Branch| match branch.snapshot().origins().find(|it| *it.0 == path) {
            Some((_, Origin::File { hash, .. })) => *hash,
            other => panic!("{other:?}"),
        };
        let edits = [TextEdit { start: 0, end: 3, replacement: "1".to_owned() }];

        let mut branch = Branch::new(base());
        branch.edit_text_if(&path, seen(1), &edits).unwrap();
        assert_eq!(origin(&branch), seen(1));
        let mut branch = Branch::new(base());
        let refused = branch.edit_text_if(&path, seen(2), &edits).unwrap_err();
        let want = (Some(seen(2)), Some(seen(1)));
        assert!(
            matches!(refused, EditError::OtherContent { expected, actual, .. } if (expected, actual) == want)
        );
        assert_eq!(branch.revision(), Revision(0));

        let mut branch = Branch::new(base());
        branch.write_if(&path, Some(seen(1)), "x".into()).unwrap();
        assert_eq!(origin(&branch), seen(1));
        let mut branch = Branch::new(base());
        assert!(branch.write_if(&path, Some(seen(2)), "x".into()).is_err());
        assert!(branch.write_if(&path, None, "x".into()).is_err());
        assert_eq!(branch.revision(), Revision(0));

        let mut branch = Branch::new(base());
        branch
            .apply_patch("--- a\n+++ a\n@@ -1 +1 @@\n-one two 1\n\\ No newline at end of file\n+x\n")
            .unwrap();
        assert_eq!(origin(&branch), seen(1));
    }

    #[test]
    fn what_is_not_text_is_refused() {
        let mut branch = Branch::new(Arc::new(Memory::from_files([("a", b"\xff")]).unwrap()));
        let error = branch.edit_text(&WorkspacePath::new("a").unwrap(), &[]).unwrap_err();
        assert!(matches!(error, EditError::NotText(_)), "{error}");
        assert_eq!(branch.revision(), Revision(0));
    }
}
