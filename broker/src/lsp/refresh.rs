//! Refresh requests: the client is asked to request diagnostics, code lenses or content again.

use std::{cell::Cell, rc::Rc, time::Duration};

use gen_lsp_types::{
    CodeLensRefreshRequest, DiagnosticRefreshRequest, Request, TextDocumentContentRefreshParams,
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
        if self.traits.refresh_diagnostics {
            self.refresh_once::<DiagnosticRefreshRequest>(|it| &it.diagnostics);
        }
    }

    /// Refreshes code lenses, which show the number of findings and the branches that change a file.
    pub(super) fn refresh_lenses(self: &Rc<Self>) {
        if self.traits.refresh_lenses && self.settings().code_lens {
            self.refresh_once::<CodeLensRefreshRequest>(|it| &it.lenses);
        }
    }

    /// Sends one request for all changes within [`DEBOUNCE`].
    fn refresh_once<R: Request<Params = ()>>(self: &Rc<Self>, is_due: fn(&Refreshes) -> &Cell<bool>) {
        if is_due(&self.refreshes).replace(true) {
            return;
        }
        let server = Rc::clone(self);
        spawn_local(async move {
            sleep(DEBOUNCE).await;
            is_due(&server.refreshes).set(false);
            let _a_client_need_not_answer = server.peer.ask::<R>(&()).await;
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
