//! Comments that configure sqruff for their file: `-- sqlfluff:dialect:postgres`.

use std::ops::Range;

use sqruff_lib::core::config::{FluffConfig, Value};

use crate::config::Values;
use crate::values;

const MARKS: [&str; 2] = ["-- sqlfluff:", "-- sqruff:"];

pub(crate) fn has_any(text: &str) -> bool {
    directives(text).next().is_some()
}

/// The dialect that one names.
pub(crate) fn dialect(text: &str) -> Option<&str> {
    let named = directives(text).filter(|(_, it)| matches!(&path(it)[..], ["dialect"] | ["core", "dialect"]));
    named.last().and_then(|(_, it)| it.rsplit(':').next()).map(str::trim)
}

/// Takes over what they say. The error is about one of them.
pub(crate) fn apply(text: &str, config: &mut FluffConfig) -> Result<(), (Range<usize>, String)> {
    for (at, directive) in directives(text) {
        if clashes(&path(directive), config) {
            return Err((at, "there is no such setting of sqruff".to_owned()));
        }
        if let Some(problem) = values::problem(&as_file(directive)) {
            return Err((at, problem));
        }
        config.process_inline_config(directive).map_err(|it| (at, it.value))?;
    }
    Ok(())
}

/// Directives without blanks around them, and their ranges.
fn directives(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let place = move |line: &str| {
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        start..start + line.len()
    };
    let lines = text.lines().map(str::trim).filter(|it| MARKS.iter().any(|mark| it.starts_with(mark)));
    lines.map(move |it| (place(it), it))
}

/// The sections, and the key.
fn path(directive: &str) -> Vec<&str> {
    let mut parts: Vec<_> = directive.split(':').skip(1).map(str::trim).collect();
    parts.pop();
    parts
}

/// Values of a configuration file with the directive's setting.
fn as_file(directive: &str) -> Values {
    let value = directive.rsplit(':').next().unwrap_or_default().trim();
    let value = value.parse().unwrap_or(Value::None);
    let mut path = path(directive);
    let key = path.pop().unwrap_or_default();
    let path = if path.is_empty() { vec!["core"] } else { path };
    let section = |key: &str, value| Values::from_iter([(key.to_owned(), value)]);
    path.into_iter().rev().fold(section(key, value), |inner, name| section(name, Value::Map(inner)))
}

/// Whether the directive takes a value for a section, or a section for a value, at which sqruff breaks off.
fn clashes(path: &[&str], config: &FluffConfig) -> bool {
    let Some((key, sections)) = path.split_last() else { return false };
    let sections = if sections.is_empty() { &["core"][..] } else { sections };
    let Some(mut value) = config.raw.get(sections[0]) else { return false };
    for section in &sections[1..] {
        match value.as_map() {
            Some(map) => match map.get(*section) {
                Some(inner) => value = inner,
                None => return false,
            },
            None => return true,
        }
    }
    value.as_map().is_none_or(|it| it.get(*key).is_some_and(|it| matches!(it, Value::Map(_))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_them() {
        let text = "SELECT 1;\n  -- sqlfluff:dialect:postgres \n-- sqruff:rules:x:y:z\n";
        let found: Vec<_> = directives(text).map(|(at, it)| (at.start, path(it))).collect();
        assert_eq!(found, [(12, vec!["dialect"]), (42, vec!["rules", "x", "y"])]);
        assert_eq!((dialect(text), dialect("-- sqlfluff:rules:all\n")), (Some("postgres"), None));
        let config = FluffConfig::default();
        assert!(clashes(&["core"], &config).eq(&false) && clashes(&["core", "dialect", "x"], &config));
        assert!(clashes(&["rules", "capitalisation.keywords"], &config) && !clashes(&["new", "x"], &config));
    }
}
