//! Task of an open document, in rounds: a round sends the text to the daemon as a buffer, checks it and delivers the result. A new
//! round starts when the text changes, or anything else that the result may depend on.
//!
//! A newer version cancels the check of an older one, with its plugins. Results for an older version than the client's are dropped.

use std::{
    collections::{BTreeSet, HashMap},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use client::is_gone;
use gen_lsp_types::{Diagnostic, PublishDiagnosticsNotification, PublishDiagnosticsParams, Uri};
use linters::LinterKind;
use overlay::WorkspacePath;
use scheduler::Class;
use tokio::time::sleep;
use workspaces::{BufferRequest, CheckRequest, ErrorKind, RequestError, Side, TargetId};

use super::{
    checking::{self, Found},
    config_error,
    diagnostics::{Context, diagnostics, incomplete_check, result_id},
    document::{Checked, Document, DocumentLocation, State},
    folder::{Connection, Folder},
    server::Server,
    target,
    text::Text,
};
use crate::CliError;

/// Time to gather changes of other files before the documents that may depend on them are checked again.
pub(super) const DEBOUNCE: Duration = Duration::from_millis(30);

/// The version of a document that the daemon has as a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    epoch: u64,
    version: i32,
    is_typed: bool,
    /// The base shows another editor's text of the file instead.
    is_hidden: bool,
}

/// Runs for as long as the document is open.
pub(super) async fn follow(server: Rc<Server>, document: std::rc::Weak<Document>) {
    let Some((folder, mut states)) =
        document.upgrade().and_then(|it| Some((Rc::clone(it.folder()?), it.states())))
    else {
        return;
    };
    let mut base = folder.base_changes();
    let mut shown = None;
    loop {
        let connection = match folder.served().await {
            Ok(connection) => connection,
            Err(error) => {
                states.mark_unchanged();
                let Some(document) = document.upgrade() else { return };
                deliver_unserved(&server, &document, &error.sentence);
                drop(document);
                // Each version says so, and the next connection checks.
                tokio::select! {
                    changed = states.changed() => if changed.is_err() { return },
                    _ = folder.connected(None) => {}
                }
                continue;
            }
        };
        let state = states.borrow_and_update().clone();
        base.mark_unchanged();
        let Some(document) = document.upgrade() else { return };
        document.resolve();
        let round =
            Round { server: &server, document: &document, folder: &folder, connection: &connection, state };
        // Sending a buffer is never cancelled: it might then reach the daemon after a newer one.
        let mut given_up = document.give_ups();
        let showed = round.show(&mut shown).await;
        document.mark_sent(connection.epoch, round.state.version);
        document.mark_checking(folder.last_buffer_change());
        let ended = match showed {
            Ok(()) => tokio::select! {
                biased;
                changed = states.changed() => if changed.is_ok() { continue } else { return },
                _ = given_up.changed() => Ok(()),
                ended = round.answer(shown.as_ref()) => ended,
            },
            Err(error) => Err(error),
        };
        let ended = round.reported(ended);
        drop(document);
        let is_connected = ended.is_ok();
        if !is_connected {
            folder.mark_stale(&connection);
        }
        tokio::select! {
            biased;
            changed = states.changed() => if changed.is_err() { return },
            _ = folder.connected(Some(connection.epoch)) => {}
            () = settled(&mut base), if is_connected => {
                // A text that is as the disk had it is no buffer; it has to be one if the file has gone.
                shown.take_if(|it| !it.is_typed);
            }
        }
    }
}

/// Waits for a change of the base, and then for [`DEBOUNCE`].
async fn settled(base: &mut tokio::sync::watch::Receiver<u64>) {
    if base.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
    sleep(DEBOUNCE).await;
}

/// One version of a document on one connection.
struct Round<'r> {
    server: &'r Rc<Server>,
    document: &'r Rc<Document>,
    folder: &'r Rc<Folder>,
    connection: &'r Connection,
    state: State,
}

impl Round<'_> {
    /// Checks the file that the document shows.
    async fn answer(&self, shown: Option<&Shown>) -> Result<(), RequestError> {
        match &self.document.place {
            DocumentLocation::Base(_, path) => self.base(self.folder.resolved(path).as_str(), shown).await,
            DocumentLocation::Branch(folder, file) => {
                let target = self.server.branch_target(folder, file).await?;
                self.check(target, file.path.as_str()).await
            }
            DocumentLocation::Elsewhere => Ok(()),
        }
    }

    /// Delivers an error as a diagnostic. Returns it instead if the connection is gone, so that the round is repeated.
    fn reported(&self, done: Result<(), RequestError>) -> Result<(), RequestError> {
        match done {
            Err(error) if is_gone(&error) => Err(error),
            Err(error) => {
                self.refused(error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    async fn base(&self, path: &str, shown: Option<&Shown>) -> Result<(), RequestError> {
        if shown.is_some_and(|it| it.is_hidden) && !self.is_shown(path).await? {
            let reason = "another editor has a newer text of this file, and its findings are shown there";
            self.deliver(Found::default(), vec![incomplete_check("", reason)], Vec::new());
            return Ok(());
        }
        self.check(target::base(self.connection), path).await
    }

    /// Whether the base shows the same text, though from another editor.
    async fn is_shown(&self, path: &str) -> Result<bool, RequestError> {
        let bytes = self.server.read(&target::base(self.connection), path, Side::Now).await?;
        Ok(*bytes == *self.state.text.as_str().as_bytes())
    }

    /// Sets the buffer of the file to this text, unless the daemon has it already. Branches see it, too.
    async fn show(&self, shown: &mut Option<Shown>) -> Result<(), RequestError> {
        let DocumentLocation::Base(_, path) = &self.document.place else { return Ok(()) };
        let State { version, is_typed, .. } = self.state;
        let now =
            |it: &Shown| (it.epoch, it.version, it.is_typed) == (self.connection.epoch, version, is_typed);
        if shown.as_ref().is_some_and(now) {
            return Ok(());
        }
        let text = &self.state.text;
        let request = BufferRequest {
            workspace: self.connection.workspace.clone(),
            editor: Some(self.connection.editor.clone()),
            path: path.as_str().to_owned(),
            content: Bytes::copy_from_slice(text.as_str().as_bytes()),
            is_opened: !is_typed,
        };
        let workspaces = Arc::clone(&self.folder.workspaces);
        let setting =
            self.server.in_order(&self.document.uri, async move { workspaces.set_buffer(request).await });
        let broke_off =
            |error: tokio::task::JoinError| RequestError::new(ErrorKind::Internal, "BUG", error.to_string());
        let answer = setting.await.map_err(broke_off)??;
        self.folder.buffer_has_changed();
        *shown = Some(Shown { epoch: self.connection.epoch, version, is_typed, is_hidden: answer.is_hidden });
        Ok(())
    }

    /// Runs plugins, then language servers, then checkers, and delivers all findings so far after each.
    async fn check(&self, target: TargetId, path: &str) -> Result<(), RequestError> {
        let settings = self.server.settings();
        let workspaces = &*self.folder.workspaces;
        let about = |kind: LinterKind| checking::about(target.clone(), path, &[kind]);
        self.server.questions.let_pass().await;
        let mut found = checking::check(workspaces, about(LinterKind::Plugin)).await?;
        self.report(&found, path).await?;
        if settings.servers {
            self.server.questions.let_pass().await;
            let request = CheckRequest { dependents: true, ..about(LinterKind::Server) };
            let of_servers = checking::check(workspaces, request).await?;
            self.server.warn_unavailable(&of_servers);
            found.extend(of_servers);
            self.report(&found, path).await?;
        }
        if settings.check_on_save && self.state.saved == Some(self.state.version) {
            let request = CheckRequest { class: Class::Agent, ..about(LinterKind::Command) };
            found.extend(checking::check(workspaces, request).await?);
            self.report(&found, path).await?;
        }
        Ok(())
    }

    async fn report(&self, found: &Found, path: &str) -> Result<(), RequestError> {
        let (own, others) = found.clone().split(path);
        if !own.is_about(self.state.text.as_str().as_bytes()) {
            // The buffer has changed meanwhile, which starts the next round; a client need not ask for a branch's new text.
            if let DocumentLocation::Branch(..) = self.document.place {
                let reason = "the branch has another text of this file: reload it";
                self.deliver(Found::default(), vec![incomplete_check("", reason)], Vec::new());
            }
            return Ok(());
        }
        let texts = self.other_texts(found, path).await?;
        let traits = &self.server.traits;
        let uri = |path: &str| self.uri(path);
        let of = |path: &str, text: &Text, found: &Found| {
            let context = Context { path, text, others: &texts, uri: &uri };
            diagnostics(found, &context, traits.diagnostics)
        };
        let items = of(path, &self.state.text, &own);
        let related = others.iter().filter_map(|(path, found)| {
            let text = texts.get(path)?;
            Some((uri(path), of(path, text, found)))
        });
        let related = related.collect();
        self.deliver(own, items, related);
        Ok(())
    }

    /// Texts of the other files that findings refer to, by path.
    async fn other_texts(&self, found: &Found, path: &str) -> Result<HashMap<String, Text>, RequestError> {
        let related = found.findings.iter().flat_map(|it| &*it.0.related).filter_map(|it| it.path.as_ref());
        let wanted = found.findings.iter().map(|it| &it.0.file.path).chain(related);
        let wanted: BTreeSet<_> = wanted.map(WorkspacePath::as_str).filter(|it| *it != path).collect();
        let mut texts = HashMap::new();
        for path in wanted {
            if let Some(text) =
                self.server.text_of(self.folder, self.connection, &self.document.place, path).await?
            {
                texts.insert(path.to_owned(), text);
            }
        }
        Ok(texts)
    }

    fn uri(&self, path: &str) -> String {
        self.server.uri_of(&self.document.place, path)
    }

    fn deliver(&self, found: Found, diagnostics: Vec<Diagnostic>, related: Vec<(String, Vec<Diagnostic>)>) {
        let result_id = result_id(&diagnostics);
        let State { version, text, .. } = self.state.clone();
        let buffers = self.document.last_check();
        let checked = Checked { version, text, found, diagnostics, result_id, related, buffers, number: 0 };
        deliver(self.server, self.document, checked);
    }

    /// Delivers an error of the daemon as a diagnostic, since no diagnostics would mean that the file is clean.
    fn refused(&self, error: RequestError) {
        let error = CliError::from(error);
        let reason = match &error.hint {
            Some(hint) => format!("{} ({hint})", error.message),
            None => error.message.clone(),
        };
        let diagnostic = config_error::diagnostic(self.document, &self.state.text, &error);
        let diagnostic = diagnostic.unwrap_or_else(|| incomplete_check("", &reason));
        self.deliver(Found::default(), vec![diagnostic], Vec::new());
    }
}

/// Delivers a diagnostic that says that the document cannot be checked.
pub(super) fn deliver_unserved(server: &Rc<Server>, document: &Rc<Document>, reason: &str) {
    let State { version, text, .. } = document.state();
    let diagnostics = vec![incomplete_check("", reason)];
    let (found, result_id) = (Found::default(), result_id(&diagnostics));
    let buffers = document.folder().map_or(0, |it| it.last_buffer_change());
    let related = Vec::new();
    deliver(
        server,
        document,
        Checked { version, text, found, diagnostics, result_id, related, buffers, number: 0 },
    );
}

/// Stores a result and publishes it. A client that pulls is asked to pull again if it has an older result of the same version.
fn deliver(server: &Rc<Server>, document: &Rc<Document>, checked: Checked) {
    if !document.keep(checked) {
        return;
    }
    let Some(checked) = document.checked() else { return };
    server.refresh_lenses();
    if server.traits.pulls {
        if document.has_outdated_report(&checked) {
            server.refresh_diagnostics();
        }
        return;
    }
    server.peer.notify::<PublishDiagnosticsNotification>(&PublishDiagnosticsParams {
        uri: Uri(document.uri.clone()),
        version: Some(checked.version),
        diagnostics: checked.diagnostics.clone(),
    });
}
