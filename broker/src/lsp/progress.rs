//! Progress of slow work, if the client supports it.

use std::{cell::Cell, rc::Rc};

use gen_lsp_types::{
    ProgressNotification, ProgressParams, ProgressToken, WorkDoneProgressCreateParams,
    WorkDoneProgressCreateRequest,
};
use serde_json::{Value, json};
use tokio::task::spawn_local;

use super::server::Server;

/// Progress that is shown until this is dropped. Nothing is sent before the client has accepted the token.
pub(super) struct Progress(Option<Rc<Shown>>);

struct Shown {
    server: Rc<Server>,
    token: ProgressToken,
    phase: Cell<Phase>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Asked,
    Begun,
    Over,
}

impl Progress {
    pub(super) fn begin(server: &Rc<Server>, title: String) -> Self {
        if !server.traits.progress {
            return Self(None);
        }
        let token = ProgressToken::String(format!("broker-progress-{}", server.next_number()));
        let shown = Rc::new(Shown { server: Rc::clone(server), token, phase: Cell::new(Phase::Asked) });
        let begun = Rc::clone(&shown);
        spawn_local(async move {
            let params = WorkDoneProgressCreateParams { token: begun.token.clone() };
            let consents = begun.server.peer.ask::<WorkDoneProgressCreateRequest>(&params).await.is_ok();
            if consents && begun.phase.get() == Phase::Asked {
                begun.phase.set(Phase::Begun);
                begun.tell(json!({"kind": "begin", "title": title, "cancellable": false}));
            }
        });
        Self(Some(shown))
    }

    pub(super) fn report(&self, message: &str) {
        if let Some(shown) = &self.0
            && shown.phase.get() == Phase::Begun
        {
            shown.tell(json!({"kind": "report", "message": message}));
        }
    }
}

impl Shown {
    fn tell(&self, value: Value) {
        let params = ProgressParams { token: self.token.clone(), value };
        self.server.peer.notify::<ProgressNotification>(&params);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some(shown) = &self.0 else { return };
        if shown.phase.replace(Phase::Over) == Phase::Begun {
            shown.tell(json!({"kind": "end"}));
        }
    }
}
