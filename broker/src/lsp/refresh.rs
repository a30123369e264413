//! Asks the client to ask again, once for all that has come together.

use std::{cell::Cell, rc::Rc, time::Duration};

use gen_lsp_types::{
    CodeLensRefreshRequest, DiagnosticRefreshRequest, TextDocumentContentRefreshParams,
    TextDocumentContentRefreshRequest, Uri,
};
use tokio::{task::spawn_local, time::sleep};

use super::server::Server;

/// How long changes are gathered.
const GATHER: Duration = Duration::from_millis(50);

/// What the client will be asked for.
#[derive(Default)]
pub(super) struct Refreshes {
    diagnostics: Cell<bool>,
    lenses: Cell<bool>,
}

impl Server {
    pub(super) fn refresh_diagnostics(self: &Rc<Self>) {
        if !self.traits.refresh_diagnostics || self.refreshes.diagnostics.replace(true) {
            return;
        }
        let server = Rc::clone(self);
        spawn_local(async move {
            sleep(GATHER).await;
            server.refreshes.diagnostics.set(false);
            let _a_client_need_not_answer = server.peer.ask::<DiagnosticRefreshRequest>(&()).await;
        });
    }

    /// Lenses count findings, and name branches.
    pub(super) fn refresh_lenses(self: &Rc<Self>) {
        let is_shown = self.settings().code_lens && self.traits.refresh_lenses;
        if !is_shown || self.refreshes.lenses.replace(true) {
            return;
        }
        let server = Rc::clone(self);
        spawn_local(async move {
            sleep(GATHER).await;
            server.refreshes.lenses.set(false);
            let _a_client_need_not_answer = server.peer.ask::<CodeLensRefreshRequest>(&()).await;
        });
    }

    /// The text of a branch's document is another.
    pub(super) fn refresh_content(self: &Rc<Self>, uri: String) {
        if !self.traits.document_content {
            return;
        }
        let server = Rc::clone(self);
        spawn_local(async move {
            let params = TextDocumentContentRefreshParams { uri: Uri(uri) };
            let _a_client_need_not_answer =
                server.peer.ask::<TextDocumentContentRefreshRequest>(&params).await;
        });
    }
}
