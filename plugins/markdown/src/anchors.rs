//! Anchors that rumdl does not know: `name` and `id` of any HTML element, headings written as such elements, MyST's `(name)=`,
//! and those of headings of which GitHub keeps more: combining marks, variation selectors, and angle brackets' contents that
//! are no HTML (`Vec<u8, A>`, `<https://a.org>`).

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use rumdl_lib::rule::LintWarning;
use rumdl_lib::workspace_index::FileIndex;
use rustc_hash::FxHashSet;

/// The names of the places in a text that links may lead to, besides its headings.
pub(crate) fn of(text: &str) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    for (at, _) in text.match_indices('<') {
        let rest = &text[at + 1..];
        if rest.starts_with(|it: char| it.is_ascii_alphabetic()) {
            let tag = &rest[..rest.find('>').unwrap_or(0)];
            found.extend(["name", "id"].iter().filter_map(|it| attribute(tag, it)));
            found.extend(heading(rest));
        }
    }
    let labels = text.lines().filter_map(|it| it.trim().strip_prefix('(')?.strip_suffix(")="));
    found.extend(labels.map(str::to_lowercase));
    found.extend(headings(text));
    found
}

/// The anchors of headings as GitHub makes them, in texts of which rumdl makes others.
fn headings(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut title: Option<String> = None;
    if text.is_ascii() && !text.contains('<') {
        return found;
    }
    for event in Parser::new_ext(text, syntax()) {
        match (event, &mut title) {
            (Event::Start(Tag::Heading { .. }), _) => title = Some(String::new()),
            (Event::End(TagEnd::Heading(_)), it) => {
                let slug = slug(&it.take().unwrap_or_default());
                let times = found.iter().filter(|it| **it == slug).count();
                found.push(if times == 0 { slug } else { format!("{slug}-{times}") });
            }
            (Event::Text(text) | Event::Code(text), Some(title)) => title.push_str(&text),
            _ => {}
        }
    }
    found
}

/// Syntax that GitHub reads, and attributes of headings, which are no part of their anchors elsewhere.
fn syntax() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_HEADING_ATTRIBUTES
}

/// A heading's anchor as GitHub makes it: letters, marks, digits, hyphens and underscores stay.
fn slug(title: &str) -> String {
    let stays = |it: &char| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_') || is_mark(*it);
    let kept = title.trim().chars().filter(stays);
    kept.map(|it| if it == ' ' { '-' } else { it }).collect::<String>().to_lowercase()
}

/// Signs that belong to the letter before them, in the blocks of scripts that have such, and variation selectors.
fn is_mark(it: char) -> bool {
    matches!(it, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}')
        || ('\u{900}'..='\u{109f}').contains(&it)
            && !matches!(it, '\u{964}' | '\u{965}' | '\u{970}' | '\u{e3f}' | '\u{e4f}')
        || ('\u{1780}'..='\u{17d3}').contains(&it)
}

/// A fragment without `%XX`.
fn decoded(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| fragment.get(at + 1..at + 3)).flatten();
        match code.and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| fragment.to_owned())
}

/// The anchor of a heading's element that begins here, as GitHub makes it.
fn heading(rest: &str) -> Option<String> {
    let level = rest.strip_prefix(['h', 'H'])?.chars().next().filter(char::is_ascii_digit)?;
    let (_, inner) = rest.split_once('>')?;
    let end = [format!("</h{level}"), format!("</H{level}")].iter().filter_map(|it| inner.find(it)).min()?;
    let mut text = String::new();
    for (number, part) in inner[..end].split('<').enumerate() {
        text.push_str(if number == 0 { part } else { part.split_once('>').map_or("", |it| it.1) });
    }
    let kept = text.trim().chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    Some(kept.map(|it| if it == ' ' { '-' } else { it }).collect::<String>().to_lowercase())
}

/// The value of a tag's attribute, in small letters: some frameworks do not tell the two apart.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut places = tag.match_indices(name);
    places.find_map(|(at, _)| {
        let is_start = tag[..at].ends_with(|it: char| it.is_ascii_whitespace());
        let value = tag[at + name.len()..].trim_start().strip_prefix('=').filter(|_| is_start)?.trim_start();
        let quote = value.chars().next().filter(|it| matches!(it, '"' | '\''));
        let value = match quote {
            Some(quote) => value[1..].split(quote).next(),
            None => value.split_ascii_whitespace().next(),
        };
        value.map(|it| it.trim_end_matches('/').to_lowercase()).filter(|it| !it.is_empty())
    })
}

/// Has links of other files find them.
pub(crate) fn add(index: &mut FileIndex, text: &str) {
    of(text).iter().for_each(|it| index.add_html_anchor(it));
}

/// Drops findings of links within the file that lead to one of them.
pub(crate) fn drop_known(warnings: &mut Vec<LintWarning>, text: &str) {
    if !warnings.iter().any(|it| fragment(it).is_some()) {
        return;
    }
    let known = of(text);
    warnings.retain(|it| fragment(it).is_none_or(|it| !known.contains(&decoded(it).to_lowercase())));
}

/// Fragment that a finding of MD051 within a file is about.
fn fragment(warning: &LintWarning) -> Option<&str> {
    let rest = warning
        .message
        .strip_prefix("Link anchor '#")
        .filter(|_| warning.rule_name.as_deref() == Some("MD051"))?;
    rest.split_once('\'').map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let text = "<h3 name=\"One\">\n<a href='x' id='two'></a> <p id=three/> < name=no\n(four)=\n\
                    <h2 align=x>The <b>Fifth</b>!</h2>";
        let mut found: Vec<_> = of(text).into_iter().collect();
        found.sort();
        assert_eq!(found, ["four", "one", "the-fifth", "three", "two"]);
    }

    #[test]
    fn headings_keep_marks_as_github_does() {
        let text = "# समुदाय\n\n## ❤️ Ways to `do` [it](x)\n\n## ภาษาไทย\n\n## ภาษาไทย\n";
        assert_eq!(headings(text), ["समुदाय", "\u{fe0f}-ways-to-do-it", "ภาษาไทย", "ภาษาไทย-1"]);
        assert_eq!(decoded("%EF%B8%8F-a%2"), "\u{fe0f}-a%2");
    }

    #[test]
    fn headings_lose_nothing_but_html() {
        for (title, want) in [
            ("Dict<key, Value[]>", "dictkey-value"),
            ("Pair<A, B>, <C: D> and <e f=>", "paira-b-c-d-and-e-f"),
            ("See <https://a.org/b>", "see-httpsaorgb"),
            ("A `<b>` \\<c> &lt;d&gt; < e > <3>", "a-b-c-d--e--3"),
            ("A <b>c</b> <!-- d --> <e f='g' h/>-- i", "a-c-----i"),
            ("Map<String> <a_b> <c:d> </e f>", "map-a_b-cd-e-f"),
        ] {
            assert_eq!(headings(&format!("## {title}\n")), [want], "{title}");
        }
    }
}
