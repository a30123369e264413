//! Findings in files that another one includes, told where it does.

use lint::{Diagnostic, LineTable, Related, Span};
use overlay::WorkspacePath;

/// Returns the span in which a text names a file, in quotes or angle brackets, as C includes it; the start of the text if it does
/// not, as where another included file does.
pub(super) fn span(text: &[u8], path: &WorkspacePath) -> Span {
    let name = path.file_name().unwrap_or_default();
    let names_it = |line: &str| {
        let line = line.trim_end().trim_end_matches(['"', '>']);
        let before = line.strip_suffix(name).filter(|_| line.trim_start().starts_with('#'));
        before.is_some_and(|it| it.ends_with(['/', '"', '<']))
    };
    let mut start = 0;
    for line in String::from_utf8_lossy(text).split_inclusive('\n') {
        if names_it(line) {
            return of_length(start, line.trim_end().len());
        }
        start += line.len();
    }
    of_length(0, 0)
}

fn of_length(start: usize, length: usize) -> Span {
    let small = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    Span::new(small(start), small(start + length))
}

/// A finding of the file at `path` as one of the file `of`, at `span`.
pub(super) fn told(
    finding: Diagnostic,
    path: &WorkspacePath,
    lines: &LineTable<'_>,
    span: Span,
    of: &WorkspacePath,
) -> Diagnostic {
    let line = lines.scalar(finding.span.start).line;
    let here = Related {
        path: Some(path.clone()),
        span: finding.span,
        message: "the place in that file".to_owned(),
    };
    let seen_from = |it: Related| Related {
        path: Some(it.path.unwrap_or_else(|| path.clone())).filter(|it| it != of),
        ..it
    };
    Diagnostic {
        message: format!("in `{path}`, line {line}: {}", finding.message),
        span,
        related: [here].into_iter().chain(finding.related.into_iter().map(seen_from)).collect(),
        // A fix is of one file.
        fixes: Vec::new(),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_file_is_included() {
        let path = WorkspacePath::new("include/a.h").unwrap();
        let at = |text: &str| {
            let span = span(text.as_bytes(), &path);
            text[span.start as usize..span.end as usize].to_owned()
        };
        assert_eq!(at("// a.h\n#include \"aa.h\"\n# include <x/a.h>\nint x;\n"), "# include <x/a.h>");
        assert_eq!(at("#include \"a.h\"\r\n"), "#include \"a.h\"");
        assert_eq!(at("#include \"b.h\"\n"), "");
    }
}
