//! The table of rules.

use broker_plugin_sdk::{FixAvailability, Rule};

pub(crate) const COMMENT: &str = "comment";
pub(crate) const DUPLICATE_KEY: &str = "duplicate-key";
pub(crate) const SCHEMA: &str = "schema";
pub(crate) const SYNTAX_ERROR: &str = "syntax-error";
pub(crate) const TRAILING_COMMA: &str = "trailing-comma";

/// Code, summary, explanation.
const TABLE: [(&str, &str, &str); 5] = [
    (
        COMMENT,
        "Strict JSON has a comment",
        "JSON has no comments ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)), and most readers refuse the file.\n\n\
         Not reported in files that their tools read with comments: `*.jsonc`, `tsconfig.json` and its kind, what is in \
         `.vscode` (and settings for VS Code below other folders of its name), `.neoconf.json`, `coc-settings.json`, \
         `devcontainer.json`, `.eslintrc`, `*.json5`, and others that are known by name.",
    ),
    (
        DUPLICATE_KEY,
        "An object has a key twice",
        "What a reader makes of this is undefined; most take the last value and drop the others without a word. Keys that \
         are comments by custom (`//`, `_comment`) may be repeated.",
    ),
    (
        SCHEMA,
        "The file does not fit its schema",
        "The schema is the one that the file names in `$schema`, if that is a file of the workspace or one of those that \
         the plugin carries along, or else the one for files of this name (`package.json`, `tsconfig.json`, \
         `.eslintrc.json`, …). A file that says it is a JSON Schema is checked against its draft.\n\nNothing is fetched from \
         the network: where the schema is not at hand, the log says that the file was not checked against it.",
    ),
    (
        SYNTAX_ERROR,
        "The file is not JSON",
        "How strict the readers of a file are is told by its name: `.json` is JSON as in \
         [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259), `.json5` is [JSON5](https://json5.org), and some files are \
         read with comments. Left alone are templates (`{{ name }}`, `{% if %}`) and files of many values.",
    ),
    (
        TRAILING_COMMA,
        "Strict JSON has a comma after the last item",
        "Most readers refuse the file. Not reported where comments are allowed, either.",
    ),
];

/// Every rule; all are on.
pub(crate) fn all() -> Vec<Rule> {
    TABLE.iter().map(|it| rule(*it)).collect()
}

fn rule((code, summary, explanation): (&str, &str, &str)) -> Rule {
    let fix = if code == TRAILING_COMMA { FixAvailability::Always } else { FixAvailability::None };
    Rule { explanation: explanation.to_owned(), fix, ..Rule::new(code, summary) }
}
