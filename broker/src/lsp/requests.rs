//! Table of the requests that are answered after `initialize`.
//!
//! The documents that a request is about are looked up before its task starts, so that it sees them as they were when it came.

use std::rc::Rc;

use gen_lsp_types::{
    CodeActionParams, CodeLensParams, CompletionParams, DocumentDiagnosticParams, HoverParams,
    TextDocumentContentParams,
};
use lsp_client::Id;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    actions, branch_uri::BranchFile, commands, failure::Failure, hints, lenses, peer::Peer,
    pending::PendingRequests, proxy, pull, server::Server, target,
};

/// One request.
pub(super) struct Call<'c> {
    pub(super) server: &'c Rc<Server>,
    pub(super) peer: &'c Peer,
    pub(super) pending: &'c Rc<PendingRequests>,
    pub(super) id: &'c Id,
}

impl Call<'_> {
    /// Starts the task that answers the request. An error is the answer if no task could be started.
    pub(super) fn begin(&self, method: &str, params: Value) -> Result<(), Failure> {
        let server = Rc::clone(self.server);
        match method {
            "textDocument/diagnostic" | "workspace/diagnostic" if !server.traits.pulls => {
                return Err(Failure::no_method(method));
            }
            "textDocument/diagnostic" => self.diagnostic(params)?,
            "workspace/diagnostic" => self.spawn(pull::of_workspace(server, typed(params)?)),
            "textDocument/codeAction" => self.code_action(params)?,
            "codeAction/resolve" if !proxy::is_of_a_server(&params) => {
                self.spawn_in_order(actions::resolve(server, typed(params)?));
            }
            "textDocument/hover" => self.hover(method, params)?,
            "textDocument/completion" => self.completion(method, params)?,
            "textDocument/codeLens" => self.code_lens(params)?,
            "workspace/executeCommand" => self.spawn_in_order(commands::execute(server, typed(params)?)),
            "workspace/textDocumentContent" => {
                let params: TextDocumentContentParams = typed(params)?;
                self.spawn_in_order(content(server, params.uri.0));
            }
            _ if server.settings().servers && proxy::is_proxied(method) => self.proxied(method, params),
            _ => return Err(Failure::no_method(method)),
        }
        Ok(())
    }

    fn diagnostic(&self, params: Value) -> Result<(), Failure> {
        let params: DocumentDiagnosticParams = typed(params)?;
        let document = self.server.document(&params.text_document.uri.0);
        let now = document.map(|it| (it.version(), it));
        self.spawn(pull::of_document(Rc::clone(self.server), now, params));
        Ok(())
    }

    fn code_action(&self, params: Value) -> Result<(), Failure> {
        let raw = params.clone();
        let params: CodeActionParams = typed(params)?;
        let document = self.server.expect_document(&params.text_document.uri.0)?;
        let version = document.version();
        self.spawn(actions::offer(Rc::clone(self.server), document, version, params, raw));
        Ok(())
    }

    fn hover(&self, method: &str, params: Value) -> Result<(), Failure> {
        let raw = params.clone();
        let params: HoverParams = typed(params)?;
        let at = params.text_document_position_params;
        let document = self.server.expect_document(&at.text_document.uri.0)?;
        let server = Rc::clone(self.server);
        match hints::CursorWord::at(&document, at.position) {
            Some(cursor) => {
                self.spawn(async move { Ok(json!(hints::hover(&server, &document, &cursor).await?)) });
            }
            None => self.proxied_or_null(method, raw),
        }
        Ok(())
    }

    fn completion(&self, method: &str, params: Value) -> Result<(), Failure> {
        let raw = params.clone();
        let params: CompletionParams = typed(params)?;
        let at = params.text_document_position_params;
        let document = self.server.expect_document(&at.text_document.uri.0)?;
        let server = Rc::clone(self.server);
        match hints::CursorWord::at(&document, at.position) {
            Some(cursor) => {
                self.spawn(async move { Ok(json!(hints::complete(&server, &document, &cursor).await?)) });
            }
            None => self.proxied_or_null(method, raw),
        }
        Ok(())
    }

    fn code_lens(&self, params: Value) -> Result<(), Failure> {
        let params: CodeLensParams = typed(params)?;
        let document = self.server.expect_document(&params.text_document.uri.0)?;
        self.spawn(lenses::of_document(Rc::clone(self.server), document));
        Ok(())
    }

    /// Answers as a language server does, or with `null` where language servers are off.
    fn proxied_or_null(&self, method: &str, params: Value) {
        if self.server.settings().servers {
            self.proxied(method, params);
        } else {
            self.spawn(async { Ok(Value::Null) });
        }
    }

    fn proxied(&self, method: &str, params: Value) {
        let (asking, server) = (self.server.questions.begin(), Rc::clone(self.server));
        let asked = proxy::ask(server, method.to_owned(), params);
        self.spawn_in_order(async move {
            let answer = asked.await;
            drop(asking);
            answer
        });
    }

    /// Starts the work once the daemon has all texts that were changed before the request came.
    fn spawn_in_order(&self, work: impl Future<Output = Result<Value, Failure>> + 'static) {
        let sent: Vec<_> = self.server.documents().iter().map(|it| it.until_sent()).collect();
        self.spawn(async move {
            for it in sent {
                it.await;
            }
            work.await
        });
    }

    fn spawn(&self, work: impl Future<Output = Result<Value, Failure>> + 'static) {
        self.pending.spawn(self.peer, self.id, work);
    }
}

fn typed<T: DeserializeOwned>(params: Value) -> Result<T, Failure> {
    serde_json::from_value(params).map_err(Failure::invalid_params)
}

/// `workspace/textDocumentContent`: the text of a file in a branch.
async fn content(server: Rc<Server>, uri: String) -> Result<Value, Failure> {
    let file = BranchFile::of_uri(&uri)
        .ok_or_else(|| Failure::invalid_params(format!("{uri} is no file of a branch")))?;
    if server.folder_of_branch(&file.branch).is_none() {
        return Err(Failure::failed(format!("no folder of this editor has the branch of {uri}")));
    }
    let bytes = server.read(target::branch(file.branch), file.path.as_str()).await?;
    Ok(json!({"text": String::from_utf8_lossy(&bytes)}))
}
