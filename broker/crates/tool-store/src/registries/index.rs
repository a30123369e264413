//! A page of a Python index: the files of one package, as JSON or as HTML.

use download::Url;
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// A file that a page lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) file: String,
    pub(super) url: Url,
    /// Digest in hexadecimal digits, if the page has it, as it may have the size.
    pub(super) sha256: Option<String>,
    pub(super) size: Option<u64>,
}

/// The files of a page, which may give their addresses as seen from where it is itself.
pub(super) fn listed(page: &[u8], is_json: bool, base: &Url) -> Vec<Listed> {
    if is_json { in_json(page, base) } else { in_html(&String::from_utf8_lossy(page), base) }
}

fn in_json(page: &[u8], base: &Url) -> Vec<Listed> {
    let page: Value = serde_json::from_slice(page).unwrap_or_default();
    let file = |it: &Value| {
        Some(Listed {
            file: it["filename"].as_str()?.to_owned(),
            url: base.join(it["url"].as_str()?).ok()?,
            sha256: it["hashes"]["sha256"].as_str().map(str::to_owned),
            size: it["size"].as_u64(),
        })
    };
    page["files"].as_array().into_iter().flatten().filter_map(file).collect()
}

/// The links of such a page are its files, and each ends in the file's name.
fn in_html(page: &str, base: &Url) -> Vec<Listed> {
    let file = |rest: &str| {
        let quote = rest.chars().next().filter(|it| ['"', '\''].contains(it))?;
        let link = rest[1..].split(quote).next()?.replace("&amp;", "&");
        let path = link.split(['#', '?']).next()?;
        let file = percent_decode_str(path.rsplit('/').next()?).decode_utf8_lossy().into_owned();
        let url = base.join(&link).ok()?;
        let sha256 = url.fragment().and_then(|it| it.strip_prefix("sha256=")).map(str::to_owned);
        Some(Listed { file, url, sha256, size: None })
    };
    page.split("href=").skip(1).filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    //! Pages in both forms.

    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let base: Url = "https://a.example/simple/a/".parse().unwrap();
        let shown = |page: &[u8], is_json| {
            let file = |Listed { file, url, sha256, size }| format!("{file} {url} {sha256:?} {size:?}");
            listed(page, is_json, &base).into_iter().map(file).collect::<Vec<_>>().join("\n")
        };
        let json = br#"{"files": [{"filename": "a-1.tar.gz", "url": "x"}, {"url": "no-name"}, {"filename": "a-1-py3.whl", "url": "https://b.example/a-1-py3.whl", "hashes": {"sha256": "0f"}, "size": 5}]}"#;
        insta::assert_snapshot!(shown(json, true), @r#"
        a-1.tar.gz https://a.example/simple/a/x None None
        a-1-py3.whl https://b.example/a-1-py3.whl Some("0f") Some(5)
        "#);
        let html = br#"<a href="../../a-1.tar.gz">a</a><a data-x='' href='../../files/a-1%2Bl-py3.whl?x=1&amp;y#sha256=0'>a</a>"#;
        insta::assert_snapshot!(shown(html, false), @r#"
        a-1.tar.gz https://a.example/a-1.tar.gz None None
        a-1+l-py3.whl https://a.example/files/a-1%2Bl-py3.whl?x=1&y#sha256=0 Some("0") None
        "#);
        assert_eq!(shown(b"<html>", true), "");
    }
}
