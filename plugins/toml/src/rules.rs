//! The table of rules.

use broker_plugin_sdk::Rule;

pub(crate) const DUPLICATE_KEY: &str = "duplicate-key";
pub(crate) const INVALID_SYNTAX: &str = "invalid-syntax";
pub(crate) const SCHEMA: &str = "schema";
pub(crate) const TOML_1_1: &str = "toml-1.1";

/// Code, summary, explanation, page.
const TABLE: [(&str, &str, &str, &str); 4] = [
    (
        DUPLICATE_KEY,
        "A key or table is defined twice",
        "A key may be defined once, and a table once, whether by `[table]`, by dotted keys or in braces. Readers refuse \
         the whole file.",
        "https://toml.io/en/v1.0.0#keys",
    ),
    (
        INVALID_SYNTAX,
        "The file is not TOML",
        "No reader of TOML takes the file as it is. All errors are told, not the first alone; one may be the \
         consequence of another.",
        "https://toml.io/en/v1.0.0",
    ),
    (
        SCHEMA,
        "The file is not as its schema wants it",
        "A file with a well-known name (`Cargo.toml`, `pyproject.toml` …) follows the schema that is known for it. It may \
         name another in a comment at its beginning (`#:schema ./my.json`), and so may taplo's configuration (`[schema]`); \
         schemas that are only on the network are not used.",
        "https://taplo.tamasfe.dev/configuration/using-schemas.html",
    ),
    (
        TOML_1_1,
        "The file needs a reader of TOML 1.1",
        "TOML 1.1 takes what TOML 1.0 does not: line breaks, comments and a comma at the end in an inline table, times \
         without seconds, and the escapes `\\e` and `\\xHH`. Readers of TOML 1.0, such as Python's `tomllib` up to 3.14 \
         and cargo up to 1.93, refuse a file with any of them.",
        "https://toml.io/en/v1.1.0",
    ),
];

/// Every rule; all are on.
pub(crate) fn all() -> Vec<Rule> {
    let rule = |(code, summary, explanation, url): (&str, &str, &str, &str)| Rule {
        explanation: explanation.to_owned(),
        url: Some(url.to_owned()),
        ..Rule::new(code, summary)
    };
    TABLE.iter().map(|it| rule(*it)).collect()
}
