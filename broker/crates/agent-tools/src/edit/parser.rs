//! Language of an edited file, and its parser.

use std::{
    cell::RefCell,
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use overlay::{ContentHash, WorkspacePath};
use syntax::{Flags, Language, Tree, WORDS};

use super::{file_kind::FileKind, toolkit::Toolkit};

/// Time after which a text counts as one without a grammar.
const PARSE_TIME: Duration = Duration::from_secs(5);

/// Trees of one edit that are kept: of the file before and after it, and of rivals.
const KEPT: usize = 4;

/// The language of a file, and what parses it.
pub(super) struct Parser<'a> {
    pub(super) language: Option<Language>,
    pub(super) kind: FileKind,
    pub(super) tools: Toolkit<'a>,
    recent: RefCell<VecDeque<(ContentHash, Arc<Tree>)>>,
    /// The last text that was looked at for errors, and whether it has none.
    fitting: RefCell<Option<(ContentHash, bool)>>,
}

impl<'a> Parser<'a> {
    pub(super) fn of(path: &WorkspacePath, before: &str, tools: Toolkit<'a>) -> Self {
        let language = Language::of(path);
        let mut parser = Self {
            language,
            kind: FileKind::of(path),
            tools,
            recent: RefCell::default(),
            fitting: RefCell::default(),
        };
        // A header may be of C or C++.
        if parser.is(&["c"]) && parser.tree(before).is_some_and(|it| it.has_error()) {
            parser =
                Self { language: Language::named("cpp").or(language), recent: RefCell::default(), ..parser };
        }
        parser
    }

    /// The tree of a text; `None` where there is no grammar.
    pub(super) fn tree(&self, text: &str) -> Option<Arc<Tree>> {
        let language = self.language?;
        let hash = ContentHash::of(text.as_bytes());
        if let Some((_, tree)) = self.recent.borrow().iter().find(|it| it.0 == hash) {
            return Some(Arc::clone(tree));
        }
        let (bytes, start) = (Bytes::copy_from_slice(text.as_bytes()), Instant::now());
        let is_over = || start.elapsed() > PARSE_TIME || (self.tools.cancel)();
        let tree = self.tools.trees.tree(language, bytes, hash, &is_over).ok()?;
        let mut recent = self.recent.borrow_mut();
        recent.push_back((hash, Arc::clone(&tree)));
        if recent.len() > KEPT {
            // The first one is of the file before.
            recent.remove(1);
        }
        Some(tree)
    }

    /// Whether a text fits the grammar, if there is one.
    pub(super) fn fits(&self, text: &str) -> bool {
        let hash = ContentHash::of(text.as_bytes());
        if let Some((_, fits)) = self.fitting.borrow().filter(|it| it.0 == hash) {
            return fits;
        }
        let known = self.recent.borrow().front().map(|it| Arc::clone(&it.1));
        let start = Instant::now();
        let is_over = || start.elapsed() > PARSE_TIME || (self.tools.cancel)();
        let fits = known.is_some_and(|it| it.fits(text.as_bytes(), &is_over))
            || self.tree(text).is_some_and(|it| !it.has_error());
        self.fitting.replace(Some((hash, fits)));
        fits
    }

    pub(super) fn is(&self, names: &[&str]) -> bool {
        self.language.is_some_and(|it| names.contains(&it.name()))
    }

    /// Documents of keys and values.
    pub(super) fn is_data(&self) -> bool {
        self.is(&["json", "yaml", "toml", "xml"])
    }

    /// Whether a block ends where its indentation does, so that nothing shows that it was cut short.
    pub(super) fn ends_by_indentation(&self) -> bool {
        self.kind != FileKind::Code || self.is(&["python", "yaml", "nix"])
    }

    /// Whether several functions of one name may differ in their parameters.
    pub(super) fn has_overloads(&self) -> bool {
        self.is(&["java", "csharp", "cpp", "kotlin", "swift", "typescript", "tsx", "scala", "elixir"])
    }

    /// Whether a function may be the value of a constant that has its name.
    pub(super) fn holds_functions(&self) -> bool {
        !self.is(&["java", "csharp", "c", "cpp", "rust", "go", "kotlin", "swift"])
    }

    /// Whether members stand in the block of a type, so that one that stands alone is no text of the language.
    pub(super) fn wraps_members(&self) -> bool {
        self.is(&[
            "java",
            "csharp",
            "cpp",
            "typescript",
            "tsx",
            "javascript",
            "php",
            "swift",
            "kotlin",
            "dart",
        ])
    }
}

/// Places in a tree that its grammar has no place for, as bytes.
pub(super) fn errors(tree: &Tree) -> Vec<usize> {
    if !tree.has_error() {
        return Vec::new();
    }
    let table = tree.table();
    let nodes = table.chunks_exact(WORDS).filter(|it| it[1] & (Flags::ERROR | Flags::MISSING) != 0);
    nodes.map(|it| it[2] as usize).collect()
}
