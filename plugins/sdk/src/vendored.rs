//! Recognition of files that a project has from others: libraries that were copied into it, and output of tools. They differ from
//! minified files in that they can be read; style in them is not for the project to fix.

use std::path::Path;

use crate::minified;

/// Names of folders with third-party code, in lower case and without punctuation.
const FOLDERS: [&str; 13] = [
    "bowercomponents",
    "extern",
    "external",
    "externals",
    "jspmpackages",
    "nodemodules",
    "sitelibs",
    "thirdparty",
    "3rdparty",
    "vendor",
    "vendored",
    "vendors",
    "webjars",
];

/// Names of libraries, and of files that generators of documentation add to their pages, in lower case. A version or the name of
/// a part may follow them.
const LIBRARIES: [&str; 46] = [
    "angular",
    "animate",
    "backbone",
    "basscss",
    "bootstrap",
    "bulma",
    "codemirror",
    "d3",
    "datatables",
    "doctools",
    "doxygen",
    "dropzone",
    "ember",
    "flatpickr",
    "font-awesome",
    "github-markdown",
    "fontawesome",
    "fullcalendar",
    "handlebars",
    "highlight",
    "highcharts",
    "html5shiv",
    "htmx",
    "jquery",
    "jquery-ui",
    "jquery.ui",
    "katex",
    "knockout",
    "leaflet",
    "lodash",
    "materialize",
    "mathjax",
    "milligram",
    "moment",
    "modernizr",
    "mootools",
    "normalize",
    "popper",
    "prettify",
    "prism",
    "pygments",
    "raphael",
    "select2",
    "toastr",
    "underscore",
    "zepto",
];

/// Names of files that generators of documentation and of projects write unchanged.
const STOCK: [&str; 14] = [
    "alabaster.css",
    "basic.css",
    "classic.css",
    "doxygen-awesome.css",
    "jdoc.css",
    "language_data.js",
    "navtree.css",
    "navtree.js",
    "rustdoc.css",
    "scaffold.css",
    "scaffolds.css",
    "searchtools.js",
    "sphinx_highlight.js",
    "theme_extras.js",
];

/// First words of suffixes after a library's name.
const PARTS: [&str; 18] = [
    "all", "bundle", "core", "custom", "dev", "esm", "full", "grid", "iife", "js", "legacy", "map", "reboot",
    "rtl", "slim", "theme", "ui", "umd",
];

/// Number of lines of a banner that are read.
const BANNER_LINES: usize = 4;

/// Whether a file comes from another project or from a tool. `path` is relative to the workspace's root.
#[must_use]
pub fn is_vendored(path: &Path, text: &str) -> bool {
    is_named_so(path)
        || has_banner(text)
        || minified::is_minified(path, text)
        || minified::has_source_map(text)
}

/// Whether a file is in a folder for code from other projects: `vendor`, `third_party`, `_vendored`. `path` is relative to the
/// workspace's root.
#[must_use]
pub fn is_in_folder(path: &Path) -> bool {
    let plain =
        |it: &str| it.chars().filter(|it| it.is_alphanumeric()).collect::<String>().to_ascii_lowercase();
    folders(path).any(|it| FOLDERS.contains(&plain(it).as_str()))
}

fn folders(path: &Path) -> impl Iterator<Item = &str> {
    path.parent().into_iter().flat_map(Path::components).filter_map(|it| it.as_os_str().to_str())
}

/// Whether a file is in `docs/assets`, where themes of documentation keep theirs.
fn is_of_theme(path: &Path) -> bool {
    let folders: Vec<_> = folders(path).collect();
    folders.windows(2).any(|it| matches!(it, ["doc" | "docs" | "documentation", "assets"]))
}

/// Whether the file's name or a folder above it marks it as vendored or generated.
fn is_named_so(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default().to_ascii_lowercase();
    is_in_folder(path) || is_of_theme(path) || STOCK.contains(&name.as_str()) || is_library(&name)
}

/// Whether a name is that of a library, alone or with a version or the name of a part after it: `jquery-3.7.1.js`,
/// `bootstrap-theme.css`.
fn is_library(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |it| it.0);
    LIBRARIES.iter().filter_map(|it| stem.strip_prefix(it)).any(|rest| {
        let mut words = rest.split(['-', '.', '_']);
        // Letters directly after the library's name make it another word.
        words.next() == Some("") && words.all(is_part) || rest.is_empty()
    })
}

fn is_part(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    PARTS.contains(&word) || word == "min" || number.starts_with(|it: char| it.is_ascii_digit())
}

/// Whether the text begins with a comment that minifiers are to keep and that names a version, or a licence and an address:
/// `/*! name v1.2.3 */`, `/*! name | https://a.org | MIT License */`.
fn has_banner(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let text = text.strip_prefix("@charset \"UTF-8\";").map_or(text, str::trim_start);
    let Some(comment) = text.strip_prefix("/*").and_then(|it| it.split("*/").next()) else { return false };
    let is_kept = comment.starts_with('!') || comment.contains("@license") || comment.contains("@preserve");
    let words = || comment.lines().take(BANNER_LINES).flat_map(str::split_whitespace);
    let is_published = words().any(|it| it.contains("://")) && words().any(is_licence);
    is_kept && (words().any(is_version) || is_published)
}

/// Whether a word is the name of a licence under which libraries are published, or the word itself.
fn is_licence(word: &str) -> bool {
    let word = word.trim_matches(|it: char| !it.is_ascii_alphanumeric()).to_ascii_lowercase();
    matches!(&*word, "mit" | "bsd" | "isc" | "apache" | "gpl" | "mpl" | "license" | "licence" | "licensed")
}

/// Whether a word is a version: `v1.2`, `1.2.3`. Two numbers alone may be those of a licence.
fn is_version(word: &str) -> bool {
    let number = word.strip_prefix(['v', 'V']).unwrap_or(word);
    let number = number.split(['-', '+']).next().unwrap_or_default().trim_end_matches([',', ';', '.', ':']);
    let parts: Vec<&str> = number.split('.').collect();
    let is_number = |it: &&str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    parts.iter().all(is_number)
        && parts.len() >= if number.len() < word.len() && word.starts_with(['v', 'V']) { 2 } else { 3 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(path: &str, text: &str) -> bool {
        is_vendored(Path::new(path), text)
    }

    #[test]
    fn folders_and_names() {
        for path in [
            "vendor/a.css",
            "web/third-party/x/a.js",
            "docs/site_libs/quarto.js",
            "Vendors/a.js",
            "js/jquery.js",
            "js/jquery-3.7.1.slim.js",
            "js/jquery-ui.js",
            "css/bootstrap-theme.css",
            "css/font-awesome.css",
            "d3.v5.js",
            "docs/_static/searchtools.js",
            "pkg/_vendor/a.py",
            "a/docs/assets/js/main.js",
        ] {
            assert!(is(path, ""), "{path}");
        }
        for path in [
            "vendor.js",
            "src/vending/a.js",
            "js/jquery.own-plugin.js",
            "d3chart.js",
            "chart-of-us.js",
            "docs/a.js",
            "src/assets/a.js",
            "a.css",
        ] {
            assert!(!is(path, ""), "{path}");
        }
    }

    #[test]
    fn banners() {
        for text in [
            "/*! lib v2.0.7 - 2016 | MIT */\n",
            "/*!\n * Lib 4.17.21 by A\n */\n",
            "@charset \"UTF-8\";\n/*!\n * lib v3.7.2\n */",
            "/**\n * @license\n * Lib v16.2\n */",
            "/*! Lib | http://lib.example | MIT License */\n",
        ] {
            assert!(is("a.js", text), "{text}");
        }
        for text in [
            "/* lib v2.0.7 */\n",
            "/*! Apache License 2.0 */\n",
            "/*! see https://a.example */\n",
            "/*! made by A */\nvar a = '1.2.3';\n",
            "var a = 1; /*! lib v1.2.3 */\n",
        ] {
            assert!(!is("a.js", text), "{text}");
        }
    }
}
