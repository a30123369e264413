//! Definitions that one branch changed and the other uses, by their names: what no linter may look for.

use std::{
    collections::{BTreeMap, HashSet},
    time::{Duration, Instant},
};

use bytes::Bytes;
use overlay::WorkspacePath;
use syntax::{DefinitionKind, Language, Tree};

use super::side::{EditPlace, Side, shown};

/// Time for the tree of one text.
const PARSING: Duration = Duration::from_secs(2);

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
    /// Place at which the other branch uses it.
    pub used: EditPlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionChange {
    /// Deleted, renamed or moved to another file.
    Gone,
    /// Other parameters.
    Signature,
}

/// A definition of a file that a branch changed.
pub(super) struct ChangedDefinition {
    pub(super) name: String,
    pub(super) change: DefinitionChange,
    pub(super) place: EditPlace,
    pub(super) language: Language,
}

/// Parameters of the definitions of one name, with the line of the first.
struct Defined {
    line: u32,
    parameters: Vec<Option<String>>,
}

/// Returns the definitions that are gone or have other parameters; adds the names that are new.
pub(super) fn changed_definitions(
    path: &WorkspacePath,
    before: &str,
    after: &str,
    new_names: &mut HashSet<String>,
) -> Vec<ChangedDefinition> {
    let Some(language) = Language::of(path).filter(|_| before != after) else { return Vec::new() };
    let (old, new) = (defined(language, before), defined(language, after));
    new_names.extend(new.keys().filter(|it| !old.contains_key(*it)).cloned());
    let changed = |(name, was): (String, Defined)| {
        let (change, line, text) = match new.get(&name) {
            None => (DefinitionChange::Gone, was.line, before),
            Some(is) if was.parameters.iter().any(|it| !is.parameters.contains(it)) => {
                (DefinitionChange::Signature, is.line, after)
            }
            Some(_) => return None,
        };
        let text = shown(text.lines().nth(line as usize - 1).unwrap_or_default());
        let place = EditPlace { path: path.clone(), line, text };
        Some(ChangedDefinition { name, change, place, language })
    };
    old.into_iter().filter_map(changed).collect()
}

fn defined(language: Language, text: &str) -> BTreeMap<String, Defined> {
    let mut all = BTreeMap::new();
    let started = Instant::now();
    let give_up = || started.elapsed() > PARSING;
    let Ok(tree) = Tree::parse(language, Bytes::copy_from_slice(text.as_bytes()), &give_up) else {
        return all;
    };
    let is_used = |kind: DefinitionKind| {
        !matches!(kind, DefinitionKind::Test | DefinitionKind::ReExport | DefinitionKind::Block)
    };
    for it in syntax::definitions(&tree).into_iter().filter(|it| is_used(it.kind)) {
        let parameters = text.get(it.whole.clone()).and_then(|text| parameters(text, &it.name));
        let line =
            || u32::try_from(text[..it.name_range.start].matches('\n').count() + 1).unwrap_or(u32::MAX);
        let same = all.entry(it.name).or_insert_with(|| Defined { line: line(), parameters: Vec::new() });
        same.parameters.push(parameters);
    }
    all
}

/// The text within the brackets that follow the name, without white space.
fn parameters(definition: &str, name: &str) -> Option<String> {
    let rest = &definition[definition.find(name)? + name.len()..];
    let open = rest.find('(')?;
    // What stands in between may be type parameters, and no body.
    if rest[..open].contains(['{', '\n', '=', ':', ';']) {
        return None;
    }
    let mut depth = 0_u32;
    let end = rest[open..].char_indices().find(|(_, it)| {
        match it {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    Some(rest[open..open + end.0].chars().filter(|it| !it.is_whitespace()).collect())
}

/// Returns what one of the two changed and the other's added lines use, and the number of those beyond what is told.
pub(super) fn conflicts(a: &Side, b: &Side) -> (Vec<DefinitionConflict>, usize) {
    let all = [(a, b), (b, a)].into_iter().flat_map(|(changing, using)| of_pair(changing, using));
    let mut all: Vec<_> = all.collect();
    let more = all.len().saturating_sub(MAX_CONFLICTS);
    all.truncate(MAX_CONFLICTS);
    (all, more)
}

fn of_pair<'s>(changing: &'s Side, using: &'s Side) -> impl Iterator<Item = DefinitionConflict> + 's {
    let both = |name: &str| using.definitions.iter().any(|it| it.name == name);
    let candidates = changing.definitions.iter();
    let candidates = candidates.filter(move |it| !using.new_names.contains(&it.name) && !both(&it.name));
    candidates.filter_map(|changed| {
        let is_use = |it: &&super::side::Edit| {
            it.added.contains(&changed.name) && Language::of(&it.path) == Some(changed.language)
        };
        let used = using.edits.iter().find(is_use)?.place_of(&changed.name);
        let ChangedDefinition { name, change, place, .. } = changed;
        let changed_by = changing.id.clone();
        Some(DefinitionConflict {
            name: name.clone(),
            change: *change,
            changed_by,
            changed: place.clone(),
            used,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_of_the_definition() {
        assert_eq!(parameters("def f(a, b=(1, 2)):\n  g(x)", "f").as_deref(), Some("(a,b=(1,2)"));
        assert_eq!(parameters("class C:\n  f(x)", "C"), None);
        assert_eq!(parameters("fn f<T>(a: T) {}", "f").as_deref(), Some("(a:T"));
    }
}
