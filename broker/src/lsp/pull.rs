//! Pulled diagnostics: of one document, and of whole folders.

use std::{collections::HashMap, rc::Rc};

use client::is_gone;
use gen_lsp_types::{
    Diagnostic, DocumentDiagnosticParams, FullDocumentDiagnosticReport, ProgressNotification, ProgressParams,
    ProgressToken, UnchangedDocumentDiagnosticReport, Uri, WorkspaceDiagnosticParams,
    WorkspaceDiagnosticReport, WorkspaceDocumentDiagnosticReport as Report,
    WorkspaceFullDocumentDiagnosticReport, WorkspaceUnchangedDocumentDiagnosticReport,
};
use linters::LinterKind;
use scheduler::Class;
use serde_json::{Value, json};
use workspaces::{CheckRequest, ErrorKind, Event, Side};

use super::{
    checking::{self, Found},
    diagnostics::{Context, diagnostics, result_id},
    document::{Checked, Document, DocumentLocation},
    failure::Failure,
    folder::{Connection, Folder},
    progress::Progress,
    server::Server,
    target,
    text::Text,
};

/// `textDocument/diagnostic`. Waits for the result of the document's own task, in a check that began after all changes of buffers:
/// one of them may be a configuration.
pub(super) async fn of_document(
    server: Rc<Server>,
    document: Option<(i32, Rc<Document>)>,
    params: DocumentDiagnosticParams,
) -> Result<Value, Failure> {
    let Some((version, document)) = document else { return of_closed(&server, &params).await };
    if matches!(document.place, DocumentLocation::Elsewhere) {
        return Ok(full(&[], None));
    }
    let (mut results, mut states) = (document.results(), document.states());
    let _waiting = document.wait_for_result();
    server.until_sent().await;
    let buffers = document.folder().map_or(0, |it| it.last_buffer_change());
    document.check_since(buffers);
    loop {
        let is_asked = |it: &Rc<Checked>| it.version == version && it.buffers >= buffers;
        if let Some(checked) = document.checked().filter(is_asked) {
            document.mark_reported(&checked);
            let is_known = params.previous_result_id.as_ref() == Some(&checked.result_id);
            let mut report = match is_known {
                true => json!({"kind": "unchanged", "resultId": checked.result_id}),
                false => full(&checked.diagnostics, Some(&checked.result_id)),
            };
            if server.traits.related_documents && !checked.related.is_empty() {
                let related = checked.related.iter().map(|(uri, items)| (uri.clone(), full(items, None)));
                report["relatedDocuments"] = Value::Object(related.collect());
            }
            return Ok(report);
        }
        if document.version() != version {
            return Err(Failure::ask_again("the document has changed meanwhile"));
        }
        tokio::select! {
            changed = results.changed() => changed.map_err(Failure::internal)?,
            changed = states.changed() => changed.map_err(Failure::internal)?,
        }
    }
}

fn full(items: &[Diagnostic], result_id: Option<&str>) -> Value {
    match result_id {
        Some(id) => json!({"kind": "full", "resultId": id, "items": items}),
        None => json!({"kind": "full", "items": items}),
    }
}

/// Checks a file that is not open.
async fn of_closed(server: &Rc<Server>, params: &DocumentDiagnosticParams) -> Result<Value, Failure> {
    let Some((folder, path)) = server.folder_of(&params.text_document.uri.0) else {
        return Ok(full(&[], None));
    };
    // The file may have been closed just before, so that its buffer must be gone first, and a configuration may have been changed.
    server.until_sent().await;
    let path = folder.resolved(&path);
    let connection = folder.served().await?;
    let target = target::base(&connection);
    match server.read(&target, path.as_str(), Side::Now).await {
        // A file that does not exist has no findings.
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(full(&[], None)),
        _ => {}
    }
    let request = checking::about(target, path.as_str(), &kinds(server));
    let found = checking::check(&*folder.workspaces, request).await?;
    let files = Files { server, folder: &folder, connection: &connection };
    let (own, _) = found.split(path.as_str());
    let items = files.diagnostics(path.as_str(), &own).await?;
    let items = items.ok_or_else(|| Failure::ask_again("the file has changed meanwhile"))?;
    let id = result_id(&items);
    match params.previous_result_id.as_ref() == Some(&id) {
        true => Ok(json!({"kind": "unchanged", "resultId": id})),
        false => Ok(full(&items, Some(&id))),
    }
}

fn kinds(server: &Server) -> Vec<LinterKind> {
    match server.settings().servers {
        true => vec![LinterKind::Plugin, LinterKind::Server],
        false => vec![LinterKind::Plugin],
    }
}

/// `workspace/diagnostic`: all files of the editor's folders that have findings, or had some by the client's previous results.
/// If nothing differs from those, the answer waits for the next change.
pub(super) async fn of_workspace(
    server: Rc<Server>,
    params: WorkspaceDiagnosticParams,
) -> Result<Value, Failure> {
    let known: HashMap<_, _> =
        params.previous_result_ids.into_iter().map(|it| (it.uri.0, it.value)).collect();
    let token = params.partial_result_params.partial_result_token;
    loop {
        let folders = server.named_folders();
        let mut changes: Vec<_> = folders.iter().map(|it| it.base_changes()).collect();
        let mut reports =
            Reports { server: &server, known: &known, token: token.as_ref(), items: Vec::new(), news: 0 };
        for folder in &folders {
            reports.add(folder).await?;
        }
        reports.send();
        if reports.news > 0 || folders.is_empty() || known.is_empty() {
            let items = if token.is_some() { Vec::new() } else { reports.items };
            return Ok(json!(WorkspaceDiagnosticReport { items }));
        }
        let next = changes.iter_mut().map(|it| Box::pin(it.changed()));
        first_of(next).await;
        tokio::time::sleep(super::rounds::DEBOUNCE).await;
    }
}

/// Waits until one of several futures is ready.
async fn first_of<F: Future + Unpin>(all: impl Iterator<Item = F>) {
    let mut all: Vec<_> = all.collect();
    std::future::poll_fn(|context| {
        let is_done = all.iter_mut().any(|it| std::pin::Pin::new(it).poll(context).is_ready());
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// Reports of many files, sent in parts if the client takes partial results.
struct Reports<'r> {
    server: &'r Rc<Server>,
    /// Result ids that the client has, by URI.
    known: &'r HashMap<String, String>,
    /// Token for partial results.
    token: Option<&'r ProgressToken>,
    items: Vec<Report>,
    /// Number of files whose result differs from the client's.
    news: usize,
}

/// Files in one partial result.
const PART: usize = 50;

impl Reports<'_> {
    async fn add(&mut self, folder: &Rc<Folder>) -> Result<(), Failure> {
        // The folder's open documents report the failure, and `workspace/diagnostic` is repeated once the folder is served.
        let Ok(connection) = folder.served().await else { return Ok(()) };
        let request = CheckRequest {
            class: Class::Background,
            kinds: kinds(self.server),
            ..CheckRequest::of(target::base(&connection))
        };
        let mut found = Found::default();
        let progress = Progress::begin(self.server, format!("Broker checks {}", folder.name()));
        let checked = checking::stream(&*folder.workspaces, request, |event| match event {
            Event::Started(it) => progress.report(&format!("{} files", it.files)),
            event => found.add(event),
        });
        match checked.await {
            Err(error) if is_gone(&error) => return Err(Failure::ask_again("the daemon was started anew")),
            checked => checked?,
        }
        found.incomplete.retain(|it| !checking::path_of(it).is_empty());
        let files = Files { server: self.server, folder, connection: &connection };
        let (_, by_file) = found.split("");
        for (path, found) in &by_file {
            // A file that has changed meanwhile is reported after the change of the base that this brings.
            if let Some(items) = files.diagnostics(path, found).await? {
                self.report(files.uri(path), files.version(path), items);
            }
        }
        // Files that had findings by the client's previous results, and have none any more.
        let has_none = |uri: &&String| folder.path(uri).is_some_and(|it| !by_file.contains_key(it.as_str()));
        let cleared: Vec<_> = self.known.keys().filter(has_none).cloned().collect();
        for uri in cleared {
            let version = folder.path(&uri).and_then(|it| files.version(it.as_str()));
            self.report(uri, version, Vec::new());
        }
        Ok(())
    }

    fn report(&mut self, uri: String, version: Option<i32>, items: Vec<Diagnostic>) {
        let id = result_id(&items);
        let report = if self.known.get(&uri) == Some(&id) {
            let unchanged = UnchangedDocumentDiagnosticReport { result_id: id };
            Report::WorkspaceUnchangedDocumentDiagnosticReport(WorkspaceUnchangedDocumentDiagnosticReport {
                uri: Uri(uri),
                version,
                unchanged_document_diagnostic_report: unchanged,
            })
        } else {
            self.news += 1;
            Report::WorkspaceFullDocumentDiagnosticReport(WorkspaceFullDocumentDiagnosticReport {
                uri: Uri(uri),
                version,
                full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id: Some(id), items },
            })
        };
        self.items.push(report);
        if self.items.len() >= PART && self.news > 0 {
            self.send();
        }
    }

    /// Sends the reports so far as a partial result, if the client takes those.
    fn send(&mut self) {
        let Some(token) = self.token else { return };
        if self.items.is_empty() || self.news == 0 {
            return;
        }
        let value = json!({"items": std::mem::take(&mut self.items)});
        self.server.peer.notify::<ProgressNotification>(&ProgressParams { token: token.clone(), value });
    }
}

/// Converts findings in files of one folder to diagnostics.
struct Files<'f> {
    server: &'f Rc<Server>,
    folder: &'f Rc<Folder>,
    connection: &'f Connection,
}

impl Files<'_> {
    fn place(&self) -> DocumentLocation {
        DocumentLocation::Base(Rc::clone(self.folder), overlay::WorkspacePath::root())
    }

    fn uri(&self, path: &str) -> String {
        self.server.uri_of(&self.place(), path)
    }

    fn version(&self, path: &str) -> Option<i32> {
        self.server.document_at(self.folder, path).map(|it| it.version())
    }

    /// `None` if the findings are about another text than the file has now, in which they would be at wrong places.
    async fn diagnostics(&self, path: &str, found: &Found) -> Result<Option<Vec<Diagnostic>>, Failure> {
        let place = self.place();
        let text = match self.server.open_text(self.folder, &place, path) {
            Some(text) => Some(text).filter(|it| found.is_about(it.as_str().as_bytes())),
            None => {
                let bytes = self.server.read_if_there(&target::base(self.connection), path).await?;
                let bytes = bytes.unwrap_or_default();
                let text = || Text::new(String::from_utf8_lossy(&bytes), self.server.traits.encoding);
                found.is_about(&bytes).then(text)
            }
        };
        let Some(text) = text else { return Ok(None) };
        let uri = |path: &str| self.uri(path);
        let context = Context { path, text: &text, others: &HashMap::new(), uri: &uri };
        Ok(Some(diagnostics(found, &context, self.server.traits.diagnostics)))
    }
}
