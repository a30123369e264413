//! What is on where nothing is configured: what is broken rather than what is not to everybody's taste.
//!
//! rumdl's own defaults have one finding per 4 to 16 lines in the documentation of well-kept projects that never
//! asked for them (black 926 in 7,795 lines, eslint-plugin-import 1,119 in 7,634, fastapi 583 in 3,506), nearly all
//! about long lines, HTML, blank lines and indentation. The rules below have one per 250 lines or fewer in most
//! of them (fastapi has one per 150, pymdown-extensions one per 37), and one per 400 in 2,141 Markdown files of 800 crates.
//!
//! Not among them, though about mistakes: MD018 and MD020 (`#heading`), most of whose findings are references to
//! issues and fragments of code.

/// In the order of the codes.
pub(crate) const RULES: [&str; 15] = [
    "MD011", // (text)[link]
    "MD037", // ** not strong **
    "MD042", // a link to nowhere
    "MD051", // a link to a heading that is not there
    "MD052", // a reference that is not defined
    "MD053", // a definition that is not used, or is there twice
    "MD056", // a table's row with more or fewer cells than its head
    "MD057", // a link to a file that is not there
    "MD066", // a footnote without text, or text without a footnote
    "MD068", // a footnote whose text is empty
    "MD069", // - - a marker that was pasted twice
    "MD075", // a table's rows without its head
    "MD086", // a comment that is never closed, and hides the rest of the file
    "MD092", // a merge conflict; nothing else is told of such a file
    "MD094", // not UTF-8
];
