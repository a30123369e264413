//! Part of a patch for one file: the lines above its hunks, and the operation that they state.

use crate::{Error, Hunk, Mode, names, unended};

/// The part of a patch that is of one file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FilePatch<'a> {
    /// Its first line, from 1.
    pub line: usize,
    /// The names in git's first line, where it is known where the first ends.
    pub git: Option<(String, String)>,
    /// The names after `---` and `+++`; `None` is a side without a file.
    pub sides: Option<(Option<String>, Option<String>)>,
    /// The names in git's lines of a rename or copy.
    pub from: Option<String>,
    pub to: Option<String>,
    pub is_copy: bool,
    pub is_new: bool,
    pub is_deleted: bool,
    /// Modes such as `100755`: the one before, the one afterwards, and the one that stays.
    pub old_mode: Option<&'a str>,
    pub new_mode: Option<&'a str>,
    pub kept_mode: Option<&'a str>,
    pub hunks: Vec<Hunk<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Edit,
    Create,
    Delete,
}

/// Lines of heads that say nothing more.
const KNOWN: [&str; 4] = ["similarity ", "dissimilarity ", "Index: ", "==="];

impl<'a> FilePatch<'a> {
    pub(crate) fn new(line: usize, git: Option<(String, String)>) -> Self {
        Self { line, git, ..Self::default() }
    }

    /// Name of the file, as far as it is known without its prefix.
    pub fn shown(&self) -> &str {
        let sides = self.sides.as_ref().map(|(old, new)| new.as_ref().or(old.as_ref()));
        let name = self.to.as_ref().or(sides.flatten()).or(self.git.as_ref().map(|it| &it.1));
        let name = name.map_or("", String::as_str);
        let prefix = if self.sides.as_ref().is_some_and(|it| it.1.is_none()) { "a/" } else { "b/" };
        name.strip_prefix(prefix).unwrap_or(name)
    }

    /// Operation that the head states, if its lines agree.
    pub fn kind(&self) -> Result<Kind, Error> {
        let (mut is_new, mut is_deleted) = (self.is_new, self.is_deleted);
        if let Some((old, new)) = &self.sides {
            if is_new && old.is_some() || is_deleted && new.is_some() {
                return Err(
                    self.malformed("the head of the file and its names do not agree on what is done to it")
                );
            }
            (is_new, is_deleted) = (old.is_none(), new.is_none());
        }
        match (is_new, is_deleted) {
            (true, true) => Err(self.malformed("a file is made and deleted at once")),
            (true, false) => Ok(Kind::Create),
            (false, true) => Ok(Kind::Delete),
            (false, false) => Ok(Kind::Edit),
        }
    }

    /// Error of the head as a whole.
    pub fn malformed(&self, message: impl Into<String>) -> Error {
        Error::malformed(self.line, message)
    }

    /// Reads a line between the names and the hunks; returns whether it is one that such heads have.
    pub(crate) fn extended(&mut self, line: &'a str, number: usize, mode: Mode) -> Result<bool, Error> {
        let line = unended(line);
        let moves = [("rename from ", "rename to ", false), ("copy from ", "copy to ", true)];
        for (from, to, is_copy) in moves {
            let name = |it| names::whole(it, number, mode).map(Some);
            match (line.strip_prefix(from), line.strip_prefix(to)) {
                (Some(it), _) => self.from = name(it)?,
                (_, Some(it)) => self.to = name(it)?,
                _ => continue,
            }
            self.is_copy = is_copy;
            return Ok(true);
        }
        if let Some(mode) = line.strip_prefix("new file mode ") {
            (self.is_new, self.new_mode) = (true, Some(mode.trim()));
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            (self.is_deleted, self.old_mode) = (true, Some(mode.trim()));
        } else if let Some(mode) = line.strip_prefix("old mode ") {
            self.old_mode = Some(mode.trim());
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.new_mode = Some(mode.trim());
        } else if line.starts_with("index ") {
            self.kept_mode = line.split(' ').nth(2).map(str::trim);
        } else {
            return Ok(KNOWN.iter().any(|it| line.starts_with(it)));
        }
        Ok(true)
    }
}
