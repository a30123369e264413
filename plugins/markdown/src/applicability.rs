//! Applicability of fixes, by rule: rumdl has none.
//!
//! Safe is what leaves the rendered document as it was, down to whether a list's items are paragraphs. Each fix of
//! these rules that was tried, one at a time, in the Markdown files of 800 crates and ten other packages did that, but for a
//! line break at the end of an HTML block (MD047) and one file's front matter (MD022).
//! The others change what is rendered in some of them (MD009 ends a line that was broken with four spaces, MD031
//! spreads a list, MD004 splits one in two until its other items are mended), lose text that is not shown (MD056),
//! or have too few examples there to tell.

use broker_plugin_sdk::Applicability;

/// In the order of the codes.
const SAFE: [&str; 13] = [
    "MD003", // style of headings
    "MD012", // blank lines in a row
    "MD019", // spaces after the marker of a heading
    "MD022", // blank lines around headings
    "MD030", // spaces after the marker of a list's item
    "MD032", // blank lines around lists
    "MD047", // one line break at the end
    "MD049", // style of emphasis
    "MD055", // pipes around a table's rows
    "MD062", // spaces around a link's address
    "MD064", // spaces in a row
    "MD071", // a blank line after the front matter
    "MD085", // indentation within a paragraph
];

pub(crate) fn of(code: &str) -> Applicability {
    if SAFE.contains(&code) { Applicability::Safe } else { Applicability::Unsafe }
}
