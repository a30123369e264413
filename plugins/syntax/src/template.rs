//! Recognition of files that are a template of a file: what is made of them fits the grammar, and they do not. A file that starts
//! with front matter, as site generators have it, is one whatever else is in it, and so is a part that one puts into others.

use std::path::Path;

use broker_plugin_sdk::template::{Tag, front_matter, is_include, on_lines, tags};

/// `<? … ?>` is an instruction of XML, and `${ … }` an expression of many languages.
const TAGS: [Tag; 5] = [Tag::Value, Tag::Statement, Tag::Comment, Tag::Erb, Tag::Placeholder];

/// What XML has in texts only, and there seldom.
const OF_NO_XML: [Tag; 2] = [Tag::Statement, Tag::Comment];

/// A template is wrong from its first tag on.
const LOOKED_AT: usize = 3;

/// Why not to report the places that do not fit: a template's tag is on the line of one of the first.
pub(crate) fn objection(
    path: &str,
    language: &str,
    text: &[u8],
    places: impl Iterator<Item = usize>,
) -> Option<&'static str> {
    // What a template has no end of, the grammar misses at the end of the root only.
    let has_tag = || language == "xml" && tags(text, &OF_NO_XML).next().is_some();
    if front_matter(text).is_some()
        || has_tag()
        || on_lines(text, tags(text, &TAGS), places.take(LOOKED_AT)).is_some()
    {
        return Some("it looks like a template");
    }
    is_include(Path::new(path)).then_some("a site generator puts it into other files")
}
