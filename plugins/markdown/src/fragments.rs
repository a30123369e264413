//! Texts without a title of their own that are parts of a page: those in folders for such, and those that another file includes.
//! Their links may lead to headings of the other parts.
//!
//! Including files are looked for beside the text and in the folders above it.

use std::fs;
use std::path::{Path, PathBuf};

use broker_plugin_sdk::config::text_of;

/// Rule that says nothing in such a text: on links within the page.
pub(crate) const IN_DOUBT: &str = "MD051";

/// Folders with parts of pages, in lower case and without `_` before them.
const FOLDERS: [&str; 16] = [
    "fragment",
    "fragments",
    "include",
    "included",
    "includes",
    "partial",
    "partials",
    "parts",
    "reusable",
    "reusables",
    "reuse",
    "section",
    "sections",
    "shared",
    "snippet",
    "snippets",
];

/// Endings of the names of files that may include others.
const INCLUDING: [&str; 11] =
    ["adoc", "hbs", "html", "j2", "markdown", "md", "mdx", "njk", "rst", "tmpl", "tpl"];

/// Words of directives that include a file: those of mdBook, MkDocs, Jekyll, VitePress, Sphinx, Obsidian and MDX.
const DIRECTIVES: [&str; 6] = ["include", "--8<--", "{!", "![[", "import ", "embed"];

/// Limits on the files that are searched in a folder, and on their size.
const MAX_FILES: usize = 200;
const LARGEST: u64 = 256 * 1024;

/// Whether a text is a part of a page. `root` is the workspace's folder.
pub(crate) fn is_one(path: &Path, text: &str, root: &Path) -> bool {
    text.contains("](#") && !has_title(text) && (is_in_folder(path, root) || is_included(path, root))
}

fn is_in_folder(path: &Path, root: &Path) -> bool {
    let folders = path.strip_prefix(root).unwrap_or(path).parent().into_iter().flat_map(Path::iter);
    let mut names = folders.map(|it| it.to_string_lossy().to_lowercase());
    names.any(|it| FOLDERS.contains(&it.trim_start_matches('_')))
}

/// Whether a text has a heading of the first level, or a title that a site generator reads.
fn has_title(text: &str) -> bool {
    let (mut is_code, mut last) = (false, "");
    text.lines().any(|line| {
        let fence = line.trim_start();
        is_code ^= fence.starts_with("```") || fence.starts_with("~~~");
        let is_underlined =
            !last.trim().is_empty() && !line.is_empty() && line.trim_end().bytes().all(|it| it == b'=');
        last = line;
        !is_code
            && (line.starts_with("# ")
                || line.starts_with("title:")
                || is_underlined
                || fence.starts_with("<h1"))
    })
}

/// Whether a file beside or above the text has a directive that names it.
fn is_included(path: &Path, root: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|it| it.to_str()) else { return false };
    let mut folders = path.ancestors().skip(1).take_while(|it| it.starts_with(root));
    folders.any(|it| includes(it, name, path))
}

/// Whether a file in a folder, but the text itself, includes a file of a name.
#[expect(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]
fn includes(folder: &Path, name: &str, path: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let may_include = |it: &PathBuf| {
        let ending = it.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let is_small = || it.metadata().is_ok_and(|it| it.is_file() && it.len() <= LARGEST);
        it != path && INCLUDING.contains(&ending) && is_small()
    };
    let mut texts = files.filter(may_include).take(MAX_FILES).filter_map(|it| text_of(&it).ok());
    texts.any(|it| it.lines().any(|line| is_directive(line, name)))
}

/// `{{#include sub/name.md}}`, `--8<-- "name.md"`, `![[name]]`.
fn is_directive(line: &str, name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |it| it.0);
    let is_named = line.contains(&format!("![[{stem}")) || {
        let before = line.split_once(name).map(|it| it.0);
        before
            .is_some_and(|it| !it.ends_with(|it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.')))
    };
    is_named && DIRECTIVES.iter().any(|it| line.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        for text in ["# A\n", "x\n\nA\n===\n", "---\ntitle: A\n---\n", "<h1 align=\"center\">A</h1>\n"] {
            assert!(has_title(text), "{text}");
        }
        for text in ["## A\n", "```sh\n# A\n```\n", "#A\n", "a\n\n===\n"] {
            assert!(!has_title(text), "{text}");
        }
    }

    #[test]
    fn directives() {
        for line in [
            "{{#include sub/a.md}}",
            "--8<-- \"a.md\"",
            "{!docs/a.md!}",
            "{% include_relative a.md %}",
            "<!--@include: ./a.md-->",
            ".. include:: a.md",
            "![[a]]",
            "import A from './a.md'",
        ] {
            assert!(is_directive(line, "a.md"), "{line}");
        }
        for line in ["see [a](a.md)", "{{#include beta.md}}", "include that"] {
            assert!(!is_directive(line, "a.md"), "{line}");
        }
    }
}
