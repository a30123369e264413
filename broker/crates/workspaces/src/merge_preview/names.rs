//! Names that a text defines, imports and uses: kept by content, so that what branches share is parsed once.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use overlay::{ContentHash, WorkspacePath};
use parking_lot::Mutex;
use syntax::{Arguments, Definition, DefinitionKind, Language, Name, Role, Tree};

use super::signature::Signature;

/// Time for the names of one text.
const LIMIT: Duration = Duration::from_secs(2);

/// Names of one text.
pub(super) struct TextNames {
    pub(super) language: Language,
    pub(super) text: String,
    pub(super) defined: BTreeMap<Key, Defined>,
    /// Names that imports give, with the line of the first.
    pub(super) imported: HashMap<String, u32>,
    /// In the order of the text.
    pub(super) uses: Vec<Use>,
    /// Name of the package, in Go.
    pub(super) package: Option<String>,
}

/// Identity of a definition in a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    /// The type or the module that it is a member of.
    pub(super) container: Option<String>,
    pub(super) name: String,
}

/// Definitions with one key.
#[derive(Debug, Clone)]
pub(super) struct Defined {
    pub(super) line: u32,
    pub(super) kind: DefinitionKind,
    /// Whether it is used with what it is a member of.
    pub(super) is_member: bool,
    /// One for each definition.
    pub(super) signatures: Vec<Option<Signature>>,
}

/// A place at which a name stands.
#[derive(Debug, Clone)]
pub(super) struct Use {
    pub(super) name: String,
    pub(super) line: u32,
    pub(super) role: Role,
    /// Last name before the dot.
    pub(super) qualifier: Option<String>,
    pub(super) call: Option<Arguments>,
    /// The type around it.
    pub(super) within: Option<String>,
}

/// Names of texts, by content.
#[derive(Default)]
pub(super) struct NameCache(Mutex<HashMap<(Language, ContentHash), Known>>);

/// `None` of a text that took too long.
type Known = Option<Arc<TextNames>>;

impl NameCache {
    /// Names of a text; none of one whose language is not known here, or which is not read in time.
    pub(super) fn of(&self, path: &WorkspacePath, text: &str) -> Option<Arc<TextNames>> {
        let language = Language::of(path).filter(|it| syntax::has_definitions(*it))?;
        let key = (language, ContentHash::of(text.as_bytes()));
        if let Some(known) = self.0.lock().get(&key) {
            return known.clone();
        }
        let started = Instant::now();
        let names = TextNames::of(language, text, &|| started.elapsed() > LIMIT).map(Arc::new);
        self.0.lock().insert(key, names.clone());
        names
    }
}

impl TextNames {
    fn of(language: Language, text: &str, give_up: &dyn Fn() -> bool) -> Option<Self> {
        let tree = Tree::parse(language, Bytes::copy_from_slice(text.as_bytes()), give_up).ok()?;
        let text = text.to_owned();
        let definitions = syntax::definitions(&tree);
        let lines = Lines::of(&text);
        let mut names = Self {
            language,
            defined: defined(language, &text, &definitions, &lines),
            imported: HashMap::new(),
            uses: Vec::new(),
            package: (language.name() == "go").then(|| package(&text)).flatten(),
            text: String::new(),
        };
        let own: HashSet<_> = definitions.iter().map(|it| it.name_range.start).collect();
        for it in syntax::names(&tree).into_iter().filter(|it| !own.contains(&it.range.start)) {
            if give_up() {
                return None;
            }
            names.add(it, &definitions, &lines, &text);
        }
        names.text = text;
        Some(names)
    }

    fn add(&mut self, it: Name, definitions: &[Definition], lines: &Lines, text: &str) {
        let Some(name) = text.get(it.range.clone()).map(str::to_owned) else { return };
        let line = lines.at(it.range.start);
        let within = type_around(definitions, it.range.start);
        match it.role {
            Role::Imported => _ = self.imported.entry(name.clone()).or_insert(line),
            Role::Field if within.is_some() => {
                self.define(within.clone(), &name, line, DefinitionKind::Field)
            }
            Role::Bound if !is_inside(definitions, it.range.start) => {
                self.define(None, &name, line, DefinitionKind::Constant);
            }
            _ => {}
        }
        let qualifier = it.qualifier.and_then(|it| text.get(it)).and_then(last_name);
        self.uses.push(Use { name, line, role: it.role, qualifier, call: it.call, within });
    }

    /// Adds a name that gets a value, unless it is known.
    fn define(&mut self, container: Option<String>, name: &str, line: u32, kind: DefinitionKind) {
        let is_member = container.is_some();
        let key = Key { container, name: name.to_owned() };
        self.defined.entry(key).or_insert(Defined { line, kind, is_member, signatures: vec![None] });
    }

    /// A line of the text, from 1.
    pub(super) fn line(&self, line: u32) -> &str {
        self.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default()
    }

    /// Whether the file is left out under some conditions, so that another one may define the same.
    pub(super) fn is_conditional(&self, path: &WorkspacePath) -> bool {
        let stem = path.file_name().unwrap_or_default().trim_end_matches(".go").trim_end_matches("_test");
        let has_system = stem.rsplit('_').take(2).any(|it| it != stem && GO_SYSTEMS.contains(&it));
        self.language.name() == "go"
            && (has_system || self.text.lines().any(|it| it.starts_with("//go:build ")))
    }
}

/// Systems and processors in names of Go's files.
const GO_SYSTEMS: [&str; 16] = [
    "aix", "android", "darwin", "freebsd", "js", "linux", "netbsd", "openbsd", "plan9", "solaris", "wasm",
    "windows", "386", "amd64", "arm", "arm64",
];

fn defined(
    language: Language,
    text: &str,
    definitions: &[Definition],
    lines: &Lines,
) -> BTreeMap<Key, Defined> {
    let mut all: BTreeMap<Key, Defined> = BTreeMap::new();
    for it in definitions {
        let Some((key, is_member)) = key(definitions, it) else { continue };
        let is_function = matches!(it.kind, DefinitionKind::Function | DefinitionKind::Method);
        let head = match &it.body {
            Some(body) => text.get(it.name_range.end..body.start),
            None => text.get(it.name_range.end..it.whole.end).and_then(|it| it.split(['{', ';']).next()),
        };
        let head = head.filter(|_| is_function);
        let line = lines.at(it.name_range.start);
        let signature = head.and_then(|it| Signature::of(language, it));
        let same =
            all.entry(key).or_insert(Defined { line, kind: it.kind, is_member, signatures: Vec::new() });
        same.signatures.push(signature);
    }
    all
}

/// Key of a definition that other places may use, and whether it is a member.
fn key(definitions: &[Definition], it: &Definition) -> Option<(Key, bool)> {
    let is_other =
        matches!(it.kind, DefinitionKind::ReExport | DefinitionKind::Block | DefinitionKind::Implementation);
    let is_name = |it: &str| it.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$');
    if is_other {
        return None;
    }
    // `Type.prototype.name = function` of JavaScript.
    let is_test = it.kind == DefinitionKind::Test;
    if let Some((owner, name)) = it.name.rsplit_once('.').filter(|it| is_name(it.1) && !is_test) {
        return Some((Key { container: last_name(owner), name: name.to_owned() }, true));
    }
    if !is_name(&it.name) {
        return None;
    }
    let key = |container| Key { container, name: it.name.clone() };
    if let Some(receiver) = &it.receiver {
        return Some((key(Some(receiver.clone())), true));
    }
    match it.parent.map(|it| &definitions[it]) {
        None => Some((key(None), false)),
        Some(parent) if parent.kind.has_members() => Some((key(type_name(parent)), true)),
        Some(parent) if parent.kind == DefinitionKind::Module => {
            Some((key(Some(parent.name.clone())), false))
        }
        // What is within a function is for that alone.
        Some(_) => None,
    }
}

/// Name of the type whose members a definition has.
fn type_name(it: &Definition) -> Option<String> {
    let of_type = it.name.rsplit(" for ").next().unwrap_or_default();
    last_name(of_type.split('<').next().unwrap_or_default())
}

fn is_inside(definitions: &[Definition], at: usize) -> bool {
    definitions.iter().any(|it| it.whole.contains(&at))
}

fn type_around(definitions: &[Definition], at: usize) -> Option<String> {
    let around = definitions.iter().rev().filter(|it| it.whole.contains(&at));
    around
        .clone()
        .find(|it| it.kind.has_members())
        .and_then(type_name)
        .or_else(|| around.clone().find_map(|it| it.receiver.clone()))
}

/// The last identifier of a text.
fn last_name(text: &str) -> Option<String> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let name = text.trim_end().rsplit(|it| !is_part(it)).next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}

fn package(text: &str) -> Option<String> {
    let line = text.lines().find_map(|it| it.strip_prefix("package "))?;
    line.split_whitespace().next().map(str::to_owned)
}

/// Starts of lines.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|it| it.0 + 1)).collect())
    }

    /// The line of a position, from 1.
    fn at(&self, position: usize) -> u32 {
        u32::try_from(self.0.partition_point(|it| *it <= position)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_takes_too_long_has_no_names() {
        let python = Language::named("python").unwrap();
        assert!(TextNames::of(python, "a = b\n", &|| false).is_some());
        assert!(TextNames::of(python, "a = b\n", &|| true).is_none());
    }
}
