//! Routing of files to linters.

use std::{collections::HashMap, ops::Range, sync::Arc};

use lint::{Linter, Scope, Unit};
use overlay::{View, WorkspacePath};

use super::{
    Files,
    coverage::Others,
    finding::{Incomplete, Level, Subject, Unavailable},
    interest::{Filter, Globs, RoutedFile},
};

/// A linter as the engine holds it.
pub type SharedLinter = Arc<dyn Linter>;

/// A linter that would be asked, were it there, or one that is asked by name and may have no files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingLinter {
    pub linter: String,
    /// The files that it would be asked about, as in an [`Interest`].
    pub globs: Vec<String>,
    pub reason: String,
    pub need: Need,
    /// File, or table of a file, by which the project asks for the linter.
    pub marker: Option<String>,
}

/// Reason for which a linter that is not asked is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The linter might have found more in its files; the answer is complete without it.
    Optional,
    /// The linter is named and not available: the answer is incomplete without it.
    Missing,
    /// The linter is named and available, but not asked about its files.
    PassedOver,
    /// The linter is named and asked; at most files for it are missing.
    Asked,
}

/// The reason of a linter that is there, is named, and has nothing to look at.
const NO_FILES: &str = "there are no files for it";

impl MissingLinter {
    fn is_absent(&self) -> bool {
        matches!(self.need, Need::Optional | Need::Missing)
    }

    /// Returns what is reported of the linter, if it is missed. `matches`: there are files for it; `counts_alone`: the question
    /// is about all files, or about none that another linter is asked about.
    fn among(&self, matches: bool, counts_alone: bool) -> Option<Self> {
        match (self.need, matches) {
            (Need::Optional | Need::Missing | Need::PassedOver, true) => Some(self.clone()),
            (Need::Missing, false) => counts_alone.then(|| self.clone()),
            (Need::PassedOver | Need::Asked, false) => counts_alone.then(|| Self {
                reason: NO_FILES.to_owned(),
                need: Need::Optional,
                ..self.clone()
            }),
            (Need::Asked, true) | (Need::Optional, false) => None,
        }
    }

    /// Returns `Ok` if the answer is incomplete without the linter, and `Err` if it is complete.
    pub fn sorted(self) -> Result<Incomplete, Unavailable> {
        if matches!(self.need, Need::Optional | Need::Asked) {
            return Err(Unavailable { linter: self.linter, marker: self.marker, reason: self.reason });
        }
        let linter = Some(self.linter.into());
        Ok(Incomplete { subject: Subject::Everything, linter, level: Level::Failed, reason: self.reason })
    }
}

/// Matches files with each linter's [`Interest`](lint::Interest).
///
/// Languages say what a linter is about; which files those are in is said by its globs, and of scripts without an
/// extension by their first lines. Those of linters that are missing are known by their globs alone.
#[derive(Clone)]
pub struct Router {
    linters: Vec<SharedLinter>,
    filters: Vec<Filter>,
    /// For each path that is not of the first, the group of linters that is asked about it.
    groups: HashMap<WorkspacePath, LinterGroup>,
    first: LinterGroup,
    missing: Vec<MissingLinter>,
    absent: Vec<Absent>,
    /// Compiled interests of the linters in `absent`, by their places.
    unseen: Vec<Filter>,
}

/// A linter that is not asked: it is missing, may not run, or nothing of it is selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// The files that it would be asked about, as in an [`Interest`](lint::Interest).
    pub globs: Vec<String>,
    pub interpreters: Vec<String>,
    /// Whether no other linter has a rule of the same name: a type checker.
    pub has_own_rules: bool,
}

/// Linters that are asked in the same way, those that are not asked then, and those that are missed.
#[derive(Debug, Clone, Default)]
struct LinterGroup {
    linters: Range<usize>,
    absent: Range<usize>,
    missing: Range<usize>,
}

/// A file, and the linters that would be asked about it. Their own configuration may still leave it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    pub path: WorkspacePath,
    pub linters: Vec<String>,
}

impl Router {
    pub fn new(linters: &[SharedLinter]) -> Self {
        Self {
            linters: linters.to_vec(),
            filters: linters.iter().map(|it| Filter::of(it.interest())).collect(),
            groups: HashMap::new(),
            first: LinterGroup { linters: 0..linters.len(), ..LinterGroup::default() },
            missing: Vec::new(),
            absent: Vec::new(),
            unseen: Vec::new(),
        }
    }

    /// Returns the router with the linters that are missing.
    #[must_use]
    pub fn with_missing(mut self, missing: Vec<MissingLinter>) -> Self {
        self.first.missing = 0..missing.len();
        self.missing = missing;
        self
    }

    /// Returns the router with the linters that are not asked.
    #[must_use]
    pub fn without(mut self, absent: Vec<Absent>) -> Self {
        self.unseen = absent.iter().map(|it| Filter::new(&it.globs, &it.interpreters)).collect();
        self.first.absent = 0..absent.len();
        self.absent = absent;
        self
    }

    /// Whether a linter is missing, and not only passed over.
    pub fn misses(&self, linter: &str) -> bool {
        self.missing.iter().any(|it| it.is_absent() && it.linter == linter)
    }

    /// Returns the router with these reasons why linters are missing in place of its own.
    #[must_use]
    pub fn explained(mut self, reasons: &[MissingLinter]) -> Self {
        for missing in self.missing.iter_mut().filter(|it| it.is_absent()) {
            if let Some(known) = reasons.iter().find(|it| it.linter == missing.linter) {
                missing.reason.clone_from(&known.reason);
                missing.marker = missing.marker.take().or_else(|| known.marker.clone());
            }
        }
        self
    }

    /// Returns the router without these linters for the files that come with each, as gitignore-style globs.
    #[must_use]
    pub fn replacing(mut self, replaced: &[(String, Vec<String>)]) -> Self {
        for (name, globs) in replaced {
            let linters =
                self.linters.iter().zip(&mut self.filters).filter(|(it, _)| it.identity().name == *name);
            linters.for_each(|(_, filter)| filter.leave_out(globs));
        }
        self
    }

    /// Whether the router has no linters at all: neither asked, missing nor absent.
    pub fn is_empty(&self) -> bool {
        self.linters.is_empty() && self.missing.is_empty() && self.absent.is_empty()
    }

    /// Whether some paths have a linter group of their own.
    pub(super) fn is_grouped(&self) -> bool {
        !self.groups.is_empty()
    }

    pub fn missing(&self) -> &[MissingLinter] {
        &self.missing
    }

    pub fn absent(&self) -> &[Absent] {
        &self.absent
    }

    /// The linters that are missed in a question about these files. `is_answered` says whether any linter is asked.
    ///
    /// A linter is missed for files that it would be asked about. That it has no files is only told if it has none in any
    /// group.
    pub(super) fn missing_for(&self, files: &Files, is_answered: bool) -> Vec<MissingLinter> {
        let counts_alone = files.is_whole || !files.units.is_empty() && !is_answered;
        let mut has_files = vec![false; self.missing.len()];
        let wants = self.wanted_by_missing();
        files.units.iter().flat_map(|it| wants(&it.path)).for_each(|it| has_files[it] = true);
        self.missing_where(|it| has_files[it], counts_alone)
    }

    /// Returns the same as [`missing_for`](Self::missing_for), given which of the missing linters have files.
    pub(super) fn missing_where(
        &self,
        has_files: impl Fn(usize) -> bool,
        counts_alone: bool,
    ) -> Vec<MissingLinter> {
        let (busy, idle): (Vec<_>, Vec<_>) = (0..self.missing.len()).partition(|it| has_files(*it));
        let is_busy = |linter: &str| busy.iter().any(|it| self.missing[*it].linter == linter);
        let idle = idle.into_iter().map(|it| &self.missing[it]).filter(|it| !is_busy(&it.linter));
        let idle = idle.filter_map(|it| it.among(false, counts_alone));
        let missed = busy.iter().filter_map(|it| self.missing[*it].among(true, counts_alone)).chain(idle);
        let mut each: Vec<MissingLinter> = Vec::new();
        for missing in missed {
            if !each.contains(&missing) {
                each.push(missing);
            }
        }
        each
    }

    /// Returns a function from a file to the missing linters that would be asked about it, by their places.
    pub(super) fn wanted_by_missing(&self) -> impl Fn(&WorkspacePath) -> std::vec::IntoIter<usize> {
        let globs: Vec<_> = self.missing.iter().map(|it| Globs::of_globs(&it.globs)).collect();
        move |path| {
            let places = self.group(path).missing.clone();
            places.filter(|it| globs[*it].want(path)).collect::<Vec<_>>().into_iter()
        }
    }

    /// Whether both routers ask the same linters, and have the same missing and absent ones, for all files alike.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let identities = |it: &Self| it.linters.iter().map(|it| it.identity().clone()).collect::<Vec<_>>();
        !self.is_grouped()
            && !other.is_grouped()
            && identities(self) == identities(other)
            && self.missing == other.missing
            && self.absent == other.absent
    }

    /// Merges routers, none of them grouped, into one that asks all their linters about every file.
    pub fn joined(routers: &[Arc<Self>]) -> Self {
        let mut all = Self::new(&[]);
        for router in routers {
            all.add(router);
        }
        all.first = LinterGroup {
            linters: 0..all.linters.len(),
            absent: 0..all.absent.len(),
            missing: 0..all.missing.len(),
        };
        all
    }

    /// Merges routers into one that asks the linters of each about the paths that come with it, and those of the first
    /// about all other paths.
    pub fn grouped(routers: Vec<(Arc<Self>, Vec<WorkspacePath>)>) -> Self {
        let mut all = Self::new(&[]);
        for (index, (router, paths)) in routers.into_iter().enumerate() {
            let group = all.add(&router);
            if index == 0 {
                all.first = group;
            } else {
                all.groups.extend(paths.into_iter().map(|it| (it, group.clone())));
            }
        }
        all
    }

    /// Appends the linters of another router and returns their places.
    fn add(&mut self, other: &Self) -> LinterGroup {
        let (linters, absent, missing) = (self.linters.len(), self.absent.len(), self.missing.len());
        self.linters.extend(other.linters.iter().cloned());
        self.filters.extend(other.filters.iter().cloned());
        self.absent.extend(other.absent.iter().cloned());
        self.unseen.extend(other.unseen.iter().cloned());
        self.missing.extend(other.missing.iter().cloned());
        LinterGroup {
            linters: linters..self.linters.len(),
            absent: absent..self.absent.len(),
            missing: missing..self.missing.len(),
        }
    }

    pub fn linters(&self) -> &[SharedLinter] {
        &self.linters
    }

    /// The names of the linters, by their places.
    pub fn names(&self) -> Arc<[String]> {
        self.linters.iter().map(|it| it.identity().name.clone()).collect()
    }

    /// The linters that want to see `path`.
    pub fn linters_for(&self, view: &dyn View, path: &WorkspacePath) -> Vec<&SharedLinter> {
        self.wanting(&RoutedFile::new(view, path)).map(|it| &self.linters[it]).collect()
    }

    /// The files that some linter wants to see.
    pub fn listing(&self, view: &dyn View, units: &[Unit]) -> Vec<ListedFile> {
        let file = |unit: &Unit| {
            let linters = self.linters_for(view, &unit.path);
            let linters: Vec<_> = linters.into_iter().map(|it| it.identity().name.clone()).collect();
            (!linters.is_empty()).then(|| ListedFile { path: unit.path.clone(), linters })
        };
        units.iter().filter_map(file).collect()
    }

    /// The linters that are to be asked about one of the files, by their places, and the others for such a file: those that
    /// are absent, and most if the file is only there for the sake of others.
    pub(super) fn asked(&self, files: &Files, file: &RoutedFile<'_>) -> (Box<[usize]>, Others) {
        let all: Box<[usize]> = self.wanting(file).collect();
        if !files.dependents.contains(file.path()) {
            return (all, self.absent_for(file));
        }
        // Others have nothing else to say of it.
        let asked: Box<[usize]> = all.iter().copied().filter(|it| self.is_project_wide(*it)).collect();
        let others = if asked.len() < all.len() { Others::Any } else { self.absent_for(file) };
        (asked, others)
    }

    fn is_project_wide(&self, linter: usize) -> bool {
        self.linters[linter].profile().scope == Scope::Project
    }

    /// Returns the same linters as [`linters_for`](Router::linters_for), by their places in [`linters`](Router::linters).
    fn wanting(&self, file: &RoutedFile<'_>) -> impl Iterator<Item = usize> {
        self.group(file.path()).linters.clone().filter(|it| self.filters[*it].wants(file))
    }

    fn group(&self, path: &WorkspacePath) -> &LinterGroup {
        self.groups.get(path).unwrap_or(&self.first)
    }

    fn absent_for(&self, file: &RoutedFile<'_>) -> Others {
        let absent = self.group(file.path()).absent.clone().filter(|it| self.unseen[*it].wants(file));
        let kind = |it: usize| if self.absent[it].has_own_rules { Others::WithOwnRules } else { Others::Any };
        absent.map(kind).max().unwrap_or(Others::None)
    }
}

#[cfg(test)]
mod tests {
    use lint_testkit::Scripted;
    use overlay::Memory;

    use super::*;

    #[test]
    fn knows_who_is_not_asked() {
        let path = |text: &str| WorkspacePath::new(text).unwrap();
        let linter: SharedLinter = Arc::new(Scripted::new("one", &["*.py"]));
        let router = |absent_all: &[(&str, bool)]| {
            let absent = |(glob, has_own_rules): &(&str, bool)| Absent {
                globs: vec![(*glob).to_owned()],
                interpreters: Vec::new(),
                has_own_rules: *has_own_rules,
            };
            Router::new(&[Arc::clone(&linter)]).without(absent_all.iter().map(absent).collect())
        };
        let of = |router: &Router, files: &Files, it: &str| {
            router.asked(files, &RoutedFile::new(&Memory::default(), &path(it))).1
        };
        let others = |router: &Router, it: &str| of(router, &Files::default(), it);
        assert_eq!(others(&router(&[]), "a.py"), Others::None);
        assert_eq!(others(&router(&[("*.rs", false)]), "a.py"), Others::None);
        assert_eq!(others(&router(&[("*.py", true)]), "a.py"), Others::WithOwnRules);
        assert_eq!(others(&router(&[("*.py", true), ("*", false)]), "a.py"), Others::Any);
        let routers = vec![
            (Arc::new(router(&[])), vec![]),
            (Arc::new(router(&[("*.py", false)])), vec![path("tests/a.py")]),
        ];
        let grouped = Router::grouped(routers);
        assert_eq!(["a.py", "tests/a.py"].map(|it| others(&grouped, it)), [Others::None, Others::Any]);
        let dependent = Files { dependents: [path("b.py")].into(), ..Files::default() };
        let router = router(&[]);
        let of_dependent = ["a.py", "b.py"].map(|it| of(&router, &dependent, it));
        assert_eq!(of_dependent, [Others::None, Others::Any]);
    }

    #[test]
    fn only_linters_of_project_scope_are_asked_about_dependents() {
        let path = WorkspacePath::new("b.py").unwrap();
        let asked_where = |profile| {
            let linter: SharedLinter = Arc::new(Scripted::new("one", &["*.py"]).works(profile));
            let dependent = Files { dependents: [path.clone()].into(), ..Files::default() };
            let view = Memory::default();
            let file = RoutedFile::new(&view, &path);
            Router::new(&[linter]).asked(&dependent, &file).0.len() == 1
        };
        use lint::{Profile, Reads, Runs};
        assert!(asked_where(Profile { scope: Scope::Project, ..Profile::LOCAL }));
        assert!(!asked_where(Profile { runs: Runs::Outside, reads: Reads::Context, ..Profile::LOCAL }));
    }

    #[test]
    fn a_linter_is_missed_for_the_files_of_its_group() {
        let path = |text: &str| WorkspacePath::new(text).unwrap();
        let missing = |linter: &str, glob: &str, need| MissingLinter {
            linter: linter.to_owned(),
            globs: vec![glob.to_owned()],
            reason: "it is not installed".to_owned(),
            need,
            marker: None,
        };
        let with_missing =
            |missing: &[MissingLinter]| Arc::new(Router::new(&[]).with_missing(missing.to_vec()));
        let missed = |missing: [&[MissingLinter]; 2], files: &[&str]| {
            let [first, of_tests] = missing.map(with_missing);
            let tests = files.iter().filter(|it| it.starts_with("tests/")).map(|it| path(it)).collect();
            let grouped = Router::grouped(vec![(first, vec![]), (of_tests, tests)]);
            let files = Files { is_whole: true, ..Files::of_named(files.iter().map(|it| path(it))) };
            let missed = grouped.missing_for(&files, true).into_iter();
            missed.map(|it| format!("{} {:?}: {}", it.linter, it.need, it.reason)).collect::<Vec<_>>()
        };
        let ty = |need| missing("ty", "*.py", need);
        let missing = ["ty Optional: it is not installed"];
        assert_eq!(missed([&[ty(Need::Optional)], &[ty(Need::Optional)]], &["a.py", "tests/b.py"]), missing);
        assert_eq!(missed([&[], &[ty(Need::Optional)]], &["a.py", "tests/b.md"]), [""; 0], "not there");
        assert_eq!(missed([&[], &[ty(Need::Optional)]], &["a.md", "tests/b.py"]), missing);
        let idle = ["ty Optional: there are no files for it"];
        assert_eq!(missed([&[], &[ty(Need::Asked)]], &["a.py", "tests/b.md"]), idle);
        let both = [&[ty(Need::Asked)][..], &[ty(Need::Asked)]];
        assert_eq!(missed(both, &["a.py", "tests/b.md"]), [""; 0], "it has some in the other group");
        assert_eq!(missed(both, &["a.md", "tests/b.md"]), idle, "once");
    }
}
