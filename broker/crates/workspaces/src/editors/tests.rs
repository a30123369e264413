//! Three editors and a client without a name against a plain model: each text has a rank, and the highest is shown.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    task::{Context, Poll, Waker},
};

use overlay::{BaseOptions, ContentHash, View as _};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::workspace_events::{BufferShown, EditorText, WorkspaceEvent};

const EDITORS: usize = 3;

/// Paths with the files that they are of: the last is a link.
const PATHS: [(&str, &str); 3] = [("a", "a"), ("b", "b"), ("link", "a")];

/// An editor by its number, or the client without a name.
type Who = Option<usize>;

#[derive(Debug, Clone)]
enum Step {
    Enter(usize),
    Set {
        who: Who,
        path: usize,
        text: u8,
        is_opened: bool,
    },
    Close {
        who: Who,
        path: usize,
    },
    /// Takes the events that wait.
    Listen(usize),
    Leave(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let editor = || 0..EDITORS;
    let who = || prop_oneof![5 => (0..EDITORS).prop_map(Some), 1 => Just(None)];
    let path = || 0..PATHS.len();
    prop_oneof![
        2 => editor().prop_map(Step::Enter),
        8 => (who(), path(), 0..3_u8, any::<bool>())
            .prop_map(|(who, path, text, is_opened)| Step::Set { who, path, text, is_opened }),
        4 => (who(), path()).prop_map(|(who, path)| Step::Close { who, path }),
        2 => editor().prop_map(Step::Listen),
        1 => editor().prop_map(Step::Leave),
    ]
}

/// A file that is open.
#[derive(Debug, Clone)]
struct Open {
    who: Who,
    file: &'static str,
    paths: BTreeSet<usize>,
    /// `None` if it is opened with what the disk has.
    text: Option<String>,
    /// The time of the last key; before all of these for one that was only opened, the earlier the higher.
    rank: i64,
}

/// Whose text is shown of each file, and which.
type Shown = BTreeMap<&'static str, (Who, String)>;

/// Updates that an editor was not sent yet: by file, whose text is shown, and which; `None` for the disk's.
type Untold = BTreeMap<&'static str, Option<(Who, String)>>;

#[derive(Default)]
struct Model {
    open: Vec<Open>,
    time: i64,
    /// By each editor that is there.
    waiting: BTreeMap<usize, Untold>,
}

impl Model {
    fn shown(&self) -> Shown {
        let mut by_rank: Vec<_> = self.open.iter().collect();
        by_rank.sort_by_key(|it| it.rank);
        by_rank.into_iter().filter_map(|it| Some((it.file, (it.who, it.text.clone()?)))).collect()
    }

    fn is_there(&self, who: Who) -> bool {
        who.is_none_or(|it| self.waiting.contains_key(&it))
    }

    fn set(&mut self, who: Who, path: usize, text: String, is_opened: bool) {
        self.time += 1;
        let file = PATHS[path].1;
        let rank = if is_opened { -self.time } else { self.time };
        let text = Some(text).filter(|it| !is_opened || it != "disk");
        match self.open.iter_mut().find(|it| it.who == who && it.file == file) {
            Some(own) => {
                own.paths.insert(path);
                let keeps_rank = is_opened && own.text.is_some();
                own.rank = if keeps_rank { own.rank } else { rank };
                own.text = text;
            }
            None => self.open.push(Open { who, file, paths: [path].into(), text, rank }),
        }
    }

    fn close(&mut self, who: Who, path: usize) -> bool {
        let mut of_path = self.open.iter_mut().filter(|it| it.who == who);
        let was_open = of_path.any(|it| it.paths.remove(&path));
        self.open.retain(|it| !it.paths.is_empty());
        was_open
    }

    /// All but the owner are told of each text that is another now.
    fn tell(&mut self, before: &Shown) {
        let after = self.shown();
        for file in ["a", "b"].into_iter().filter(|it| before.get(it) != after.get(it)) {
            for (editor, waiting) in &mut self.waiting {
                match after.get(file) {
                    Some((Some(owner), _)) if owner == editor => waiting.remove(file),
                    shown => waiting.insert(file, shown.cloned()),
                };
            }
        }
    }
}

struct World {
    _folder: TempDir,
    base: Base,
    editors: Arc<Editors>,
    sessions: BTreeMap<usize, EditorSession>,
    /// Handles of those that have left.
    gone: EditorId,
    model: Model,
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn text_of(text: u8) -> String {
    // One of the texts is the disk's.
    ["disk", "one", "two"][usize::from(text)].to_owned()
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a", "b"] {
            std::fs::write(folder.path().join(file), "disk").unwrap();
        }
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
        let editors = Editors::new(base.clone());
        let gone = EditorId("gone".into());
        let model = Model::default();
        Self { _folder: folder, base, editors, sessions: BTreeMap::new(), gone, model }
    }

    fn id(&self, who: Who) -> Option<EditorId> {
        let id = |it: &usize| self.sessions.get(it).map_or_else(|| self.gone.clone(), |it| it.id.clone());
        who.as_ref().map(id)
    }

    fn step(&mut self, step: Step) {
        let before = self.model.shown();
        match step {
            Step::Enter(editor) => {
                if !self.sessions.contains_key(&editor) {
                    self.sessions.insert(editor, self.editors.enter(editor.to_string(), false).unwrap());
                    self.model.waiting.insert(editor, BTreeMap::new());
                }
            }
            Step::Set { who, path: at, text, is_opened } => {
                let (editor, path) = (self.id(who), path(PATHS[at].0));
                let bytes = text_of(text).into();
                let set = self.editors.set(BufferText { editor, path, bytes, is_opened });
                assert_eq!(set.is_ok(), self.model.is_there(who), "{:?}", set.err());
                if let Ok(set) = set {
                    self.model.set(who, at, text_of(text), is_opened);
                    let shown = self.model.shown();
                    assert_eq!(set.is_hidden, shown.get(PATHS[at].1).is_some_and(|it| it.0 != who));
                }
            }
            Step::Close { who, path: at } => {
                let closed = self.editors.close(self.id(who).as_ref(), &path(PATHS[at].0));
                let is_there = self.model.is_there(who);
                assert_eq!(closed.ok(), is_there.then(|| self.model.close(who, at)));
            }
            Step::Listen(editor) => self.listen(editor),
            Step::Leave(editor) => {
                if let Some(session) = self.sessions.remove(&editor) {
                    drop(session);
                    self.model.open.retain(|it| it.who != Some(editor));
                    self.model.waiting.remove(&editor);
                }
            }
        }
        self.model.tell(&before);
        self.check();
    }

    fn check(&self) {
        let shown = self.model.shown();
        for (name, file) in PATHS {
            let want = shown.get(file).map_or("disk", |(_, text)| text.as_str());
            assert_eq!(self.base.open(&path(name)).unwrap(), want);
        }
        let hash = |text: &String| ContentHash::of(text.as_bytes());
        let want: Vec<_> = shown.iter().map(|(file, (_, text))| (path(file), hash(text))).collect();
        assert_eq!(self.base.buffers(), want);
    }

    fn listen(&mut self, editor: usize) {
        let Some(session) = self.sessions.get(&editor) else { return };
        let waiting = self.model.waiting.get_mut(&editor).unwrap();
        while let Some(event) = waits(&session.watcher) {
            let file = PATHS.iter().find(|it| path(it.0) == event.path).unwrap().1;
            let want = waiting.remove(file).unwrap_or_else(|| panic!("{event:?} is not to be told"));
            let want = want.map(|(who, text)| EditorText {
                client_name: who.map_or("an editor".to_owned(), |it| it.to_string()),
                content: ContentHash::of(text.as_bytes()),
            });
            assert_eq!(event.shown, want);
        }
        assert!(waiting.is_empty(), "{editor} was not told of {waiting:?}");
    }
}

/// The next event that waits.
fn waits(watcher: &Watcher) -> Option<BufferShown> {
    let next = pin!(watcher.queue.next());
    match next.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(WorkspaceEvent::Buffer(it))) => Some(it),
        Poll::Ready(other) => panic!("{other:?}"),
        Poll::Pending => None,
    }
}

proptest! {
    #[test]
    fn the_text_that_was_typed_last_is_shown_and_told(steps in prop::collection::vec(step(), 0..80)) {
        let mut world = World::new();
        (0..EDITORS).for_each(|it| world.step(Step::Enter(it)));
        steps.into_iter().for_each(|it| world.step(it));
        (0..EDITORS).for_each(|it| world.step(Step::Listen(it)));
        (0..EDITORS).for_each(|it| world.step(Step::Leave(it)));
        for (path, _) in PATHS {
            world.editors.close(None, &self::path(path)).unwrap();
        }
        prop_assert!(world.base.buffers().is_empty());
    }
}
