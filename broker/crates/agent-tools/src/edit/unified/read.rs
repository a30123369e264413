//! The text of a diff as files and hunks, and as what stands around them.

use super::{
    super::{
        names::Named,
        outcome::Refused,
        text::{is_blank, lines_of},
        wrapping::{Found, Outside, is_fence, is_signature, is_vcs_head},
    },
    file_diff::FileDiff,
    head::{Head, extended, git_name, is_head_of_diff, is_head_of_file, is_name, malformed, name},
    hunk::{has_change, head, hunk},
};

/// The files of a diff.
pub(in super::super) fn read(edit: &str) -> Result<Vec<FileDiff<'_>>, Refused> {
    match Reader::of(&lines_of(edit)) {
        Some((_, files)) => files,
        None => Err(malformed(1, "there is no diff".to_owned())),
    }
}

/// A diff in an edit, and what is around it.
pub(in super::super) fn find<'a>(lines: &[&'a str]) -> Option<Found<'a>> {
    Reader::of(lines).map(|it| it.0)
}

struct Reader<'a, 'b> {
    lines: &'b [&'a str],
    at: usize,
    files: Vec<Head<'a>>,
    /// Whether the last file's hunks are still to come.
    is_in_head: bool,
    first: Option<usize>,
    /// Parts of the diff before each line outside, to tell runs of those apart.
    parts: usize,
    outside: Vec<Outside<'a>>,
}

type Files<'a> = Result<Vec<FileDiff<'a>>, Refused>;

impl<'a, 'b> Reader<'a, 'b> {
    fn of(lines: &'b [&'a str]) -> Option<(Found<'a>, Files<'a>)> {
        let (files, outside) = (Vec::new(), Vec::new());
        let mut reader = Self { lines, at: 0, files, is_in_head: false, first: None, parts: 0, outside };
        let mut broken = None;
        while broken.is_none() && reader.at < lines.len() {
            broken = reader.step().err();
        }
        let named: Vec<Named> = reader.files.iter().filter_map(|it| it.named().ok()).collect();
        let several = reader.files.len() > 1 || lines.iter().filter(|it| is_name(it)).count() > 1;
        let of_file = |it: &Head<'_>, refused: Refused| match it.named() {
            Ok(named) if several => refused.in_file(named.shown()),
            _ => refused,
        };
        let found = Found { first: reader.first?, named, outside: reader.outside };
        let files = match (broken, reader.files.last()) {
            (Some(broken), Some(last)) => Err(of_file(last, broken)),
            (Some(broken), None) => Err(broken),
            (None, _) => reader.files.into_iter().map(Head::finish).collect(),
        };
        Some((found, files))
    }

    /// Reads a line, or all of a hunk.
    fn step(&mut self) -> Result<(), Refused> {
        let (line, at) = (self.lines[self.at], self.at);
        self.at += 1;
        if is_head_of_diff(self.lines, at) {
            self.begin();
            self.files.push(Head::new(at + 1, git_name(line)?));
            if line.starts_with("diff --c") {
                return Err(combined(at));
            }
        } else if is_head_of_file(self.lines, at) {
            self.names(line, at)?;
        } else if line.starts_with("@@@ ") {
            self.begin();
            return Err(combined(at));
        } else if self.is_hunk(at) {
            self.hunk(at)?;
        } else if let Some(kind) = foreign(&self.lines[at..]) {
            self.begin();
            return Err(malformed(
                at + 1,
                format!("{kind} is not applied: send a unified diff, as `diff -u` makes it"),
            ));
        } else if is_blank(line) || (self.is_in_head && self.extended(line, at)?) {
            // Such a line does not show where the patch ends.
        } else {
            self.is_in_head = false;
            self.outside.push(Outside { line: at + 1, text: line, parts: self.parts });
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.first = self.first.or(Some(self.at - 1));
        self.is_in_head = true;
        self.parts += 1;
    }

    fn names(&mut self, line: &str, at: usize) -> Result<(), Refused> {
        self.begin();
        // Without a line of git's before it, it begins a file itself.
        if self.files.last().is_none_or(|it| it.sides.is_some() || !it.hunks.is_empty()) {
            self.files.push(Head::new(at + 1, None));
        }
        let Some(file) = self.files.last_mut() else { return Ok(()) };
        file.sides = Some((name(line, at + 1)?, name(self.lines[at + 1], at + 2)?));
        self.at += 1;
        Ok(())
    }

    fn is_hunk(&self, at: usize) -> bool {
        let line = self.lines[at];
        match line.strip_prefix("@@") {
            Some(_) if !self.files.is_empty() => true,
            Some(rest) if rest.is_empty() || rest.starts_with(' ') => {
                head(line).0.is_some() || has_change(&self.lines[at + 1..])
            }
            _ => false,
        }
    }

    fn hunk(&mut self, at: usize) -> Result<(), Refused> {
        self.begin();
        if self.files.is_empty() {
            self.files.push(Head::new(at + 1, None));
            // Names that stand without each other.
            if let Some(it) = self.outside.last().filter(|it| is_name(it.text) || it.text.starts_with("--- "))
            {
                return Err(malformed(it.line, format!("`{}` is no line of a diff", it.text)));
            }
        }
        self.is_in_head = false;
        let Some(file) = self.files.last_mut() else { return Ok(()) };
        let hunk = hunk(self.lines, &mut self.at, file.hunks.len() + 1)?;
        file.hunks.push(hunk);
        Ok(())
    }

    /// Whether a line after the head of a file without hunks no longer belongs to it.
    fn closes_head(&self, at: usize) -> bool {
        let line = self.lines[at];
        let is_apart = is_blank(self.lines[at - 1]) && !is_name(line) && !line.starts_with("--- ");
        is_signature(self.lines, at) || is_fence(line) || is_vcs_head(line) || is_apart
    }

    /// Reads a line of the head of a file; returns whether it is one.
    fn extended(&mut self, line: &'a str, at: usize) -> Result<bool, Refused> {
        let Some(file) = self.files.last_mut() else { return Ok(false) };
        if extended(file, line, at + 1)? {
            return Ok(true);
        }
        if self.closes_head(at) {
            return Ok(false);
        }
        let Some(file) = self.files.last() else { return Ok(false) };
        let message = match line.starts_with([' ', '+', '-']) && file.sides.is_some() {
            true => "lines of a hunk stand without the head of one (`@@ -1,3 +1,3 @@`)".to_owned(),
            false if line.starts_with("Binary files ") || line.starts_with("GIT binary") => {
                "what is no text is not edited".to_owned()
            }
            false => format!("`{line}` is no line of a diff"),
        };
        Err(malformed(at + 1, message))
    }
}

fn combined(at: usize) -> Refused {
    let message =
        "a combined diff, which git shows of a merge, is not applied: send a diff against one of its parents";
    malformed(at + 1, message.to_owned())
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
    use super::{super::super::outcome::Reason, *};

    fn named(edit: &str) -> Result<Named, Refused> {
        let files = read(edit)?;
        assert_eq!(files.len(), 1, "{edit}");
        Ok(files[0].named.clone())
    }

    #[test]
    fn heads_that_contradict_themselves_are_refused() {
        for edit in [
            "diff --git a/x b/x\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
            "diff --git a/x b/y\nrename from x\n",
            "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n",
            "diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
            "diff --git a/x b/x\nindex 1..2 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "diff --git a/x b/y\nindex 1..2\n",
            "diff --cc x\n--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n--a\n++b\n",
            "--- a/x\n\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
        ] {
            assert!(matches!(read(edit), Err(Refused { reason: Reason::Malformed { .. }, .. })), "{edit}");
        }
    }

    #[test]
    fn gits_first_line_names_the_file_where_nothing_else_does() {
        let one = |name: &str| Ok(Named::One(name.to_owned()));
        assert_eq!(named("diff --git a/x y b/x y\nnew file mode 100644\n"), one("x y"));
        assert_eq!(named("diff --git x x\nnew file mode 100644\n"), one("x"));
        let quoted = r#""a/caf\303\251" "b/caf\303\251""#;
        assert_eq!(named(&format!("diff --git {quoted}\nnew file mode 100644\n")), one("café"));
        let edit =
            "diff --git a/b/x b/b/x\nnew file mode 100644\n--- /dev/null\n+++ b/b/x\n@@ -0,0 +1 @@\n+a\n";
        assert_eq!(named(edit), one("b/x"));
    }
}
