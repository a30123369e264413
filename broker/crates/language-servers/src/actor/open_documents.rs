//! Open documents of a server's process: what was sent to it, whatever became of the request that it was sent for.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem, str,
};

use bytes::Bytes;
use lsp_client::{Client, RequestError, uri::Uris};
use overlay::{ContentHash, View, WorkspacePath};
use serde_json::{Value, json};

use super::{DiskChange, target::TargetState};
use crate::Profile;

/// Documents and deletions that one process was sent. Versions only grow, over all documents, and also when one is opened again.
#[derive(Debug, Default)]
pub(super) struct OpenDocuments {
    open: BTreeMap<WorkspacePath, Document>,
    /// Files on the disk that are to be deleted for the server, if it is notified of that.
    gone: BTreeSet<WorkspacePath>,
    /// Files that the server was last notified of as deleted.
    told_gone: BTreeSet<WorkspacePath>,
    /// Opened or changed since the last switch began, or since what was published about it has come.
    news: BTreeSet<WorkspacePath>,
    /// Files that changed on the disk since the server was started, if it reads late and checks them.
    changed: BTreeSet<WorkspacePath>,
    /// Files that were ever open while they were not on the disk.
    new: BTreeSet<WorkspacePath>,
    last_version: i32,
}

#[derive(Debug, Clone)]
pub(super) struct Document {
    /// Hash of the bytes.
    pub(super) hash: ContentHash,
    pub(super) bytes: Bytes,
    /// Version that was last sent.
    version: i32,
}

/// Client and profile of the server that is notified, and the form of its URIs.
pub(super) struct Listener<'a> {
    pub(super) client: &'a Client,
    pub(super) uris: &'a Uris,
    pub(super) profile: &'a Profile,
}

const BOM: char = '\u{feff}';

impl Document {
    fn new(bytes: Bytes) -> Result<Self, String> {
        str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        Ok(Self { hash: ContentHash::of(&bytes), bytes, version: 0 })
    }

    fn of(text: &str) -> Self {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        Self { hash: ContentHash::of(&bytes), bytes, version: 0 }
    }

    pub(super) fn text(&self) -> &str {
        str::from_utf8(&self.bytes).unwrap_or_default()
    }

    /// Text that is sent to a server: without a byte order mark.
    fn told(&self) -> &str {
        self.text().strip_prefix(BOM).unwrap_or(self.text())
    }
}

impl OpenDocuments {
    pub(super) fn document(&self, path: &WorkspacePath) -> Option<&Document> {
        self.open.get(path)
    }

    /// Brings the open documents from what they are to the target. Returns what could not be read, with the reason.
    pub(super) fn switch(
        &mut self,
        target: &TargetState,
        view: &dyn View,
        to: &Listener<'_>,
    ) -> Result<BTreeMap<WorkspacePath, String>, RequestError> {
        let mut unreadable = BTreeMap::new();
        let mut changed = Vec::new();
        for (path, hash) in &target.documents {
            if self.open.get(path).is_some_and(|it| it.hash == *hash) {
                continue;
            }
            let read = target.text(view, path).map_err(|it| it.to_string());
            match read.and_then(Document::new) {
                Ok(document) => changed.push((path, document)),
                Err(reason) => drop(unreadable.insert(path.clone(), reason)),
            }
        }
        let stays = |it: &WorkspacePath| target.documents.contains_key(it) && !unreadable.contains_key(it);
        let closed: Vec<_> = self.open.keys().filter(|it| !stays(it)).cloned().collect();
        closed.iter().try_for_each(|it| self.leave(it, to))?;

        // New files are opened before the files that may import them.
        let (mut opened, changed): (Vec<_>, Vec<_>) =
            changed.into_iter().partition(|(path, _)| !self.open.contains_key(*path));
        opened.sort_by_key(|(path, _)| !target.new.contains(*path));
        for (path, document) in opened {
            self.new.extend(target.new.get(path).cloned());
            self.open(path, document, to)?;
            if to.profile.opens_silently {
                self.touch(path, to)?;
            }
        }
        changed.into_iter().try_for_each(|(path, document)| self.change(path, document, to))?;
        Ok(unreadable)
    }

    /// Notifies the server of changes on the disk. Files that are deleted for the server stay so.
    pub(super) fn disk_changed(
        &mut self,
        changes: &[(WorkspacePath, DiskChange)],
        to: &Listener<'_>,
    ) -> Result<(), RequestError> {
        let ours = changes.iter().filter(|(path, _)| to.profile.reads_late && to.profile.covers(path));
        self.changed.extend(ours.map(|(path, _)| path.clone()));
        let news = changes.iter().filter(|(path, _)| !self.gone.contains(path));
        to.tell_files(news.map(|(path, change)| (path, *change)))?;
        for (path, change) in changes {
            if *change == DiskChange::Deleted {
                self.gone.remove(path);
                self.told_gone.remove(path);
            }
        }
        Ok(())
    }

    /// Opens a document that is of no branch.
    pub(super) fn open_text(
        &mut self,
        path: &WorkspacePath,
        text: &str,
        to: &Listener<'_>,
    ) -> Result<(), RequestError> {
        self.open(path, Document::of(text), to)
    }

    /// Closes a document. Its text is empty in the meantime for a server that reads late.
    fn leave(&mut self, path: &WorkspacePath, to: &Listener<'_>) -> Result<(), RequestError> {
        if to.profile.reads_late {
            self.change(path, Document::of(""), to)?;
        }
        self.close(path, to)
    }

    pub(super) fn close(&mut self, path: &WorkspacePath, to: &Listener<'_>) -> Result<(), RequestError> {
        self.open.remove(path);
        self.news.remove(path);
        to.tell("textDocument/didClose", &json!({ "textDocument": { "uri": to.uris.of(path) } }))
    }

    fn open(
        &mut self,
        path: &WorkspacePath,
        document: Document,
        to: &Listener<'_>,
    ) -> Result<(), RequestError> {
        let version = self.next_version();
        let item = json!({
            "uri": to.uris.of(path),
            "languageId": to.profile.language_id(path),
            "version": version,
            "text": document.told(),
        });
        self.insert(path, document, version);
        to.tell("textDocument/didOpen", &json!({ "textDocument": item }))
    }

    fn change(
        &mut self,
        path: &WorkspacePath,
        document: Document,
        to: &Listener<'_>,
    ) -> Result<(), RequestError> {
        let version = self.next_version();
        let params = json!({
            "textDocument": { "uri": to.uris.of(path), "version": version },
            "contentChanges": [{ "text": document.told() }],
        });
        self.insert(path, document, version);
        to.tell("textDocument/didChange", &params)
    }

    /// Tells a document as it is once more.
    pub(super) fn touch(&mut self, path: &WorkspacePath, to: &Listener<'_>) -> Result<(), RequestError> {
        match self.open.get(path).cloned() {
            Some(document) => self.change(path, document, to),
            None => Ok(()),
        }
    }

    pub(super) fn reopen(&mut self, path: &WorkspacePath, to: &Listener<'_>) -> Result<(), RequestError> {
        let Some(document) = self.open.get(path).cloned() else { return Ok(()) };
        self.close(path, to)?;
        self.open(path, document, to)
    }

    fn insert(&mut self, path: &WorkspacePath, document: Document, version: i32) {
        self.news.insert(path.clone());
        self.open.insert(path.clone(), Document { version, ..document });
    }

    pub(super) fn forget_news(&mut self) {
        self.news.clear();
    }

    pub(super) fn news(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.news.iter()
    }

    pub(super) fn is_news(&self, path: &WorkspacePath) -> bool {
        self.news.contains(path)
    }

    /// Version of an open document.
    pub(super) fn version(&self, path: &WorkspacePath) -> Option<i64> {
        self.open.get(path).map(|it| it.version.into())
    }

    pub(super) fn all_open(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.open.keys()
    }

    /// Files of which a server that reads late may have another text than the disk has, or had.
    pub(super) fn kept(&self) -> BTreeSet<WorkspacePath> {
        self.open.keys().chain(&self.changed).cloned().collect()
    }

    /// Files that were ever open while they were not on the disk.
    pub(super) fn ever_new(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.new.iter()
    }

    pub(super) fn any_open(&self) -> Option<&WorkspacePath> {
        self.open.keys().next()
    }

    /// Sets the files that are to be deleted for the server, which is notified before the next question.
    pub(super) fn let_go(
        &mut self,
        gone: &BTreeSet<WorkspacePath>,
        to: &Listener<'_>,
    ) -> Result<(), RequestError> {
        self.gone.clone_from(gone);
        if gone.is_empty() { self.tell_back(to) } else { Ok(()) }
    }

    pub(super) fn lacks_something(&self) -> bool {
        !self.gone.is_empty()
    }

    /// Reports all deleted files, also those reported before, as created.
    pub(super) fn tell_back(&mut self, to: &Listener<'_>) -> Result<(), RequestError> {
        let mut back = mem::take(&mut self.told_gone);
        back.extend(self.gone.iter().cloned());
        to.tell_files(back.iter().map(|it| (it, DiskChange::Created)))
    }

    pub(super) fn tell_gone(&mut self, to: &Listener<'_>) -> Result<(), RequestError> {
        self.told_gone.clone_from(&self.gone);
        to.tell_files(self.gone.iter().map(|it| (it, DiskChange::Deleted)))
    }

    fn next_version(&mut self) -> i32 {
        self.last_version += 1;
        self.last_version
    }
}

impl Listener<'_> {
    /// Sends a notification. Failure means that the session is over, and with it all that was sent.
    fn tell(&self, method: &str, params: &Value) -> Result<(), RequestError> {
        self.client.notify(method, params)
    }

    fn tell_files<'p>(
        &self,
        changes: impl Iterator<Item = (&'p WorkspacePath, DiskChange)>,
    ) -> Result<(), RequestError> {
        let kind = |it| match it {
            DiskChange::Created => 1,
            DiskChange::Changed => 2,
            DiskChange::Deleted => 3,
        };
        let event = |(path, it): (&_, _)| json!({ "uri": self.uris.of(path), "type": kind(it) });
        let changes: Vec<Value> = changes.map(event).collect();
        if changes.is_empty() {
            return Ok(());
        }
        self.tell("workspace/didChangeWatchedFiles", &json!({ "changes": changes }))
    }
}
