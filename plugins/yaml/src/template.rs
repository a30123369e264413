//! Files that become YAML (or are JSON) only when something else has been done with them.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use std::fs;
use std::path::Path;

/// Begins of what template engines put something else for: Jinja and Go, ERB, others.
const SIGNS: [&str; 4] = ["{{", "{%", "{#", "<%"];

/// Whether broken YAML is a template: a line begins with a sign of one, or a value does, or a key.
pub(crate) fn is_template(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches([' ', '\t', '-', '#', '?']);
        let value = line.split_once(": ").map_or("", |it| it.1.trim_start());
        SIGNS.iter().any(|sign| line.starts_with(sign) || value.starts_with(sign)) || has_bare_sign(line)
    })
}

/// A sign in a line without quotes before it; `${{` is no template's, but an expression of GitHub's.
fn has_bare_sign(line: &str) -> bool {
    SIGNS.iter().any(|sign| {
        line.match_indices(sign)
            .any(|(at, _)| !line[..at].contains(['"', '\'']) && !line[..at].ends_with('$'))
    })
}

/// Whether the file is a template of a Helm chart, be it that it looks like YAML.
pub(crate) fn is_of_helm(path: &str, text: &str, root: &Path) -> bool {
    if !text.contains("{{") {
        return false;
    }
    let mut above = Path::new(path).ancestors().skip(1);
    let templates = above.find(|it| it.file_name().is_some_and(|it| it == "templates"));
    let chart = templates.and_then(Path::parent).map(|it| root.join(it).join("Chart.yaml"));
    chart.is_some_and(|it| fs::metadata(it).is_ok())
}

/// Whether the file, which may hold either by its name, is JSON with comments.
pub(crate) fn is_json(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".eslintrc", ".prettierrc"].contains(&name)
        && matches!(text.trim_start().bytes().next(), None | Some(b'{' | b'/'))
}
