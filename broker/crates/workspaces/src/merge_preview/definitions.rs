//! Name conflicts of two branches: definitions that one changed and the other uses, and definitions that both add.
//!
//! Found by name, and held to what a name means where it stands: a member is used with what it is a member of, another file's
//! name is imported, and a call is held to the parameters. Types of objects are not known, so that conflicts are possible ones.

use std::collections::BTreeMap;

use overlay::Snapshot;
use syntax::{DefinitionKind, Role};

use super::{
    change::FileNames,
    changed::{ChangedDefinition, DefinitionChange},
    edit::{EditPlace, text},
    names::{Key, NameCache, Use},
    side::Side,
};

/// Possible conflicts of one pair that are told.
const MAX_CONFLICTS: usize = 50;

/// A definition that one branch changed and the other uses. Possible, not certain: another one may have the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionConflict {
    pub name: String,
    pub change: DefinitionChange,
    /// Handle of the branch that changed it.
    pub changed_by: String,
    /// Place of the definition: before the change, if it is gone.
    pub changed: EditPlace,
    /// Place at which the other branch uses it, or adds it as well.
    pub used: EditPlace,
}

/// Returns what one of the two changed and the other's added lines use, what both add to the merge, and the number of those
/// beyond what is told. Blocks.
pub(super) fn conflicts(
    a: &Side,
    b: &Side,
    merged: &Snapshot,
    cache: &NameCache,
) -> (Vec<DefinitionConflict>, usize) {
    let both = [(a, b), (b, a)];
    let mut all: Vec<_> =
        both.into_iter().flat_map(|(changing, using)| changed_and_used(changing, using)).collect();
    all.extend(both.into_iter().flat_map(|(changing, using)| imports_of_gone(changing, using)));
    all.extend(added_twice(a, b, merged, cache));
    let more = all.len().saturating_sub(MAX_CONFLICTS);
    all.truncate(MAX_CONFLICTS);
    (all, more)
}

fn changed_and_used<'s>(
    changing: &'s Side,
    using: &'s Side,
) -> impl Iterator<Item = DefinitionConflict> + 's {
    let changed = changing.files.iter().flat_map(|file| file.changed.iter().map(move |it| (file, it)));
    let changed = changed.filter(move |(file, it)| !using.files.iter().any(|own| own.changes_too(file, it)));
    changed.filter_map(move |(file, changed)| {
        let users = using.files.iter().filter(|it| it.family == file.family);
        let mut uses = users.flat_map(|user| user.used(changed.used_as()).map(move |it| (user, it)));
        let (user, it) = uses.find(|(user, it)| {
            is_use(file, changed, user, it)
                && !is_left(changing, changed, user, it)
                && is_reached(file, user, using)
        })?;
        Some(DefinitionConflict {
            name: changed.key.name.clone(),
            change: changed.change,
            changed_by: changing.id.clone(),
            changed: changed.place.clone(),
            used: user.place(it.line),
        })
    })
}

/// Whether the name means the definition there, and the change matters.
fn is_use(file: &FileNames, changed: &ChangedDefinition, user: &FileNames, it: &Use) -> bool {
    let is_own = user.is_same(file);
    let is_meant = match (changed.is_local, changed.is_member && !changed.is_constructor()) {
        (true, _) => is_own && it.role == Role::Bare && !user.binds(&it.name),
        (false, true) => is_member_use(changed, user, it),
        (false, false) => is_top_use(file, changed, user, it),
    };
    is_meant && changed.matters_for(it)
}

/// Whether the changing branch still has such a use in that file: being right by itself, it shows that something else is meant.
fn is_left(changing: &Side, changed: &ChangedDefinition, user: &FileNames, it: &Use) -> bool {
    let is_such = |other: &Use| it.name == other.name && it.role == other.role && changed.matters_for(other);
    changing.names(&user.origin).is_some_and(|names| names.uses.iter().any(is_such))
}

/// Whether the files see each other's names.
fn is_reached(file: &FileNames, user: &FileNames, using: &Side) -> bool {
    user.is_same(file) || user.is_beside(file) || using.imports(&user.path, &file.origin)
}

/// Languages in which members are used without an object in their own types.
const BARE_MEMBERS: [&str; 9] = ["java", "csharp", "cpp", "kotlin", "swift", "scala", "ruby", "php", "dart"];

fn is_member_use(changed: &ChangedDefinition, user: &FileNames, it: &Use) -> bool {
    let container = changed.key.container.as_deref();
    match it.role {
        Role::Bare => BARE_MEMBERS.contains(&user.language.name()) && it.within.as_deref() == container,
        Role::Label => changed.kind == DefinitionKind::Field,
        Role::Member => match it.qualifier.as_deref() {
            Some("self" | "this" | "cls" | "Self") => {
                let own = it.within.as_deref();
                own == container || !user.defines(own, &changed.key.name)
            }
            // The name of another type.
            Some(owner)
                if owner.starts_with(char::is_uppercase) && !owner.chars().all(|it| it.is_uppercase()) =>
            {
                Some(owner) == container
            }
            // The text itself says that a member of another type may be meant.
            _ => user.names_type(container) || !user.defines_member_elsewhere(container, &changed.key.name),
        },
        Role::Bound | Role::Field | Role::Imported | Role::InImport => false,
    }
}

fn is_top_use(file: &FileNames, changed: &ChangedDefinition, user: &FileNames, it: &Use) -> bool {
    let is_near = user.is_same(file) || user.is_beside(file);
    match it.role {
        Role::Bare => {
            !user.binds(&it.name)
                && (is_near && !user.imports(&it.name) || !is_near && user.imports(&it.name))
        }
        Role::Member => it.qualifier.as_deref().is_some_and(|owner| match user.language.name() {
            "go" => !is_near && file.package() == Some(owner),
            _ => {
                file.is_module(owner)
                    || user.imports(owner)
                    || changed.key.container.as_deref() == Some(owner)
            }
        }),
        Role::Imported | Role::InImport => !is_near && changed.change == DefinitionChange::Gone,
        Role::Label | Role::Bound | Role::Field => false,
    }
}

/// Added imports of files that the other branch deleted, renamed or moved.
fn imports_of_gone<'s>(changing: &'s Side, using: &'s Side) -> impl Iterator<Item = DefinitionConflict> + 's {
    let importing = using.files.iter().filter(|_| !changing.gone.is_empty());
    importing.flat_map(move |user| {
        user.new_imports(&changing.gone, &changing.come).into_iter().map(move |gone| DefinitionConflict {
            name: gone.to_string(),
            change: DefinitionChange::Gone,
            changed_by: changing.id.clone(),
            changed: EditPlace { path: gone.clone(), line: 1, text: String::new() },
            used: user.place(user.line_of_import(&gone)),
        })
    })
}

/// Whether one of the two imports what the other deleted.
pub(super) fn imports_gone(changing: &Side, using: &Side) -> bool {
    imports_of_gone(changing, using).next().is_some()
}

/// Definitions that both add in one scope, so that the merge has more of them than either.
fn added_twice(a: &Side, b: &Side, merged: &Snapshot, cache: &NameCache) -> Vec<DefinitionConflict> {
    let (of_a, of_b) = (added_scopes(a), added_scopes(b));
    let mut found = Vec::new();
    for (scope, (file, key)) in &of_a {
        let Some((other, _)) = of_b.get(scope) else { continue };
        if is_twice(file, other, key, merged, cache) {
            found.push(DefinitionConflict {
                name: key.name.clone(),
                change: DefinitionChange::Added,
                changed_by: a.id.clone(),
                changed: file.place_of(key),
                used: other.place_of(key),
            });
        }
    }
    found
}

fn is_twice(file: &FileNames, other: &FileNames, key: &Key, merged: &Snapshot, cache: &NameCache) -> bool {
    if file.path != other.path {
        return !file.is_conditional() && !other.is_conditional();
    }
    let names = text(merged, &file.path).and_then(|it| cache.of(&file.path, &it));
    let count = names.and_then(|it| it.defined.get(key).map(|it| it.signatures.len()));
    count.is_some_and(|count| count > file.count(key).max(other.count(key)))
}

/// Definitions that a branch added, by the scope that may have one of each name.
pub(super) fn added_scopes(side: &Side) -> BTreeMap<(String, Key), (&FileNames, &Key)> {
    side.files.iter().flat_map(FileNames::added_in_scope).collect()
}
