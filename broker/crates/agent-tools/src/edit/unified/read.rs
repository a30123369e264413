//! The text of a diff as files and hunks.

use super::{
    super::{
        block::{Block, Sign},
        names::{Named, bare, of_sides, unquoted},
        outcome::{Reason, Refused},
        text::lines_of,
    },
    FileDiff, Hunk, Kind,
};

/// The files of a diff.
pub(in super::super) fn read(edit: &str) -> Result<Vec<FileDiff<'_>>, Refused> {
    let lines = lines_of(edit);
    let mut files: Vec<Head<'_>> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if line.starts_with("diff ") {
            files.push(Head { line: at, git: git_name(line)?, ..Head::default() });
        } else if is_head_of_file(&lines, at - 1) {
            // Without a line of git's before it, it begins a file itself.
            if files.last().is_none_or(|it| it.sides.is_some() || !it.hunks.is_empty()) {
                files.push(Head { line: at, ..Head::default() });
            }
            let Some(file) = files.last_mut() else { continue };
            file.sides = Some((name(line, at)?, name(lines[at], at + 1)?));
            at += 1;
        } else if line.starts_with("@@") && !line.starts_with("@@@") {
            if files.is_empty() {
                files.push(Head { line: at, ..Head::default() });
            }
            let Some(file) = files.last_mut() else { continue };
            let hunk = hunk(&lines, &mut at, file.hunks.len() + 1)?;
            file.hunks.push(hunk);
        } else {
            // What stands above the first file names none.
            extended(files.last_mut().unwrap_or(&mut Head::default()), line, at)?;
        }
    }
    files.into_iter().map(Head::finish).collect()
}

/// What a diff says of one file, as it is read.
#[derive(Default)]
struct Head<'a> {
    line: usize,
    /// The name in git's first line, if both sides have the same.
    git: Option<String>,
    sides: Option<(Option<String>, Option<String>)>,
    from: Option<String>,
    to: Option<String>,
    is_new: bool,
    is_deleted: bool,
    /// What the file is said to be, such as `100755`.
    mode: Option<&'a str>,
    hunks: Vec<Hunk<'a>>,
}

impl<'a> Head<'a> {
    fn finish(self) -> Result<FileDiff<'a>, Refused> {
        let kind = self.kind()?;
        if kind != Kind::Delete && self.mode.is_some_and(|it| !it.starts_with("100")) {
            return Err(malformed(self.line, "a link or a submodule is no text".to_owned()));
        }
        let named = self.named()?;
        let is_mode_changed = match kind {
            Kind::Create => self.mode.is_some_and(|it| it != "100644"),
            Kind::Edit => self.mode.is_some(),
            Kind::Delete => false,
        };
        Ok(FileDiff { named, kind, is_mode_changed, hunks: self.hunks })
    }

    fn kind(&self) -> Result<Kind, Refused> {
        let (mut is_new, mut is_deleted) = (self.is_new, self.is_deleted);
        if let Some((old, new)) = &self.sides {
            if is_new && old.is_some() || is_deleted && new.is_some() {
                let message = "the head of the file and its names do not agree on what is done to it";
                return Err(malformed(self.line, message.to_owned()));
            }
            (is_new, is_deleted) = (old.is_none(), new.is_none());
        }
        match (is_new, is_deleted) {
            (true, true) => Err(malformed(self.line, "a file is made and deleted at once".to_owned())),
            (true, false) => Ok(Kind::Create),
            (false, true) => Ok(Kind::Delete),
            (false, false) => Ok(Kind::Edit),
        }
    }

    fn named(&self) -> Result<Named, Refused> {
        let sides = self.sides.as_ref().map(|(old, new)| (old.as_deref(), new.as_deref()));
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => {
                let is_same = |side: (&str, &str)| side == (from, to);
                let agrees = |it| match it {
                    (Some(old), Some(new)) => is_same((old, new)) || is_same(bare(old, new)),
                    _ => false,
                };
                match sides {
                    Some(it) if !agrees(it) => Err(self.contradiction()),
                    _ => Ok(Named::Moved { from: from.clone(), to: to.clone() }),
                }
            }
            (None, None) => self.unmoved(sides),
            _ => Err(self.contradiction()),
        }
    }

    fn unmoved(&self, sides: Option<(Option<&str>, Option<&str>)>) -> Result<Named, Refused> {
        let named = sides.map_or(Named::Nothing, |(old, new)| of_sides(old, new));
        match (&self.git, named) {
            (Some(git), Named::Nothing) => Ok(Named::One(git.clone())),
            (Some(git), Named::One(name)) if *git == name => Ok(Named::One(name)),
            (Some(git), Named::MaybePrefixed { bare, whole }) if *git == bare || *git == whole => {
                Ok(Named::One(git.clone()))
            }
            (Some(_), Named::One(_) | Named::MaybePrefixed { .. }) => Err(self.contradiction()),
            // Without any name, a line of git's says nothing that could be known.
            (None, Named::Nothing) if self.hunks.is_empty() => Err(self.contradiction()),
            (_, named) => Ok(named),
        }
    }

    fn contradiction(&self) -> Refused {
        malformed(self.line, "the names in the head of the file do not agree".to_owned())
    }
}

fn malformed(line: usize, message: String) -> Refused {
    Reason::Malformed { line, message }.into()
}

fn is_head_of_file(lines: &[&str], at: usize) -> bool {
    lines[at].starts_with("--- ") && lines.get(at + 1).is_some_and(|it| it.starts_with("+++ "))
}

/// A line between the names and the hunks.
fn extended<'a>(file: &mut Head<'a>, line: &'a str, number: usize) -> Result<(), Refused> {
    let unquoted = |it| whole_name(it, number);
    if let Some(name) = line.strip_prefix("rename from ") {
        file.from = Some(unquoted(name)?);
    } else if let Some(name) = line.strip_prefix("rename to ") {
        file.to = Some(unquoted(name)?);
    } else if let Some(mode) = line.strip_prefix("new file mode ") {
        (file.is_new, file.mode) = (true, Some(mode.trim()));
    } else if line.starts_with("deleted file mode ") {
        file.is_deleted = true;
    } else if let Some(mode) = line.strip_prefix("new mode ") {
        file.mode = Some(mode.trim());
    } else if line.starts_with("index ") {
        // This line has the mode of a file whose mode stays; only that of a link matters.
        let mode = line.split(' ').nth(2).map(str::trim);
        file.mode = file.mode.or(mode.filter(|it| !it.starts_with("100")));
    } else if !line.trim().is_empty() && !KNOWN.iter().any(|it| line.starts_with(it)) {
        return Err(malformed(number, format!("`{line}` is no line of a diff")));
    }
    Ok(())
}

const KNOWN: [&str; 5] = ["old mode ", "similarity ", "dissimilarity ", "Index: ", "==="];

/// The name in a line that begins with `--- ` or `+++ `, without what follows a tab.
fn name(line: &str, number: usize) -> Result<Option<String>, Refused> {
    let text = line[4..].split('\t').next().unwrap_or_default().trim();
    match text {
        "/dev/null" => Ok(None),
        text => whole_name(text, number).map(Some),
    }
}

fn whole_name(text: &str, number: usize) -> Result<String, Refused> {
    let text = text.trim();
    if !text.starts_with('"') {
        return Ok(text.to_owned());
    }
    let name = unquoted(text).filter(|it| it.1.is_empty()).map(|it| it.0);
    name.ok_or_else(|| malformed(number, format!("`{text}` is not quoted as git quotes names")))
}

/// The name in `diff --git a/NAME b/NAME`, if both sides have the same: only then it is known where one ends.
fn git_name(line: &str) -> Result<Option<String>, Refused> {
    let Some(text) = line.strip_prefix("diff --git ").map(str::trim_end) else { return Ok(None) };
    let same = |old: &str, new: &str| {
        let (old, new) = bare(old, new);
        (old == new).then(|| old.to_owned())
    };
    if let Some((old, rest)) = unquoted(text) {
        let new = rest.trim_start();
        let new = unquoted(new).map_or(new.to_owned(), |it| it.0);
        return Ok(same(&old, &new));
    }
    if let Some((old, quoted)) = text.split_once(" \"") {
        return Ok(unquoted(&format!("\"{quoted}")).and_then(|it| same(old, &it.0)));
    }
    let middle = text.len() / 2;
    let halves = text.get(..middle).zip(text.get(middle + 1..));
    Ok(halves.filter(|_| text.as_bytes()[middle] == b' ').and_then(|(old, new)| same(old, new)))
}

fn hunk<'a>(lines: &[&'a str], at: &mut usize, part: usize) -> Result<Hunk<'a>, Refused> {
    let (numbers, heading) = head(lines[*at - 1]);
    let (mut body, mut last, mut is_open) = (Vec::new(), None, (false, false));
    // Lines of the two sides: those that are due, and those that were read.
    let (due, mut read) = (numbers.map_or((0, 0), |it| (it.old, it.new)), (0, 0));
    while let Some(line) = lines.get(*at) {
        let is_due = read.0 < due.0 || read.1 < due.1;
        if line.starts_with("@@") || line.starts_with("diff ") || (!is_due && is_head_of_file(lines, *at)) {
            break;
        }
        let (sign, text) = match line.chars().next() {
            Some('+') => (Sign::New, &line[1..]),
            Some('-') => (Sign::Old, &line[1..]),
            Some(' ') => (Sign::Keep, &line[1..]),
            None => (Sign::Keep, ""),
            Some('\\') => {
                let (old, new) = (last != Some(Sign::New), last != Some(Sign::Old));
                is_open = (is_open.0 || old, is_open.1 || new);
                *at += 1;
                continue;
            }
            Some(_) => {
                let message = "a line of a hunk begins with a space, `+` or `-`".to_owned();
                return Err(malformed(*at + 1, message));
            }
        };
        read = (read.0 + usize::from(sign != Sign::New), read.1 + usize::from(sign != Sign::Old));
        last = Some(sign);
        body.push((sign, text, line.is_empty()));
        *at += 1;
    }
    // Empty lines at the end separate the hunk from what follows, unless they are counted.
    while body.last().is_some_and(|it| it.2) && numbers.is_none_or(|_| read != due) {
        body.pop();
        read = (read.0 - 1, read.1 - 1);
    }
    let stated = numbers.filter(|_| read == due);
    let stated = stated.map(|it| if it.old == 0 { it.start } else { it.start.saturating_sub(1) });
    let block = Block { part, lines: body.into_iter().map(|it| (it.0, it.1)).collect() };
    Ok(Hunk { block, stated, heading, ends: (is_open != (false, false)).then_some(!is_open.1) })
}

/// `-START,OLD +START,NEW`.
#[derive(Clone, Copy)]
struct Numbers {
    start: usize,
    old: usize,
    new: usize,
}

impl Numbers {
    fn read(text: &str) -> Option<Self> {
        let mut words = text.trim().split(' ');
        let side = |word: &str, sign| {
            let word = word.strip_prefix(sign)?;
            let (start, count) = word.split_once(',').unwrap_or((word, "1"));
            Some((start.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
        };
        let ((start, old), (_, new)) = (side(words.next()?, '-')?, side(words.next()?, '+')?);
        Some(Self { start, old, new })
    }
}

/// The first line of a hunk: `@@ NUMBERS @@ HEADING`, of which models leave out one or both.
fn head(line: &str) -> (Option<Numbers>, Option<&str>) {
    let line = line.strip_prefix("@@").unwrap_or(line);
    let (numbers, heading) = match line.split_once("@@") {
        Some((numbers, heading)) => (Numbers::read(numbers), heading),
        None => match Numbers::read(line) {
            Some(numbers) => (Some(numbers), ""),
            None => (None, line),
        },
    };
    let says_something = |it: &&str| it.contains(|it: char| it.is_alphabetic());
    (numbers, Some(heading.trim()).filter(says_something))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_numbers_or_a_heading_or_both() {
        let head = |line| {
            let (numbers, heading) = head(line);
            (numbers.map(|it| (it.start, it.old, it.new)), heading)
        };
        assert_eq!(head("@@ -1,2 +3 @@ def f():"), (Some((1, 2, 1)), Some("def f():")));
        assert_eq!(head("@@ -1,2 +3,4 @@"), (Some((1, 2, 4)), None));
        assert_eq!(head("@@ -1,2 +3,4"), (Some((1, 2, 4)), None));
        assert_eq!(head("@@ def f():"), (None, Some("def f():")));
        assert_eq!(head("@@ ... @@ def f():"), (None, Some("def f():")));
        assert_eq!(head("@@ ... @@"), (None, None));
        assert_eq!(head("@@"), (None, None));
    }

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
