//! Files that are asked about because they use those that are checked. Only linters that know of such files, which
//! look beyond a file, are asked about them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, OnceLock},
};

use lint::{Linter, Unit};
use overlay::{View, WorkspacePath};
use parking_lot::Mutex;

use super::{Files, SharedLinter, Wanted, is_file};

/// Dependents of the wanted files, shared by the checks of a comparison: they are found in one view only, also for the check
/// of another, so that the two can be compared.
pub struct Dependents {
    view: Arc<dyn View>,
    wanted: Wanted,
    gone: Vec<WorkspacePath>,
    within: Vec<WorkspacePath>,
    /// Paths that are wanted or gone.
    used: OnceLock<Vec<WorkspacePath>>,
    /// By the linter's name.
    found: Mutex<HashMap<String, Arc<[WorkspacePath]>>>,
}

impl Dependents {
    /// Files that use those which are `wanted` of `view`, or what is `gone` from it: those at and below `within`, or
    /// anywhere.
    pub fn new(
        view: Arc<dyn View>,
        wanted: Wanted,
        gone: Vec<WorkspacePath>,
        within: Vec<WorkspacePath>,
    ) -> Self {
        Self { view, wanted, gone, within, used: OnceLock::new(), found: Mutex::default() }
    }

    /// Adds those that `view` shows.
    pub fn add_to(&self, files: &mut Files, linters: &[SharedLinter], view: &dyn View) {
        let of_any: BTreeSet<_> = linters.iter().flat_map(|it| self.of(&**it).to_vec()).collect();
        let known: BTreeSet<_> = files.units.iter().map(|it| &it.path).collect();
        let is_new = |it: &WorkspacePath| !known.contains(it) && self.is_within(it) && is_file(view, it);
        let new: BTreeSet<_> = of_any.into_iter().filter(is_new).collect();
        let unit = |path: &WorkspacePath| Unit { path: path.clone(), named: WorkspacePath::root() };
        files.units.extend(new.iter().map(unit));
        files.units.sort_by(|a, b| a.path.cmp(&b.path));
        files.dependents = new;
    }

    fn of(&self, linter: &dyn Linter) -> Arc<[WorkspacePath]> {
        let name = &linter.identity().name;
        let found = || self.found.lock();
        if let Some(known) = found().get(name) {
            return Arc::clone(known);
        }
        let of_linter: Arc<[_]> = linter.dependents(&self.view, self.used()).into();
        found().insert(name.clone(), Arc::clone(&of_linter));
        of_linter
    }

    fn is_within(&self, path: &WorkspacePath) -> bool {
        self.within.is_empty() || self.within.iter().any(|it| path.starts_with(it))
    }

    fn used(&self) -> &[WorkspacePath] {
        self.used.get_or_init(|| {
            let wanted = self.wanted.files(&*self.view).units.into_iter().map(|it| it.path);
            wanted.chain(self.gone.iter().cloned()).collect()
        })
    }
}
