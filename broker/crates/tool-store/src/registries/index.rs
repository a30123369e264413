//! A page of a Python index: the files of one package, as JSON or as HTML.

use download::Url;
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// The address of the file of this name. A page may give it as seen from where it is itself.
pub(super) fn wheel_url(page: &[u8], is_json: bool, base: &Url, name: &str) -> Option<Url> {
    let address = if is_json { in_json(page, name) } else { in_html(&String::from_utf8_lossy(page), name) };
    base.join(&address?).ok()
}

fn in_json(page: &[u8], name: &str) -> Option<String> {
    let page: Value = serde_json::from_slice(page).ok()?;
    let file = page["files"].as_array()?.iter().find(|it| it["filename"] == name)?;
    file["url"].as_str().map(str::to_owned)
}

/// The links of such a page are its files, and each ends in the file's name.
fn in_html(page: &str, name: &str) -> Option<String> {
    page.split("href=").skip(1).find_map(|rest| {
        let quote = rest.chars().next().filter(|it| ['"', '\''].contains(it))?;
        let link = rest[1..].split(quote).next()?.replace("&amp;", "&");
        let path = link.split(['#', '?']).next()?;
        let last = percent_decode_str(path.rsplit('/').next()?).decode_utf8_lossy();
        (last == name).then_some(link)
    })
}

#[cfg(test)]
mod tests {
    //! Pages in both forms.

    use super::*;

    #[test]
    fn files_are_found_by_their_names() {
        let base: Url = "https://a.example/simple/a/".parse().unwrap();
        let json = br#"{"files": [{"filename": "a-1.tar.gz", "url": "x"}, {"filename": "a-1-py3.whl", "url": "https://b.example/a-1-py3.whl"}]}"#;
        assert_eq!(
            wheel_url(json, true, &base, "a-1-py3.whl").unwrap().as_str(),
            "https://b.example/a-1-py3.whl"
        );
        let html = br#"<a href="../../a-1.tar.gz">a</a><a data-x='' href='../../files/a-1%2Bl-py3.whl?x=1&amp;y#sha256=0'>a</a>"#;
        let found = wheel_url(html, false, &base, "a-1+l-py3.whl").unwrap();
        assert_eq!(found.as_str(), "https://a.example/files/a-1%2Bl-py3.whl?x=1&y#sha256=0");
        assert_eq!(wheel_url(html, false, &base, "b.whl"), None);
        assert_eq!(wheel_url(b"<html>", true, &base, "b.whl"), None);
    }
}
