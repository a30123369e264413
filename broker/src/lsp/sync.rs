//! Synchronisation of documents: `didOpen`, `didChange`, `didSave`, `didClose`.

use std::{path::PathBuf, rc::Rc};

use config::root::WorkspaceRoot;
use gen_lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, PublishDiagnosticsNotification, PublishDiagnosticsParams, Uri,
};
use lsp_client::uri;
use overlay::WorkspacePath;
use tokio::task::spawn_local;

use super::{
    branch_uri::BranchFile,
    document::{Document, DocumentLocation},
    folder::Folder,
    rounds::follow,
    server::Server,
    text::Text,
};

impl Server {
    pub(super) fn did_open(self: &Rc<Self>, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        let uri = item.uri.0;
        let place = self.place_of(&uri);
        let text = Text::new(item.text, self.traits.encoding);
        let document = Document::new(uri, place, item.version, text);
        let task = spawn_local(follow(Rc::clone(self), Rc::downgrade(&document)));
        document.set_task(task.abort_handle());
        self.add_document(document);
    }

    pub(super) fn did_change(&self, params: &DidChangeTextDocumentParams) {
        let uri = &params.text_document.text_document_identifier.uri.0;
        let Some(document) = self.document(uri) else {
            self.log(format!("changes of {uri}, which is not open, are passed over"));
            return;
        };
        let text = document.state().text.changed(&params.content_changes);
        document.change(params.text_document.version, text);
    }

    pub(super) fn did_save(self: &Rc<Self>, params: &DidSaveTextDocumentParams) {
        if let Some(document) = self.document(&params.text_document.uri.0) {
            document.saved();
            document.folder().into_iter().for_each(|it| self.release_saved_files(it));
        }
    }

    pub(super) fn did_close(self: &Rc<Self>, params: &DidCloseTextDocumentParams) {
        let Some(document) = self.remove_document(&params.text_document.uri.0) else { return };
        // A text that it has not sent yet must not follow the closing of the buffer.
        document.end_task();
        let server = Rc::clone(self);
        let _goes_on = self.in_order(&document.uri.clone(), async move {
            if let DocumentLocation::Base(folder, path) = &document.place {
                close_buffer(folder, path).await;
            }
            // Unless it was opened again meanwhile: then its new task publishes.
            let is_closed = server.document(&document.uri).is_none();
            if is_closed && !server.traits.pulls && document.folder().is_some() {
                server.peer.notify::<PublishDiagnosticsNotification>(&PublishDiagnosticsParams {
                    uri: Uri(document.uri.clone()),
                    version: None,
                    diagnostics: Vec::new(),
                });
            }
        });
    }

    /// Which file a document shows. For one outside of the editor's folders, the marked workspace around it is served, if there
    /// is one.
    fn place_of(self: &Rc<Self>, uri: &str) -> DocumentLocation {
        if let Some(file) = BranchFile::of_uri(uri) {
            let folder = self.folder_of_file(&file);
            return folder.map_or(DocumentLocation::Elsewhere, |it| DocumentLocation::Branch(it, file));
        }
        if let Some((folder, path)) = self.folder_of(uri) {
            return DocumentLocation::Base(folder, path);
        }
        match self.around(uri) {
            Some((root, path)) => DocumentLocation::Base(self.add_folder(root, None), path),
            None => DocumentLocation::Elsewhere,
        }
    }

    fn around(&self, uri: &str) -> Option<(PathBuf, WorkspacePath)> {
        let file = uri::absolute(uri)?;
        let Some((workspace, path)) = WorkspaceRoot::marked_around(&file, self.home.as_deref()) else {
            self.log(format!("{uri} is not served: no repository or project is around it"));
            return None;
        };
        Some((workspace.root().to_owned(), path))
    }
}

/// Closes the buffer of a file, so that the base shows the disk again. A daemon that has ended has no buffers.
async fn close_buffer(folder: &Rc<Folder>, path: &WorkspacePath) {
    let Some(connection) = folder.connection() else { return };
    let (workspace, editor) = (&connection.workspace, Some(connection.editor.as_str()));
    let _gone_with_the_daemon = folder.workspaces.close_buffer(workspace, path.as_str(), editor).await;
    folder.buffer_has_changed();
}
