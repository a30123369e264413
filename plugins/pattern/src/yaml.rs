//! YAML with places: a file's documents, and errors as sentences about a span of bytes.

use std::{error::Error, ops::Range};

use serde::de::DeserializeOwned;
use serde_saphyr::{Location, RenderOptions, SnippetMode};

/// Error in a file and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
}

/// One of the documents of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'a> {
    pub(crate) file: &'a str,
    /// Start of the document in the file.
    start: usize,
    text: &'a str,
}

/// The documents of a file. That nothing of a scalar may look like the line between two of them is YAML's own rule, so
/// that an error in one leaves the others alone.
pub(crate) fn documents(file: &str) -> Vec<Document<'_>> {
    let first = file.len() - file.trim_start_matches('\u{feff}').len();
    let mut starts = vec![first];
    let mut at = first;
    for line in file[first..].split_inclusive('\n') {
        if at > first && (line.trim_end() == "---" || line.starts_with("--- ")) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([file.len()]);
    let pairs = starts.iter().zip(ends);
    pairs.map(|(start, end)| Document { file, start: *start, text: &file[*start..end] }).collect()
}

impl Document<'_> {
    /// Nothing, if only comments are in it.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, Flaw> {
        let read = ast_grep_config::from_multiple(self.text);
        read.map(|it: Vec<T>| it.into_iter().next()).map_err(|it| self.flaw(&it))
    }

    /// The line of a key of the outermost mapping, or where the document begins.
    pub(crate) fn key(&self, key: &str) -> Range<usize> {
        let mut at = self.start;
        for line in self.text.split_inclusive('\n') {
            if line.strip_prefix(key).is_some_and(|it| it.starts_with(':')) {
                return line_at(self.file, at);
            }
            at += line.len();
        }
        self.first_line()
    }

    /// The first line that says something.
    fn first_line(&self) -> Range<usize> {
        let mut at = self.start;
        for line in self.text.split_inclusive('\n') {
            let said = line.trim();
            if !said.is_empty() && said != "---" && !said.starts_with('#') {
                break;
            }
            at += line.len();
        }
        line_at(self.file, at.min(self.file.len()))
    }

    /// Converts a place in the document to bytes of the file.
    pub(crate) fn span(&self, place: Location) -> Option<Range<usize>> {
        let start = self.start + usize::try_from(place.span().byte_offset()?).ok()?;
        let end = start + usize::try_from(place.span().byte_len()?).ok()?;
        self.file.get(start..end).map(|_| start..end)
    }

    /// The same, but the line of what begins with a bracket, and without the line break at the end.
    pub(crate) fn lines(&self, place: Location) -> Option<Range<usize>> {
        let span = self.span(place)?;
        let said = self.file[span.clone()].trim_end().len();
        Some(if said > 1 { span.start..span.start + said } else { line_at(self.file, span.start) })
    }

    fn flaw(&self, error: &serde_saphyr::Error) -> Flaw {
        let start = error.location().and_then(|it| self.span(it)).map(|it| it.start);
        let span = start.map_or_else(|| self.first_line(), |it| line_at(self.file, it));
        Flaw { span, message: sentence(error) }
    }
}

/// Returns the range from a position to the end of its line, or the line before if nothing is left of it.
pub(crate) fn line_at(file: &str, at: usize) -> Range<usize> {
    let rest = file.get(at..).unwrap_or_default();
    let said = rest.lines().next().unwrap_or_default().trim_end().len();
    if said > 0 || at == 0 {
        return at..at + said;
    }
    let before = file.get(..at).unwrap_or_default().trim_end();
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    start..before.len()
}

/// Returns the message of a YAML error, without the excerpt and the place.
fn sentence(error: &serde_saphyr::Error) -> String {
    let options = serde_saphyr::render_options! { snippets: SnippetMode::Off };
    let _: &RenderOptions<'_> = &options;
    let told = error.render_with_options(options);
    let told = told.lines().map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": ");
    match told.find(" at line ") {
        Some(end) => told[..end].to_owned(),
        None => told,
    }
}

/// An error and all that led to it, as one sentence. Leaves out that it was YAML, which everybody knows.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut causes = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        let told = cause.to_string();
        let told = one_line(told.trim_end_matches('.'));
        if !told.starts_with("Fail to parse yaml") && causes.last() != Some(&told) {
            causes.push(told);
        }
        next = cause.source();
    }
    causes.join(": ")
}

/// The first line and the last of a message that draws the place below the text, as regular expressions do.
fn one_line(told: &str) -> String {
    let mut lines = told.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    match lines.next_back() {
        Some(last) => format!("{} {}", first, last.trim_start_matches("error: ")),
        None => first.to_owned(),
    }
}
