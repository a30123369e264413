//! Names that belong to version control: files of these names are run by other programs, as a hook or as a command in
//! a configuration, so that neither an edit nor a commit may change them.
//!
//! A name counts in every form in which some file system takes it for the same: in other case, with code
//! points that are ignored, with the dots and spaces that Windows drops, as its short name there (`git~1`), or
//! with a stream (`.git::$INDEX_ALLOCATION`). As git does it, and for more programs than git. That two names
//! lead to the same directory for another reason is found by [`commit`](crate::Committer), which looks.

use crate::WorkspacePath;

/// Names of programs, without the dot of their directories.
const PROGRAMS: [&str; 5] = ["git", "hg", "svn", "jj", "bzr"];

/// Whether `path` is a file or directory of version control, or lies in one.
pub fn is_inside(path: &WorkspacePath) -> bool {
    path.components().any(is_name)
}

/// Returns the reason why an edit or a commit of `path` is refused.
pub(crate) fn refusal(path: &WorkspacePath) -> String {
    format!("`{path}` belongs to version control, which no edit and no commit changes")
}

/// The names as the programs themselves write them.
pub(crate) fn names() -> impl Iterator<Item = String> {
    PROGRAMS.iter().map(|it| format!(".{it}"))
}

/// Whether a file or directory with this name, wherever it lies, belongs to version control.
pub(crate) fn is_name(name: &str) -> bool {
    // Nearly every name is none, and begins like none.
    if !name.contains('.') && !name.contains('~') {
        return false;
    }
    let folded: String = name.chars().filter(|it| !is_ignored(*it)).flat_map(folded).collect();
    let stem = folded.split([':', '\\']).next().unwrap_or_default().trim_end_matches(['.', ' ']);
    let is_dotted = |it: &str| PROGRAMS.contains(&it);
    let is_short = |(it, number): (&str, &str)| {
        PROGRAMS.contains(&it) && number.len() == 1 && number.bytes().all(|it| it.is_ascii_digit())
    };
    stem.strip_prefix('.').is_some_and(is_dotted) || stem.split_once('~').is_some_and(is_short)
}

/// Without regard to case; `ſ` is an `s` then.
fn folded(it: char) -> impl Iterator<Item = char> {
    it.to_uppercase().flat_map(char::to_lowercase)
}

/// Whether HFS+, APFS and the case-insensitive folders of Linux ignore it: Unicode's default-ignorable code points.
fn is_ignored(it: char) -> bool {
    matches!(it,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_name_counts() {
        let forms = [
            ".git",
            ".GIT",
            ".Git",
            ".gIt.",
            ".git . .",
            ".git ",
            "git~1",
            "GIT~1",
            "git~2 .",
            ".git:stream",
            ".git::$INDEX_ALLOCATION",
            ".git\\hooks",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".gi\u{200d}t\u{206f}",
            ".g\u{ad}it",
            ".hg",
            ".HG",
            "hg~1",
            ".svn",
            ".\u{17f}vn",
            ".jj",
            ".JJ.",
            ".bzr",
            "BZR~1",
        ];
        for form in forms {
            assert!(is_name(form), "{form:?}");
            for path in [form.to_owned(), format!("sub/{form}/hooks/pre-commit")] {
                assert!(is_inside(&WorkspacePath::new(&path).unwrap()), "{path:?}");
            }
        }
    }

    #[test]
    fn other_names_do_not() {
        let names = [
            "git",
            ".gitignore",
            ".github",
            ".git-blame-ignore-revs",
            ".gitattributes",
            "a.git",
            "..git",
            "x~1",
            "git~",
            "git~a",
            "git~10",
            "digit~1",
            "main.rs",
            "notes.~1~",
            "\u{200c}",
            ".",
            ".\u{131}git",
            ".hgignore",
        ];
        for name in names {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
