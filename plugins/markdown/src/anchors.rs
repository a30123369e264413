//! Anchors that rumdl does not know: `name` and `id` of any HTML element, headings written as such elements, and MyST's
//! `(name)=`.

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
    found
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
    warnings.retain(|it| fragment(it).is_none_or(|it| !known.contains(&it.to_lowercase())));
}

/// What a finding of MD051 within a file is about.
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
}
