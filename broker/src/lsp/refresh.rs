//! Refresh requests: the client is asked to request diagnostics, code lenses or content again.

use std::{cell::Cell, rc::Rc, time::Duration};

use gen_lsp_types::{
    CodeLensRefreshRequest, DiagnosticRefreshRequest, TextDocumentContentRefreshParams,
    TextDocumentContentRefreshRequest, Uri,
};
use tokio::{task::spawn_local, time::sleep};

use super::server::Server;

/// Time to gather changes into one refresh.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Refreshes that are due.
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
            sleep(DEBOUNCE).await;
            server.refreshes.diagnostics.set(false);
            let _a_client_need_not_answer = server.peer.ask::<DiagnosticRefreshRequest>(&()).await;
        });
    }

    /// Refreshes code lenses, which show the number of findings and the branches that change a file.
    pub(super) fn refresh_lenses(self: &Rc<Self>) {
        let is_shown = self.settings().code_lens && self.traits.refresh_lenses;
        if !is_shown || self.refreshes.lenses.replace(true) {
            return;
        }
        let server = Rc::clone(self);
        spawn_local(async move {
            sleep(DEBOUNCE).await;
            server.refreshes.lenses.set(false);
            let _a_client_need_not_answer = server.peer.ask::<CodeLensRefreshRequest>(&()).await;
        });
    }

    /// Refreshes a branch document.
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
