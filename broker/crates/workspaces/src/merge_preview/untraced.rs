//! Linters whose reads are not known: whether a branch changes what their answers may rest on.
//!
//! That is a file that the linter is asked about, or anything that its context names: two views with one context get the same
//! answer about the same text. A linter without a context may have read anything.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use check_engine::{SharedLinter, pipeline::Request};
use overlay::{ContentHash, Snapshot, View, WorkspacePath};
use parking_lot::Mutex;

use super::DaemonError;

/// Contexts of linters in the common ancestor of all branches.
pub(super) struct Contexts {
    ancestor: Arc<dyn View>,
    /// By the linter's digest.
    known: Mutex<HashMap<ContentHash, Option<ContentHash>>>,
}

impl Contexts {
    pub(super) fn new(ancestor: &Snapshot) -> Self {
        Self { ancestor: Arc::new(ancestor.clone()), known: Mutex::default() }
    }

    /// The linters whose answers may be others in the request's view, which differs from the ancestor at `writes`. Blocks.
    pub(super) fn changed(
        &self,
        request: &Request,
        writes: &[WorkspacePath],
    ) -> Result<BTreeSet<String>, DaemonError> {
        if writes.is_empty() {
            return Ok(BTreeSet::new());
        }
        let files = request.wanted.files(&*request.view);
        let router = request.lineup.route(&request.view, &files)?;
        let name = |it: &SharedLinter| it.identity().name.clone();
        let of_file = |it: &WorkspacePath| router.linters_for(&*request.view, it);
        let asked: BTreeSet<_> = writes.iter().flat_map(of_file).map(name).collect();
        let untraced = router.linters().iter().filter(|it| !it.profile().is_traced());
        let changed = untraced.filter(|it| {
            asked.contains(&it.identity().name) || {
                let now = it.context(&request.view);
                now.is_none() || now != self.before(it)
            }
        });
        Ok(changed.map(name).collect())
    }

    fn before(&self, linter: &SharedLinter) -> Option<ContentHash> {
        let digest = linter.identity().digest;
        if let Some(known) = self.known.lock().get(&digest) {
            return *known;
        }
        let context = linter.context(&self.ancestor);
        self.known.lock().insert(digest, context);
        context
    }
}
