//! The table of rules.

use broker_plugin_sdk::{FixAvailability, Rule};

pub(crate) const BIDI_CONTROL: &str = "bidi-control";
pub(crate) const INVALID_UTF8: &str = "invalid-utf8";
pub(crate) const MERGE_CONFLICT: &str = "merge-conflict";
pub(crate) const MIXED_LINE_ENDINGS: &str = "mixed-line-endings";
pub(crate) const PRIVATE_KEY: &str = "private-key";
pub(crate) const SAMPLE_PRIVATE_KEY: &str = "sample-private-key";
pub(crate) const SERVICE_TOKEN: &str = "service-token";

/// Code, summary, explanation.
const TABLE: [(&str, &str, &str); 7] = [
    (
        BIDI_CONTROL,
        "Invisible characters change the direction of the text",
        "Text with these characters reads differently for a person than for a compiler: a comment may look like \
         code, or code like a comment ([Trojan Source](https://trojansource.codes), CVE-2021-42574).\n\n\
         Reported are embeddings, overrides and isolates (U+202A to U+202E, U+2066 to U+2069) that are still open \
         at the end of their line, in any file, and overrides in source code, closed or not. Translations and \
         prose in right-to-left scripts, which close what they open, are left alone.",
    ),
    (
        INVALID_UTF8,
        "The file is not valid UTF-8",
        "Most tools read source as UTF-8 and fail on other bytes, or replace them.\n\nReported once per file, at the \
         first byte that does not belong. Left alone are UTF-16 and UTF-32 with a byte order mark, and files that \
         declare another encoding in their first lines or their header (`coding: latin-1`, `charset=`, \
         `encoding=`).",
    ),
    (
        MERGE_CONFLICT,
        "A merge conflict was left unresolved",
        "The lines that Git puts around the two sides of a conflict are still there: `<<<<<<<`, `=======` and \
         `>>>>>>>`, in this order. Left alone are examples: in listings of Markdown and AsciiDoc, in \
         here-documents of scripts, and in tests in string literals and in files that are called after conflicts or merges.",
    ),
    (
        MIXED_LINE_ENDINGS,
        "The file's lines end in different ways",
        "Some lines end in CRLF, others in LF. Editors and version control then show changes of lines that are \
         otherwise equal, and shells and parsers may see a stray carriage return. The fix gives all lines the more frequent ending.",
    ),
    (
        PRIVATE_KEY,
        "The file holds a private key",
        "Any reader of the file can use the key; one that was ever committed should be revoked. Reported are \
         PEM and OpenPGP blocks with a body that is long enough to be a key, not the marker alone. \
         Keys in files of tests and examples, and those that are published for all to use (Vagrant's, for one), are left to \
         `sample-private-key`.",
    ),
    (
        SAMPLE_PRIVATE_KEY,
        "A file of tests or examples holds a private key",
        "Keys to test or to show with protect nothing, as long as they are used for nothing else. Files of tests and \
         examples are told by their names and folders (`tests`, `testdata`, `spec`, `examples`, `demo` …). Told as well are keys that are published for all to use, and those \
         in files whose name says `insecure` or `snakeoil`.",
    ),
    (
        SERVICE_TOKEN,
        "The file holds a token of a service",
        "Any reader of the file can use the token; one that was ever committed should be revoked. Reported are tokens \
         that their prefix and shape tell for certain, such as GitHub's, npm's, Slack's or Stripe's, with their checksum \
         where they have one. An access key of AWS is reported if its secret is beside it. Left alone are examples \
         (words, sequences and repetitions), keys that are public by design, keys of test modes, and lines with a comment \
         by which gitleaks, detect-secrets, secretlint or TruffleHog accept them. A token without a checksum is left alone in \
         files of tests, on a line that calls it an example, and in a file that has the regular expression of such tokens. \
         What is found in files of tests is a warning.",
    ),
];

/// Every rule. All but one are on by default.
pub(crate) fn all() -> Vec<Rule> {
    TABLE.iter().map(|it| rule(*it)).collect()
}

fn rule((code, summary, explanation): (&str, &str, &str)) -> Rule {
    let fix = if code == MIXED_LINE_ENDINGS { FixAvailability::Sometimes } else { FixAvailability::None };
    let default = code != SAMPLE_PRIVATE_KEY;
    Rule { explanation: explanation.to_owned(), fix, default, ..Rule::new(code, summary) }
}
