//! Whether a file is SQL, or a text that a program makes SQL of.

/// What sqruff can do without Python.
const OWN: [&str; 2] = ["raw", "placeholder"];

/// Why not to lint the text as it is, if so. `templater` is what is configured.
pub(crate) fn objection(text: &str, templater: &str) -> Option<String> {
    let needed = match templater {
        "python" if text.contains(['{', '}']) => "python",
        "sqlmesh" if text.contains('@') || text.contains("MODEL") || has_jinja(text) => "sqlmesh",
        "python" | "sqlmesh" => return None,
        "dbt" if has_jinja(text) => "dbt",
        _ if has_jinja(text) => "jinja",
        _ => return None,
    };
    Some(format!("it needs the templater `{needed}`, which is written in Python and not run here"))
}

/// Whether it is one that sqruff can do without Python.
pub(crate) fn is_own(templater: &str) -> bool {
    OWN.contains(&templater)
}

/// `{%`, `{#` or `{{`, where it is not a list of lists in a string (`'{{1,2},{3,4}}'`).
fn has_jinja(text: &str) -> bool {
    let mut is_string = false;
    let mut rest = text;
    while let Some(at) = rest.find(['{', '\'']) {
        let sign = &rest[at..];
        rest = &sign[1..];
        if sign.starts_with('\'') {
            is_string = !is_string;
        } else if starts_jinja(sign, is_string) {
            return true;
        }
    }
    false
}

fn starts_jinja(sign: &str, is_string: bool) -> bool {
    sign.starts_with("{%")
        || sign.starts_with("{#") && sign.contains("#}")
        || sign.starts_with("{{") && !(is_string && is_list(&sign[2..]))
}

fn is_list(inner: &str) -> bool {
    let inner = inner.split(['}', '\'']).next().unwrap_or_default();
    inner.starts_with(['{', '"', '-'])
        || inner.starts_with(|it: char| it.is_ascii_digit())
        || inner.contains(',') && !inner.contains('(')
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
        ] {
            assert_eq!(needed(text, "raw").as_deref(), Some("jinja"), "{text}");
            assert_eq!(needed(text, "dbt").as_deref(), Some("dbt"), "{text}");
        }
        for text in [
            "SELECT 1",
            "SELECT '{{1,2},{3,4}}'",
            "SELECT '{{a,b}}'::text[]",
            "SELECT '{\"a\": {}}'",
            "SELECT 'it''s'",
        ] {
            assert_eq!(needed(text, "raw"), None, "{text}");
            assert_eq!(needed(text, "jinja"), None, "{text}");
        }
        assert_eq!(needed("SELECT {a}", "python").as_deref(), Some("python"));
        assert_eq!(needed("SELECT 1", "python"), None);
        assert_eq!(needed("MODEL (name a); SELECT @b", "sqlmesh").as_deref(), Some("sqlmesh"));
    }
}
