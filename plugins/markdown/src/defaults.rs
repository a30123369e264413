//! Rules that are on where nothing is configured: for broken text rather than matters of taste.
//!
//! rumdl's own defaults have one finding per 4 to 16 lines in the documentation of well-kept projects that never
//! asked for them (black 926 in 7,795 lines, eslint-plugin-import 1,119 in 7,634, fastapi 583 in 3,506), nearly all
//! about long lines, HTML, blank lines and indentation. The rules below have one per 250 lines or fewer in most
//! of them (fastapi has one per 150, pymdown-extensions one per 37), and one per 400 in 2,141 Markdown files of 800 crates.
//!
//! Not among them, though about mistakes: MD018 and MD020 (`#heading`), most of whose findings are references to
//! issues and fragments of code; and MD053, a definition that is not used, which breaks no page.
//!
//! In files that a documentation framework makes pages of, fewer rules can be checked ([`crate::site`]); and [`keeps`] drops
//! findings that are no mistakes to those who render Markdown.

use pulldown_cmark::{Event, Parser, Tag};
use rumdl_lib::rule::LintWarning;

use crate::excerpt::Excerpt;
use crate::{emphasis, reversed};

/// In the order of the codes.
pub(crate) const RULES: [&str; 14] = [
    "MD011", // (text)[link]
    "MD037", // ** not strong **
    "MD042", // a link to nowhere
    "MD051", // a link to a heading that is not there
    "MD052", // a reference that is not defined
    "MD056", // a table's row with more or fewer cells than its head
    "MD057", // a link to a file that is not there
    "MD066", // a footnote without text, or text without a footnote
    "MD068", // a footnote whose text is empty
    "MD069", // - - a marker that was pasted twice
    "MD075", // a table's rows without its head
    "MD086", // a comment that is never closed, and hides the rest of the file
    "MD092", // a merge conflict; nothing else is told of such a file
    "MD094", // not UTF-8
];

/// Whether a finding of these rules is about broken text. `line` is the text of its line, and `text` that of the file.
pub(crate) fn keeps(warning: &LintWarning, line: &str, text: &str) -> bool {
    match warning.rule_name.as_deref() {
        Some("MD011") => Excerpt::of(warning, line).is_some_and(reversed::is_meant),
        // Names of programs and pointers: `_.find rather than _.where`, `(NSApplication *)application`.
        Some("MD037") => {
            !is_code_with_marks(&warning.message)
                && Excerpt::of(warning, line).is_some_and(emphasis::is_meant)
        }
        // Without a sign in the brackets it is no link to Markdown: `[[ ]]`, `text[][]`.
        Some("MD042") => emptied(&warning.message).is_none_or(|it| it.contains('(') || has_word(it)),
        // No heading's anchor has a slash: it is an address within a site. GitHub's own begin with `user-content-`, those of
        // options in NixOS's manuals with `opt-`.
        Some("MD051") => fragment(&warning.message).is_none_or(|it| {
            !it.contains(['/', '=']) && !it.starts_with("user-content-") && !it.starts_with("opt-")
        }),
        // Paths of Rust's, in a text that rustdoc renders.
        Some("MD052") => !warning.message.contains("::"),
        Some("MD057") => {
            // ExDoc's links lead to code: [`x/1`]: `M.x/1`
            let is_code = |it: &str| it.starts_with('`') || line.contains('`') && is_type(it);
            missing(warning)
                .is_none_or(|it| !is_of_host(it) && !is_code(it) && !has_placeholder(it) && !is_page(it))
        }
        // Cells that are missing are empty; those too many are lost.
        Some("MD056") => cells(&warning.message).is_none_or(|(has, wants)| has > wants),
        // Without any footnote in the file it is plain text to those who render it, such as a class of a regular expression.
        Some("MD066") => defines_footnote(text) && !warning.message.contains("'[^\\"),
        // An example in a block of code.
        Some("MD092") => !is_in_code(text, warning.line),
        // Other syntax has such signs as well.
        Some("MD075") => line.trim_start().starts_with('|'),
        _ => true,
    }
}

/// The anchor that MD051 does not find, be it in the file itself or in another.
fn fragment(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("Link anchor '#").or_else(|| message.strip_prefix("Link fragment '"))?;
    rest.split_once('\'').map(|it| it.0)
}

/// Target of the link that a finding of MD057 is about.
pub(crate) fn missing(warning: &LintWarning) -> Option<&str> {
    let message = Some(&warning.message).filter(|_| warning.rule_name.as_deref() == Some("MD057"))?;
    message.strip_prefix("Relative link '")?.strip_suffix("' does not exist")
}

/// Whether something has to be put into a link before it leads anywhere: `{static}x.jpg` and `|filename|x.md` of Pelican,
/// `$root/x.html`, `x/${version}.md`.
fn has_placeholder(target: &str) -> bool {
    let is_name =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || "_-.".contains(it));
    let variable = target.strip_prefix('$').and_then(|it| it.split('/').next());
    let piped = target.strip_prefix('|').and_then(|it| it.split_once('|'));
    let braced = target.split_once('{').is_some_and(|(_, rest)| rest.contains('}'));
    braced || variable.is_some_and(is_name) || piped.is_some_and(|it| is_name(it.0))
}

/// Link that a finding of MD042 is about.
fn emptied(message: &str) -> Option<&str> {
    message.strip_prefix("Empty link found: ")
}

/// Whether a link leads to a page of rustdoc's: `module/index.html`, `struct.Name.html`.
fn is_page(target: &str) -> bool {
    const KINDS: [&str; 12] = [
        "attr",
        "constant",
        "derive",
        "enum",
        "fn",
        "macro",
        "primitive",
        "static",
        "struct",
        "trait",
        "type",
        "union",
    ];
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let name = path.rsplit('/').next().and_then(|it| it.strip_suffix(".html"));
    name.is_some_and(|it| {
        (it == "index" && path.contains('/')) || it.split_once('.').is_some_and(|it| KINDS.contains(&it.0))
    })
}

/// Whether a line of the text gives a footnote its text: `[^name]: …`.
fn defines_footnote(text: &str) -> bool {
    text.lines().any(|it| it.trim_start().strip_prefix("[^").is_some_and(|it| it.contains("]:")))
}

/// Whether a line, from 1, is in a block of code.
fn is_in_code(text: &str, line: usize) -> bool {
    let at: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let blocks = Parser::new(text).into_offset_iter();
    let is_block = |event: &Event<'_>| matches!(event, Event::Start(Tag::CodeBlock(_)));
    let mut blocks = blocks;
    blocks.any(|(event, range)| is_block(&event) && range.contains(&at))
}

fn has_word(text: &str) -> bool {
    text.contains(|it: char| !it.is_whitespace() && !matches!(it, '[' | ']'))
}

/// Whether the first mark of MD037's belongs to the text after it: no emphasis begins with `.name` or `)`. A single one between
/// blanks is a multiplication or a pointer.
fn is_code_with_marks(message: &str) -> bool {
    let text = message.strip_prefix("Spaces inside emphasis markers: \"").unwrap_or_default();
    let inner = text.trim_start_matches(['*', '_']);
    let closes_behind_blank = inner.trim_end_matches(['*', '_', '"']).ends_with(' ');
    if text.len() == inner.len() + 1 && inner.starts_with(' ') && closes_behind_blank {
        return true;
    }
    let member = inner.strip_prefix('.').is_some_and(|it| it.starts_with(char::is_alphabetic));
    inner.len() < text.len() && (member || inner.starts_with(')'))
}

/// Whether a link leads out of the files to a page of what hosts the repository: `../../issues`.
fn is_of_host(target: &str) -> bool {
    const PAGES: [&str; 15] = [
        "actions",
        "blob",
        "commit",
        "commits",
        "compare",
        "discussions",
        "graphs",
        "issues",
        "milestones",
        "pull",
        "pulls",
        "releases",
        "tags",
        "tree",
        "wiki",
    ];
    let rest = target.trim_start_matches("../");
    rest.len() < target.len() && rest.split(['/', '?', '#']).next().is_some_and(|it| PAGES.contains(&it))
}

/// Whether a link leads to something that is called like a type: `ZeroSlice`.
fn is_type(target: &str) -> bool {
    let last = target.rsplit("::").next().unwrap_or(target);
    target.contains("::")
        || last.starts_with(|it: char| it.is_ascii_uppercase())
            && last.chars().any(|it| it.is_ascii_lowercase())
            && last.chars().all(|it| it.is_ascii_alphanumeric())
}

/// Number of cells that a row has, and that it should have, from the message of MD056.
fn cells(message: &str) -> Option<(usize, usize)> {
    let (has, wants) = message.strip_prefix("Table row has ")?.split_once(" cells, but expected ")?;
    Some((has.parse().ok()?, wants.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders() {
        for it in [
            "{static}a.jpg",
            "{filename}/a.md",
            "|filename|a.md",
            "$root/a.html",
            "${x}/a",
            "a/{version}/b.md",
        ] {
            assert!(has_placeholder(it), "{it}");
        }
        for it in ["a.md", "|a.md", "$/a.md", "a$b/c.md", "{a.md", "$a b/c.md"] {
            assert!(!has_placeholder(it), "{it}");
        }
    }

    #[test]
    fn marks_of_programs() {
        let is_code = |text: &str| is_code_with_marks(&format!("Spaces inside emphasis markers: \"{text}\""));
        assert!(is_code("_.find rather than _") && is_code("*)theApplication openFile:(NSString *"));
        assert!(!is_code("** strong **") && !is_code("_... so _") && !is_code("*a *"));
        assert!(is_code("* x *") && is_code("* (cast to 'void *"), "a multiplication, a pointer");
        assert!(!is_code("_ New Features:_"));
    }

    #[test]
    fn places_in_a_text() {
        let text = "# A\n\n```\n<<<<<<< a\n```\n\n[^1]: note\n";
        assert!(is_in_code(text, 4) && !is_in_code(text, 1));
        assert!(defines_footnote(text) && !defines_footnote("x [^a-z] y"));
        assert!(is_page("middleware/index.html#routing") && is_page("../struct.A.html"));
        assert!(!is_page("a.md") && !is_page("root/x.html"));
    }
}
