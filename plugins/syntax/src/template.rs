//! Recognition of files that are a template of a file: what is made of them fits the grammar, and they do not. A file that starts
//! with front matter, as site generators have it, is one whatever else is in it, and so is a part that one puts into others. A
//! configuration file that begins with a guard of PHP is in another language as well.

use broker_plugin_sdk::template::{self, IS_TEMPLATE, Tag, tags};

/// `<? … ?>` is an instruction of XML, and `${ … }` an expression of many languages.
const TAGS: [Tag; 5] = [Tag::Value, Tag::Statement, Tag::Comment, Tag::Erb, Tag::Placeholder];

/// Tags that XML has in texts only, and there seldom.
const OF_NO_XML: [Tag; 2] = [Tag::Statement, Tag::Comment];

/// Returns the reason not to report errors, if there is one: a template's tag is on the line of one of the first.
pub(crate) fn objection(
    path: &str,
    language: &str,
    text: &[u8],
    places: impl Iterator<Item = usize>,
) -> Option<&'static str> {
    // An element that a template does not close is an error at the end of the root only.
    let has_tag = || language == "xml" && tags(text, &OF_NO_XML).next().is_some();
    if language == "php" && is_behind_guard(text) {
        return Some("it is a configuration file that a line of PHP keeps from being served");
    }
    if has_tag() {
        return Some(IS_TEMPLATE);
    }
    template::objection(path, text, tags(text, &TAGS), places)
}

/// Whether the first line is a comment of an INI file with PHP in it (`;<?php exit; /*`), so that a server runs the file and does
/// not send it.
fn is_behind_guard(text: &[u8]) -> bool {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).trim_ascii_start();
    let line = text.split(|it| *it == b'\n').next().unwrap_or_default();
    let is_comment = line.starts_with(b";") || line.starts_with(b"#") && !line.starts_with(b"#!");
    is_comment && memchr::memmem::find(line, b"<?").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_left_out(language: &str, text: &str) -> bool {
        objection("conf.php", language, text.as_bytes(), std::iter::once(text.len())).is_some()
    }

    #[test]
    fn configuration_behind_a_guard_of_php() {
        for guarded in [
            ";<?php die('no'); /*\n[db]\nhost = \"a\"\n",
            "; <?php exit;\r\nport = 80\r\n",
            "\u{feff}\n;<?PHP return; ?>\n<?php [x\n",
            "# <? exit(1); /*\nkey: it's\n",
        ] {
            assert!(is_left_out("php", guarded), "{guarded}");
        }
        for code in [
            "<?php /* a\n[db]\n",
            "<?php\n;<?php\n",
            "#!/usr/bin/env php <?\n<?php f(\n",
            "; a\n<?php f(\n",
            "<p>;<?php f(\n",
        ] {
            assert!(!is_left_out("php", code), "{code}");
        }
        assert!(!is_left_out("c", ";<?php exit; /*\n"), "another language");
    }
}
