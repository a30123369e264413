//! Target state of a server: the open documents and deletions that show it a view, computed from the view's edits and
//! the disk that the server reads itself.

use std::{
    cell::LazyCell,
    collections::{BTreeMap, BTreeSet},
    io,
};

use bytes::Bytes;
use imports::{Imports, Reach, is_global, may_mean};
use lint::Diagnostic;
use overlay::{ContentHash, FileKind, View, WalkOptions, WorkspacePath, walk};

use crate::{Profile, configs, dependents::languages, profile::Deletes};

/// State that a server is brought into before it is asked about a view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TargetState {
    /// Documents to open: all that differ from the disk, and those that are asked about.
    pub(super) documents: BTreeMap<WorkspacePath, ContentHash>,
    /// Files that differ from the disk.
    edited: BTreeSet<WorkspacePath>,
    /// Files that are not on the disk.
    pub(super) new: BTreeSet<WorkspacePath>,
    /// New file whose folder is not on the disk either.
    in_new_folder: Option<WorkspacePath>,
    /// Files that are on the disk and not in the view.
    pub(super) gone: BTreeSet<WorkspacePath>,
    /// Files that differ from those on the disk, which the server reads in their stead.
    config: BTreeSet<WorkspacePath>,
    /// Same as `config`, for files that only count since other configuration names them.
    named: BTreeSet<WorkspacePath>,
    /// Files that are asked about and depend on no other file.
    alone: BTreeSet<WorkspacePath>,
    /// The files that new and deleted ones matter to; without, they may matter to all.
    reach: Option<Reach>,
}

type Files = BTreeMap<WorkspacePath, Option<ContentHash>>;

impl TargetState {
    pub(super) fn of(view: &dyn View, disk: &dyn View, profile: &Profile, units: &[WorkspacePath]) -> Self {
        let mut target = Self::default();
        let is_ours = |it: &WorkspacePath| profile.reads(it) || profile.is_config_if_named(it);
        for edit in view.edits() {
            let (mut here, mut there) = (Files::new(), Files::new());
            gather(view, &edit, &is_ours, &mut here);
            gather(disk, &edit, &is_ours, &mut there);
            target.add(here, there, profile);
        }
        let is_on_disk = |it: &WorkspacePath| it.parent().is_some_and(|it| disk.metadata(&it).is_ok());
        target.in_new_folder = target.new.iter().find(|it| !is_on_disk(it)).cloned();
        let differs = profile.refers_late || !(target.edited.is_empty() && target.gone.is_empty());
        // Lazy, since it walks the view, which is too much for a file without such words.
        let all_are_alone = LazyCell::new(|| differs && !configs::connect(profile, view));
        for unit in units {
            if let Ok(hash) = hash(view, unit) {
                target.documents.insert(unit.clone(), hash);
            }
            let names_none = || view.open(unit).is_ok_and(|it| !profile.may_refer(&it));
            if !profile.refers_by.is_empty() && names_none() || *all_are_alone {
                target.alone.insert(unit.clone());
            }
        }
        if profile.sees.deletes == Deletes::Emulated {
            let empty = |it: &WorkspacePath| (it.clone(), ContentHash::of(b""));
            let emptied: Vec<_> = target.gone.iter().map(empty).collect();
            target.documents.extend(emptied);
        }
        target
    }

    /// Adds these documents to those that are open, as far as they are there.
    pub(super) fn open_too<'p>(
        &mut self,
        view: &dyn View,
        paths: impl IntoIterator<Item = &'p WorkspacePath>,
    ) {
        for path in paths {
            if !self.gone.contains(path)
                && !self.documents.contains_key(path)
                && let Ok(hash) = hash(view, path)
            {
                self.documents.insert(path.clone(), hash);
            }
        }
    }

    fn add(&mut self, here: Files, mut there: Files, profile: &Profile) {
        for (path, hash) in here {
            let on_disk = there.remove(&path);
            if hash.is_some() && on_disk == Some(hash) {
                continue;
            }
            self.configure(&path, profile);
            if let (true, Some(hash)) = (profile.shows(&path), hash) {
                if on_disk.is_none() {
                    self.new.insert(path.clone());
                }
                self.edited.insert(path.clone());
                self.documents.insert(path, hash);
            }
        }
        for path in there.into_keys() {
            self.configure(&path, profile);
            if profile.shows(&path) {
                self.gone.insert(path);
            }
        }
    }

    fn configure(&mut self, path: &WorkspacePath, profile: &Profile) {
        if profile.is_config(path) {
            self.config.insert(path.clone());
        } else if profile.is_config_if_named(path) {
            self.named.insert(path.clone());
        }
    }

    /// Removes the files that are read only where others name them, if none does. Reads all others for that.
    pub(super) fn forget_unnamed(&mut self, view: &dyn View, profile: &Profile) {
        if !self.named.is_empty() {
            let named = configs::named(profile, view, &self.named);
            self.named.retain(|it| named.contains(it));
        }
        let of_all = |it: &WorkspacePath| profile.is_config_of_all(it);
        let mut unnamed: Vec<_> = self.config.iter().filter(|it| !of_all(it)).cloned().collect();
        self.config.retain(of_all);
        if unnamed.is_empty() {
            return;
        }
        let options = WalkOptions { respect_ignore_files: false, ..WalkOptions::default() };
        let others = walk(view, &[WorkspacePath::root()], &options);
        for other in others.filter(|it| profile.reads(it)) {
            let text = view.open(&other).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            self.config.extend(unnamed.extract_if(.., |it| configs::is_named_in(it, &text)));
        }
    }

    /// Looks which files new and deleted ones matter to, where import statements tell that.
    pub(super) fn note_reach(
        &mut self,
        imports: &Imports,
        view: &dyn View,
        disk: &dyn View,
        profile: &Profile,
    ) {
        let changed: Vec<_> = self.new.union(&self.gone).cloned().collect();
        let text = |it: &WorkspacePath| view.open(it).or_else(|_| disk.open(it)).unwrap_or_default();
        let are_global = || changed.iter().any(|it| is_global(it, &text(it)));
        if profile.imports_tell && !changed.is_empty() && !are_global() {
            self.reach = Some(imports.reach(&languages(profile), view, &changed));
        }
    }

    /// Whether a finding reports a missing import that is in the view and that the server cannot see.
    pub(super) fn is_seen_wrongly(
        &self,
        profile: &Profile,
        unit: &WorkspacePath,
        text: &str,
        finding: &Diagnostic,
    ) -> bool {
        let part = finding.span.start as usize..finding.span.end as usize;
        !profile.sees.new_files
            && !self.new.is_empty()
            && profile.unfound_imports.contains(&finding.code)
            && may_mean(unit, text, part, &self.new)
    }

    /// Whether a finding reports a relative import of a new file whose module the server does not know.
    pub(super) fn is_of_no_module(
        &self,
        profile: &Profile,
        unit: &WorkspacePath,
        text: &str,
        finding: &Diagnostic,
    ) -> bool {
        // The module may be told with its dots or without them.
        let around = finding.span.start.saturating_sub(1) as usize..finding.span.end as usize;
        profile.new_files_have_no_module
            && self.new.contains(unit)
            && profile.unfound_imports.contains(&finding.code)
            && text.get(around).is_some_and(|it| it.trim_start().starts_with('.'))
    }

    /// Text of an open document.
    pub(super) fn text(&self, view: &dyn View, path: &WorkspacePath) -> io::Result<Bytes> {
        if self.gone.contains(path) { Ok(Bytes::new()) } else { view.open(path) }
    }

    /// Reason for which the server's findings in `unit` may be incomplete.
    pub(super) fn unseen_by(&self, profile: &Profile, unit: &WorkspacePath) -> Option<String> {
        let name = &profile.tool.name;
        let is_alone = self.alone.contains(unit);
        let counts = |it: &&WorkspacePath| !is_alone || profile.is_config_of_all(it);
        if let Some(path) = self.config.iter().filter(counts).chain(&self.named).next() {
            return Some(format!("`{path}` is another one on the disk, which is what {name} reads"));
        }
        if is_alone {
            return None;
        }
        if profile.refers_late {
            return Some(format!("{name} may still tell what it knew of other files before"));
        }
        if self.reach.as_ref().is_some_and(|it| !it.may_hold(unit)) {
            return self.edited_unseen_by(profile, unit);
        }
        let sees_deletes = matches!(profile.sees.deletes, Deletes::Watched | Deletes::Irrelevant);
        if let Some(path) = self.gone.first().filter(|_| !sees_deletes) {
            return Some(format!("`{path}` is deleted here, and {name} may still see it"));
        }
        if let Some(path) = self.in_new_folder.as_ref().filter(|_| !profile.sees.new_folders) {
            return Some(format!(
                "the folder of `{path}` is not on the disk, and {name} may not see into it"
            ));
        }
        if let Some(reason) = self.edited_unseen_by(profile, unit) {
            return Some(reason);
        }
        let new = self.new.iter().find(|it| *it != unit).filter(|_| !profile.sees.new_files)?;
        Some(format!("`{new}` is not on the disk, and {name} may not see it from other files"))
    }

    fn edited_unseen_by(&self, profile: &Profile, unit: &WorkspacePath) -> Option<String> {
        let name = &profile.tool.name;
        let path = self.edited.iter().find(|it| *it != unit).filter(|_| !profile.sees.edited_files)?;
        Some(format!("`{path}` is another one on the disk, which is what {name} may have read"))
    }

    /// Number of documents and deletions that a server must be notified of to go from one state to the other.
    pub(super) fn distance(&self, other: &Self) -> usize {
        let all: BTreeSet<_> = self.documents.keys().chain(other.documents.keys()).collect();
        let differs = |it: &&&WorkspacePath| self.documents.get(**it) != other.documents.get(**it);
        all.iter().filter(differs).count() + self.gone.symmetric_difference(&other.gone).count()
    }

    /// Names the state, and what is asked of it.
    pub(super) fn key(&self, units: &[WorkspacePath]) -> ContentHash {
        ContentHash::of(format!("{self:?} {units:?}").as_bytes())
    }
}

/// Collects the files at and below `path`; `None` for one that cannot be read. A missing path has none.
fn gather(
    view: &dyn View,
    path: &WorkspacePath,
    is_ours: &dyn Fn(&WorkspacePath) -> bool,
    files: &mut Files,
) {
    match view.metadata(path).map(|it| it.kind) {
        Ok(FileKind::Directory) => {
            let names = view.list(path).map(|it| it.entries).unwrap_or_default();
            for entry in names {
                gather(view, &path.child(&entry.name), is_ours, files);
            }
        }
        Ok(FileKind::File | FileKind::Symlink) if is_ours(path) => {
            files.insert(path.clone(), hash(view, path).ok());
        }
        Ok(_) | Err(_) => {}
    }
}

fn hash(view: &dyn View, path: &WorkspacePath) -> io::Result<ContentHash> {
    match view.hash(path) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => view.hash(&view.resolve(path)?),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use overlay::{Branch, Memory};

    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    fn target(edit: impl FnOnce(&mut Branch)) -> TargetState {
        let files = [("a.py", "a"), ("lib/b.py", "b"), ("lib/c.py", "c"), ("README", "r"), ("ty.toml", "t")];
        let disk: Arc<dyn View> = Arc::new(Memory::from_files(files).unwrap());
        let mut branch = Branch::new(Arc::clone(&disk));
        edit(&mut branch);
        TargetState::of(
            &branch.snapshot(),
            &*disk,
            Profile::named("ty").unwrap(),
            &[path("a.py"), path("none.py")],
        )
    }

    /// The open documents, and the reason why a unit's answer is not complete.
    #[track_caller]
    fn check(edit: impl FnOnce(&mut Branch), open: &str, reason: Option<&str>) {
        let target = target(edit);
        let documents: Vec<_> = target.documents.keys().map(WorkspacePath::as_str).collect();
        assert_eq!(documents.join(" "), open);
        let unseen = target.unseen_by(Profile::named("ty").unwrap(), &path("a.py"));
        assert_eq!(unseen.as_deref(), reason);
    }

    #[test]
    fn what_differs_is_open() {
        check(|_| (), "a.py", None);
        check(|it| drop(it.write(&path("lib/b.py"), "new".into())), "a.py lib/b.py", None);
        check(|it| drop(it.write(&path("lib/b.py"), "b".into())), "a.py", None);
        check(|it| drop(it.write(&path("README"), "new".into())), "a.py", None);
        check(|it| drop(it.write(&path("a.py"), "new".into())), "a.py", None);
    }

    #[test]
    fn what_it_cannot_see_is_named() {
        let new = "`new.py` is not on the disk, and ty may not see it from other files";
        check(|it| drop(it.write(&path("new.py"), "new".into())), "a.py new.py", Some(new));
        let gone = "`lib/b.py` is deleted here, and ty may still see it";
        check(|it| drop(it.remove(&path("lib"))), "a.py", Some(gone));
        let config = "`ty.toml` is another one on the disk, which is what ty reads";
        check(|it| drop(it.write(&path("ty.toml"), "new".into())), "a.py", Some(config));
        check(|it| drop(it.remove(&path("ty.toml"))), "a.py", Some(config));
    }

    /// Compares for each of these files whether the answer is complete if the branch has `new.py`.
    #[test]
    fn a_new_file_matters_to_those_that_import_it() {
        let files = [("a.py", "import new"), ("b.py", "import a"), ("c.py", "import os"), ("z.txt", "")];
        let disk: Arc<dyn View> = Arc::new(Memory::from_files(files).unwrap());
        let mut branch = Branch::new(Arc::clone(&disk));
        branch.write(&path("new.py"), "x = 1".into()).unwrap();
        let (view, units) = (branch.snapshot(), ["a.py", "b.py", "c.py", "new.py"].map(path));
        let complete = |server: &str| {
            let profile = Profile::named(server).unwrap();
            let mut target = TargetState::of(&view, &*disk, profile, &units);
            target.note_reach(&Imports::default(), &view, &*disk, profile);
            units.each_ref().map(|it| target.unseen_by(profile, it).is_none())
        };
        assert_eq!(complete("ty"), [false, false, true, true]);
        assert_eq!(complete("pyright"), [false, false, true, true]);
    }

    #[test]
    fn a_new_folder_may_not_be_looked_into() {
        let disk: Arc<dyn View> = Arc::new(Memory::from_files([("a.ts", "a"), ("b/c.ts", "c")]).unwrap());
        let profile = Profile::named("typescript").unwrap();
        let reason = |new: &str| {
            let mut branch = Branch::new(Arc::clone(&disk));
            branch.write(&path(new), "new".into()).unwrap();
            TargetState::of(&branch.snapshot(), &*disk, profile, &[path("a.ts")])
                .unseen_by(profile, &path("a.ts"))
        };
        assert_eq!(reason("b/new.ts"), None);
        let want = "the folder of `n/new.ts` is not on the disk, and typescript may not see into it";
        assert_eq!(reason("n/new.ts").as_deref(), Some(want));
    }

    #[test]
    fn a_file_that_nothing_names_does_not_count() {
        let files = [("a.ts", "import d from './data.json'"), ("tsconfig.json", "{\"extends\": \"./base\"}")];
        let disk: Arc<dyn View> = Arc::new(Memory::from_files(files).unwrap());
        let reason = |server: &str, new: &str| {
            let profile = Profile::named(server).unwrap();
            let mut branch = Branch::new(Arc::clone(&disk));
            branch.write(&path(new), "{}".into()).unwrap();
            let view = branch.snapshot();
            let mut target = TargetState::of(&view, &*disk, profile, &[path("a.ts")]);
            target.forget_unnamed(&view, profile);
            (target.unseen_by(profile, &path("a.ts")).is_some(), target.documents.contains_key(&path(new)))
        };
        let old = |new| reason("typescript-language-server", new);
        assert_eq!(["data.json", "base.json", "tsconfig.x.json"].map(old), [(true, false); 3]);
        assert_eq!(["other.json", "a.txt"].map(old), [(false, false); 2]);
        let new = |new| reason("typescript", new);
        assert_eq!(["data.json", "base.json", "other.json"].map(new), [(false, true); 3]);
        assert_eq!(["tsconfig.json", "package.json"].map(new), [(true, false); 2]);
    }

    #[test]
    fn a_moved_directory_is_new_and_gone() {
        let target = target(|it| drop(it.rename(&path("lib"), &path("src"))));
        assert_eq!(target.new, [path("src/b.py"), path("src/c.py")].into());
        assert_eq!(target.gone, [path("lib/b.py"), path("lib/c.py")].into());
    }

    #[test]
    fn far_away_is_what_differs_in_much() {
        let base = || target(|_| ());
        assert_eq!(base().distance(&base()), 0);
        let one = target(|it| drop(it.write(&path("lib/b.py"), "1".into())));
        let two = target(|it| drop(it.write(&path("lib/b.py"), "2".into())));
        assert_eq!((base().distance(&one), one.distance(&two)), (1, 1));
        let moved = target(|it| drop(it.rename(&path("lib"), &path("src"))));
        assert_eq!((base().distance(&moved), moved.distance(&one)), (4, 5));
    }

    #[test]
    fn another_state_has_another_key() {
        let units = [path("a.py")];
        let key =
            |text: &'static str| target(|it| drop(it.write(&path("lib/b.py"), text.into()))).key(&units);
        assert_eq!(key("1"), key("1"));
        assert_ne!(key("1"), key("2"));
    }
}
