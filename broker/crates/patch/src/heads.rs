//! Lines that a file of a diff begins with.

/// The first line of a file of a diff, as git, hg and `diff -r` write it.
pub(crate) fn is_head_of_diff(lines: &[&str], at: usize) -> bool {
    let starts = |it: &&str| lines[at].starts_with(it);
    // A script may have `diff -r` as a command.
    ["diff --git ", "diff --cc ", "diff --combined "].iter().any(starts)
        || (starts(&"diff -") && at + 1 < lines.len() && is_head_of_file(lines, at + 1))
}

pub(crate) fn is_head_of_file(lines: &[&str], at: usize) -> bool {
    lines[at].starts_with("--- ") && lines.get(at + 1).is_some_and(|it| is_name(it))
}

/// The name of a file after a diff.
pub(crate) fn is_name(line: &str) -> bool {
    line.starts_with("+++ ")
}
