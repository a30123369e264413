//! Recognition of files that become JavaScript only when a template engine or a site generator has made something of them.

use broker_plugin_sdk::Report;
use broker_plugin_sdk::template::{Tag, objection, tags};

use crate::rules::SYNTAX_ERROR;

/// `${ … }` is an expression, and `{#` and `@` begin private names and decorators.
const TAGS: [Tag; 4] = [Tag::Value, Tag::Statement, Tag::Erb, Tag::Php];

/// A file's report, unless the file does not parse because it is a template: then it is left out.
pub(crate) fn unless_template(path: &str, text: &str, report: Report) -> Report {
    let errors = report.diagnostics.iter().filter(|it| it.code == SYNTAX_ERROR);
    let mut errors = errors.map(|it| it.span.start as usize).peekable();
    if errors.peek().is_none() {
        return report;
    }
    // `style={{ color }}` is an object of JSX.
    let text = text.as_bytes();
    let tags = tags(text, &TAGS).filter(|it| !text[..it.start].ends_with(b"="));
    match objection(path, text, tags, errors) {
        Some(why) => Report::left_out(path, why),
        None => report,
    }
}
