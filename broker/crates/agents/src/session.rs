//! What is remembered of an agent between its calls: the name of its branch, and the edits that were refused.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use overlay::{ContentHash, WorkspacePath};

/// One agent's session in one workspace.
pub(crate) struct Session {
    /// The name of its own branch.
    branch: String,
    refused: Mutex<BTreeMap<WorkspacePath, String>>,
    /// Counts uses of all sessions.
    used: AtomicU64,
    /// Held while its branch is forked, so that two first edits at once share one.
    pub(crate) forking: tokio::sync::Mutex<()>,
}

/// Number of files of which the last refused edit is kept.
const REFUSED: usize = 32;

/// Hexadecimal digits in the name of a branch.
const DIGITS: usize = 10;

static USES: AtomicU64 = AtomicU64::new(0);

impl Session {
    pub(crate) fn new(name: &str) -> Self {
        let digest = ContentHash::of(name.as_bytes()).to_string();
        Self {
            branch: format!("agent-{}", &digest[..DIGITS]),
            refused: Mutex::default(),
            used: AtomicU64::new(0),
            forking: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn branch(&self) -> &str {
        &self.branch
    }

    pub(crate) fn touch(&self) {
        self.used.store(USES.fetch_add(1, Relaxed), Relaxed);
    }

    pub(crate) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// Remembers an edit that was refused, for `reapply`.
    pub(crate) fn refuse(&self, path: &WorkspacePath, edit: &str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= REFUSED {
            refused.pop_first();
        }
        refused.insert(path.clone(), edit.to_owned());
    }

    pub(crate) fn refused(&self, path: &WorkspacePath) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    pub(crate) fn settle(&self, path: &WorkspacePath) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }
}
