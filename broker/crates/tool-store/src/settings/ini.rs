//! Files of settings, as npm and pip have them: lines `key = value`, some below `[section]`.
//!
//! Read here, since neither dialect is one that a parser has: npm's has no lines that go on, and pip's is that of Python.

/// A setting: its section, its key in lower case, and its value.
pub(super) type Setting = (String, String, String);

/// Files in which a line that is indented deeper than a key is more of that key's value, or in which indentation has no meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Npm,
    Pip,
}

/// Reads all settings in their order.
pub(super) fn settings(text: &str, dialect: Dialect) -> Vec<Setting> {
    let (mut section, mut all) = (String::new(), Vec::<Setting>::new());
    // Indentation of the last key in the section.
    let mut indentation = None;
    for line in text.lines() {
        let (trimmed, own) = (line.trim(), line.len() - line.trim_start().len());
        let is_more = indentation.is_some_and(|it| own > it);
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let (true, Some((_, _, value))) = (is_more, all.last_mut()) {
            value.push('\n');
            value.push_str(trimmed);
        } else if let Some(name) = trimmed.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            (section, indentation) = (name.trim().to_owned(), None);
        } else if let Some((key, value)) = split(trimmed) {
            all.push((section.clone(), key.trim().to_lowercase(), unquoted(value.trim()).to_owned()));
            indentation = (dialect == Dialect::Pip).then_some(own);
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
