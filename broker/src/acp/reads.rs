//! Texts of files as an agent last read or wrote them.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use overlay::WorkspacePath;
use parking_lot::Mutex;

use super::message::Failure;

/// The texts of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Reads(Arc<Mutex<HashMap<WorkspacePath, Bytes>>>);

impl Reads {
    /// Remembers a text. Of a text that was read in part, the parts that were not shown may be older.
    pub(super) fn read(&self, path: &WorkspacePath, text: &Bytes, is_whole: bool) {
        let mut all = self.0.lock();
        if is_whole || !all.contains_key(path) {
            all.insert(path.clone(), text.clone());
        }
    }

    /// A text that is sent for a file, with what changed in the file since it was read.
    pub(super) fn merged(
        &self,
        path: &WorkspacePath,
        sent: &Bytes,
        now: Option<&Bytes>,
    ) -> Result<Bytes, Failure> {
        let mut all = self.0.lock();
        let refused = |why: &str| Failure::invalid(format!("{path} {why} since it was read; read it again"));
        match (all.get(path), now) {
            (Some(_), None) => {
                // It is made anew if it is sent again.
                all.remove(path);
                Err(refused("is gone"))
            }
            (Some(known), Some(now)) if known != now => overlay::merge_texts(known, sent, now)
                .ok_or_else(|| refused("has changed, in the same lines,")),
            _ => Ok(sent.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_since_is_merged_or_refused() {
        let (reads, path) = (Reads::default(), WorkspacePath::new("a").unwrap());
        let text = |old: &str, new: &str| {
            let lines: String = (0..20).map(|it| format!("line {it}\n")).collect();
            Bytes::from(lines.replace(old, new))
        };
        let merged = |sent: &Bytes, now: Option<&Bytes>| reads.merged(&path, sent, now).ok();
        let (sent, saved) = (text("line 1\n", "mine\n"), text("line 18", "saved"));
        assert_eq!(merged(&sent, Some(&saved)), Some(sent.clone()), "it was never read");
        reads.read(&path, &text("", ""), true);
        reads.read(&path, &saved, false);
        let both = String::from_utf8(saved.to_vec()).unwrap().replace("line 1\n", "mine\n");
        assert_eq!(merged(&sent, Some(&saved)), Some(both.into()));
        assert_eq!(merged(&text("line 18", "mine"), Some(&saved)), None);
        assert_eq!(merged(&sent, None), None);
        assert_eq!(merged(&sent, None), Some(sent.clone()), "the second time, it is to be there");
    }
}
