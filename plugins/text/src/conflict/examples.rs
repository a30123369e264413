//! Conflicts that are examples: in listings of documents, in here-documents of scripts, in string literals of tests, and in
//! files of tests that are called after them. Found by lines and delimiters, without a parser, in one pass over a text.

use std::ops::Range;
use std::path::Path;

use memchr::memmem;

use super::{here_document, listing, literal};
use broker_plugin_sdk::samples;

/// Parts of a file in which conflicts are examples.
pub(super) enum Examples {
    Everything,
    Parts(Vec<Parts>),
}

/// Parts of a text, in order and apart.
pub(super) struct Parts(Vec<Range<usize>>);

impl Examples {
    pub(super) fn new(path: &Path, content: &[u8]) -> Self {
        let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let mut parts = vec![Parts(documents(ending, content))];
        if samples::is_of_tests(path) {
            let mut names = path.iter().rev().take(2).filter_map(|it| it.to_str());
            if names.any(|it| it.contains("conflict") || it.contains("merge")) {
                return Self::Everything;
            }
            parts.extend(literal::literals(ending, content).map(Parts));
        } else if ending == "rs"
            // Rust has its tests where the code is.
            && let Some(test) = memmem::find(content, b"#[test]")
        {
            let of_tests = |all: Vec<Range<usize>>| all.into_iter().filter(|it| it.start > test).collect();
            parts.extend(literal::literals(ending, content).map(|it| Parts(of_tests(it))));
        }
        Self::Parts(parts)
    }

    /// Whether a conflict that opens at `at` is an example.
    pub(super) fn contains(&self, at: usize) -> bool {
        match self {
            Self::Everything => true,
            Self::Parts(parts) => parts.iter().any(|it| it.contains(at)),
        }
    }
}

impl Parts {
    fn contains(&self, at: usize) -> bool {
        let next = self.0.partition_point(|it| it.end <= at);
        self.0.get(next).is_some_and(|it| it.start <= at)
    }
}

/// Listings and here-documents.
fn documents(ending: &str, content: &[u8]) -> Vec<Range<usize>> {
    match ending {
        "md" | "markdown" | "mdx" | "qmd" | "rmd" => listing::of_markdown(content),
        "adoc" | "asciidoc" | "asc" => listing::of_asciidoc(content),
        "sh" | "bash" | "zsh" | "ksh" => here_document::here_documents(content, true),
        "rb" | "pl" | "pm" => here_document::here_documents(content, false),
        "" | "t" => here_document::here_documents(content, !is_of_another_language(content)),
        _ => Vec::new(),
    }
}

/// Whether a script names an interpreter that is not a shell.
fn is_of_another_language(content: &[u8]) -> bool {
    let first = content.split(|it| *it == b'\n').next().unwrap_or_default();
    first.starts_with(b"#!") && memmem::find(first, b"sh").is_none()
}

/// Lines without their breaks, and where they begin.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = 0;
    text.split(|it| *it == b'\n').map(move |line| {
        let start = next;
        next += line.len() + 1;
        (start, line.strip_suffix(b"\r").unwrap_or(line))
    })
}
