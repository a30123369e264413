//! Names that a JSDoc comment uses: as a type (`@param {Node[]} nodes`), or as a tag's first word (`@see Node`). TypeScript
//! reads such types in JavaScript, and an import that only they use is needed.

use deno_ast::MultiThreadedComments;
use deno_ast::swc::common::comments::CommentKind;

/// Tags whose first word is the name of something. That of `@param` is a parameter's, whatever else has its name.
const TAGS: [&str; 13] = [
    "augments",
    "extends",
    "implements",
    "jsx",
    "jsxFrag",
    "link",
    "linkcode",
    "linkplain",
    "memberof",
    "mixes",
    "see",
    "throws",
    "type",
];

/// Whether one of the comments uses the name.
pub(crate) fn uses(comments: &MultiThreadedComments, name: &str) -> bool {
    let is_documentation = |text: &str| text.starts_with('*') && text.contains(name);
    comments
        .iter_unstable()
        .filter(|it| it.kind == CommentKind::Block && is_documentation(&it.text))
        .any(|it| mentions(&it.text, name))
}

fn mentions(text: &str, name: &str) -> bool {
    let (mut depth, mut follows_tag) = (0_usize, false);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        if word > 0 {
            let is_name = &rest[..word] == name;
            if is_name && (depth > 0 || follows_tag) {
                return true;
            }
            follows_tag = false;
            rest = &rest[word..];
            continue;
        }
        rest = &rest[first.len_utf8()..];
        match first {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '@' => {
                let tag = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
                follows_tag = TAGS.contains(&&rest[..tag]);
                rest = &rest[tag..];
            }
            it if it.is_whitespace() || it == '*' => {}
            _ => follows_tag = false,
        }
    }
    false
}

fn is_part(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentioned() {
        for text in [
            "* @param {Node[]} a ",
            "* @type {import('./a').B & {\n *  b: Map<string, a.Node>\n * }} ",
            "* @see Node ",
            "* {@link Node} ",
            "* @jsx Node ",
            "* @implements {Node}",
        ] {
            assert!(mentions(text, "Node"), "{text}");
        }
        for text in [
            "* Node ",
            "* @param {Nodes} Node ",
            "* @param Node ",
            "* @returns Node if ",
            "* @returns {a} Node ",
            "* é @type {$Node} ",
        ] {
            assert!(!mentions(text, "Node"), "{text}");
        }
    }
}
