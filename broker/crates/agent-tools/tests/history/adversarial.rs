//! Edits for which a naive reader finds a wrong place. One text is right, or a refusal.

pub(crate) mod data;
pub(crate) mod of_changes;
pub(crate) mod of_files;
pub(crate) mod stretched;

/// Words that are no names.
const KEYWORDS: [&str; 12] =
    ["return", "null", "true", "false", "None", "True", "False", "self", "this", "break", "continue", "else"];

/// A line with another number, or another word near its end.
pub(crate) fn mutated(line: &str) -> Option<String> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut words =
        line.rsplit(|it| !is_word(it)).map(|it| (it.as_ptr() as usize - line.as_ptr() as usize, it));
    let is_name =
        |it: &str| it.len() >= 4 && !KEYWORDS.contains(&it) && it.starts_with(|it: char| it.is_alphabetic());
    let is_number = |it: &str| !it.is_empty() && it.len() < 6 && it.bytes().all(|it| it.is_ascii_digit());
    let (at, word) = words.find(|it| is_name(it.1) || is_number(it.1))?;
    let new = match word.parse::<u32>() {
        Ok(it) => (it + 1).to_string(),
        Err(_) => format!("{word}_other"),
    };
    Some(format!("{}{new}{}", &line[..at], &line[at + word.len()..]))
}
