//! Reading the text of a patch: diffy's parser, and before it a look at every line that it would pass over.
//!
//! A parser that skips what it does not know loses hunks whose header miscounts, and hunks that belong to
//! no file. People's patches rarely have those, generated ones do.

use std::borrow::Cow;

use diffy::patch_set::{FileMode, FileOperation, FilePatch, ParseOptions, PatchSet};

use super::PatchError;
use crate::{PathError, WorkspacePath, branch::edit::MAX_PATH};

/// Bytes of git's two names in one line, each with a prefix before it.
const MAX_NAMES: usize = 2 * (MAX_PATH + 64);

/// Most splits tried in all headers of a patch: names without a space need one, and few have more.
const MAX_SPLITS: usize = 1 << 30;

/// A patch's edit of one file.
pub(super) struct FileEdit<'a> {
    pub(super) operation: Operation,
    pub(super) patch: FilePatch<'a, str>,
    /// Line of each hunk's header in the patch, counted from 1.
    pub(super) lines: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operation {
    Create(WorkspacePath),
    Delete(WorkspacePath),
    /// Edit of a file. Without git's header, `old` may be the name of a backup.
    Modify {
        old: WorkspacePath,
        path: WorkspacePath,
    },
    Rename {
        from: WorkspacePath,
        to: WorkspacePath,
    },
    Copy {
        from: WorkspacePath,
        to: WorkspacePath,
    },
}

/// A patch that came through a program that ends each line with CR LF is as it was before.
pub(super) fn normalised(patch: &str) -> Cow<'_, str> {
    let is_crlf = patch.contains('\n') && patch.split_inclusive('\n').all(|it| it.ends_with("\r\n"));
    if is_crlf { Cow::Owned(patch.replace("\r\n", "\n")) } else { Cow::Borrowed(patch) }
}

pub(super) fn read(patch: &str) -> Result<Vec<FileEdit<'_>>, PatchError> {
    let mut hunks = scan(patch)?.into_iter();
    let is_git = patch.lines().any(|it| it.starts_with("diff --git "));
    let options = if is_git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let mut parts = Vec::new();
    for part in PatchSet::parse(patch, options) {
        let part =
            part.map_err(|error| PatchError::Unreadable { part: parts.len() + 1, why: error.to_string() })?;
        parts.push(part);
    }
    let prefixed = git_prefixes(patch).unwrap_or_else(|| are_prefixed(&parts));
    let mut edits = Vec::new();
    for part in parts {
        let operation = operation(&part, prefixed)?;
        let count = part.patch().as_text().map_or(0, |it| it.hunks().len());
        edits.push(FileEdit { operation, lines: hunks.by_ref().take(count).collect(), patch: part });
    }
    match hunks.next() {
        // Whichever it is, there are more hunks than files have.
        Some(line) => Err(PatchError::LostHunk { line }),
        None => Ok(edits),
    }
}

/// The line of each hunk's header, counted from 1, where each hunk has as many lines as its header says.
fn scan(patch: &str) -> Result<Vec<usize>, PatchError> {
    let mut headers = Vec::new();
    let mut splits = 0;
    let mut lines = patch.split_inclusive('\n').enumerate().peekable();
    let mut file = "";
    while let Some((index, line)) = lines.next() {
        let line = line.trim_end_matches(['\n', '\r']);
        // Git says `a/x b/x`; the new name is enough.
        if let Some(names) = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("diff --git ")) {
            file = names.rsplit_once(" b/").map_or(names, |(_, new)| new);
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            splits += expect_short(names, index + 1)?;
            if splits > MAX_SPLITS {
                return Err(PatchError::TooManySplits { line: index + 1 });
            }
        }
        let is_binary = line.starts_with("Binary files ") && line.ends_with(" differ");
        if line == "GIT binary patch" || is_binary {
            return Err(PatchError::Binary { file: file.to_owned(), line: index + 1 });
        }
        let Some(stated) = stated_lines(line) else { continue };
        headers.push(index + 1);
        let mut found = (0, 0);
        let mut is_ended = false;
        while let Some((_, line)) = lines.peek() {
            let (old, new) = counts(line, found == stated, is_ended);
            if (old, new) == (0, 0) && !line.starts_with('\\') {
                break;
            }
            found = (found.0 + old, found.1 + new);
            is_ended = line.starts_with('\\');
            lines.next();
        }
        if found != stated {
            return Err(PatchError::HunkLength {
                file: file.to_owned(),
                hunk: headers.len(),
                line: index + 1,
                stated,
                found,
            });
        }
    }
    Ok(headers)
}

/// Returns the number of bytes that the parser may compare to find the end of the first of git's two names.
fn expect_short(names: &str, line: usize) -> Result<usize, PatchError> {
    // In quotation marks a byte may be written as four.
    let is_quoted = names.starts_with('"') || names.ends_with('"');
    let limit = if is_quoted { 4 * MAX_NAMES } else { MAX_NAMES };
    if names.len() > limit {
        return Err(PatchError::LongHeader { line, length: names.len(), limit });
    }
    let spaces = names.bytes().filter(|it| *it == b' ').count();
    Ok(if is_quoted { names.len() } else { spaces * names.len() })
}

/// Returns the number of old and new lines that a line of a hunk stands for; none if it does not belong to the hunk.
fn counts(line: &str, is_full: bool, is_ended: bool) -> (usize, usize) {
    // After a full hunk these begin the next file, or are the end of a mail.
    let is_next = line.starts_with("--- ") || line.starts_with("+++ ") || line.trim_end() == "--";
    match line.as_bytes().first() {
        Some(b'-' | b'+') if is_full && is_next => (0, 0),
        Some(b'-') => (1, 0),
        Some(b'+') => (0, 1),
        Some(b' ') if !(is_full && is_ended) => (1, 1),
        Some(b'\n' | b'\r') if !is_full => (1, 1),
        _ => (0, 0),
    }
}

/// The old and new lines that a hunk's header announces.
fn stated_lines(line: &str) -> Option<(usize, usize)> {
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let length = |range: &str| range.split_once(',').map_or(Ok(1), |(_, length)| length.parse()).ok();
    Some((length(old)?, length(new)?))
}

/// Returns whether all names in git's own headers have prefixes. `None` if no header shows it: one of a file that is
/// moved does not.
///
/// Which prefixes these are depends on what was compared, and on whose configuration.
fn git_prefixes(patch: &str) -> Option<bool> {
    let headers = patch.lines().filter_map(|it| it.strip_prefix("diff --git "));
    headers.filter_map(is_prefixed_pair).reduce(|a, b| a && b)
}

/// Whether the two names are one under two different first directories, and not just the same.
///
/// Takes time in proportion to the length: texts are only compared where both are equally long, which a
/// single split gives at most.
fn is_prefixed_pair(names: &str) -> Option<bool> {
    // With its quotation marks, where it has them, a name is as good.
    let opened = |name: &'_ str| name.len() - name.strip_prefix('"').unwrap_or(name).len();
    let closed = |name: &'_ str| name.len() - name.strip_suffix('"').unwrap_or(name).len();
    let below_first = names.find('/').map(|it| it + 1);
    let mut slashes = names.match_indices('/').map(|(at, _)| at).peekable();
    names.match_indices(' ').find_map(|(at, _)| {
        while slashes.next_if(|it| *it < at).is_some() {}
        let (old_end, new_end) = (at - closed(&names[..at]), names.len() - closed(&names[at + 1..]));
        let old = names.get(opened(&names[..at])..old_end)?;
        let new = names.get(at + 1 + opened(&names[at + 1..])..new_end)?;
        if old == new {
            return Some(false);
        }
        let old = names.get(below_first?..old_end)?;
        let new = names.get(slashes.peek()? + 1..new_end)?;
        (old == new).then_some(true)
    })
}

/// Whether all names have git's `a/` and `b/` before them.
fn are_prefixed(parts: &[FilePatch<'_, str>]) -> bool {
    let is_prefixed = |part: &FilePatch<'_, str>| match part.operation() {
        FileOperation::Delete(path) => path.starts_with("a/"),
        FileOperation::Create(path) => path.starts_with("b/"),
        FileOperation::Modify { original, modified } => {
            original.starts_with("a/") && modified.starts_with("b/")
        }
        // Headers without prefixes: those of renames and copies.
        FileOperation::Rename { .. } | FileOperation::Copy { .. } => true,
    };
    parts.iter().all(is_prefixed)
}

fn operation(part: &FilePatch<'_, str>, prefixed: bool) -> Result<Operation, PatchError> {
    let plain = path;
    let path =
        |name: &str| path(if prefixed { name.split_once('/').map_or("", |(_, rest)| rest) } else { name });
    let operation = match part.operation() {
        FileOperation::Delete(name) => Operation::Delete(path(name)?),
        FileOperation::Create(name) => Operation::Create(path(name)?),
        FileOperation::Modify { original, modified } => {
            Operation::Modify { old: path(original)?, path: path(modified)? }
        }
        FileOperation::Rename { from, to } => Operation::Rename { from: plain(from)?, to: plain(to)? },
        FileOperation::Copy { from, to } => Operation::Copy { from: plain(from)?, to: plain(to)? },
    };
    if [part.old_mode(), part.new_mode()].contains(&Some(&FileMode::Gitlink)) {
        return Err(PatchError::Submodule(operation.path().clone()));
    }
    Ok(operation)
}

fn path(name: &str) -> Result<WorkspacePath, PatchError> {
    if name.split('/').any(|it| it == "..") {
        return Err(PatchError::Path(PathError::Escapes(name.to_owned())));
    }
    Ok(WorkspacePath::new(name)?)
}

impl Operation {
    /// The path that the file has afterwards, or had.
    pub(super) fn path(&self) -> &WorkspacePath {
        match self {
            Self::Create(path) | Self::Delete(path) | Self::Modify { path, .. } => path,
            Self::Rename { to, .. } | Self::Copy { to, .. } => to,
        }
    }

    /// The path that is gone afterwards.
    pub(super) fn removed(&self) -> Option<&WorkspacePath> {
        match self {
            Self::Delete(path) | Self::Rename { from: path, .. } => Some(path),
            Self::Create(_) | Self::Modify { .. } | Self::Copy { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_told_by_what_follows_the_first_directories() {
        for (names, want) in [
            ("a/x b/x", Some(true)),
            ("x x", Some(false)),
            ("src/x src/x", Some(false)),
            ("a/x y b/x y", Some(true)),
            ("\"a/t\\tb\" \"b/t\\tb\"", Some(true)),
            ("old dir/x new/x", Some(true)),
            ("a/x b/y", None),
            ("x", None),
            ("\" \"", None),
            ("\"a\" \"a\"", Some(false)),
            ("", None),
        ] {
            assert_eq!(is_prefixed_pair(names), want, "{names}");
        }
    }

    /// To compare all splits of these would take days.
    #[test]
    fn a_long_pair_takes_no_longer_than_to_read_it() {
        let spaces = "a ".repeat(4 << 20);
        assert_eq!(is_prefixed_pair(&spaces), None);
        assert_eq!(is_prefixed_pair(&format!("a/{spaces} b/{spaces}z")), None);
        assert_eq!(is_prefixed_pair(&"a/a ".repeat(2 << 20)), None);
        assert_eq!(is_prefixed_pair(&format!("a/{spaces}z b/{spaces}z")), Some(true));
    }

    #[test]
    fn headers_that_no_path_fits_are_refused() {
        let header = |names: &str| format!("diff --git {names}\nold mode 100644\nnew mode 100755\n");
        let error = |patch: &str| read(patch).map(|it| it.len()).unwrap_err().to_string();
        let long = "x".repeat(MAX_NAMES);
        let want = "line 1 of the patch has names of 16645 bytes; the limit is 8320";
        assert_eq!(error(&header(&format!("a/{long} b/{long}"))), want);
        let many = header(&"a ".repeat(MAX_NAMES / 2)).repeat(40);
        let want = "the names in git's headers have too many spaces to tell where the first ends, \
                    up to line 94 of the patch";
        assert_eq!(error(&many), want);
    }
}
