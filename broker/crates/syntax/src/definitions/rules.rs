//! Queries of definitions, one for each language.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use parking_lot::Mutex;
use tree_sitter::Query;

use super::DefinitionKind;
use crate::Language;

/// A query and what its captures mean.
pub(super) struct Rules {
    pub(super) query: Query,
    pub(super) captures: Vec<Capture>,
    /// Text between the parts of a name, by pattern, where `#set! join` gives one.
    pub(super) joins: HashMap<usize, Box<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capture {
    Defines(DefinitionKind),
    Name,
    Receiver,
    Around,
    Aside,
    /// Captured for a predicate.
    Other,
}

impl Capture {
    fn named(name: &str) -> Self {
        match name {
            "name" => Self::Name,
            "receiver" => Self::Receiver,
            "around" => Self::Around,
            "aside" => Self::Aside,
            _ => DefinitionKind::named(name).map_or(Self::Other, Self::Defines),
        }
    }
}

/// The texts of a language's query, one after the other.
fn texts(language: &str) -> Option<&'static [&'static str]> {
    const ECMASCRIPT: &str = include_str!("ecmascript.scm");
    const TYPESCRIPT: &str = include_str!("typescript.scm");
    const C: &str = include_str!("c.scm");
    Some(match language {
        "c" => &[C],
        "cpp" => &[include_str!("cpp.scm"), C],
        "csharp" => &[include_str!("csharp.scm")],
        "css" => &[include_str!("css.scm")],
        "dart" => &[include_str!("dart.scm")],
        "elixir" => &[include_str!("elixir.scm")],
        "go" => &[include_str!("go.scm")],
        "graphql" => &[include_str!("graphql.scm")],
        "java" => &[include_str!("java.scm")],
        "javascript" => &[ECMASCRIPT, include_str!("javascript.scm")],
        "json" => &[include_str!("json.scm")],
        "kotlin" => &[include_str!("kotlin.scm")],
        "lua" => &[include_str!("lua.scm")],
        "php" => &[include_str!("php.scm")],
        "proto" => &[include_str!("proto.scm")],
        "python" => &[include_str!("python.scm")],
        "ruby" => &[include_str!("ruby.scm")],
        "rust" => &[include_str!("rust.scm")],
        "scala" => &[include_str!("scala.scm")],
        "shellscript" => &[include_str!("shellscript.scm")],
        "swift" => &[include_str!("swift.scm")],
        "terraform" => &[include_str!("terraform.scm")],
        "typescript" | "typescriptreact" => &[ECMASCRIPT, TYPESCRIPT],
        "yaml" => &[include_str!("yaml.scm")],
        "zig" => &[include_str!("zig.scm")],
        _ => return None,
    })
}

/// Whether a language has definitions of other kinds than the minor ones.
pub(super) fn has_major(language: Language) -> bool {
    let is_major = |it: &Capture| matches!(it, Capture::Defines(kind) if !kind.is_minor());
    of(language).is_some_and(|it| it.captures.iter().any(is_major))
}

/// The rules of a language, which are made once.
pub(super) fn of(language: Language) -> Option<Arc<Rules>> {
    static KNOWN: LazyLock<Mutex<HashMap<Language, Option<Arc<Rules>>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock();
    let rules = known.entry(language).or_insert_with(|| made(language)?.ok().map(Arc::new));
    rules.clone()
}

/// The rules of a language; the error says what is wrong with its query.
pub(super) fn made(language: Language) -> Option<Result<Rules, String>> {
    let text = texts(language.name())?.concat();
    let grammar = match language.grammar() {
        Ok(it) => it,
        Err(error) => return Some(Err(error)),
    };
    let query = Query::new(&grammar, &text).map_err(|error| error.to_string());
    Some(query.map(Rules::new))
}

impl Rules {
    fn new(query: Query) -> Self {
        let captures = query.capture_names().iter().map(|it| Capture::named(it)).collect();
        let join = |pattern| {
            let properties = query.property_settings(pattern);
            let join = properties.iter().find(|it| &*it.key == "join")?;
            Some((pattern, join.value.clone()?))
        };
        let joins = (0..query.pattern_count()).filter_map(join).collect();
        Self { query, captures, joins }
    }
}
