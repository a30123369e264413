//! Detection of templates, from which a program makes SQL.

use broker_plugin_sdk::template::{Tag, tags};

/// Jinja's tags. In PostgreSQL `<%` is an operator, and `${ … }` is a placeholder.
const TAGS: [Tag; 3] = [Tag::Value, Tag::Statement, Tag::Comment];

/// Templaters that sqruff can run without Python.
const OWN: [&str; 2] = ["raw", "placeholder"];

/// Why not to lint the text as it is, if so. `templater` is what is configured, if anything is.
pub(crate) fn objection(text: &str, templater: Option<&str>) -> Option<String> {
    let needed = match templater {
        Some(it) if is_own(it) => return None,
        Some("python") if text.contains(['{', '}']) => "python",
        Some("sqlmesh") if text.contains('@') || text.contains("MODEL") || has_jinja(text) => "sqlmesh",
        Some("python" | "sqlmesh") => return None,
        Some("dbt") if has_jinja(text) => "dbt",
        _ if has_jinja(text) => "jinja",
        _ => return None,
    };
    Some(format!("it needs the templater `{needed}`, which is written in Python and not run here"))
}

/// Whether sqruff can run a templater without Python.
pub(crate) fn is_own(templater: &str) -> bool {
    OWN.contains(&templater)
}

/// `{%`, `{#` or `{{`, where it is neither in a comment nor part of a string in which it makes no sense.
fn has_jinja(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '\'', '"', '-', '/']) {
        let (before, sign) = rest.split_at(at);
        let len = match sign.as_bytes()[0] {
            b'\'' | b'"' => {
                let len = string(before, sign);
                if string_has_jinja(&sign[..len]) {
                    return true;
                }
                len
            }
            b'{' if starts_jinja(sign) => return true,
            _ if sign.starts_with("--") => sign.find('\n').unwrap_or(sign.len()),
            _ if sign.starts_with("/*") => sign.find("*/").unwrap_or(sign.len()),
            _ => 1,
        };
        rest = &sign[len..];
    }
    false
}

/// Whether a text begins with the start of a tag; a value or a statement need not be closed to count: SQL has no such signs.
fn starts_jinja(sign: &str) -> bool {
    let begins = |it: Tag| it.open().is_some_and(|it| sign.starts_with(it));
    begins(Tag::Value) || begins(Tag::Statement) || begins(Tag::Comment) && sign.contains("#}")
}

/// Length of a string or a name. A quote that is doubled is part of it, and one after `\` is in `E'…'`.
fn string(before: &str, sign: &str) -> usize {
    let quote = sign.chars().next();
    let has_escapes = before.ends_with(['E', 'e']);
    let mut chars = sign.char_indices().skip(1).peekable();
    while let Some((at, it)) = chars.next() {
        match it {
            '\\' if has_escapes => drop(chars.next()),
            it if Some(it) == quote && chars.next_if(|it| Some(it.1) == quote).is_none() => return at + 1,
            _ => {}
        }
    }
    sign.len()
}

/// Whether a string has a whole tag: `'{%'` is a pattern, and `'{{1,2},{3,4}}'` a list of lists.
fn string_has_jinja(string: &str) -> bool {
    tags(string.as_bytes(), &TAGS).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        let needed =
            |text, templater| objection(text, templater).map(|it| it.split('`').nth(1).unwrap().to_owned());
        for text in [
            "SELECT {{ a }}",
            "{% if a %}",
            "{# a #} SELECT 1",
            "SELECT '{{ a }}'",
            "SELECT '{{ ref(1, 2) }}'",
            "SELECT '{{ a | default(\"b\", true) }}'",
            "SELECT {{ {'a': 1}.a }}",
            "SELECT \"{{ a }}\"",
            "SELECT 'it''s {{ a }}'",
        ] {
            assert_eq!(needed(text, None).as_deref(), Some("jinja"), "{text}");
            assert_eq!(needed(text, Some("dbt")).as_deref(), Some("dbt"), "{text}");
            assert_eq!(needed(text, Some("raw")), None, "{text}");
        }
        for text in [
            "SELECT 1",
            "SELECT '{{1,2},{3,4}}'",
            "SELECT '{{a,b}}'::text[]",
            "SELECT '{\"a\": {}}'",
            "SELECT 'it''s'",
            "SELECT a LIKE '{%'",
            "SELECT a <% b, c %> d",
            "SELECT '{{\"a\"}}'",
            "SELECT regexp_replace(a,'{{','')",
            "SELECT 1 -- see {{ docs }}",
            "SELECT 1 /* {% a %} */",
            "SELECT \"it's\", '{{1,2}}'",
            "-- it's\nSELECT '{{1,2}}'",
            "SELECT E'\\'', '{{1,2}}'",
        ] {
            assert_eq!(needed(text, None), None, "{text}");
            assert_eq!(needed(text, Some("jinja")), None, "{text}");
        }
        assert_eq!(needed("SELECT {a}", Some("python")).as_deref(), Some("python"));
        assert_eq!(needed("SELECT 1", Some("python")), None);
        assert_eq!(needed("MODEL (name a); SELECT @b", Some("sqlmesh")).as_deref(), Some("sqlmesh"));
    }
}
