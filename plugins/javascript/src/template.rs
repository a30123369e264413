//! Recognition of files that become JavaScript only when a template engine or a site generator has made something of them.

use std::path::Path;

use broker_plugin_sdk::Report;
use broker_plugin_sdk::template::{Tag, front_matter, is_include, on_lines, tags};

use crate::rules::SYNTAX_ERROR;

/// `${ … }` is an expression, and `{#` and `@` begin private names and decorators.
const TAGS: [Tag; 4] = [Tag::Value, Tag::Statement, Tag::Erb, Tag::Php];

/// How many errors count: a template is wrong from its first tag on.
const LOOKED_AT: usize = 3;

/// A file's report, unless the file does not parse because it is a template: then it is left out.
pub(crate) fn unless_template(path: &str, text: &str, report: Report) -> Report {
    let errors = report.diagnostics.iter().filter(|it| it.code == SYNTAX_ERROR);
    match objection(path, text.as_bytes(), errors.map(|it| it.span.start as usize)) {
        Some(why) => Report::left_out(path, why),
        None => report,
    }
}

fn objection(path: &str, text: &[u8], errors: impl Iterator<Item = usize>) -> Option<&'static str> {
    let mut errors = errors.take(LOOKED_AT).peekable();
    errors.peek()?;
    // `style={{ color }}` is an object of JSX.
    let tags = tags(text, &TAGS).filter(|it| !text[..it.start].ends_with(b"="));
    if front_matter(text).is_some() || on_lines(text, tags, errors).is_some() {
        return Some("it looks like a template");
    }
    is_include(Path::new(path)).then_some("a site generator puts it into other files")
}
