//! Which lines stand for lines of the file that stay.

use super::super::file_kind::FileKind;

/// Meanings that a line may have besides text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    /// A marker and nothing else.
    Clear,
    /// A marker, or a line that only looks like one: `...` alone is code in Python.
    Unclear,
    /// Text that leaves something out in itself, such as `fn f() { ... }`.
    InLine,
}

/// Openers of comments with their ends, the longer ones first.
const COMMENTS: [(&str, &str); 19] = [
    ("{/*", "*/}"),
    ("{{!--", "--}}"),
    ("<!--", "-->"),
    ("<%#", "%>"),
    ("{#", "#}"),
    ("/*", "*/"),
    ("(*", "*)"),
    ("{-", "-}"),
    ("::", ""),
    ("--[[", "]]"),
    ("\"\"\"", "\"\"\""),
    ("//", ""),
    ("--", ""),
    ("#", ""),
    (";", ""),
    ("%", ""),
    ("'", ""),
    ("*", ""),
    ("REM ", ""),
];

const ELLIPSES: [&str; 2] = ["...", "\u{2026}"];

/// Words that say that something stays.
const STAYS: [&str; 19] = [
    "existing",
    "rest",
    "unchanged",
    "same",
    "remaining",
    "remains",
    "remain",
    "previous",
    "omitted",
    "original",
    "unmodified",
    "untouched",
    "snip",
    "snipped",
    "elided",
    "truncated",
    "keep",
    "kept",
    "stays",
];

/// The other words of which markers are made.
const OTHERS: [&str; 79] = [
    "above",
    "all",
    "and",
    "are",
    "as",
    "attributes",
    "as-is",
    "before",
    "below",
    "block",
    "body",
    "brevity",
    "case",
    "cases",
    "change",
    "changes",
    "class",
    "classes",
    "code",
    "component",
    "components",
    "config",
    "constants",
    "content",
    "contents",
    "declarations",
    "definition",
    "definitions",
    "elements",
    "else",
    "end",
    "entries",
    "etc",
    "everything",
    "exports",
    "fields",
    "file",
    "for",
    "from",
    "function",
    "functions",
    "goes",
    "handlers",
    "helpers",
    "here",
    "implementation",
    "implementations",
    "imports",
    "in",
    "is",
    "it",
    "items",
    "lines",
    "logic",
    "members",
    "method",
    "methods",
    "module",
    "more",
    "no",
    "of",
    "options",
    "other",
    "others",
    "part",
    "properties",
    "props",
    "routes",
    "section",
    "setup",
    "start",
    "statements",
    "stay",
    "styles",
    "tests",
    "the",
    "this",
    "types",
    "variables",
];

pub(in super::super) fn has_marker(edit: &str, kind: FileKind) -> bool {
    edit.lines().any(|it| marker(it, kind) == Some(Marker::Clear))
}

pub(super) fn marker(line: &str, kind: FileKind) -> Option<Marker> {
    let text = line.trim();
    if ELLIPSES.contains(&text) || matches!(text, "[...]" | "(...)" | "<...>" | "....") {
        return Some(Marker::Unclear);
    }
    let is_text = kind == FileKind::Prose && text.starts_with(TEXT_SIGNS);
    let found = match comment(text) {
        Some(inner) if is_text => in_text(inner),
        Some(inner) => in_comment(inner),
        None => {
            let inner = text.trim_start_matches(['[', '(', '<']);
            ELLIPSES.iter().find_map(|it| inner.strip_prefix(it)).and_then(bare)
        }
    };
    found.or_else(|| leaves_out(text).then_some(Marker::InLine))
}

/// Returns the text of a line that is a comment as a whole.
fn comment(text: &str) -> Option<&str> {
    let inner = COMMENTS.iter().find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close))?;
    Some(inner.trim_matches(|it: char| it.is_whitespace() || "/#-*!;%=<>".contains(it)))
}

/// A heading or an item of a document is a marker only if an ellipsis and the words say so.
fn in_text(inner: &str) -> Option<Marker> {
    let is_ellipsis = |it: &&str| inner.starts_with(it) || inner.ends_with(it);
    ELLIPSES.iter().any(is_ellipsis).then(|| in_comment(inner)).flatten()
}

fn in_comment(inner: &str) -> Option<Marker> {
    let inner = inner.trim_matches(|it: char| "[](){}<>".contains(it)).trim();
    let starts = ELLIPSES.iter().any(|it| inner.starts_with(it));
    let ends = ELLIPSES.iter().any(|it| inner.ends_with(it));
    let words = words(inner);
    let stays = words.iter().any(|it| STAYS.contains(&&**it));
    let is_known = words.iter().all(|it| STAYS.contains(&&**it) || OTHERS.contains(&&**it));
    let is_phrase = stays && is_known;
    match (starts, ends) {
        (true, true) => Some(Marker::Clear),
        (true, false) | (false, true) if stays && (is_phrase || starts) => Some(Marker::Clear),
        (true, false) => Some(Marker::Unclear),
        (false, true) if is_known => Some(Marker::Unclear),
        (false, true) => None,
        (false, false) if is_phrase => Some(plain(&words)),
        // `other code here`
        (false, false) if is_known && words.len() > 1 && words.iter().any(|it| it == "code") => {
            Some(Marker::Unclear)
        }
        (false, false) => None,
    }
}

/// Phrases without an ellipsis. Most are what a programmer says of code, too: only those of the code itself are clear.
fn plain(words: &[String]) -> Marker {
    let has = |it: &str| words.iter().any(|word| word == it);
    let is_of_code = UNITS.iter().any(|it| has(it));
    let is_clear = (has("code") && (has("existing") || has("unchanged") || has("rest")))
        || (has("rest") && has("of") && is_of_code)
        || (has("remains") || has("stays")) && has("same") && is_of_code;
    if is_clear { Marker::Clear } else { Marker::Unclear }
}

/// Units of code that an edit leaves out as a whole.
const UNITS: [&str; 9] =
    ["code", "file", "function", "method", "class", "module", "implementation", "body", "component"];

/// Signs of comments that are text in documents.
const TEXT_SIGNS: [char; 6] = ['#', '*', '-', ';', '%', '\''];

/// A line that begins with an ellipsis and is no comment: `... existing code ...`.
fn bare(rest: &str) -> Option<Marker> {
    let words = words(rest);
    let stays = words.iter().any(|it| STAYS.contains(&&**it));
    (stays && words.iter().all(|it| STAYS.contains(&&**it) || OTHERS.contains(&&**it)))
        .then_some(Marker::Clear)
}

fn words(text: &str) -> Vec<String> {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '\'' | '-' | '_');
    let words = text.split(|it| !is_part(it)).filter(|it| it.chars().any(char::is_alphanumeric));
    words.map(str::to_lowercase).collect()
}

/// Text with a marker behind it or in its brackets.
fn leaves_out(text: &str) -> bool {
    let squeezed: String = text.split_whitespace().collect();
    let in_brackets = ["{...}", "{\u{2026}}", "{/*...*/}", "{/*\u{2026}*/}", "/*...*/", "/*\u{2026}*/"];
    if in_brackets.iter().any(|it| squeezed.contains(it)) {
        return true;
    }
    let openers = ["//", "/*", "<!--", " # ", " -- "];
    openers.iter().any(|open| {
        let behind = text.find(open).map(|it| text[it..].trim().trim_end_matches('}').trim_end());
        behind.and_then(comment).and_then(in_comment) == Some(Marker::Clear)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_have_any_comment_syntax() {
        for line in [
            "// ... existing code ...",
            "    # ... existing code ...",
            "-- ... existing code ...",
            "<!-- ... existing code ... -->",
            "/* ... existing code ... */",
            "{/* ... existing code ... */}",
            "// ...",
            "# \u{2026}",
            "; ... rest of the file ...",
            "// ... rest of the function ...",
            "// rest of the code remains unchanged",
            "# ... (unchanged)",
            "// [... existing imports ...]",
            "// existing code...",
            "/// ... same as before ...",
            "// ... other handlers ...",
            "... existing code ...",
            "# rest of file stays the same",
            "// --- unchanged code ---",
            "[... existing code ...]",
            "{- ... existing code ... -}",
        ] {
            assert_eq!(marker(line, FileKind::Code), Some(Marker::Clear), "{line}");
        }
    }

    #[test]
    fn text_is_no_marker() {
        for line in [
            "// Loading...",
            "# keep going, the rest is handled by the caller",
            "x = [...]",
            "def f(*args): ...",
            "fn(...args)",
            "printf(const char *fmt, ...)",
            "// the existing user is replaced",
            "# The rest of the arguments are passed on",
            "",
            "return {...props}",
            "## Remaining work",
            "// TODO: remove ...",
        ] {
            assert_eq!(marker(line, FileKind::Code), None, "{line}");
        }
    }

    #[test]
    fn what_is_unclear_is_neither() {
        for line in [
            "...",
            "    ...",
            "// ...and then the other one",
            "# same as above",
            "# unchanged",
            "// snip",
            "# keep existing fields",
            "-- existing items",
            "// existing tests",
            "# rest of the options",
            "# unchanged fields",
            "// other code here",
            "# more code...",
        ] {
            assert_eq!(marker(line, FileKind::Code), Some(Marker::Unclear), "{line}");
        }
        for line in ["fn f() { ... }", "if (x) { /* ... */ }", "return x; // ... existing code ..."] {
            assert_eq!(marker(line, FileKind::Code), Some(Marker::InLine), "{line}");
        }
    }

    #[test]
    fn headings_and_items_are_no_comments() {
        for line in ["## Existing options", "* existing tests", "# Unchanged code", "- rest of the file"] {
            assert_eq!(marker(line, FileKind::Prose), None, "{line}");
        }
        for line in
            ["<!-- ... existing content ... -->", "# ... existing code ...", "... rest of the file ..."]
        {
            assert_eq!(marker(line, FileKind::Prose), Some(Marker::Clear), "{line}");
        }
    }
}
