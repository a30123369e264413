//! Copies of files that `.dockerignore` keeps out of the build.
//!
//! The build's folder is taken to be that of the Dockerfile, and its ignore file the one beside it. BuildKit calls the
//! check experimental, too: it is off unless it is asked for.

use std::path::Path;

use broker_plugin_sdk::Diagnostic;
use broker_plugin_sdk::config::text_of;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::stages::Build;
use crate::words::unquote;

pub(crate) const CODE: &str = "CopyIgnoredFile";

/// Adds what is wrong with the copies of the file at `path`.
pub(crate) fn check(build: &Build<'_>, path: &Path, found: &mut Vec<Diagnostic>) {
    let Some((name, text)) = ignore_file(path) else { return };
    let Some(patterns) = patterns(&text) else { return };
    let steps = build.stages.iter().flat_map(|it| it.steps);
    for it in steps
        .filter(|it| it.is("COPY") || it.is("ADD"))
        .filter(|it| it.flag("from").is_none() && it.json().is_none())
    {
        let words = it.words(build.file.escape);
        let Some((_, sources)) = words.split_last() else { continue };
        for word in sources {
            let source = unquote(&it.line.text[word.clone()], build.file.escape);
            if is_ignored(&patterns, &source) {
                let message = format!("`{source}` is not there: `{name}` keeps it out of the build");
                found.push(Diagnostic::new(CODE, message, it.line.place(word.clone())));
            }
        }
    }
}

fn ignore_file(path: &Path) -> Option<(String, String)> {
    let own = format!("{}.dockerignore", path.file_name()?.to_str()?);
    let read = |name: String| text_of(&path.with_file_name(&name)).ok().map(|text| (name, text));
    read(own).or_else(|| read(".dockerignore".to_owned()))
}

/// `None`: there are exceptions, and what is left of a folder is not known.
fn patterns(text: &str) -> Option<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('!') {
            return None;
        }
        let pattern = line.trim_start_matches("./").trim_matches('/');
        if let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().ok()
}

/// Whether a pattern matches a path or a folder above it.
fn is_ignored(patterns: &GlobSet, source: &str) -> bool {
    let is_name = !source.contains(['$', '*', '?', '[', ':', '<']);
    let path = source.trim_start_matches("./").trim_matches('/');
    let parents = Path::new(path).ancestors().filter(|it| !it.as_os_str().is_empty());
    is_name && !path.is_empty() && path != "." && parents.into_iter().any(|it| patterns.is_match(it))
}
