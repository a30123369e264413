//! Names of a file that a branch changed: definitions that are gone, have other parameters or are new, and uses in added lines.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use overlay::{ChangedLines, WorkspacePath};
use syntax::{DefinitionKind, Language, Role};

use super::{
    changed::{ChangedDefinition, DefinitionChange},
    edit::{EditPlace, shown},
    names::{Defined, Key, TextNames, Use},
};

/// A changed file whose language is known.
pub(super) struct FileNames {
    pub(super) path: WorkspacePath,
    /// Its path before it was moved.
    pub(super) origin: WorkspacePath,
    pub(super) language: Language,
    pub(super) family: &'static str,
    before: Option<Arc<TextNames>>,
    after: Option<Arc<TextNames>>,
    /// Names that both versions import, one in each line.
    import_names: [Arc<str>; 2],
    pub(super) changed: Vec<ChangedDefinition>,
    added: Vec<Key>,
    /// Numbers of uses in added lines, by name.
    used: HashMap<String, Vec<usize>>,
    /// Names that get a value in added lines.
    bound: HashSet<String>,
}

impl FileNames {
    /// Compares two versions of a file, each with its names as far as they are known.
    pub(super) fn new(
        [origin, path]: [WorkspacePath; 2],
        texts: [&str; 2],
        [before, after]: [Option<Arc<TextNames>>; 2],
        edits: &[ChangedLines],
    ) -> Option<Self> {
        let language = after.as_ref().or(before.as_ref())?.language;
        let import_names = [(&origin, texts[0]), (&path, texts[1])];
        let import_names = import_names.map(|(path, text)| imports::imported_names(path, text));
        let mut it = Self {
            path,
            origin,
            language,
            family: family(language),
            before,
            after,
            import_names,
            changed: Vec::new(),
            added: Vec::new(),
            used: HashMap::new(),
            bound: HashSet::new(),
        };
        it.compare_definitions();
        it.find_uses(edits);
        Some(it)
    }

    fn compare_definitions(&mut self) {
        let (before, after) = (self.before.clone(), self.after.clone());
        let none = Default::default();
        let old = before.as_ref().map_or(&none, |it| &it.defined);
        let new = after.as_ref().map_or(&none, |it| &it.defined);
        self.added = new.keys().filter(|it| !old.contains_key(*it)).cloned().collect();
        self.changed = old.iter().filter_map(|(key, was)| self.changed(key, was, new.get(key))).collect();
        let Some(before) = &before else { return };
        let is_imported = |it: &str| after.as_ref().is_some_and(|after| after.imported.contains_key(it));
        let gone = before.imported.iter().filter(|(it, _)| after.is_some() && !is_imported(it));
        self.changed.extend(gone.map(|(name, line)| ChangedDefinition {
            key: Key { container: None, name: name.clone() },
            change: DefinitionChange::Gone,
            kind: DefinitionKind::ReExport,
            is_member: false,
            is_local: true,
            place: place(&self.origin, before, *line),
            signatures: [Vec::new(), Vec::new()],
        }));
    }

    fn changed(&self, key: &Key, was: &Defined, is: Option<&Defined>) -> Option<ChangedDefinition> {
        let signatures = |it: &Defined| it.signatures.iter().flatten().cloned().collect::<Vec<_>>();
        let (change, place) = match is {
            None => (DefinitionChange::Gone, place(&self.origin, self.before.as_ref()?, was.line)),
            Some(is) if was.signatures.iter().any(|it| it.is_some() && !is.signatures.contains(it)) => {
                (DefinitionChange::Signature, place(&self.path, self.after.as_ref()?, is.line))
            }
            Some(_) => return None,
        };
        Some(ChangedDefinition {
            key: key.clone(),
            change,
            kind: was.kind,
            is_member: was.is_member,
            is_local: false,
            place,
            signatures: [signatures(was), is.map(signatures).unwrap_or_default()],
        })
    }

    fn find_uses(&mut self, edits: &[ChangedLines]) {
        let Some(after) = &self.after else { return };
        let mut lines = HashSet::new();
        for it in edits {
            lines.extend((it.line..).take(it.added.lines().count()));
        }
        for (number, it) in after.uses.iter().enumerate().filter(|(_, it)| lines.contains(&it.line)) {
            match it.role {
                Role::Bound => _ = self.bound.insert(it.name.clone()),
                Role::Field => {}
                _ => self.used.entry(it.name.clone()).or_default().push(number),
            }
        }
    }

    /// Uses of a name in added lines.
    pub(super) fn used<'s>(&'s self, name: &str) -> impl Iterator<Item = &'s Use> + use<'s> {
        let numbers = self.used.get(name).map_or(&[][..], Vec::as_slice);
        let uses = self.after.as_ref().map_or(&[][..], |it| &it.uses);
        numbers.iter().filter_map(|it| uses.get(*it))
    }

    pub(super) fn used_names(&self) -> impl Iterator<Item = &str> {
        self.used.keys().map(String::as_str)
    }

    pub(super) fn place(&self, line: u32) -> EditPlace {
        match &self.after {
            Some(after) => place(&self.path, after, line),
            None => EditPlace { path: self.path.clone(), line, text: String::new() },
        }
    }

    pub(super) fn place_of(&self, key: &Key) -> EditPlace {
        let defined = self.after.as_ref().and_then(|it| it.defined.get(key));
        self.place(defined.map_or(1, |it| it.line))
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.path == other.path || self.origin == other.origin
    }

    /// Whether the files are of one package, whose files see each other without an import.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        self.language.name() == "go"
            && self.package() == other.package()
            && self.path.parent() == other.path.parent()
    }

    pub(super) fn package(&self) -> Option<&str> {
        self.after.as_ref().or(self.before.as_ref())?.package.as_deref()
    }

    /// Whether the file is a module of this name.
    pub(super) fn is_module(&self, name: &str) -> bool {
        let stem = self.origin.file_name().and_then(|it| it.split('.').next());
        let folder = self.origin.parent();
        let is_index = matches!(stem, Some("__init__" | "index" | "mod" | "lib" | "main"));
        stem == Some(name)
            || folder.as_ref().and_then(|it| it.file_name()) == Some(name)
            || is_index && matches!(name, "crate" | "super" | "self")
    }

    pub(super) fn imports(&self, name: &str) -> bool {
        self.after.as_ref().is_some_and(|it| it.imported.contains_key(name))
    }

    /// Whether an added line gives a value to a variable of this name.
    pub(super) fn binds(&self, name: &str) -> bool {
        self.bound.contains(name)
    }

    pub(super) fn defines(&self, container: Option<&str>, name: &str) -> bool {
        let key = Key { container: container.map(str::to_owned), name: name.to_owned() };
        self.after.as_ref().is_some_and(|it| it.defined.contains_key(&key))
    }

    /// Whether a type besides `container` has a member of this name here.
    pub(super) fn defines_member_elsewhere(&self, container: Option<&str>, name: &str) -> bool {
        let is_other = |(key, it): (&Key, &Defined)| {
            it.is_member && key.name == name && key.container.as_deref() != container
        };
        self.after.as_ref().is_some_and(|it| it.defined.iter().any(is_other))
    }

    /// Whether the type is named in the file.
    pub(super) fn names_type(&self, container: Option<&str>) -> bool {
        let Some(container) = container else { return false };
        self.after.as_ref().is_some_and(|it| it.uses.iter().any(|it| it.name == container))
    }

    /// Whether this branch changed the same definition, or adds it anew.
    pub(super) fn changes_too(&self, other: &Self, changed: &ChangedDefinition) -> bool {
        let is_one = |key: &Key| *key == changed.key;
        let is_near = self.is_same(other) || self.is_beside(other);
        is_near && (self.changed.iter().any(|it| is_one(&it.key)) || self.added.iter().any(is_one))
    }

    pub(super) fn is_conditional(&self) -> bool {
        self.after.as_ref().is_some_and(|it| it.is_conditional(&self.path))
    }

    pub(super) fn count(&self, key: &Key) -> usize {
        self.after.as_ref().and_then(|it| it.defined.get(key)).map_or(0, |it| it.signatures.len())
    }

    /// Definitions that are new, each in the scope that may have one of its name.
    pub(super) fn added_in_scope(&self) -> impl Iterator<Item = ((String, Key), (&Self, &Key))> {
        let scope = self.scope();
        let keys = self.added.iter().filter(|it| self.is_once(it));
        keys.map(move |key| ((scope.clone(), key.clone()), (self, key)))
    }

    /// The file, or the package in Go.
    fn scope(&self) -> String {
        let folder = self.path.parent().map(|it| it.to_string()).unwrap_or_default();
        self.package().map_or_else(|| self.path.to_string(), |package| format!("{folder}\0{package}"))
    }

    /// Whether a second definition of this name is an error.
    fn is_once(&self, key: &Key) -> bool {
        let kind = self.after.as_ref().and_then(|it| it.defined.get(key)).map(|it| it.kind);
        let language = self.language.name();
        match (language, kind) {
            ("java" | "csharp" | "cpp" | "kotlin" | "swift" | "scala", Some(kind)) => kind.is_type(),
            ("python" | "ruby" | "lua" | "php", Some(DefinitionKind::Constant | DefinitionKind::Field)) => {
                false
            }
            ("go", _) => !matches!(&*key.name, "init" | "_"),
            (_, kind) => kind.is_some(),
        }
    }

    /// Files among those that are `gone` which the text imports and did not, but for those whose names mean what has `come`.
    pub(super) fn new_imports(
        &self,
        gone: &BTreeSet<WorkspacePath>,
        come: &BTreeSet<WorkspacePath>,
    ) -> BTreeSet<WorkspacePath> {
        let [before, after] = &self.import_names;
        let mut new = imports::imported(&self.path, after, gone);
        if new.is_empty() {
            return BTreeSet::new();
        }
        let old: BTreeSet<_> =
            imports::imported(&self.origin, before, gone).into_iter().map(|it| it.1).collect();
        let there: BTreeSet<_> =
            imports::imported(&self.path, after, come).into_iter().map(|it| it.0).collect();
        new.retain(|(name, path)| !old.contains(path) && !there.contains(name));
        new.into_iter().map(|it| it.1).collect()
    }

    /// The line that imports a file, by its name.
    pub(super) fn line_of_import(&self, path: &WorkspacePath) -> u32 {
        let stem = path.file_name().and_then(|it| it.split('.').next()).unwrap_or_default();
        let Some(after) = &self.after else { return 1 };
        let mut imports = after.uses.iter().filter(|it| matches!(it.role, Role::Imported | Role::InImport));
        let named = imports.find(|it| it.name == stem).map(|it| it.line);
        let has_stem = |(_, it): &(u32, &str)| it.contains(stem);
        named.or_else(|| (1..).zip(after.text.lines()).find(has_stem).map(|it| it.0)).unwrap_or(1)
    }

    /// In Go, a definition that is in another file of the package is neither gone nor new.
    pub(super) fn forget_moved(files: &mut [Self]) {
        let is_go = |it: &&mut Self| it.language.name() == "go";
        let added: HashSet<_> = files.iter().flat_map(|it| it.added_in_scope().map(|it| it.0)).collect();
        let mut moved = HashSet::new();
        for file in files.iter_mut().filter(is_go) {
            let scope = file.scope();
            file.changed.retain(|it| {
                let key = (scope.clone(), it.key.clone());
                let is_moved = it.change == DefinitionChange::Gone && !it.is_local && added.contains(&key);
                if is_moved {
                    moved.insert(key);
                }
                !is_moved
            });
        }
        for file in files.iter_mut().filter(is_go) {
            let scope = file.scope();
            file.added.retain(|it| !moved.contains(&(scope.clone(), it.clone())));
        }
    }
}

fn place(path: &WorkspacePath, names: &TextNames, line: u32) -> EditPlace {
    EditPlace { path: path.clone(), line, text: shown(names.line(line)) }
}

/// Group of languages whose files use each other's names.
fn family(language: Language) -> &'static str {
    match language.name() {
        "typescript" | "typescriptreact" | "javascript" => "script",
        "c" | "cpp" => "c",
        other => other,
    }
}
