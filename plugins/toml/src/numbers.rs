//! Numbers without digits, or with digits of another kind: the parser leaves them to the reader of the value.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// Collects the places of such numbers in `table` and below it.
pub(crate) fn invalid(table: &DeTable, found: &mut Vec<Range<usize>>) {
    table.values().for_each(|it| value(it, found));
}

fn value(it: &Spanned<DeValue>, found: &mut Vec<Range<usize>>) {
    match it.get_ref() {
        DeValue::Integer(integer) if !is_integer(integer) => found.push(it.span()),
        DeValue::Float(float) if float.as_str().parse::<f64>().is_err() => found.push(it.span()),
        DeValue::Array(array) => array.iter().for_each(|it| value(it, found)),
        DeValue::Table(table) => invalid(table, found),
        _ => {}
    }
}

/// Any size: how much fits is up to the reader.
fn is_integer(integer: &DeInteger) -> bool {
    let digits = integer.as_str();
    let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    !digits.is_empty() && digits.chars().all(|it| it.is_digit(integer.radix()))
}
