//! Marks of files from which site generators make pages.

use std::path::Path;

/// Returns the length of the front matter (YAML between two lines of `---`) that site generators remove, if a text begins with
/// one.
#[must_use]
pub fn front_matter(text: &[u8]) -> Option<usize> {
    let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut length = mark;
    for (number, line) in text[mark..].split_inclusive(|it| *it == b'\n').enumerate() {
        length += line.len();
        match (number, line.trim_ascii_end() == b"---") {
            (0, false) => return None,
            (0, true) | (_, false) => {}
            (_, true) => return Some(length),
        }
    }
    None
}

/// Whether a file is in a folder whose files site generators include in others, so that it may be a fragment or empty.
#[must_use]
pub fn is_include(file: &Path) -> bool {
    let mut folders = file.parent().into_iter().flat_map(Path::components);
    folders.any(|it| ["_includes", "_layouts"].iter().any(|name| it.as_os_str() == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matters() {
        for (text, length) in [
            ("---\n---\n", Some(8)),
            ("---\na: b\n---\nc", Some(13)),
            ("---\r\n---\r\nc", Some(10)),
            ("\u{feff}---\n---", Some(10)),
            ("---\na\n", None),
            ("a\n---\n---\n", None),
            ("----\n---\n", None),
            ("", None),
        ] {
            assert_eq!(front_matter(text.as_bytes()), length, "{text}");
        }
    }

    #[test]
    fn includes() {
        assert!(is_include(Path::new("/a/_includes/b/c.json")) && is_include(Path::new("_layouts/a.js")));
        assert!(!is_include(Path::new("includes/a.json")) && !is_include(Path::new("a/_includes")));
    }
}
