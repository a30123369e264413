//! Compilation of schemas to validators. Fetches nothing: references must lead to the bundle or below the workspace's root, or
//! the schema cannot be used.

use std::error::Error;
use std::path::PathBuf;

use jsonschema::meta::MetaValidator;
use jsonschema::paths::Location;
use jsonschema::{Keyword, Retrieve, Uri, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::{bundle, catalog, files, message};

/// A list of words of which one is meant, however it is written; `tsc` reads its options so.
const ENUM_IGNORE_CASE: &str = "enumIgnoreCase";

/// A schema of the bundle. It refers to nothing else.
pub(crate) fn bundled(schema: &Value) -> Result<Validator, String> {
    options().build(schema).map_err(|it| it.to_string())
}

/// A schema at `path` below `root`.
pub(crate) fn local(schema: &Value, path: &str, root: PathBuf) -> Result<Validator, String> {
    let base = format!("{FILE}{path}");
    options().with_base_uri(base).with_retriever(Files { root }).build(schema).map_err(|it| it.to_string())
}

/// Returns the constructor of the validator of schemas, if `address` is that of a draft of JSON Schema.
pub(crate) fn draft(address: &str) -> Option<fn() -> MetaValidator<'static>> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    match rest.trim_end_matches('#') {
        "json-schema.org/draft-04/schema" => Some(jsonschema::draft4::meta::validator),
        "json-schema.org/draft-06/schema" => Some(jsonschema::draft6::meta::validator),
        "json-schema.org/draft-07/schema" => Some(jsonschema::draft7::meta::validator),
        "json-schema.org/draft/2019-09/schema" => Some(jsonschema::draft201909::meta::validator),
        "json-schema.org/draft/2020-12/schema" => Some(jsonschema::draft202012::meta::validator),
        _ => None,
    }
}

/// Formats are left out: what calls itself a URI or a pattern in a schema is often less strict in the tool.
fn options<'i>() -> jsonschema::ValidationOptions<'i> {
    jsonschema::options().should_validate_formats(false).with_keyword(ENUM_IGNORE_CASE, ignore_case)
}

/// Base address of files below the root while a schema is compiled.
const FILE: &str = "file:///";

/// Finds what a schema refers to.
struct Files {
    root: PathBuf,
}

impl Retrieve for Files {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        match uri.as_str().strip_prefix(FILE) {
            Some(path) => Ok(files::json(&self.root, path)?),
            None => Ok(catalog::by_address(uri.as_str())
                .and_then(bundle::schema)
                .ok_or_else(|| format!("it refers to {uri}, which is not fetched"))?),
        }
    }
}

struct IgnoreCase(Vec<String>);

fn ignore_case<'a>(
    _: &'a Map<String, Value>,
    options: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    let words = options.as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok(Box::new(IgnoreCase(words.map(str::to_owned).collect())))
}

impl<'i> Keyword<'i> for IgnoreCase {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        Err(ValidationError::custom(message::not_one_of(instance, &self.0)))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        instance.as_str().is_none_or(|it| self.0.iter().any(|option| option.eq_ignore_ascii_case(it)))
    }
}
