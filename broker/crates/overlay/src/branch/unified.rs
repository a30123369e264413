//! Changes as the text of a patch, as git writes it.

use std::{fmt::Write as _, io};

use bytes::Bytes;
use diffy::{DiffOptions, PatchFormatter};

use super::{Change, ChangeKind, FileState, lines};
use crate::{View, WorkspacePath};

/// The patch that leads from `before` to `after`, of which `changes` are the difference, with `context`
/// lines around each change. `git apply` takes it, and so does [`apply_patch`](super::Branch::apply_patch).
///
/// Large texts that have little in common are replaced as a whole, since to compare them takes too long.
/// Files that are not UTF-8, or have a NUL, are only listed as differing. Directories are passed over, as git does.
pub fn unified(
    changes: &[Change],
    before: &dyn View,
    after: &dyn View,
    context: usize,
) -> io::Result<String> {
    let mut writer = Writer { before, after, context, text: String::new() };
    for change in changes {
        writer.change(change)?;
    }
    Ok(writer.text)
}

struct Writer<'a> {
    before: &'a dyn View,
    after: &'a dyn View,
    context: usize,
    text: String,
}

/// Content of one side of a file's change; `None` where there is no file.
type Content = Option<Bytes>;

impl Writer<'_> {
    fn change(&mut self, change: &Change) -> io::Result<()> {
        let path = &change.path;
        let (before, after) = (shown(change.before.as_ref()), shown(change.after.as_ref()));
        match (&change.kind, before, after) {
            (ChangeKind::TypeChanged, before, after) => {
                before.map_or(Ok(()), |it| self.file(path, Some(it), None))?;
                after.map_or(Ok(()), |it| self.file(path, None, Some(it)))
            }
            (ChangeKind::Renamed { from }, before, after) => {
                self.rename(from, path, before, after);
                Ok(())
            }
            (_, None, None) => Ok(()),
            (_, before, after) => self.file(path, before, after),
        }
    }

    fn rename(
        &mut self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        before: Option<&FileState>,
        after: Option<&FileState>,
    ) {
        self.header(from, to, before, after);
        let (from, to) = (quoted("", from), quoted("", to));
        self.line(&format!("similarity index 100%\nrename from {from}\nrename to {to}"));
    }

    fn file(
        &mut self,
        path: &WorkspacePath,
        before: Option<&FileState>,
        after: Option<&FileState>,
    ) -> io::Result<()> {
        self.header(path, path, before, after);
        let old = before.map(|state| content(self.before, path, state)).transpose()?;
        let new = after.map(|state| content(self.after, path, state)).transpose()?;
        if old != new {
            self.difference(path, &old, &new);
        }
        Ok(())
    }

    fn header(
        &mut self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        before: Option<&FileState>,
        after: Option<&FileState>,
    ) {
        self.line(&format!("diff --git {} {}", quoted("a/", from), quoted("b/", to)));
        match (before.map(mode), after.map(mode)) {
            (None, Some(mode)) => self.line(&format!("new file mode {mode}")),
            (Some(mode), None) => self.line(&format!("deleted file mode {mode}")),
            (Some(old), Some(new)) if old != new => self.line(&format!("old mode {old}\nnew mode {new}")),
            _ => {}
        }
    }

    fn difference(&mut self, path: &WorkspacePath, old: &Content, new: &Content) {
        let side = |prefix, side: &Content| {
            side.as_ref().map_or_else(|| "/dev/null".to_owned(), |_| quoted(prefix, path))
        };
        let (from, to) = (side("a/", old), side("b/", new));
        let (Some(old), Some(new)) = (text(old), text(new)) else {
            return self.line(&format!("Binary files {from} and {to} differ"));
        };
        if old.is_empty() && new.is_empty() {
            return;
        }
        self.line(&format!("--- {}\n+++ {}", ended(from), ended(to)));
        if lines::are_too_different(old, new) {
            return self.text.push_str(&lines::whole_hunk(old, new));
        }
        let patch = DiffOptions::new().set_context_len(self.context).create_patch(old, new);
        let formatter = PatchFormatter::new().suppress_blank_empty(false);
        let formatted = formatter.fmt_patch(&patch).to_string();
        // The first two lines have names that are not ours.
        let hunks = formatted.splitn(3, '\n').nth(2).unwrap_or_default();
        self.text.push_str(hunks);
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Returns the state if a patch can express it: files and links.
fn shown(state: Option<&FileState>) -> Option<&FileState> {
    state.filter(|it| matches!(it, FileState::File { .. } | FileState::Symlink(_)))
}

fn mode(state: &FileState) -> &'static str {
    match state {
        FileState::File { executable: true, .. } => "100755",
        FileState::Symlink(_) => "120000",
        FileState::File { .. } | FileState::Directory | FileState::Other => "100644",
    }
}

fn content(view: &dyn View, path: &WorkspacePath, state: &FileState) -> io::Result<Bytes> {
    match state {
        FileState::Symlink(target) => Ok(target.clone().into()),
        FileState::File { .. } | FileState::Directory | FileState::Other => view.read(path),
    }
}

/// Returns the text; for no file it is empty.
fn text(content: &Content) -> Option<&str> {
    let bytes = content.as_deref().unwrap_or_default();
    str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// A name with spaces ends in a tab, as git has it, or else it would end at the first space.
fn ended(name: String) -> String {
    if name.contains(' ') && !name.starts_with('"') { name + "\t" } else { name }
}

/// A name as git quotes it: only where it must, and not for what is merely not ASCII.
fn quoted(prefix: &str, path: &WorkspacePath) -> String {
    let name = format!("{prefix}{}", path.as_str());
    if !name.contains(|it: char| it.is_ascii_control() || it == '"' || it == '\\') {
        return name;
    }
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            it if it.is_ascii_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\{:03o}", u32::from(it));
            }
            it => quoted.push(it),
        }
    }
    quoted + "\""
}
