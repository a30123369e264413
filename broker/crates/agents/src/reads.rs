//! Texts of files as an agent last read or wrote them, so that an edit of an older text does not undo what changed since.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::RangeInclusive,
};

use agent_tools::edit::{Refused, replace_file};
use bytes::Bytes;
use overlay::WorkspacePath;
use parking_lot::Mutex;
use workspaces::FileEdit;

/// Number of files whose text is kept.
const MAX_FILES: usize = 64;

/// Bytes of all of them.
const MAX_BYTES: usize = 8 << 20;

/// The files, the newest last.
#[derive(Debug, Default)]
pub struct Reads(Mutex<Files>);

type Files = VecDeque<Known>;

/// File as an agent knows it.
#[derive(Debug, Clone)]
struct Known {
    path: WorkspacePath,
    text: Bytes,
    /// A newer text of which the agent has read some lines.
    newer: Option<Partial>,
}

#[derive(Debug, Clone)]
struct Partial {
    text: Bytes,
    /// Numbers of the lines.
    lines: BTreeSet<usize>,
}

impl Reads {
    pub(crate) fn text(&self, path: &WorkspacePath) -> Option<String> {
        let text = self.0.lock().iter().find(|it| it.path == *path).map(|it| it.text.clone());
        text.and_then(|it| String::from_utf8(it.into()).ok())
    }

    /// Remembers that lines, counted from 1, of a text with `total` lines were read. What is known of an earlier text counts until
    /// all lines of the newer one were read.
    pub fn read(&self, path: &WorkspacePath, text: Bytes, lines: RangeInclusive<usize>, total: usize) {
        let mut all = self.0.lock();
        let earlier = take(&mut all, path).filter(|it| it.text != text);
        let Some(Known { text: earlier, newer, .. }) = earlier else {
            return put(&mut all, path, text, None);
        };
        let read = newer.filter(|it| it.text == text).map(|it| it.lines).unwrap_or_default();
        let lines: BTreeSet<_> = read.into_iter().chain(lines).collect();
        match (1..=total).all(|it| lines.contains(&it)) {
            true => put(&mut all, path, text, None),
            false => put(&mut all, path, earlier, Some(Partial { text, lines })),
        }
    }

    /// The text to write for one that the agent sends for a whole file: with what changed in the file since the agent read it.
    pub fn replace(&self, path: &WorkspacePath, sent: &str, now: Option<&[u8]>) -> Result<String, Refused> {
        replace_file(sent, self.text(path).as_deref(), now)
    }

    /// Remembers what edits made of texts. Changes of others that the agent has not read stay unknown to it.
    pub fn written(&self, edits: &[FileEdit], before: &BTreeMap<String, Bytes>) {
        let mut all = self.0.lock();
        for it in edits {
            match it {
                FileEdit::Write { path, content, .. } => {
                    let Ok(at) = WorkspacePath::new(path) else { continue };
                    let known = take(&mut all, &at).map(|it| it.text);
                    let text = match (known, before.get(path)) {
                        (Some(known), Some(before)) if known != *before => {
                            overlay::merge_texts(before, &known, content).unwrap_or(known)
                        }
                        _ => content.clone(),
                    };
                    put(&mut all, &at, text, None);
                }
                FileEdit::Remove { path } => {
                    let Ok(path) = WorkspacePath::new(path) else { continue };
                    all.retain(|it| !it.path.starts_with(&path));
                }
                FileEdit::Rename { from, to } => {
                    let (Ok(from), Ok(to)) = (WorkspacePath::new(from), WorkspacePath::new(to)) else {
                        continue;
                    };
                    all.retain(|it| !it.path.starts_with(&to));
                    for it in all.iter_mut() {
                        let moved = it.path.strip_prefix(&from).and_then(|rest| to.join(rest).ok());
                        it.path = moved.unwrap_or_else(|| it.path.clone());
                    }
                }
                _ => {}
            }
        }
    }

    pub fn forget(&self, path: &WorkspacePath) {
        self.0.lock().retain(|it| it.path != *path);
    }

    /// Goes back to what was known earlier, since the agent was not given what was written meanwhile.
    pub(crate) fn restore(&self, earlier: &Self) {
        self.0.lock().clone_from(&earlier.0.lock());
    }
}

impl Known {
    fn bytes(&self) -> usize {
        self.text.len() + self.newer.as_ref().map_or(0, |it| it.text.len())
    }
}

fn take(all: &mut Files, path: &WorkspacePath) -> Option<Known> {
    let at = all.iter().position(|it| it.path == *path)?;
    all.remove(at)
}

fn put(all: &mut Files, path: &WorkspacePath, text: Bytes, newer: Option<Partial>) {
    all.push_back(Known { path: path.clone(), text, newer });
    while all.len() > MAX_FILES || all.iter().map(Known::bytes).sum::<usize>() > MAX_BYTES {
        all.pop_front();
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

    fn path(number: usize) -> WorkspacePath {
        WorkspacePath::new(&format!("f{number}")).unwrap()
    }

    fn read(reads: &Reads, number: usize, text: &str, lines: RangeInclusive<usize>) -> Option<String> {
        reads.read(&path(number), Bytes::copy_from_slice(text.as_bytes()), lines, text.lines().count());
        reads.text(&path(number))
    }

    #[test]
    fn the_oldest_texts_are_forgotten() {
        let reads = Reads::default();
        for number in 0..=MAX_FILES {
            read(&reads, number, "text", 1..=1);
        }
        assert_eq!((reads.text(&path(0)), reads.text(&path(1)).as_deref()), (None, Some("text")));
        let earlier = reads.clone();
        read(&reads, 1, &"x".repeat(MAX_BYTES), 1..=1);
        assert_eq!((reads.text(&path(2)), reads.text(&path(1)).map(|it| it.len())), (None, Some(MAX_BYTES)));
        reads.restore(&earlier);
        assert_eq!(reads.text(&path(1)).as_deref(), Some("text"));
    }

    #[test]
    fn newer_texts_count_as_well() {
        let reads = Reads::default();
        read(&reads, 1, &"x\n".repeat(MAX_BYTES / 4), 1..=MAX_BYTES);
        read(&reads, 2, "text", 1..=1);
        read(&reads, 2, &"y\n".repeat(MAX_BYTES / 4), 1..=1);
        assert_eq!((reads.text(&path(1)), reads.text(&path(2)).as_deref()), (None, Some("text")));
    }

    #[test]
    fn one_file_is_known_once_though_it_is_read_several_times_at_once() {
        let reads = Reads::default();
        read(&reads, 1, "a\nb\n", 1..=2);
        let new = Bytes::from_static(b"a\nnew\n");
        std::thread::scope(|scope| {
            (0..8).for_each(|_| _ = scope.spawn(|| reads.read(&path(1), new.clone(), 1..=1, 2)));
        });
        let count = reads.0.lock().len();
        assert_eq!((count, reads.text(&path(1)).as_deref()), (1, Some("a\nb\n")));
    }

    #[test]
    fn what_is_known_of_a_file_moves_with_it() {
        let reads = Reads::default();
        let at = |path: &str| WorkspacePath::new(path).unwrap();
        for (path, text) in [("a", "of a"), ("b", "of b"), ("d/c", "of c")] {
            reads.read(&at(path), text.into(), 1..=1, 1);
        }
        let moved = |from: &str, to: &str| FileEdit::Rename { from: from.to_owned(), to: to.to_owned() };
        reads.written(&[moved("a", "b"), moved("d", "e")], &BTreeMap::new());
        let known = ["a", "b", "d/c", "e/c"].map(|it| reads.text(&at(it)));
        assert_eq!(known, [None, Some("of a".to_owned()), None, Some("of c".to_owned())]);
        reads.written(&[FileEdit::Remove { path: "e".to_owned() }], &BTreeMap::new());
        assert_eq!(reads.text(&at("e/c")), None);
    }

    #[test]
    fn a_newer_text_is_known_once_all_of_it_was_read() {
        let reads = Reads::default();
        assert_eq!(read(&reads, 1, "a\nb\nc\n", 1..=3).as_deref(), Some("a\nb\nc\n"));
        let new = "a\nb\nnew\n";
        assert_eq!(read(&reads, 1, new, 1..=2).as_deref(), Some("a\nb\nc\n"));
        assert_eq!(read(&reads, 1, new, 3..=3).as_deref(), Some(new));
    }

    #[test]
    fn a_file_that_is_sent_whole_keeps_what_changed_since() {
        let reads = Reads::default();
        let text = |old: &str, new: &str| {
            let lines: String = (0..20).map(|it| format!("line {it}\n")).collect();
            lines.replace(old, new)
        };
        let replaced = |sent: &str, now: Option<&[u8]>| reads.replace(&path(1), sent, now).ok();
        let (sent, saved) = (text("line 1\n", "mine\n"), text("line 18", "saved"));
        assert_eq!(replaced(&sent, Some(saved.as_bytes())), Some(sent.clone()), "it was never read");
        read(&reads, 1, &text("", ""), 1..=20);
        read(&reads, 1, &saved, 1..=5);
        let both = saved.replace("line 1\n", "mine\n");
        assert_eq!(replaced(&sent, Some(saved.as_bytes())), Some(both));
        assert_eq!(replaced(&text("line 18", "mine"), Some(saved.as_bytes())), None);
        assert_eq!(replaced(&text("", ""), Some(saved.as_bytes())), Some(saved.clone()), "it is no edit");
        assert_eq!((replaced(&sent, Some(b"\xff")), replaced(&sent, None)), (None, None));
        reads.forget(&path(1));
        assert_eq!(replaced(&sent, None), Some(sent.clone()));
        let crlf = |it: &str| it.replace('\n', "\r\n");
        assert_eq!(replaced(&sent, Some(crlf(&saved).as_bytes())), Some(crlf(&sent)));
        assert_eq!(replaced(&crlf(&sent), Some(saved.as_bytes())), Some(crlf(&sent)), "it is meant");
        read(&reads, 2, &crlf(&text("", "")), 1..=20);
        let replaced = reads.replace(&path(2), &sent, Some(crlf(&saved).as_bytes()));
        assert_eq!(replaced.ok(), Some(crlf(&saved.replace("line 1\n", "mine\n"))));
    }

    #[test]
    fn an_edit_tells_nothing_of_what_others_changed() {
        let reads = Reads::default();
        let lines: String = (0..20).map(|it| format!("line {it}\n")).collect();
        read(&reads, 1, &lines, 1..=20);
        let saved = lines.replace("line 18", "saved");
        let content = saved.replace("line 1\n", "mine\n").into();
        let edit =
            FileEdit::Write { path: "f1".to_owned(), content, expected: workspaces::Expected::Anything };
        reads.written(&[edit], &[("f1".to_owned(), saved.into())].into());
        assert_eq!(reads.text(&path(1)).unwrap(), lines.replace("line 1\n", "mine\n"));
        reads.written(&[FileEdit::Remove { path: "f1".to_owned() }], &BTreeMap::new());
        assert_eq!(reads.text(&path(1)), None);
    }
}
