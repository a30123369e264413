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
use workspaces::Side;

use super::{
    actions, branch_uri::BranchFile, commands, failure::Failure, hints, hover, lenses, peer::Peer,
    pending::PendingRequests, proxy, pull, server::Server,
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
            "workspace/diagnostic" => self.spawn_in_order(pull::of_workspace(server, typed(params)?)),
            "textDocument/codeAction" => self.code_action(method, params)?,
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
            _ if proxy::is_proxied(method) => self.proxied(method, params)?,
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

    fn code_action(&self, method: &str, params: Value) -> Result<(), Failure> {
        let raw = params.clone();
        let params: CodeActionParams = typed(params)?;
        let document = self.server.expect_document(&params.text_document.uri.0)?;
        let (version, of_server) = (document.version(), self.of_server(method, raw));
        self.spawn(actions::offer(Rc::clone(self.server), document, version, params, of_server));
        Ok(())
    }

    fn hover(&self, method: &str, params: Value) -> Result<(), Failure> {
        let raw = params.clone();
        let params: HoverParams = typed(params)?;
        let at = params.text_document_position_params;
        let document = self.server.expect_document(&at.text_document.uri.0)?;
        let server = Rc::clone(self.server);
        match hints::CursorWord::at(&document, at.position) {
            Some(cursor) => self.spawn(hover::of_word(server, document, at.position, cursor)),
            None => {
                let version = document.version();
                let of_server = self.of_server(method, raw).map(|it| self.let_pass(it));
                self.spawn(hover::of_place(server, document, version, at.position, of_server));
            }
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
        match self.of_server(method, params) {
            Some(asked) => self.spawn(self.let_pass(asked)),
            None => self.spawn(async { Ok(Value::Null) }),
        }
    }

    fn proxied(&self, method: &str, params: Value) -> Result<(), Failure> {
        let asked = self.of_server(method, params).ok_or_else(|| Failure::no_method(method))?;
        self.spawn(self.let_pass(asked));
        Ok(())
    }

    /// The answer of a language server; `None` where they are off.
    fn of_server(
        &self,
        method: &str,
        params: Value,
    ) -> Option<impl Future<Output = Result<Value, Failure>> + 'static> {
        let server = Rc::clone(self.server);
        let is_on = server.settings().servers;
        is_on.then(|| self.in_order(proxy::ask(server, method.to_owned(), params)))
    }

    /// Has checks let a question to a language server pass.
    fn let_pass<T>(&self, question: impl Future<Output = T> + 'static) -> impl Future<Output = T> + 'static {
        let asking = self.server.questions.begin();
        async move {
            let answer = question.await;
            drop(asking);
            answer
        }
    }

    /// The work, begun once the daemon has all texts that were changed before the request came.
    fn in_order<T>(&self, work: impl Future<Output = T> + 'static) -> impl Future<Output = T> + 'static {
        let sent = self.server.until_sent();
        async move {
            sent.await;
            work.await
        }
    }

    fn spawn_in_order(&self, work: impl Future<Output = Result<Value, Failure>> + 'static) {
        self.spawn(self.in_order(work));
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
    let folder = server.folder_of_file(&file);
    let folder =
        folder.ok_or_else(|| Failure::failed(format!("no folder is open that has the branch of {uri}")))?;
    let target = server.branch_target(&folder, &file).await?;
    let bytes = server.read(&target, file.path.as_str(), Side::Now).await?;
    Ok(json!({"text": String::from_utf8_lossy(&bytes)}))
}
