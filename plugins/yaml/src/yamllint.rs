//! Comments by which people keep yamllint from telling of a duplicate key, or from looking at a file at all.

use broker_plugin_sdk::Diagnostic;

use crate::rules::DUPLICATE_KEY;

/// Name of the rule in yamllint.
const RULE: &str = "rule:key-duplicates";

/// Whether the first line disables checks of the file.
pub(crate) fn is_off(text: &str) -> bool {
    text.lines().next().is_some_and(|it| it.trim_end() == "# yamllint disable-file")
}

/// Drops findings where a comment switches them off: on its line, on the next, or from here on.
pub(crate) fn drop_suppressed(text: &str, found: &mut Vec<Diagnostic>) {
    if !text.contains("# yamllint disable") || found.iter().all(|it| it.code != DUPLICATE_KEY) {
        return;
    }
    let mut quiet = Vec::new();
    let (mut is_off, mut next_is_off, mut start) = (false, false, 0);
    for line in text.split_inclusive('\n') {
        let (code, comment) = line.split_once("# yamllint ").unwrap_or((line, ""));
        let names = |verb: &str| {
            let rest = comment.trim_end().strip_prefix(verb)?;
            (rest.is_empty() || rest.starts_with(' ')).then(|| rest.is_empty() || rest.contains(RULE))
        };
        let is_own_line = code.trim().is_empty();
        let here = names("disable-line") == Some(true);
        is_off = (is_off || names("disable") == Some(true)) && names("enable") != Some(true);
        if is_off || next_is_off || here && !is_own_line {
            quiet.push(start..start + line.len());
        }
        next_is_off = here && is_own_line;
        start += line.len();
    }
    found.retain(|it| {
        it.code != DUPLICATE_KEY || !quiet.iter().any(|line| line.contains(&(it.span.start as usize)))
    });
}
