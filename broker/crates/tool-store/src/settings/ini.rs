//! Files of settings, as npm and pip have them: lines `key = value`, some below `[section]`.

/// A setting: its section, its key in lower case, and its value.
pub(super) type Setting = (String, String, String);

/// Reads all settings in their order. An indented line is more of the value before it.
pub(super) fn settings(text: &str) -> Vec<Setting> {
    let (mut section, mut all) = (String::new(), Vec::<Setting>::new());
    for line in text.lines() {
        let (trimmed, is_more) = (line.trim(), line.starts_with([' ', '\t']));
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = trimmed.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            section = name.trim().to_owned();
        } else if let (true, Some((_, _, value))) = (is_more, all.last_mut()) {
            value.push('\n');
            value.push_str(trimmed);
        } else if let Some((key, value)) = split(trimmed) {
            all.push((section.clone(), key.trim().to_lowercase(), unquoted(value.trim()).to_owned()));
        }
    }
    all
}

/// A key may have a colon in it, where that of a port is; pip takes one for `=` as well.
fn split(line: &str) -> Option<(&str, &str)> {
    line.split_once('=').or_else(|| line.split_once(": "))
}

fn unquoted(value: &str) -> &str {
    let inner = |quote| value.strip_prefix(quote).and_then(|it| it.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}
