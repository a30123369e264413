//! State of the session with one editor: its folders, its open documents and its capabilities.
//!
//! Everything runs on one thread, so that state changes only at `.await`.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    path::PathBuf,
    rc::Rc,
    sync::Arc,
};

use check_engine::not_asked;
use gen_lsp_types::MessageType;
use overlay::WorkspacePath;
use tokio::{
    sync::Mutex,
    task::{JoinHandle, spawn_local},
};
use workspaces::Workspaces;

use super::{
    checking::Found,
    client_traits::ClientTraits,
    commits::LeftFiles,
    document::Document,
    failure::Failure,
    folder::{Connection, Editor, Folder},
    peer::Peer,
    questions::Questions,
    refresh::Refreshes,
    rule_list::RuleList,
    settings::Settings,
    text::Text,
};

/// State of one session.
pub(super) struct Server {
    pub(super) peer: Peer,
    pub(super) workspaces: Arc<dyn Workspaces>,
    pub(super) traits: ClientTraits,
    pub(super) home: Option<PathBuf>,
    settings: Cell<Settings>,
    folders: RefCell<Vec<OpenFolder>>,
    documents: RefCell<HashMap<String, Rc<Document>>>,
    pub(super) rules: RuleList,
    /// Locks by document, for [`in_order`](Server::in_order).
    orders: RefCell<HashMap<String, Rc<Mutex<()>>>>,
    /// Texts of open documents at the first event of a branch, by branch id and document URI.
    fork_texts: RefCell<HashMap<String, HashMap<String, Text>>>,
    /// Files that commits left to this editor.
    pub(super) left: LeftFiles,
    pub(super) refreshes: Refreshes,
    pub(super) questions: Questions,
    numbers: Cell<u64>,
    is_initialized: Cell<bool>,
    /// Unavailable linters that the user was warned about.
    warned: RefCell<HashSet<String>>,
}

/// A served folder.
struct OpenFolder {
    folder: Rc<Folder>,
    /// URIs of the editor's folders in it; empty if it is only served because a document in it was opened.
    named: Vec<String>,
    task: tokio::task::AbortHandle,
}

impl Server {
    pub(super) fn new(
        peer: Peer,
        workspaces: Arc<dyn Workspaces>,
        traits: ClientTraits,
        settings: Settings,
        home: Option<PathBuf>,
    ) -> Rc<Self> {
        Rc::new(Self {
            peer,
            workspaces,
            traits,
            home,
            settings: Cell::new(settings),
            folders: RefCell::default(),
            documents: RefCell::default(),
            rules: RuleList::default(),
            orders: RefCell::default(),
            fork_texts: RefCell::default(),
            left: LeftFiles::default(),
            refreshes: Refreshes::default(),
            questions: Questions::default(),
            numbers: Cell::new(0),
            is_initialized: Cell::new(false),
            warned: RefCell::default(),
        })
    }

    /// Whether this is the first `initialized` of the client.
    pub(super) fn is_first_time(&self) -> bool {
        !self.is_initialized.replace(true)
    }

    /// Warns once about each linter that is configured and cannot run.
    pub(super) fn warn_unavailable(&self, found: &Found) {
        for it in &found.unavailable {
            if self.warned.borrow_mut().insert(it.linter.clone()) {
                let told = not_asked(std::slice::from_ref(it)).concat();
                self.peer.log(MessageType::Info, format!("not asked: {told}"));
            }
        }
    }

    /// A number that is unique in this session.
    pub(super) fn next_number(&self) -> u64 {
        self.numbers.replace(self.numbers.get() + 1)
    }

    pub(super) fn settings(&self) -> Settings {
        self.settings.get()
    }

    /// Replaces the settings. Returns whether they differ from those before.
    pub(super) fn set_settings(&self, settings: Settings) -> bool {
        self.settings.replace(settings) != settings
    }

    pub(super) fn folders(&self) -> Vec<Rc<Folder>> {
        self.folders.borrow().iter().map(|it| Rc::clone(&it.folder)).collect()
    }

    /// Folders that the editor itself has open.
    pub(super) fn named_folders(&self) -> Vec<Rc<Folder>> {
        let folders = self.folders.borrow();
        folders.iter().filter(|it| !it.named.is_empty()).map(|it| Rc::clone(&it.folder)).collect()
    }

    /// Serves the folder with this root, unless it is served already. `named` is the URI by which the editor opened it.
    pub(super) fn add_folder(self: &Rc<Self>, root: PathBuf, named: Option<&str>) -> Rc<Folder> {
        let mut folders = self.folders.borrow_mut();
        let named = named.map(str::to_owned);
        if let Some(known) = folders.iter_mut().find(|it| it.folder.root == root) {
            known.named.extend(named);
            return Rc::clone(&known.folder);
        }
        let folder = Folder::new(&root, Arc::clone(&self.workspaces));
        let server = Rc::downgrade(self);
        let on_event = move |folder: &Rc<Folder>, event| {
            if let Some(server) = server.upgrade() {
                server.on_event(folder, event);
            }
        };
        let editor = Editor { name: self.traits.name.clone(), takes_commits: self.traits.apply_edit };
        let task = spawn_local(Rc::clone(&folder).serve(editor, on_event)).abort_handle();
        folders.push(OpenFolder { folder: Rc::clone(&folder), named: named.into_iter().collect(), task });
        folder
    }

    /// Closes a folder of the editor. Its workspace is served on while the editor has another folder or a document in it.
    pub(super) fn remove_folder(&self, named: &str) {
        let mut folders = self.folders.borrow_mut();
        for it in folders.iter_mut() {
            it.named.retain(|it| it != named);
        }
        let documents = self.documents.borrow();
        let is_used = |it: &OpenFolder| {
            let of_document =
                |document: &Rc<Document>| document.folder().is_some_and(|of| Rc::ptr_eq(of, &it.folder));
            !it.named.is_empty() || documents.values().any(of_document)
        };
        folders.retain(|it| {
            let is_used = is_used(it);
            if !is_used {
                it.task.abort();
            }
            is_used
        });
    }

    /// The innermost folder that holds a document, if one does.
    pub(super) fn folder_of(&self, uri: &str) -> Option<(Rc<Folder>, WorkspacePath)> {
        let folders = self.folders();
        let holding = folders.into_iter().filter_map(|it| it.path(uri).map(|path| (it, path)));
        holding.max_by_key(|(folder, _)| folder.root.as_os_str().len())
    }

    /// The folder whose workspace a branch belongs to: the id of a branch begins with that of its workspace.
    pub(super) fn folder_of_branch(&self, branch: &str) -> Option<(Rc<Folder>, Connection)> {
        let workspace = branch.split_once('.')?.0;
        let connected = self.folders().into_iter().filter_map(|it| it.connection().map(|at| (it, at)));
        connected.into_iter().find(|(_, at)| at.workspace == workspace)
    }

    pub(super) fn documents(&self) -> Vec<Rc<Document>> {
        self.documents.borrow().values().cloned().collect()
    }

    pub(super) fn document(&self, uri: &str) -> Option<Rc<Document>> {
        self.documents.borrow().get(uri).cloned()
    }

    /// The open document, or the error for a request about one that is not open.
    pub(super) fn expect_document(&self, uri: &str) -> Result<Rc<Document>, Failure> {
        self.document(uri).ok_or_else(|| Failure::invalid_params(format!("the document {uri} is not open")))
    }

    /// The open document of a file of the base, by the file's own path rather than by a link.
    pub(super) fn document_at(&self, folder: &Rc<Folder>, path: &str) -> Option<Rc<Document>> {
        let all = self.documents_at(folder, path).into_iter();
        all.min_by_key(|it| it.path().is_none_or(|it| it.as_str() != path))
    }

    /// The open documents of a file of the base, those by links as well.
    pub(super) fn documents_at(&self, folder: &Rc<Folder>, path: &str) -> Vec<Rc<Document>> {
        self.documents.borrow().values().filter(|it| it.shows(folder, path)).cloned().collect()
    }

    pub(super) fn add_document(&self, document: Rc<Document>) {
        self.documents.borrow_mut().insert(document.uri.clone(), document);
    }

    pub(super) fn remove_document(&self, uri: &str) -> Option<Rc<Document>> {
        self.documents.borrow_mut().remove(uri)
    }

    /// Runs work on one document after earlier work on it has finished. Dropping the handle does not cancel it.
    pub(super) fn in_order<T: 'static>(
        &self,
        uri: &str,
        work: impl Future<Output = T> + 'static,
    ) -> JoinHandle<T> {
        let mut orders = self.orders.borrow_mut();
        orders.retain(|_, it| Rc::strong_count(it) > 1);
        let order = Rc::clone(orders.entry(uri.to_owned()).or_default());
        spawn_local(async move {
            let _turn = order.lock().await;
            work.await
        })
    }

    /// Waits until the daemon has the texts that the documents have at this call, and has closed those that were closed before.
    pub(super) fn until_sent(&self) -> impl Future<Output = ()> + use<> {
        let sent: Vec<_> = self.documents().iter().map(|it| it.until_sent()).collect();
        let begun: Vec<_> = self.orders.borrow().keys().cloned().collect();
        let begun: Vec<_> = begun.iter().map(|it| self.in_order(it, async {})).collect();
        async move {
            for it in sent {
                it.await;
            }
            for it in begun {
                let _ended = it.await;
            }
        }
    }

    /// Remembers the texts of open documents as the ones that a branch of the base shows, but for files that it keeps edits of.
    pub(super) fn remember_texts_but(&self, branch: &str, folder: &Rc<Folder>, edited: &[WorkspacePath]) {
        let kept: Vec<_> = edited.iter().flat_map(|it| self.documents_at(folder, it.as_str())).collect();
        let shown = self.documents().into_iter().filter(|it| !kept.iter().any(|kept| Rc::ptr_eq(kept, it)));
        let mut all = self.fork_texts.borrow_mut();
        all.entry(branch.to_owned()).or_default().extend(shown.map(|it| (it.uri.clone(), it.state().text)));
    }

    pub(super) fn remember_text(&self, branch: &str, uri: &str, text: Text) {
        self.fork_texts.borrow_mut().entry(branch.to_owned()).or_default().insert(uri.to_owned(), text);
    }

    pub(super) fn forget_branch(&self, branch: &str) {
        self.fork_texts.borrow_mut().remove(branch);
    }

    /// The text of a document that the branch was made from, if the document was open then.
    pub(super) fn text_at_fork(&self, branch: &str, uri: &str) -> Option<Text> {
        self.fork_texts.borrow().get(branch)?.get(uri).cloned()
    }

    /// Checks all open documents again, after a change of settings.
    pub(super) fn check_again(&self) {
        self.documents().iter().for_each(|it| it.touch());
    }

    /// Closes all documents and folders, and ends their tasks.
    pub(super) fn close(&self) {
        self.documents.borrow_mut().clear();
        for it in self.folders.borrow_mut().drain(..) {
            it.task.abort();
        }
    }

    pub(super) fn log(&self, message: impl Into<String>) {
        self.peer.log(MessageType::Log, message);
    }
}
