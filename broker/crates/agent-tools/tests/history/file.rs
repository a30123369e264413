//! A file by lines, and the cases that are made of it.

use std::{cell::OnceCell, ops::Range};

use crate::{
    definitions::{self, Definition},
    languages::{self, Language},
};

/// An edit, and the text that it must lead to if it is applied.
pub(crate) struct Case {
    pub(crate) group: Group,
    pub(crate) shape: &'static str,
    pub(crate) language: &'static str,
    pub(crate) path: String,
    pub(crate) commit: String,
    pub(crate) before: String,
    /// None where nothing is right but a refusal.
    pub(crate) after: Option<String>,
    pub(crate) edit: String,
    /// Whether commas and semicolons at the ends of lines, and indentation, are left to the reader.
    pub(crate) is_loose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// The shapes that have a target.
    Shape,
    /// Other wordings, other forms, and slips.
    Form,
    /// Edits for which a naive reader finds a wrong place.
    Adversarial,
}

pub(crate) struct File<'a> {
    pub(crate) path: &'a str,
    commit: &'a str,
    pub(crate) language: &'static Language,
    pub(crate) text: &'a str,
    pub(crate) lines: Vec<&'a str>,
    definitions: OnceCell<Vec<Definition>>,
}

impl<'a> File<'a> {
    pub(crate) fn new(path: &'a str, commit: &'a str, text: &'a str) -> Self {
        let lines = text.split_inclusive('\n').map(|it| it.trim_end_matches(['\n', '\r'])).collect();
        let language = languages::of(path).unwrap();
        Self { path, commit, language, text, lines, definitions: OnceCell::new() }
    }

    pub(crate) fn definitions(&self) -> &[Definition] {
        self.definitions.get_or_init(|| definitions::of(self.path, self.text))
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Number of times that a line stands in the file as it is.
    pub(crate) fn count(&self, line: &str) -> usize {
        self.lines.iter().filter(|it| **it == line).count()
    }

    /// The text with other lines in the place of some.
    pub(crate) fn spliced(&self, old: Range<usize>, new: &[impl AsRef<str>]) -> String {
        let new = new.iter().map(AsRef::as_ref);
        let lines =
            self.lines[..old.start].iter().copied().chain(new).chain(self.lines[old.end..].iter().copied());
        let ending = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let last = if self.text.ends_with('\n') { ending } else { "" };
        lines.collect::<Vec<_>>().join(ending) + last
    }

    pub(crate) fn case(&self, group: Group, shape: &'static str, after: String, edit: String) -> Case {
        Case {
            group,
            shape,
            language: self.language.name,
            path: self.path.to_owned(),
            commit: self.commit.to_owned(),
            before: self.text.to_owned(),
            after: Some(after),
            edit: edit.replace('\u{feff}', ""),
            is_loose: false,
        }
    }
}

pub(crate) fn is_blank(line: impl AsRef<str>) -> bool {
    line.as_ref().trim().is_empty()
}

pub(crate) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// Lines that are not blank.
pub(crate) fn said(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|it| !is_blank(it))
}
