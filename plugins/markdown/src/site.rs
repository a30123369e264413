//! Files of which a documentation framework makes pages. Such a framework has anchors, addresses and syntax of its own, so
//! that a link that leads nowhere in the file system may lead somewhere on the site: where nothing is configured, the
//! rules about links say nothing there.
//!
//! Recognised by the configuration files of frameworks in and above the file's folder, and by what stands in the file:
//! front matter, directives, and tags of templates. Attributes of headings (`# Title {#id}`) alone are a sign of Pandoc and
//! its like, which may make one page of several files: there, only anchors are in doubt.
//!
//! Left out: what such a configuration says, but for the folder of the pages in MkDocs's; and documentation that is made of
//! comments in programs (Javadoc, rustdoc, TSDoc).

mod attributes;
mod docs_dir;

use std::path::{Path, PathBuf};

use broker_plugin_sdk::config::text_of;
use rustc_hash::FxHashMap;

/// The rules that say nothing in such files. The last does so only in MDX, where `[^…]` may be part of a program.
const OFF: [&str; 6] = ["MD042", "MD051", "MD052", "MD057", "MD075", "MD066"];

/// Files and folders that make a site of the folder that they are in, its own files included.
const HERE: [&str; 27] = [
    ".vitepress",
    ".vuepress",
    "conf.py",
    "index.rst",
    "_config.yml",
    "_config.yaml",
    "_config.toml",
    "_index.md",
    "_sidebar.md",
    "_toc.yml",
    "_quarto.yml",
    "_pkgdown.yml",
    "_bookdown.yml",
    "writerside.cfg",
    "myst.yml",
    "toc.yml",
    "docfx.json",
    "SUMMARY.md",
    ".gitbook.yaml",
    "mint.json",
    "docs.json",
    "sidebars.js",
    "sidebars.ts",
    "_meta.js",
    "_meta.ts",
    "_meta.json",
    ".pages",
];

/// Files that make a site of folders with documents beside them. Documents in their own folder are read where the repository is
/// hosted, unless that is such a folder itself.
const BESIDE: [&str; 41] = [
    "book.toml",
    "docusaurus.config.js",
    "docusaurus.config.ts",
    "docusaurus.config.mjs",
    "docusaurus.config.cjs",
    "website/docusaurus.config.js",
    "website/docusaurus.config.ts",
    "hugo.toml",
    "hugo.yaml",
    "hugo.yml",
    "hugo.json",
    "astro.config.mjs",
    "astro.config.ts",
    "astro.config.js",
    "gatsby-config.js",
    "gatsby-config.ts",
    ".eleventy.js",
    "eleventy.config.js",
    "eleventy.config.mjs",
    "eleventy.config.cjs",
    "theme.config.tsx",
    "theme.config.jsx",
    "antora.yml",
    "vocs.config.ts",
    "vocs.config.tsx",
    "rspress.config.ts",
    "source.config.ts",
    ".dumirc.ts",
    ".dumirc.js",
    "retype.yml",
    "redocly.yaml",
    "typedoc.json",
    "daux.json",
    "couscous.yml",
    "config.ld",
    "make.jl",
    "dartdoc_options.yaml",
    ".yardopts",
    ".rdoc_options",
    "Doxyfile",
    "Doxyfile.in",
];

/// Files of MkDocs and its successors, which do so as well, and read Markdown with Python-Markdown.
const MKDOCS: [&str; 4] = ["mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "zensical.toml"];

/// Files that do so if they contain a word: ExDoc is a dependency of the project.
const BESIDE_WITH: [(&str, &str); 2] = [("mix.exs", ":ex_doc"), ("rebar.config", "ex_doc")];

/// Folders with the documents of a site.
const FOLDERS: [&str; 22] = [
    "docs",
    "doc",
    "documentation",
    "content",
    "src",
    "pages",
    "blog",
    "posts",
    "guide",
    "guides",
    "book",
    "site",
    "website",
    "i18n",
    "versioned_docs",
    "mkdocs",
    "livebooks",
    "tutorials",
    "cheatsheets",
    "extras",
    "topics",
    "manual",
];

/// The folders that were looked at so far.
#[derive(Default)]
pub(crate) struct Sites {
    known: FxHashMap<PathBuf, Marks>,
}

#[derive(Default)]
struct Marks {
    here: bool,
    beside: bool,
    /// Whether there is a configuration of MkDocs's.
    mkdocs: bool,
    /// Folders that such a configuration names.
    pages: Vec<PathBuf>,
    demos: Option<PathBuf>,
}

impl Sites {
    /// The rules that say nothing in the file, if a framework makes a page of it.
    pub(crate) fn off(&mut self, file: &Path, text: &str, root: &Path) -> &'static [&'static str] {
        let ending = file.extension().and_then(|it| it.to_str()).unwrap_or_default();
        // The page that RDoc begins with; its links lead to what RDoc makes.
        let is_page = matches!(ending, "qmd" | "rmd" | "Rmd")
            || file.file_name().is_some_and(|it| it == "RDOC_MAIN.md");
        if ending == "mdx" {
            &OFF
        } else if is_page || has_own_syntax(text) || self.are_above(file, root) {
            &OFF[..5]
        } else if attributes::are_in(text) {
            &OFF[1..2]
        } else {
            &[]
        }
    }

    /// Whether the file may be a page of MkDocs's: its configuration is at or above it, or the file has blocks that
    /// Python-Markdown's extensions alone have.
    pub(crate) fn may_be_mkdocs(&mut self, file: &Path, text: &str, root: &Path) -> bool {
        let mut folders = file.ancestors().skip(1).take_while(|it| it.starts_with(root));
        has_sign(text, |it| BLOCKS.iter().any(|sign| it.starts_with(sign)))
            || folders.any(|it| {
                let marks = self.marks(it);
                marks.mkdocs || marks.pages.iter().any(|it| file.starts_with(it))
            })
    }

    fn are_above(&mut self, file: &Path, root: &Path) -> bool {
        let folders: Vec<&Path> = file.ancestors().skip(1).take_while(|it| it.starts_with(root)).collect();
        // The folder below, on the way to the file.
        let mut below: Option<&Path> = None;
        for folder in folders {
            let marks = self.marks(folder);
            let is_named = |it: Option<&Path>| {
                it.and_then(Path::file_name)
                    .and_then(|it| it.to_str())
                    .is_some_and(|it| FOLDERS.contains(&it))
            };
            let is_own = marks.beside && (is_named(below) || folder != root && is_named(Some(folder)));
            let mut named = marks.pages.iter().chain(&marks.demos);
            if marks.here || is_own || named.any(|it| file.starts_with(it)) {
                return true;
            }
            below = Some(folder);
        }
        false
    }

    fn marks(&mut self, folder: &Path) -> &Marks {
        self.known.entry(folder.to_path_buf()).or_insert_with(|| {
            let has = |names: &[&str]| names.iter().any(|it| folder.join(it).exists());
            let has_word =
                |it: &(&str, &str)| text_of(&folder.join(it.0)).is_ok_and(|text| text.contains(it.1));
            let mkdocs = has(&MKDOCS);
            Marks {
                here: has(&HERE) || folder.extension().is_some_and(|it| it == "docc"),
                beside: mkdocs || has(&BESIDE) || BESIDE_WITH.iter().any(has_word),
                mkdocs,
                pages: docs_dir::of(folder),
                demos: demos(folder),
            }
        })
    }
}

/// The folder in which dumi looks for the documents of components.
fn demos(folder: &Path) -> Option<PathBuf> {
    let is_dumi = [".dumirc.ts", ".dumirc.js"].iter().any(|it| folder.join(it).exists());
    is_dumi.then(|| folder.join("components"))
}

/// Begins of lines outside code that Markdown as such does not have.
const SIGNS: [&str; 14] = [
    ":::",
    "{%",
    "{{",
    "@#",
    "/// ",
    "//// ",
    "--8<--",
    "[[toc]]",
    "[TOC]",
    "```{",
    "~~~{",
    ".. ",
    "<!--@include",
    "@include",
];

/// Begins of indented blocks of Python-Markdown's extensions: admonitions, details and tabs.
const BLOCKS: [&str; 4] = ["!!! ", "??? ", "???+ ", "=== \""];

fn has_own_syntax(text: &str) -> bool {
    let is_sign = |line: &str| {
        SIGNS.iter().chain(&BLOCKS).any(|it| line.starts_with(it))
            || is_label(line)
            || has_tag(line)
            || is_macro(line)
    };
    has_front_matter(text) || has_sign(text, is_sign)
}

/// Whether a line outside code fulfils `is_sign`, without its indentation.
fn has_sign(text: &str, is_sign: impl Fn(&str) -> bool) -> bool {
    let mut fence = None;
    text.lines().any(|line| {
        let line = line.trim_start();
        let found = fence.is_none() && is_sign(line);
        let mark = ["```", "~~~"].into_iter().find(|it| line.starts_with(it));
        fence = match (fence, mark) {
            (None, mark) => mark,
            (Some(open), Some(mark)) if open == mark => None,
            (open, _) => open,
        };
        found
    })
}

/// A tag of Liquid's, Jinja's or Hugo's within the line, but not in code.
fn has_tag(line: &str) -> bool {
    ["{{<", "{{%", "{%"]
        .iter()
        .any(|it| line.find(it).is_some_and(|at| line[..at].matches('`').count().is_multiple_of(2)))
}

/// `$name{`, with which templates of sitegen call functions.
fn is_macro(line: &str) -> bool {
    let is_name = |it: &str| it.len() > 2 && it.chars().all(|it| it.is_ascii_lowercase() || it == '_');
    line.strip_prefix('$').and_then(|it| it.split_once('{')).is_some_and(|(name, _)| is_name(name))
}

/// `(name)=`, a target of MyST's.
fn is_label(line: &str) -> bool {
    line.starts_with('(') && line.trim_end().ends_with(")=")
}

/// YAML, TOML, or a comment with `title:` before all else.
fn has_front_matter(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let mut lines = text.lines().map(str::trim_end);
    let first = lines.next().unwrap_or_default();
    match first {
        "---" | "+++" => lines.take(60).any(|it| it == first),
        "<!--" => lines.take(3).any(|it| it.starts_with("title:") || it.starts_with("layout:")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_syntax() {
        for text in [
            "---\ntitle: x\n---\n# T\n",
            "<!--\ntitle: x\n-->\n",
            "# T\n\n::: tip\n:::\n",
            "(label)=\n# T\n",
            "# T\n\n{% link a.md %}\n",
            "Text {{< ref \"a\" >}}\n",
            "!!! note\n",
            "```{note}\n```\n",
            "# T\n\n$dual_code{[[\n[a: \"/\"]: =>\n]]}\n",
        ] {
            assert!(has_own_syntax(text), "{text}");
        }
        for text in [
            "# T\n\n${x}/a $f{x}\n$f{x}$\n",
            "# T\n\n---\n\ntext\n",
            "# T\n\n```md\n::: tip\n```\n",
            "(a)\n",
            "<!-- x -->\n# T\n",
        ] {
            assert!(!has_own_syntax(text), "{text}");
        }
    }
}
