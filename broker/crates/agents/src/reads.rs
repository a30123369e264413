//! Texts of files as an agent last read or wrote them, so that an edit of an older text does not undo what changed since.

use std::collections::VecDeque;

use bytes::Bytes;
use overlay::WorkspacePath;
use parking_lot::Mutex;
use workspaces::FileEdit;

/// Number of files whose text is kept.
const MAX_FILES: usize = 64;

/// Bytes of all of them.
const MAX_BYTES: usize = 8 << 20;

/// The texts, the newest last.
#[derive(Default)]
pub(crate) struct Reads(Mutex<VecDeque<(WorkspacePath, Bytes)>>);

impl Reads {
    pub(crate) fn last(&self, path: &WorkspacePath) -> Option<Bytes> {
        self.0.lock().iter().find(|it| it.0 == *path).map(|it| it.1.clone())
    }

    pub(crate) fn read(&self, path: &WorkspacePath, text: Bytes) {
        let mut all = self.0.lock();
        all.retain(|it| it.0 != *path);
        all.push_back((path.clone(), text));
        while all.len() > MAX_FILES || all.iter().map(|it| it.1.len()).sum::<usize>() > MAX_BYTES {
            all.pop_front();
        }
    }

    pub(crate) fn written(&self, edits: &[FileEdit]) {
        for it in edits {
            if let FileEdit::Write { path, content, .. } = it
                && let Ok(path) = WorkspacePath::new(path)
            {
                self.read(&path, content.clone());
            }
        }
    }

    /// Goes back to what was known earlier, since the agent was not given what was written meanwhile.
    pub(crate) fn restore(&self, earlier: &Self) {
        self.0.lock().clone_from(&earlier.0.lock());
    }
}

impl Clone for Reads {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.0.lock().clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_texts_are_forgotten() {
        let reads = Reads::default();
        let path = |it: usize| WorkspacePath::new(&format!("f{it}")).unwrap();
        for number in 0..=MAX_FILES {
            reads.read(&path(number), Bytes::from_static(b"text"));
        }
        assert_eq!((reads.last(&path(0)), reads.last(&path(1))), (None, Some(Bytes::from_static(b"text"))));
        let earlier = reads.clone();
        reads.read(&path(1), vec![b'x'; MAX_BYTES].into());
        assert_eq!((reads.last(&path(2)), reads.last(&path(1)).map(|it| it.len())), (None, Some(MAX_BYTES)));
        reads.restore(&earlier);
        assert_eq!(reads.last(&path(1)), Some(Bytes::from_static(b"text")));
    }
}
