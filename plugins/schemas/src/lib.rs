//! Validation of files with a well-known name, or that name their schema, against that schema, with messages for people.
//!
//! A caller parses the file by itself, asks [`Schemas::for_file`] which schema holds, and [`Schema::check`] what is
//! wrong; [`place::span`] says where, with the caller's knowledge of which part of the text a value is.
//!
//! Left out: fetching schemas from the network, `format` (tools are often less strict), and findings that the schema
//! cannot tell well (see `nearest`).

mod bundle;
mod catalog;
mod causes;
mod compile;
mod files;
mod known;
mod message;
mod nearest;
pub mod place;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jsonschema::meta::MetaValidator;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

pub use message::did_you_mean;
pub use place::{Segment, ViolationPart};

/// No file is told of more than this.
const MAX_ERRORS: usize = 20;

/// The schemas that were needed so far. One per plugin instance: compiling one costs milliseconds.
#[derive(Default)]
pub struct Schemas {
    root: PathBuf,
    bundled: BTreeMap<&'static str, Rc<Compiled>>,
    local: BTreeMap<String, Result<Rc<Compiled>, Rc<str>>>,
}

/// Result of the search for a file's schema.
pub enum SchemaLookup {
    Schema(Schema),
    /// No schema is known for the file.
    Nothing,
    /// The file names one that cannot be used: why, in one sentence. It is not checked against any.
    Unusable(String),
}

/// Schema that a file has to follow.
pub struct Schema {
    parts: Vec<(&'static str, Rc<Compiled>)>,
}

/// Something that breaks the schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    pub path: Vec<Segment>,
    pub place: ViolationPart,
    /// Message without the path.
    pub message: String,
}

struct Compiled {
    /// The schema, for messages about what is allowed.
    schema: Value,
    validator: Check,
}

enum Check {
    Own(Validator),
    /// The file is a schema itself: checks it against its draft of JSON Schema.
    Draft(MetaValidator<'static>),
}

impl Schemas {
    /// Makes the schemas for a workspace whose files are below `root`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), ..Self::default() }
    }

    /// Has the bundled schemas with these names ready. For work ahead of time.
    pub fn prepare(&mut self, names: &[&str]) {
        for name in names.iter().filter_map(|it| bundle::known(it)) {
            self.compiled(name);
        }
    }

    /// Switches to a workspace below `root`.
    pub fn move_to(&mut self, root: &Path) {
        self.root = root.to_path_buf();
        self.local.clear();
    }

    /// Whether a file at `path` may have a schema by its name.
    pub fn knows(&self, path: &str) -> bool {
        catalog::by_path(path).is_some()
    }

    /// The schema for the file at `path` (from the root), which holds `value`. `declared` is what the file itself says
    /// of it (`$schema`), an address or a path relative to the file; it goes before what the name says.
    pub fn for_file(&mut self, path: &str, declared: Option<&str>, value: &Value) -> SchemaLookup {
        if let Some(declared) = declared {
            return self.declared(path, declared, value);
        }
        match catalog::by_path(path) {
            Some((_, Some(key))) if value.get(key).is_none() => SchemaLookup::Nothing,
            Some((name, _)) => self.bundled(name, value),
            None => SchemaLookup::Nothing,
        }
    }

    fn declared(&mut self, path: &str, declared: &str, value: &Value) -> SchemaLookup {
        if let Some(name) = catalog::by_address(declared) {
            return self.bundled(name, value);
        }
        if let Some(draft) = compile::draft(declared) {
            return self.draft(declared, draft);
        }
        if declared.contains(':') {
            return SchemaLookup::Unusable(format!(
                "the schema {declared} is not one of those that are carried along"
            ));
        }
        let reference = declared.split('#').next().unwrap_or(declared);
        match files::relative(path, reference) {
            Some(file) => self.local(file),
            None => SchemaLookup::Unusable(format!("the schema {declared} is outside of the workspace")),
        }
    }

    fn bundled(&mut self, name: &'static str, value: &Value) -> SchemaLookup {
        let present = |it: &catalog::Part| value.pointer(it.at).is_some_and(|it| !it.is_string());
        let parts = catalog::parts(name).into_iter().filter(present);
        let parts: Option<Vec<_>> = parts.map(|it| Some((it.at, self.compiled(it.schema)?))).collect();
        match parts {
            Some(parts) => SchemaLookup::Schema(Schema { parts }),
            None => SchemaLookup::Unusable(format!("the bundled schema `{name}` cannot be used")),
        }
    }

    fn compiled(&mut self, name: &'static str) -> Option<Rc<Compiled>> {
        if let Some(known) = self.bundled.get(name) {
            return Some(known.clone());
        }
        let schema = bundle::schema(name)?;
        let validator = Check::Own(compile::bundled(&schema).ok()?);
        let compiled = Rc::new(Compiled { schema, validator });
        self.bundled.insert(name, compiled.clone());
        Some(compiled)
    }

    fn draft(&mut self, address: &str, draft: fn() -> MetaValidator<'static>) -> SchemaLookup {
        self.remembered(address.to_owned(), |_| Ok((Check::Draft(draft()), Value::Null)))
    }

    fn local(&mut self, file: String) -> SchemaLookup {
        let path = file.clone();
        self.remembered(file, |root| {
            let schema = files::json(root, &path)?;
            Ok((Check::Own(compile::local(&schema, &path, root.to_path_buf())?), schema))
        })
    }

    fn remembered(
        &mut self,
        key: String,
        make: impl FnOnce(&Path) -> Result<(Check, Value), String>,
    ) -> SchemaLookup {
        let root = &self.root;
        let known = self.local.entry(key).or_insert_with_key(|key| match make(root) {
            Ok((validator, schema)) => Ok(Rc::new(Compiled { schema, validator })),
            Err(why) => Err(format!("the schema `{key}` cannot be used: {why}").into()),
        });
        match known {
            Ok(compiled) => SchemaLookup::Schema(Schema { parts: vec![("", compiled.clone())] }),
            Err(why) => SchemaLookup::Unusable(why.to_string()),
        }
    }
}

impl Schema {
    /// Returns the violations in `value`, the whole file; in the order of paths, the first [`MAX_ERRORS`].
    pub fn check(&self, value: &Value) -> Vec<Violation> {
        let mut found = Vec::new();
        for (at, compiled) in &self.parts {
            let Some(part) = value.pointer(at) else { continue };
            let before = place::segments(at, value);
            let errors: Vec<_> = compiled.validator.errors(part).collect();
            let teller = message::Teller { schema: &compiled.schema, value, before: &before };
            teller.tell_all(&errors, &mut found);
        }
        found.sort();
        found.dedup();
        drop_echoes(&mut found);
        found.truncate(MAX_ERRORS);
        found
    }
}

/// A property whose value does not fit counts as not looked at for `unevaluatedProperties`, and would be called unknown.
fn drop_echoes(found: &mut Vec<Violation>) {
    let all = found.clone();
    let is_echo = |it: &Violation| {
        let others =
            all.iter().filter(|other| other.place != ViolationPart::Key || other.path.len() > it.path.len());
        it.place == ViolationPart::Key && others.into_iter().any(|other| other.path.starts_with(&it.path))
    };
    found.retain(|it| !is_echo(it));
}

impl Check {
    fn errors<'a>(&'a self, value: &'a Value) -> Box<dyn Iterator<Item = ValidationError<'a>> + 'a> {
        match self {
            Self::Own(it) => Box::new(it.iter_errors(value)),
            Self::Draft(it) => Box::new(it.iter_errors(value)),
        }
    }
}
