//! Checks that hold for every text file, whatever its language.
//!
//! Sees every file of a workspace, so each check is a few passes of `memchr` over the bytes and nothing is
//! built unless something was found. Left out: whatever needs the file's language, and anything about style
//! (trailing spaces, tabs, final newlines), which formatters settle.

mod bidi;
mod conflict;
mod encoding;
mod line_endings;
mod private_key;
mod rules;

mod service_token;

use std::path::Path;

use broker_plugin_sdk::{Diagnostic, Plugin, Report, Rule, SourceFile};

/// The plugin. It remembers nothing.
pub struct Text;

impl Plugin for Text {
    fn new() -> Self {
        Self
    }

    fn rules(&self) -> Vec<Rule> {
        rules::all()
    }

    fn check(&mut self, file: &SourceFile) -> Result<Report, String> {
        Ok(findings(Path::new(&file.path), &file.content).into_iter().collect())
    }
}

broker_plugin_sdk::plugin!(Text, "../broker-plugin.toml");

/// Everything found, in the order of the text.
fn findings(path: &Path, content: &[u8]) -> Vec<Diagnostic> {
    if encoding::is_binary(content) {
        return Vec::new();
    }
    let mut found = Vec::new();
    conflict::check(path, content, &mut found);
    private_key::check(path, content, &mut found);
    service_token::check(path, content, &mut found);
    line_endings::check(path, content, &mut found);
    match simdutf8::basic::from_utf8(content) {
        Ok(text) => bidi::check(path, text, &mut found),
        Err(_) => encoding::check(path, content, &mut found),
    }
    found.sort_by_key(|it| it.span.start);
    found
}

#[cfg(test)]
mod tests;
