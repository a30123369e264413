//! Part of a diff for one file: what its head says, as edits understand it.

use patch::{FilePatch, Kind, bare};

use super::{
    super::{
        block::Block,
        names::{Named, of_sides},
        outcome::Refused,
    },
    read::refused,
};

/// The part of a diff that is of one file.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct FileDiff<'a> {
    pub(in super::super) named: Named,
    pub(in super::super) kind: Kind,
    /// Whether the diff makes the file another kind of file, or changes whether it is executable.
    pub(in super::super) is_mode_changed: bool,
    pub(in super::super) hunks: Vec<Hunk<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Hunk<'a> {
    pub(in super::super) block: Block<'a>,
    /// The first line that is there before, from 0, if the head can be believed.
    pub(super) stated: Option<usize>,
    /// The line above it that the head names.
    pub(super) heading: Option<&'a str>,
    /// Whether the text ends with a line ending afterwards; `None` if the hunk leaves that open.
    pub(super) ends: Option<bool>,
}

impl<'a> FileDiff<'a> {
    pub(super) fn new(file: FilePatch<'a>) -> Result<Self, Refused> {
        let malformed = |message: &str| refused(file.malformed(message));
        let kind = file.kind().map_err(refused)?;
        let is_text = |mode: Option<&str>| mode.is_none_or(|it| it.starts_with("100"));
        if kind != Kind::Delete && !(is_text(file.new_mode) && is_text(file.kept_mode)) {
            return Err(malformed("a link or a submodule is no text"));
        }
        if file.is_copy {
            return Err(malformed(
                "a diff that copies a file is not applied: send a diff that makes a new file",
            ));
        }
        let named = named(&file)?;
        let is_mode_changed = match kind {
            Kind::Create => file.new_mode.is_some_and(|it| it != "100644"),
            Kind::Edit => file.new_mode.is_some(),
            Kind::Delete => false,
        };
        let is_done_by_head = file.sides.is_none() && (kind != Kind::Edit || file.new_mode.is_some());
        if file.hunks.is_empty() && !is_done_by_head && !matches!(named, Named::Moved { .. }) {
            let message = format!("the diff of `{}` has no hunks (`@@ -1,3 +1,3 @@`)", named.shown());
            return Err(malformed(&message));
        }
        let hunks = file.hunks.into_iter().zip(1..).map(|(it, part)| Hunk::new(it, part)).collect();
        Ok(Self { named, kind, is_mode_changed, hunks })
    }
}

impl<'a> Hunk<'a> {
    fn new(hunk: patch::Hunk<'a>, part: usize) -> Self {
        let patch::Hunk { numbers, heading, lines, ends, .. } = hunk;
        let stated = numbers.map(patch::Numbers::first);
        Self { block: Block { part, lines }, stated, heading, ends }
    }
}

/// The names in the head of a file, if they agree.
pub(super) fn named(file: &FilePatch<'_>) -> Result<Named, Refused> {
    let sides = file.sides.as_ref().map(|(old, new)| (old.as_deref(), new.as_deref()));
    match (&file.from, &file.to) {
        (Some(from), Some(to)) => {
            let is_same = |side: (&str, &str)| side == (from, to);
            let agrees = |it| match it {
                (Some(old), Some(new)) => is_same((old, new)) || is_same(bare(old, new)),
                _ => false,
            };
            match sides {
                Some(it) if !agrees(it) => Err(contradiction(file)),
                _ => Ok(Named::Moved { from: from.clone(), to: to.clone() }),
            }
        }
        (None, None) => unmoved(file, sides),
        _ => Err(contradiction(file)),
    }
}

fn unmoved(file: &FilePatch<'_>, sides: Option<(Option<&str>, Option<&str>)>) -> Result<Named, Refused> {
    let named = sides.map_or(Named::Nothing, |(old, new)| of_sides(old, new));
    let git = file.git.as_ref().map(|(old, new)| bare(old, new)).filter(|(old, new)| old == new);
    match (git.map(|it| it.0), named) {
        (Some(git), Named::Nothing) => Ok(Named::One(git.to_owned())),
        (Some(git), Named::One(name)) if git == name => Ok(Named::One(name)),
        (Some(git), Named::MaybePrefixed { bare, whole }) if git == bare || git == whole => {
            Ok(Named::One(git.to_owned()))
        }
        (Some(_), Named::One(_) | Named::MaybePrefixed { .. }) => Err(contradiction(file)),
        // Without any name, a line of git's says nothing that could be known.
        (None, Named::Nothing) if file.hunks.is_empty() => Err(contradiction(file)),
        (_, named) => Ok(named),
    }
}

fn contradiction(file: &FilePatch<'_>) -> Refused {
    refused(file.malformed("the names in the head of the file do not agree"))
}
