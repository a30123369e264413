//! Summaries of rules that are templates of their messages, as ruff has them: `{name}` is imported but unused.

/// The summary with `<name>` in place of `{name}` and `{name:?}`, and `…` in place of `{}`; `None` if it is no
/// template. Braces around anything else are meant as such.
pub fn with_placeholders(summary: &str) -> Option<String> {
    let (mut text, mut rest, mut is_template) = (String::new(), summary, false);
    while let Some((before, after)) = rest.split_once('{') {
        text += before;
        match after.split_once('}').and_then(|(inside, left)| Some((placeholder(inside)?, left))) {
            Some((placeholder, left)) if !before.ends_with('$') => {
                (text, rest, is_template) = (text + &placeholder, left, true);
            }
            _ => (text, rest) = (text + "{", after),
        }
    }
    is_template.then(|| text + rest)
}

/// Returns the placeholder for the text between braces; `None` if it is no name.
fn placeholder(inside: &str) -> Option<String> {
    let name = inside.split_once(':').map_or(inside, |(name, _)| name);
    match name.chars().all(|it| it.is_alphanumeric() || it == '_') {
        true if name.is_empty() => Some("…".to_owned()),
        true => Some(format!("<{}>", name.to_lowercase())),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_filled_in_is_replaced() {
        for (summary, want) in [
            ("`{name}` imported but unused", Some("`<name>` imported but unused")),
            ("Expected {BLANK_LINES:?} lines, found {}", Some("Expected <blank_lines> lines, found …")),
            ("Unused {", None),
            ("Write `${HOME}`, not `{ a: b }`", None),
            ("A {`set`} of {kind}", Some("A {`set`} of <kind>")),
            ("The file holds a private key", None),
        ] {
            assert_eq!(with_placeholders(summary).as_deref(), want);
        }
    }
}
