//! Choice of the errors to report when a value matches none of several forms: those of the form that was most likely meant.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{JsonTypeSet, ValidationError};
use serde_json::Value;

use crate::Violation;
use crate::message::{self, Teller};
use crate::place::ViolationPart;

type Form = [ValidationError<'static>];

/// Tells what is wrong with `error`'s value by `forms`, the errors that each of the allowed forms has.
pub(crate) fn tell(
    teller: &Teller<'_>,
    error: &ValidationError<'_>,
    forms: &[Vec<ValidationError<'static>>],
    found: &mut Vec<Violation>,
) {
    let at = error.instance_path().as_str();
    let fitting: Vec<&Form> = forms.iter().map(Vec::as_slice).filter(|it| has_type(it, at)).collect();
    let value: &Value = error.instance();
    let sentence = match &fitting[..] {
        [] => Some((ViolationPart::Value, wrong_type(forms, at, value))),
        _ => options(&fitting, at)
            .map(|it| (ViolationPart::Value, message::not_one_of(value, &it)))
            .or_else(|| missing(&fitting, at).map(|it| (ViolationPart::Whole, it))),
    };
    match sentence {
        Some((place, sentence)) => teller.push(error, None, place, sentence, found),
        None => {
            let nearest = fitting.into_iter().min_by_key(|it| distance(it, at)).unwrap_or_default();
            teller.tell_all(nearest, found);
        }
    }
}

/// Whether the form does not require another type of the value at `at`.
fn has_type(form: &Form, at: &str) -> bool {
    form.iter().all(|it| it.instance_path().as_str() != at || !is_of_type(it, at))
}

/// Whether the error is that the value at `at` has the wrong type.
fn is_of_type(error: &ValidationError<'_>, at: &str) -> bool {
    match error.kind() {
        Kind::Type { .. } => true,
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            !context.iter().any(|form| has_type(form, at))
        }
        // Words are asked for, say, and this is a list.
        Kind::Constant { expected_value } => !is_alike(expected_value, error.instance()),
        Kind::Enum { options } => {
            !options.as_array().is_some_and(|it| it.iter().any(|it| is_alike(it, error.instance())))
        }
        _ => false,
    }
}

fn is_alike(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

fn wrong_type(forms: &[Vec<ValidationError<'static>>], at: &str, value: &Value) -> String {
    let mut wanted = JsonTypeSet::empty();
    collect_types(forms, at, &mut wanted);
    match wanted.iter().next() {
        None => format!("{} is not one of the forms that are allowed", message::short(value)),
        Some(_) => format!("should be {}, not {}", message::types(wanted), message::type_of(value)),
    }
}

fn collect_types(forms: &[Vec<ValidationError<'static>>], at: &str, wanted: &mut JsonTypeSet) {
    for error in forms.iter().flatten().filter(|it| it.instance_path().as_str() == at) {
        match error.kind() {
            Kind::Type { kind } => message::type_set(kind).iter().for_each(|it| *wanted = wanted.insert(it)),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => collect_types(context, at, wanted),
            Kind::Constant { expected_value } => *wanted = wanted.insert(message::json_type(expected_value)),
            Kind::Enum { options } => {
                let options = options.as_array().into_iter().flatten();
                options.for_each(|it| *wanted = wanted.insert(message::json_type(it)));
            }
            _ => {}
        }
    }
}

/// All the words that any of the forms allows, if words are all that is wrong.
fn options(forms: &[&Form], at: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for form in forms {
        let [error] = form else { return None };
        if error.instance_path().as_str() != at {
            return None;
        }
        match error.kind() {
            Kind::Enum { options } => all.extend(message::words(options)),
            Kind::Constant { expected_value } => {
                all.push(message::words(&Value::Array(vec![(**expected_value).clone()])).remove(0))
            }
            _ => return None,
        }
    }
    Some(all)
}

/// The properties of which one is missing, if that is all that is wrong.
fn missing(forms: &[&Form], at: &str) -> Option<String> {
    let mut names = Vec::new();
    for form in forms {
        let [error] = form else { return None };
        match error.kind() {
            Kind::Required { property } if error.instance_path().as_str() == at => {
                names.push(message::code(property.as_str()?));
            }
            _ => return None,
        }
    }
    names.dedup();
    Some(format!("{} is missing", message::list(&names, "or")))
}

/// Returns the distance of a value from a form: a form that requires another word for its kind was not meant, then the fewest
/// errors count, then those that are deepest.
fn distance(form: &Form, at: &str) -> (bool, usize, std::cmp::Reverse<usize>) {
    let is_other = form.iter().any(|it| {
        let is_direct =
            it.instance_path().as_str().strip_prefix(at).is_some_and(|it| it.matches('/').count() <= 1);
        is_direct && matches!(it.kind(), Kind::Enum { .. } | Kind::Constant { .. })
    });
    let depth = form.iter().map(|it| it.instance_path().as_str().matches('/').count()).max().unwrap_or(0);
    (is_other, form.len(), std::cmp::Reverse(depth))
}
