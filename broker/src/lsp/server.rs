//! What is held for one editor: its folders, its open documents and what it can do.
//!
//! Everything runs on one thread, so that nothing changes between two waits.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    path::PathBuf,
    rc::Rc,
};

use gen_lsp_types::MessageType;
use overlay::WorkspacePath;
use tokio::{
    sync::Mutex,
    task::{JoinHandle, spawn_local},
};

use super::{
    checking::Found,
    client_traits::ClientTraits,
    commits::LeftFiles,
    document::{Document, Place},
    failure::Failure,
    folder::{Connection, Editor, Folder},
    link::Link,
    peer::Peer,
    refresh::Refreshes,
    rule_list::RuleList,
    settings::Settings,
    text::Text,
};

/// One editor.
pub(super) struct Server {
    pub(super) peer: Peer,
    pub(super) link: Rc<Link>,
    pub(super) traits: ClientTraits,
    pub(super) home: Option<PathBuf>,
    settings: Cell<Settings>,
    folders: RefCell<Vec<OpenFolder>>,
    documents: RefCell<HashMap<String, Rc<Document>>>,
    pub(super) rules: RuleList,
    orders: RefCell<HashMap<String, Rc<Mutex<()>>>>,
    /// Texts of open documents as they were when a branch was first heard of, by branch and document.
    at_forks: RefCell<HashMap<String, HashMap<String, Text>>>,
    /// What commits left to this editor.
    pub(super) left: LeftFiles,
    pub(super) refreshes: Refreshes,
    numbers: Cell<u64>,
    is_initialized: Cell<bool>,
    /// Linters of which was told that they are missing.
    missed: RefCell<HashSet<String>>,
}

/// A folder, and the URIs of the editor's folders that it holds; none if only documents brought it.
struct OpenFolder {
    folder: Rc<Folder>,
    named: Vec<String>,
    task: tokio::task::AbortHandle,
}

impl Server {
    pub(super) fn new(
        peer: Peer,
        link: Rc<Link>,
        traits: ClientTraits,
        settings: Settings,
        home: Option<PathBuf>,
    ) -> Rc<Self> {
        Rc::new(Self {
            peer,
            link,
            traits,
            home,
            settings: Cell::new(settings),
            folders: RefCell::default(),
            documents: RefCell::default(),
            rules: RuleList::default(),
            orders: RefCell::default(),
            at_forks: RefCell::default(),
            left: LeftFiles::default(),
            refreshes: Refreshes::default(),
            numbers: Cell::new(0),
            is_initialized: Cell::new(false),
            missed: RefCell::default(),
        })
    }

    /// Whether the client says for the first time that it is ready.
    pub(super) fn is_first_time(&self) -> bool {
        !self.is_initialized.replace(true)
    }

    /// Tells once of each linter that would be asked, were it there.
    pub(super) fn tell_missed(&self, found: &Found) {
        for it in &found.unavailable {
            if self.missed.borrow_mut().insert(it.linter.clone()) {
                self.peer.show(MessageType::Warning, format!("{} was not asked: {}", it.linter, it.reason));
            }
        }
    }

    /// One that was not given before.
    pub(super) fn next_number(&self) -> u64 {
        self.numbers.replace(self.numbers.get() + 1)
    }

    pub(super) fn settings(&self) -> Settings {
        self.settings.get()
    }

    /// Takes new settings; says whether they are others.
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

    /// The folder with this root, which is served from now on; `named` is what the editor calls it.
    pub(super) fn add_folder(self: &Rc<Self>, root: PathBuf, named: Option<&str>) -> Rc<Folder> {
        let mut folders = self.folders.borrow_mut();
        let named = named.map(str::to_owned);
        if let Some(known) = folders.iter_mut().find(|it| it.folder.root == root) {
            known.named.extend(named);
            return Rc::clone(&known.folder);
        }
        let folder = Folder::new(&root, Rc::clone(&self.link));
        let server = Rc::downgrade(self);
        let tell = move |folder: &Rc<Folder>, event| {
            if let Some(server) = server.upgrade() {
                server.on_event(folder, event);
            }
        };
        let editor = Editor { name: self.traits.name.clone(), takes_commits: self.traits.apply_edit };
        let task = spawn_local(Rc::clone(&folder).serve(editor, tell)).abort_handle();
        folders.push(OpenFolder { folder: Rc::clone(&folder), named: named.into_iter().collect(), task });
        folder
    }

    /// The editor has closed a folder; it is served no longer unless another one is in it or a document is open.
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

    /// The folder whose workspace a branch belongs to, as its handle says.
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

    /// The document, or why there is none.
    pub(super) fn expect_document(&self, uri: &str) -> Result<Rc<Document>, Failure> {
        self.document(uri).ok_or_else(|| Failure::invalid_params(format!("the document {uri} is not open")))
    }

    /// The open document of a file of the base.
    pub(super) fn document_at(&self, folder: &Rc<Folder>, path: &str) -> Option<Rc<Document>> {
        let is_there = |place: &Place| matches!(place, Place::Base(of, at) if Rc::ptr_eq(of, folder) && at.as_str() == path);
        self.documents.borrow().values().find(|it| is_there(&it.place)).cloned()
    }

    pub(super) fn add_document(&self, document: Rc<Document>) {
        self.documents.borrow_mut().insert(document.uri.clone(), document);
    }

    pub(super) fn remove_document(&self, uri: &str) -> Option<Rc<Document>> {
        self.documents.borrow_mut().remove(uri)
    }

    /// Does things about one document one after another, each to its end, whatever becomes of the one who waits for it.
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

    /// Keeps what a branch was made of, as far as it is open here.
    pub(super) fn remember_texts(&self, branch: &str) {
        let texts = || self.documents().iter().map(|it| (it.uri.clone(), it.state().text)).collect();
        self.at_forks.borrow_mut().entry(branch.to_owned()).or_insert_with(texts);
    }

    pub(super) fn forget_branch(&self, branch: &str) {
        self.at_forks.borrow_mut().remove(branch);
    }

    /// The text of a document when the branch was first heard of.
    pub(super) fn text_at_fork(&self, branch: &str, uri: &str) -> Option<Text> {
        self.at_forks.borrow().get(branch)?.get(uri).cloned()
    }

    /// Checks all open documents again, since it was changed what is asked about them.
    pub(super) fn check_again(&self) {
        self.documents().iter().for_each(|it| it.touch());
    }

    /// Ends all that runs for the editor.
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
