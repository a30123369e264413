//! Errors of one cause: a value of a type that is not allowed is none of the allowed values either, and has none of the
//! allowed forms.

use std::collections::{BTreeSet, HashMap};

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

/// Kind of expectation that an error is about. Later ones are more specific about what is allowed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Expected {
    Forms,
    Type,
    Values,
}

/// The errors without those that another error about the same value explains.
pub(crate) fn apart<'e, 'a>(
    errors: &'e [ValidationError<'a>],
) -> impl Iterator<Item = &'e ValidationError<'a>> {
    let mut known: HashMap<&str, BTreeSet<Expected>> = HashMap::new();
    for error in errors {
        known.entry(error.instance_path().as_str()).or_default().extend(expected(error));
    }
    errors.iter().filter(move |it| {
        let (own, all) = (expected(it), &known[it.instance_path().as_str()]);
        own.is_none() || !all.contains(&Expected::Type) || own.as_ref() == all.last()
    })
}

fn expected(error: &ValidationError<'_>) -> Option<Expected> {
    match error.kind() {
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => Some(Expected::Forms),
        Kind::Type { .. } => Some(Expected::Type),
        Kind::Constant { .. } | Kind::Enum { .. } => Some(Expected::Values),
        _ => None,
    }
}
