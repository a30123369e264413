//! Brackets of MD011's that are a link the wrong way round. `(text)[target]` is one only where the target is plainly one:
//! signatures (`f(x)[.g(y)]`), notes (`(since 2.0)[see 12]`) and citations have such brackets as well.

use crate::excerpt::Excerpt;

/// Endings of files that documents link to.
const ENDINGS: [&str; 36] = [
    "adoc", "c", "cpp", "css", "csv", "gif", "go", "h", "htm", "html", "ipynb", "jpeg", "jpg", "js", "json",
    "markdown", "md", "mdx", "mp4", "pdf", "php", "png", "py", "rb", "rs", "rst", "sh", "svg", "toml", "ts",
    "txt", "webp", "xml", "yaml", "yml", "zip",
];

/// Schemes of addresses without slashes.
const PLAIN_SCHEMES: [&str; 2] = ["mailto:", "tel:"];

/// Whether a reversed link was meant as a link.
pub(crate) fn is_meant(it: Excerpt<'_>) -> bool {
    let Some((text, target)) = parts(it.about) else { return false };
    let is_call = it.before.ends_with(|it: char| it.is_alphanumeric() || "_])>".contains(it));
    // Both are the wrong way round: `(https://…)[text]`.
    let is_turned = is_address(text) && target.contains(char::is_alphabetic);
    !is_call && (is_target(target) || is_turned)
}

/// Text in the parentheses, and text in the brackets.
fn parts(about: &str) -> Option<(&str, &str)> {
    about.strip_prefix('(')?.strip_suffix(']')?.split_once(")[")
}

/// Maybe in angle brackets, and with a title behind it.
fn is_target(text: &str) -> bool {
    let (path, rest) = match text.trim().strip_prefix('<').and_then(|it| it.split_once('>')) {
        Some(parts) => parts,
        None => text.trim().split_once([' ', '\t']).unwrap_or((text.trim(), "")),
    };
    let is_title = rest.is_empty() || rest.trim_start().starts_with(['"', '\'']);
    is_title && (is_address(path) || is_fragment(path) || is_path(path))
}

fn is_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|it| it.0);
    let is_scheme =
        |it: &str| it.len() > 1 && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"+.-".contains(&it));
    !text.contains(' ')
        && (scheme.is_some_and(is_scheme)
            || text.starts_with("www.")
            || PLAIN_SCHEMES.iter().any(|it| text.starts_with(it)))
}

/// `#heading`; a number is that of an issue.
fn is_fragment(text: &str) -> bool {
    let name = text.strip_prefix('#').unwrap_or_default();
    name.contains(char::is_alphabetic) && name.chars().all(|it| it.is_alphanumeric() || "-_.".contains(it))
}

/// A path that begins or ends as one, or a file's.
fn is_path(text: &str) -> bool {
    let path = text.split(['#', '?']).next().unwrap_or_default();
    let is_plain = path.chars().all(|it| it.is_alphanumeric() || "/._-~%@+".contains(it));
    let begins =
        ["./", "../", "/", "~/"].iter().any(|it| path.strip_prefix(it).is_some_and(|it| !it.is_empty()));
    let is_folder = path.len() > 1 && path.ends_with('/');
    is_plain && (begins || is_folder || path.matches('/').count() > 1 || is_file(path))
}

fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').filter(|it| !it.0.is_empty()).map(|it| it.1.to_ascii_lowercase());
    ending.is_some_and(|it| ENDINGS.contains(&it.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(before: &str, about: &str) -> bool {
        is_meant(Excerpt { before, about, after: "" })
    }

    #[test]
    fn links_the_wrong_way_round() {
        for it in [
            "(docs)[https://x.org/a]",
            "(docs)[<https://x.org/a> \"Title\"]",
            "(mail)[mailto:a@x.org]",
            "(site)[www.x.org]",
            "(guide)[guide.md]",
            "(guide)[a/b/guide.html#part]",
            "(guide)[../guide]",
            "(guide)[docs/]",
            "(the part)[#the-part]",
            "(https://x.org)[the site]",
        ] {
            assert!(meant("see ", it), "{it}");
        }
    }

    #[test]
    fn other_brackets() {
        for it in [
            "(key, [value])[.also(other)]",
            "(since: Version=4)[Ticket#12]",
            "(fixed)[#123]",
            "(x)[y]",
            "(mode)[read/write]",
            "(value)[user.name]",
            "(range)[7.x]",
            "(https://x.org)[1]",
            "(x)[see guide.md]",
        ] {
            assert!(!meant("see ", it), "{it}");
        }
        assert!(!meant("open", "(path)[file.txt]"), "a call");
    }
}
