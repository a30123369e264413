//! The text of a diff as files and hunks, and as what stands around them.

use crate::{
    Error, FilePatch, Mode, Numbers, Outside, Problem,
    around::{is_fence, is_signature, is_vcs_head},
    heads::{is_head_of_diff, is_head_of_file, is_name},
    hunk::{has_change, head, hunk},
    names, unended,
};

/// A text as a patch, as far as it can be read.
pub struct Patch<'a> {
    /// Its first line, from 0. `None` if the text has no patch in it.
    pub first: Option<usize>,
    /// Files up to the error, the last of them with the hunks before it.
    pub files: Vec<FilePatch<'a>>,
    pub outside: Vec<Outside<'a>>,
    pub error: Option<Error>,
}

impl<'a> Patch<'a> {
    /// Reads lines, which may have their endings; lines of hunks keep those.
    pub fn read(lines: &[&'a str], mode: Mode) -> Self {
        let patch = Self { first: None, files: Vec::new(), outside: Vec::new(), error: None };
        let is_git = lines.iter().any(|it| it.starts_with("diff --git "));
        let mut reader = Reader { lines, mode, is_git, at: 0, place: Place::Outside, parts: 0, patch };
        while reader.patch.error.is_none() && reader.at < lines.len() {
            reader.patch.error = reader.step().err();
        }
        reader.patch
    }

    /// The files, of which there is at least one.
    pub fn files(self) -> Result<Vec<FilePatch<'a>>, Error> {
        match (self.error, self.first) {
            (Some(error), _) => Err(error),
            (None, None) => Err(Error::malformed(1, "there is no diff")),
            (None, Some(_)) => Ok(self.files),
        }
    }
}

struct Reader<'a, 'b> {
    lines: &'b [&'a str],
    mode: Mode,
    /// Whether files have heads of git's.
    is_git: bool,
    at: usize,
    place: Place,
    /// Parts of the diff before each line outside, to tell runs of those apart.
    parts: usize,
    patch: Patch<'a>,
}

/// The place of a line within the last file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Head,
    Hunks,
    Outside,
}

impl<'a> Reader<'a, '_> {
    /// Reads a line, or all of a hunk.
    fn step(&mut self) -> Result<(), Error> {
        let (line, at) = (self.lines[self.at], self.at);
        self.at += 1;
        if is_head_of_diff(self.lines, at) {
            self.begin();
            let text = if self.mode == Mode::Lenient { line.trim_end() } else { unended(line) };
            let git = text.strip_prefix("diff --git ").and_then(names::pair);
            self.patch.files.push(FilePatch::new(at + 1, git));
            if line.starts_with("diff --c") {
                return Err(combined(at));
            }
        } else if self.is_head_of_file(at) {
            self.names(line, at)?;
        } else if line.starts_with("@@@ ") {
            self.begin();
            return Err(combined(at));
        } else if self.is_hunk(at) {
            self.hunk(at)?;
        } else if let Some(kind) = foreign(&self.lines[at..]).filter(|_| self.mode == Mode::Lenient) {
            self.begin();
            let message = format!("{kind} is not applied: send a unified diff, as `diff -u` makes it");
            return Err(Error::malformed(at + 1, message));
        } else if !self.is_in_head(line, at)? {
            self.outside(line, at)?;
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.patch.first = self.patch.first.or(Some(self.at - 1));
        self.place = Place::Head;
        self.parts += 1;
    }

    /// Whether a file's names begin. In a patch of git's, strictly read, they only stand in its heads; in others, only
    /// above a hunk.
    fn is_head_of_file(&self, at: usize) -> bool {
        let is_right = match self.mode {
            Mode::Lenient => true,
            Mode::Strict if self.is_in_unnamed_head() => true,
            Mode::Strict => !self.is_git && self.lines.get(at + 2).is_some_and(|it| it.starts_with("@@ -")),
        };
        is_right && is_head_of_file(self.lines, at)
    }

    /// Whether a head of git's may go on with more of its lines, or with the names.
    fn is_in_unnamed_head(&self) -> bool {
        self.place == Place::Head && self.patch.files.last().is_some_and(|it| it.sides.is_none())
    }

    fn names(&mut self, line: &str, at: usize) -> Result<(), Error> {
        self.begin();
        // Without a line of git's before it, it begins a file itself.
        if self.patch.files.last().is_none_or(|it| it.sides.is_some() || !it.hunks.is_empty()) {
            self.patch.files.push(FilePatch::new(at + 1, None));
        }
        let Some(file) = self.patch.files.last_mut() else { return Ok(()) };
        let new = names::side(self.lines[at + 1], at + 2, self.mode)?;
        file.sides = Some((names::side(line, at + 1, self.mode)?, new));
        self.at += 1;
        Ok(())
    }

    fn is_hunk(&self, at: usize) -> bool {
        let line = self.lines[at];
        let Some(rest) = line.strip_prefix("@@") else { return false };
        match self.mode {
            Mode::Strict => line.starts_with("@@ -"),
            Mode::Lenient if !self.patch.files.is_empty() => true,
            Mode::Lenient if rest.is_empty() || rest.starts_with(' ') => {
                head(line, self.mode).0.is_some() || has_change(&self.lines[at + 1..])
            }
            Mode::Lenient => false,
        }
    }

    fn hunk(&mut self, at: usize) -> Result<(), Error> {
        let before = self.place;
        self.begin();
        if self.mode == Mode::Strict {
            self.expect_file(at, before)?;
        } else if self.patch.files.is_empty() {
            self.patch.files.push(FilePatch::new(at + 1, None));
            // Names that stand without each other.
            if let Some(it) =
                self.patch.outside.last().filter(|it| is_name(it.text) || it.text.starts_with("--- "))
            {
                return Err(Error::malformed(it.line, format!("`{}` is no line of a diff", it.text)));
            }
        }
        self.place = Place::Hunks;
        let Some(file) = self.patch.files.last_mut() else { return Ok(()) };
        let hunk = hunk(self.lines, &mut self.at, self.mode)?;
        let before: Option<Numbers> = file.hunks.last().and_then(|it| it.numbers);
        let are_in_order = before.zip(hunk.numbers).is_none_or(|(before, it)| before.is_before(it));
        file.hunks.push(hunk);
        match are_in_order || self.mode == Mode::Lenient {
            true => Ok(()),
            false => Err(Error::malformed(at + 1, "the hunks of a file are not in order, or overlap")),
        }
    }

    /// Refuses a hunk that does not directly follow the names or another hunk, or whose head has no numbers.
    fn expect_file(&self, at: usize, before: Place) -> Result<(), Error> {
        let is_named = self.patch.files.last().is_some_and(|it| it.sides.is_some());
        if before == Place::Outside || !is_named {
            return Err(Error { line: at + 1, problem: Problem::LostHunk });
        }
        let line = unended(self.lines[at]);
        match head(line, self.mode).0 {
            Some(_) => Ok(()),
            None => Err(Error::malformed(at + 1, format!("`{line}` is no head of a hunk"))),
        }
    }

    /// Whether a line after the head of a file without hunks no longer belongs to it.
    fn closes_head(&self, at: usize) -> bool {
        let line = self.lines[at];
        let is_apart = self.lines[at - 1].trim().is_empty() && !is_name(line) && !line.starts_with("--- ");
        is_signature(self.lines, at) || is_fence(line) || is_vcs_head(line) || is_apart
    }

    /// Reads a line of the head of a file; returns whether it is one, or blank.
    fn is_in_head(&mut self, line: &'a str, at: usize) -> Result<bool, Error> {
        if line.trim().is_empty() {
            // To models, such a line does not show where the patch ends.
            return Ok(self.mode == Mode::Lenient);
        }
        let is_open = match self.mode {
            Mode::Strict => self.is_in_unnamed_head(),
            Mode::Lenient => self.place == Place::Head,
        };
        let Some(file) = self.patch.files.last_mut().filter(|_| is_open) else { return Ok(false) };
        if file.extended(line, at + 1, self.mode)? {
            return Ok(true);
        }
        if self.mode == Mode::Strict || self.closes_head(at) {
            return Ok(false);
        }
        self.expect_text(line, at)?;
        let is_named = self.patch.files.last().is_some_and(|it| it.sides.is_some());
        let message = match line.starts_with([' ', '+', '-']) && is_named {
            true => "lines of a hunk stand without the head of one (`@@ -1,3 +1,3 @@`)".to_owned(),
            false => format!("`{line}` is no line of a diff"),
        };
        Err(Error::malformed(at + 1, message))
    }

    fn outside(&mut self, line: &'a str, at: usize) -> Result<(), Error> {
        if self.mode == Mode::Strict {
            self.expect_text(line, at)?;
        }
        self.place = Place::Outside;
        if !line.trim().is_empty() {
            self.patch.outside.push(Outside { line: at + 1, text: line, parts: self.parts });
        }
        Ok(())
    }

    /// Refuses a line that says that a file is no text.
    fn expect_text(&self, line: &str, at: usize) -> Result<(), Error> {
        let line = unended(line);
        let names = line.strip_prefix("Binary files ").and_then(|it| it.strip_suffix(" differ"));
        if names.is_none() && !line.starts_with("GIT binary patch") {
            return Ok(());
        }
        let file = self.patch.files.last().filter(|_| self.place == Place::Head).map(FilePatch::shown);
        let file = file.or(names).unwrap_or_default().to_owned();
        Err(Error { line: at + 1, problem: Problem::Binary { file } })
    }
}

fn combined(at: usize) -> Error {
    let message =
        "a combined diff, which git shows of a merge, is not applied: send a diff against one of its parents";
    Error::malformed(at + 1, message)
}

/// The kind of a patch that is no unified diff.
fn foreign(lines: &[&str]) -> Option<&'static str> {
    let starts = |at: usize, what: &str| lines.get(at).is_some_and(|it| it.starts_with(what));
    if starts(0, "*** ") && starts(1, "--- ") && starts(2, "***************") {
        return Some("a context diff");
    }
    let numbers = lines[0].split_once(['a', 'c', 'd']);
    let is_number =
        |it: &str| it.split(',').all(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()));
    let is_normal = numbers.is_some_and(|(old, new)| is_number(old) && is_number(new));
    (is_normal && (starts(1, "< ") || starts(1, "> "))).then_some("a diff without signs and context")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUNK: &str = "@@ -1 +1 @@\n-a\n+b\n";

    /// The files by name, each with the lines of its hunks' heads and the numbers of their lines.
    fn check(text: &str, mode: Mode) -> Result<Vec<String>, String> {
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let files = Patch::read(&lines, mode).files().map_err(|it| it.to_string())?;
        let hunks =
            |it: &FilePatch<'_>| it.hunks.iter().map(|it| (it.line, it.lines.len())).collect::<Vec<_>>();
        Ok(files.iter().map(|it| format!("{} {:?}", it.shown(), hunks(it))).collect())
    }

    #[test]
    fn models_may_write_what_git_refuses() {
        let names = "--- a/x\n+++ b/x\n";
        let head = "diff --git a/x b/x\n";
        for (text, want, refusal) in [
            (HUNK.to_owned(), " [(1, 2)]", "line 1 of the patch: the hunk belongs to no file"),
            (
                format!("{names}@@ -1,9 +1,9 @@\n-a\n+b\n"),
                "x [(3, 2)]",
                "line 3 of the patch: the hunk states (9, 9) old and new lines but has (1, 1)",
            ),
            (format!("{names}@@\n-a\n+b\n"), "x [(3, 2)]", "line 1 of the patch: there is no diff"),
            (
                format!("{names}{HUNK}@@ -9\n-a\n+b\n"),
                "x [(3, 2), (6, 2)]",
                "line 6 of the patch: `@@ -9` is no head of a hunk",
            ),
            (
                format!("{names}{HUNK}Index: y\n{HUNK}"),
                "x [(3, 2), (7, 2)]",
                "line 7 of the patch: the hunk belongs to no file",
            ),
            (
                format!("{names}{HUNK}{HUNK}"),
                "x [(3, 2), (6, 2)]",
                "line 6 of the patch: the hunks of a file are not in order, or overlap",
            ),
            (format!("{head}{HUNK}"), "x [(2, 2)]", "line 2 of the patch: the hunk belongs to no file"),
            (
                format!("{names}@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n"),
                "x [(3, 3)]",
                "line 7 of the patch: a line follows the one that has no line ending",
            ),
        ] {
            assert_eq!(check(&text, Mode::Lenient).unwrap(), [want], "{text}");
            assert_eq!(check(&text, Mode::Strict).unwrap_err(), refusal, "{text}");
        }
    }

    #[test]
    fn both_modes_read_what_git_writes() {
        let text = format!(
            "From: a\n\ndiff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n{HUNK}\
             diff --git a/m b/m\nold mode 100644\nnew mode 100755\n-- \n2.47\n"
        );
        for mode in [Mode::Strict, Mode::Lenient] {
            assert_eq!(check(&text, mode).unwrap(), ["x [(7, 2)]", "m []"], "{mode:?}");
        }
    }

    #[test]
    fn combined_diffs_are_refused() {
        for mode in [Mode::Strict, Mode::Lenient] {
            let refused = check("diff --cc x\n--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n--a\n++b\n", mode);
            assert!(refused.unwrap_err().starts_with("line 1 of the patch: a combined diff"), "{mode:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_named() {
        let error = |text: &str| {
            let lines: Vec<_> = text.split_inclusive('\n').collect();
            Patch::read(&lines, Mode::Strict).error.unwrap().problem
        };
        let binary = |file: &str| Problem::Binary { file: file.to_owned() };
        assert_eq!(error("diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 0\n"), binary("x"));
        assert_eq!(error("Binary files old/x and new/x differ\n"), binary("old/x and new/x"));
    }
}
