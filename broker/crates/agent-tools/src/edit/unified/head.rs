//! Lines above the hunks of one file of a diff: its names, and the operation on it.

use super::{
    super::{
        names::{Named, bare, of_sides, unquoted},
        outcome::{Reason, Refused},
    },
    file_diff::{FileDiff, Hunk, Kind},
};

/// Part of a diff for one file, as it is read.
#[derive(Default)]
pub(super) struct Head<'a> {
    line: usize,
    /// The name in git's first line, if both sides have the same.
    git: Option<String>,
    pub(super) sides: Option<(Option<String>, Option<String>)>,
    from: Option<String>,
    to: Option<String>,
    is_new: bool,
    is_deleted: bool,
    /// Mode of the file, such as `100755`.
    mode: Option<&'a str>,
    pub(super) hunks: Vec<Hunk<'a>>,
}

impl<'a> Head<'a> {
    pub(super) fn new(line: usize, git: Option<String>) -> Self {
        Self { line, git, ..Self::default() }
    }

    pub(super) fn finish(self) -> Result<FileDiff<'a>, Refused> {
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
        let is_done_by_head = self.sides.is_none() && (kind != Kind::Edit || self.mode.is_some());
        if self.hunks.is_empty() && !is_done_by_head && !matches!(named, Named::Moved { .. }) {
            let message = format!("the diff of `{}` has no hunks (`@@ -1,3 +1,3 @@`)", named.shown());
            return Err(malformed(self.line, message));
        }
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

    pub(super) fn named(&self) -> Result<Named, Refused> {
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

pub(super) fn malformed(line: usize, message: String) -> Refused {
    Reason::Malformed { line, message }.into()
}

/// A line between the names and the hunks. Whether it is one that such heads have.
pub(super) fn extended<'a>(file: &mut Head<'a>, line: &'a str, number: usize) -> Result<bool, Refused> {
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
    } else {
        return Ok(line.trim().is_empty() || KNOWN.iter().any(|it| line.starts_with(it)));
    }
    Ok(true)
}

const KNOWN: [&str; 5] = ["old mode ", "similarity ", "dissimilarity ", "Index: ", "==="];

/// The name in a line that begins with `--- ` or `+++ `, without what follows a tab.
pub(super) fn name(line: &str, number: usize) -> Result<Option<String>, Refused> {
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
pub(super) fn git_name(line: &str) -> Result<Option<String>, Refused> {
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

/// The first line of a file of a diff, as git, hg and `diff -r` write it.
pub(super) fn is_head_of_diff(lines: &[&str], at: usize) -> bool {
    let starts = |it: &&str| lines[at].starts_with(it);
    // A script may have `diff -r` as a command.
    ["diff --git ", "diff --cc ", "diff --combined "].iter().any(starts)
        || (starts(&"diff -") && at + 1 < lines.len() && is_head_of_file(lines, at + 1))
}

pub(super) fn is_head_of_file(lines: &[&str], at: usize) -> bool {
    lines[at].starts_with("--- ") && lines.get(at + 1).is_some_and(|it| is_name(it))
}

/// The name of a file after a diff.
pub(super) fn is_name(line: &str) -> bool {
    line.starts_with("+++ ")
}
