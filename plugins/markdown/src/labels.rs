//! Labels of definitions in messages. rumdl has them in small letters, as it compares them.

use rumdl_lib::rule::LintWarning;

/// The rules whose messages have labels in brackets.
const RULES: [&str; 3] = ["MD053", "MD066", "MD067"];

/// Has messages show labels as they are written in the text.
pub(crate) fn as_written(warnings: &mut [LintWarning], text: &str) {
    let is_about_labels =
        |it: &&mut LintWarning| it.rule_name.as_deref().is_some_and(|it| RULES.contains(&it));
    let lines: Vec<&str> = text.lines().collect();
    for warning in warnings.iter_mut().filter(is_about_labels) {
        let line = warning.line.checked_sub(1).and_then(|it| lines.get(it)).copied().unwrap_or_default();
        warning.message = message(&warning.message, line, text);
    }
}

/// The message with each label as it is in the finding's line, or else where it comes first in the text.
fn message(message: &str, line: &str, text: &str) -> String {
    let mut new = String::new();
    let mut rest = message;
    while let Some(at) = rest.find('[') {
        new.push_str(&rest[..at]);
        let Some(end) = rest.find(']') else { break };
        let label = &rest[at..=end.max(at)];
        new.push_str(written(label, line).or_else(|| written(label, text)).unwrap_or(label));
        rest = &rest[at + label.len()..];
    }
    new + rest
}

/// A label in its brackets as the text has it.
fn written<'a>(label: &str, text: &'a str) -> Option<&'a str> {
    // Small letters may be shorter than large ones.
    let longest = 4 * label.len();
    let mut starts = text.match_indices('[').map(|it| &text[it.0..]);
    starts.find_map(|it| {
        let end = it.bytes().take(longest).position(|it| it == b']')?;
        (it[..=end].to_lowercase() == label).then_some(&it[..=end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_as_they_are_written() {
        let text = "[^Über] [a[b\n[^ÜBER]: x\n[ok]: y";
        assert_eq!(message("'[^über]' is", "x [y] [^ÜBER]: x", text), "'[^ÜBER]' is");
        assert_eq!(message("[ok], '[^über]' not [^none]", "", text), "[ok], '[^Über]' not [^none]");
        assert_eq!(message("[a ]b", "", text), "[a ]b");
        assert_eq!(message("a] [b", "[A]", text), "a] [b");
    }
}
