//! Attributes of headings, as Pandoc has them.

use pulldown_cmark::{Event, Options, Parser, Tag};

/// Whether a heading has an identifier or a class of its own: `{#id}`, `{.class}`.
pub(super) fn are_in(text: &str) -> bool {
    let is_with = |it: Event<'_>| match it {
        Event::Start(Tag::Heading { id, classes, .. }) => id.is_some() || !classes.is_empty(),
        _ => false,
    };
    text.contains('{') && Parser::new_ext(text, Options::ENABLE_HEADING_ATTRIBUTES).any(is_with)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_headings() {
        for text in ["# T {#t}\n", "> ## `f()` <!-- --> {#a.f .x}\n", "T {.x}\n===\n", "# T {#a:b k=v}\n"] {
            assert!(are_in(text), "{text}");
        }
        for text in
            ["# T {t}\n", "# GET /{id}\n", "T {#t}\n", "```\n# T {#t}\n```\n", "# `{#t}`\n", "# {#t} x\n"]
        {
            assert!(!are_in(text), "{text}");
        }
    }
}
