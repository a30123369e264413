//! Lines around a patch that other tools write there.

/// A line that belongs to no part of the patch, and is not blank.
#[derive(Debug, Clone, Copy)]
pub struct Outside<'a> {
    /// From 1.
    pub line: usize,
    pub text: &'a str,
    /// The number of the patch's parts before it.
    pub parts: usize,
}

/// A fence of Markdown, with or without the name of a language.
pub fn is_fence(line: &str) -> bool {
    let line = line.trim();
    (line.starts_with("```") && !line[3..].contains('`')) || line.starts_with("~~~")
}

/// The line that ends the patch in a mail of git's: two hyphens, and its version.
pub fn is_signature(lines: &[&str], at: usize) -> bool {
    let is_version = |it: &&str| it.starts_with(|it: char| it.is_ascii_digit()) && it.contains('.');
    lines[at].trim_end() == "--" && lines.get(at + 1).is_some_and(is_version)
}

/// The first line of what a version control system writes above a diff.
pub fn is_vcs_head(line: &str) -> bool {
    let is_hash = |it: &str| it.len() >= 7 && it.bytes().all(|it| it.is_ascii_hexdigit());
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["commit" | "stash" | "tag", hash, ..] | ["From", hash, _, ..] if is_hash(hash) => true,
        ["#", "HG", "changeset", "patch"] | ["changeset:", _, ..] | ["Index:", _] => true,
        ["Property", "changes", "on:", ..] => true,
        _ => false,
    }
}
